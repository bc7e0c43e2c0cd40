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
