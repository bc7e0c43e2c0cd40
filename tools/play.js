// A Panel without a kernel: what it shows lies packed in the page, and a control or a click brings it up.
const FIRST = 35; // the letter of the first part, as in tools/packed.py
const FINGER = 24; // pixels that a finger needs
const LINK = /^#picture-(\d+)=([\d,]+)(?:\/(.+))?$/; // which picture of the page, its settings, what was clicked

// The one that is nearest; the first of several.
const least = (all, far) => all.reduce((best, one) => far(one) < far(best) ? one : best, all[0]);

// What a picture carries.
async function unpacked(panel) {
  const packed = Uint8Array.from(atob(panel.querySelector("script").textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// The states of one Panel. Settings are a list: which option each control shows; a click is the name of a cell.
class Kept {
  constructor(content) {
    Object.assign(this, content); // start, parts, columns, states, drawn, clicks, decides, follows, few: see tools/packed.py
    this.plain = Object.keys(this.states).filter(name => !name.includes(" ")).map(name => name.split(",").map(Number));
    this.places = new Set(this.plain.map(settings => this.place(settings)));
  }

  // What is shown at these settings after this click, and which settings follow; nothing if it is not kept.
  at(settings, click = "") {
    const [count, row, words, follow] = this.drawn[this.states[`${settings} ${click}`.trim()]] ?? [];
    return count && { count, row, words, settings: follow ?? settings, picture: `${count} ${row}` };
  }

  // Each column has one letter for each row or, where all are alike, one for all.
  svg({ count, row }) {
    return this.columns[count].map(letters => this.parts[letters.charCodeAt(letters.length > 1 ? row : 0) - FIRST]).join("");
  }

  // Settings without the menus that follow from the others.
  place(settings) {
    return settings.filter((_, k) => !this.follows.includes(k)).join();
  }

  // The options of a control for which something is kept while the others stay as they are.
  stops(now, i, count) {
    const isKept = settings => this.follows.includes(i) ? this.at(settings) : this.places.has(this.place(settings));
    return Array.from({ length: count }, (_, j) => j).filter(j => isKept(now.with(i, j)));
  }

  // The settings that a click asks for, where the controls alone say what is shown; the state it leads to, where not.
  asked(settings, cell) {
    const { decides } = this;
    const sets = this.clicks[decides === "all" ? settings : decides === null ? cell : `${cell} ${settings[decides]}`];
    if (sets) return [sets.reduce((to, [k, j]) => to.with(k, j), settings), ""];
    const rest = settings.map((i, k) => this.few.includes(k) ? this.start[k] : i); // with no slider moved
    return [settings, rest].filter(from => this.at(from, cell)).map(from => [from, cell])[0];
  }

  // The kept settings that are nearest to these; what is wanted stays, what offers only what is kept gives way first.
  nearest(asked, wanted) {
    const weight = k => wanted(k) ? 1e6 : this.few.includes(k) ? 1 : 1000;
    const far = other => other.reduce((sum, j, k) => sum + (j !== asked[k] && weight(k) + Math.abs(j - asked[k])), 0);
    return least(this.plain, far);
  }
}

// The kinds of picture, by the figure's data-picture.
const PICTURES = {};
let remembering; // what writes the address, of whichever picture was used last

class Picture {
  constructor(panel, number, content) {
    Object.assign(this, { panel, states: this.unpack(content), name: `#picture-${number + 1}`, steps: [] });
    this.inputs = [...panel.querySelectorAll("[data-control]")];
    this.reset = panel.querySelector(".reset");
    this.box = panel.querySelector(".picture");
    this.status = panel.querySelector("[role=status]");
    this.way = panel.querySelector(".way"); // the numbers clicked one after the other, where clicks add up
    this.show(content.start, "");
    this.listen();
    this.open();
  }

  unpack(content) { return new Kept(content); }

  // The one place where a picture is shown.
  show(settings, click, said = "") {
    const state = this.states.at(settings, click);
    // A click that moves a control leads on from there, if the same is shown there.
    const isSame = this.states.at(state.settings, click)?.picture === state.picture;
    Object.assign(this, { at: isSame ? state.settings : settings, click, now: state.settings });
    this.draw(this.states.svg(state));
    this.say(said);
    this.inputs.forEach((input, i) => set(input, this.now[i], this.stops(i)));
    this.walk();
  }

  // Draws; where not all of it is seen, the smallest frame comes into view, which is round what was chosen.
  draw(svg) {
    const { box } = this;
    box.innerHTML = svg;
    box.firstElementChild.setAttribute("aria-label", this.shown.words.replaceAll("\n", " "));
    if (box.scrollWidth <= box.clientWidth) return;
    const places = [...box.querySelectorAll("rect[stroke='#E8A200']")].map(frame => frame.getBoundingClientRect());
    const framed = least(places, place => place.width);
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

  // Once nothing was chosen for a moment: a browser takes few changes of its address a second, a slider makes many.
  remember() {
    clearTimeout(remembering);
    remembering = setTimeout(() => history.replaceState(null, "", `${this.name}=${this.address}`), 200);
  }

  get address() {
    return this.at + (this.click && `/${this.click.replace(" ", "+")}`);
  }

  listen() {
    this.inputs.forEach((input, i) => input.addEventListener("input", () => {
      const to = input.type === "text" ? input.value : Number(input.type === "checkbox" ? input.checked : input.value);
      this.move(i, input.stops?.[to] ?? to);
    }));
    this.reset.addEventListener("click", () => this.choose(this.states.start, ""));
    const onCell = (kind, answer) => this.box.addEventListener(kind, event => {
      const cell = event.target.closest("[data-cell]");
      if (cell) answer(cell);
    });
    onCell("click", cell => this.comesNearer(cell) || this.clicked(cell));
    onCell("pointerover", cell => this.box.classList.toggle("answers", !!this.answer(cell)));
    [...this.inputs, this.reset].forEach(input => { input.disabled = false; });
    addEventListener("hashchange", () => this.open());
  }

  // --- a control and a click -----------------------------------------------------------------------------

  // A slider, a menu that was thinned, and one that follows from others offer what is kept for what the others show.
  stops(i) {
    return this.states.few.includes(i) ? this.states.stops(this.now, i, this.inputs[i].dataset.control.split("|").length) : undefined;
  }

  move(i, to) {
    const { at, click, now, states } = this, asked = now.with(i, to);
    for (const [from, clicked] of [[at, click], [now, ""]]) {
      const settings = from.with(i, to);
      if (states.at(settings, clicked)?.settings[i] !== to) continue;
      const isLost = click && !clicked && !states.few.includes(i) && states.at(now)?.picture !== this.shown.picture;
      return this.choose(settings, clicked, isLost ? "What you clicked is not kept for this setting." : "");
    }
    this.goNear(asked, k => k === i);
  }

  // Shows what is nearest to settings that are not kept, and says which controls had to move with what is wanted.
  goNear(asked, wanted) {
    const settings = this.states.nearest(asked, wanted);
    const names = this.inputs.map((input, k) => asked[k] !== settings[k] && !this.states.follows.includes(k)
      && `“${input.dataset.name}” is now ${option(input, settings[k])}`).filter(Boolean);
    this.choose(settings, "", names.length ? `Not every combination is kept here: ${names.join(", ")}.` : "");
  }

  answer(cell) {
    return this.states.asked(this.at, cell.dataset.cell);
  }

  clicked(cell) {
    const [settings, click] = this.answer(cell) ?? [], state = settings && this.states.at(settings, click);
    if (settings && !state) return this.goNear(settings, k => settings[k] !== this.now[k]);
    if (state && `${state.picture} ${state.words}` !== `${this.shown.picture} ${this.shown.words}`) return this.choose(settings, click);
    const about = cell.querySelector(".tip")?.textContent;
    this.say(`${about ? `${about}. ` : ""}It is chosen already, or a click on it changes nothing.`);
  }

  // Tells whether a finger met too small a cell: the picture then comes so near that the next tap can choose one.
  comesNearer(cell) {
    const svg = this.box.firstElementChild, { width, height } = cell.firstElementChild.getBoundingClientRect();
    const small = Math.min(width, height);
    if (!(small < FINGER) || svg.style.width || !matchMedia("(pointer: coarse)").matches) return false;
    svg.style.width = `${Math.ceil(svg.clientWidth * FINGER / small)}px`;
    cell.scrollIntoView({ block: "center", inline: "center" });
    this.say("Tap a cell to choose it.");
    return true;
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
    clearTimeout(remembering);
    this.link(settings.split(",").map(Number), clicked);
    for (let fold = this.panel.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    this.panel.scrollIntoView();
  }

  link(settings, clicked) {
    const linked = [settings, decodeURIComponent(clicked.replace("+", " "))];
    if (this.states.at(...linked)) this.show(...linked);
    else this.say("What this link names is not kept here.");
  }
}
PICTURES.kept = Picture;

const option = (input, i) => input.dataset.control.split("|")[i];
function set(input, i, stops) {
  if (input.type === "checkbox") Object.assign(input, { checked: i === 1, disabled: stops?.length < 2 });
  else if (input.type === "range") {
    Object.assign(input, stops && { stops, max: stops.length - 1 }, { value: stops?.indexOf(i) ?? i });
    input.nextElementSibling.value = option(input, i);
    input.setAttribute("aria-valuetext", option(input, i));
  } else if (input.value !== String(i)) input.value = i; // where one is typing, the cursor stays
  if (stops && input.options) [...input.options].forEach((each, k) => { each.hidden = each.disabled = !stops.includes(k); });
}

// A file of its own that stands behind this one can put its kind of picture among PICTURES before it is asked for.
addEventListener("DOMContentLoaded", () => document.querySelectorAll(".play").forEach(async (panel, number) => {
  panel.picture = new PICTURES[panel.dataset.picture](panel, number, await unpacked(panel));
}));

const reach = () => document.querySelectorAll(".scroll, .highlight").forEach(box => {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; // so that the keys scroll it, too
  else box.removeAttribute("tabindex");
});
addEventListener("resize", reach);
matchMedia("print").addEventListener("change", reach); // on paper nothing scrolls, afterwards it does again
addEventListener("toggle", reach, { capture: true }); // what was folded scrolls, too
reach();
