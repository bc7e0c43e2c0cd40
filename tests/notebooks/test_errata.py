"""Page 12: every published claim has its exhibit, and the exhibit shows the right numbers, computed here once more.

A row of ``CLAIMS``: source (S0 to S4, as page 12 calls them), words of the claim that the exhibit quotes, the
exhibit's title, and what it must show besides. Nothing where a claim is judged in words.
"""

import functools
import math
import re

import pytest
import torch
from page import ROOT, Page

from mha_helpers import MultiHeadAttention, fixed_matrix, golden_example, tokenize

S1_X = torch.tensor([[1.0, 0], [0, 1], [0, 0]])
S1_W = torch.tensor([[[1.0, 0], [0, 0]], [[0, 0], [0, 1]], [[1, 0], [0, 1]]])
S2_ROWS = [[0.3, 0.2, 0.1, 0.4], [0.2, 0.5, 0.2, 0.1], [0.1, 0.3, 0.4, 0.2], [0.2, 0.1, 0.3, 0.4]]
S2_LONGEST = "2002年的第一场雪比2001年来得更"
S4_X = torch.tensor([[1, 0.5, -1, 2], [-0.5, 1, 0.3, -2]])
S4_Q1 = torch.tensor([[0.1, 0.4], [-0.2, 0.3], [1.0, -0.5], [0.5, 0.2]])
S4_Q2 = torch.tensor([[-0.3, 0.2], [1.1, 0.6], [-0.4, 0.8], [0.7, -0.1]])


def row(numbers, digits=3):
    return " ".join(f"{round(float(number), digits) + 0.0:.{digits}f}" for number in numbers)


def softmax(scores):
    raised = [math.exp(score) for score in scores]
    return [number / sum(raised) for number in raised]


def s1_weights(head):
    projected = S1_X @ S1_W[head]
    return [softmax(scores) for scores in (projected @ projected.T / math.sqrt(2)).tolist()]


def s1_eats(head):
    cat, eats, fish = s1_weights(head)[1]
    return f"eats → cat {cat:.3f}, eats {eats:.3f}, fish {fish:.3f}"


def weights_kept_apart():
    """The row of “eats”: single heads are sharper than one big head here, their mean is not."""
    example = golden_example()
    q, k = (example.x @ example.w_q)[1].split(2), (example.x @ example.w_k).split(2, dim=-1)
    scores = torch.stack([one @ other.T for one, other in zip(q, k, strict=True)])
    each = torch.tensor([softmax(one) for one in scores / math.sqrt(2)])
    mean, big = each.mean(dim=0).max(), max(softmax(scores.sum(dim=0) / math.sqrt(6)))
    assert mean < big < each.max()
    return row(each.amax(dim=-1), 2), f"mean of the heads {mean:.2f}, one big head {big:.2f}"


def responses():
    raw = fixed_matrix("queries", 1000, 512) @ fixed_matrix("keys", 16, 512).T
    bare, scaled = (1 - (raw * factor).softmax(-1).square().sum(-1).mean() for factor in (1, 512**-0.5))
    assert scaled / 512**0.5 < bare < scaled  # at the raw scores there is more without the scale
    return f"no scale {bare:.2f} {bare:.2f}", f"{scaled:.2f} {scaled / 512**0.5:.2f}"


def parameters(heads, bias):
    return f"{heads} heads {sum(p.numel() for p in MultiHeadAttention(512, heads, bias).parameters()):,}"


S1_OUTPUTS = [torch.tensor(s1_weights(head)) @ S1_X @ S1_W[head] for head in range(3)]
GRADIENTS, SHARES = (
    "the variance grows, softmax saturates, gradients shrink",
    softmax([0, 6 / math.sqrt(2), 0, 0, 0, 0]),
)
NAMES, APART, RESULTS = (
    "Three heads with fine names",
    "Two rows that do not belong together",
    "Three printed results",
)
SIZES, PROMISES, WORKED = (
    "Sizes that do not fit",
    "Four promises of many heads",
    "A worked example without an end",
)
PRICE, CLASSES = "The price of heads", "Two classes, one verdict"
CLAIMS = [
    ("S0", "PRIMARY KEY", "SELECT and PRIMARY KEY", ["first “the”: 3", row(SHARES)]),
    ("S0", GRADIENTS, "Gradients shrink. Whose?", responses()),
    ("S0", "−1e9", "How low is never?", ["RuntimeError", row([1 / 3] * 3)]),
    ("S0", "transpose(1, 2)", CLASSES, ["weights (32, 8, 100, 100)", "from PyTorch: 0.000"]),
    ("S1", "finds who acts", NAMES, [s1_eats(0), "query of eats in head 1: [0.0, 0.0]"]),
    ("S1", "links action and object", NAMES, [s1_eats(1)]),
    ("S1", "looks at neighbours", NAMES, [s1_eats(2), "eats → eats 0.503, cat 0.248, fish 0.248"]),
    ("S1", "after ÷√d_k", APART, [row([1 / math.sqrt(2), 0, 0])]),
    ("S1", "[[1, 0], [0, 0], [0, 0]]", RESULTS, [row(S1_OUTPUTS[0][:, 0])]),
    ("S1", "head_i[6]", SIZES, [row(torch.cat([head[0] for head in S1_OUTPUTS])), "concat (3, 6)"]),
    ("S1", "d_model = 6", SIZES, ["x (3, 2)"]),
    ("S1", "specialise", PROMISES, []),
    ("S1", "more capacity at the same cost", PROMISES, []),
    ("S1", "less concentrated", PROMISES, weights_kept_apart()),
    ("S1", "implicit regulariser", PROMISES, []),
    ("S2", "16 tokens each", "Four sentences of sixteen", [f"{len(tokenize(S2_LONGEST))} tokens: {S2_LONGEST}"]),
    ("S2", "softmax([1.0, 0.1, 0.2]) ≈ [0.4, 0.3, 0.3]", APART, [row(softmax([1, 0.1, 0.2]), 2)]),
    ("S2", "[1.0, 0.1, 0.2] is the scaled [100, 1, 2]", APART, [row([s / math.sqrt(128) for s in (100, 1, 2)], 2)]),
    ("S2", "[0.52, 0.48, 0]", RESULTS, [row([*softmax([0.32, 0.04]), 0], 2)]),
    ("S2", "[0.61173, 0.38827]", RESULTS, [f"{math.log(0.61173) - math.log(0.38827):.2f}", f"{0.32 - 0.04:.2f}"]),
    ("S2", "(b, 1, n) or (b, n, n)", "Four sentences, four heads, no error", [row([8 / 16, 8 / 16, 4 / 12, 0], 2)]),
    ("S2", "[4, 16, 512]", SIZES, [f"one head {(4, 16, 512 // 4)}"]),
    ("S2", "this matrix as its scores", "Four rows that add up to one", [row(map(sum, S2_ROWS)), row(softmax(S2_ROWS[3])), row(S2_ROWS[3])]),
    ("S3", "permute(0, 2, 1, 3)", CLASSES, ["energy (4, 8, 10, 10)", "from PyTorch: 0.000"]),
    ("S4", "[[0.85, −0.05], [−0.29, 0.74]]", WORKED, ["0 of 8", *(row(one, 2) for one in S4_X @ S4_Q1)]),
    ("S4", "[[2.15, 0.65], [−1.32, 1.02]]", WORKED, [row(one, 2) for one in S4_X @ S4_Q2]),
    ("S4", "O(n² · d_model)", PRICE, [f"{4 * 512 / (4 * 512 + 2 * 100):.0%}"]),
    ("S4", "many heads cost the same as one", PRICE, [f"{100 * 100:,} and {8 * 100 * 100:,}"]),
    ("S4", "3 · d_model² parameters", PRICE, [parameters(8, False), parameters(8, True), f"512² = {4 * 512**2:,}"]),
    ("S4", "low parallelism", PRICE, ["any order: True"]),
    ("S4", "LayerNorm(X + MultiHead(X))", PRICE, []),
    ("S4", "h orthogonal subspaces", "At right angles?", ["heads 1 and 2: 0°"]),
    ("S4", "f(Σ headᵢ Wᵢᴼ)", "Added, not stacked", []),
    ("S4", "(d_model, d_model)", "Added, not stacked", ["W_O (6, 4) -> output (3, 4)"]),
]  # fmt: skip


def plain(text):
    return re.sub(r"\s+", " ", text.replace("−", "-"))


@functools.cache
def exhibits():
    """Each exhibit by its title: its words, and what its cells print."""
    texts, title = {}, None
    for cell in Page(ROOT / "notebooks" / "12_bugs_in_print.ipynb").cells:
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            found = re.match(r"### \d+ · (.+)", cell.source)
            title = found and found.group(1)
        if title:
            words, printed = texts.setdefault(title, ([], []))
            if cell.cell_type == "markdown":
                words.append(cell.source)
            for output in cell.get("outputs", []):
                printed.append(output.get("text") or output["data"]["text/plain"])
    return {title: tuple("\n".join(part) for part in parts) for title, parts in texts.items()}


@pytest.mark.parametrize(
    ("source", "claim", "title", "right"), CLAIMS, ids=[f"{row[0]} {row[1]}" for row in CLAIMS]
)
def test_a_published_claim_has_its_exhibit_and_the_right_numbers(source, claim, title, right):
    words, printed = exhibits()[title]
    assert source in words and claim in words
    for numbers in right:
        assert plain(numbers) in plain(printed + words), f"“{title}” does not show {numbers}"


def test_at_least_eight_exhibits_come_from_public_threads():
    thread = re.compile(r"\[([\w.-]+/[\w.-]+) #(\d+)\]\(https://github\.com/\1/(?:issues|pull)/\2\)")
    assert sum(bool(thread.search(words)) for words, _ in exhibits().values()) >= 8
