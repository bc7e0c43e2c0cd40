"""Where everything of a live picture stands, in pixels: pure functions of a box, names and sizes."""

import math
from dataclasses import dataclass

LETTER, BOLD_LETTER = 0.6, 0.63  # the width of a letter, and of a bold one, of its size
GAP, WORDS = 14, 40  # between small heatmaps; above and below the cells of one


@dataclass(frozen=True)
class Layout:
    """The cells of a heatmap and its words, whose middles are at (x, y, size of a letter)."""

    x: float  # the upper left corner of the cells
    y: float
    high: float  # a cell
    wide: float
    rows: int
    columns: int
    names: float  # the size of a letter of theirs
    turned: bool  # the names of columns read upwards
    title: tuple
    axes: tuple  # that of rows, which reads upwards, and that of columns
    readout: tuple  # what a cell or a row says

    @property
    def area(self):
        return self.x, self.y, self.wide * self.columns, self.high * self.rows

    def at(self, row, column):
        """Return x, y, width and height of one cell."""
        return self.x + column * self.wide, self.y + row * self.high, self.wide, self.high

    def row_name(self, row):
        """Return where the name of a row ends."""
        return self.x - 6, self.y + (row + 0.5) * self.high + self.names * 0.35, self.names

    def column_name(self, column):
        """Return the middle of the name of a column or, where it reads upwards, its beginning."""
        return self.x + (column + 0.5) * self.wide + self.names * 0.35 * self.turned, self.y - 6, self.names


def lay_out(box, rows, columns, said=(0, 0), title=0, small=False, across=math.inf, stretch=1):
    """Return the ``Layout`` of a heatmap whose cells are as large as its box and names allow.

    ``said`` is how many letters a cell says beside the names of its row and column, and how many a row beside
    its own; these words may be wider than the box, but not leave the drawing, which is ``across`` wide.
    ``title`` is how many letters the title has. A ``small`` heatmap shows no names.
    Cells are at most ``stretch`` times as wide as high.

    >>> lay_out((0, 0, 200, 300), ["cat", "eats"], ["cat", "eats"]).at(1, 0)
    (58.0, 109.0, 71.0, 71.0)
    """
    row = longest(rows)
    x, y, high, wide, turned = _cells(box, row, rows, columns, title, small, stretch)
    width = wide * len(columns)
    middle, said = x + width / 2, (row + longest(columns) + said[0], 0 if small else row + said[1])
    size = max(10, min(12, width / 13)) if small else max(11, min(15, box[2] / (BOLD_LETTER * said[0])))
    half = min(BOLD_LETTER * size * max(said), across) / 2
    return Layout(
        x, y, high, wide, len(rows), len(columns), max(10, min(14, high * 0.8)), turned,
        title=(middle, box[1] + 14, max(10, min(13, width / (LETTER * max(title, 1)))) if small else 15),
        axes=(
            (x - 8.5 * row - 14, y + high * len(rows) / 2, 13),
            (middle, box[1] + (20 if title else 0) + 12, 13),
        ),
        readout=(min(max(middle, half), across - half), y + high * len(rows) + (12 if small else 18), size),
    )  # fmt: skip


def _cells(box, row, rows, columns, title, small, stretch):
    """Return where the cells begin, how high and wide one is, and whether the names of columns are turned."""
    width, height = box[2:]
    beside, below = (0, 18) if small else (24 + 8.5 * row, 24)
    heading = 20 if title else 0

    def cell(above):
        across = (width - beside) / len(columns)
        high = max(1.0, min(across, (height - above - below) / len(rows)))
        return high, max(1.0, min(across, stretch * high))

    above = heading + (0 if small else 38)
    turned = not small and too_long(columns, 8, cell(above)[1])
    above = heading + 24 + 8 * longest(columns) if turned else above
    high, wide = cell(above)
    return box[0] + (beside + width - wide * len(columns)) / 2, box[1] + above, high, wide, turned


def apart(count, step, chosen):
    """Return which of so many names, a ``step`` of pixels from one to the next, stand without touching.

    >>> apart(8, 4.0, 2), apart(3, 4.0, None), apart(3, 8.0, 1)
    ([2, 5], [0], [0, 1, 2])
    """
    every = 1 if step >= 8 else math.ceil(11 / step)
    return list(range((chosen or 0) % every, count, every))


def longest(names):
    return max(map(len, names), default=0)


def too_long(names, letter, room):
    """Tell whether some name is too long to stand in its room beside the others; a single letter never is."""
    return longest(names) > 1 and letter * longest(names) > room


def lay_out_heads(box, small, share=0.52):
    """Return the box of a large heatmap and those of so many ``small`` ones beside it, largest that fit.

    The large one takes a ``share`` of the width, if it can use it: cells are as wide as high up to 0.52.

    >>> lay_out_heads((0, 0, 860, 334), 2)[1]
    [(414.0, 0.0, 213.5, 253.5), (641.5, 0.0, 213.5, 253.5)]
    """
    x, y, width, height = box
    large = min(height + 60, width * share) if share <= 0.52 else width * share
    if not small:
        return (x + (width - large) / 2, y, large, height), []
    left, free = x + large + 20, width - large - 25  # 5 for a frame

    def side(across):
        return min((free - GAP * (across - 1)) / across, height / math.ceil(small / across) - WORDS)

    across = max(range(1, small + 1), key=side)
    size = side(across)
    places = [(i % across * (size + GAP), i // across * (size + WORDS)) for i in range(small)]
    return (x, y, large, height), [(left + right, y + down, size, size + WORDS) for right, down in places]


def lay_out_bars(box, values, names, limits):
    """Return the size of letters, the line at 0, and of each value its bar and where its words stand."""
    x, y, width, height = box
    low, high = min(0.0, *limits), max(0.0, *limits)
    step = min(height / len(names), 44)
    letter = max(10, min(14, step * 0.6))
    left = x + letter * 0.62 * longest(names)  # where names end
    unit = (x + width - left - 14 - letter * 4) / ((high - low) or 1)  # pixels of a 1
    zero = left + 8 - low * unit

    def place(i, value):
        bar = (zero + min(value, 0) * unit, y + i * step, max(abs(value) * unit, 1), step * 0.72)
        line = bar[1] + step * 0.36 + letter * 0.35
        return bar, (left, line), (zero + max(value, 0) * unit + 6, line)

    places = [place(i, value) for i, value in enumerate(values)]
    return letter, (zero, y - 2, zero, y + step * len(names)), places
