// A Panel without a kernel: what it shows lies packed in the page, and a control or a click brings it up.
const LINK = /^#picture-(\d+)=([\d,]+)(?:\/(.+))?$/; // which picture of the page, its settings, what was clicked

// The states of one Panel. Settings are a list: which option each control shows; a click is the name of a cell.
class Kept {
  constructor({ start, ends, marks, states, drawn, leads }) {
    Object.assign(this, { start, ends, marks, states, drawn, leading: {} });
    for (const [name, i] of leads ? Object.entries(states) : []) if (name.includes(" ")) this.leading[drawn[i][2]] ??= name.split(/ (.*)/);
  }

  static async of(panel) {
    const packed = Uint8Array.from(atob(panel.querySelector("script").textContent), c => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Kept(JSON.parse(await new Response(stream).text()));
  }

  // What is shown at these settings after this click, and which settings follow; nothing if it is not kept.
  at(settings, click = "") {
    const [runs, words, follow] = this.drawn[this.states[`${settings} ${click}`.trim()]] ?? [];
    if (!runs) return undefined;
    return { runs, words, settings: follow, get picture() { return String(runs); } };
  }

  svg({ runs }) {
    let end = 0; // each run begins so many marks behind the end of the one before
    return runs.map((n, i) => (end += n) && i % 2 ? this.marks.slice(end - n, end).join("") : "").join("");
  }

  // These settings, but for what any click sets back.
  beforeClick(settings) {
    return settings.map((i, k) => this.ends.includes(k) ? this.start[k] : i);
  }

  // From where a click leads to these settings, which are not kept themselves, and its name.
  wayTo(settings) {
    const [from, click] = this.leading[settings] ?? [];
    return from && [from.split(",").map(Number), click];
  }

  answersClicks(settings) {
    return Object.keys(this.states).some(name => name.startsWith(`${settings} `));
  }

  // Not all settings combine: a slider then goes on to the next option that does, a menu sets others back.
  nearest(now, i, to, isSlider) {
    const onward = j => (j - now[i]) * (to - now[i]) > 0;
    const own = j => isSlider ? Math.abs(j - to) + 500 * !onward(j) : 1e6 * (j !== to);
    const far = ({ settings }) => settings.reduce((sum, j, k) => sum + (k === i ? own(j) : 1000 * (j !== now[k])), 0);
    const plain = Object.keys(this.states).filter(name => !name.includes(" ")).map(name => name.split(",").map(Number));
    return plain.reduce((best, other) => far(this.at(other)) < far(this.at(best)) ? other : best);
  }
}

// The kinds of picture, by the figure's data-picture; each is made by its `in`.
const PICTURES = {};

class Picture {
  static async in(panel, number) {
    return new Picture(panel, number, await Kept.of(panel));
  }

  constructor(panel, number, states) {
    Object.assign(this, { panel, states, name: `#picture-${number + 1}`, steps: [] });
    this.inputs = [...panel.querySelectorAll("[data-control]")];
    this.reset = panel.querySelector(".reset");
    this.box = panel.querySelector(".picture");
    this.status = panel.querySelector("[role=status]");
    this.way = panel.querySelector(".way"); // the numbers clicked one after the other, where clicks add up
    this.show(states.start, "");
    this.listen();
    this.open();
  }

  // The one place where a picture is shown.
  show(settings, click, said = "") {
    const state = this.states.at(settings, click);
    // A click that moves a control leads on from there, if the same is shown there.
    const isSame = this.states.at(state.settings, click)?.picture === state.picture;
    Object.assign(this, { at: isSame ? state.settings : settings, click, now: state.settings });
    this.draw(this.states.svg(state));
    this.say(said);
    this.inputs.forEach((input, i) => set(input, this.now[i]));
    this.walk();
  }

  // Draws; where not all of it is seen, the smallest frame comes into view, which is round what was chosen.
  draw(svg) {
    const { box } = this;
    box.innerHTML = svg;
    if (box.scrollWidth <= box.clientWidth) return;
    const places = [...box.querySelectorAll("rect[stroke='#E8A200']")].map(frame => frame.getBoundingClientRect());
    const framed = places.reduce((least, place) => !least || place.width < least.width ? place : least, undefined);
    const { left, right } = box.getBoundingClientRect();
    if (framed && (framed.left < left || framed.right > right)) box.scrollLeft += (framed.left + framed.right - left - right) / 2;
  }

  say(said) {
    this.status.innerText = [this.shown.words, said].filter(Boolean).join("\n");
  }

  get shown() {
    return this.states.at(this.at, this.click);
  }

  // Shows what was chosen, and lets the address of the page name it.
  choose(settings, click, said) {
    this.show(settings, click, said);
    this.remember();
  }

  remember() {
    history.replaceState(null, "", `${this.name}=${this.address}`);
  }

  get address() {
    return this.at + (this.click && `/${this.click.replace(" ", "+")}`);
  }

  listen() {
    this.inputs.forEach((input, i) => input.addEventListener("input", () => {
      this.move(i, input.type === "text" ? input.value : Number(input.type === "checkbox" ? input.checked : input.value));
    }));
    this.reset.addEventListener("click", () => this.choose(this.states.start, ""));
    this.box.addEventListener("click", event => this.clicked(cellOf(event)));
    this.box.addEventListener("pointerover", event => {
      this.box.classList.toggle("answers", !!this.answer(cellOf(event)));
    });
    [...this.inputs, this.reset].forEach(input => { input.disabled = false; });
    addEventListener("hashchange", () => this.open());
  }

  // --- a control ---------------------------------------------------------------------------------------

  move(i, to) {
    const { at, click, now, states } = this, asked = now.with(i, to);
    const isHeld = click && states.at(now)?.picture !== this.shown.picture; // the controls alone do not tell what is shown
    for (const [from, clicked] of [[at, click], [now, ""], [at, ""]]) {
      const settings = from.with(i, to);
      if (states.at(settings, clicked)?.settings[i] !== to) continue;
      const moved = from === at && !clicked ? this.others(asked, settings, i) : "";
      return this.choose(settings, clicked, isHeld && !clicked ? "What you clicked is not kept for this setting." : moved);
    }
    const way = states.wayTo(asked);
    if (way) return this.choose(...way);
    const settings = states.nearest(now, i, to, this.inputs[i].type === "range");
    this.choose(settings, "", this.others(asked, settings, i));
  }

  // Says which controls had to move because a combination is not kept, and if this slider had to spring back.
  others(asked, settings, i) {
    const goesOn = this.inputs[i].type === "range" && settings[i] !== this.now[i];
    const names = this.inputs.map((input, k) => !(k === i && goesOn) && asked[k] !== settings[k]
      && `“${input.dataset.name}” is now ${option(input, settings[k])}`).filter(Boolean);
    return names.length ? `Not every combination is kept here: ${names.join(", ")}.` : "";
  }

  // --- a click -----------------------------------------------------------------------------------------

  // The settings and the name under which an answer to a click on a cell is kept, if one is.
  answer(cell) {
    const name = cell?.dataset.cell;
    const again = name === this.click && `${name} again`, rest = name && this.states.beforeClick(this.at);
    const ways = [[this.at, again], [this.at, name], [rest, name]];
    return ways.find(([settings, click]) => click && this.states.at(settings, click));
  }

  clicked(cell) {
    if (!cell) return;
    const answer = this.answer(cell), seen = ({ picture, words }) => `${picture} ${words}`;
    if (answer && seen(this.states.at(...answer)) !== seen(this.shown)) return this.choose(...answer);
    const about = cell.querySelector(".tip")?.textContent;
    this.say((about ? `${about}. ` : "") + (this.states.answersClicks(this.states.beforeClick(this.at))
      ? "It is chosen already, or a click on it changes nothing."
      : "For these settings no answer to a click is kept here: press “reset” first, or use JupyterLab."));
  }

  // The way here: what was clicked one after the other, each a button that leads back to it.
  walk() {
    if (!this.way) return;
    const { at, click } = this, name = `${at} ${click}`, [title] = this.shown.words.split("\n");
    const before = this.steps.findIndex(step => step.name === name);
    this.steps = click ? [...this.steps.slice(0, before < 0 ? undefined : before), { name, title, at, click }] : [];
    this.way.replaceChildren(...this.steps.slice(-6).map((step, i) => {
      const button = document.createElement("button");
      button.textContent = (i ? "← " : "") + step.title;
      button.addEventListener("click", () => this.choose(step.at, step.click));
      return button;
    }));
  }

  // Shows what the address names, if it names this picture.
  open() {
    const [, which, settings, clicked = ""] = LINK.exec(location.hash) || [];
    if (`#picture-${which}` !== this.name) return;
    this.link(settings.split(",").map(Number), clicked);
    for (let fold = this.panel.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    this.panel.scrollIntoView();
  }

  link(settings, clicked) {
    const linked = [settings, decodeURIComponent(clicked).replace("+", " ")];
    if (this.states.at(...linked)) this.show(...linked);
    else this.say("What this link names is not kept here.");
  }
}
PICTURES.kept = Picture;

const cellOf = event => event.target.closest("[data-cell]");
const option = (input, i) => input.dataset.control.split("|")[i];
function set(input, i) {
  if (input.type === "checkbox") input.checked = i === 1;
  else if (input.value !== String(i)) input.value = i; // where one is typing, the cursor stays
  if (input.type !== "range") return;
  input.nextElementSibling.value = option(input, i);
  input.setAttribute("aria-valuetext", option(input, i));
}

// A file of its own that stands behind this one can put its kind of picture among PICTURES before it is asked for.
addEventListener("DOMContentLoaded", () => document.querySelectorAll(".play").forEach(async (panel, number) => {
  panel.picture = await PICTURES[panel.dataset.picture ?? "kept"].in(panel, number);
}));

const reach = () => document.querySelectorAll(".scroll, .highlight").forEach(box => {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; // so that the keys scroll it, too
  else box.removeAttribute("tabindex");
});
addEventListener("resize", reach);
matchMedia("print").addEventListener("change", reach); // on paper nothing scrolls, afterwards it does again
addEventListener("toggle", reach, { capture: true }); // what was folded scrolls, too
reach();
