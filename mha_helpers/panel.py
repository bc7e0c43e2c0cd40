"""Panel: controls, and a picture that follows them while they move.

Nobody needs to read this to learn attention. To write an explorer, read the docstrings of ``Panel``
and of ``head_grid.HeadGrid``, then ``explorers/whole.py`` as an example.
"""

import base64
import contextlib
import html
import sys
import traceback
import weakref

import ipywidgets as widgets
import numpy as np

from mha_helpers import style
from mha_helpers.renderer import Renderer, encode_png

# A wide table scrolls inside this; without it, it would push the text beside it off a narrow page.
_FITTING = '<div style="width: 0; min-width: 100%; overflow-x: auto">{}</div>'
_BLANK_PNG = encode_png(np.full((1, 1, 3), 255, dtype=np.uint8))


class Panel(widgets.VBox):
    """Controls above a picture, a description of the picture in words, and details in HTML.

    - ``controls``: dict of name -> core ipywidgets widget with a ``value``, in the order shown.
      ``rows``: lists of names, one list a row, if one wrapping row is not enough.
    - ``compute(**values)`` -> state, a dict of the tensors behind the picture. A ``ValueError`` raised
      here is shown to the learner as it stands, and the last good picture remains.
    - ``picture``: an object with ``layout(state)`` -> something hashable; ``draw(state)`` -> ``(figure,
      artists)``, called once for each layout, no pyplot; ``update(artists, state)``. ``artists`` is an
      artist, or a list or dict of artists, lists and dicts. What ``update`` changes must be in there,
      and whatever else the figure shows must follow from the layout. An optional ``legend(state)`` ->
      HTML is shown right under the picture.
    - ``describe(state)`` -> what a person would say of the picture, plain text.
    - ``details(state)`` -> HTML, optional. Escape what a learner typed.
    - ``adjust(controls, values)``: optional, called before ``compute``, where the range or the options
      of one control follow from another. What it changes is redrawn once, not twice.

    ``panel.controls["d_k"].value = 8`` redraws before it returns; ``panel.set(d_k=8, heads=4)``
    changes several controls and redraws once; ``panel.state()`` returns the state of the picture that
    is shown, ``panel.png()`` its bytes, ``panel.description()`` its words, ``panel.message()`` the
    sentence about the last bad input or "".

    A cell that is run again closes the Panels of its last run, where the notebook says which cell runs
    (JupyterLab, Notebook, VS Code). Elsewhere, ``panel.close()`` frees what a Panel holds.
    """

    # ipywidgets 7 shows itself through _ipython_display_, which would keep our picture out of the bundle.
    _ipython_display_ = None

    def __init__(
        self,
        controls,
        compute,
        picture,
        describe,
        details=None,
        title="",
        rows=None,
        adjust=None,
    ):
        self._busy = True
        self._closed = False
        self._state = {}
        self._message = ""
        self._description = ""
        self._controls = dict(controls)
        self._compute, self._describe, self._details = compute, describe, details
        self._adjust, self._title = adjust, title
        self._renderer = Renderer(picture)
        self._legend_of = getattr(picture, "legend", None)
        for name, control in self._controls.items():
            _make_legible(name, control)
        rows = rows or [list(self._controls)]
        _check_rows(rows, self._controls)
        self._error_box = widgets.HTML()
        self._image = widgets.Image(
            value=_BLANK_PNG,
            format="png",
            layout=widgets.Layout(width="max-content", max_width=style.WHOLE_WIDTH),
        )
        self._legend_box = widgets.HTML()
        self._words_box = widgets.HTML()
        self._details_box = widgets.HTML()
        heading = [widgets.HTML(f"<b>{html.escape(title)}</b>")] if title else []
        super().__init__(
            [
                *heading,
                *(_row([self._controls[name] for name in row]) for row in rows),
                self._error_box,
                self._image,
                self._legend_box,
                self._words_box,
                self._details_box,
            ],
            layout=widgets.Layout(max_width="100%"),
        )
        _close_panels_of_the_last_run(self)
        self._busy = False
        for control in self._controls.values():
            control.observe(self._changed, names="value")
        self._refresh()

    @property
    def controls(self):
        """The controls by name. Setting the ``value`` of one redraws at once."""
        return self._controls

    def state(self):
        """Return the tensors behind the picture shown; empty if no input was good so far.

        They are the learner's own: to change one changes neither this picture nor the next.
        """
        return _copied(self._state)

    def png(self):
        """Return the picture as PNG bytes."""
        return bytes(self._image.value)  # bytes in ipywidgets 7, a memoryview in 8

    def description(self):
        """Return what the picture shows, in words."""
        return self._description

    def message(self):
        """Return the sentence about the last bad input, or ""."""
        return self._message

    def set(self, **values):
        """Change several controls and redraw once."""
        unknown = [name for name in values if name not in self._controls]
        if unknown:
            known = ", ".join(self._controls)
            raise ValueError(f"this panel has no control named {unknown[0]!r}; it has {known}.")
        self._busy = True
        try:
            for name, value in values.items():
                self._controls[name].value = value
        finally:  # where a control refuses its value, the picture still shows what the others say
            self._busy = False
            self._refresh()
        if any(self._controls[name].value != value for name, value in values.items()):
            # The range of one control may follow from another that has changed only now.
            for name, value in values.items():
                self._controls[name].value = value

    def close(self):
        """Let go of the figures and of every widget of this Panel; its view disappears."""
        if getattr(self, "_closed", True) or sys.is_finalizing():  # __del__ of a widget comes here too
            return
        self._closed = True
        for control in self._controls.values():
            with contextlib.suppress(ValueError):
                control.unobserve(self._changed, names="value")
        self._renderer.close()
        children = self.children
        self.children = ()
        _close_all(children)
        for attached in (self.layout, getattr(self, "style", None)):
            if isinstance(attached, widgets.Widget):
                attached.close()
        super().close()

    def _changed(self, change):
        if not self._busy:
            self._refresh()

    def _refresh(self):
        self._busy = True  # what adjust changes must not start a second redraw
        try:
            try:
                if self._adjust is not None:
                    self._adjust(self._controls, self._values())
                state = self._compute(**self._values())
            except ValueError as error:
                self._say(str(error))
                return
            self._show(state)
        except Exception as error:
            # In a notebook the error of a callback may go unseen, so it is told here as well.
            last = traceback.extract_tb(error.__traceback__)[-1]
            self._say(
                f"Something went wrong in this panel, and it is not your doing:"
                f" {type(error).__name__}: {error} (in {last.name}, line {last.lineno})"
            )
            raise
        finally:
            self._busy = False

    def _show(self, state):
        png = self._renderer.png(state)
        description = self._describe(state)
        details = self._details(state) if self._details else ""
        legend = self._legend_of(state) if self._legend_of else ""
        self._state, self._description = state, description
        self._image.value = png  # first: the eye waits for it
        self._legend_box.value = legend
        # role="status" is read out by a screen reader when the learner pauses.
        self._words_box.value = f'<div role="status" aria-live="polite">{html.escape(description)}</div>'
        self._details_box.value = details and _FITTING.format(details)
        self._say("")

    def _say(self, message):
        self._message = message
        self._error_box.value = message and (
            '<div role="alert" style="border-left: 4px solid #CC6677; padding: 2px 8px">'
            f"{html.escape(message)}</div>"
        )

    def _values(self):
        return {name: control.value for name, control in self._controls.items()}

    def __repr__(self):
        # A VBox would print every child, the bytes of the picture among them.
        return f"Panel: {self._title}" if getattr(self, "_title", "") else "Panel"

    def _repr_mimebundle_(self, include=None, exclude=None, **kwargs):
        data = {"text/plain": repr(self)}
        metadata = {}
        if self._state:
            data["image/png"] = base64.b64encode(self.png()).decode("ascii")
            metadata["image/png"] = {"alt": self._description}
        if not self._closed:
            data["application/vnd.jupyter.widget-view+json"] = {
                "version_major": 2,
                "version_minor": 0,
                "model_id": self.model_id,
            }
        return data, metadata


def _copied(value):
    if isinstance(value, dict):
        return {name: _copied(each) for name, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    return value.clone() if hasattr(value, "clone") else value


def _check_rows(rows, controls):
    placed = [name for row in rows for name in row]
    if sorted(placed) != sorted(controls):
        raise ValueError(
            f"rows must name every control once: rows has {', '.join(placed)};"
            f" the controls are {', '.join(controls)}."
        )


def _make_legible(name, control):
    if not control.description:
        control.description = name.replace("_", " ")
    # The front end sends the next change when the last is answered, so nothing piles up.
    if control.has_trait("continuous_update"):
        control.continuous_update = True
    if control.has_trait("style") and control.style.has_trait("description_width"):
        control.style.description_width = "initial"
    control.layout.max_width = "100%"
    if control.layout.width is None:
        if isinstance(control, widgets.Text):
            control.layout.width = "480px"
        elif control.has_trait("readout") or isinstance(control, (widgets.Dropdown, widgets.SelectionSlider)):
            control.layout.width = "260px"
        else:
            control.layout.width = "max-content"


def _row(controls):
    return widgets.HBox(
        controls,
        layout=widgets.Layout(
            flex_flow="row wrap", grid_gap="2px 16px", max_width="100%", overflow="visible"
        ),
    )


def _close_all(tree):
    for widget in tree:
        _close_all(getattr(widget, "children", ()))
        for attached in (getattr(widget, "style", None), widget.layout):
            if isinstance(attached, widgets.Widget):
                attached.close()
        widget.close()


# ipywidgets keeps every widget alive until it is closed. A cell that is run again replaces its output,
# so nobody can reach the Panels of its last run: cell -> (run, Panels made in that run).
_panels_by_cell = {}


def _close_panels_of_the_last_run(panel):
    cell, run = _running_cell()
    if cell is None:
        return
    last_run, panels = _panels_by_cell.get(cell, (None, []))
    if last_run != run:
        for reference in panels:
            old = reference()
            if old is not None:
                old.close()
        panels = []
    _panels_by_cell[cell] = (run, [*panels, weakref.ref(panel)])


def _running_cell():
    """Return the id of the cell that runs and of this run of it, or (None, None) where nobody tells."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return None, None
    parent = kernel.get_parent("shell") if hasattr(kernel, "get_parent") else {}
    cell = (parent.get("metadata") or {}).get("cellId")
    return (cell, parent["header"]["msg_id"]) if cell else (None, None)
