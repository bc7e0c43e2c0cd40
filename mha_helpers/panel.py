"""Panel: controls, and a picture that follows them and answers a click.

To write an explorer, read the docstring of ``Panel``, then ``explorers/e00_attention.py`` as an example.
"""

import contextlib
import html

import ipywidgets as widgets
from traitlets import TraitError

from mha_helpers.svg_marks import STYLE

try:
    import anywidget
except ImportError:  # without it a click does nothing; hovering, sliders and menus work as before
    anywidget = None

WIDTH = 860  # pixels of a picture; a JupyterLab of 1280 x 720 with its file browser open still shows it whole
_LINE = 22  # pixels of a line of words
# Where a front end has no anywidget, it would show an error in place of the listener.
_NO_ERROR = ".mha-panel .jupyter-widgets-error-widget{display:none}"


class Panel(widgets.VBox):
    """A title, controls, a live picture and the same in words.

    - ``title``: plain words.
    - ``controls``: dict of name -> core ipywidgets widget, few; ``more``: the others, in a part that is
      closed at first.
    - ``compute(**values)`` -> state, a dict of what is shown. A ``ValueError`` raised here is shown to the
      learner as it stands, and the last good picture remains.
    - ``draw(state)`` -> ``svg.Drawing``, of the same size at every setting.
    - ``words(state)`` -> at most three lines of plain text, shown under the picture.
    - ``details(state)`` -> HTML shown under ``more``, optional. Escape what a learner typed.
    - ``adjust(controls, values)``: optional, called before ``compute``, where the range or the options of
      one control follow from another. What it changes is redrawn once, not twice.
    - ``click(values, head, row, column)`` -> dict of the control values that a click on this cell sets.
      Without it, a click sets "head", "query" and "key", as far as the Panel has them.

    ``panel.controls["d_k"].value = 8`` redraws before it returns; ``panel.set(d_k=8, heads=4)`` redraws once;
    ``panel.state()`` returns what is shown; ``panel.click(head, row, column)`` does what a click does.
    """

    # ipywidgets 7 shows itself through _ipython_display_, which would bypass _repr_mimebundle_.
    _ipython_display_ = None

    def __init__(
        self, title, controls, compute, draw, words, more=None, details=None, adjust=None, click=None
    ):
        self._title, self._compute, self._draw, self._words = title, compute, draw, words
        self._details, self._adjust, self._click = details, adjust, click
        self.controls = {**controls, **(more or {})}
        self._state, self._svg, self._lines, self._message = {}, "", [], ""
        self._picture = widgets.HTML()
        self._words_box = widgets.HTML()
        self._details_box = widgets.HTML()
        for name, control in self.controls.items():
            _make_legible(name, control)
        parts = [
            widgets.HTML(f"<style>{STYLE}{_NO_ERROR}</style><b>{html.escape(title)}</b>"),
            *_rows(controls),
            self._picture,
            self._words_box,
        ]
        if more or details:
            parts.append(_closed_part([*_rows(more or {}), self._details_box]))
        if anywidget is not None:
            parts.append(_Listener(self.click))
        super().__init__(parts, layout=widgets.Layout(max_width="100%", overflow="visible"))
        self.add_class("mha-panel")
        self._busy = False
        for control in self.controls.values():
            control.observe(self._changed, names="value")
        self._refresh()

    def state(self):
        """Return what is shown, as ``compute`` returned it; empty if no input was good so far."""
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

    def click(self, head, row, column):
        """Choose a cell, as a click on it does; head, row and column are counted from 0."""
        values = self._values()
        if self._click is not None:
            self.set(**self._click(values, head, row, column))
        else:
            chosen = {"head": head, "query": row, "key": column}
            self.set(**{name: place for name, place in chosen.items() if name in self.controls})

    def _changed(self, change):
        if not self._busy:
            self._refresh()

    def _refresh(self):
        self._busy = True  # what adjust changes must not start a second redraw
        try:
            if self._adjust is not None:
                self._adjust(self.controls, self._values())
            state = self._compute(**self._values())
        except ValueError as error:
            self._message = str(error)
            self._words_box.value = _words_html([self._message], "alert")
            return
        finally:
            self._busy = False
        drawing = self._draw(state)
        self._state, self._lines, self._message = state, list(self._words(state)), ""
        drawing.label = " ".join(self._lines)
        self._svg = drawing.svg()
        self._picture.value = self._svg  # first: the eye waits for it
        self._words_box.value = _words_html(self._lines, "status")
        if self._details is not None:
            self._details_box.value = f'<div style="overflow-x:auto">{self._details(state)}</div>'

    def _values(self):
        return {name: control.value for name, control in self.controls.items()}

    def __repr__(self):
        # A VBox would print every child, the whole picture among them.
        return "\n".join([f"Panel: {self._title}", *self._lines])

    def _repr_mimebundle_(self, include=None, exclude=None, **kwargs):
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"text/plain": repr(self), "application/vnd.jupyter.widget-view+json": view}, {}


def place_menu(description, start=0):
    """Return a menu of tokens or heads for a Panel, at the place ``start``; ``offer`` fills it."""
    return widgets.Dropdown(options=[("", start)], description=description)


def offer(menu, names, darkest=False):
    """Fill a menu with numbered names whose values count from 0, and keep its choice where that is possible.

    ``darkest=True`` puts "the darkest" in front, with the value −1.
    """
    options = [(f"{i + 1} {name}", i) for i, name in enumerate(names)]
    if darkest:
        options.insert(0, ("the darkest", -1))
    if list(menu.options) == options:
        return
    kept = menu.value
    menu.options = options  # this chooses the first one
    if kept in [place for _, place in options]:
        menu.value = kept


def _make_legible(name, control):
    if not control.description:
        control.description = name
    # The front end sends the next change when the last is answered, so nothing piles up.
    if control.has_trait("continuous_update"):
        control.continuous_update = True
    if control.has_trait("style") and control.style.has_trait("description_width"):
        control.style.description_width = "88px"
    control.layout.width = f"{WIDTH}px" if isinstance(control, widgets.Text) else "280px"
    control.layout.max_width = "100%"
    control.layout.margin = "2px 0"


def _rows(controls):
    """Return the controls in rows of equal columns; a text field has a row of its own."""
    texts = [control for control in controls.values() if isinstance(control, widgets.Text)]
    others = [control for control in controls.values() if control not in texts]
    layout = {"flex_flow": "row wrap", "grid_gap": "0 10px", "max_width": "100%", "overflow": "visible"}
    return [*texts, widgets.HBox(others, layout=widgets.Layout(**layout))] if others else texts


def _closed_part(children):
    part = widgets.Accordion([widgets.VBox(children)], layout=widgets.Layout(max_width=f"{WIDTH}px"))
    part.set_title(0, "more")
    part.selected_index = None
    return part


def _words_html(lines, role):
    """Write at most three lines in a box of constant height, so that nothing below it jumps."""
    # A screen reader reads out role="status" when the learner pauses, role="alert" at once.
    mark = "border-left:4px solid #C4433A;padding-left:8px;" if role == "alert" else ""
    size = f"max-width:{WIDTH}px;height:{3 * _LINE}px;line-height:{_LINE}px;font-size:14px;overflow-y:auto"
    written = "<br>".join(html.escape(line) for line in lines)
    return f'<div role="{role}" aria-live="polite" style="{mark}{size}">{written}</div>'


# --- a click -----------------------------------------------------------------------------------------

_LISTEN = """
function render({ model, el }) {
  el.style.display = "none";
  const attach = () => {
    const panel = el.closest(".mha-panel");
    if (panel === null) { requestAnimationFrame(attach); return; }
    panel.addEventListener("click", event => {
      const cell = event.target.closest("[data-cell]");
      if (cell !== null) model.send(cell.dataset.cell);
    });
  };
  attach();
}
export default { render };
"""


if anywidget is not None:

    class _Listener(anywidget.AnyWidget):
        """Invisible; hands the ``data-cell`` of what is clicked in its Panel to the kernel."""

        _esm = _LISTEN

        def __init__(self, click):
            super().__init__()
            self._tell = click
            self.on_msg(self._heard)

        def _heard(self, _, cell, buffers):
            with contextlib.suppress(ValueError):  # a click on a picture that has just been replaced
                self._tell(*map(int, cell.split(",")))
