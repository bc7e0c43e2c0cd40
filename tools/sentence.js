// A sentence and its heads in numbers, as mha_helpers/sentence.py and attention.py have them: scores and weights.
const FEATURES = 32, MATCH = 4, MOST_WORDS = 64;
let GIVEN; // colours, speeds of turning and names, which come from there with the page

// --- numbers that look random: SHAKE-256 (FIPS 202); a lane of 64 bits is a low and a high half ---------------

const PATH = [], TURN = [], ROUNDS = [];
for (let t = 0, x = 1, y = 0; t < 24; t++) {
  [x, y] = [y, (2 * x + 3 * y) % 5];
  PATH.push(x + 5 * y);
  TURN.push((t + 1) * (t + 2) / 2 % 64);
}
for (let round = 0, bits = 1; round < 24; round++) {
  const halves = [0, 0];
  for (let j = 0; j < 7; j++) {
    bits = (bits << 1 ^ (bits >> 7) * 0x71) % 256;
    const place = (1 << j) - 1;
    if (bits & 2) halves[place >> 5] ^= 1 << (place & 31);
  }
  ROUNDS.push(halves);
}

function permute(low, high) {
  for (const constant of ROUNDS) {
    const sums = [low, high].map(half => [0, 1, 2, 3, 4].map(x => half[x] ^ half[x + 5] ^ half[x + 10] ^ half[x + 15] ^ half[x + 20]));
    for (let i = 0; i < 25; i++) {
      const before = (i + 4) % 5, after = (i + 1) % 5;
      low[i] ^= sums[0][before] ^ (sums[0][after] << 1 | sums[1][after] >>> 31);
      high[i] ^= sums[1][before] ^ (sums[1][after] << 1 | sums[0][after] >>> 31);
    }
    let a = low[1], b = high[1];
    PATH.forEach((place, t) => {
      const n = TURN[t] % 32;
      if (TURN[t] > 31) [a, b] = [b, a];
      const turned = [a << n | b >>> 32 - n, b << n | a >>> 32 - n];
      [a, b] = [low[place], high[place]];
      [low[place], high[place]] = turned;
    });
    for (const half of [low, high]) for (let y = 0; y < 25; y += 5) {
      const row = half.slice(y, y + 5);
      for (let x = 0; x < 5; x++) half[y + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
    }
    low[0] ^= constant[0];
    high[0] ^= constant[1];
  }
}

function shake256(bytes, length) {
  const RATE = 136, low = new Int32Array(25), high = new Int32Array(25), out = new Uint8Array(length);
  const half = i => i >> 2 & 1 ? high : low;
  const padded = new Uint8Array((Math.floor(bytes.length / RATE) + 1) * RATE);
  padded.set(bytes);
  padded[bytes.length] = 0x1f;
  padded[padded.length - 1] |= 0x80;
  padded.forEach((byte, at) => {
    const i = at % RATE;
    half(i)[i >> 3] ^= byte << 8 * (i & 3);
    if (i === RATE - 1) permute(low, high);
  });
  for (let at = 0; at < length; at++) {
    const i = at % RATE;
    if (at && i === 0) permute(low, high);
    out[at] = half(i)[i >> 3] >>> 8 * (i & 3);
  }
  return out;
}

const matrices = new Map();
// A matrix of fixed numbers, column after column.
function fixedMatrix(name, rows, columns) {
  if (!matrices.has(name)) {
    const stream = shake256(new TextEncoder().encode(name), 2 * rows * columns);
    matrices.set(name, Float64Array.from({ length: rows * columns }, (_, i) =>
      Math.fround(((stream[2 * i] + 256 * stream[2 * i + 1]) / 65535 - 0.5) * Math.sqrt(12))));
  }
  return matrices.get(name);
}

// --- the sentence and its heads -------------------------------------------------------------------------------

const ALONE = "[\\u3001-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff00-\\uffef\\u{20000}-\\u{3ffff}]";
const TOKEN = new RegExp(`${ALONE}|(?:(?!${ALONE})(?:[^\\s\\x1c-\\x1f\\x85]|\\ufeff))+`, "gu");

class Refused extends Error {} // what was typed cannot be shown; the message says why

function tokenize(sentence) {
  const tokens = sentence.match(TOKEN);
  if (!tokens) throw new Refused("The sentence is empty. Type at least one word, for example “cat eats fish”.");
  return tokens;
}

// Of each token its 32 signs, then (sine, cosine) of its place at 16 speeds: in single precision, as torch has them.
function sentenceVectors(tokens) {
  const { fround } = Math, start = fround(Math.PI / 4);
  return tokens.map((token, i) => [
    ...fixedMatrix(`token ${token.toLowerCase()}`, 1, FEATURES).map(Math.sign),
    ...GIVEN.turns.flatMap(turn => [Math.sin, Math.cos].map(wave => fround(wave(fround(fround(i * fround(turn)) + start))))),
  ]);
}

// Which position features a head compares: whole pairs, and for an odd d_k a steady one.
function positionColumns(d_k, nearby) {
  const turning = GIVEN.turns.map((_, i) => i).slice(0, -2), [half, none] = [turning.length, turning.length + 1];
  const pairs = nearby ? [...turning.toSorted((a, b) => GIVEN.turns[a] - GIVEN.turns[b]), none, half] : [...turning, half, none];
  const columns = pairs.flatMap(pair => [2 * pair, 2 * pair + 1]), whole = d_k - d_k % 2;
  return [...columns.slice(0, whole), ...columns.slice(Math.max(whole, 2 * turning.length)).slice(0, d_k % 2)];
}

// The queries and keys of one head: functions from a token's vector to d_k numbers.
function queryAndKey(head, d_k) {
  const name = GIVEN.names[head];
  if (!name) return ["w_q", "w_k"].map(which => {
    const size = 2 * FEATURES, matrix = fixedMatrix(`${which} of head ${head}`, size, 32);
    const columns = Array.from({ length: d_k }, (_, c) => matrix.subarray(c * size, (c + 1) * size));
    return x => columns.map(column => dot(x, column) / Math.sqrt(size));
  });
  const isWord = name === "same word", longer = MATCH * Math.sqrt(d_k) / (isWord ? d_k : d_k / 2);
  if (isWord) return [x => x.slice(0, d_k).map(value => longer * value), x => x.slice(0, d_k)];
  const columns = positionColumns(d_k, name === "nearby words");
  const step = { "previous word": -1, "nearby words": 0, "next word": 1 }[name];
  const moved = (x, column) => {
    const angle = step * GIVEN.turns[column >> 1], sine = x[FEATURES + (column & ~1)], cosine = x[FEATURES + (column | 1)];
    return column & 1 ? cosine * Math.cos(angle) - sine * Math.sin(angle) : sine * Math.cos(angle) + cosine * Math.sin(angle);
  };
  return [x => columns.map(column => longer * moved(x, column)), x => columns.map(column => x[FEATURES + column])];
}

const MASKS = [null, (i, j) => j <= i, (i, j) => Math.abs(i - j) <= 2]; // none, causal, sliding window
const dot = (a, b) => { let sum = 0; for (let i = 0; i < a.length; i++) sum += a[i] * b[i]; return sum; };

function softmax(scores) {
  const largest = Math.max(...scores), powers = scores.map(score => Math.exp(score - largest));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map(power => power / sum);
}

const isClose = (a, b) => Math.abs(a - b) <= 1e-8 + 1e-5 * Math.abs(b);

// What is shown: tokens, mask, and of each head its scores, scaled scores and weights, rows of queries.
function attention(tokens, { show, mask, heads, d_k, head, query, key }) {
  const x = sentenceVectors(tokens), allows = MASKS[mask];
  const allowed = allows && tokens.map((_, i) => tokens.map((_, j) => allows(i, j)));
  const state = { tokens, show, d_k, mask: allowed, names: nameHeads(heads), scores: [], scaled: [], weights: [] };
  for (let h = 0; h < heads; h++) {
    const [queries, keys] = queryAndKey(h, d_k).map(of => x.map(of));
    state.scores.push(queries.map(q => keys.map(k => dot(q, k))));
    state.scaled.push(state.scores[h].map(row => row.map(score => score / Math.sqrt(d_k))));
    state.weights.push(state.scaled[h].map((row, i) => softmax(row.map((score, j) => !allowed || allowed[i][j] ? score : -Infinity))));
  }
  const strongest = () => least(alike(state.weights[head][query]), j => Math.abs(j - query));
  return Object.assign(state, { chosen: [head, query, key < 0 ? strongest() : key] });
}

const alike = row => row.map((_, j) => j).filter(j => isClose(row[j], Math.max(...row)));
const nameHeads = heads => Array.from({ length: heads }, (_, head) => GIVEN.names[head] ?? "random");
