"""The exercises of the sitting: the learner writes `attention`, then `forward`."""

import torch

from mha_course.exercises import case, changes, numbers
from mha_course.exercises.running import is_stub
from mha_course.p09_concat_and_output.judges import ModuleExercise, batch
from mha_course.p09_concat_and_output.seen import AttentionExercise, steps_of
from mha_helpers.masks import causal_mask, padding_mask

_SOME_KEYS = torch.tensor([[1, 0, 0, 1, 0], [0, 1, 1, 0, 1], [1, 1, 0, 0, 1]]).bool()
_ONE_HEAD_QKV = numbers(3, 4), numbers(5, 4, seed=1), numbers(5, 9, seed=2)


def _of_some_scores():
    """Query 1 scores key 4 with 0; query 2 all that it may see near −60, and a hidden key near 80."""
    q, k, v = (part.clone() for part in _ONE_HEAD_QKV)
    k[:, -1], k[0, -1], k[3], q[1, -1] = 1, -4 / 3, 0, -120  # d_k is 4
    return q, k, v


def _several_heads(b, h, n_q, n_k, d_v):
    return numbers(b, h, n_q, 11, seed=3), numbers(b, h, n_k, 11, seed=4), numbers(b, h, n_k, d_v, seed=5)


class AttentionFunction(AttentionExercise):
    """An answer that is handed queries, keys and values."""

    def _parts(self, case):
        return steps_of(*(*case.args, None)[:4])


write_attention = AttentionFunction(
    "0.2 ★★ · 11 min · Write attention",
    axes=("query", "number"),
    without=("scaled_dot_product_attention", "attention_weights", "weighted_values"),
    cases=lambda: [
        case(*_ONE_HEAD_QKV, label="with one head, without a mask"),
        case(*_ONE_HEAD_QKV, _SOME_KEYS, label="with a mask"),
        case(*_of_some_scores(), _SOME_KEYS, label="with a mask, and scores of 0, of −60 and, hidden, of 80"),
        case(*_several_heads(1, 6, 4, 8, 7), label="with one sentence and six heads in front"),
        case(
            *_several_heads(2, 3, 4, 6, 5), padding_mask([3, 6], 6), label="with sentences and heads in front"
        ),
        case(*(numbers(1, 1, seed=seed) for seed in (6, 7, 8)), label="with one query and one key"),
    ],
    task="""
    Write the function from its five steps, without `F.scaled_dot_product_attention`: score, divide, hide,
    softmax, mix. `mask` is True where a query may look, or None: ask `if mask is not None:`. Count axes
    from the end, −2 and −1, because axes for heads and sentences may come before them.
    """,
    mistakes=changes("""
        q.shape[-1] ** 0.5 => 2 ** 0.5
        You divide by √2, which is √d_k only in the example: where does q say how many numbers a query has?
        q.shape[-1] ** 0.5 => 2
        You divide by 2, which is √d_k only where d_k is 4: which power of d_k is its root?
        k.transpose(-2, -1) => k.T => k.transpose(0, 1)
        With heads in front, others change places: counted from the end, which two axes should?
    """),
    praise="PyTorch's own function gives these numbers, too, for any number of heads.",
    hints=[
        "Five steps: multiply each query by each key; divide; hide; softmax over the keys; mix the values.",
        "k.transpose(-2, -1) swaps the last two axes, so that q @ it is (…, n_q, n_k).",
        "if mask is not None: scores = scores.masked_fill(~mask, -torch.inf)",
    ],
    solution="""
def attention(q, k, v, mask=None):
    # (…, n_q, d_k), (…, n_k, d_k), (…, n_k, d_v) -> tensor (…, n_q, d_v)
    # mask: (n_q, n_k), or what fits to (…, n_q, n_k)
    scores = q @ k.transpose(-2, -1)  # (…, n_q, d_k) @ (…, d_k, n_k) -> (…, n_q, n_k)
    scores = scores / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v  # (…, n_q, n_k) @ (…, n_k, d_v) -> (…, n_q, d_v)
""",
)


class ForwardExercise(ModuleExercise):
    """A class that is handed out with its ``__init__``: only ``forward`` is to be written."""

    def _untouched(self, answer):
        return super()._untouched(answer) or is_stub(getattr(answer, "forward", None))


_READY = """
class MyAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):"""
_IN_FRONT = padding_mask([6, 3, 4], n=6).flip(-1)  # where to count real words is not enough

write_forward = ForwardExercise(
    "0.3 ★★ · 10 min · Write forward",
    axes=("sentence", "word", "feature"),
    cases=lambda: [
        batch((6, 1), label="with one head, without a mask"),
        batch((12, 3), n=4, label="with three heads, without a mask"),
        batch((8, 2), causal_mask(5), label="with a mask"),
        batch((12, 4), _IN_FRONT, n=6, label="with a mask for each sentence, (b, 1, 1, n)"),
        batch((8, 2), b=1, label="with one sentence"),
        batch((1, 1), n=1, b=1, label="with one word, and d_model = 1"),
    ],
    task="""
    `__init__` is ready. Write `forward` with your functions `split`, `attention` and `merge`: project x
    three times, cut each into heads, attend, put the heads side by side, and mix them.
    """,
    stub=f"""{_READY}
        # (b, n, d_model) -> (b, n, d_model); mask: (n, n), or what fits to (b, h, n, n)
        ...
""",
    page_code=f"""{write_attention.solution_code}


def split(table, num_heads):
    return table.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def merge(heads):
    return heads.transpose(-3, -2).flatten(-2)
""",
    mistakes=changes("""
        self.num_heads) => 2)
        You cut into two heads, whatever num_heads is.
        self.num_heads) => 3)
        You cut into three heads, whatever num_heads is.
        self.w_o(merge(heads)) => merge(self.w_o(heads))
        A layer gets one head, d_k numbers, not d_model: do you project before the cut, and join before W_O?
        self.w_o(merge(heads)) => self.w_o(heads)
        W_O is handed the heads one by one: what puts them side by side first?
    """),
    praise="You have written multi-head attention; every line of it is a step that you can name.",
    hints=[
        "q = split(self.w_q(x), self.num_heads), likewise for k and v: (b, n, d_model) -> (b, h, n, d_k).",
        "Then one call for all heads: heads = attention(q, k, v, mask).",
        "merge(heads) is (b, n, d_model) again; the fourth layer, self.w_o, mixes what the heads found.",
    ],
    solution=f"""{_READY}
        q = split(self.w_q(x), self.num_heads)  # (b, n, d_model) -> (b, h, n, d_k)
        k = split(self.w_k(x), self.num_heads)
        v = split(self.w_v(x), self.num_heads)
        heads = attention(q, k, v, mask)  # -> (b, h, n, d_v)
        return self.w_o(merge(heads))  # (b, h, n, d_v) -> (b, n, d_model)
""",
)
