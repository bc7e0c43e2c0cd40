// The explorer of page 00 in any browser: computed by sentence.js for every setting, every click and every sentence,
// and drawn with the marks of mha_helpers/svg.py and svg_heatmap.py.
const WIDTH = 860, HEIGHT = 334, GAP = 14, LETTER = 0.6, BOLD_LETTER = 0.63;
const MOST_CELLS = 1024, MOST_SMALL_CELLS = 640; // of a heatmap, and of all small ones: with more it is an image

function wordsOf({ tokens, names, scores, scaled, weights, mask, d_k, chosen: [head, row, column] }) {
  const most = alike(weights[head][row]), largest = number(Math.max(...weights[head][row]));
  const [score, divided, weight] = [scores, scaled, weights].map(each => number(each[head][row][column]));
  const where = most.length > 1 ? `equally at ${most.length} words (${largest} each)` : `most at “${tokens[most[0]]}” (${largest})`;
  const steps = mask && !mask[row][column] ? "the mask forbids this cell → weight 0"
    : `score ${score} → ÷ √${d_k} = ${divided} → softmax over the row → weight ${weight}`;
  const name = headLabel(head, names).replace("h", "H");
  return [`${name}. “${tokens[row]}” looks ${where}.`, `“${tokens[row]}” asks, “${tokens[column]}” answers: ${steps}.`].join("\n");
}

// --- how numbers, words and marks are written -----------------------------------------------------------------

// As Python writes: what lies exactly between two goes to the even one.
function fixed(value, decimals) {
  const scaled = Math.abs(value) * 10 ** decimals, whole = Math.floor(scaled);
  const isBetween = scaled - whole === 0.5 && Number.isInteger(value * 2 ** (decimals + 1));
  return isBetween ? (Math.sign(value) * (whole + whole % 2) / 10 ** decimals).toFixed(decimals) : value.toFixed(decimals);
}

function number(value, decimals = 2, trim = true) {
  let text = fixed(value, decimals);
  if (Number(text) === 0) text = text.replace("-", "");
  if (trim && text.includes(".")) text = text.replace(/\.?0+$/, "");
  return text.replace("-", "−");
}

function short(token, length = 14) {
  let room = 0, kept = "", last = "";
  for (const letter of token) {
    room += /\p{Uppercase}/u.test(letter) ? 1.5 : 1;
    if (room > length) return kept.slice(0, kept.length - last.length) + "…";
    [kept, last] = [kept + letter, letter];
  }
  return token;
}

const headLabel = (head, names) => names ? `head ${head + 1}: ${names[head]}` : `head ${head + 1}`;
const longest = names => Math.max(0, ...names.map(name => [...name].length));
const tooLong = (names, letter, room) => longest(names) > 1 && letter * longest(names) > room;
const px = value => fixed(value, 1).replace(/\.0$/, "");
const area = (x, y, width, height) => `x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}"`;
const SIGNS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };
const escaped = text => text.replace(/[&<>"']/g, sign => SIGNS[sign]);
const colourOf = name => GIVEN.colours[name] ?? name;
const headColour = head => GIVEN.heads[head % GIVEN.heads.length];
const lit = () => `fill="none" stroke="${colourOf("lit")}"`;
const litFrame = box => `<rect ${area(...box)} ${lit()} stroke-width="3" pointer-events="none"/>`;
const channels = colour => [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16)); // of "#rrggbb"

function answering(mark, words, cell) {
  return `<g class="hit" data-cell="${cell}">${mark}<text class="tip">${escaped(words)}</text></g>`;
}

function textMark(place, words, { anchor = "middle", colour = "ink", bold = false, turned = false, css = "" } = {}) {
  const [x, y, size] = place.map(px);
  let style = `font-size="${size}" text-anchor="${anchor}" fill="${colourOf(colour)}" font-family="DejaVu Sans, sans-serif" pointer-events="none"`;
  if (bold) style += ' font-weight="700"';
  if (turned) style += ` transform="rotate(-90 ${x} ${y})"`;
  if (!["ink", "number"].includes(colour)) style += ` style="${colour.startsWith("#") ? "fill" : "--own"}:${colourOf(colour)}"`;
  if (css) style += ` class="${css}"`;
  return `<text x="${x}" y="${y}" ${style}>${escaped(words)}</text>`;
}

// Whether white has more contrast than black on a colour that lies so opaque on white (WCAG 2.2).
function isDark(colour, opacity) {
  const light = channels(colour).map(part => 1 - opacity * (1 - part / 255))
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return dot([0.2126, 0.7152, 0.0722], light) < 0.179;
}

// --- a heatmap ------------------------------------------------------------------------------------------------

const KINDS = {
  weights: {
    said: [6, ": its weights add up to 1".length], trim: false, hues: head => [headColour(head)],
    rowWords: seen => `: its weights add up to ${number(seen.reduce((a, b) => a + b, 0))}`, isWritten: true,
  },
  scores: {
    said: [5, ": −1.67 to −1.67".length], trim: true, hues: () => [colourOf("negative"), colourOf("positive")],
    rowWords: seen => `: ${number(Math.min(...seen))} to ${number(Math.max(...seen))}`, isWritten: true,
  },
  mask: {
    said: ["may attend".length, " may look at 64 of 64".length], hues: () => [colourOf("may attend")],
    cellWords: value => value ? "may attend" : "masked", rowWords: seen => ` may look at ${seen.length} of `,
  },
};

class Heatmap {
  constructor(box, values, names, chosen, options) {
    Object.assign(this, { decimals: 2, limit: 1, small: false, mostCells: MOST_CELLS, titleLetters: 0 }, options);
    Object.assign(this, { values, chosen: chosen ?? [null, null], names: names.map(name => short(name, 13)), kind: KINDS[options.kind ?? "weights"] });
    this.n = names.length;
    this.hues = this.kind.hues(this.index);
    const opacity = (value, i, j) => this.allows(i, j) ? Math.min(Math.abs(value) / this.limit, 1) : 0;
    this.opacities = values.map((row, i) => row.map((value, j) => opacity(value, i, j)));
    this.strongest = this.opacities.map(row => row.findIndex(value => value > Math.max(...row) - 1e-5));
    this.isImage = this.n ** 2 > this.mostCells;
    this.layOut(box);
  }

  allows(i, j) { return !this.mask || this.mask[i][j]; }

  hue(i, j) { return this.values[i][j] < 0 && this.opacities[i][j] > 0 ? this.hues[0] : this.hues.at(-1); }

  layOut([left, top, width, height]) {
    const { n, small } = this, row = longest(this.names), titled = Math.max([...this.title].length, this.titleLetters);
    const heading = titled ? 20 : 0, [beside, below] = small ? [0, 18] : [24 + 8.5 * row, 24];
    const side = above => Math.max(1, Math.min((width - beside) / n, (height - above - below) / n));
    let above = heading + (small ? 0 : 38);
    this.turned = !small && tooLong(this.names, 8, side(above));
    if (this.turned) above = heading + 24 + 8 * row;
    this.cell = side(above);
    this.x = left + (beside + width - this.cell * n) / 2;
    this.y = top + above;
    this.across = this.cell * n;
    const middle = this.x + this.across / 2, bottom = this.y + this.across, [letters, ofRow] = this.kind.said;
    const said = [row + row + letters + 5 + (this.isImage ? 10 : 0), small ? 0 : row + ofRow];
    const size = small ? Math.max(10, Math.min(12, this.across / 13)) : Math.max(11, Math.min(15, width / (BOLD_LETTER * said[0])));
    const half = Math.min(BOLD_LETTER * size * Math.max(...said), WIDTH) / 2;
    this.letter = Math.max(10, Math.min(14, this.cell * 0.8));
    this.titleAt = [middle, top + 14, small ? Math.max(10, Math.min(13, this.across / (LETTER * Math.max(titled, 1)))) : 15];
    this.axesAt = [[this.x - 8.5 * row - 14, (this.y + bottom) / 2, 13], [middle, top + heading + 12, 13]];
    this.readout = [Math.min(Math.max(middle, half), WIDTH - half), bottom + (small ? 12 : 18), size];
  }

  at(row, column) { return [this.x + column * this.cell, this.y + row * this.cell, this.cell, this.cell]; }

  svg(heatmaps) {
    const [x, y, size] = this.readout;
    const marks = [textMark(this.titleAt, this.title, { bold: !this.small }), this.cells(), this.small ? "" : this.words(heatmaps), this.frame()];
    return `<g class="map" style="--tip:${px(size)}px;--x:${px(x)}px;--y:${px(y)}px">${marks.join("")}</g>`;
  }

  frame() {
    const [row, column] = this.chosen;
    if (row === null) return "";
    if (column === null) return rowFrame([this], row, 'stroke-width="2"');
    return litFrame(this.at(row, column)) + textMark(this.readout, this.cellWords(row, column), { bold: true, css: "rest" });
  }

  words(heatmaps) {
    const axis = (name, i) => textMark(this.axesAt[i], name, { colour: name, bold: true, turned: i === 0 });
    const [row, column] = this.chosen, left = this.axesAt[0][0] + 10, { cell, letter, turned } = this;
    const every = cell >= 8 ? 1 : Math.ceil(11 / cell);  // names that stand without touching, the chosen one among them
    const stands = (i, chosen) => i % every === (chosen ?? 0) % every;
    const rows = this.names.map((name, i) => {
      if (!stands(i, row)) return "";
      const [x, y] = this.at(i, 0), seen = this.values[i].filter((_, j) => this.allows(i, j));
      const ground = `<rect ${area(left, y, x - left - 2, cell)} fill-opacity="0"/>`;
      const word = textMark([this.x - 6, this.y + (i + 0.5) * cell + letter * 0.35, letter], name, { anchor: "end", bold: i === row });
      const frame = rowFrame(heatmaps, i, 'class="lights" visibility="hidden" stroke-width="3"');
      const said = this.kind.rowWords(seen) + (this.kind.isWritten ? "" : this.n);
      return answering(ground + word + frame, name + said, [this.index, i, this.strongest[i]]);
    });
    const columns = this.names.map((name, j) => !stands(j, column) ? ""
      : textMark([this.x + (j + 0.5) * cell + letter * 0.35 * turned, this.y - 6, letter], name, { anchor: turned ? "start" : "middle", bold: j === column, turned }));
    return [axis("query", 0), axis("key", 1), ...rows, ...columns].join("");
  }

  cells() {
    const { n, cell, isImage, mask } = this, size = px(cell), faint = colourOf("faint"), each = Array.from({ length: n }, (_, i) => i);
    let marks = isImage ? this.image() : this.squares(each, size, faint);
    if (cell >= 30 && this.kind.isWritten) marks += this.numbers();
    const every = Math.ceil(5 / cell), hidden = (i, j) => mask && !mask[i][j] && (i + j) % every === 0;
    const line = (i, j) => { const [x, y] = this.at(i + 1, j); return `M${px(x)} ${px(y)}l${size} -${size}`; };
    const lines = each.flatMap(i => each.filter(j => hidden(i, j)).map(j => line(i, j))).join("");
    if (lines) marks += `<path d="${lines}" stroke="${colourOf("masked")}" stroke-opacity=".7" fill="none" pointer-events="none"/>`;
    return `${marks}<rect ${area(this.x, this.y, this.across, this.across)} fill="none" stroke="${faint}" pointer-events="none"/>`;
  }

  squares(each, size, faint) {
    const xs = each.map(j => px(this.at(0, j)[0])), ys = each.map(i => px(this.at(i, 0)[1]));
    const square = (i, j) => {
      const own = this.hue(i, j) === this.hues.at(-1) ? "" : ` fill="${this.hue(i, j)}"`;
      return `<rect x="${xs[j]}" y="${ys[i]}" width="${size}" height="${size}"${own} fill-opacity="${fixed(this.opacities[i][j], 2)}"/>`;
    };
    const squares = each.flatMap(i => each.map(j => answering(square(i, j), this.cellWords(i, j), [this.index, i, j])));
    return `<g fill="${this.hues.at(-1)}" ${this.cell >= 6 ? `stroke="${faint}" stroke-opacity=".3"` : ""}>${squares.join("")}</g>`;
  }

  // All cells as one small image, and rows that answer the mouse.
  image() {
    const canvas = Object.assign(document.createElement("canvas"), { width: this.n, height: this.n });
    const pixels = this.opacities.flatMap((row, i) => row.flatMap((opacity, j) => [...channels(this.hue(i, j)), Math.round(255 * opacity)]));
    canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(pixels), this.n), 0, 0);
    const style = `preserveAspectRatio="none" style="image-rendering:pixelated" href="${canvas.toDataURL()}"`;
    const rows = this.strongest.map((strongest, i) => {
      const [x, y, , side] = this.at(i, 0), row = `<rect ${area(x, y, this.across, side)} fill-opacity="0"/>`;
      return answering(row, `${this.cellWords(i, strongest)}, its most`, [this.index, i, strongest]);
    });
    return `<image ${area(this.x, this.y, this.across, this.across)} ${style}/>${rows.join("")}`;
  }

  numbers() {
    const shown = this.values.map(row => row.map(value => number(value, this.decimals, this.kind.trim)));
    const size = Math.min(15, this.cell / 2.9, (this.cell - 2) / (BOLD_LETTER * longest(shown.flat())));
    return shown.flatMap((row, i) => row.map((text, j) => {
      if (!this.allows(i, j)) return "";
      const [x, y] = this.at(i + 0.5, j + 0.5), white = isDark(this.hue(i, j), Number(fixed(this.opacities[i][j], 2)));
      return textMark([x, y + size * 0.35, size], text, white ? { colour: "#ffffff" } : { colour: "number", css: "number" });
    })).join("");
  }

  cellWords(i, j) {
    const write = this.kind.cellWords ?? (value => number(value, this.decimals, this.kind.trim));
    const words = this.allows(i, j) ? write(this.values[i][j]) : "masked";
    return `${this.names[i]} → ${this.names[j]}: ${words}`;
  }
}

function rowFrame(heatmaps, row, style) {
  const lines = heatmaps.map(each => {
    const [x, y, , size] = each.at(row, 0), width = px(each.across);
    return `M${px(x)} ${px(y)}h${width}v${px(size)}h-${width}z`;
  });
  return `<path d="${lines.join("")}" ${style} ${lit()}/>`;
}

// --- the picture ----------------------------------------------------------------------------------------------

function heatmapsOf({ tokens, names, show, scores, scaled, weights, mask, chosen: [head, ...cell] }) {
  if (show === 0) return headHeatmaps(tokens, names, weights, mask, head, cell);
  const limit = Math.max(...scores[head].flat().map(Math.abs)) || 1, width = WIDTH / 3;
  const columns = [
    [scores, { title: "score", kind: "scores", limit, decimals: 1 }],
    [scaled, { title: mask ? "scaled, masked" : "scaled", kind: "scores", limit, decimals: 1, mask }],
    [weights, { title: "weight", mask }],
  ];
  return columns.map(([values, options], i) =>
    new Heatmap([i * width, 0, width - 10, HEIGHT], values[head], tokens, cell, { ...options, index: head }));
}

// The chosen head large, and beside it all heads small, as large as fits.
function headHeatmaps(tokens, names, weights, mask, head, cell) {
  const count = weights.length, large = Math.min(HEIGHT + 60, WIDTH * 0.52), left = large + 20, free = WIDTH - large - 25;
  const one = (box, h, chosen, options) => new Heatmap(box, weights[h], tokens, chosen, { ...options, mask, index: h });
  const first = one([count > 1 ? 0 : (WIDTH - large) / 2, 0, large, HEIGHT], head, cell, { title: headLabel(head, names) });
  if (count === 1) return [first];
  const side = across => Math.min((free - GAP * (across - 1)) / across, HEIGHT / Math.ceil(count / across) - 40);
  const across = least(weights.map((_, i) => i + 1), across => -side(across)), size = side(across);
  const places = weights.map((_, i) => [left + i % across * (size + GAP), Math.floor(i / across) * (size + 40), size, size + 40]);
  const named = weights.map((_, i) => headLabel(i, names)), isTooLong = tooLong(named, 10 * LETTER, size + GAP);
  const titles = isTooLong ? weights.map((_, i) => headLabel(i)) : named, row = tokens.length > 1 ? [cell[0], null] : null;
  const style = { small: true, mostCells: Math.floor(MOST_SMALL_CELLS / count), titleLetters: longest(titles) };
  return [first, ...places.map((box, h) => Object.assign(one(box, h, row, { ...style, title: titles[h] }), { box, isLit: h === head }))];
}

function drawn(heatmaps, words, last) {
  const frame = ({ box: [x, y, width] }, [, bottom, , side]) => litFrame([x - 3, y + 1, width + 6, bottom + side - y + 1]);
  const marks = heatmaps.map(each => each.svg(heatmaps) + (each.isLit ? frame(each, each.at(last, 0)) : ""));
  const label = escaped(words.replaceAll("\n", " "));
  return `<svg xmlns="http://www.w3.org/2000/svg" class="mha" role="img" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"`
    + ` style="max-width:100%;height:auto" aria-label="${label}">${marks.join("")}</svg>`;
}

// A menu of words or heads that follows the sentence: the choice stays with the name that was chosen.
class Choice {
  constructor(value) {
    Object.assign(this, { value, chosen: value, name: undefined, names: [], before: value < 0 ? ["the strongest"] : [] });
  }

  get option() { return this.value + this.before.length; }

  choose(option) {
    const value = option - this.before.length;
    const isThere = value < this.names.length; // where a sentence is refused, the picture still shows other cells
    if (value !== this.value && isThere) Object.assign(this, { value, chosen: value, name: this.names[value] });
  }

  offer(names) {
    if (JSON.stringify(names) === JSON.stringify(this.names)) return;
    this.name ??= names[this.chosen];
    const same = names.map((_, i) => i).filter(i => names[i] === this.name);
    this.value = least(same, i => Math.abs(i - this.chosen)) ?? Math.min(this.chosen, names.length - 1);
    this.names = names;
  }
}

class LiveSentence extends Picture {
  get menus() { return 5; } // so many controls stand before the menus that follow the sentence

  get starts() { return [0, 3, -1]; } // what these menus begin with

  static async in(panel, number) {
    GIVEN = JSON.parse(panel.querySelector("script").textContent);
    return new this(panel, number, { start: GIVEN.start });
  }

  // Settings are, in the order of the controls, the sentence and then which option each control shows.
  show(settings) {
    this.begin(settings);
    this.compute();
    this.choices.forEach((choice, i) => { if (settings[this.menus + i] !== GIVEN.start[this.menus + i]) choice.choose(settings[this.menus + i]); });
    this.compute();
  }

  begin(settings) {
    this.settings = settings.slice(0, this.menus);
    this.choices = this.starts.map(start => new Choice(start));
  }

  move(i, to) {
    this.set(i, to);
    this.compute();
    this.remember();
  }

  set(i, to) {
    if (i < this.menus) this.settings[i] = to;
    else this.choices[i - this.menus].choose(to);
  }

  // Computes and draws; what cannot be shown leaves the picture as it was, and says why.
  compute() {
    this.isRefused = true;
    try {
      const tokens = tokenize(this.settings[0]);
      this.choices.slice(-2).forEach(choice => choice.offer(tokens));
      this.state = this.computed(tokens);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.status.innerText = `${error.message} Until then the picture stays as it was.`;
      return this.setControls();
    }
    this.isRefused = false;
    this.draw(drawn(this.heatmaps, this.shown.words, this.state.tokens.length - 1));
    this.say("");
    this.setControls();
  }

  computed(tokens) {
    const [, show, mask, heads, d_k] = this.settings;
    this.choices[0].offer(nameHeads(heads + 1));
    refuseMany(tokens, MOST_WORDS);
    const [head, query, key] = this.choices.map(choice => choice.value);
    return attention(tokens, { show, mask, heads: heads + 1, d_k: d_k + 1, head, query, key });
  }

  get heatmaps() { return heatmapsOf(this.state); }

  get shown() { return { words: wordsOf(this.state) }; }

  get address() {
    const [sentence, ...numbers] = this.options;
    return numbers + (sentence === GIVEN.start[0] ? "" : `/${encodeURIComponent(sentence)}`);
  }

  get options() {
    return [...this.settings, ...this.choices.map(choice => choice.option)];
  }

  setControls() {
    this.choices.forEach(({ names, before }, i) => {
      const labels = names.map((name, k) => `${k + 1} ${short(name, 20)}`);
      this.inputs[this.menus + i].replaceChildren(...[...before, ...labels].map((label, k) => new Option(label, k)));
    });
    this.inputs.forEach((input, i) => set(input, this.options[i]));
  }

  answer(cell) {
    return cell && cell.dataset.cell !== String(this.state.chosen);
  }

  clicked(cell) {
    if (!cell) return;
    const isNew = this.answer(cell), place = cell.dataset.cell.split(",").map(Number);
    // A finger meets no cell of a small head, so it chooses the head, which is then large.
    const isHead = this.choices.length === 3 && cell.firstElementChild.getBoundingClientRect().width < 24 && matchMedia("(pointer: coarse)").matches;
    this.chooseCell(...place.slice(0, isHead ? 1 : 3));
    this.compute();
    this.remember();
    if (!isNew && !this.isRefused) this.say("It is chosen already.");
  }

  chooseCell(...cell) {
    cell.forEach((index, i) => this.choices[i].choose(index + this.choices[i].before.length));
  }

  link(numbers, sentence) {
    this.show([sentence ? decodeURIComponent(sentence) : GIVEN.start[0], ...numbers]);
  }
}

function refuseMany(tokens, most) {
  if (tokens.length > most) throw new Refused(`The sentence has ${tokens.length} words, and this picture holds ${most}: shorten it.`);
}

PICTURES.live = LiveSentence;
