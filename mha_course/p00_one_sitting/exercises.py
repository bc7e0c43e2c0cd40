"""The exercises of the sitting: the learner writes `attention`, then `forward`."""

import torch

from mha_course.exercises import FunctionExercise, case, changes, is_stub, numbers
from mha_course.p09_concat_and_output.exercises import MASKS
from mha_course.p09_concat_and_output.judges import ModuleExercise, batch
from mha_helpers.masks import causal_mask, padding_mask

_SOME_KEYS = torch.tensor([[1, 0, 0, 1, 0], [0, 1, 1, 0, 1], [1, 1, 0, 0, 1]]).bool()
_ONE_HEAD_QKV = numbers(3, 4), numbers(5, 4, seed=1), numbers(5, 9, seed=2)


def _several_heads(*front):
    return numbers(*front, 3, 7, seed=3), numbers(*front, 5, 7, seed=4), numbers(*front, 5, 9, seed=5)


_HIDING = MASKS + changes("""
    ~mask => mask
    The mask is the wrong way round: does masked_fill write where it finds True, or where it finds False?
    .masked_fill(~mask, -torch.inf) => [:]
    weights @ v => (weights if mask is None else weights.masked_fill(~mask, -torch.inf)) @ v
    −∞ is written into the weights, after softmax: which numbers become 0 if −∞ is there before it?
    ~mask => ~torch.ones(scores.shape[-2:]).tril().bool()
    You hide later words, whatever mask you are handed: which keys does it name?
""")

_WITHOUT_A_MASK = changes("""
    ** 0.5 => ** 1 / 2
    ** 1 / 2 is a power of 1, then halved: where do brackets belong?
    q.shape[-1] ** 0.5 => 2 ** 0.5
    You divide by √2, which is √d_k only in the example: where does q say how many numbers a query has?
    scores, dim=-1) => scores * q.shape[-1] ** 0.5, dim=-1) / q.shape[-1] ** 0.5
    You divide weights by √d_k, not scores: what must each row of weights add up to?
    torch.softmax(scores, dim=-1) => torch.sigmoid(scores)
    Each weight is computed separately: what do the weights of a row add up to?
    ** 0.5 => ** 0.25
    You divide by the root of √d_k: how many roots do you take?
    (scores => (-scores
    The sign is flipped: which keys should get the most, those that fit or those that clash?
    k.transpose(-2, -1) => k.reshape(q.shape[-1], -1)
    reshape re-cuts the rows but swaps no axes: what does?
    torch.softmax(scores, dim=-1) => scores.exp() / scores.exp().sum()
    All weights together add up to 1: what must each row add up to?
    weights @ v => weights @ k
    You mix the keys: what does a query collect?
    weights @ v => v
    You return the values as they are: the weights are not used.
    scores, dim=-1 => scores + torch.full_like(scores, -torch.inf).triu(1), dim=-1
    Without a mask you hide words all the same: what does mask=None mean?
""")
_ROOTS = changes("""
    scores, dim=-1 => scores, dim=1
    With heads in front, axis 1 is the queries: counted from the end, which axis holds the keys?
    q.shape[-1] ** 0.5 => 2 => (q.shape[-1] / 2)
    You divide by 2 or by d_k / 2, which is √d_k only where d_k is 4: which power of d_k is its root?
""")

write_attention = FunctionExercise(
    "0.2 ★★ · 11 min · Write attention",
    axes=("query", "number"),
    without=("scaled_dot_product_attention", "attention_weights", "weighted_values"),
    cases=lambda: [
        case(*_ONE_HEAD_QKV, label="with one head, without a mask", mistakes=_WITHOUT_A_MASK),
        case(*_ONE_HEAD_QKV, _SOME_KEYS, label="with a mask", mistakes=_HIDING),
        case(*_several_heads(6), label="with six heads in front", mistakes=_ROOTS),
        case(*_several_heads(2, 6), padding_mask([3, 5], 5), label="with sentences and heads in front"),
    ],
    task="""
    Write the function from its five steps: score, divide, hide, softmax, mix. `mask` is True where a query
    may look, or None: ask `if mask is not None:`. Count axes from the end, −2 and −1, because axes for heads
    and sentences may come before them.
    """,
    stub="""
def attention(q, k, v, mask=None):
    # (…, n_q, d_k), (…, n_k, d_k), (…, n_k, d_v) -> (…, n_q, d_v)
    ...
""",
    mistakes=changes("""
        ** 0.5 => ** 0
        The weights are too sharp: one step between the scores and softmax is missing. Which?
        ** 0.5 => ** 1
        You divide by d_k: how does the spread of the scores grow with it?
        ** 0.5 => ** -0.5
        You multiply by √d_k: are the scores to grow, or to shrink?
        q.shape[-1] => v.shape[-1]
        You divide by √d_v: how many products does one score add up?
        q.shape[-1] => k.shape[-2] => q.shape[0] => q.shape[1]
        You divide by the root of a number of words: how many products does one score add up?
        torch.softmax(scores, dim=-1) => scores
        You mix with scores: which step turns each row of them into shares?
        scores, dim=-1 => scores, dim=-2
        The weights add up to 1 for each key: on which axis are the keys of one query?
        weights @ v => weights
        You return the weights: what do they mix?
        k.transpose(-2, -1) => k.T
        With heads in front, .T reverses all axes: which two should change places?
        k.transpose(-2, -1) => k.transpose(0, 1)
        With heads in front, axis 0 is the heads: counted from the end, which two axes should change places?
    """),
    praise="PyTorch's own function gives these numbers, for any number of heads.",
    hints=[
        "Five steps: multiply each query by each key; divide; hide; softmax over the keys; mix the values.",
        "k.transpose(-2, -1) swaps the last two axes, so that q @ it is (…, n_q, n_k).",
        "if mask is not None: scores = scores.masked_fill(~mask, -torch.inf)",
    ],
    solution="""
def attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)  # (…, n_q, d_k) @ (…, d_k, n_k) -> (…, n_q, n_k)
    scores = scores / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v  # (…, n_q, n_k) @ (…, n_k, d_v) -> (…, n_q, d_v)
""",
)

_ONE_HEAD = changes("""
    self.w_v(x) => self.w_q(x)
    You mix the queries: which layer makes the values?
    self.w_k(x) => self.w_v(x)
    The values answer the queries: which layer makes the keys?
    self.w_q(x) => x
    x itself asks: which layer makes the queries?
    self.w_k(x) => x
    The queries meet x itself: which layer makes the keys?
    self.w_v(x) => x
    You mix x itself: which layer makes the values?
    v = split(self.w_v(x), self.num_heads) => k = v = q
    One layer makes queries, keys and values: `__init__` has one for each.
    self.w_o(merge(heads)) => self.w_o(self.w_o(merge(heads)))
    W_O is used twice.
    self.w_o(merge(heads)) => self.w_o(x)
    W_O is handed x: what should it mix?
    split(self => split(x @ self
    (x), self.num => .weight, self.num
    `nn.Linear` keeps its matrix transposed and adds a bias: what does calling it, self.w_q(x), do for you?
    self.num_heads) => 3)
    You cut into three heads, whatever num_heads is.
    self.num_heads) => x.shape[-1])
    You cut into d_model heads of one number each: how many heads are asked for?
    attention(q, k, v => attention(q, v, k
    The values answer and the keys are mixed: in which order does `attention` take them?
    return self.w_o(merge(heads)) => return x + self.w_o(merge(heads))
    x is added to the output: that is the step after this class.
    v = split(self.w_v(x), self.num_heads) => q = k = v = split(x, self.num_heads)
    You cut x itself: which layers make queries, keys and values from it?
    self.num_heads) => x.shape[-1] // self.num_heads)
    You take num_heads for the width of a head: what does it count?
    attention(q, k, v => attention(q / q.shape[-1] ** 0.5, k, v
    You divide by √d_k, and `attention` does so once more.
    self.w_v(x) => self.w_o(self.w_v(x))
    W_O is used twice.
    v, mask) => v, torch.ones(x.shape[1], x.shape[1]).tril().bool())
    You hide later words, even without a mask: what does mask=None mean?
""")

_THREE_HEADS = changes("""
    self.w_o(merge(heads)) => self.w_o(heads.mean(dim=-3).repeat(1, 1, self.num_heads))
    You average the heads: what does merge do with them?
    merge(heads) => merge(heads.flip(-3))
    The heads are side by side, but the last one comes first.
    self.num_heads) => x.shape[-1] // self.num_heads).transpose(1, 3)
    Your heads take every num_heads-th feature: a head owns features that lie side by side.
""")

_WITH_A_MASK = changes("""
    attention(q, k, v, mask) => attention(q, k, v)
    Without a mask it is right; with one, words look where they may not. Who is handed the mask?
    attention(q, k, v, mask) => attention(q, k, v, None if mask is None else ~mask)
    You invert the mask: True means “may look” here, as in your own `attention`.
""")


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

write_forward = ForwardExercise(
    "0.3 ★★ · 10 min · Write forward",
    axes=("sentence", "word", "feature"),
    cases=lambda: [
        batch((6, 1), label="with one head, without a mask", mistakes=_ONE_HEAD),
        batch((12, 3), n=4, label="with three heads, without a mask", mistakes=_THREE_HEADS),
        batch((8, 2), causal_mask(5), label="with a mask", mistakes=_WITH_A_MASK),
        batch((12, 4), padding_mask([5, 3, 4], n=5), label="with a mask for each sentence, (b, 1, 1, n)"),
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
        return self.w_o(merge(heads)) => return merge(heads)
        The heads are side by side, but do they mix? One of the four layers does nothing yet.
        self.w_o(merge(heads)) => self.w_o(heads.reshape(x.shape))
        Each row of your concat holds numbers from several words: what does merge do before joining the heads?
        attention(q, k, v => attention(*(merge(each).reshape(each.shape) for each in (q, k, v))
        A reshape alone gives each head numbers from several words: what does split do after its cut?
        self.w_k(x) => self.w_q(x)
        The queries meet themselves: which layer makes the keys?
        self.w_v(x) => self.w_k(x)
        You mix the keys: which layer makes the values?
        self.w_o(merge(heads)) => merge(heads) @ self.w_o.weight + self.w_o.bias
        `nn.Linear` keeps its matrix transposed: does x @ weight need a .T?
        attention(q, k, v => attention(k, q, v
        The keys ask and the queries answer: in which order does `attention` take them?
        split(self => split(x @ self
        (x), self.num => .weight.T, self.num
        The biases are missing: what does calling the layer, self.w_q(x), add to the product?
        self.w_q(x), self.num => x @ self.w_q.weight + self.w_q.bias, self.num
        self.w_k(x), self.num => x @ self.w_k.weight + self.w_k.bias, self.num
        self.w_v(x), self.num => x @ self.w_v.weight + self.w_v.bias, self.num
        `nn.Linear` keeps its matrix transposed, so x @ weight needs a .T: what does self.w_q(x) do for you?
        attention(q, k, v => attention(*map(merge, (q, k, v))
        merge(heads) => heads
        With one head it is right; with three, one head does it all: which function cuts q, k and v?
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
