"""What tells a Panel of a click, and helps keys and screen readers: a widget that is not seen."""

import contextlib
from pathlib import Path

from traitlets import TraitError

try:
    from anywidget import AnyWidget
except ImportError:  # as in Colab: a click does nothing there; hovering, sliders and menus work as everywhere
    Listener = None
else:

    class Listener(AnyWidget):
        """Tells the kernel that it listens, then which ``data-cell`` is clicked; asks whether it is there."""

        _esm = Path(__file__).with_name("listener.js").read_text(encoding="utf-8")

        def __init__(self, click, begin):
            super().__init__()
            self._click, self._begin = click, begin
            self.on_msg(self._receive)

        def _receive(self, _, cell, buffers):
            self.send("heard")  # first: what a click starts may take its time
            if cell == "listening":
                return self._begin()
            with contextlib.suppress(ValueError, TraitError):  # a picture just replaced, or a question
                self._click(*map(int, cell.split(",")))
