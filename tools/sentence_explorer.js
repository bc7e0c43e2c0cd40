// The explorer of page 00 in any browser, for every setting, every click and every sentence that is typed.

function wordsOf({ tokens, scores, scaled, weights, mask, d_k, chosen: [head, row, column] }) {
  const most = alike(weights[head][row]), largest = number(Math.max(...weights[head][row]));
  const [score, divided, weight] = [scores, scaled, weights].map(each => number(each[head][row][column]));
  const where = most.length > 1 ? `equally at ${most.length} words (${largest} each)` : `most at “${tokens[most]}” (${largest})`;
  const steps = mask[row][column] ? `score ${score} → ÷ √${d_k} → ${divided} → softmax over the row → weight ${weight}`
    : "the mask forbids this cell → weight 0";
  const name = headLabel(head).replace("h", "H");
  return `${name}. “${tokens[row]}” looks ${where}.\n“${tokens[row]}” asks, “${tokens[column]}” answers: ${steps}.`;
}

// One head, step by step.
function stepHeatmaps(state) {
  const { scores, scaled, weights, masked, mask, chosen: [head] } = state, kind = KINDS.scores, width = WIDTH / 3;
  const limit = Math.max(...scores[head].flat().map(Math.abs)) || 1, free = mask.map(row => row.map(() => true));
  const columns = [
    [scores, { title: "score", kind, limit, mask: free }],
    [scaled, { title: masked ? "scaled, masked" : "scaled", kind, limit }],
    [weights, { title: "weight" }],
  ];
  return columns.map(([values, options], i) => new Heatmap([i * width, 0, width - 10, HEIGHT], values[head], state, options));
}

// The chosen head large, and beside it all heads small.
function headHeatmaps(state) {
  const { weights, chosen: [head] } = state, [large, places] = GIVEN.places[weights.length - 1];
  const named = weights.map((_, i) => headLabel(i)), isTooLong = tooLong(named, 10 * LETTER, places[0]?.[2] + GAP);
  const titles = isTooLong ? named.map(name => name.split(":")[0]) : named;
  const style = { small: true, mostCells: MOST_SMALL_CELLS / weights.length, titleLetters: longest(titles) };
  const small = (box, i) => new Heatmap(box, weights[i], state, { ...style, title: titles[i], index: i, isLit: i === head });
  return [new Heatmap(large, weights[head], state, { title: named[head] }), ...places.map(small)];
}

class SentencePicture extends Picture {
  unpack(content) { return GIVEN = { at: () => true, ...content }; } // at all settings there is a picture

  // Settings are, in the order of the controls, the sentence and then which option each control shows.
  show(options, sentence) {
    this.settings = [sentence || this.inputs[0].defaultValue, ...options];
    this.wanted = this.settings.map(index => ({ index })); // what the visitor chose last; in a menu of names it has a name
    this.compute();
  }

  offer(tokens) {
    this.fill(5, GIVEN.names.slice(0, this.settings[3] + 1));
    this.fill(6, tokens);
    this.fill(7, ["the strongest", ...tokens], 0);
  }

  // Fills a menu; the choice stays with the name that was chosen, where this is gone with its place.
  fill(i, names, first = 1) {
    const wanted = Object.assign(this.wanted[i], { names });
    wanted.name ??= names[wanted.index];
    const same = [...names.keys()].filter(k => names[k] === wanted.name);
    this.settings[i] = least(same, k => Math.abs(k - wanted.index)) ?? Math.min(wanted.index, names.length - 1);
    const label = (name, k) => k + first ? `${k + first} ${short(name, 20)}` : name;
    this.inputs[i].replaceChildren(...names.map((name, k) => new Option(label(name, k), k)));
  }

  set(i, to) {
    const { names } = this.wanted[i];
    if (to === this.settings[i] || to >= names?.length) return; // where a sentence is refused, the picture shows other cells
    this.settings[i] = to;
    Object.assign(this.wanted[i], { index: to, name: names?.[to] });
  }

  move(i, to) {
    this.set(i, to);
    this.compute();
    this.remember();
  }

  // Computes and draws; what cannot be shown leaves the picture as it was, and says why.
  compute(said) {
    const tokens = tokenize(this.settings[0]);
    this.start ??= this.box.innerHTML.split(" aria-label")[0]; // of the picture that Python drew
    this.refusal = refusal(tokens);
    if (tokens.length) this.offer(tokens);
    if (this.refusal) this.status.innerText = `${this.refusal} Until then the picture stays as it was.`;
    else {
      this.state = this.computed(tokens);
      this.draw(`${this.start}>${this.heatmaps.map((each, _, all) => each.svg(all)).join("")}</svg>`);
      this.say(said);
    }
    this.inputs.forEach((input, i) => set(input, this.settings[i]));
  }

  computed(tokens) { return attention(tokens, this.settings); }

  get heatmaps() { return this.state.show ? stepHeatmaps(this.state) : headHeatmaps(this.state); }

  get shown() { return { words: wordsOf(this.state) }; }

  get at() { return this.settings.slice(1); }

  get click() { return this.settings[0] === this.inputs[0].defaultValue ? "" : encodeURIComponent(this.settings[0]); }

  answer(cell) { return cell.dataset.cell !== String(this.state.chosen); }

  clicked(cell) {
    const said = this.answer(cell) ? "" : "It is chosen already.";
    this.chooseCell(...cell.dataset.cell.split(",").map(Number));
    this.compute(said);
    this.remember();
  }

  chooseCell(head, query, key) {
    [head, query, key + 1].forEach((option, i) => this.set(5 + i, option));
  }
}

PICTURES.sentence = SentencePicture;
