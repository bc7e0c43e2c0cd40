// The marks of heatmaps, as mha_helpers/svg_heatmap.py, layout.py and style.py write them.
const WIDTH = 860, HEIGHT = 334, LETTER = 0.6, BOLD_LETTER = 0.63;
const MOST_CELLS = 1024; // of a heatmap: with more it is an image

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
