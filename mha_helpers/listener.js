// JupyterLab saves only widgets that have a kernel: after a restart a page would lose the Panels it still shows.
function keepOnSaving(manager) {
  const save = manager?.get_state_sync, models = () => [...manager._modelsSync.values()];
  if (!save || !manager._modelsSync || Object.hasOwn(manager, "get_state_sync")) { return; }
  manager.get_state_sync = options => {
    const asleep = models().filter(each => !each.comm_live);
    asleep.forEach(each => { each._comm_live = true; });  // past its setter, which would change what is seen
    try { return save.call(manager, options); } finally { asleep.forEach(each => { each._comm_live = false; }); }
  };
}
function render({ model, el }) {
  keepOnSaving(model.widget_manager);
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
    // Whether Python still answers: one question at a time, with what the learner does. A front end that
    // brings no answer at all is never marked; a busy kernel's late answer takes the mark away.
    let heard = false, waiting = null;
    model.on("msg:custom", () => {
      heard = true;
      clearTimeout(waiting);
      waiting = null;
      panel.classList.remove("mha-no-answer");
    });
    const tell = said => {
      waiting ??= setTimeout(() => panel.classList.toggle("mha-no-answer", heard), 3000);
      try { model.send(said); } catch { /* the kernel is gone, so no answer comes */ }
    };
    const ask = () => { if (waiting === null) tell("still there?"); };
    ["pointerdown", "keydown", "input"].forEach(kind => panel.addEventListener(kind, ask, true));
    tell("listening");
    new MutationObserver(prepare).observe(panel, { childList: true, subtree: true });
    panel.addEventListener("click", event => {
      const cell = event.target.closest("[data-cell]");
      if (cell !== null) tell(cell.dataset.cell);
    });
  };
  attach();
}
export default { render };
