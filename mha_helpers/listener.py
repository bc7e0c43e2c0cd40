"""What tells a Panel of a click, and helps keys and screen readers: a widget that is not seen."""

import contextlib

from traitlets import TraitError

try:
    import anywidget
except ImportError:  # without it a click does nothing; hovering, sliders and menus work as before
    anywidget = None

Listener = None  # what answers a click, where anything can
_LISTEN = """
function render({ model, el }) {
  el.style.display = "none";
  const attach = () => {
    const panel = el.closest(".mha-panel");
    if (panel === null) { requestAnimationFrame(attach); return; }
    const name = () => panel.querySelectorAll("[role=slider]:not([aria-label])").forEach(handle => {
      const label = handle.closest(".widget-inline-hbox")?.querySelector(".widget-label");
      if (label) handle.setAttribute("aria-label", label.textContent);
    });
    // JupyterLab would take the arrow keys of a menu to walk through the cells.
    const prepare = () => {
      name();
      panel.querySelectorAll("select").forEach(menu => { menu.dataset.lmSuppressShortcuts = "true"; });
    };
    prepare();
    // What has just been run comes into view whole; JupyterLab itself looks at the next cell only.
    if (panel.closest(".jp-Cell")?.matches(".jp-mod-active, :has(+ .jp-mod-active)")) {
      setTimeout(() => panel.scrollIntoView({ block: "nearest" }), 200);
    }
    // A screen reader reads a status out when the learner pauses; its node has to stay, so it is the box's.
    panel.querySelector(".mha-words").setAttribute("role", "status");
    model.send("listening");
    new MutationObserver(prepare).observe(panel, { childList: true, subtree: true });
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

    class Listener(anywidget.AnyWidget):
        """Tells the kernel that it listens, then which ``data-cell`` is clicked."""

        _esm = _LISTEN

        def __init__(self, click, begin):
            super().__init__()
            self._click, self._begin = click, begin
            self.on_msg(self._receive)

        def _receive(self, _, cell, buffers):
            if cell == "listening":
                return self._begin()
            with contextlib.suppress(ValueError, TraitError):  # a picture that has just been replaced
                self._click(*map(int, cell.split(",")))
