// The explorer of page 00 in any browser, for every setting, every click and every sentence that is typed.
const MOST_WORDS = 64, GAP = 14; // of a sentence; pixels between small heatmaps
const MOST_SMALL_CELLS = 640; // of all small heatmaps: with more they are images

function wordsOf({ tokens, names, scores, scaled, weights, mask, d_k, chosen: [head, row, column] }) {
  const most = alike(weights[head][row]), largest = number(Math.max(...weights[head][row]));
  const [score, divided, weight] = [scores, scaled, weights].map(each => number(each[head][row][column]));
  const where = most.length > 1 ? `equally at ${most.length} words (${largest} each)` : `most at “${tokens[most[0]]}” (${largest})`;
  const steps = mask && !mask[row][column] ? "the mask forbids this cell → weight 0"
    : `score ${score} → ÷ √${d_k} = ${divided} → softmax over the row → weight ${weight}`;
  const name = headLabel(head, names).replace("h", "H");
  return [`${name}. “${tokens[row]}” looks ${where}.`, `“${tokens[row]}” asks, “${tokens[column]}” answers: ${steps}.`].join("\n");
}

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

function drawn(heatmaps, last) {
  const frame = ({ box: [x, y, width] }, [, bottom, , side]) => litFrame([x - 3, y + 1, width + 6, bottom + side - y + 1]);
  const marks = heatmaps.map(each => each.svg(heatmaps) + (each.isLit ? frame(each, each.at(last, 0)) : ""));
  return `<svg xmlns="http://www.w3.org/2000/svg" class="mha" role="img" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"`
    + ` style="max-width:100%;height:auto">${marks.join("")}</svg>`;
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

class SentencePicture extends Picture {
  get menus() { return 5; } // so many controls stand before the menus that follow the sentence

  get starts() { return [0, 3, -1]; } // what these menus begin with

  static async in(panel, number) {
    GIVEN = await unpacked(panel);
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
    this.draw(drawn(this.heatmaps, this.state.tokens.length - 1));
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
    this.chooseCell(...place);
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

PICTURES.sentence = SentencePicture;
