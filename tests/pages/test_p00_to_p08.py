"""The explorers of pages 00 to 08: their numbers are those of plain torch, a click does what it says, and so do its words."""

import itertools
import math
import re

import pytest
import torch

from mha_course.p04_scaling.explorer import QUERIES_AND_KEYS
from mha_course.p05_causal_mask.explorer import MASK, MASKS
from mha_helpers import causal_mask, golden_example, hand_made_heads, sentence_vectors
from tests.pages.drawings import explorers
from tools.notebook import ROOT
from tools.page import Page


def explorer(name, clicks=(), **values):
    """A Panel with these values, on whose cells was clicked one after the other."""
    panel = explorers()[f"{name}_explorer"]()
    panel.set(**values)
    for cell in clicks:
        panel.click(*cell)
    return panel


def hand_made(sentence, d_k, heads=4):
    """The queries and keys, (h, n, d_k), of heads made by hand."""
    _, x = sentence_vectors(sentence)
    w_q, w_k, _, _ = hand_made_heads(heads, d_k)
    return x @ w_q, x @ w_k


def golden(head):
    """Query, key and value of "cat eats fish" in one head, (n, 2), by the names of the matrices."""
    example = golden_example()
    columns = slice(2 * head, 2 * head + 2)
    matrices = {"query": example.w_q, "key": example.w_k, "value": example.w_v}
    return {name: example.x @ matrix[:, columns] for name, matrix in matrices.items()}


def test_p00_weights_are_those_of_plain_softmax():
    state = explorer("attention", heads=6, d_k=7, mask="causal").state()
    q, k = hand_made(state["sentence"], 7, heads=6)
    scores = (q @ k.mT / math.sqrt(7)).masked_fill(~causal_mask(len(state["tokens"])), -torch.inf)
    torch.testing.assert_close(state["weights"], scores.softmax(dim=-1))
    torch.testing.assert_close(state["heads"], state["weights"] @ state["v"])


def test_p00_frame_is_on_the_strongest_cell_and_of_some_alike_on_the_nearest():
    state = explorer("attention").state()
    head, row, column = state["chosen"]
    assert column == state["weights"][head, row].argmax()
    assert explorer("attention", d_k=1).state()["chosen"] == (0, 3, 2)  # of five words alike still “cat”


@pytest.mark.parametrize(("matrix", "head"), [*itertools.product(("query", "key", "value"), range(3))])
def test_p02_result_is_x_times_the_columns_of_the_head(matrix, head):
    result = explorer("projection", matrix=matrix, head=head).state()["result"]
    assert torch.equal(result, golden(head)[matrix])


@pytest.mark.parametrize(("head", "d_k"), [*itertools.product(range(4), (1, 5, 16))])
def test_p03_scores_are_queries_times_keys_and_the_products_add_up_to_one_of_them(head, d_k):
    sentence = "a dog saw a bird"
    panel = explorer("scores", sentence=sentence, head=head, d_k=d_k, query=3, key=2)
    state, shown = panel.state(), panel.state()["products"].mul(100).round()
    q, k = hand_made(sentence, d_k)
    torch.testing.assert_close(state["scores"], q[head] @ k[head].T)
    torch.testing.assert_close(state["products"].sum(), state["scores"][3, 2])
    counts = f"Above zero are {(shown > 0).sum()} of the {d_k} products, below zero {(shown < 0).sum()};"
    assert counts in panel.description(), "what is shown as 0.00 is neither"


def test_p03_page_says_how_far_the_best_score_leads():
    text = Page(ROOT / "notebooks" / "03_qk_scores.ipynb").text
    said = r"leads by ([\d.]+) at (2), by ([\d.]+) at (16); .* from ([\d.]+) at (5) to ([\d.]+) at (6)"
    numbers = re.search(said, text).groups()
    for lead, d_k in zip(numbers[::2], numbers[1::2], strict=True):
        first, second = explorer("scores", d_k=int(d_k)).state()["scores"][2].topk(2).values
        assert f"{first - second:.1f}" == lead, d_k


@pytest.mark.parametrize(("scale", "root"), [("none", math.sqrt), ("÷ √d_k", lambda d_k: 1)])
@pytest.mark.parametrize("d_k", [4, 64, 512])
def test_p04_spread_follows_the_root_of_d_k_and_the_end_bars_say_what_they_hold(scale, root, d_k):
    panel = explorer("scaling", d_k=d_k, scale=scale)
    q, k = QUERIES_AND_KEYS[..., :d_k]
    scores = q @ k.mT * root(d_k) / math.sqrt(d_k)
    torch.testing.assert_close(panel.state()["weights"], scores.softmax(dim=-1))
    assert float(panel.state()["spread"]) == pytest.approx(root(d_k), rel=0.05)
    beyond = (scores.abs() > 60).float().mean()
    assert (f"{beyond:.0%} lie beyond ±60" if beyond else "to one key") in panel.description()
    assert ("beyond" in panel.description()) == bool(beyond)


@pytest.mark.parametrize("name", MASKS)
def test_p05_weights_are_those_of_a_plain_softmax(name):
    state = explorer("mask", mask=name, head=1).state()
    q, k = hand_made(state["sentence"], 16)
    scores = (q[1] @ k[1].T / 4).masked_fill(~state["mask"], -torch.inf)
    torch.testing.assert_close(state["weights"], scores.softmax(dim=-1))


def test_p05_padding_takes_columns_and_the_causal_mask_what_is_later():
    masks = {"padding": [[1, 1, 0]] * 3, "causal and padding": [[1, 0, 0], [1, 1, 0], [1, 1, 0]]}
    for name, mask in masks.items():
        assert explorer("mask", sentence="cat eats [pad]", mask=name).state()["mask"].int().tolist() == mask


def test_p05_click_and_the_box_allow_or_forbid_one_cell():
    panel = explorer("mask")
    before = panel.state()["mask"]
    for clicks in (1, 2, 3):
        panel.click(MASK, 2, 6)
        assert (panel.state()["mask"] != before).sum() == clicks % 2
        assert panel.controls["mask"].value == "your own"
    panel.controls["allowed"].value = False
    panel.click(0, 4, 1)  # the weights: a click there chooses
    assert torch.equal(panel.state()["mask"], before)


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize(("head", "query"), [(0, 1), (1, 2), (2, 0)])
def test_p06_weights_are_those_of_torch(head, query, shift):
    changes = {"cat": -1.5, "every": 50, "temperature": 2, "hide": "fish"}
    state = explorer("softmax", head=head, query=query, shift=shift, **changes).state()
    scores = golden(head)["query"][query] @ golden(head)["key"].T / math.sqrt(2)
    scores = (scores + torch.tensor([48.5, 50.0, -torch.inf])) / 2
    torch.testing.assert_close(state["weights"], scores.softmax(dim=-1))


@pytest.mark.parametrize(("every", "not_a_number"), [(50, []), (86, [0]), (90, [0, 1, 2])])
def test_p06_only_the_shifted_softmax_survives_a_large_constant(every, not_a_number):
    """The values that page 06 names: it says that at 50 no weight moves, at 86 “cat” is NaN, at 90 all are."""
    right, panel = explorer("softmax").state()["weights"], explorer("softmax", every=every)
    weights = panel.state()["weights"]
    assert weights.isnan().nonzero().flatten().tolist() == not_a_number
    if not_a_number:
        assert "NaN" in panel.description() and (weights.nan_to_num() == 0).all()
        panel.set(shift=True)
    torch.testing.assert_close(panel.state()["weights"], right, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("head", "query"), [(0, 1), (1, 2), (2, 0)])
def test_p07_output_is_that_of_plain_torch(head, query):
    state = explorer("values", head=head, query=query, temperature=0.5).state()
    q, k, v = golden(head).values()
    expected = torch.softmax(q @ k.T / math.sqrt(2) / 0.5, dim=-1) @ v
    torch.testing.assert_close(state["output"], expected[query])
    torch.testing.assert_close(state["pieces"].sum(dim=0), expected[query])


@pytest.mark.parametrize(("n", "h", "d_k"), [*itertools.product((1, 2, 4), (1, 2, 4), (1, 3))])
def test_p08_each_number_goes_where_slices_put_it_and_the_wrong_way_where_a_bare_view_does(n, h, d_k):
    panel = explorer("splitting", tokens=n, heads=h, d_k=d_k)
    state, q = panel.state(), torch.arange(n * h * d_k).view(n, h * d_k)
    assert torch.equal(state["right"], torch.stack(q.split(d_k, dim=-1)))
    assert torch.equal(state["wrong"].flatten(), q.flatten()) and state["wrong"].shape == (h, n, d_k)
    assert ("no test can tell" in panel.description()) == (n == 1 or h == 1)


FEW = {"tokens": 4, "heads": 2, "d_k": 1}
SEEN = [  # after which clicks, at which values; of the state what follows; what is said
    ("projection", [(0, 2, 5)], {}, {"token": 2, "feature": 5}, ""),  # in x
    ("projection", [(1, 0, 1)], {}, {"feature": 0, "column": 1}, ""),  # in W
    ("projection", [(2, 0, 0)], {}, {"token": 0, "column": 0}, ""),  # in the result
    ("mask", [(2, 4, 1)], {}, {"query": 4, "key": 1, "name": "causal"}, ""),
    ("softmax", [(0, 1, 0)], {}, {"hide": "cat"}, ""),
    ("softmax", [(0, 1, 0)] * 2, {}, {"hide": "nobody"}, ""),
    ("splitting", [(1, 2, 3)], {}, {"follow": ("token", 2)}, ""),
    ("splitting", [(1, 2, 3)] * 2, {}, {"follow": ("head", 1)}, ""),
    ("splitting", [], {"follow": ("head", 1), "heads": 1}, {"follow": ("head", 0)}, ""),  # head 2 is gone
    ("softmax", [], {"query": 2, "every": 86, "cat": 1.25}, {}, "their sum is too large"),  # no power is
    ("softmax", [], {"head": 2, "query": 0}, {}, "“cat” has as much weight as any other, 0.333."),
    ("splitting", [], FEW | {"follow": ("head", 0)}, {}, "head 1 is filled with numbers of tokens 1 and 2"),
    ("splitting", [], FEW | {"follow": ("token", 1)}, {}, "its numbers are in head 1 only"),
]


@pytest.mark.parametrize(("name", "clicks", "values", "follows", "words"), SEEN)
def test_a_click_chooses_what_was_hit_and_what_is_seen_is_told(name, clicks, values, follows, words):
    panel = explorer(name, clicks, **values)
    assert all(f'data-cell="{",".join(map(str, cell))}"' in panel.svg() for cell in clicks)
    assert follows.items() <= panel.state().items()
    assert words in panel.description()
