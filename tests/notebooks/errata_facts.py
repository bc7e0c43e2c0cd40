"""What is true where the README's errata say that a source is wrong: each number computed again.

A fact returns the numbers of its row's "what is true", in the order of the text (None: it has none); what the
row says without a number is asserted. A number stands for what rounds to it as printed; an `int` must be
equal. The words given with a fact must stand in the stored output of the cells that the row points at.
`test_errata.py` compares.
"""

import math

import pytest
import torch

from mha_helpers import MultiHeadAttention, golden_example, scaled_dot_product_attention, tokenize

FACTS = {}  # (source, what it says) -> (the function that computes the numbers, words its place must show)

S1_X = torch.tensor([[1.0, 0], [0, 1], [0, 0]])
S1_PROJECTIONS = torch.tensor([[[1.0, 0], [0, 0]], [[0, 0], [0, 1]], [[1, 0], [0, 1]]])
S4_X = torch.tensor([[1, 0.5, -1, 2], [-0.5, 1, 0.3, -2]])
S4_Q1 = torch.tensor([[0.1, 0.4], [-0.2, 0.3], [1.0, -0.5], [0.5, 0.2]])
S4_Q2 = torch.tensor([[-0.3, 0.2], [1.1, 0.6], [-0.4, 0.8], [0.7, -0.1]])


def fact(source, says, *shown):
    """Keep the function as the fact of this row; `shown` are words in the stored output of its place."""
    return lambda compute: FACTS.setdefault((source, says), (compute, shown))


def numbers(tensor):
    return tensor.flatten().tolist()


def parameters(heads, bias):
    return sum(p.numel() for p in MultiHeadAttention(512, heads, bias=bias).parameters())


def s1_heads():
    """Head outputs (h, n, d_v) and weights (h, n, n) of the example of S1."""
    projected = S1_X @ S1_PROJECTIONS
    return scaled_dot_product_attention(projected, projected, projected)


@fact("S1", "head 1: scores after ÷√d_k [[1, 0, 0], [0, 0, 0], [0, 0, 0]]", "first scaled score: 0.707")
def _():
    q = S1_X @ S1_PROJECTIONS[0]
    assert (q @ q.T)[0].tolist() == [1, 0, 0]  # the printed scores are those before the division
    return [(q @ q.T / math.sqrt(2))[0, 0].item()]


@fact(
    "S1",
    "head 1: output [[1, 0], [0, 0], [0, 0]]",
    "cat   0.503  0.000\neats  0.333  0.000\nfish  0.333  0.000",
)
def _():
    return numbers(s1_heads()[0][0])


@fact(
    "S1",
    "concatenation of three heads indexed head_i[1] … head_i[6]",
    "cat   0.503  0.000  0.000  0.333  0.503  0.248",
)
def _():
    cat = s1_heads()[0][:, 0]  # (h, d_v)
    return [cat.shape[-1], cat.shape[-1], cat.numel(), *numbers(cat)]


@fact(
    "S1",
    "tokens of two numbers and projections (2, 2), beside n = 3 and d_model = 6",
    "concat (3, 6)",
    "head_1 (3, 2)",
)
def _():
    concat = torch.cat([*s1_heads()[0]], dim=-1)
    assert S1_PROJECTIONS[0].shape == (2, 2)
    return [S1_X.shape[-1], concat.shape[-1], *concat.shape]


@fact("S1", "head 1 finds who acts", "eats  0.333  0.333  0.333")
def _():
    weights = s1_heads()[1][0, 1]
    assert torch.allclose(weights, weights.mean())
    return [int(number) for number in S1_X[1] @ S1_PROJECTIONS[0]] + [weights[0].item()]


@fact("S1", "head 2 links action and object", "eats  0.248  0.503  0.248")
def _():
    cat, eats, fish = s1_heads()[1][1, 1].tolist()
    assert math.isclose(cat, fish, abs_tol=1e-6)
    return [eats, fish]


@fact("S1", "head 3 looks at neighbours", "eats  0.248  0.503  0.248")
def _():
    assert s1_heads()[1][2].argmax(dim=-1).tolist()[:2] == [0, 1]


@fact("S1", "heads are experts, they specialise", "w_q: twins get the same gradient: True")
def _():
    twins = golden_example().attention()
    with torch.no_grad():
        for layer in (twins.w_q, twins.w_k, twins.w_v):
            layer.weight[2:4] = layer.weight[0:2]
        twins.w_o.weight[:, 2:4] = twins.w_o.weight[:, 0:2]
    twins(golden_example().x)[0].square().sum().backward()
    gradient = twins.w_q.weight.grad
    assert torch.allclose(gradient[0:2], gradient[2:4], atol=1e-5) and gradient[0:2].abs().max() > 0


def directions(columns):
    example = golden_example()
    return int(torch.linalg.matrix_rank(example.w_q[:, columns] @ example.w_k[:, columns].T))


@fact("S1", "more capacity at the same cost", "head 1: 2 directions", "one big head: 5 directions")
def _():
    assert parameters(1, bias=True) == parameters(8, bias=True)
    assert all(directions(slice(2 * i, 2 * i + 2)) <= 2 for i in range(3)) and directions(slice(6)) > 2


@fact("S1", "attention is less concentrated", "mean of the three heads: largest weight 0.63", "one big head")
def _():
    example = golden_example()
    weights = example.attention()(example.x)[1][:, 1]  # the row of "eats": (h, n)
    q, k = example.x @ example.w_q, example.x @ example.w_k
    one_big = scaled_dot_product_attention(q, k, k)[1][1].max()
    assert weights.mean(dim=0).max() < one_big < weights.max()


@fact("S1", "an implicit regulariser")
def _():
    """Judged in words: there is nothing to compute."""


@fact("S2", "four sentences of 16 tokens each", "11 tokens\n12 tokens\n13 tokens\n12 tokens")
def _():
    sentences = [
        "小沈阳江西演唱会邀请了",
        "明星刀郎的歌火遍大江南北",
        "2002年的第一场雪比2001年来得更",
        "LLM张老师的粉丝全是正能量",
    ]
    return [*(len(tokenize(sentence)) for sentence in sentences), 16]


@fact("S2", "softmax([1.0, 0.1, 0.2]) ≈ [0.4, 0.3, 0.3]", "softmax([1.0, 0.1, 0.2]) = 0.54 0.22 0.24")
def _():
    return numbers(torch.tensor([1.0, 0.1, 0.2]).softmax(dim=0))


@fact(
    "S2",
    "[1.0, 0.1, 0.2] as the scaled [100, 1, 2] (d_k = 128)",
    "[100, 1, 2] ÷ √128 = 8.84 0.09 0.18\nsoftmax of that    = 1.00 0.00 0.00",
)
def _():
    scaled = torch.tensor([100.0, 1, 2]) / math.sqrt(128)
    assert scaled.softmax(dim=0).max() > 0.999
    return [128, *numbers(scaled)]


@fact("S2", "[0.32, 0.04, −∞] → [0.52, 0.48, 0]", "softmax([0.32, 0.04, −∞]) = 0.57 0.43 0.00")
def _():
    return numbers(torch.tensor([0.32, 0.04, -torch.inf]).softmax(dim=0))


@fact("S2", "a row [0.61173, 0.38827] beside the scores 0.32 and 0.04", "difference of the two scores: 0.45")
def _():
    return [math.log(0.61173 / 0.38827), 0.32 - 0.04]


@fact("S2", "masks (b, 1, n) and (b, n, n)", "last sentence, head 3: weight on padding 0.33")
def _():
    keys = torch.arange(16) < torch.tensor([16, 16, 12, 8])[:, None]  # (b, n)
    for mask in (keys[:, None], keys[:, None].expand(4, 16, 16)):
        right = mask[:, None].expand(4, 4, 16, 16)
        assert not torch.equal(mask.expand(4, 4, 16, 16), right)  # as many heads as sentences: it broadcasts
        with pytest.raises(RuntimeError):
            mask.expand(4, 8, 16, 16)


@fact(
    "S2", "the output of a single head is [4, 16, 512] (in one place)", "outputs of the heads (4, 4, 16, 128)"
)
def _():
    heads = MultiHeadAttention(512, 4).trace(torch.zeros(4, 16, 512)).heads  # (b, h, n, d_v)
    return [*heads[:, 0].shape, heads.shape[1] * heads.shape[-1], heads.shape[1]]


@fact(
    "S0",
    "the query is like SELECT, the key like PRIMARY KEY",
    "both words “the” have the same key: True\nkeys that get a share: 6 of 6",
)
def _():
    keys = torch.tensor([[0.0, 0], [3, 0], [0, 0], [0, 1], [0, 0], [0, 3]])  # the cat sat on the mat
    _, weights = scaled_dot_product_attention(torch.tensor([[2.0, 0]]), keys, keys)
    assert (weights > 0).all()
    return [sum(keys[i].equal(keys[0]) for i in (0, 4))]  # both words "the"


@fact(
    "S0",
    "“the variance grows, softmax saturates, gradients shrink”",
    "d_k = 512, no scale             0.07      0.07",
    "d_k = 512, ÷ √d_k               0.87      0.04",
)
def _():
    torch.manual_seed(0)
    raw_queries = torch.randn(1000, 512)
    raw = raw_queries @ torch.randn(16, 512).T
    weights = torch.stack([raw, raw / math.sqrt(512)]).softmax(dim=-1)
    through = (weights * (1 - weights)).sum(dim=-1)  # without the scale, with it: (2, 1000)
    bare, scaled = through.mean(dim=-1)
    arriving = scaled / math.sqrt(512)  # the chain rule
    assert arriving < bare < scaled
    assert (through[0] < 0.01).float().mean() > 0.5 and (through[1] > 0.01).all()  # shared unevenly
    return [raw_queries.shape[-1]]


@fact(
    "S0",
    "masked scores are filled with −1e9",
    "torch.float16 −1e9 RuntimeError",
    "weights, softmax of −1e9:   tensor([0.333, 0.333, 0.333])",
)
def _():
    nothing = torch.ones(3, dtype=torch.bool)
    assert len(set(torch.randn(3).masked_fill(nothing, -1e9).softmax(dim=-1).tolist())) == 1
    with pytest.raises(RuntimeError):
        torch.zeros(3, dtype=torch.float16).masked_fill(nothing, -1e9)
    return [torch.finfo(torch.float16).bits]


@fact("S4", "Q_1 = [[0.85, −0.05], [−0.29, 0.74]]", "0 of 4", "token 1   0.00   1.45\ntoken 2  −0.95  −0.45")
def _():
    return numbers(S4_X @ S4_Q1)


@fact("S4", "Q_2 = [[2.15, 0.65], [−1.32, 1.02]]", "0 of 8", " 2.05  −0.50\n−0.27   0.94")
def _():
    return numbers(S4_X @ S4_Q2)


@fact("S4", "the cost is O(n² d_model)", "91%")
def _():
    projections = 100 * parameters(8, bias=False)  # each weight is used once a token
    steps = MultiHeadAttention(512, 8).trace(torch.zeros(1, 100, 512))
    attending = steps.scores.numel() * 64 + steps.heads.numel() * 100
    return [projections // (100 * 512**2), 100 * projections / (projections + attending), 100, 512]


@fact(
    "S4",
    "many heads cost the same as one",
    "    8            640,000           5,120,000    115,097,600   True               80,000",
)
def _():
    kept = [MultiHeadAttention(64, h).trace(torch.zeros(1, 10, 64)).weights.numel() for h in (1, 8)]
    assert kept[1] == 8 * kept[0]


@fact("S4", "3 d_model² parameters", "4 · d_model² = 1,048,576   and 4 · d_model biases = 2,048")
def _():
    assert parameters(1, bias=True) == parameters(8, bias=True)
    plain, biased = parameters(8, bias=False), parameters(8, bias=True)
    return [plain // 512**2, (biased - plain) // 512]


@fact("S4", "a single head has low parallelism", "one head, its scores in any order:         True")
def _():
    q, k = golden_example().x @ golden_example().w_q, golden_example().x @ golden_example().w_k
    assert all((q @ k.T)[i, j] == q[i] @ k[j] for i in (2, 0, 1) for j in (1, 2, 0))


@fact("S4", "h orthogonal subspaces", "heads 1 and 2 of the example: 0°", "48° to 51°")
def _():
    def smallest_angle(first, second):
        between = torch.linalg.qr(first)[0].T @ torch.linalg.qr(second)[0]
        return math.degrees(math.acos(min(1.0, torch.linalg.svdvals(between).max().item())))

    torch.manual_seed(0)
    heads, d_model = 8, 512
    w_q = torch.nn.MultiheadAttention(d_model, heads).in_proj_weight[:d_model].detach().T  # (d_model, h·d_k)
    fresh = w_q.split(d_model // heads, dim=1)
    angles = {round(smallest_angle(fresh[0], other) / 10) * 10 for other in fresh[1:]}
    w_q = golden_example().w_q.double()
    return [2, round(smallest_angle(w_q[:, 0:2], w_q[:, 2:4])), *angles, heads, d_model]


@fact("S4", "output = f(Σ head_i W_i^O)", "concat, then W_O = sum over heads: True")
def _():
    heads, w_o = torch.randn(2, 2, 2), torch.randn(4, 4)  # (h, n, d_v), (h·d_v, d_model)
    output = heads.transpose(0, 1).reshape(2, 4) @ w_o
    assert torch.allclose(output, heads[0] @ w_o[:2] + heads[1] @ w_o[2:], atol=1e-5)


@fact("S4", "W^O is (d_model, d_model)", "W_O (4, 4): RuntimeError\nW_O (6, 4): output (2, 4)")
def _():
    concat = torch.zeros(2, 2 * 3)  # (n, h·d_v), d_model = 4
    assert (concat @ torch.zeros(6, 4)).shape == (2, 4)
    with pytest.raises(RuntimeError):
        concat @ torch.zeros(4, 4)
