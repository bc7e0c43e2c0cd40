"""The states of a Panel, computed beforehand, so that a page without a kernel can show them.

Every combination of the controls that are always seen is a state, thinned where there are too many; so is
each option of one control alone, and what a click on a cell shows, as far as there is room for it. The
numbers and marks are the Panel's own: ``set``, ``click``, ``svg`` and ``description`` say what is shown.
"""

import base64
import functools
import itertools
import json
import math
import re
import zlib
from collections import Counter
from unittest import mock

import ipywidgets as widgets

MOST_STATES = 2400  # combinations of the controls that are always seen
MOST_WITH_MORE = 240  # up to so many, those under "more" combine with them
LONG_MENU = 20  # options
MOST_CLICKS = 7_000  # after so many no further state is clicked through
MOST_BYTES, LOOK_EVERY = 850_000, 900  # nor where all takes so many bytes, which is seen every so many clicks
ENOUGH = 12  # cells of a heatmap without an answer, and it has none
CELL = re.compile(r'data-cell="([\d,]+)"')
# What states share is stored once: a cell with its words, a text, any other mark.
MARK = re.compile(r'<g class="hit".*?</g>|<text.*?</text>|<[^<]+', re.DOTALL)


def options_of(control):
    """Return all (label, value) of a control, in its order; none of a text field."""
    if isinstance(control, widgets.Checkbox):
        return [("no", False), ("yes", True)]
    if hasattr(control, "options"):
        return [option if isinstance(option, tuple) else (str(option), option) for option in control.options]
    if not hasattr(control, "step"):
        return []
    count = round((control.max - control.min) / control.step) + 1
    values = [control.min + i * control.step for i in range(count)]
    if isinstance(control, widgets.FloatLogSlider):
        values = [control.base**exponent for exponent in values]
    nearest = min(values, key=lambda value: abs(value - control.value))
    values[values.index(nearest)] = control.value  # no rounding error at the start
    return [(format(value, control.readout_format), value) for value in values]


def thinned(options, start):
    """Return about half of the (label, value) of a slider or a long menu, its ends and its start among them.

    Of many whole numbers the powers of two remain, of others every second.
    """
    values = [value for _, value in options]
    kept = {0, len(values) - 1, values.index(start)}
    whole = all(isinstance(value, int) for value in values)
    powers = kept | {i for i, value in enumerate(values) if whole and abs(value).bit_count() < 2}
    seconds = kept | set(range(0, len(values), 2))
    return [options[i] for i in sorted(powers if whole and len(powers) < len(values) else seconds)]


def combined(panel):
    """Return name -> (label, value) of the controls that combine, at most ``MOST_STATES`` of them.

    First those that are always seen, unless switched off; then, as far as they fit, those under "more".
    """
    every = {name: options_of(control) for name, control in panel.controls.items()}
    apart = {name for name, control in panel.controls.items() if name in panel.more or control.disabled}
    live = {name: options for name, options in every.items() if name not in apart and len(options) > 1}
    while combinations(live) > MOST_STATES:
        sizes = {
            name: len(live[name]) for name in live if can_be_thinned(panel, name) and len(live[name]) > 3
        }
        if not sizes:
            raise ValueError(
                f"{panel!r} has {combinations(live)} states; sliders and long menus are thinned."
            )
        longest = max(sizes, key=lambda name: len(every[name]))  # one is thinned far, not all a little
        live[longest] = thinned(live[longest], panel.controls[longest].value)
    for name in panel.more:
        if len(every[name]) > 1 and combinations(live) * len(every[name]) <= MOST_WITH_MORE:
            live[name] = every[name]
    return live


def can_be_thinned(panel, name):
    return is_slider(panel, name) or len(options_of(panel.controls[name])) > LONG_MENU


def is_slider(panel, name):
    return isinstance(panel.controls[name], widgets.SelectionSlider) or hasattr(panel.controls[name], "step")


def combinations(live):
    return math.prod(map(len, live.values()))


class States:
    """The states of one Panel: of each its marks, its words, and the settings of its controls.

    ``shown`` has one for each combination of settings, "0,2,1", counted in the options of each live control,
    and one for each cell clicked there, "0,2,1 1,4,4"; a second click on the same cell, where it shows
    something else, ends in "again".
    """

    def __init__(self, make):
        """``make()`` returns the Panel, each time a new one: what it shows may depend on the way there."""
        self.make, self.panel = make, make()
        self.live = self._playing()
        self._go(())
        kept = combined(self.panel)  # a slider stops where every combination is kept
        self.live |= {name: kept[name] for name in kept.keys() & self.live if is_slider(self.panel, name)}
        self.start = self._settings()
        self.marks, self.shown, self._drawn = {}, {}, {}
        self._clicks, self._looked, self._is_full = 0, 0, False
        self.ends = [k for k, _ in enumerate(self.start) if self._is_set_back(k)]
        for settings in [settings for settings in self._grid() if self._reach(settings)]:
            no_tour = all(settings[k] == self.start[k] for k in self.ends)
            if settings == self.start or (no_tour and self._is_room()):
                self._click_each(settings)

    def _is_room(self):
        """Tell whether there is room for more clicks, in number and in bytes."""
        if self._clicks >= self._looked + LOOK_EVERY:
            self._looked, self._is_full = self._clicks, len(self.packed()) > MOST_BYTES
        return self._clicks < MOST_CLICKS and not self._is_full

    def packed(self):
        """Return all states as text: JSON, deflate, base64."""
        drawn, states = {}, {}  # what several names show is packed once
        for name, (runs, words, settings) in self.shown.items():
            states[name] = drawn.setdefault((_relative(runs), words, settings), len(drawn))
        content = {"start": self.start, "ends": self.ends, "states": states}
        content |= {"marks": list(self.marks), "drawn": list(drawn)}
        content["leads"] = not vars(self.panel.explorer)  # then settings alone say what is shown
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return base64.b64encode(zlib.compress(text.encode(), 9)).decode()

    def _playing(self):
        """Return name -> options of the controls that say by themselves what is shown.

        A box that ticks a cell of a mask does not, and nor does a menu whose options follow from another.
        """
        every = {name: options_of(control) for name, control in self.panel.controls.items()}
        alone, follows = set(), set()
        for name, value in [(name, value) for name, options in every.items() for _, value in options]:
            self._go(())
            before = self._values()
            self.panel.set(**{name: value})
            if [other for other, now in self._values().items() if now != before[other]] == [name]:
                alone.add(name)
            for other, control in self.panel.controls.items():
                if [label for label, _ in options_of(control)] != [label for label, _ in every[other]]:
                    follows.add(other)
        return {name: options for name, options in every.items() if name in alone - follows}

    def _grid(self):
        """Return the settings to try, the nearest first."""
        kept = combined(self.panel)
        indices = [
            [options.index(option) for option in kept.get(name, [options[i]])]
            for (name, options), i in zip(self.live.items(), self.start, strict=True)
        ]
        grid = set(itertools.product(*indices))
        for k, options in enumerate(self.live.values()):
            grid |= {(*self.start[:k], i, *self.start[k + 1 :]) for i in range(len(options))}
        return sorted(grid, key=self._far)

    def _is_set_back(self, k):
        """Tell whether each click sets a control back, as it ends a tour."""
        others = [i for i in range(len([*self.live.values()][k])) if i != self.start[k]]
        self._go((*self.start[:k], others[0], *self.start[k + 1 :]))
        cells = list(dict.fromkeys(CELL.findall(self.panel.svg())))
        for cell in (cells[-1:] + cells[len(cells) // 2 :])[:2]:
            self._go((*self.start[:k], others[0], *self.start[k + 1 :]))
            self.panel.click(*map(int, cell.split(",")))
            if self._settings()[k] != self.start[k]:
                return False
        return bool(cells)

    def _far(self, settings):
        """How far settings lie from the start: by controls moved, sliders and those under "more" last."""
        moved = [name for name, i, j in zip(self.live, settings, self.start, strict=True) if i != j]
        sliders = sum(is_slider(self.panel, name) for name in moved)
        return len(moved), sliders, sum(name in self.panel.more for name in moved), settings

    def _values(self):
        return {name: control.value for name, control in self.panel.controls.items()}

    def _settings(self):
        """Return which option each live control shows."""
        now = self._values()
        return tuple([value for _, value in options].index(now[name]) for name, options in self.live.items())

    def _go(self, settings):
        """Bring a new Panel to these settings; () is its start."""
        with mock.patch.object(widgets.Widget, "open"):  # no front end is told: faster, and none is kept
            self.panel = self.make()
        chosen = zip(self.live.items(), settings, strict=True) if settings else ()
        self.panel.set(**{name: options[i][1] for (name, options), i in chosen})

    def _reach(self, settings):
        self._go(settings)
        moved = zip(settings, self._settings(), self.start, strict=True)
        if self.panel.message() or any(i not in (now, start) for i, now, start in moved):
            return False
        self._store(key(settings))
        return True

    def _click_each(self, settings):
        silent = Counter()  # of each heatmap, how many cells did not answer before one did
        self._go(settings)
        at_rest = self._values(), vars(self.panel.explorer).copy()
        cells = dict.fromkeys(CELL.findall(self.panel.svg()))
        for cell in cells:
            where = tuple(map(int, cell.split(",")))
            heatmap = where[0]
            if silent[heatmap] == ENOUGH:
                continue
            self._clicks += 1
            self._bring_back(*at_rest)
            for name in (cell, f"{cell} again"):
                if not self._click(where, key(settings, name)):
                    silent[heatmap] += name == cell
                    break
                silent[heatmap] = -len(cells)

    def _bring_back(self, values, memory):
        """Bring the controls and what the explorer remembers back, without a picture."""
        explorer = self.panel.explorer
        vars(explorer).clear()
        vars(explorer).update(memory)
        adjust = functools.partial(explorer.adjust, self.panel.controls, values)
        with mock.patch.object(self.panel, "_refresh", adjust):
            self.panel.set(**values)

    def _click(self, where, name):
        """Click, and store what is then shown, unless nothing has changed; return whether something has."""
        before, explorer = self._values(), self.panel.explorer
        if vars(explorer):  # what it remembers counts, too
            self.panel.click(*where)
            if self._values() != before:
                self._store(name)
            return self._values() != before
        after = before | explorer.click(before, *where)
        if after == before:
            return False
        shown = self._drawn.get(tuple(after.values()))
        if shown is None:
            self.panel.set(**after)
            self._store(name)
            self._drawn[tuple(after.values())] = name, self._values()
        else:
            self.shown[name], values = self.shown[shown[0]], shown[1]
            self._bring_back(values, {})
        return True

    def _store(self, name):
        runs = []
        for mark in MARK.findall(self.panel.svg()):
            i = self.marks.setdefault(mark, len(self.marks))
            if runs and i == runs[-2] + runs[-1]:
                runs[-1] += 1
            else:
                runs += [i, 1]
        self.shown[name] = runs, self.panel.description(), self._settings()


def _relative(runs):
    """Return runs whose beginnings count from the end of the one before: alike where pictures are."""
    ends = [0, *(first + count for first, count in zip(runs[::2], runs[1::2], strict=True))]
    gaps = (first - end for first, end in zip(runs[::2], ends[:-1], strict=True))
    return tuple(itertools.chain.from_iterable(zip(gaps, runs[1::2], strict=True)))


def key(settings, click=""):
    return f"{','.join(map(str, settings))} {click}".strip()
