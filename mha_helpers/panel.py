"""Panel: controls, and a picture that follows them and answers a click.

To write an explorer, read the docstring of ``Panel``, then ``mha_course/p00_start_here/explorer.py``.
"""

import html

import ipywidgets as widgets
from traitlets import TraitError

from mha_helpers.listener import Listener
from mha_helpers.style import short
from mha_helpers.svg import Drawing
from mha_helpers.svg_marks import STYLE

WIDTH = 860  # pixels of a picture; a JupyterLab of 1280 x 720 with its file browser open still shows it whole
# A button at the right end of the title's row.
_SMALL = {"width": "64px", "height": "24px", "margin": "0 2px", "flex": "none"}
_LINE = 20  # pixels of a line of words
_STYLE = """
.mha-panel .widget-html{margin:0 2px;min-height:0}
.mha-panel .widget-html-content{line-height:inherit;min-height:0}
.mha-panel .mha{display:block;min-width:600px}
.mha-panel .widget-html-content:has(>.mha){overflow-x:auto}
.mha-panel .widget-hbox>.widget-html{flex:1}
.mha-panel :is(select,input,button,[role=slider]):focus-visible{box-shadow:0 0 0 2px #1976D2!important}
.mha-panel .widget-readout{min-width:44px}
.mha-panel .mha-short .widget-readout{min-width:28px}
.mha-panel .jupyter-widgets-error-widget{display:none}
"""  # the last: where a front end has no anywidget, it would show an error in place of the listener
# A page opened again shows its Panels as they were saved. JupyterLab marks each part of them, for want of a
# kernel, with the icon of a broken link; one line that says how to go on stands in its place.
_ASLEEP = """
.mha-panel .jupyter-widgets-disconnected::before{content:none}
.mha-panel .jupyter-widgets-disconnected :is(input,select,button,.noUi-target){opacity:.5;pointer-events:none}
.mha-panel.jupyter-widgets-disconnected::before{content:"These pictures are from last time: Run → Run All \
Cells wakes the sliders.";color:var(--jp-ui-font-color1);font:italic 13px/22px var(--jp-ui-font-family)}
"""


class Panel(widgets.VBox):
    """A title, controls, a live picture and the same in words.

    - ``title``: plain words; ``asks`` is put after them where a click is answered.
    - ``controls``: dict of name -> core ipywidgets widget, few; ``more``: the others, which a button shows.
      Each is as wide as it needs to be, unless its layout has a width.
    - ``compute(**values)`` -> a dict of what is shown; with the values of the controls, where it has no other
      of this name, it is the state. A ``ValueError`` raised here is shown to the learner as it stands, above
      the controls, and the last good picture and its words remain.
    - ``draw(drawing, state)`` puts marks on a ``svg.Drawing`` of this ``height``, which is ``WIDTH`` wide.
    - ``words(state)`` -> a list of at most three lines of plain text, shown under the picture.
    - ``adjust(controls, values)``: optional, called before ``compute``, where the range or the options of
      one control follow from another. What it changes is redrawn once, not twice.
    - ``click(values, map, row, column)`` -> dict of the control values that a click on this cell sets; or the
      names of three controls for map, row and column: "head", "query" and "key", where none are given, of
      which those that exist are set. A heatmap invites clicks, so a Panel with one has a control "query" or
      "key", perhaps in ``more``, or says what a click does.

    ``panel.controls["d_k"].value = 8`` redraws before it returns; ``panel.set(d_k=8, heads=4)`` redraws once;
    ``panel.state()`` returns what is shown; ``panel.click(map, row, column)`` does what a click does.
    """

    # ipywidgets 7 shows itself through _ipython_display_, which would bypass _repr_mimebundle_.
    _ipython_display_ = None

    def __init__(
        self, title, controls, compute, draw, words, more=None, adjust=None, click=None, asks="", height=340
    ):
        self._title = f"{title}: {asks}" if asks else title
        self._head_line, self._role = title, 'role="status"'  # until a front end listens
        self._compute, self._draw, self._words = compute, draw, words
        self._adjust, self._click, self._height = adjust, click or ("head", "query", "key"), height
        self.controls = {**controls, **(more or {})}
        self._state, self._svg, self._lines, self._message = {}, "", [], ""
        self._head, self._picture, self._words_box = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self._words_box.add_class("mha-words")
        for name, control in self.controls.items():
            _make_legible(name, control)
        buttons, folded = [], []
        if len(self.controls) > 2:
            buttons.append(widgets.Button(description="reset", layout=_SMALL, tooltip="Back to the start"))
            buttons[0].on_click(lambda _: self.reset())
        if more:
            folded.append(_rows(more))
            buttons.append(_button_for(folded[0]))
        title = _row([self._head, *buttons]) if buttons else self._head
        parts = [title, _rows(controls), *folded, self._picture, self._words_box]
        if Listener is not None:
            parts.append(Listener(self.click, self._front_end_listens))
        super().__init__(parts, layout=widgets.Layout(max_width="100%", overflow="visible"))
        self.add_class("mha-panel")
        self.more = tuple(more or {})  # the names of the controls that are not always seen
        self._busy = False
        for control in self.controls.values():
            control.observe(self._changed, names="value")
        self._refresh()
        self._start = self._values()

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
        refused = {}
        self._busy = True
        for name, value in values.items():
            try:
                self.controls[name].value = value
            except TraitError:
                refused[name] = value
        self._busy = False
        self._refresh()
        for name, value in refused.items():  # now that the options of one have followed from another
            self.controls[name].value = value

    def reset(self):
        """Bring all controls back to where they were at the start."""
        self.set(**self._start)

    def click(self, map, row, column):
        """Choose a cell, as a click on it does; map (which of several), row and column are counted from 0."""
        if callable(self._click):
            self.set(**self._click(self._values(), map, row, column))
        else:
            chosen = zip(self._click, (map, row, column), strict=True)
            self.set(**{name: index for name, index in chosen if name in self.controls})

    def _front_end_listens(self):
        """Let the title ask for a click; from now on the box of the words is what a screen reader follows."""
        self._head_line, self._role = self._title, ""
        self._head.value = _head_html(self._head_line, self._message)
        self._words_box.value = _words_html(self._lines, self._role)

    def _changed(self, change):
        if not self._busy:
            self._refresh()

    def _refresh(self):
        self._busy = True  # what adjust changes must not start a second redraw
        try:
            if self._adjust is not None:
                self._adjust(self.controls, self._values())
            state = self._values() | self._compute(**self._values())
        except ValueError as error:
            self._message = str(error)
            self._head.value = _head_html(self._head_line, self._message)
            return
        finally:
            self._busy = False
        drawing = Drawing(WIDTH, self._height)
        self._draw(drawing, state)
        self._state, self._lines, self._message = state, list(self._words(state)), ""
        drawing.label = " ".join(self._lines)
        self._svg = drawing.svg()
        self._picture.value = self._svg  # first: the eye waits for it
        self._words_box.value = _words_html(self._lines, self._role)
        self._head.value = _head_html(self._head_line)

    def _values(self):
        return {name: control.value for name, control in self.controls.items()}

    def __repr__(self):
        # A VBox would print every child, the whole picture among them.
        return "\n".join([f"Panel: {self._title}", *self._lines])

    def _repr_mimebundle_(self, include=None, exclude=None, **kwargs):
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"text/plain": repr(self), "application/vnd.jupyter.widget-view+json": view}, {}


class IndexMenu(widgets.Dropdown):
    """A menu of tokens or heads; its values count from 0 and begin with the index ``start``.

    With ``start=-1`` it begins with "the strongest", which stands in front. Where its names follow from
    another control, ``adjust`` hands them to ``offer``.
    """

    def __init__(self, description, start=0, names=()):
        super().__init__(options=[("", start)], description=description)
        self.start, self.wanted, self.wanted_name, self.names = start, start, None, []
        self.observe(self._remember, names="value")
        if names:
            self.offer(names)

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
        if self.wanted_name is None and 0 <= self.wanted < len(names):
            self.wanted_name = names[self.wanted]  # the start has a name now
        same = [i for i, name in enumerate(names) if name == self.wanted_name]
        kept = min(same, key=lambda i: abs(i - self.wanted), default=min(self.wanted, len(names) - 1))
        chosen = self.wanted, self.wanted_name
        self.names, self.options, self.value = list(names), options, kept
        self.wanted, self.wanted_name = chosen  # what the learner chose, not what there is of it now

    def _remember(self, change):
        self.wanted = self.value
        self.wanted_name = self.names[self.value] if 0 <= self.value < len(self.names) else None


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
    return _row(list(controls.values()), flex_flow="row wrap", grid_gap="0 8px", overflow="visible")


def _row(parts, **layout):
    return widgets.HBox(parts, layout={"width": f"{WIDTH}px", "max_width": "100%", **layout})


def _button_for(rows):
    """Return a button that shows these rows; nobody would reach an accordion by keyboard."""
    button = widgets.ToggleButton(False, description="more", layout=_SMALL)
    rows.layout.display = "none"

    def show(change):
        rows.layout.display = "flex" if button.value else "none"
        button.description = "less" if button.value else "more"

    button.observe(show, names="value")
    return button


def _head_html(title, message=""):
    """Write the title or, in its place, right above the field, what is wrong with the input."""
    shown = f"<b>{html.escape(title)}</b>"
    if message:
        style = "border-left:4px solid #C4433A;padding-left:8px"
        said = f"{message[0].upper()}{message[1:]} Until then the picture stays as it was."
        shown = f'<div role="alert" style="{style}">{html.escape(said)}</div>'
    return f"<style>{STYLE}{_STYLE}{_ASLEEP}</style>{shown}"


def _words_html(lines, role):
    """Write at most three lines in a box of constant height, so that nothing below it jumps."""
    size = f"max-width:{WIDTH}px;min-height:{3 * _LINE}px;line-height:{_LINE}px;font-size:14px"
    written = "<br>".join(html.escape(line) for line in lines)
    return f'<div {role} style="{size}">{written}</div>'
