"""Notebook 08: where each number goes when a matrix is cut into heads."""

from dataclasses import dataclass

import torch
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle

from mha_helpers import style
from mha_helpers.figures.cells import add_cells, corners, place_cells
from mha_helpers.figures.picture import Picture, new_figure
from mha_helpers.figures.words import join
from mha_helpers.placement import text_width

CELL_WIDTH, CELL_HEIGHT = 76, 30  # screen pixels; "t2 h1 d0" fits in 12 points
LEFT, RIGHT = 78, 14  # the row names stand on the left and take more where they are long
GAP = 14  # between two blocks
NAME_POINTS = 11
TITLE, NAMES, BELOW = 26, 22, 20  # heights of a title, of the block names, of the space below a stage


@dataclass(frozen=True)
class Stage:
    """One tensor of labels in the picture.

    ``labels`` is ``(rows, columns)`` or ``(blocks, rows, columns)`` of whole numbers, 100·t + 10·h + d.
    ``block`` and ``row`` say what a block and a row are taken for: "token", "head", or a name that
    stands as it is. ``of_tokens=False`` is for a weight matrix: its cells belong to no token.
    """

    title: str
    labels: torch.Tensor
    block: str = ""
    row: str = "token"
    note: str = ""
    of_tokens: bool = True

    def __post_init__(self):
        if self.labels.dim() not in (2, 3):
            raise ValueError(
                f"the labels of “{self.title}” must be (rows, columns) or (blocks, rows, columns);"
                f" got {tuple(self.labels.shape)}."
            )

    @property
    def blocks(self):
        return self.labels if self.labels.dim() == 3 else self.labels[None]


def number_labels(n, num_heads, d_k):
    """Number the cells of q so that each tells where it comes from: 100·token + 10·head + d.

    Shape: ``(n, h·d_k)``. Used by the explorer of notebook 08.
    Raises ``ValueError`` if an axis has more than ten places: then a label would have two digits.

    >>> number_labels(2, num_heads=2, d_k=2)
    tensor([[  0,   1,  10,  11],
            [100, 101, 110, 111]])
    """
    for name, size in {"n": n, "num_heads": num_heads, "d_k": d_k}.items():
        if not 1 <= size <= 10:
            raise ValueError(f"{name} must be from 1 to 10, so that its label has one digit; got {size}.")
    token = torch.arange(n).view(n, 1, 1)
    head = torch.arange(num_heads).view(1, num_heads, 1)
    d = torch.arange(d_k).view(1, 1, d_k)
    return (100 * token + 10 * head + d).flatten(1)  # (n, h, d_k) -> (n, h·d_k)


def label_text(label, of_tokens=True):
    """Write a label out.

    >>> label_text(210), label_text(10, of_tokens=False)
    ('t2 h1 d0', 'h1 d0')
    """
    label = int(label)
    token = f"t{label // 100} " if of_tokens else ""
    return f"{token}h{label // 10 % 10} d{label % 10}"


def misplaced(labels):
    """Say which cells of ``(h, n, d_k)`` labels are not where their label says. Shape: the same, bool.

    >>> misplaced(torch.tensor([[[0], [100]], [[10], [110]]])).any()
    tensor(False)
    """
    num_heads, n, d_k = labels.shape
    right = number_labels(n, num_heads, d_k).view(n, num_heads, d_k).transpose(0, 1)
    return labels != right


def verdict(labels):
    """Say how many of ``(h, n, d_k)`` labels are in a wrong place.

    >>> verdict(torch.tensor([[[0], [10]], [[100], [110]]]))
    'Scrambled: 2 of 4 numbers are in a wrong place. The shape is right.'
    """
    wrong = int(misplaced(labels).sum())
    if wrong:
        return f"Scrambled: {wrong} of {labels.numel()} numbers are in a wrong place. The shape is right."
    return f"All {labels.numel()} numbers are where they belong."


def heads_holding(labels, token):
    """Name the heads of ``(h, n, d_k)`` labels that hold numbers of a token.

    >>> heads_holding(torch.tensor([[[0], [10]], [[100], [110]]]), 1)
    'h1'
    """
    held = (labels // 100 == token).flatten(1).any(dim=1)
    return join([f"h{head}" for head in held.nonzero().flatten().tolist()])


def tracking_picture(stages, follow=None, tokens=()):
    """Draw labelled cells before and after a cut into heads, one tensor below the other.

    ``stages`` is a list of ``Stage``, or of ``(title, labels, block, row)`` with block and row "token" or
    "head". A cell has the colour of the head it belongs to; the cells of token number ``follow`` are
    outlined. Used in notebook 08. Returns a ``Picture``.

    Raises ``ValueError`` if labels have neither two nor three axes.

    >>> tracking_picture([("q", number_labels(1, 2, 1), "", "token")], tokens=["cat"])
    q, (1, 2). t0 cat: t0 h0 d0, t0 h1 d0.
    """
    stages = [stage if isinstance(stage, Stage) else Stage(*stage) for stage in stages]
    labels, legend = style.display_labels(list(tokens)) if tokens else ([], "")
    with style.drawing():
        tracks = Tracks(stages, labels)
        if follow is not None:
            for outline in tracks.outlines():
                outline.follow(follow)
    alt = "\n".join(_describe(stage, tokens, follow) for stage in stages)
    return Picture(tracks.figure, alt, legend_html=legend)


class Tracks:
    """The drawing itself, for ``tracking_picture`` and for the explorer. Draws within ``style.drawing``."""

    def __init__(self, stages, tokens=()):
        self.tokens = tokens
        self.places = []  # (stage, label, left, top) of every cell
        names = [_name(stage.row, row, tokens) for stage in stages for row in range(stage.blocks.shape[1])]
        self.left = max(LEFT, text_width(tuple(names), NAME_POINTS) + 8)
        width = max(_width(stage) for stage in stages) + self.left + RIGHT
        height = sum(_height(stage) for stage in stages)
        # A title or a note may be wider than the cells.
        longest = max(len(text) for stage in stages for text in (stage.title, stage.note))
        width = max(width, round(8.4 * longest) + self.left + RIGHT)
        self.figure = new_figure(width, height)
        self.ax = self.figure.add_axes((0, 0, 1, 1))
        self.ax.set(xlim=(0, width), ylim=(height, 0))
        self.ax.axis("off")
        top = 0
        for stage in stages:
            self._draw(stage, top)
            top += _height(stage)
        self._draw_cells()

    def outlines(self):
        """Add two ``Outline``, a light one on a dark one: together they show on every colour."""
        outlines = [
            Outline(self.places, facecolors="none", edgecolors=colour, linewidths=width, zorder=4)
            for colour, width in ((style.COLOURS["ink"], 4.5), (style.COLOURS["lit"], 2.5))
        ]
        for outline in outlines:
            self.ax.add_collection(outline, autolim=False)
        return outlines

    def _draw(self, stage, top):
        self.ax.text(self.left, top + TITLE / 2 + 2, stage.title, va="center", ha="left", weight="bold")
        top += TITLE
        blocks = stage.blocks
        for number, block in enumerate(blocks):
            left = self.left + number * (block.shape[1] * CELL_WIDTH + GAP)
            if stage.block:
                self._name_block(stage.block, number, left, top, block.shape[1] * CELL_WIDTH)
            self._place_cells(stage, block, left, top + _names(stage))
        for row in range(blocks.shape[1]):
            y = top + _names(stage) + (row + 0.5) * CELL_HEIGHT
            name = _name(stage.row, row, self.tokens)
            self.ax.text(self.left - 8, y, name, ha="right", va="center", fontsize=NAME_POINTS)
        if stage.note:
            y = top + _names(stage) + blocks.shape[1] * CELL_HEIGHT + 12
            self.ax.text(self.left, y, stage.note, ha="left", va="center", fontsize=11)

    def _name_block(self, what, number, left, top, width):
        colour = style.head_colour(number) if what == "head" else style.COLOURS["ink"]
        self.ax.add_patch(Rectangle((left, top + NAMES - 5), width, 4, facecolor=colour, edgecolor="none"))
        self.ax.text(
            left + width / 2,
            top + NAMES - 7,
            _name(what, number, self.tokens),
            ha="center",
            va="bottom",
            fontsize=11,
            color=style.text_colour(colour),
        )

    def _place_cells(self, stage, block, left, top):
        for row, labels in enumerate(block.tolist()):
            for column, label in enumerate(labels):
                self.places.append((stage, label, left + column * CELL_WIDTH, top + row * CELL_HEIGHT))

    def _draw_cells(self):
        boxes, words = add_cells(self.ax)
        cells = [
            (label_text(label, stage.of_tokens), style.head_colour(label // 10 % 10), left, top)
            for stage, label, left, top in self.places
        ]
        place_cells(boxes, words, cells, CELL_WIDTH, CELL_HEIGHT)


class Outline(PolyCollection):
    """A frame around every cell of one token."""

    def __init__(self, places, **look):
        super().__init__([], **look)
        self._places = places

    def follow(self, token):
        self.set_verts(
            [
                corners(left, top, CELL_WIDTH, CELL_HEIGHT, inset=2)
                for stage, label, left, top in self._places
                if stage.of_tokens and label // 100 == token
            ]
        )


def _names(stage):
    return NAMES if stage.block else 0


def _width(stage):
    blocks, _, columns = stage.blocks.shape
    return blocks * columns * CELL_WIDTH + (blocks - 1) * GAP


def _height(stage):
    note = 16 if stage.note else 0
    return TITLE + _names(stage) + stage.blocks.shape[1] * CELL_HEIGHT + note + BELOW


def _name(what, number, tokens):
    """Name a row or block: "h1", "t1", "t1 eats", or what a stage calls it."""
    if what == "head":
        return f"head h{number}"
    if what != "token":
        return what
    return f"t{number} {tokens[number]}" if number < len(tokens) else f"token t{number}"


def _is_whole(labels):
    """Tell whether every number of a split into heads is there, in whatever order."""
    num_heads, n, d_k = labels.shape
    return torch.equal(labels.flatten().sort().values, number_labels(n, num_heads, d_k).flatten())


def _describe(stage, tokens, follow=None):
    rows, said = [], ""
    if stage.of_tokens and (stage.block, stage.row) == ("head", "token") and _is_whole(stage.labels):
        said = f" {verdict(stage.labels)}"
        if follow is not None and (stage.labels // 100 == follow).any():
            name = _name("token", follow, tokens).removeprefix("token ")
            said += f" The numbers of {name}, framed, are in {heads_holding(stage.labels, follow)}."
    for number, block in enumerate(stage.blocks.tolist()):
        name = f"{_name(stage.block, number, tokens)}, " if stage.block else ""
        for row, labels in enumerate(block):
            words = ", ".join(label_text(label, stage.of_tokens) for label in labels)
            rows.append(f"{name}{_name(stage.row, row, tokens)}: {words}")
    note = f" {stage.note}" if stage.note else ""
    return f"{stage.title}, {tuple(stage.labels.shape)}.{said} {'; '.join(rows)}.{note}"
