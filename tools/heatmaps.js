// The marks of heatmaps, as mha_helpers/svg_heatmap.py, layout.py and style.py write them.
const WIDTH = 860, HEIGHT = 334, GAP = 14, LETTER = 0.6, BOLD_LETTER = 0.63;
const MOST_CELLS = 1024, MOST_SMALL_CELLS = 640; // of a heatmap, of all small ones: with more it is an image

// As Python writes: what lies exactly between two goes to the even one, where toFixed takes the larger.
function fixed(value, decimals) {
  const isTooLarge = Math.abs(value) * 2 ** (decimals + 1) % 4 === 1;
  return (isTooLarge ? value * (1 - Number.EPSILON) : value).toFixed(decimals);
}

function short(token, length) {
  const letters = [...token];
  let room = length;
  const end = letters.findIndex(letter => (room -= /\p{Uppercase}/u.test(letter) ? 1.5 : 1) < 0);
  return end < 0 ? token : `${letters.slice(0, end - 1).join("")}…`;
}

const headLabel = head => `head ${head + 1}: ${GIVEN.names[head]}`;
const longest = names => Math.max(...names.map(name => [...name].length));
const tooLong = (names, letter, room) => longest(names) > 1 && letter * longest(names) > room;
const between = (least, value, most) => Math.min(Math.max(value, least), most);
const number = (value, decimals = 2) => `${Number(fixed(value, decimals))}`.replace("-", "−");
const px = value => Number(fixed(value, 1));
const area = (x, y, width, height) => `x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}"`;
const escaped = text => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const colourOf = name => GIVEN.colours[name] ?? name;
const lit = () => `fill="none" stroke="${colourOf("lit")}"`;
const litFrame = box => `<rect ${area(...box)} ${lit()} stroke-width="3" pointer-events="none"/>`;
const channels = colour => [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16)); // of "#rrggbb"

const answering = (mark, words, cell) => `<g class="hit" data-cell="${cell}">${mark}<text class="tip">${escaped(words)}</text></g>`;

function textMark(place, words, { anchor = "middle", colour = "ink", bold, turned, css }) {
  const [x, y, size] = place.map(px);
  let style = `font-size="${size}" text-anchor="${anchor}" fill="${colourOf(colour)}" font-family="DejaVu Sans, sans-serif" pointer-events="none"`;
  if (bold) style += ' font-weight="700"';
  if (turned) style += ` transform="rotate(-90 ${x} ${y})"`;
  if (!["ink", "number"].includes(colour)) style += ` style="${colour.startsWith("#") ? "fill" : "--own"}:${colourOf(colour)}"`;
  if (css) style += ` class="${css}"`;
  return `<text x="${x}" y="${y}" ${style}>${escaped(words)}</text>`;
}

// --- a heatmap ------------------------------------------------------------------------------------------------

// What its numbers mean: how many letters a cell and a row say beside names, the hues below and above 0, and words.
const KINDS = {
  weights: {
    said: ["masked", ": its weights add up to 1"], hues: head => [GIVEN.heads[head % GIVEN.heads.length]], isWritten: true,
    write: value => fixed(value, 2), rowWords: seen => `: its weights add up to ${number(sum(seen))}`,
  },
  scores: {
    said: ["−1.67", ": −1.67 to −1.67"], hues: () => ["negative", "positive"], isWritten: true,
    write: value => number(value, 1), rowWords: seen => `: ${number(Math.min(...seen))} to ${number(Math.max(...seen))}`,
  },
};

class Heatmap {
  constructor(box, values, { tokens, mask, chosen: [index, ...chosen] }, options) {
    Object.assign(this, { values, mask, index, chosen, kind: KINDS.weights, limit: 1, mostCells: MOST_CELLS }, options);
    this.names = tokens.map(token => short(token, 13));
    this.hues = this.kind.hues(this.index).map(colourOf);
    this.opacities = values.map((row, i) => row.map((value, j) => this.mask[i][j] * Math.min(Math.abs(value) / this.limit, 1)));
    this.strongest = this.opacities.map(row => row.findIndex(value => value > Math.max(...row) - 1e-5));
    this.isImage = tokens.length ** 2 > this.mostCells;
    this.layOut(...box);
  }

  layOut(left, top, width, height) {
    const { small, names } = this, n = names.length, row = longest(names), [ofCell, ofRow] = this.kind.said.map(({ length }) => length);
    const [beside, below] = small ? [0, 18] : [24 + 8.5 * row, 24];
    const side = above => Math.max(1, Math.min(width - beside, height - above - below) / n);
    this.turned = !small && tooLong(names, 8, side(58));
    const above = small ? 20 : this.turned ? 44 + 8 * row : 58;
    this.cell = side(above);
    this.across = this.cell * n;
    this.x = left + (beside + width - this.across) / 2;
    this.y = top + above;
    const middle = this.x + this.across / 2, bottom = this.y + this.across, said = 2 * row + ofCell + 5 + (this.isImage ? 10 : 0);
    const size = small ? between(10, this.across / 13, 12) : between(11, width / (BOLD_LETTER * said), 15);
    const half = BOLD_LETTER * size * Math.max(said, small ? 0 : row + ofRow) / 2;
    this.letter = between(10, this.cell * 0.8, 14);
    this.titleAt = [middle, top + 14, small ? between(10, this.across / (LETTER * this.titleLetters), 13) : 15];
    this.axesAt = { query: [this.x - 8.5 * row - 14, (this.y + bottom) / 2, 13], key: [middle, top + 32, 13] };
    this.around = [left - 3, top + 1, width + 6, this.at(n - 1, 0)[1] + this.cell - top + 1];
    this.readout = [between(half, middle, WIDTH - half), bottom + (small ? 12 : 18), size];
  }

  at(row, column) { return [this.x + column * this.cell, this.y + row * this.cell, this.cell, this.cell]; }

  // The way round a row.
  round(row) {
    const [x, y, , size] = this.at(row, 0).map(px), across = px(this.across);
    return `M${x} ${y}h${across}v${size}h-${across}z`;
  }

  hue(i, j) { return this.hues.at(this.values[i][j] < 0 ? 0 : -1); }

  // What is written for each cell.
  each(mark) { return this.values.map((row, i) => row.map((_, j) => mark(i, j)).join("")).join(""); }

  svg(heatmaps) {
    const [x, y, size] = this.readout.map(px), title = textMark(this.titleAt, this.title, { bold: !this.small });
    const marks = title + this.cells() + (this.small ? "" : this.words(heatmaps)) + this.frame();
    return `<g class="map" style="--tip:${size}px;--x:${x}px;--y:${y}px">${marks}</g>${this.isLit ? litFrame(this.around) : ""}`;
  }

  // The frame of what is chosen: of a small one a row, else a cell, whose words hide while another answers.
  frame() {
    const [row, column] = this.chosen;
    if (this.small) return this.names.length > 1 ? `<path d="${this.round(row)}" stroke-width="2" ${lit()}/>` : "";
    return litFrame(this.at(row, column)) + textMark(this.readout, this.cellWords(row, column), { bold: true, css: "rest" });
  }

  words(heatmaps) {
    const { x, cell, letter, turned, axesAt: { query, key } } = this, left = query[0] + 10;
    const every = cell >= 8 ? 1 : Math.ceil(11 / cell); // names that stand without touching, the chosen one among them
    const named = (chosen, mark) => this.names.map((name, i) => (i - chosen) % every ? "" : mark(name, i, i === chosen)).join("");
    const rows = named(this.chosen[0], (name, i, bold) => {
      const [, y] = this.at(i, 0), seen = this.values[i].filter((_, j) => this.mask[i][j]);
      const ground = `<rect ${area(left, y, x - left - 2, cell)} fill-opacity="0"/>`;
      const word = textMark([x - 6, this.at(i + 0.5, 0)[1] + letter * 0.35, letter], name, { anchor: "end", bold });
      const lights = `<path d="${heatmaps.map(each => each.round(i)).join("")}" class="lights" visibility="hidden" stroke-width="3" ${lit()}/>`;
      return answering(ground + word + lights, name + this.kind.rowWords(seen, this.names), [this.index, i, this.strongest[i]]);
    });
    const columns = named(this.chosen[1], (name, j, bold) =>
      textMark([x + (j + 0.5) * cell + letter * 0.35 * turned, this.y - 6, letter], name, { anchor: turned ? "start" : "middle", bold, turned }));
    const axis = (place, name, turned) => textMark(place, name, { colour: name, bold: true, turned });
    return axis(query, "query", true) + axis(key, "key", false) + rows + columns;
  }

  cells() {
    const { cell, mask } = this, size = px(cell), every = Math.ceil(5 / cell);
    const lines = this.each((i, j) => {
      const [x, y] = this.at(i + 1, j);
      return mask[i][j] || (i + j) % every ? "" : `M${px(x)} ${px(y)}l${size} -${size}`;
    });
    const hatching = `<path d="${lines}" stroke="${colourOf("masked")}" stroke-opacity=".7" fill="none" pointer-events="none"/>`;
    const border = `<rect ${area(this.x, this.y, this.across, this.across)} fill="none" stroke="${colourOf("faint")}" pointer-events="none"/>`;
    const numbers = cell >= 30 && this.kind.isWritten ? this.numbers() : "";
    return (this.isImage ? this.image() : this.squares()) + numbers + (lines && hatching) + border;
  }

  squares() {
    const border = this.cell >= 6 ? `stroke="${colourOf("faint")}" stroke-opacity=".3"` : "";
    const squares = this.each((i, j) => {
      const own = this.values[i][j] < 0 ? ` fill="${this.hues[0]}"` : "";
      const square = `<rect ${area(...this.at(i, j))}${own} fill-opacity="${fixed(this.opacities[i][j], 2)}"/>`;
      return answering(square, this.cellWords(i, j), [this.index, i, j]);
    });
    return `<g fill="${this.hues.at(-1)}" ${border}>${squares}</g>`;
  }

  // All cells as one small image, and rows that answer the mouse.
  image() {
    const n = this.names.length, canvas = Object.assign(document.createElement("canvas"), { width: n, height: n });
    const pixels = this.opacities.flatMap((row, i) => row.flatMap((opacity, j) => [...channels(this.hue(i, j)), 255 * opacity]));
    canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(pixels), n), 0, 0);
    const style = `preserveAspectRatio="none" style="image-rendering:pixelated" href="${canvas.toDataURL()}"`;
    const rows = this.strongest.map((strongest, i) => {
      const [x, y] = this.at(i, 0), row = `<rect ${area(x, y, this.across, this.cell)} fill-opacity="0"/>`;
      return answering(row, `${this.cellWords(i, strongest)}, its most`, [this.index, i, strongest]);
    });
    return `<image ${area(this.x, this.y, this.across, this.across)} ${style}/>${rows.join("")}`;
  }

  // The number of each cell, black or white as it is read best.
  numbers() {
    const shown = this.values.map(row => row.map(value => this.kind.write(value)));
    const size = Math.min(15, this.cell / 2.9, (this.cell - 2) / (BOLD_LETTER * longest(shown.flat())));
    return this.each((i, j) => {
      const [x, y] = this.at(i + 0.5, j + 0.5), isDark = fixed(this.opacities[i][j], 2) >= GIVEN.white[this.hue(i, j)];
      const style = isDark ? { colour: "#ffffff" } : { colour: "number", css: "number" };
      return this.mask[i][j] ? textMark([x, y + size * 0.35, size], shown[i][j], style) : "";
    });
  }

  cellWords(i, j) {
    return `${this.names[i]} → ${this.names[j]}: ${this.mask[i][j] ? this.kind.write(this.values[i][j]) : "masked"}`;
  }
}
