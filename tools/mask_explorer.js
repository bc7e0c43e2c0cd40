// The explorer of page 05 in any browser: masks by name, and one's own, cell by cell.
const MASK = 4, OWN = 5, D_K = 16, MOST_MASKED = 24; // the heatmap of the mask; the name of one's own; words of a sentence

KINDS.mask = {
  said: ["may attend".length, " may look at 64 of 64".length], hues: () => [colourOf("may attend")],
  cellWords: value => value ? "may attend" : "masked", rowWords: seen => ` may look at ${seen.length} of `,
};

// Who may look at whom, by name; one's own is what was shown, as long as it fits.
function namedMask(name, tokens, shown) {
  const causal = (i, j) => j <= i, real = (i, j) => tokens[j] !== "[pad]", fits = shown.length === tokens.length;
  const allows = [() => true, causal, real, (i, j) => causal(i, j) && real(i, j), (i, j) => Math.abs(i - j) <= 1, fits ? (i, j) => shown[i][j] : causal];
  return tokens.map((_, i) => tokens.map((_, j) => allows[name](i, j)));
}

class MaskPicture extends SentencePicture {
  get menus() { return 3; }

  get starts() { return [3, 4]; }

  begin(settings) {
    super.begin(settings);
    this.own = [];
  }

  set(i, to) {
    if (i < 5) super.set(i, to);
    else if (this.isRefused) this.isTicked = Boolean(to);
    else this.turn();
  }

  // Allows or forbids the chosen cell, from now on in a mask of one's own.
  turn() {
    const [row, column] = this.choices.map(choice => choice.value);
    this.isTicked = !this.own[row][column];
    if (this.isRefused) return;
    this.own[row][column] = this.isTicked;
    this.settings[1] = OWN;
  }

  chooseCell(heatmap, ...cell) {
    super.chooseCell(...cell);
    if (heatmap === MASK) this.turn();
  }

  computed(tokens) {
    refuseMany(tokens, MOST_MASKED);
    const [, name, head] = this.settings, mask = this.own = namedMask(name, tokens, this.own), x = sentenceVectors(tokens);
    const cell = this.choices.map(choice => choice.value), [queries, keys] = queriesAndKeys(x, head, D_K);
    const scores = queries.map(q => keys.map(k => dot(q, k) / Math.sqrt(D_K)));
    const weights = scores.map((row, i) => mask[i].some(Boolean) ? softmax(row.map((score, j) => mask[i][j] ? score : -Infinity)) : row.map(() => 0));
    this.isTicked = mask[cell[0]][cell[1]];
    return { tokens, name, head, mask, before: scores.map(softmax), weights, cell };
  }

  get heatmaps() {
    const { tokens, name, head, mask, weights, cell } = this.state, title = `mask: ${option(this.inputs[1], name)}`;
    const ofMask = new Heatmap([0, 0, 420, HEIGHT], mask.map(row => row.map(Number)), tokens, cell, { title, kind: "mask", index: MASK, mask });
    return [ofMask, new Heatmap([440, 0, 420, HEIGHT], weights, tokens, cell, { title: headLabel(head, GIVEN.names), index: head, mask })];
  }

  get shown() {
    const { tokens, mask, cell: [query] } = this.state, later = mask.filter((row, i) => row.some((allowed, j) => allowed && j > i)).length;
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
    const [share, old, now] = [lost, before[most], after[most]].map(value => number(value, 2, false));
    return `The hidden words had ${share} of its weight. “${this.state.tokens[most]}” gained most: ${old} → ${now}.`;
  }

  get options() {
    return [...super.options, Number(this.isTicked)];
  }

  answer(cell) {
    const [heatmap, ...where] = cell?.dataset.cell.split(",") ?? [];
    return cell && (Number(heatmap) === MASK || String(where) !== String(this.state.cell));
  }
}

PICTURES.mask = MaskPicture;
