"""The running examples: "cat eats fish", and the learner's own sentence with heads made by hand.

Nothing here is trained. What looks random comes from a hash, so it is the same on every machine.
"""

import functools
import hashlib
import math
import re
from dataclasses import dataclass

import torch

from mha_helpers.attention import MultiHeadAttention
from mha_helpers.checks import check_count


@dataclass(frozen=True, eq=False)  # == of tensors is no single True or False
class GoldenExample:
    """ "cat eats fish" with three heads, in integers small enough for paper. See ``golden_example``."""

    tokens: tuple[str, ...]
    features: tuple[str, ...]
    head_names: tuple[str, ...]
    num_heads: int
    d_k: int
    x: torch.Tensor  # (n, d_model)
    w_q: torch.Tensor  # (d_model, h·d_k); head i owns the columns 2i and 2i + 1
    w_k: torch.Tensor  # (d_model, h·d_k)
    w_v: torch.Tensor  # (d_model, h·d_v)
    w_o: torch.Tensor  # (h·d_v, d_model); head i owns the rows 2i and 2i + 1

    def attention(self):
        """Return a ``MultiHeadAttention`` without bias that holds these weights."""
        with torch.random.fork_rng(devices=[]):  # the learner's own random numbers stay as they are
            attention = MultiHeadAttention(self.x.shape[-1], self.num_heads, bias=False).to(self.x)
        weights = {"w_q": self.w_q, "w_k": self.w_k, "w_v": self.w_v, "w_o": self.w_o}
        with torch.no_grad():
            for name, weight in weights.items():
                # nn.Linear stores its matrix the other way round: it computes x @ weight.T
                getattr(attention, name).weight.copy_(weight.T)
        return attention


def golden_example():
    """Return "cat eats fish": n = 3 tokens, d_model = 6 features, h = 3 heads, d_k = d_v = 2.

    Each feature has a name. Head 1 finds who acts, head 2 finds what is eaten, head 3 looks at the
    previous word. Queries, keys, values and scores are integers. Used in notebooks 00 to 09.

    >>> example = golden_example()
    >>> (example.x @ example.w_q)[1].tolist()  # what "eats" asks: two numbers for each head
    [2.0, -1.0, -1.0, 2.0, -1.0, 2.0]
    """
    # In every matrix below a row belongs to a feature, a pair of columns to a head.
    x = [
        [2, 0, 0, 1, 0, 0],  # cat: acts, stands first
        [0, 1, 0, 0, 1, 0],  # eats: happens, stands second
        [1, 0, 2, 0, 0, 1],  # fish: could act too, is eaten, stands third
    ]
    w_q = [
        [1, 0, 1, 0, 0, 0],  # who acts
        [2, -1, -1, 2, 0, 0],  # what happens: asks for who acts (head 1), for what is eaten (head 2)
        [0, 0, -1, 0, 0, 0],  # what is eaten
        [0, 0, 0, 0, -1, 0],  # 1st
        [0, 0, 0, 0, -1, 2],  # 2nd: the same numbers as the key of the 1st, so they fit
        [0, 0, 0, 0, 1, -1],  # 3rd
    ]
    w_k = [
        [1, 0, 1, 0, 0, 0],
        [0, 1, 0, -1, 0, 0],
        [0, 1, 0, 1, 0, 0],
        [0, 0, 0, 0, -1, 2],
        [0, 0, 0, 0, 2, 0],
        [0, 0, 0, 0, 0, 1],
    ]
    w_v = [
        [1, 1, 0, 1, 1, 0],
        [0, -1, 1, 0, 0, 2],
        [-1, 0, 1, 0, -1, 0],
        [0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
    ]
    w_o = [  # a row belongs to an output of a head, a column to a feature
        [1, 0, 0, 0, 0, 1],
        [0, 1, 0, 1, 0, 0],
        [0, 0, 1, 0, 1, 0],
        [1, 0, 0, -1, 0, 0],
        [0, 0, 1, 0, 0, -1],
        [0, 1, 0, 0, 1, 0],
    ]
    return GoldenExample(
        tokens=("cat", "eats", "fish"),
        features=("who acts", "what happens", "what is eaten", "1st", "2nd", "3rd"),
        head_names=("who acts", "what is eaten", "previous word"),
        num_heads=3,
        d_k=2,
        x=torch.tensor(x, dtype=torch.float32),
        w_q=torch.tensor(w_q, dtype=torch.float32),
        w_k=torch.tensor(w_k, dtype=torch.float32),
        w_v=torch.tensor(w_v, dtype=torch.float32),
        w_o=torch.tensor(w_o, dtype=torch.float32),
    )


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

    Shape: ``(rows, columns)``. Used in notebook 01 and by the explorers.
    Raises ``TypeError`` or ``ValueError`` if a size is no whole number from 1 up.

    >>> torch.equal(fixed_matrix("example", 4, 10)[:, :3], fixed_matrix("example", 4, 3))
    True
    """
    check_count("rows", rows)
    check_count("columns", columns)
    # shake_256 gives a stream of bytes: asking for more leaves the first ones as they are.
    stream = hashlib.shake_256(name.encode("utf-8", "surrogatepass")).digest(2 * rows * columns)
    low, high = torch.tensor(list(stream), dtype=torch.float64).view(-1, 2).unbind(1)
    uniform = (low + 256 * high) / 65_535  # 0 … 1, in 65 536 steps
    numbers = ((uniform - 0.5) * math.sqrt(12)).float()  # mean 0, variance 1
    return numbers.view(columns, rows).T.contiguous()  # column after column, so that columns can be added


# --- a sentence of the learner's own, and heads made by hand that find something in it -----------------

WORD_FEATURES = 32
# How far each pair of position features turns from one word to the next, in radians. Quick and slow ones
# alternate, so that already a few pairs tell places apart, and every further pair tells them apart better.
TURNS = (0.9, 2.1, 0.35, 1.5, 2.8, 0.6, 1.2, 1.8, 2.4, 0.2, 0.75, 1.35, 2.0, 2.6, 0.5, 3.0)
D_MODEL = WORD_FEATURES + 2 * len(TURNS)
HAND_MADE_NAMES = ("previous word", "same word", "next word", "nearby words")
LARGEST_D_K = 32
_SHARPNESS = 2.0  # how decided a hand-made head is; at 2 the step from d_k = 1 to 16 is seen best


def word_vectors(tokens):
    """Give each token 32 fixed signs, +1 or −1: equal tokens get equal vectors, others agree by chance only.

    Shape: n tokens -> ``(n, 32)``. They come from a hash of the token, **not from training**: "cat" is no
    nearer to "kitten" than to "Tuesday".
    """
    return torch.cat([fixed_matrix(f"token {token.lower()}", 1, WORD_FEATURES) for token in tokens]).sign()


def sinusoidal_positions(n):
    """Give each place in the sentence 16 pairs (sine, cosine), each turning at its own speed.

    Shape: ``(n, 32)``. Taught in notebook 01. Source: Vaswani et al. (2017), section 3.5, which uses other
    speeds; these tell neighbours apart within a few features.
    """
    angles = torch.arange(n)[:, None] * torch.tensor(TURNS)  # (n, 16)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)  # (n, 16, 2) -> (n, 32)


def sentence_vectors(sentence):
    """Return the tokens of a sentence and ``x``: 32 features of the word, then 32 of its place.

    Shape: x ``(n, 64)``. Used by the explorers of notebooks 00, 03, 05 and 09.
    Raises what ``tokenize`` raises.

    >>> tokens, x = sentence_vectors("the cat sat")
    >>> tokens, x.shape
    (['the', 'cat', 'sat'], torch.Size([3, 64]))
    """
    tokens = tokenize(sentence)
    return tokens, torch.cat([word_vectors(tokens), sinusoidal_positions(len(tokens))], dim=-1)


def hand_made_heads(num_heads, d_k):
    """Return projections for ``sentence_vectors``: four heads made by hand, then random ones; their names.

    Head 1 looks at the previous word, 2 at the same word, 3 at the next word, 4 at nearby words; further
    heads are random, and their names say so. Nothing is trained: pages 10 and 11 show trained heads. A
    larger d_k adds columns and leaves the others as they are. With few features a head can hardly tell
    words or places apart; with more it becomes sharp.

    Shapes: w_q, w_k, w_v ``(h, 64, d_k)``, and a list of h names. Used by the explorers of notebooks 00, 03,
    05 and 09.
    Raises ``TypeError`` or ``ValueError`` if num_heads is no whole number from 1 up, d_k none from 1 to 32.

    >>> tokens, x = sentence_vectors("a cat saw a dog")
    >>> w_q, w_k, w_v, names = hand_made_heads(num_heads=1, d_k=16)
    >>> scores = (x @ w_q[0]) @ (x @ w_k[0]).T / 16**0.5
    >>> names, scores.argmax(dim=-1).tolist()[1:]  # the first word has no previous one
    (['previous word'], [0, 1, 2, 3])
    """
    check_count("num_heads", num_heads)
    check_count("d_k", d_k, largest=LARGEST_D_K)
    pairs = [_query_and_key_matrix(head) for head in range(num_heads)]
    w_q = torch.stack([w_q[:, :d_k] for w_q, _ in pairs])
    w_k = torch.stack([w_k[:, :d_k] for _, w_k in pairs])
    w_v = torch.stack([fixed_matrix(f"w_v of head {head}", D_MODEL, d_k) for head in range(num_heads)])
    names = [*HAND_MADE_NAMES, *["random"] * num_heads][:num_heads]
    return w_q, w_k, w_v / math.sqrt(D_MODEL), names


@functools.cache
def _query_and_key_matrix(head):
    """Return w_q and w_k of one head, each ``(64, 32)``."""
    if head >= len(HAND_MADE_NAMES):
        w_q, w_k = (fixed_matrix(f"{name} of head {head}", D_MODEL, LARGEST_D_K) for name in ("w_q", "w_k"))
        return w_q / math.sqrt(D_MODEL), w_k / math.sqrt(D_MODEL)
    words, places = torch.eye(D_MODEL)[:, :WORD_FEATURES], torch.eye(D_MODEL)[:, WORD_FEATURES:]
    name = HAND_MADE_NAMES[head]
    if name == "same word":
        return _SHARPNESS * words, words
    if name == "nearby words":  # slow pairs first: they change little from one word to the next
        slow_first = sorted(range(len(TURNS)), key=lambda pair: TURNS[pair])
        places = places[:, [2 * pair + part for pair in slow_first for part in (0, 1)]]
        return _SHARPNESS * places, places
    step = -1 if name == "previous word" else 1
    return _SHARPNESS * places @ _one_step(step), places


def _one_step(step):
    """Return the matrix that turns the features of each place into those of the place ``step`` words on."""
    turn = torch.zeros(2 * len(TURNS), 2 * len(TURNS))
    for pair, angle in enumerate(TURNS):
        sine, cosine = math.sin(step * angle), math.cos(step * angle)
        # sin(a + b) = sin a · cos b + cos a · sin b; cos(a + b) = cos a · cos b − sin a · sin b
        turn[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = torch.tensor(
            [[cosine, -sine], [sine, cosine]]
        )
    return turn
