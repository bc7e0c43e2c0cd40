// A sentence and its heads in numbers, as mha_helpers/sentence.py and attention.py have them: scores and weights.
let GIVEN; // what comes from there with the page: colours, names, positions, and the matrices of all heads

// --- words that look random: SHAKE-256 (FIPS 202), 25 lanes of 64 bits ----------------------------------------

const RATE = 136; // bytes that each permutation takes in
const turned = (lane, n) => BigInt.asUintN(64, lane << n | lane >> 64n - n);

function permute(lanes) {
  for (let round = 0, bits = 1; round < 24; round++) {
    const sums = [0, 1, 2, 3, 4].map(x => lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]);
    for (let i = 0; i < 25; i++) lanes[i] ^= sums[(i + 4) % 5] ^ turned(sums[(i + 1) % 5], 1n);
    let x = 1, y = 0, lane = lanes[1];
    for (let t = 0; t < 24; t++) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      const next = lanes[x + 5 * y];
      lanes[x + 5 * y] = turned(lane, BigInt((t + 1) * (t + 2) / 2 % 64));
      lane = next;
    }
    for (let y = 0; y < 25; y += 5) {
      const row = lanes.slice(y, y + 5);
      row.forEach((lane, x) => { lanes[y + x] = lane ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]); });
    }
    for (let j = 0; j < 7; j++) {
      bits = (bits << 1 ^ (bits >> 7) * 0x71) % 256;
      if (bits & 2) lanes[0] ^= 1n << BigInt(2 ** j - 1);
    }
  }
}

// The first bytes of the hash of a text, at most RATE.
function shake256(text, length) {
  const bytes = new TextEncoder().encode(text), lanes = new BigUint64Array(25), state = new Uint8Array(lanes.buffer);
  for (let start = 0; start <= bytes.length; start += RATE) {
    const block = bytes.subarray(start, start + RATE);
    block.forEach((byte, i) => { state[i] ^= byte; });
    if (block.length < RATE) {
      state[block.length] ^= 0x1f;
      state[RATE - 1] ^= 0x80;
    }
    permute(lanes);
  }
  return state.slice(0, length);
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

const wordVectors = new Map();
// 32 signs of a word: each from a number of two bytes, which is above or below the middle.
function wordVector(word) {
  if (!wordVectors.has(word)) {
    const bytes = shake256(`token ${word}`, 64);
    wordVectors.set(word, Array.from({ length: 32 }, (_, i) => bytes[2 * i + 1] < 128 ? -1 : 1));
  }
  return wordVectors.get(word);
}

const sentenceVectors = tokens => tokens.map((token, i) => [...wordVector(token.toLowerCase()), ...GIVEN.positions[i]]);
const dot = (a, b) => { let sum = 0; for (let i = 0; i < a.length; i++) sum += a[i] * b[i]; return sum; };

// The queries and keys of one head: what its matrices of the largest d_k say in their first columns. In a head
// made by hand that compares positions, which turn in pairs, the last of an odd d_k is a steady one.
function queriesAndKeys(x, head, d_k) {
  const { columns: [w_q, w_k], steps, steady } = GIVEN, isByHand = head < GIVEN.names.length;
  const columns = Array.from({ length: d_k }, (_, column) => column);
  if (d_k % 2 && isByHand && GIVEN.names[head] !== "same word") columns[d_k - 1] = Math.max(d_k - 1, steady);
  const longer = isByHand ? Math.sqrt(w_q[head].length / d_k) : 1; // so that a match has the same score at every d_k
  const project = (w, by) => x.map(vector => columns.map(column => by * steps[head] * dot(vector, w[head][column])));
  return [project(w_q, longer), project(w_k, 1)];
}

const MASKS = [null, (i, j) => j <= i, (i, j) => Math.abs(i - j) <= 2]; // none, causal, sliding window

function softmax(scores) {
  const largest = Math.max(...scores), powers = scores.map(score => Math.exp(score - largest));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map(power => power / sum);
}

const isClose = (a, b) => Math.abs(a - b) <= 1e-8 + 1e-5 * Math.abs(b);
const alike = row => row.map((_, j) => j).filter(j => isClose(row[j], Math.max(...row)));
const nameHeads = heads => Array.from({ length: heads }, (_, head) => GIVEN.names[head] ?? "random");

// What is shown: tokens, mask, and of each head its scores, scaled scores and weights, rows of queries.
function attention(tokens, { show, mask, heads, d_k, head, query, key }) {
  const x = sentenceVectors(tokens), allows = MASKS[mask];
  const allowed = allows && tokens.map((_, i) => tokens.map((_, j) => allows(i, j)));
  const state = { tokens, show, d_k, mask: allowed, names: nameHeads(heads), scores: [], scaled: [], weights: [] };
  for (let h = 0; h < heads; h++) {
    const [queries, keys] = queriesAndKeys(x, h, d_k);
    state.scores.push(queries.map(q => keys.map(k => dot(q, k))));
    state.scaled.push(state.scores[h].map(row => row.map(score => score / Math.sqrt(d_k))));
    state.weights.push(state.scaled[h].map((row, i) => softmax(row.map((score, j) => !allowed || allowed[i][j] ? score : -Infinity))));
  }
  const strongest = () => least(alike(state.weights[head][query]), j => Math.abs(j - query));
  return Object.assign(state, { chosen: [head, query, key < 0 ? strongest() : key] });
}
