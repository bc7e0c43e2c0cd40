"""The learner's own sentence, and heads made by hand that find something in it.

Nothing here is trained. What looks random comes from a hash, so it is the same on every machine.
"""

import functools
import hashlib
import math
import re

import torch

# Chinese characters and punctuation, Japanese kana: written without spaces, so one token each.
# U+3000 is left out: it is the space of Chinese text.
_NO_SPACES = r"[\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"


def tokenize(sentence):
    """Cut a sentence into tokens: at white space, and at every character of Chinese.

    Real models cut words into smaller pieces; whole words are easier to read in a picture.
    Used in notebook 01, and by the explorers of 00, 03, 05 and 09.

    Raises ``ValueError`` if nothing is left to attend to.

    >>> tokenize("The cat  sat.")
    ['The', 'cat', 'sat.']
    >>> tokenize("猫吃鱼 yes")
    ['猫', '吃', '鱼', 'yes']
    """
    tokens = re.findall(rf"{_NO_SPACES}|(?:(?!{_NO_SPACES})\S)+", sentence)
    if not tokens:
        raise ValueError("The sentence is empty. Type at least one word, for example “cat eats fish”.")
    return tokens


def fixed_matrix(name, rows, columns):
    """Return a matrix of fixed numbers with mean 0 and variance 1, the same on every machine.

    A wider matrix of the same name begins with the columns of the narrower one. So a slider that adds
    columns changes a picture gradually, instead of drawing new noise.

    Shape: ``(rows, columns)``. Used in notebook 12 and by the explorers.

    >>> torch.equal(fixed_matrix("example", 4, 10)[:, :3], fixed_matrix("example", 4, 3))
    True
    """
    # shake_256 gives a stream of bytes: asking for more leaves the first ones as they are.
    stream = hashlib.shake_256(name.encode("utf-8", "surrogatepass")).digest(2 * rows * columns)
    low, high = torch.tensor(list(stream), dtype=torch.float64).view(-1, 2).unbind(1)
    uniform = (low + 256 * high) / 65_535  # 0 … 1, in 65 536 steps
    numbers = ((uniform - 0.5) * math.sqrt(12)).to(torch.get_default_dtype())  # mean 0, variance 1
    return numbers.view(columns, rows).T.contiguous()  # column after column, so that columns can be added


WORD_FEATURES = 32
# How far each pair of position features turns from one word to the next, in radians. Quick and slow ones
# alternate, so that already a few pairs tell positions apart, and every further pair tells them apart better.
# The last two are steady: half a turn only changes the sign, no turn changes nothing.
TURNS = (0.9, 2.1, 0.35, 1.5, 2.8, 0.6, 1.2, 1.8, 2.4, 0.2, 0.75, 1.35, 2.0, 2.6, math.pi, 0.0)
D_MODEL = WORD_FEATURES + 2 * len(TURNS)
HAND_MADE_NAMES = ("previous word", "same word", "next word", "nearby words")
LARGEST_D_K = 32
MATCH = 4.0  # the scaled score of a key that matches exactly, at every d_k


def word_vectors(tokens):
    """Give each token 32 fixed signs, +1 or −1: equal tokens get equal vectors, others agree by chance only.

    Shape: n tokens -> ``(n, 32)``. They come from a hash of the token, **not from training**: "cat" is no
    nearer to "kitten" than to "Tuesday".
    """
    return torch.cat([fixed_matrix(f"token {token.lower()}", 1, WORD_FEATURES) for token in tokens]).sign()


def sinusoidal_positions(n):
    """Give each position in the sentence 16 pairs (sine, cosine), each turning at its own speed.

    Shape: ``(n, 32)``. Taught in notebook 01. Source: Vaswani et al. (2017), section 3.5, which uses other
    speeds; these tell neighbours apart within a few features. All begin at 45 degrees, where sine and cosine
    are equal, so in a steady pair each of the two has the square ½ at every position.
    """
    angles = torch.arange(n)[:, None] * torch.tensor(TURNS) + math.pi / 4  # (n, 16)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)  # (n, 16, 2) -> (n, 32)


def sentence_vectors(sentence, most=math.inf):
    """Return the tokens of a sentence and ``x``: 32 features of the word, then 32 of its position.

    Shape: x ``(n, 64)``. Used by the explorers of notebooks 00, 03, 05 and 09.
    Raises what ``tokenize`` raises, ``ValueError`` for more than ``most`` tokens, which a picture holds.

    >>> tokens, x = sentence_vectors("the cat sat")
    >>> tokens, x.shape
    (['the', 'cat', 'sat'], torch.Size([3, 64]))
    """
    tokens = tokenize(sentence)
    if len(tokens) > most:
        raise ValueError(f"The sentence has {len(tokens)} words, and this picture holds {most}: shorten it.")
    return tokens, torch.cat([word_vectors(tokens), sinusoidal_positions(len(tokens))], dim=-1)


def hand_made_heads(num_heads, d_k):
    """Return projections for ``sentence_vectors``: four heads made by hand, then random ones; their names.

    Head 1 looks at the previous word, 2 at the same word, 3 at the next word, 4 at nearby words; further
    heads are random, and their names say so.

    Whatever d_k is, a key that matches (the previous word, the same word, the next word; in head 4 the word
    itself) has the scaled score 4, for every word: d_k changes only how exactly words or positions are told
    apart. The keys of a head are equally long: |k|² = d_k in head 2, d_k / 2 in the others.

    Shapes: w_q, w_k, w_v ``(h, 64, d_k)``, and a list of h names. Used by the explorers of notebooks 00, 03,
    05 and 09, where d_k is at most 32.

    >>> tokens, x = sentence_vectors("a cat saw a dog")
    >>> w_q, w_k, w_v, names = hand_made_heads(num_heads=1, d_k=16)
    >>> scores = (x @ w_q[0]) @ (x @ w_k[0]).T / 16**0.5
    >>> names, scores.argmax(dim=-1).tolist()[1:]  # the first word has no previous one
    (['previous word'], [0, 1, 2, 3])
    """
    pairs = [_query_and_key(head, d_k, torch.get_default_dtype()) for head in range(num_heads)]
    w_q, w_k = (torch.stack(matrices) for matrices in zip(*pairs, strict=True))
    w_v = torch.stack([fixed_matrix(f"w_v of head {head}", D_MODEL, d_k) for head in range(num_heads)])
    names = [*HAND_MADE_NAMES, *["random"] * num_heads][:num_heads]
    return w_q, w_k, w_v / math.sqrt(D_MODEL), names


@functools.cache
def _query_and_key(head, d_k, dtype):
    """Return w_q and w_k of one head, each ``(64, d_k)``; ``dtype``, the default, is for the cache."""
    if head >= len(HAND_MADE_NAMES):
        w_q, w_k = (fixed_matrix(f"{name} of head {head}", D_MODEL, d_k) for name in ("w_q", "w_k"))
        return w_q / math.sqrt(D_MODEL), w_k / math.sqrt(D_MODEL)
    name = HAND_MADE_NAMES[head]
    words, positions = torch.eye(D_MODEL).split([WORD_FEATURES, D_MODEL - WORD_FEATURES], dim=1)
    if name == "same word":
        w_k, matching, length = words[:, :d_k], words[:, :d_k], d_k
    else:
        columns = _position_columns(d_k, nearby=name == "nearby words")
        step = {"previous word": -1, "nearby words": 0, "next word": 1}[name]
        w_k, matching, length = positions[:, columns], (positions @ _one_step(step))[:, columns], d_k / 2
    return MATCH * math.sqrt(d_k) / length * matching, w_k  # the query that matches, made MATCH · √d_k long


def _position_columns(d_k, nearby):
    """Return which position features a head compares: whole pairs, and for an odd d_k a steady one."""
    *turning, half_turn, no_turn = range(len(TURNS))
    if nearby:  # slow pairs first: they change little from one word to the next
        pairs = [*sorted(turning, key=TURNS.__getitem__), no_turn, half_turn]
    else:
        pairs = [*turning, half_turn, no_turn]
    columns = [2 * pair + part for pair in pairs for part in (0, 1)]
    whole = d_k - d_k % 2
    steady = columns[max(whole, 2 * len(turning)) :]
    return columns[:whole] + steady[: d_k % 2]


def _one_step(step):
    """Return the matrix that turns the features of each position into those of the one ``step`` words on."""
    turns = [(math.sin(step * angle), math.cos(step * angle)) for angle in TURNS]
    # sin(a + b) = sin a · cos b + cos a · sin b; cos(a + b) = cos a · cos b − sin a · sin b
    return torch.block_diag(*(torch.tensor([[cosine, -sine], [sine, cosine]]) for sine, cosine in turns))
