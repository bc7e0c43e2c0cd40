// A sentence and its heads in numbers, as mha_helpers/sentence.py and attention.py have them: scores and weights.
let GIVEN; // what comes from there with the page: colours, names, positions, and the matrices of all heads

// --- words that look random: SHAKE-256 (FIPS 202), 25 lanes of 64 bits ----------------------------------------

const RATE = 136; // bytes that each permutation takes in
const turned = (lane, n) => BigInt.asUintN(64, lane << n | lane >> 64n - n);

function permute(lanes) {
  for (let round = 0, bits = 1; round < 24; round++) {
    const sums = [0, 1, 2, 3, 4].map(x => lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]);
    lanes.forEach((_, i) => { lanes[i] ^= sums[(i + 4) % 5] ^ turned(sums[(i + 1) % 5], 1n); });
    let x = 1, y = 0, lane = lanes[1];
    for (let t = 1; t < 25; t++) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      [lane, lanes[x + 5 * y]] = [lanes[x + 5 * y], turned(lane, BigInt(t * (t + 1) / 2 % 64))];
    }
    const before = lanes.slice(), beside = (i, k) => before[i - i % 5 + (i + k) % 5];
    lanes.forEach((_, i) => { lanes[i] ^= ~beside(i, 1) & beside(i, 2); });
    for (let j = 0; j < 7; j++) {
      bits = (bits << 1 ^ (bits >> 7) * 0x71) % 256;
      if (bits & 2) lanes[0] ^= 1n << BigInt(2 ** j - 1);
    }
  }
}

// The first bytes of the hash of a text, at most RATE.
function shake256(text, length) {
  const bytes = new TextEncoder().encode(text), lanes = new BigUint64Array(25), state = new Uint8Array(lanes.buffer);
  bytes.forEach((byte, i) => {
    state[i % RATE] ^= byte;
    if (i % RATE === RATE - 1) permute(lanes);
  });
  state[bytes.length % RATE] ^= 0x1f;
  state[RATE - 1] ^= 0x80;
  permute(lanes);
  return state.slice(0, length);
}

// --- the sentence and its heads -------------------------------------------------------------------------------

const ALONE = "[\\u3001-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff00-\\uffef\\u{20000}-\\u{3ffff}]";
const TOKEN = new RegExp(`${ALONE}|(?:(?!${ALONE})(?:[^\\s\\x1c-\\x1f\\x85]|\\ufeff))+`, "gu");
const tokenize = sentence => sentence.match(TOKEN) ?? [];

// Why a sentence cannot be shown, if it cannot.
function refusal({ length }) {
  const most = GIVEN.positions.length;
  if (length > most) return `The sentence has ${length} words, and this picture holds ${most}: shorten it.`;
  return length ? "" : "The sentence is empty. Type at least one word, for example “cat eats fish”.";
}

const wordVectors = Object.create(null); // of words that were met
// 32 signs of a word: each from a number of two bytes, which is above or below the middle.
const signs = word => [...shake256(`token ${word}`, 64)].filter((_, i) => i % 2).map(byte => byte < 128 ? -1 : 1);
const wordVector = word => wordVectors[word] ??= signs(word);
const sentenceVectors = tokens => tokens.map((token, i) => [...wordVector(token.toLowerCase()), ...GIVEN.positions[i]]);
const sum = values => values.reduce((a, b) => a + b, 0);
const dot = (a, b) => { let sum = 0; for (let i = 0; i < a.length; i++) sum += a[i] * b[i]; return sum; };

// The scores of one head, in 32 bits, from what its matrices of the largest d_k say in their first columns. In a
// head made by hand that compares positions, which turn in pairs, the last of an odd d_k is a steady one.
function scoresOf(x, head, d_k) {
  const { names, columns, steps, steady } = GIVEN, shown = [...Array(d_k).keys()];
  if (d_k % 2) shown[d_k - 1] = Math.max(d_k - 1, steady[head]);
  const [queries, keys] = columns.map(w => x.map(vector => shown.map(column => dot(vector, w[head][column]))));
  const longer = names[head] === "random" ? 1 : Math.sqrt(columns[0][head].length / d_k); // so a match scores alike at every d_k
  return queries.map(q => keys.map(k => Math.fround(longer * steps[head] ** 2 * dot(q, k))));
}

const MASKS = [() => true, (i, j) => j <= i, (i, j) => Math.abs(i - j) <= 2]; // none, causal, sliding window

// The weights of one query; where it may look at nothing, all are 0.
function softmax(scores, allowed) {
  const largest = Math.max(...scores), powers = scores.map((score, j) => allowed[j] ? Math.exp(score - largest) : 0);
  const total = sum(powers) || 1;
  return powers.map(power => power / total);
}

const alike = row => [...row.keys()].filter(j => row[j] >= Math.max(...row) * (1 - 1e-5) - 1e-8);

// What is shown: tokens, mask, and of each head its scores, scaled scores and weights, rows of queries.
function attention(tokens, [, show, masked, heads, columns, head, query, key]) {
  const x = sentenceVectors(tokens), d_k = columns + 1;
  const mask = tokens.map((_, i) => tokens.map((_, j) => MASKS[masked](i, j)));
  const scores = Array.from({ length: heads + 1 }, (_, h) => scoresOf(x, h, d_k));
  const scaled = scores.map(rows => rows.map(row => row.map(score => score / Math.sqrt(d_k))));
  const weights = scaled.map(rows => rows.map((row, i) => softmax(row, mask[i])));
  const strongest = least(alike(weights[head][query]), j => Math.abs(j - query));
  return { tokens, show, d_k, masked, mask, scores, scaled, weights, chosen: [head, query, key ? key - 1 : strongest] };
}
