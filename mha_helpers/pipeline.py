"""The map "Where we are" at the beginning of a page: from x to the output, the step of the page lit."""

from matplotlib.patches import FancyBboxPatch

from mha_helpers.golden import golden_example
from mha_helpers.picture import FONT, Picture, axes_at, pixel_figure
from mha_helpers.style import COLOURS

PITCH, TOP = 95, 20  # from one box to the next; where the boxes begin
WIDTH, HEIGHT = 80, 50  # a box
SYMBOL = 17  # from one symbol to the next

# In the order of the pages: the step in words; in symbols, each with its colour; its result in the trace; its
# axes. Up to page 07 one head is followed, so that the axis of the heads is left out.
STEPS = (
    ("tokens", (("x", "ink"),), "x", "(n, d_model)"),
    ("project", (("Q", "query"), ("K", "key"), ("V", "value")), "q", "(n, d_k)"),
    ("scores", (("Q", "query"), ("Kᵀ", "key")), "scores", "(n, n)"),
    ("scaled", ((r"$÷\,\sqrt{d_k}$", "ink"),), "scaled", "(n, n)"),
    ("masked", (("−∞", "ink"),), "masked", "(n, n)"),
    ("weights", (("softmax", "ink"),), "weights", "(n, n)"),
    ("one head", (("·", "ink"), ("V", "value")), "heads", "(n, d_v)"),
    ("all heads", (("× h", "ink"),), "heads", "(h, n, d_v)"),
    ("output", (("$W_O$", "ink"),), "output", "(n, d_model)"),
)


def pipeline_map(page=None):
    """Draw the nine steps, each with its page, its axes and its shape for "cat eats fish", one of them lit.

    ``page`` is 1 to 9; without it none is lit. Returns a ``Picture``. Used at the beginning of every page.

    >>> pipeline_map(3).words.splitlines()[0]
    'Page 03, scores: (n, n) = (3, 3).'
    """
    trace = golden_example().trace()  # the shapes are those of a run of the whole thing
    shapes = [getattr(trace, result).shape[-axes.count(",") - 1 :] for _, _, result, axes in STEPS]
    size = PITCH * len(STEPS), 110
    figure = pixel_figure(*size)
    ax = axes_at(figure, 0, 0, *size, xlim=(0, size[0]), ylim=(size[1], 0))  # a unit is a pixel, y downwards
    ax.axis("off")
    for number, (step, shape) in enumerate(zip(STEPS, shapes, strict=True), start=1):
        _draw_step(ax, number, step, shape, number == page)
    style = {"arrowstyle": "-|>,head_width=0.28,head_length=0.5", "color": COLOURS["label"], "linewidth": 1.6}
    for end in range(PITCH, size[0], PITCH):
        start, middle = end - PITCH + WIDTH + 4, TOP + HEIGHT / 2
        ax.annotate("", (end, middle), (start, middle), arrowprops=style | {"shrinkA": 0, "shrinkB": 0})
    way = " → ".join(name for name, *_ in STEPS)
    if page is None:
        return Picture(figure, f"The way: {way}.")
    name, _, _, axes = STEPS[page - 1]
    return Picture(figure, f"Page {page:02}, {name}: {axes} = {tuple(shapes[page - 1])}.\nThe way: {way}.")


def _draw_step(ax, number, step, shape, lit):
    name, symbols, _, axes = step
    left = (number - 1) * PITCH + 2  # room for the line of the box
    middle = left + WIDTH / 2
    style = {"boxstyle": "round,pad=0,rounding_size=7", "linewidth": 3.5 if lit else 1.2}
    style |= {"facecolor": "#FFF3CF" if lit else "#F4F4F4", "edgecolor": COLOURS["lit" if lit else "faint"]}
    ax.add_patch(FancyBboxPatch((left, TOP), WIDTH, HEIGHT, **style))

    def write(x, y, text, colour, bold=lit, size=FONT):
        style = {"color": COLOURS[colour], "weight": "bold" if bold else "normal", "fontsize": size}
        ax.text(x, y, text, ha="center", va="center", **style)

    write(middle, TOP - 11, f"{number:02}", "label")
    write(middle, TOP + 16, name, "ink")
    for position, (symbol, colour) in enumerate(symbols):
        write(middle + SYMBOL * (position - (len(symbols) - 1) / 2), TOP + 36, symbol, colour, bold=True)
    write(middle, TOP + HEIGHT + 13, axes, "label", bold=False, size=11)
    write(middle, TOP + HEIGHT + 29, str(tuple(shape)), "label", size=11)
