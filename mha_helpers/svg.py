"""The drawing of an explorer: marks, and heatmaps whose cells answer the mouse."""

import math

from mha_helpers.style import head_label
from mha_helpers.svg_heatmap import LETTER, Heatmap
from mha_helpers.svg_marks import Marks

MOST_SMALL = 16  # heads beside a large one; of more heads those are shown that stand with the chosen one
MOST_SMALL_CELLS = 640  # of all small heatmaps beside a large one: more would make a slider slow


class Drawing(Marks):
    """Marks and heatmaps, written as one SVG of a fixed size. See ``Marks`` for colours and boxes."""

    def heatmap(self, box, values, rows, columns, chosen=None, **options):
        """Draw a matrix as cells, as large as fits; below it the words of the cell that is hovered or chosen.

        ``values`` is (rows, columns), ``chosen`` a (row, column) that gets a frame; (row, None) frames a
        whole row. The word of a row lights this row in all heatmaps that have the same rows. Options:

        - ``kind``: "weights" (0 to 1, the deeper the more), "scores" or "vectors" (two hues, nothing at 0),
          "mask" (True is filled).
        - ``mask``: bool, True = may attend; what it forbids is hatched and holds no number.
        - ``map``: which of several heatmaps this is, counted from 0: a click names it first. Weights have the
          colour of head ``map + 1`` unless ``colour`` is given.
        - ``title``; ``axes``, ("query", "key") unless given; ``decimals``.
        - ``limit``: the number that gets the deepest colour, so that several heatmaps share one scale.
        - ``small``: without the words at the sides. ``most_cells``: see ``MOST_CELLS``.

        Returns a function: ``cell(row, column)`` -> x, y, width, height, to put further marks on cells.
        """
        heatmap = Heatmap(box, values, rows, columns, chosen, self._marks, self.width, **options)
        self._marks.append(heatmap)
        return heatmap.cell

    def heatmaps(self, box, weights, tokens, names=None, chosen=(0, 0, 0), mask=None, keys=None):
        """Draw the heatmap of the chosen head large, and those of all heads beside it, small.

        ``weights`` is (h, n_q, n_k), ``chosen`` (head, row, column); ``keys`` are the tokens of the columns,
        where they are others than those of the rows. A click on a small map chooses its head.
        """
        x, y, width, height = box
        heads, (head, *cell) = len(weights), chosen
        shared = {"rows": tokens, "columns": keys or tokens, "mask": mask}
        large = min(height + 60, width * 0.52)
        corner, title = (x if heads > 1 else x + (width - large) / 2, y), head_label(head, names)
        self.heatmap((*corner, large, height), weights[head], chosen=cell, title=title, map=head, **shared)
        if heads == 1:
            return
        first = head // MOST_SMALL * MOST_SMALL
        small = range(heads)[first : first + MOST_SMALL]
        left, gap, above = x + large + 20, 14, 40
        across, size = _squares(len(small), width - large - 20 - 5, height, gap, above)  # 5 for its frame
        labels = [head_label(i, names) for i in small]
        if 10 * LETTER * max(map(len, labels)) > size + gap:
            labels = [head_label(i) for i in small]  # the large one has the name as well
        row = (cell[0], None) if len(tokens) > 1 else None
        shared |= {"chosen": row, "small": True, "most_cells": MOST_SMALL_CELLS // len(small)}
        shared["title_letters"] = max(map(len, labels))
        for i, label in enumerate(labels):
            corner, own = (left + i % across * (size + gap), y + i // across * (size + above)), small[i]
            cell_at = self.heatmap(
                (*corner, size, size + above), weights[own], title=label, map=own, **shared
            )
            if own == head:
                _, top, _, side = cell_at(len(tokens) - 1, 0)
                tall = top + side - corner[1] + 1
                self.rect(corner[0] - 3, corner[1] + 1, size + 6, tall, "lit", outline=True)


def _squares(count, width, height, gap, above):
    """Return how many squares stand in a row, and how large they are, so that they are largest."""

    def size(across):
        return min((width - gap * (across - 1)) / across, height / math.ceil(count / across) - above)

    across = max(range(1, count + 1), key=size)
    return across, size(across)
