"""The exercises of the page on other libraries: the keyhole, five black boxes, the matrix of the queries."""

from functools import partial

import torch
from torch.nn.functional import pad, scaled_dot_product_attention

from mha_course.exercises import FunctionExercise, ValueExercise, case, changes, numbers
from mha_course.exercises.relations import counted


def _attend(q, k, v, **options):
    """Take four axes only, as code with einsum or bmm does, by the names of the task."""
    if k.dim() != 4 or v.shape[:3] != k.shape[:3]:
        raise ValueError(f"v is {tuple(v.shape)}, and (b, h, n_k, d_v) is needed for k {tuple(k.shape)}")
    return scaled_dot_product_attention(q, k, v, **options)


def _with_a_sink(q, k, v):
    """A key of zeros without a value takes part of each weight, and the first query sees no other."""
    allowed = torch.ones(q.shape[-2], k.shape[-2] + 1).bool()
    allowed[0, :-1] = False
    k, v = (pad(each, (0, 0, 0, 1)) for each in (k, v))
    return scaled_dot_product_attention(q, k, v, attn_mask=allowed)


_causal, _unscaled = partial(_attend, is_causal=True), partial(_attend, scale=1.0)
_ASK, _ANSWER = numbers(1, 2, 3, 4), numbers(1, 2, 5, 4, seed=1)

keyhole = FunctionExercise(
    "D9.4 ★★ · 4 min · Look through the keyhole",
    axes=("sentence", "head", "word that asks", "word that answers"),
    cases=lambda: [
        case(_attend, _ASK, _ANSWER, label="three words ask five"),
        case(_causal, numbers(2, 3, 4, 6), numbers(2, 3, 7, 6, seed=2), label="with a causal mask inside"),
        case(_unscaled, numbers(1, 1, 2, 3), numbers(1, 1, 2, 3, seed=3), label="with another scale inside"),
        case(_with_a_sink, _ASK, _ANSWER, label="with rows that do not add up to 1"),
        case(_attend, numbers(1, 1, 1, 1), numbers(1, 1, 1, 1, seed=1), label="one word asks one"),
    ],
    task="""
    You cannot open `attend(q, k, v)`. It takes queries (b, h, n_q, d_k), keys (b, h, n_k, d_k), values
    (b, h, n_k, d_v) of any width d_v, and returns (b, h, n_q, d_v). Return the weights (b, h, n_q, n_k).
    """,
    mistakes=changes("""
        torch.eye(n_k) => torch.ones(n_k, n_k)
        Each output is what its row of weights adds up to: do your values tell one key from another?
        attend(q, k, values) => attend(0 * q, k, values) => attend(q, 0 * k, values)
        Equal scores give every key the same: whose scores are asked about?
        return attend(q, k, values) => return attend(q, k, k)
        You hand over the keys as values: which values let you read the weights off an output?
        attend(q, k, values) => attend(k, q, values) => attend(k, q, torch.eye(q.shape[2]).repeat(b, h, 1, 1))
        Your keys ask, and your queries answer: whose rows should the weights have?
        attend(q, k, values) => attend(q, q, values)
        The queries ask and answer: where are the keys?
        torch.eye(n_k).expand(b, h, n_k, n_k) => torch.eye(k.shape[-1]).expand(b, h, -1, -1)
        Your unit vectors are as many as a key has features: who needs one of their own?
        torch.eye(n_k).expand => torch.ones(n_k, n_k).tril().expand
        Your numbers are sums of several weights: in how many features is each of your values 1?
        return attend(q, k, values) => w = attend(q, k, values); return w / w.sum(dim=-1, keepdim=True)
        Each of your rows adds up to 1: must the weights of this attention do so?
        return attend(q, k, values) => return torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, dim=-1)
        These are the weights by the formula: does this attention keep to it?
    """),
    praise="With the unit vectors as values, the output is the weights, whatever is inside.",
    hints=[
        "An output is a sum of values, each times its weight. Which values let you read the weights off it?",
        "Give key 1 the value (1, 0, 0, …), key 2 the value (0, 1, 0, …): one feature for each key.",
        "torch.eye(n_k) has them as rows; expand it to (b, h, n_k, n_k).",
    ],
    solution="""
def my_weights(attend, q, k):
    # -> (b, h, n_q, n_k)
    b, h, n_k = k.shape[:3]
    values = torch.eye(n_k).expand(b, h, n_k, n_k)  # key j: the unit vector j
    return attend(q, k, values)
""",
)

five_boxes = ValueExercise(
    "D9.5 ★★ · 8 min · Five black boxes",
    task="""
    Five functions, each like a library: `boxes()["A"](q, k, v, mask=None, causal=False)`, with bool masks
    (n_q, n_k).

    - A: a True in the mask makes a key `"allowed"` or `"hidden"`
    - B: a row without a key becomes `"zeros"` `"nan"` `"mean"` or `"unmasked"`
    - C: causal, 2 queries, 5 keys: the first sees `"one"` key or `"four"`
    - D: mask and causal flag: `"both"` hold, or only `"mask"` or the `"flag"`
    - E: 4 query heads, 2 key heads: the second query head reads the `"first"` or the `"second"`
    """,
    mistakes=[
        ({"A": "allowed"}, "Box A: hand it a mask with one True among five: how many keys are seen?"),
        ({"B": "unmasked"}, "Box B: with equal scores the mean looks like no mask. Are yours unequal?"),
        ({"B": "zeros"}, "Box B: are your values 0 on average? With unit vectors the output is the weights."),
        ({"B": "nan"}, "Box B: its row without a key holds numbers. Was anything you handed over NaN?"),
        ({"C": "one"}, "Box C: with as many queries as keys both corners agree. Did you ask with 2 and 5?"),
        ({"D": "both"}, "Box D: does your mask hide a key that the flag leaves? Only such a key tells."),
        ({"D": "mask"}, "Box D: look at a key that comes later than its query. Does the mask hide it, too?"),
        ({"E": "first"}, "Box E: are the values of both key heads equal? Give head j the number j."),
    ],
    praise="A does as torch's layer, B as keras on jax, C as mlx, D as openvino, E as x-transformers.",
    hints=[
        "Queries of zeros and values torch.eye(n_k) let you read the weights of every box.",
        "For B the scores must differ: take random queries and keys, and compare with no mask.",
        "For E make all values of key head j the number j: what comes out names the head that was read.",
    ],
    solution="""
my_findings = {"A": "hidden", "B": "mean", "C": "four", "D": "flag", "E": "second"}
""",
)


def _stored(origin, heads, d_k):
    d_model = heads * d_k
    sizes = {
        "torch": (d_model, d_model), "in_proj": (3 * d_model, d_model), "keras": (d_model, heads, d_k),
        "paddle": (d_model, d_model), "conv1d": (d_model, 3 * d_model), "per head": (3 * d_model, d_model),
    }  # fmt: skip
    label = f"from “{origin}”, with {counted(heads, 'head')}"
    return case(numbers(*sizes[origin]), origin, heads, label=label)


carry = FunctionExercise(
    "D9.6 ★★★ · 8 min · Carry W_Q across",
    axes=("row", "column"),
    cases=lambda: [
        _stored(origin, heads, d_k)
        for heads, d_k in ((2, 3), (4, 2), (1, 1))
        for origin in ("torch", "in_proj", "keras", "paddle", "conv1d", "per head")
    ],
    task="""
    Six files hold the matrix of the queries in six ways. Return it as (d_model, h·d_k),
    so that `x @ w_q` gives the queries, head 1 first. Here d_model = h·d_k; `origin` says where `stored` is
    from:

    | origin | shape of stored | what is in it |
    |---|---|---|
    | `"torch"` | (h·d_k, d_model) | an `nn.Linear` |
    | `"in_proj"` | (3·d_model, d_model) | q, k, v above each other, as `nn.MultiheadAttention` |
    | `"keras"` | (d_model, h, d_k) | keras and flax |
    | `"paddle"` | (d_model, h·d_k) | paddle and haiku |
    | `"conv1d"` | (d_model, 3·d_model) | q, k, v side by side, as GPT-2 |
    | `"per head"` | (h·3·d_k, d_model) | for each head its q, k, v above each other, as GPT-NeoX |
    """,
    mistakes=changes("""
        stored.chunk(3)[0] => stored.chunk(3)[1] => stored.chunk(3)[2]
        You take another third: in what order are q, k and v stored?
        stored.chunk(3)[0] => stored[::3]
        You take every third row of “in_proj”: how do the rows of q lie, side by side or apart?
        stored.chunk(3, dim=-1)[0] => stored[:, ::3]
        You take every third column of “conv1d”: how do the columns of q lie, side by side or apart?
        (num_heads, 3, -1))[:, 0] => (num_heads, 3, -1))[:, 1] => (num_heads, 3, -1))[:, 2]
        From “per head” you take keys or values: what comes first for each head?
        stored.flatten(1) => stored.transpose(1, 2).flatten(1)
        The features of your heads take turns: is head 1 to come first, whole?
        stored.chunk(3, dim=-1)[0] => stored.chunk(3, dim=-1)[1] => stored.chunk(3, dim=-1)[2]
        You take another third of the columns: in what order are q, k and v stored?
        (num_heads, 3, -1))[:, 0] => (3, num_heads, -1))[0]
        You cut “per head” into thirds, as “in_proj”: which rows belong to head 2?
    """),
    praise="Six files, one matrix. No shape would have told “in_proj” from “per head”: compare an output.",
    hints=[
        "nn.Linear stores (out, in) and computes x @ weight.T.",
        "In “per head”, cut the rows into (h, 3, d_k) and take q of each head.",
        "flatten(1) puts the heads of “keras” side by side.",
    ],
    solution="""
def my_w_q(stored, origin, num_heads):
    # -> (d_model, h·d_k)
    if origin == "torch":
        return stored.T
    if origin == "in_proj":
        return stored.chunk(3)[0].T
    if origin == "keras":
        return stored.flatten(1)
    if origin == "paddle":
        return stored
    if origin == "conv1d":
        return stored.chunk(3, dim=-1)[0]
    by_head = stored.unflatten(0, (num_heads, 3, -1))[:, 0]  # (h, d_k, d_model)
    return by_head.flatten(0, 1).T
""",
)
