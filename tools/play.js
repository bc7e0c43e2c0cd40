// A Panel without a kernel: its states lie packed in the page, and a control or a click shows one of them.
const LINK = /^#picture-(\d+)=([\d,]+)(?:\/(.+))?$/; // which picture of the page, its settings, what was clicked
async function play(panel, number) {
  const packed = Uint8Array.from(atob(panel.querySelector("script").textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const { start, marks, states } = JSON.parse(await new Response(stream).text());
  const inputs = [...panel.querySelectorAll("[data-control]")], reset = panel.querySelector(".reset");
  const picture = panel.querySelector(".picture"), words = panel.querySelector("[role=status]");
  const way = panel.querySelector(".way"); // the numbers clicked one after the other, where clicks add up
  let at, click, now; // the state shown: its settings and its click, and the settings that follow from them
  const svg = runs => runs.map((n, i) => i % 2 ? "" : marks.slice(n, n + runs[i + 1]).join("")).join("");
  const state = (settings, click = "") => states[`${settings} ${click}`.trim()];
  const same = (settings, runs) => String(state(settings)?.[0]) === String(runs);
  function show(settings, clicked, said = "") {
    const [runs, lines, shown] = state(settings, clicked);
    // A click that moves a control leads on from there, if the same is shown there.
    at = String(state(shown, clicked)?.[0]) === String(runs) ? shown : settings;
    [click, now] = [clicked, shown];
    picture.innerHTML = svg(runs);
    say(said);
    inputs.forEach((input, i) => set(input, shown[i]));
  }
  const say = said => { words.innerText = [state(at, click)[1], said].filter(Boolean).join("\n"); };
  function link() {
    history.replaceState(null, "", `#picture-${number + 1}=${at}${click && `/${click.replace(" ", "+")}`}`);
  }
  function move(i, to) {
    const isHeld = click && !same(now, state(at, click)[0]); // the controls alone do not tell what is shown
    const before = now.with(i, to);
    for (const [from, clicked] of [[at, click], [now, ""], [at, ""]]) {
      const moved = from.with(i, to);
      if (state(moved, clicked)?.[2][i] !== to) continue;
      const lost = isHeld && !clicked ? "What you clicked is not kept for this setting." : "";
      return show(moved, clicked, lost || (from === at && !clicked ? others(before, moved, i) : ""));
    }
    const next = nearest(i, to);
    show(next, "", others(before, next, i));
  }
  // Says which controls had to move because a combination is not kept, and if this slider had to spring back.
  function others(before, after, i) {
    const goesOn = inputs[i].type === "range" && after[i] !== now[i];
    const names = inputs.filter((_, k) => !(k === i && goesOn) && before[k] !== after[k])
      .map(input => `“${input.dataset.name}” is now ${option(input, after[inputs.indexOf(input)])}`);
    return names.length ? `Not every combination is kept here: ${names.join(", ")}.` : "";
  }
  // Not all settings combine here: a slider then goes on to the next that does, a menu sets others back.
  function nearest(i, to) {
    const slider = inputs[i].type === "range", onward = j => (j - now[i]) * (to - now[i]) > 0;
    const far = (j, k) => k !== i ? 1000 * (j !== now[k])
      : slider ? Math.abs(j - to) + 500 * !onward(j) : 1e6 * (j !== to);
    const plain = Object.keys(states)
      .filter(name => !name.includes(" ")).map(name => name.split(",").map(Number));
    const cost = settings => state(settings)[2].reduce((sum, j, k) => sum + far(j, k), 0);
    return plain.reduce((best, other) => cost(other) < cost(best) ? other : best);
  }
  const option = (input, i) => input.dataset.control.split("|")[i];
  function set(input, i) {
    if (input.type === "checkbox") input.checked = i === 1;
    else input.value = i;
    if (input.type !== "range") return;
    input.nextElementSibling.value = option(input, i);
    input.setAttribute("aria-valuetext", option(input, i));
  }
  inputs.forEach((input, i) => input.addEventListener("input", () => {
    move(i, Number(input.type === "checkbox" ? input.checked : input.value));
    walk();
    link();
  }));
  reset.addEventListener("click", () => { show(start, ""); walk(); link(); });
  const answer = event => {
    const cell = event.target.closest("[data-cell]")?.dataset.cell;
    return [cell === click && `${cell} again`, cell].find(clicked => clicked && state(at, clicked));
  };
  picture.addEventListener("click", event => {
    const cell = event.target.closest("[data-cell]"), answered = answer(event);
    if (!cell) return;
    const seen = clicked => String(state(at, clicked).slice(0, 2)); // the picture and its words
    if (answered && seen(answered) !== seen(click)) {
      show(at, answered);
      walk();
      link();
      return;
    }
    const about = cell.querySelector(".tip")?.textContent;
    const isKept = Object.keys(states).some(name => name.startsWith(`${at} `));
    say((about ? `${about}. ` : "") + (isKept ? "It is chosen already, or a click on it changes nothing."
      : "For these settings no answer to a click is kept here: press “reset” first, or use JupyterLab."));
  });
  picture.addEventListener("pointerover", event => picture.classList.toggle("answers", !!answer(event)));
  // The way here: what was clicked one after the other, each a button that leads back to it.
  let steps = [];
  function walk() {
    if (!way) return;
    const name = `${at} ${click}`, [title] = state(at, click)[1].split("\n");
    const before = steps.findIndex(step => step.name === name);
    steps = click ? [...steps.slice(0, before < 0 ? undefined : before), { name, title, at, click }] : [];
    way.replaceChildren(...steps.slice(-6).map((step, i) => {
      const button = document.createElement("button");
      button.textContent = (i ? "← " : "") + step.title;
      button.addEventListener("click", () => { show(step.at, step.click); walk(); link(); });
      return button;
    }));
  }
  function open() {
    const [, which, settings, clicked = ""] = LINK.exec(location.hash) || [];
    const linked = [settings?.split(",").map(Number), decodeURIComponent(clicked).replace("+", " ")];
    if (which !== String(number + 1)) return;
    if (state(...linked)) show(...linked);
    else say("What this link names is not kept here.");
    walk();
    for (let fold = panel.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    panel.scrollIntoView();
  }
  show(start, "");
  [...inputs, reset].forEach(input => { input.disabled = false; });
  open();
  addEventListener("hashchange", open);
}
document.querySelectorAll(".play").forEach(play);
const reach = () => document.querySelectorAll(".scroll, .highlight").forEach(box => {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; // so that the keys scroll it, too
  else box.removeAttribute("tabindex");
});
addEventListener("resize", reach);
matchMedia("print").addEventListener("change", reach); // on paper nothing scrolls, afterwards it does again
addEventListener("toggle", reach, { capture: true }); // what was folded scrolls, too
reach();
