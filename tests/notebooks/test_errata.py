"""Every judged claim of the five articles has its exhibit, and it shows the right numbers; what PyTorch's layer
does is shown as the pages tell it.

A row of ``CLAIMS``: the article (S0 to S4, as deeper/12_printed_numbers calls them), words of the claim that the
exhibit tells, its title, there or on page 12, and what it must show besides. Nothing where it is judged in words.
The numbers were worked out apart from the pages.
"""

import functools
import re

import pytest

from tools.notebook import ROOT
from tools.page import Page

CLAIMS = [
    ("S0", "softmax saturates, gradients become small", "Gradients shrink. Whose?", ["no scale 0.07 0.07 0.0005", "0.87 0.04 0.0390", "more with the scale: 73%", "strongest tenth 63%"]),
    ("S1", "head 1 finds who acts", "Three heads with fine names", ["head 1, eats → cat, eats, fish: 0.333 0.333 0.333", "query of eats: 0.0 0.0"]),
    ("S1", "head 2 joins action and object", "Three heads with fine names", ["head 2, eats → cat, eats, fish: 0.248 0.503 0.248"]),
    ("S1", "head 3 joins neighbours", "Three heads with fine names", ["head 3, eats → cat, eats, fish: 0.248 0.503 0.248", "cat → cat, eats, fish: 0.503 0.248 0.248"]),
    ("S1", "[1, 0, 0] as the scaled scores", "Three heads with fine names", ["0.707 0.000 0.000"]),
    ("S1", "[[1, 0], [0, 0], [0, 0]]", "Three heads with fine names", ["0.503 0.333 0.333", "without softmax and scale: 1.000 0.000 0.000"]),
    ("S2", "large values become larger, small ones smaller", "Does softmax make the large larger?", ["0.89 0.11", "0.94 0.06 0.00"]),
    ("S2", "[0.52, 0.48, 0, …]", "Does softmax make the large larger?", ["0.57 0.43 0.00", "0.52 0.48"]),
    ("S2", "softmax([100, 1, 2])", "A smooth row", ["1.00 0.00 0.00"]),
    ("S2", "queries and keys of variance 1", "A smooth row", ["d_key = 128: 124; √128 = 11.3", "added to every number: 352"]),
    ("S2", "softmax([1.0, 0.1, 0.2]), as [0.4, 0.3, 0.3]", "A smooth row", ["0.54 0.22 0.24"]),
    ("S2", "the attention matrix before the mask", "Four rows that add up to one", ["1.000 1.000 1.000 1.000", "0.236 0.214 0.261 0.289", "0.200 0.100 0.300 0.400"]),
    ("S4", "[[0.85, −0.05], [−0.29, 0.74]]", "One dot product on paper", ["0 of 8", "0.00 1.45", "-0.95 -0.45"]),
    ("S4", "[[2.15, 0.65], [−1.32, 1.02]]", "One dot product on paper", ["2.05 -0.50", "-0.27 0.94"]),
    ("S4", "O(n² d_model) for both", "The price of heads", ["91%", "50%"]),
    ("S4", "3 d_model² parameters for both", "The price of heads", ["1 heads: W_Q, W_K, W_V 786,432, and W_O 262,144", "8 heads: W_Q, W_K, W_V 786,432, and W_O 262,144"]),
    ("S4", "low parallelism for a single head", "The price of heads", ["any order: True"]),
    ("S4", "h orthogonal subspaces", "At right angles?", ["head 1 and 2: 0° 0°", "head 1 and 3: 90° 90°", "fresh W_Q 448 angles, smallest 48°, mean 72°", "random numbers 448 angles, smallest 48°, mean 72°"]),
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


def test_the_other_exhibits_of_page_12_come_from_public_threads():
    thread = re.compile(r"\[([\w.-]+/[\w.-]+) #(\d+)\]\(https://github\.com/\1/(?:issues|pull)/\2\)")
    named = {title for _, _, title, _ in CLAIMS}
    untold = {title: words for title, (words, _) in exhibits().items() if title not in named}
    assert len(untold) == 16 and all(thread.search(words) for words in untold.values())


# A page, words of its one cell that asks `nn.MultiheadAttention` (nbval asks it again), how often the cell prints
# NaN, and what it prints besides, in this order.
PYTORCH = [
    ("05_causal_mask", "def train(", 2, ["in step 200: 3.3", "in step 1: 3.3, in step 2: nan, in step 200: nan", "in step 200: 0.0"]),
    ("05_causal_mask", 'print(f"attn_mask={name}"', 3, ["attn_mask=mask", "[ nan, nan, nan]]", "attn_mask=~mask"]),
    ("05_causal_mask", "q_2, k_2 =", 3, ["1 layer: [False, False, True]", "2 layers: [True, True, True]", "1 layer: [False, False, False]", "2 layers: [False, False, False]"]),
    ("05_causal_mask", "in_front =", 3, ["layer: tensor([[ nan, nan, nan], [0"]),
    ("deeper/05_masks_in_pytorch", "empty, need_weights=False", 3, ["softmax of -∞: tensor([nan, nan, nan])", "need_weights=False, output: tensor([0., 0., 0., 0., 0., 0.])"]),
    ("12_bugs_in_print", "future =", 4, ["[1] [1, 2] [1, 2] [1, 2, 3]", "[1, 2, 3, 4] [2, 3, 4] [3, 4] [4]", "[ nan, nan, nan, nan]]"]),
    ("12_bugs_in_print", "nothing =", 0, ["move: [4], in PyTorch's layer: [4] ", "move: [1, 2, 3, 4], in PyTorch's layer: [1, 2, 3, 4]"]),
    ("12_bugs_in_print", 'masks = {"column"', 9, ["lost 0% column", "lost 0% row", "lost 0% row", "lost 100% the", "nan, nan, nan]]"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("page", "code", "nans", "right"), PYTORCH, ids=[f"{row[0]} {row[1]}" for row in PYTORCH]
)
def test_a_page_shows_what_it_tells_of_pytorchs_layer(page, code, nans, right):
    (cell,) = [cell for cell in Page(ROOT / "notebooks" / f"{page}.ipynb").code if code in cell.source]
    printed = plain("".join(output.get("text", "") for output in cell.outputs))
    assert re.search(".*".join(map(re.escape, right)), printed) and printed.count("nan") == nans, printed
