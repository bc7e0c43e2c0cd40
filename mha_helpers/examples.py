"""The running examples: the golden example, the shape example and the learner's own sentence.

Nothing here is trained. The vectors of a sentence are fixed numbers made from a hash, so that they are
the same on every machine and in every session.
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
    chinese: tuple[str, ...]
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
    previous token. Queries, keys, values and scores are integers. Used in notebooks 00 to 09.

    >>> example = golden_example()
    >>> (example.x @ example.w_q)[1].tolist()  # what "eats" asks: two numbers for each head
    [2.0, -1.0, -1.0, 1.0, -1.0, 2.0]
    """
    # In every matrix below a row belongs to a feature, a pair of columns to a head.
    x = [
        [2, 0, 0, 1, 0, 0],  # cat: acts, stands first
        [0, 1, 0, 0, 1, 0],  # eats: happens, stands second
        [1, 0, 2, 0, 0, 1],  # fish: could act too, is eaten, stands third
    ]
    w_q = [
        [1, 0, 0, 1, 0, 0],  # who acts
        [2, -1, -1, 1, 0, 0],  # what happens
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
        chinese=("猫", "吃", "鱼"),
        features=("who acts", "what happens", "what is eaten", "1st", "2nd", "3rd"),
        head_names=("who acts", "what is eaten", "previous token"),
        num_heads=3,
        d_k=2,
        x=torch.tensor(x, dtype=torch.float32),
        w_q=torch.tensor(w_q, dtype=torch.float32),
        w_k=torch.tensor(w_k, dtype=torch.float32),
        w_v=torch.tensor(w_v, dtype=torch.float32),
        w_o=torch.tensor(w_o, dtype=torch.float32),
    )


SHAPE_SENTENCES = (
    "the old fisherman tells the children a story about the sea while the boats come home",
    "my grandmother grows tomatoes on the roof and sells them at the market on Sunday mornings",
    "小猫坐在窗台上晒太阳等着鱼儿回家",
    "a good teacher asks a question waits for the silence and lets the class answer first",
)


def shape_example(d_model=512):
    """Return four sentences of 16 tokens and their vectors, for following shapes at real sizes.

    Shape: x ``(4, 16, d_model)``. Used in notebooks 01, 03 and 08. Raises what ``token_vectors`` raises.

    >>> sentences, x = shape_example()
    >>> x.shape
    torch.Size([4, 16, 512])
    """
    return SHAPE_SENTENCES, torch.stack([sentence_vectors(s, d_model)[1] for s in SHAPE_SENTENCES])


# Chinese characters and punctuation, Japanese kana: written without spaces, so one token each.
# U+3000 is left out: it is the space of Chinese text.
_NO_SPACES = r"[\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"


def tokenize(sentence):
    """Cut a sentence into tokens: at white space, and at every character of Chinese.

    Real models cut words into smaller pieces; whole words are easier to read in a picture.
    Used in notebook 01, and by the explorers of 00, 03, 05 and 09.

    Raises ``TypeError`` if the sentence is no text, ``ValueError`` if nothing is left to attend to.

    >>> tokenize("The cat  sat.")
    ['The', 'cat', 'sat.']
    >>> tokenize("猫吃鱼 yes")
    ['猫', '吃', '鱼', 'yes']
    """
    if not isinstance(sentence, str):
        raise TypeError(f"the sentence must be text in quotes, got {type(sentence).__name__}.")
    tokens = re.findall(rf"{_NO_SPACES}|(?:(?!{_NO_SPACES})\S)+", sentence)
    if not tokens:
        raise ValueError("The sentence is empty. Type at least one word, for example “cat eats fish”.")
    return tokens


def token_vectors(tokens, d_model):
    """Give each token a vector of fixed numbers: equal tokens get equal vectors.

    The numbers have mean 0 and variance 1. They come from a hash of the token, **not from training**:
    "cat" is no nearer to "kitten" than to "Tuesday".

    Shape: n tokens -> ``(n, d_model)``. Used by ``sentence_vectors``.
    Raises ``TypeError`` if tokens is no list, ``ValueError`` if it is empty, either if d_model is no whole
    number from 1 up.

    >>> token_vectors(["cat", "sat", "cat"], d_model=8).shape
    torch.Size([3, 8])
    """
    check_count("d_model", d_model)
    if not isinstance(tokens, (list, tuple)):
        raise TypeError(f"tokens must be a list with one text for each token, got {tokens!r}.")
    if not tokens:
        raise ValueError("tokens is empty: one token is the least that has a vector.")
    return torch.cat([fixed_matrix(f"token {token}", 1, d_model) for token in tokens])


def sinusoidal_positions(n, d_model):
    """Return a vector for each position, made of sines and cosines of growing wavelength.

    Shape: ``(n, d_model)``. Used by ``sentence_vectors``, and so by the explorers of notebooks 00, 03, 05 and
    09; notebook 01 names the paper's section. Source: Vaswani et al. (2017), section 3.5.
    Raises ``TypeError`` or ``ValueError`` if an argument is no whole number from 1 up.

    >>> sinusoidal_positions(2, d_model=4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])
    """
    check_count("n", n)
    check_count("d_model", d_model)
    position = torch.arange(n)[:, None]  # (n, 1)
    # 0, 2, 4, …: one sine and one cosine share a wavelength
    pair = torch.arange(0, d_model, 2, dtype=torch.float32)
    angle = position * torch.exp(-math.log(10_000) * pair / d_model)  # (n, d_model / 2)
    positions = torch.zeros(n, d_model, dtype=torch.float32)
    positions[:, 0::2] = angle.sin()
    positions[:, 1::2] = angle.cos()[:, : d_model // 2]
    return positions


def sentence_vectors(sentence, d_model):
    """Return the tokens of a sentence and ``x``, their vectors plus their positions.

    Shape: x ``(n, d_model)``. Used by the explorers of notebooks 00, 03, 05 and 09.
    Raises what ``tokenize`` and ``token_vectors`` raise.

    >>> tokens, x = sentence_vectors("the cat sat", d_model=8)
    >>> tokens, x.shape
    (['the', 'cat', 'sat'], torch.Size([3, 8]))
    """
    tokens = tokenize(sentence)
    return tokens, token_vectors(tokens, d_model) + sinusoidal_positions(len(tokens), d_model)


@functools.lru_cache(maxsize=4096)
def _fixed_numbers(name, count):
    # shake_256 gives a stream of bytes: asking for more leaves the first ones as they are.
    stream = hashlib.shake_256(name.encode("utf-8", "surrogatepass")).digest(2 * count)
    low, high = (
        torch.frombuffer(bytearray(stream), dtype=torch.uint8).view(count, 2).to(torch.float64).unbind(1)
    )
    uniform = (low + 256 * high) / 65_535  # 0 … 1, in 65 536 steps
    return ((uniform - 0.5) * math.sqrt(12)).float()  # mean 0, variance 1


def fixed_matrix(name, rows, columns):
    """Return a matrix of fixed numbers with mean 0 and variance 1, the same on every machine.

    A wider matrix of the same name begins with the columns of the narrower one. So a slider that adds
    columns changes a picture gradually, instead of drawing new noise.

    Shape: ``(rows, columns)``. Raises ``TypeError`` if name is no text, ``TypeError`` or ``ValueError`` if a
    size is no whole number from 1 up.

    >>> torch.equal(fixed_matrix("example", 4, 10)[:, :3], fixed_matrix("example", 4, 3))
    True
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a text, got {name!r}.")
    check_count("rows", rows)
    check_count("columns", columns)
    turned = _fixed_numbers(name, rows * columns).view(columns, rows).T
    return turned.clone(memory_format=torch.contiguous_format)  # row after row, so that view works on it


def head_projections(d_model, num_heads, d_k):
    """Return untrained projections for the explorers: w_q, w_k and w_v of every head.

    Each is divided by √d_model, so that queries, keys and values vary as much as the x they come
    from. A larger d_k adds columns, more heads add heads; what was there stays as it was.

    Shapes: three of ``(h, d_model, d_k)``.
    Raises ``TypeError`` or ``ValueError`` if an argument is no whole number from 1 up.

    >>> w_q, w_k, w_v = head_projections(d_model=16, num_heads=4, d_k=8)
    >>> w_q.shape
    torch.Size([4, 16, 8])
    """
    check_count("d_model", d_model)
    check_count("num_heads", num_heads)
    check_count("d_k", d_k)
    return tuple(
        torch.stack([fixed_matrix(f"{name} of head {head}", d_model, d_k) for head in range(num_heads)])
        / math.sqrt(d_model)
        for name in ("w_q", "w_k", "w_v")
    )
