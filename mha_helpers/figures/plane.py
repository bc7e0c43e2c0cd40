"""A plane of two features: values as points, the hull around them, outputs, and shares end to end."""

import itertools

from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

from mha_helpers import style
from mha_helpers.figures.cells import add_cells, place_cells
from mha_helpers.figures.hull import arrow, hull_of
from mha_helpers.figures.picture import new_figure
from mha_helpers.placement import text_width

PLANE = 400  # width and height of the plane
SIDE, ABOVE, BELOW = 28, 26, 40  # of it, for the words at its left, above and below: no line crosses them
APART = 36  # from one line of the grid to the next at least, so that their numbers do not run together
TICK_INK, TICK_POINTS = "#555555", 10
# of a point, where its name may stand: right, down, and the side to which it grows
BESIDE = ((11, 0, 1), (-11, 0, -1), (8, 14, 1), (-8, -14, -1), (8, -14, 1), (-8, 14, -1))
BESIDE += ((0, -22, 0), (0, 22, 0), (8, -22, 1), (-8, -22, -1), (8, 22, 1), (-8, 22, -1))


def pixel_figure(width, height):
    """Return a figure and axes over all of it whose unit is a pixel; y points down."""
    figure = new_figure(width, height)
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, width), ylim=(height, 0))
    ax.axis("off")
    return figure, ax


class Plane:
    """Values of two features as points in a plane, the hull around them, and outputs."""

    def __init__(self, shown):
        low, high = shown.min(dim=0).values, shown.max(dim=0).values
        span = (high - low).max().item()
        middle, half = (low + high) / 2, span / 2 + max(0.7, 0.15 * span)  # off the words
        self.low = (middle - half).tolist()
        self.scale = PLANE / (2 * half)
        steps = (first * 10**zeros for zeros in itertools.count() for first in (1, 2, 5))
        step = next(step for step in steps if step * self.scale >= APART)
        ends = [(x, x + 2 * half) for x in self.low]
        self.ticks = [range(step * int(low // step + 1), int(high // 1) + 1, step) for low, high in ends]
        self.side = max(SIDE, 8 + text_width(tuple(map(style.number, self.ticks[1])), TICK_POINTS))

    def add(self, ax, left, top):
        """Draw axes and grid, and return the artists that ``place`` sets."""
        self.left, self.top = left, top
        for axis, ticks in enumerate(self.ticks):
            for tick in ticks:
                self._line(ax, axis, tick)
        look = {"fontsize": 10.5, "color": style.COLOURS["ink"]}
        ax.text(left + PLANE - 6, top + PLANE - 4, "feature 0 →", ha="right", **look)
        ax.text(left + 4, top + 16, "↑ feature 1", **look)
        green, purple = style.COLOURS["value"], style.COLOURS["output"]
        area = PolyCollection([], facecolors=[(*to_rgb(green), 0.16)], edgecolors=green, linewidths=1.5)
        path = PolyCollection([], facecolors=green, edgecolors=style.COLOURS["ink"], linewidths=0.6)
        ax.add_collection(area, autolim=False)
        ax.add_collection(path, autolim=False)
        points = ax.plot([], [], "o", markersize=9, color=green, markeredgecolor=style.COLOURS["ink"])[0]
        found = ax.plot([], [], "D", markersize=9, color=purple, markeredgecolor="white")[0]
        (_, words), (_, found_words), (_, halo) = (add_cells(ax) for _ in range(3))
        found_words.set_facecolor(purple)
        halo.set(facecolor="white", edgecolor="white", linewidth=3, alpha=0.8, zorder=2.5)
        return [area, path, points, found, halo, words, found_words]

    def _line(self, ax, axis, tick):
        """Draw a line of the grid and, beyond its end, its number; neither where there is no room."""
        look = {"color": style.COLOURS["masked" if tick == 0 else "faint"], "linewidth": 1}
        words = {"color": TICK_INK, "fontsize": TICK_POINTS}
        if axis == 0:
            x, low, high = self._pixel(tick, 0)[0], self.top + PLANE - BELOW, self.top + ABOVE
            if self.left + self.side < x < self.left + PLANE - self.side / 2:
                ax.plot([x, x], [low, high], **look)
                ax.text(x, low + 4, style.number(tick), ha="center", va="top", **words)
            return
        y = self._pixel(0, tick)[1]
        if self.top + ABOVE < y < self.top + PLANE - BELOW:
            ax.plot([self.left + self.side, self.left + PLANE], [y, y], **look)
            ax.text(self.left + self.side - 5, y, style.number(tick), ha="right", va="center", **words)

    def place(self, artists, labels, v, outputs, names, shares=None):
        """``shares``: α·v of each key ``(n_k, 2)``, drawn end to end from the origin."""
        area, path, points, found, halo, words, found_words = artists
        area.set_verts([[self._pixel(*corner) for corner in hull_of(v)]])
        points.set_data(*zip(*(self._pixel(*value) for value in v.tolist()), strict=True))
        found.set_data(*zip(*(self._pixel(*output) for output in outputs.tolist()), strict=True))
        places = {}
        for label, value in zip(labels, v.tolist(), strict=True):
            places.setdefault(tuple(value), []).append(label)
        marks = [(", ".join(who), where) for where, who in places.items()]
        marks += list(zip(names, map(tuple, outputs.tolist()), strict=True))
        placed = self._beside(marks)
        for collection, its_names in ((words, placed[: len(places)]), (found_words, placed[len(places) :])):
            place_cells(PolyCollection([]), collection, [], 0, 0, its_names)
        halo.set_paths([*words.get_paths(), *found_words.get_paths()])  # lines do not cross out letters
        arrows = [] if shares is None else self._arrows(shares)
        path.set_verts(arrows)

    def _beside(self, marks):
        """Put each name where it overlaps no point and no name that is already there."""
        taken = [(*self._pixel(*where), 8) for _, where in marks]
        names = []
        for text, where in marks:
            x, y = self._pixel(*where)
            width = 8.2 * len(text)
            choices = []
            for dx, dy, side in BESIDE:
                centre = x + dx + side * width / 2
                inside = self.left + 4 < centre - width / 2 and centre + width / 2 < self.left + PLANE - 2
                crowd = sum(
                    abs(centre - other) < (width / 2 + half) and abs(y + dy - height) < 19
                    for other, height, half in taken
                )
                choices.append((not inside, crowd, len(choices), centre, y + dy))
            *_, centre, middle = min(choices)
            taken.append((centre, middle, width / 2))
            names.append((text, centre, middle, "centre"))
        return names

    def _arrows(self, shares):
        arrows, at = [], (0.0, 0.0)
        for share in shares.tolist():
            to = (at[0] + share[0], at[1] + share[1])
            arrows.append(arrow(self._pixel(*at), self._pixel(*to)))
            at = to
        return arrows

    def _pixel(self, x, y):
        return (
            self.left + (x - self.low[0]) * self.scale,
            self.top + PLANE - (y - self.low[1]) * self.scale,
        )
