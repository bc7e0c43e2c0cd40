// A Panel without a kernel: its states lie packed in the page, and a control or a click shows one of them.
async function play(panel) {
  const packed = Uint8Array.from(atob(panel.querySelector("script").textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const { start, marks, states } = JSON.parse(await new Response(stream).text());
  const inputs = [...panel.querySelectorAll("[data-control]")];
  const picture = panel.querySelector(".picture"), words = panel.querySelector("[role=status]");
  let at, click, now; // the state shown: its settings and its click, and the settings that follow from them
  const svg = runs => runs.map((n, i) => i % 2 ? "" : marks.slice(n, n + runs[i + 1]).join("")).join("");
  const state = (settings, click = "") => states[`${settings} ${click}`.trim()];
  function show(settings, clicked) {
    const [runs, lines, shown] = state(settings, clicked);
    // A click that moves a control leads on from there, if the same is shown there.
    at = String(state(shown, clicked)?.[0]) === String(runs) ? shown : settings;
    [click, now] = [clicked, shown];
    picture.innerHTML = svg(runs);
    words.innerText = lines;
    inputs.forEach((input, i) => set(input, shown[i]));
  }
  function move(i, to) {
    for (const [from, clicked] of [[at, click], [now, ""], [at, ""]]) {
      const moved = from.with(i, to);
      if (state(moved, clicked)?.[2][i] === to) return show(moved, clicked);
    }
    show(nearest(i, to), "");
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
  function set(input, i) {
    const name = input.dataset.control.split("|")[i];
    if (input.type === "checkbox") input.checked = i === 1;
    else input.value = i;
    if (input.type !== "range") return;
    input.nextElementSibling.value = name;
    input.setAttribute("aria-valuetext", name);
  }
  inputs.forEach((input, i) => input.addEventListener("input", () => {
    move(i, Number(input.type === "checkbox" ? input.checked : input.value));
  }));
  const answer = event => {
    const cell = event.target.closest("[data-cell]")?.dataset.cell;
    return [cell === click && `${cell} again`, cell].find(clicked => clicked && state(at, clicked));
  };
  picture.addEventListener("click", event => answer(event) && show(at, answer(event)));
  picture.addEventListener("pointerover", event => picture.classList.toggle("answers", !!answer(event)));
  show(start, "");
  inputs.forEach(input => { input.disabled = false; });
}
document.querySelectorAll(".play").forEach(play);
const reach = () => document.querySelectorAll(".scroll, .highlight").forEach(box => {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; // so that the keys scroll it, too
  else box.removeAttribute("tabindex");
});
addEventListener("resize", reach);
addEventListener("toggle", reach, { capture: true }); // what was folded scrolls, too
reach();
