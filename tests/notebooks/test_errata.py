"""Every judged claim of the five articles has its exhibit, and it shows the right numbers, computed here once more.

A row of ``CLAIMS``: the article (S0 to S4, as deeper/12_printed_numbers calls them), words of the claim that the
exhibit tells, its title, there or on page 12, and what it must show besides. Nothing where it is judged in words.
"""

import functools
import math
import re

import pytest
import torch

from mha_helpers import fixed_matrix, golden_example
from tools.notebook import ROOT
from tools.page import Page

S1_X = torch.tensor([[1.0, 0], [0, 1], [0, 0]])
S1_W = torch.tensor([[[1.0, 0], [0, 0]], [[0, 0], [0, 1]], [[1, 0], [0, 1]]])
S2_ROWS = [[0.3, 0.2, 0.1, 0.4], [0.2, 0.5, 0.2, 0.1], [0.1, 0.3, 0.4, 0.2], [0.2, 0.1, 0.3, 0.4]]
S4_X = torch.tensor([[1, 0.5, -1, 2], [-0.5, 1, 0.3, -2]])
S4_Q1 = torch.tensor([[0.1, 0.4], [-0.2, 0.3], [1.0, -0.5], [0.5, 0.2]])
S4_Q2 = torch.tensor([[-0.3, 0.2], [1.1, 0.6], [-0.4, 0.8], [0.7, -0.1]])
S4_O = torch.tensor(
    [[0.5, -0.2, 1.1, 0.3], [0.1, 0.8, -0.4, 0.6], [-0.3, 0.7, 0.2, 1.0], [0.9, -0.5, 0.3, -0.8]]
)


def row(numbers, digits=3):
    return " ".join(f"{round(float(number), digits) + 0.0:.{digits}f}" for number in numbers)


def softmax(scores):
    raised = [math.exp(score) for score in scores]
    return [number / sum(raised) for number in raised]


def s1_weights(head):
    projected = S1_X @ S1_W[head]
    return [softmax(scores) for scores in (projected @ projected.T / math.sqrt(2)).tolist()]


def s1_eats(head):
    return f"head {head + 1}, eats → cat, eats, fish: {row(s1_weights(head)[1])}"


def sharpest():
    """The row of “eats”: here each single head is sharper than one big head."""
    example = golden_example()
    q, k = (example.x @ example.w_q)[1].split(2), (example.x @ example.w_k).split(2, dim=-1)
    scores = torch.stack([query @ keys.T for query, keys in zip(q, k, strict=True)])
    each = [max(softmax(head)) for head in (scores / math.sqrt(2)).tolist()]
    big = max(softmax((scores.sum(dim=0) / math.sqrt(6)).tolist()))
    assert big < min(each)
    return [f"{row(each, 2)}, one big head {big:.2f}"]


def responses():
    raw = fixed_matrix("queries", 1000, 512) @ fixed_matrix("keys", 16, 512).T
    bare, scaled = (1 - (raw * factor).softmax(-1).square().sum(-1).mean() for factor in (1, 512**-0.5))
    assert scaled / 512**0.5 < bare < scaled  # at the raw scores there is more without the scale
    return f"no scale {bare:.2f} {bare:.2f}", f"{scaled:.2f} {scaled / 512**0.5:.2f}"


def variances():
    """Of dot products where the numbers have mean 0, and where they have mean 1: about 128 and 3 · 128."""
    q, k = fixed_matrix("queries", 1000, 128), fixed_matrix("keys", 1000, 128)
    centred, raised = (((q + mean) * (k + mean)).sum(dim=-1).var() for mean in (0, 1))
    assert abs(centred / 128 - 1) < 0.1 and abs(raised / (3 * 128) - 1) < 0.1
    return f"d_key = 128: {centred:.0f}; √128 = {math.sqrt(128):.1f}", f"added to every number: {raised:.0f}"


def angles_of_fresh_heads():
    """Between the columns of head 1 and of each other head, by the eigenvalues of their projections' product."""
    torch.manual_seed(0)
    heads = torch.nn.MultiheadAttention(512, 8).in_proj_weight[:512].detach().double().view(8, 64, 512)
    onto = [head.T @ torch.linalg.inv(head @ head.T) @ head for head in heads]  # (d_model, d_model)
    squares = [torch.linalg.eigvals(onto[0] @ other).real.sort().values[-64:] for other in onto[1:]]
    angles = torch.stack(squares).clamp(0, 1).sqrt().acos().rad2deg()
    return f"smallest {angles.min():.0f}°, on average {angles.mean():.0f}°"


def with_w_o():
    """S4's W_O after the concatenation, and left of a column, as it stands and transposed."""
    concat = fixed_matrix("two heads", 4, 2).view(2, 2, 2).transpose(0, 1).reshape(2, 4)[0]
    after, left = concat @ S4_O, S4_O @ concat
    return [f"concatenated {row(concat, 2)}", f"concatenated · W_O {row(after, 2)}", f"W_O · column {row(left, 2)}",
            f"W_Oᵀ · column {row(after, 2)}", f"added {row(after, 2)}"]  # fmt: skip


def shapes(heads):
    return f"(4, {heads}, 16, {512 // heads}) (4, 16, 512) √d_k = {math.sqrt(512 / heads):.1f}"


S1_OUTPUTS = [torch.tensor(s1_weights(head)) @ S1_X @ S1_W[head] for head in range(3)]
SHARES = softmax([0, 6 / math.sqrt(2), 0, 0, 0, 0])
NAMES, PRICE, CLASSES, FORMULAS = (
    "Three heads with fine names",
    "The price of heads",
    "Two classes",
    "One name, two formulas",
)
ADVANTAGES, LARGER, SMOOTH = "Four advantages", "Does softmax make the large larger?", "A smooth row"
CLAIMS = [
    ("S0", "PRIMARY KEY", "SELECT and PRIMARY KEY", ["first “the”: 3", row(SHARES)]),
    ("S0", "softmax saturates, gradients become small", "Gradients shrink. Whose?", responses()),
    ("S0", "the bare concatenation MultiHead", FORMULAS, with_w_o()),
    ("S0", "transpose(1, 2)", CLASSES, ["output (32, 100, 512) weights (32, 8, 100, 100) from PyTorch: 0.000"]),
    ("S1", "head 1 finds who acts", NAMES, [s1_eats(0), "query of eats: 0.0 0.0"]),
    ("S1", "head 2 joins action and object", NAMES, [s1_eats(1)]),
    ("S1", "head 3 joins neighbours", NAMES, [s1_eats(2), f"cat → cat, eats, fish: {row(s1_weights(2)[0])}"]),
    ("S1", "[1, 0, 0] as the scaled scores", NAMES, [row([1 / math.sqrt(2), 0, 0])]),
    ("S1", "[[1, 0], [0, 0], [0, 0]]", NAMES, [row(S1_OUTPUTS[0][:, 0]), f"without softmax and scale: {row([1, 0, 0])}"]),
    ("S1", "written with indices, is right", NAMES, []),
    ("S1", "heads can learn different relations", ADVANTAGES, []),
    ("S1", "he writes code with a computer", ADVANTAGES, []),
    ("S1", "at a complexity that stays manageable", ADVANTAGES, []),
    ("S1", "too concentrated or too dispersed", ADVANTAGES, sharpest()),
    ("S1", "implicit regulariser", ADVANTAGES, []),
    ("S2", "large values become larger, small ones smaller", LARGER, [row([0.32 / 0.36, 0.04 / 0.36], 2), row([*softmax([3.2, 0.4]), 0], 2)]),
    ("S2", "[0.52, 0.48, 0, …]", LARGER, [row([*softmax([0.32, 0.04]), 0], 2), row(softmax([0.32, 0.24]), 2)]),
    ("S2", "[0.61173, 0.38827]", LARGER, []),
    ("S2", "softmax([100, 1, 2])", SMOOTH, [row(softmax([100, 1, 2]), 2)]),
    ("S2", "queries and keys of variance 1", SMOOTH, variances()),
    ("S2", "softmax([1.0, 0.1, 0.2]), as [0.4, 0.3, 0.3]", SMOOTH, [row(softmax([1, 0.1, 0.2]), 2)]),
    ("S2", "a row of Q with a *column* of K", "A row times a column", ["128 numbers meet 4"]),
    ("S2", "four sentences of 16 tokens", "512 or 128?", ["bytes of 沈: e6 b2 88"]),
    ("S2", "10.9.1 ends with [4, 16, 128]", "512 or 128?", [shapes(1), shapes(4)]),
    ("S2", "the output *replaces* the embedding", "Replaced, or added?", []),
    ("S2", "for the decoder only", "A mask only in the decoder?", []),
    ("S2", "[batch, 1, seq]", "A mask only in the decoder?", []),
    ("S2", "the attention matrix before the mask", "Four rows that add up to one", [row(map(sum, S2_ROWS)), row(softmax(S2_ROWS[3])), row(S2_ROWS[3])]),
    ("S3", "left of its heads in step 4", FORMULAS, []),
    ("S3", "Q is projected in step 1, and projected again below", FORMULAS, []),
    ("S3", "straight into a Transformer", CLASSES, []),
    ("S3", "permute(0, 2, 1, 3)", CLASSES, ["output (4, 10, 512) energy (4, 8, 10, 10) from PyTorch: 0.000"]),
    ("S4", "[[0.85, −0.05], [−0.29, 0.74]]", "One dot product on paper", ["0 of 8", *(row(query, 2) for query in S4_X @ S4_Q1)]),
    ("S4", "[[2.15, 0.65], [−1.32, 1.02]]", "One dot product on paper", [row(query, 2) for query in S4_X @ S4_Q2]),
    ("S4", "a non-linear combination, f of the sum", FORMULAS, []),
    ("S4", "O(n² d_model) for both", PRICE, [f"{4 * 512 / (4 * 512 + 2 * 100):.0%}", "50%"]),
    ("S4", "3 d_model² parameters for both", PRICE, [f"{h} heads: W_Q, W_K, W_V {3 * 512**2:,}, and W_O {512**2:,}" for h in (1, 8)]),
    ("S4", "low parallelism for a single head", PRICE, ["any order: True"]),
    ("S4", "LayerNorm(X + MultiHead(X))", "Replaced, or added?", []),
    ("S4", "h orthogonal subspaces", "At right angles?", ["head 1 and 2: 0° 0°", "head 1 and 3: 90° 90°", angles_of_fresh_heads()]),
    ("S4", "heads learn independently", PRICE, []),
]  # fmt: skip


def plain(text):
    return re.sub(r"\s+", " ", text.replace("−", "-"))


@functools.cache
def exhibits():
    """Each exhibit of the two pages by its title: its words, opened by the heading of its section, and its outputs."""
    texts = {}
    for name in ("12_bugs_in_print", "deeper/12_printed_numbers"):
        for section, cells in Page(ROOT / "notebooks" / f"{name}.ipynb").sections.items():
            words = None
            for cell in cells:
                title = re.search(r"^### \d+ · (.+)", cell.source, re.MULTILINE)
                if title:
                    words, printed = texts.setdefault(title.group(1), ([section], []))
                if words and cell.cell_type == "markdown":
                    words.append(cell.source)
                for output in cell.get("outputs", []) if words else []:
                    printed.append(output.get("text") or output["data"]["text/plain"])
    return {title: tuple(plain("\n".join(part)) for part in parts) for title, parts in texts.items()}


@pytest.mark.parametrize(
    ("source", "claim", "title", "right"), CLAIMS, ids=[f"{row[0]} {row[1]}" for row in CLAIMS]
)
def test_a_published_claim_has_its_exhibit_and_the_right_numbers(source, claim, title, right):
    words, printed = exhibits()[title]
    assert source in words and plain(claim) in words
    for numbers in right:
        assert plain(numbers) in printed, f"“{title}” does not show {numbers}"


def test_tokens_stay_apart_only_where_the_output_is_added():
    shown = re.findall(r"replaced ([\d.]+), added ([\d.]+)", exhibits()["Replaced, or added?"][1])
    assert len(shown) == 3
    assert all(float(replaced) < 0.25 and float(added) > 0.8 for replaced, added in shown)
    assert float(shown[1][0]) == 0


def test_padding_is_read_where_no_mask_hides_it():
    rows = re.findall(
        r"without a mask (.*?), with one ([-\d. ]+)", exhibits()["A mask only in the decoder?"][1]
    )
    assert rows[0][0] != rows[1][0] and rows[0][1].strip() == rows[1][1].split("padding")[0].strip()


def test_the_other_exhibits_of_page_12_come_from_public_threads():
    thread = re.compile(r"\[([\w.-]+/[\w.-]+) #(\d+)\]\(https://github\.com/\1/(?:issues|pull)/\2\)")
    told = {title for _, _, title, _ in CLAIMS}
    untold = {title: words for title, (words, _) in exhibits().items() if title not in told}
    assert len(untold) == 16 and all(thread.search(words) for words in untold.values())
