"""The running example: "cat eats fish" with three heads, in integers small enough for paper."""

from dataclasses import dataclass

import torch

from mha_helpers.attention import MultiHeadAttention


@dataclass(frozen=True, eq=False)  # == of tensors is no single True or False
class GoldenExample:
    """ "cat eats fish" with three heads, in integers small enough for paper. See ``golden_example``."""

    tokens: tuple[str, ...]
    features: tuple[str, ...]
    head_names: tuple[str, ...]
    key_names: tuple[tuple[str, str], ...]  # for each head, what its two columns of keys say, and queries ask
    value_names: tuple[tuple[str, str], ...]  # for each head, what the two numbers of a value say
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

    def trace(self, mask=None):
        """Return every intermediate of the whole way as an ``AttentionTrace``, without gradients."""
        with torch.no_grad():
            return self.attention().trace(self.x, mask)


def golden_example():
    """Return "cat eats fish": n = 3 tokens, d_model = 6 features, h = 3 heads, d_k = d_v = 2.

    Each feature has a name, and so has each column of a head: ``key_names`` for queries and keys,
    ``value_names`` for values. Queries, keys, values and scores are integers. Every row has its reason:

    - Head 1: every word asks who acts, and finds "cat"; "fish", which acts less itself, asks more softly.
    - Head 2: "eats" asks what is eaten and finds "fish"; "cat" and "fish" ask what happens, and find "eats".
    - Head 3: a word asks for the position before its own; "cat" has none, so it asks nothing, (0, 0), looks
      at all words alike, and their values cancel out: it takes (0, 0) home.

    Used in notebooks 00 to 09.

    >>> example = golden_example()
    >>> (example.x @ example.w_q)[1].tolist()  # what "eats" asks: two numbers for each head
    [2.0, -1.0, 1.0, -1.0, 2.0, 0.0]
    >>> example.value_names[0]
    ('acts, less is eaten', 'a thing, less a happening')
    """
    # In every matrix below a row belongs to a feature, a pair of columns to a head.
    x = [
        [2, 0, 0, 1, 0, 0],  # cat: acts, stands first
        [0, 1, 0, 0, 1, 0],  # eats: happens, stands second
        [1, 0, 2, 0, 0, 1],  # fish: could act too, is eaten, stands third
    ]
    w_q = [
        [1, 0, 0, 1, 0, 0],  # who acts: asks who acts (head 1), what happens (head 2)
        [2, -1, 1, -1, 0, 0],  # what happens: asks who acts (head 1), what is eaten (head 2)
        [0, 0, 0, 0, 0, 0],  # what is eaten: asks nothing of its own
        [0, 0, 0, 0, 0, 0],  # 1st: no position comes before it
        [0, 0, 0, 0, 2, 0],  # 2nd: the same numbers as the key of the 1st, so they fit
        [0, 0, 0, 0, 0, 2],  # 3rd: the same numbers as the key of the 2nd
    ]
    w_k = [
        [1, 0, -1, 0, 0, 0],
        [0, 1, 0, 2, 0, 0],
        [0, 1, 2, 0, 0, 0],
        [0, 0, 0, 0, 2, 0],
        [0, 0, 0, 0, 0, 2],
        [0, 0, 0, 0, -1, -1],  # neither 1st nor 2nd
    ]
    w_v = [
        [1, 1, 0, 1, 0, 0],
        [0, -1, -1, 0, 0, 0],
        [-1, 0, 1, 0, 0, 0],
        [0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, -1, 1],
        [0, 0, 0, 0, 0, -1],
    ]
    w_o = [  # a row belongs to a column of values, a column to a feature of the output
        [1, 0, 0, 0, 0, 0],  # head 1, "acts, less is eaten"
        [0, -1, 0, 0, 0, 0],  # "a thing, less a happening"
        [0, -1, 1, 0, 0, 0],  # head 2, "is eaten, less happens"
        [1, 0, 0, 0, 0, 0],  # "acts": so "who acts" gathers from two heads
        [0, 0, 0, 1, -1, 0],  # head 3, "stands 1st, less stands 2nd"
        [0, 0, 0, 0, 1, -1],  # "stands 2nd, less stands 3rd"
    ]
    matrices = {"x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}
    return GoldenExample(
        tokens=("cat", "eats", "fish"),
        features=("who acts", "what happens", "what is eaten", "1st", "2nd", "3rd"),
        head_names=("who acts", "what is eaten", "previous word"),
        key_names=(
            ("acts", "happens or is eaten"),
            ("is eaten, less acts", "happens"),
            ("stands 1st", "stands 2nd"),
        ),
        value_names=(
            ("acts, less is eaten", "a thing, less a happening"),
            ("is eaten, less happens", "acts"),
            ("stands 1st, less stands 2nd", "stands 2nd, less stands 3rd"),
        ),
        num_heads=3,
        d_k=2,
        **{name: torch.tensor(rows, dtype=torch.float32) for name, rows in matrices.items()},
    )
