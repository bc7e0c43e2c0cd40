"""Panel: controls, and a picture that follows them and answers a click.

To write an explorer, read the docstring of ``Explorer``, then ``mha_course/p07_weighted_values/explorer.py``.
"""

import contextlib
import html
from pathlib import Path

import ipywidgets as widgets
from traitlets import TraitError

from mha_helpers.style import short
from mha_helpers.svg import Drawing
from mha_helpers.svg_marks import STYLE

WIDTH = 860  # pixels of a picture; a JupyterLab of 1280 x 720 with its file browser open still shows it whole
# A button at the right end of the title's row.
_SMALL = {"width": "64px", "height": "24px", "margin": "0 2px", "flex": "none"}
_LINE = 20  # pixels of a line of words
_STYLE = STYLE + Path(__file__).with_name("panel.css").read_text(encoding="utf-8")

try:
    from anywidget import AnyWidget
except ImportError:  # as in Colab: a click does nothing there; hovering, sliders and menus work as everywhere
    Listener = None
else:

    class Listener(AnyWidget):
        """Not seen: tells a Panel which ``data-cell`` is clicked, and helps keys and screen readers."""

        _esm = Path(__file__).with_name("listener.js").read_text(encoding="utf-8")

        def __init__(self, click):
            super().__init__()
            self._click = click
            self.on_msg(self._receive)

        def _receive(self, _, cell, buffers):
            self.send("heard")  # first: what a click starts may take its time
            with contextlib.suppress(ValueError, TraitError):  # a picture just replaced, or a question
                self._click(*map(int, cell.split(",")))


class Explorer:
    """What a ``Panel`` shows: each page writes its own.

    1. Give a class of your own a ``title`` in plain words, and the ``height`` of its picture in pixels.
    2. ``controls()`` returns its widgets, few and of core ipywidgets, in a dict by name; ``more`` names those
       at its end that only a button shows. Each is as wide as it needs to be, unless its layout has a width.
       Title, rows of controls (30 pixels each), picture and words (60) are at most 515 pixels high.
    3. ``compute`` takes all their values by name, and returns a dict of what is shown. Together they are the
       state. A ``ValueError`` raised here is shown to the learner as it stands; the last picture remains.
    4. ``draw(drawing, state)`` puts marks on a ``svg.Drawing``, ``WIDTH`` wide; ``words(state)`` says it in a
       list of at most three lines of plain text.
    5. Heatmaps invite clicks: name controls "head", "query" and "key", or write ``click``. ``asks`` says so.
    6. ``adjust`` is for a control whose range or options follow from another.
    7. A function ``…_explorer`` returns its Panel, and its docstring says what ``state()`` holds.
    8. A page that plays without a kernel also asks, where there are: ``rehearse(panel)``, to bring the Panel
       to its beginning; ``plays(**values)``, whether to keep these settings; a "trail" in the state: the way.

    >>> class Doubled(Explorer):
    ...     title, height = "A number, and twice as much", 30
    ...
    ...     def controls(self):
    ...         return {"number": widgets.IntSlider(2, 0, 9)}
    ...
    ...     def compute(self, number):
    ...         return {"double": 2 * number}
    ...
    ...     def draw(self, drawing, state):
    ...         drawing.rect(0, 5, 40 * state["double"], 20, "output")
    ...
    ...     def words(self, state):
    ...         return [f"Twice {state['number']} is {state['double']}."]
    >>> panel = Panel(explorer=Doubled())
    >>> panel.set(number=4)
    >>> panel.description()
    'Twice 4 is 8.'
    """

    title, asks, height, more = "", "", 340, ()  # ``asks`` follows the title where a click is answered

    def compute(self, **values):
        """Return a dict of what is shown; where a control has the same name, it counts in its place."""
        return {}

    def click(self, values, heatmap, row, column):
        """Return the values of controls that a click on this cell sets; all three are counted from 0."""
        chosen = {"head": heatmap, "query": row, "key": column}
        return {name: index for name, index in chosen.items() if name in values}

    def adjust(self, controls, values):
        """Change controls before ``compute``: it is redrawn once, not twice."""

    def reset(self):
        """Forget what is not kept by a control."""


class Panel(widgets.VBox):
    """A title, controls, a live picture and the same in words: all that its ``Explorer`` says.

    ``panel.controls["d_k"].value = 8`` redraws before it returns; ``panel.set(d_k=8, heads=4)`` redraws once;
    ``panel.state()`` returns what is shown; ``panel.click(heatmap, row, column)`` does what a click does.
    """

    # ipywidgets 7 shows itself through _ipython_display_, which would bypass _repr_mimebundle_.
    _ipython_display_ = None

    def __init__(self, *, explorer):
        self.explorer = explorer
        self.controls = explorer.controls()
        self.more = tuple(explorer.more)  # the names of the controls that are not always seen
        self._title = f"{explorer.title}: {explorer.asks}" if explorer.asks else explorer.title
        self._state, self._svg, self._lines, self._message = {}, "", [], ""
        self._title_box, self._picture, self._words_box = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self._words_box.add_class("mha-words")
        self._busy = False
        super().__init__(self._parts(), layout=widgets.Layout(max_width="100%", overflow="visible"))
        self.add_class("mha-panel")
        for control in self.controls.values():
            control.observe(self._changed, names="value")
        self._refresh()
        self._start = self._values()

    def _parts(self):
        """Return the title with its buttons, rows of controls, the picture, the words, and what listens."""
        for name, control in self.controls.items():
            _make_legible(name, control)
        buttons, rows = [], [_rows(self.controls[name] for name in self.controls if name not in self.more)]
        if len(self.controls) > 2:
            buttons.append(widgets.Button(description="reset", layout=_SMALL, tooltip="Back to the start"))
            buttons[0].on_click(lambda _: self.reset())
        if self.more:
            rows.append(_rows(self.controls[name] for name in self.more))
            buttons.append(_button_for(rows[1]))
        title = _row([self._title_box, *buttons]) if buttons else self._title_box
        parts = [title, *rows, self._picture, self._words_box]
        return parts if Listener is None else [*parts, Listener(self.click)]

    def state(self):
        """Return the controls' values and what was computed; empty if no input was good so far."""
        return dict(self._state)

    def svg(self):
        """Return the picture shown, as SVG."""
        return self._svg

    def description(self):
        """Return what the picture shows, in words."""
        return "\n".join(self._lines)

    def message(self):
        """Return the sentence about the last bad input, or ""."""
        return self._message

    def set(self, **values):
        """Change several controls and redraw once."""
        unknown = [name for name in values if name not in self.controls]
        if unknown:
            raise ValueError(f"this panel has no control {unknown[0]!r}; it has {', '.join(self.controls)}.")
        too_early = {}  # a menu has some options only once another control is set and has been adjusted to
        self._busy = True
        for name, value in values.items():
            try:
                self.controls[name].value = value
            except TraitError:
                too_early[name] = value
        self._busy = False
        self._refresh()
        for name, value in too_early.items():
            self.controls[name].value = value

    def reset(self):
        """Bring all controls back to where they were at the start."""
        self.explorer.reset()
        self.set(**self._start)  # after which menus have their names of the start,
        self.set(**self._start)  # so that an index means what it meant then
        for control in self.controls.values():
            if isinstance(control, IndexMenu):
                control.remember()

    def click(self, heatmap, row, column):
        """Choose a cell, as a click on it does; heatmap (which of several), row and column count from 0."""
        # Where an input is refused, the picture still shows cells that the menus do not have.
        with contextlib.suppress(TraitError):
            self.set(**self.explorer.click(self._values(), heatmap, row, column))

    def _changed(self, change):
        if not self._busy:
            self._refresh()

    def _refresh(self):
        explorer = self.explorer
        self._busy = True  # what adjust changes must not start a second redraw
        try:
            explorer.adjust(self.controls, self._values())
            state = self._values() | explorer.compute(**self._values())
        except ValueError as error:
            self._message = str(error)
            return self._show_title()
        finally:
            self._busy = False
        drawing = Drawing(WIDTH, explorer.height)
        explorer.draw(drawing, state)
        self._state, self._lines, self._message = state, list(explorer.words(state)), ""
        drawing.label = " ".join(self._lines)
        self._svg = drawing.svg()
        self._picture.value = self._svg  # first: the eye waits for it
        self._show_words()
        self._show_title()

    def _show_title(self):
        """Write the title or, in its place, right above the field, what is wrong with the input."""
        shown = f"<b>{html.escape(self.explorer.title if Listener is None else self._title)}</b>"
        if self._message:
            style = "border-left:4px solid #C4433A;padding-left:8px"
            said = html.escape(self._message[0].upper() + self._message[1:])
            shown = f'<div role="alert" style="{style}">{said} Until then the picture stays as it was.</div>'
        self._title_box.value = f"<style>{_STYLE}</style>{shown}"

    def _show_words(self):
        """Write at most three lines in a box of constant height, so that nothing below it jumps."""
        role = 'role="status"' if Listener is None else ""  # that of the box, which listener.js gives it
        size = f"max-width:{WIDTH}px;min-height:{3 * _LINE}px;line-height:{_LINE}px;font-size:14px"
        written = "<br>".join(html.escape(line) for line in self._lines)
        self._words_box.value = f'<div {role} style="{size}">{written}</div>'

    def _values(self):
        return {name: control.value for name, control in self.controls.items()}

    def __repr__(self):
        # A VBox would print every child, the whole picture among them.
        return "\n".join([f"Panel: {self._title}", *self._lines])

    def _repr_mimebundle_(self, include=None, exclude=None, **kwargs):
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"text/plain": repr(self), "application/vnd.jupyter.widget-view+json": view}, {}

    def _mime_(self):
        """Return the still picture, for marimo, which shows no widget that is a box of others."""
        title = f"<style>{_STYLE}</style><b>{html.escape(self.explorer.title)}</b>"
        return "text/html", f"{title}{self._picture.value}{self._words_box.value}"


class IndexMenu(widgets.Dropdown):
    """A menu of tokens or heads; its values count from 0 and begin with the index ``start``.

    With ``start=-1`` it begins with "the strongest", which stands in front. Where its names follow from
    another control, ``adjust`` hands them to ``offer``.
    """

    def __init__(self, description, start=0, names=(), numbered=True):
        super().__init__(options=[("", start)], description=description)
        self.start = start
        self.names, self.choice = [], (start, None)  # the index and the name that the learner chose last
        self.observe(self.remember, names="value")
        if names:
            self.offer(names, numbered)

    def offer(self, names, numbered=True):
        """Fill the menu with names, numbered from 1 unless they say themselves where they stand.

        The choice stays with the name that was chosen: the nearest one, where the name stands elsewhere now.
        Where it is gone its index is kept, as far as there is one, until it is there again.
        """
        options = [(f"{i + 1} {short(name, 20)}" if numbered else name, i) for i, name in enumerate(names)]
        if self.start < 0:
            options.insert(0, ("the strongest", -1))
        if list(self.options) == options:
            return
        index, name = self.choice
        if name is None and 0 <= index < len(names):
            name = names[index]  # the start has a name now
        same = [i for i, other in enumerate(names) if other == name]
        kept = min(same, key=lambda i: abs(i - index), default=min(index, len(names) - 1))
        self.names, self.options, self.value = list(names), options, kept
        self.choice = index, name  # not what there is of it now, which is remembered with every change

    def remember(self, change=None):
        """Take what is shown for the choice."""
        is_named = 0 <= self.value < len(self.names)
        self.choice = self.value, self.names[self.value] if is_named else None


def _make_legible(name, control):
    if not control.description:
        control.description = name
    # The front end sends the next change when the last is answered, so nothing piles up.
    if control.has_trait("continuous_update"):
        control.continuous_update = True
    control.style.description_width = "initial"
    if control.layout.width is None:
        control.layout.width = _width(control)
    control.layout.max_width = "100%"
    control.layout.margin = "1px 2px"


def _width(control):
    label = 7 * len(control.description)
    if isinstance(control, widgets.Text):
        return f"{WIDTH - 4}px"
    if isinstance(control, widgets.Checkbox):
        return f"{label + 40}px"
    if isinstance(control, widgets.Dropdown):
        least = 19 if isinstance(control, IndexMenu) else 16
        longest = max([least, *(len(str(option)) for option in control._options_labels)])
        return f"{label + 8 * longest + 36}px"
    return f"{label + 290}px"  # a slider: 200 pixels of track and more, and its number


def _rows(controls):
    """Return the controls one after the other, in as many rows as they need."""
    return _row(list(controls), flex_flow="row wrap", grid_gap="0 8px", overflow="visible")


def _row(parts, **layout):
    return widgets.HBox(parts, layout={"width": f"{WIDTH}px", "max_width": "100%", **layout})


def _button_for(rows):
    """Return a button that shows these rows; nobody would reach an accordion by keyboard."""
    button = widgets.ToggleButton(False, description="more", layout=_SMALL)
    rows.layout.display = "none"

    def show(change):
        rows.layout.display, button.description = ("flex", "less") if button.value else ("none", "more")

    button.observe(show, names="value")
    return button
