// The explorer of page 05 in any browser: masks by name, and one's own, cell by cell.
const MASK = 4, OWN = 5, D_K = 16; // the heatmap of the mask; the name of one's own

KINDS.mask = {
  said: ["may attend", " may look at 64 of 64"], hues: () => ["may attend"],
  write: value => value ? "may attend" : "masked", rowWords: (seen, names) => ` may look at ${seen.length} of ${names.length}`,
};

// Who may look at whom, by name; one's own is what was shown, as long as it fits.
function namedMask(name, tokens, shown) {
  const causal = (i, j) => j <= i, real = (i, j) => tokens[j] !== "[pad]", fits = shown.length === tokens.length;
  const allows = [() => true, causal, real, (i, j) => causal(i, j) && real(i, j), (i, j) => Math.abs(i - j) <= 1, fits ? (i, j) => shown[i][j] : causal];
  return tokens.map((_, i) => tokens.map((_, j) => allows[name](i, j)));
}

class MaskPicture extends SentencePicture {
  show(...asked) {
    this.own = [];
    super.show(...asked);
  }

  offer(tokens) {
    this.fill(3, tokens);
    this.fill(4, tokens);
  }

  set(i, to) {
    if (i === 5 && !this.refusal) this.turn();
    else super.set(i, to);
  }

  // Allows or forbids the chosen cell, from now on in a mask of one's own.
  turn() {
    const [, , , row, column] = this.settings, isAllowed = !this.own[row]?.[column]; // none where the first sentence is refused
    this.settings[5] = Number(isAllowed);
    if (this.refusal) return;
    this.own[row][column] = isAllowed;
    this.settings[1] = OWN;
  }

  chooseCell(heatmap, ...cell) {
    cell.forEach((index, i) => this.set(3 + i, index));
    if (heatmap === MASK) this.turn();
  }

  computed(tokens) {
    const [, name, ...chosen] = this.settings.slice(0, 5), [head, row, column] = chosen;
    const mask = this.own = namedMask(name, tokens, this.own);
    const scaled = scoresOf(sentenceVectors(tokens), head, D_K).map(scores => scores.map(score => score / Math.sqrt(D_K)));
    const before = scaled.map(scores => softmax(scores, scores.map(() => true)));
    const weights = scaled.map((scores, i) => softmax(scores, mask[i]));
    this.settings[5] = Number(mask[row][column]);
    return { tokens, name, mask, before, weights, chosen };
  }

  get heatmaps() {
    const { state } = this, ofMask = { title: `mask: ${option(this.inputs[1], state.name)}`, kind: KINDS.mask, index: MASK };
    return [
      new Heatmap([0, 0, 420, HEIGHT], state.mask.map(row => row.map(Number)), state, ofMask),
      new Heatmap([440, 0, 420, HEIGHT], state.weights, state, { title: headLabel(state.chosen[0]) }),
    ];
  }

  get shown() {
    const { tokens, mask, chosen: [, query] } = this.state, later = mask.filter((row, i) => row.some((allowed, j) => allowed && j > i)).length;
    const may = ["No word may", "1 word may"][later] ?? `${later} words may`, leak = later ? ": a leak, if the model writes word after word" : "";
    const sees = `“${tokens[query]}” may look at ${mask[query].filter(Boolean).length} of ${tokens.length} words.`;
    return { words: [sees, this.moved(query), `${may} look at a later word${leak}.`].join("\n") };
  }

  // Where the weight of one row went that the mask takes from hidden words.
  moved(query) {
    const [allowed, before, after] = [this.state.mask, this.state.before, this.state.weights].map(rows => rows[query]);
    const lost = before.reduce((sum, weight, j) => allowed[j] ? sum : sum + weight, 0), gains = after.map((weight, j) => weight - before[j]);
    const most = gains.findIndex(gain => gain > Math.max(...gains) - 1e-5);
    if (!allowed.some(Boolean)) return "It has no key left. Computed naively its row becomes NaN; here all weights are 0.";
    if (allowed.every(Boolean)) return "Nothing is hidden from it.";
    if (lost < 0.005) return "What is hidden from it had hardly any weight.";
    const [share, old, now] = [lost, before[most], after[most]].map(value => fixed(value, 2));
    return `The hidden words had ${share} of its weight. “${this.state.tokens[most]}” gained most: ${old} → ${now}.`;
  }

  answer(cell) {
    const [heatmap, ...where] = cell.dataset.cell.split(",");
    return Number(heatmap) === MASK || String(where) !== String(this.state.chosen.slice(1));
  }
}

PICTURES.mask = MaskPicture;
