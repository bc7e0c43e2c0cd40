"""Where the parts of a heatmap go, in screen pixels at 100 %."""

import math
import textwrap

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.font_manager import FontProperties

from mha_helpers import style
from mha_helpers.figures.picture import new_figure

MAX_WIDTH = 880  # what a laptop's notebook column holds
LARGEST_CELL = 78
TALLEST_CELL = 56
TALLEST_PANEL = 460
NUMBERS_UP_TO = 8  # rows and columns; beyond that the numbers would be specks
CELL_FOR_A_NUMBER = 42  # what "−0.92" needs
LINE = 20  # a line of text
LABEL_PITCH = 16  # from one label to the next when they are packed
SMALL_TYPE = 10  # points, at the least: labels shrink so far before any of them is left out
SMALL_PITCH = LABEL_PITCH * SMALL_TYPE / style.FONT_SIZE
GAP = 22  # between two panels
BELOW = 14  # between two rows of panels
BAR = 14  # the width of the colour bar


class Layout:
    """Places of the panels, labels, titles and the colour bar: the panels get what the labels leave.

    Call it inside ``style.drawing()``. ``head_lines`` is the number of lines above each panel, and
    ``bar_texts`` are the texts at the colour bar.
    """

    def __init__(self, panels, row_texts, column_texts, head_lines, title, bar_texts):
        rows, columns = len(row_texts), len(column_texts)
        measure = _text_measure()
        self.panels, self.row_texts = panels, row_texts
        self.left = max(map(measure, row_texts)) + LINE + 16
        self.right = (
            18 + max(BAR + 6 + max(map(measure, bar_texts[1:])), measure(bar_texts[0]) / 2 + BAR / 2) + 4
        )
        self.head = 10 + (LINE - 1) * head_lines if head_lines else 4
        self._size_cells(rows, columns)
        self._place_column_texts(column_texts, measure)
        closest = min(self.cell_height, self.cell_width if self.packed else LABEL_PITCH, LABEL_PITCH)
        fits = closest >= SMALL_PITCH
        self.label_size = style.FONT_SIZE * closest / LABEL_PITCH if fits else style.FONT_SIZE
        self.row_step = 1 if fits else math.ceil(LABEL_PITCH / self.cell_height)
        self.column_step = math.ceil(LABEL_PITCH / self.cell_width) if self.packed and not fits else 1
        self.numbers = (
            max(rows, columns) <= NUMBERS_UP_TO
            and self.cell_width >= CELL_FOR_A_NUMBER
            and self.cell_height >= LINE
        )
        panels_width = self.across * self.panel_width + (self.across - 1) * GAP
        self.width = round(self.left + panels_width + self.right)
        title_lines = textwrap.wrap(title, max(int(self.width / 11), 8))
        self.title = "\n".join(title_lines)
        self.top = 8 + (LINE + 4) * len(title_lines) + (0 if head_lines else LINE)
        self.pitch = self.panel_height + self.head + BELOW
        self.height = round(self.top + self.down * self.pitch - BELOW + self.bottom)

    def _size_cells(self, rows, columns):
        free = MAX_WIDTH - self.left - self.right
        self.across = _panels_across(self.panels, free, rows, columns)
        self.down = math.ceil(self.panels / self.across)
        widest = (free - (self.across - 1) * GAP) / self.across / columns
        self.cell_width = min(widest, LARGEST_CELL)
        self.cell_height = min(self.cell_width, TALLEST_CELL, TALLEST_PANEL / rows)
        if rows == columns > NUMBERS_UP_TO:
            self.cell_width = self.cell_height
        # One token is still a panel wide enough for the title of its head.
        self.panel_width = max(self.cell_width * columns, LARGEST_CELL if self.across == 1 else 0)
        self.panel_height = max(self.cell_height * rows, TALLEST_CELL)
        self.cell_width, self.cell_height = self.panel_width / columns, self.panel_height / rows

    def _place_column_texts(self, texts, measure):
        """Level where they fit, wrapped where that is enough, otherwise turned. A Z turned is an N."""
        wrapped = [text.replace(" ", "\n") for text in texts]
        widths = [max(map(measure, text.split("\n"))) for text in wrapped]
        letters = max(map(len, texts)) <= 1
        self.turned = max(widths) > self.cell_width - 6 and not letters
        self.packed = self.turned or letters
        if self.turned:
            wrapped, high = texts, max(map(measure, texts))
        elif letters or max(map(measure, texts)) <= self.cell_width - 6:
            wrapped, high = texts, LINE
        else:
            high = LINE * max(text.count("\n") + 1 for text in wrapped)
        self.column_texts = wrapped
        self.bottom = high + LINE + 16

    def box(self, panel):
        """Left, bottom, width, height of a panel as fractions of the figure."""
        row, column = divmod(panel, self.across)
        left = self.left + column * (self.panel_width + GAP)
        top = self.top + row * self.pitch + self.head
        return self.fractions(left, top, self.panel_width, self.panel_height)

    def is_first(self, panel):
        return panel % self.across == 0

    def is_last(self, panel):
        """Say whether no panel stands below this one."""
        return panel + self.across >= self.panels

    def fractions(self, left, top, width, height):
        return (
            left / self.width,
            1 - (top + height) / self.height,
            width / self.width,
            height / self.height,
        )


def _panels_across(panels, free, rows, columns):
    most = panels if panels <= 4 else 4 if panels <= 16 else 8
    wanted = CELL_FOR_A_NUMBER if columns <= NUMBERS_UP_TO else SMALL_PITCH
    if TALLEST_PANEL / max(rows, columns) < wanted:
        return most
    for across in range(most, math.ceil(panels / 2) - 1, -1):  # at most two rows for the sake of it
        if (free - (across - 1) * GAP) / across / columns >= wanted:
            return across
    return most


def _text_measure():
    renderer = FigureCanvasAgg(new_figure(100, 100)).get_renderer()
    font = FontProperties(family=style.font_families(), size=style.FONT_SIZE)
    return lambda text: renderer.get_text_width_height_descent(text, font, False)[0]
