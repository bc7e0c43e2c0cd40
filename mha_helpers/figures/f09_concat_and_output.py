"""Notebook 09: what each head adds to the output of each token, feature by feature."""

from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from mha_helpers import style
from mha_helpers.checks import check_length, check_tensors
from mha_helpers.figures.picture import Picture, new_figure
from mha_helpers.placement import text_width

WIDTH, GAP, RIGHT = 880, 16, 12
NAMES, BOTTOM = 34, 40  # below the legend: the token names; below the bars: the numbers
BAR, PITCH = 22, 34  # the thickness of a bar, and from one feature to the next
MOST_TOKENS, MOST_FEATURES = 5, 12
FADED = 0.18  # opacity of a head that is switched off


def contribution_bars(contributions, tokens, features=None, head_names=None, heads_on=None):
    """Draw, for each token and feature, what every head adds, end to end, and the sum as a black mark.

    ``contributions[i]`` is head_i W_O^(i), so that the sum over the heads is the output. What is below
    zero goes to the left. ``heads_on`` is a bool for each head: a head that is off is shown pale and is
    left out of the sum.

    Shape: contributions ``(h, n, d_model)``. Used in notebook 09. Returns a ``Picture``.

    Raises ``TypeError`` if contributions is no tensor, ``ValueError`` where sizes do not fit.

    >>> import torch
    >>> contribution_bars(torch.tensor([[[1.0]], [[0.5]]]), ["cat"], ["who acts"])
    What 2 heads add to the output. cat: who acts: head 1 1, head 2 0.5, together 1.5.
    """
    check_tensors(contributions=contributions)
    contributions = contributions.detach().cpu().double()
    if contributions.dim() != 3:
        raise ValueError(
            f"contributions must have shape (h, n, d_model), got {tuple(contributions.shape)}."
            " For one sentence of a batch take contributions[0]; for one head take contributions[None]."
        )
    heads, n, d_model = contributions.shape
    if n > MOST_TOKENS or d_model > MOST_FEATURES:
        raise ValueError(
            f"this picture holds {MOST_TOKENS} tokens and {MOST_FEATURES} features; there are {n} and"
            f" {d_model}. Choose some: contributions[:, :{MOST_TOKENS}, :{MOST_FEATURES}]."
        )
    features = _names(
        "features", features or [f"feature {i + 1}" for i in range(d_model)], d_model, "feature"
    )
    tokens = _names("tokens", tokens, n, "token")
    head_names = _names("head_names", head_names or [""] * heads, heads, "head")
    heads_on = (
        [True] * heads
        if heads_on is None
        else [bool(on) for on in _names("heads_on", heads_on, heads, "head")]
    )
    labels, legend = style.display_labels(tokens)
    with style.drawing():
        shown, features_legend = style.drawable_names(features, "Features")
        figure = _draw(contributions, labels, shown, head_names, heads_on)
    return Picture(
        figure, _describe(contributions, tokens, features, heads_on), legend_html=legend + features_legend
    )


def _names(name, values, size, what):
    values = list(values)
    check_length(name, values, size, what)
    return values


def _draw(contributions, labels, features, head_names, heads_on):
    _, n, d_model = contributions.shape
    left = 30 + 8 * max(len(feature) for feature in features)
    width = (WIDTH - left - RIGHT - GAP * (n - 1)) / n
    height = PITCH * d_model
    handles = _legend_entries(head_names, heads_on)
    columns, legend_height = _legend_size(handles)
    full = legend_height + NAMES + height + BOTTOM
    figure = new_figure(WIDTH, full)
    low, high = _reach(contributions)
    for token in range(n):
        box = ((left + token * (width + GAP)) / WIDTH, BOTTOM / full, width / WIDTH, height / full)
        ax = figure.add_axes(box)
        ax.set(xlim=(low, high), ylim=(d_model - 0.5, -0.5))
        _draw_token(ax, contributions[:, token], heads_on)
        ax.set_title(labels[token], fontsize=13, weight="bold", pad=5)
        ax.set_yticks(range(d_model), features if token == 0 else [])
        ax.tick_params(length=0)
        ax.set_frame_on(False)
        _set_ticks(ax, width)
    _add_legend(figure, handles, columns)
    return figure


def _set_ticks(ax, width):
    """As many round numbers as stand side by side below ``width`` pixels."""
    low, high = ax.get_xlim()
    for most in range(7, 0, -1):
        ax.xaxis.set_major_locator(MaxNLocator(most, integer=True))
        ticks = [tick for tick in ax.xaxis.get_majorticklocs() if low <= tick <= high]
        labels = ax.xaxis.get_major_formatter().format_ticks(ticks)
        if len(ticks) * text_width(tuple(labels), style.FONT_SIZE) <= width:
            break


def _reach(contributions):
    """The farthest points on both sides that bars can come to, whichever heads are on."""
    high = float(contributions.clamp(min=0).sum(dim=0).max())
    low = float(contributions.clamp(max=0).sum(dim=0).min())
    room = 0.05 * (high - low or 1.0)
    return low - room, high + room


def _draw_token(ax, rows, heads_on):
    thickness = BAR / PITCH
    ax.axvline(0, color=style.COLOURS["masked"], linewidth=1)
    # Heads that are off come last, so that those which are on reach from zero to the sum.
    order = sorted(range(len(rows)), key=lambda head: not heads_on[head])
    for feature in range(rows.shape[1]):
        ends = {True: 0.0, False: 0.0}  # how far the bars have come, on each side of zero
        for head in order:
            value = float(rows[head, feature])
            side = value > 0
            ax.add_patch(
                Rectangle(
                    (ends[side], feature - thickness / 2),
                    value,
                    thickness,
                    facecolor=style.head_colour(head),
                    edgecolor="white",
                    linewidth=1 if value else 0,
                    alpha=1 if heads_on[head] else FADED,
                )
            )
            ends[side] += value
        total = _total(rows[:, feature], heads_on)
        for colour, width in (("white", 3.6), (style.COLOURS["ink"], 2)):  # seen on light and dark bars
            ax.plot(
                [total] * 2,
                [feature - 0.46, feature + 0.46],
                color=colour,
                linewidth=width,
                solid_capstyle="butt",
            )
    ax.grid(axis="x", color=style.COLOURS["faint"], linewidth=0.8)
    ax.set_axisbelow(True)


def _legend_entries(head_names, heads_on):
    entries = []
    for head, name in enumerate(map(style.drawable_text, head_names)):
        label = style.short(f"head {head + 1}" + (f": {name}" if name else ""), 32)
        shade = 1 if heads_on[head] else FADED
        label += "" if heads_on[head] else " (off)"
        entries.append(Patch(facecolor=style.head_colour(head), alpha=shade, label=label.replace("$", r"\$")))
    return [*entries, Patch(facecolor=style.COLOURS["ink"], label="output: the sum")]


def _legend_size(entries):
    """Return how many columns fit into the width, and how high the legend is then."""
    for columns in range(min(len(entries), 4), 0, -1):
        box = _add_legend(new_figure(WIDTH, 400), entries, columns).get_window_extent()
        if box.width <= WIDTH - 8:
            break
    return columns, box.height


def _add_legend(figure, entries, columns):
    return figure.legend(
        handles=entries,
        loc="upper center",
        ncols=columns,
        frameon=False,
        borderaxespad=0.2,
        handlelength=1,
        handleheight=1,
        columnspacing=1.6,
    )


def _total(values, heads_on):
    return float(sum(value for value, on in zip(values.tolist(), heads_on, strict=True) if on))


def _describe(contributions, tokens, features, heads_on):
    count = "1 head adds" if len(contributions) == 1 else f"{len(contributions)} heads add"
    off = [f"head {head + 1}" for head, on in enumerate(heads_on) if not on]
    opening = f"What {count} to the output." + (f" Off: {', '.join(off)}." if off else "")
    lines = []
    for token, name in enumerate(tokens):
        sums = "; ".join(
            f"{feature}: {_sum(contributions[:, token, place], heads_on)}"
            for place, feature in enumerate(features)
        )
        lines.append(f"{name}: {sums}.")
    return "\n".join([f"{opening} {lines[0]}", *lines[1:]])


def _sum(values, heads_on):
    """Say what each head that is on adds, if anything: "head 1 1.78, head 2 0.91, together 2.69"."""
    adding = [
        f"head {head + 1} {style.number(value)}"
        for head, (value, on) in enumerate(zip(values.tolist(), heads_on, strict=True))
        if on and style.number(value) != "0"
    ]
    if len(adding) > 1:
        adding.append(f"together {style.number(_total(values, heads_on))}")
    return ", ".join(adding) or "0"
