"""The running example: "cat eats fish" with three heads, in integers small enough for paper."""

from dataclasses import dataclass

import torch

from mha_helpers.attention import MultiHeadAttention


@dataclass(frozen=True, eq=False, kw_only=True)  # == of tensors is no single True or False
class GoldenExample:
    """ "cat eats fish" with three heads, in integers small enough for paper. See ``golden_example``."""

    tokens: tuple[str, ...]
    features: tuple[str, ...] = ("acts", "happens", "is eaten", "1st", "2nd", "3rd")
    head_names: tuple[str, ...] = ("who acts", "what is eaten", "previous word")
    key_names: tuple[tuple[str, str], ...] = (  # of each head: what its columns of keys say, and queries ask
        ("acts", "happens + is eaten"),
        ("2 · is eaten − acts", "2 · happens"),
        ("2 · 1st − 3rd", "2 · 2nd − 3rd"),
    )
    value_names: tuple[tuple[str, str], ...] = (  # of each head: what the two numbers of a value say
        ("acts − is eaten", "acts − happens"),
        ("is eaten − happens", "acts"),
        ("1st − 2nd", "2nd − 3rd"),
    )
    num_heads: int = 3
    d_k: int = 2
    x: torch.Tensor  # (n, d_model)
    w_q: torch.Tensor  # (d_model, h·d_k); head i owns the columns 2i and 2i + 1
    w_k: torch.Tensor  # (d_model, h·d_k)
    w_v: torch.Tensor  # (d_model, h·d_v)
    w_o: torch.Tensor  # (h·d_v, d_model); head i owns the rows 2i and 2i + 1

    def attention(self):
        """Return a ``MultiHeadAttention`` without bias that holds these weights."""
        with torch.random.fork_rng(devices=[]):  # the learner's own random numbers stay as they are
            attention = MultiHeadAttention(self.x.shape[-1], self.num_heads, bias=False).to(self.x)
        # nn.Linear stores its matrix the other way round: it computes x @ weight.T
        names = ("w_q", "w_k", "w_v", "w_o")
        attention.load_state_dict({f"{name}.weight": getattr(self, name).T for name in names})
        return attention

    def trace(self, mask=None):
        """Return every intermediate of the whole way as an ``AttentionTrace``, without gradients."""
        with torch.no_grad():
            return self.attention().trace(self.x, mask)


WORDS = {  # what a word is: acts, happens, is eaten
    "cat": [1, 0, 0],
    "eats": [0, 1, 0],
    "fish": [1, 0, 1],  # it can act too, but it is food
}

# In every matrix below a row belongs to a feature, a pair of columns to a head.
W_Q = [
    [1, 0, 0, 1, 0, 0],  # acts: asks who acts (head 1), what happens (head 2)
    [2, -1, 1, -1, 0, 0],  # happens: asks who acts (head 1), what is eaten (head 2)
    [0, 0, 0, 0, 0, 0],  # is eaten: asks nothing of its own
    [1, 0, 0, 1, 0, 0],  # 1st: asks what a word asks that acts
    [0, 0, 0, 0, 2, 0],  # 2nd: asks for the 1st (head 3), which asks for none: its weights are equal
    [0, 0, 0, 0, 0, 2],  # 3rd: asks for the 2nd
]
W_K = [
    [1, 0, -1, 0, 0, 0],
    [0, 1, 0, 2, 0, 0],
    [0, 1, 2, 0, 0, 0],
    [1, 0, -1, 0, 2, 0],  # 1st: as a word that acts; in head 3 what the 2nd asks for
    [0, 0, 0, 0, 0, 2],
    [0, 1, 2, 0, -1, -1],  # 3rd: as a word that is eaten; neither 1st nor 2nd
]
W_V = [
    [1, 1, 0, 1, 0, 0],
    [0, -1, -1, 0, 0, 0],
    [-1, 0, 1, 0, 0, 0],
    [1, 1, 0, 1, 1, 0],
    [0, 0, 0, 0, -1, 1],
    [-1, 0, 1, 0, 0, -1],
]
W_O = [  # a row belongs to a column of values, a column to a feature of the output
    [1, 0, 0, 0, 0, 0],  # head 1, "acts − is eaten"
    [0, -1, 0, 0, 0, 0],  # "acts − happens"
    [0, -1, 1, 0, 0, 0],  # head 2, "is eaten − happens"
    [1, 0, 0, 0, 0, 0],  # "acts": so "acts" gathers from two heads
    [0, 0, 0, 1, -1, 0],  # head 3, "1st − 2nd"
    [0, 0, 0, 0, 1, -1],  # "2nd − 3rd"
]


def golden_example(sentence="cat eats fish"):
    """Return "cat eats fish": n = 3 tokens, d_model = 6 features, h = 3 heads, d_k = d_v = 2.

    The first three features say what a word is, the last three where it stands, and both count: who stands
    first acts, who stands third is eaten. So “fish eats cat” has the same matrices, and other weights.

    Each feature has a name, and so has each column of a head: ``key_names`` for queries and keys,
    ``value_names`` for values. Queries, keys, values and scores are integers, and every row has its reason.

    Raises ``ValueError`` for a sentence of other words, or of more than three. Used in notebooks 00 to 09.

    >>> example = golden_example()
    >>> (example.x @ example.w_q)[1].tolist()  # what "eats" asks: two numbers for each head
    [2.0, -1.0, 1.0, -1.0, 2.0, 0.0]
    >>> example.value_names[0]
    ('acts − is eaten', 'acts − happens')
    >>> golden_example("fish eats cat").trace().weights[0, 1]  # “eats” finds who acts now
    tensor([0.7679, 0.0454, 0.1867])
    """
    tokens = tuple(sentence.split())
    if not 1 <= len(tokens) <= 3 or not WORDS.keys() >= set(tokens):
        known = ", ".join(WORDS)
        raise ValueError(f"the example knows one to three of the words {known}, got {sentence!r}.")
    positions = torch.eye(3)[: len(tokens)].tolist()
    x = [WORDS[token] + position for token, position in zip(tokens, positions, strict=True)]
    matrices = {"x": x, "w_q": W_Q, "w_k": W_K, "w_v": W_V, "w_o": W_O}
    dtype = torch.get_default_dtype()
    tensors = {name: torch.tensor(rows, dtype=dtype) for name, rows in matrices.items()}
    return GoldenExample(tokens=tokens, **tensors)
