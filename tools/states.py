"""The states of a Panel, computed beforehand, so that a page without a kernel can show them.

Where the controls alone say what is shown, every combination of them is a state, as far as there is room:
sliders and long menus that are too many stop less often, but everywhere while the others are at their start.
A click then moves controls. Where an explorer remembers, what a click shows is a state of its own. The
numbers and marks are the Panel's: ``set``, ``click``, ``svg`` and ``description`` say what is shown.
"""

import functools
import itertools
import math
import re
from unittest import mock

import ipywidgets as widgets
import numpy as np

from tools.packed import parts

MOST_STATES = 3_300  # combinations of the controls
LONG_MENU = 20  # options
CELL = re.compile(r'data-cell="([\d,]+)"')


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


def thinned(stops, start):
    """Return about half of the stops of a slider or a long menu, its ends and its start among them.

    >>> thinned(range(8), 3)
    [0, 2, 3, 4, 6, 7]
    """
    return sorted({stops[0], *stops[::2], stops[-1], start})


class States:
    """The states of one Panel: of each its parts, its words, and the settings of its controls.

    ``controls`` are those that can be moved, name -> options. ``shown`` has a state for each combination of
    settings, "0,2,1", counted in these options; ``clicks`` says which of them a click on a cell sets. Where
    the explorer remembers, ``shown`` has a state for each cell clicked, "0,2,1 1,4,4".
    """

    def __init__(self, make):
        """``make()`` returns the Panel, each time a new one: what it shows may depend on the way there."""
        # No front end is told of a Panel: this is faster, and none is kept.
        self.make = mock.patch.object(widgets.Widget, "open", lambda widget: None)(make)
        self.panel = self.make()
        self.plays = getattr(self.panel.explorer, "plays", None)  # which combinations are kept, if it says so
        self.values = self._values()  # of the start
        self.controls, self.follows = self._playing()
        self.parts, self.shown, self.clicks, self.decides = {}, {}, {}, None
        remembers = self._remembers()
        if remembers:  # a menu that follows from others names other cells then
            self.controls = {name: self.controls[name] for name in self.controls if name not in self.follows}
            self.follows = set()
        self.start = self._settings()
        self.stops = {name: [*range(len(options))] for name, options in self.controls.items()}
        if remembers:
            self._keep_clicks()
        else:
            self._keep_all()

    # --- the controls ---------------------------------------------------------------------------------

    def _playing(self):
        """Return name -> options of the controls that say by themselves what is shown, and which follow.

        The options of a menu that follows from others are all that it ever has; one that then names a value
        otherwise, and a box that ticks a cell of a mask, are left out.
        """
        first = {name: options_of(control) for name, control in self.panel.controls.items()}
        every = {name: {value: label for label, value in options} for name, options in first.items()}
        alone, follows, renamed = set(), set(), set()
        free = [name for name, control in self.panel.controls.items() if not control.disabled]
        for name, value in [(one, value) for one in free for _, value in first[one]]:
            self.panel = self.make()
            self._bring({name: value})
            if [other for other, now in self._values().items() if now != self.values[other]] == [name]:
                alone.add(name)
            for other, control in self.panel.controls.items():
                now = options_of(control)
                if now != first[other]:
                    follows.add(other)
                renamed |= {other for label, value in now if every[other].setdefault(value, label) != label}
        self.panel = self.make()
        live = {name: [(label, value) for value, label in every[name].items()] for name in every}
        live |= {name: sorted(live[name], key=lambda option: option[1]) for name in follows - renamed}
        return {name: live[name] for name in live if name in alone - renamed}, follows

    def _remembers(self):
        """Tell whether a click changes what the explorer remembers."""
        before = vars(self.panel.explorer).copy()
        for cell in list(dict.fromkeys(CELL.findall(self.panel.svg())))[-1:]:
            self.panel.click(*map(int, cell.split(",")))
        after = vars(self.panel.explorer)
        self.panel = self.make()
        return any(after[name] is not before[name] for name in after)

    def _values(self):
        return {name: control.value for name, control in self.panel.controls.items()}

    def _settings(self):
        """Return which option each control shows."""
        now = self._values()
        values = {name: [value for _, value in options] for name, options in self.controls.items()}
        return tuple(values[name].index(now[name]) for name in values)

    def _bring(self, values, memory=None):
        """Bring the controls, and what the explorer remembers, to these, without a picture."""
        explorer = self.panel.explorer
        if memory is not None:
            vars(explorer).clear()
            vars(explorer).update(memory)
        adjusted = functools.partial(explorer.adjust, self.panel.controls)
        with mock.patch.object(self.panel, "_refresh", lambda: adjusted(self._values())):
            self.panel.set(**values)

    def _named(self, settings):
        """Return the values of the controls that can be moved at these settings."""
        return {name: menu[i][1] for (name, menu), i in zip(self.controls.items(), settings, strict=True)}

    # --- an explorer that does not remember -----------------------------------------------------------

    def _keep_all(self):
        while not self.plays and self._combinations() > MOST_STATES:
            self._thin()
        self._keep(itertools.chain(self._grid(), self._whole_rows()))
        self.decides, self.clicks = self._answers()
        self._keep(self._clicked())

    def _keep(self, wanted):
        for settings in wanted:
            if key(settings) not in self.shown and self._exists(settings):
                self._store(key(settings))

    def _clicked(self):
        """Return where clicks lead while at most one control is moved."""
        for settings in [settings for settings in map(settings_of, self.shown) if self._moved(settings) < 2]:
            for where, options in self.clicks.items():
                if where == self._where(self.decides, where.split()[0], settings):
                    moved = dict(options)
                    yield tuple(moved.get(k, i) for k, i in enumerate(settings))

    def _moved(self, settings):
        """Return how many controls are not at their start."""
        return sum(i != start for i, start in zip(settings, self.start, strict=True))

    def _grid(self):
        return itertools.product(*self.stops.values())

    def _combinations(self):
        """Return how many there are, about: a menu that follows has half of its options on average."""
        return math.prod(map(len, self.stops.values())) // 2 ** len(self.follows & self.controls.keys())

    def _thin(self):
        """Let the longest slider or menu stop less often: one far, not all a little."""
        long = [
            name for name, options in self.controls.items()
            if len(self.stops[name]) > 3 and (is_slider(self.panel, name) or len(options) > LONG_MENU)
        ]  # fmt: skip
        if not long:
            count = self._combinations()
            raise ValueError(f"{self.panel!r} has {count} states; sliders and long menus are thinned.")
        name = max(long, key=lambda name: len(self.controls[name]))
        self.stops[name] = thinned(self.stops[name], self.start[[*self.controls].index(name)])

    def _whole_rows(self):
        """Return where one control that was thinned has all its options, and no other slider is moved."""
        for k, (name, options) in enumerate(self.controls.items()):
            if self.is_thinned(name):
                one_moved = [
                    (*self.start[:other], i, *self.start[other + 1 :])
                    for other, (menu, stops) in enumerate(self.stops.items())
                    for i in stops
                    if not is_slider(self.panel, menu)
                ]
                for settings in dict.fromkeys([self.start, *one_moved]):
                    yield from ((*settings[:k], i, *settings[k + 1 :]) for i in range(len(options)))

    def _exists(self, settings):
        """Bring the Panel to these settings; return whether it has them, and something to show."""
        values = self._named(settings)
        if self.plays and not self.plays(**self.values | values):
            return False
        following = {name: values.pop(name) for name in self.follows & values.keys()}
        self._bring(values)
        now = {name: [value for _, value in options_of(self.panel.controls[name])] for name in following}
        if any(value not in now[name] for name, value in following.items()):
            return False
        self._bring(following)
        self.panel._refresh()
        return not self.panel.message()

    def _answers(self):
        """Return what decides, beside the cell, what a click does: None, a control, or all in its place.

        And what it does, by the cell, by both, or by the settings.
        """
        for k in (None, *range(len(self.controls)), "all"):
            if (answers := self._decided_by(k)) is not None:
                return k, {where: options for where, options in answers.items() if options}
        raise ValueError(f"{self.panel!r}: what a click does depends on its cell and on several controls.")

    def _decided_by(self, k):
        """Return what clicks do if control k decides it, else None; all are tried near the start."""
        cells_of = {i: cells[0] for i, part in enumerate(self.parts) if (cells := CELL.findall(part))}
        answers = {}
        for name, (ids, _, _) in self.shown.items():
            settings = settings_of(name)
            values = self.values | self._named(settings)
            for cell in {cells_of[i] for i in ids.tolist() if i in cells_of}:
                where = self._where(k, cell, settings)
                if where not in answers or self._moved(settings) < 2:
                    options = self._options(self.panel.explorer.click(values, *map(int, cell.split(","))))
                    if answers.setdefault(where, options) != options:
                        return None
        return answers

    def _where(self, k, cell, settings):
        """Return the name of a click where its cell decides what it does, control k too, or all of them."""
        return cell if k is None else key(settings) if k == "all" else f"{cell} {settings[k]}"

    def _options(self, chosen):
        """Return pairs: which control, and which of its options is chosen."""
        numbered = {name: k for k, name in enumerate(self.controls) if name in chosen}
        values = {name: [value for _, value in self.controls[name]] for name in numbered}
        return [(k, values[name].index(chosen[name])) for name, k in numbered.items()]

    # --- an explorer that remembers -------------------------------------------------------------------

    def _keep_clicks(self):
        """Keep the settings and, where no slider is moved, what a click on each cell shows."""
        for settings in self._grid():
            self._go(settings)
            if self._settings() == settings and not self.panel.message():
                self._store(key(settings))
        sliders = [k for k, name in enumerate(self.controls) if is_slider(self.panel, name)]
        for settings in [*map(settings_of, self.shown)]:
            if all(settings[k] == self.start[k] for k in sliders):
                self._click_each(settings)

    def _go(self, settings):
        self.panel = self.make()
        self.panel.set(**self._named(settings))

    def _click_each(self, settings):
        self._go(settings)
        at_rest = self._values(), vars(self.panel.explorer).copy()
        for cell in dict.fromkeys(CELL.findall(self.panel.svg())):
            self._bring(*at_rest)
            self.panel.click(*map(int, cell.split(",")))
            self._store(key(settings, cell))

    # --- what is kept ---------------------------------------------------------------------------------

    def _store(self, name):
        ids = [self.parts.setdefault(part, len(self.parts)) for part in parts(self.panel.svg())]
        self.shown[name] = np.array(ids, dtype=np.int32), self.panel.description(), self._settings()

    def offers_few(self, name):
        """Tell whether a control is to offer only what is kept while the others stay as they are."""
        follows = name in self.follows
        return bool(self.plays) or follows or self.is_thinned(name) or is_slider(self.panel, name)

    def is_thinned(self, name):
        return len(self.stops[name]) < len(self.controls[name])


def is_slider(panel, name):
    return isinstance(panel.controls[name], widgets.SelectionSlider) or hasattr(panel.controls[name], "step")


def settings_of(name):
    return tuple(map(int, name.split(",")))


def key(settings, click=""):
    return f"{','.join(map(str, settings))} {click}".strip()
