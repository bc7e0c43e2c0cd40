"""The scores explorer over its whole grid: products, scores and mask."""

import itertools
import math
import warnings

import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg

from mha_helpers import scores_explorer, style
from mha_helpers.explorers.e03_qk_scores import LONGEST_BAR, ScoresPicture


@pytest.fixture(scope="module")
def panel():
    return scores_explorer()


@pytest.mark.parametrize(
    "d_k, heads, mask", list(itertools.product([1, 3, 8], [1, 2, 3, 4], ["none", "causal"]))
)
def test_every_setting(panel, d_k, heads, mask):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        panel.set(d_k=d_k, heads=heads, mask=mask, head=1)
        panel.set(head=heads, query=4, key=1)
    state = panel.state()
    assert panel.message() == ""
    assert state["scores"].shape == (heads, 6, 6)
    for i, j in itertools.product(range(6), repeat=2):
        for head in range(heads):
            expected = torch.dot(state["q"][head, i], state["k"][head, j])
            torch.testing.assert_close(state["scores"][head, i, j], expected)
    torch.testing.assert_close(state["products"].sum(), state["scores"][heads - 1, 4, 1])
    assert state["products"].shape == (d_k,)
    seen = state["scores"] if mask == "none" else state["scores"][:, torch.ones(6, 6).tril() == 1]
    lowest, highest = style.number(seen.min()), style.number(seen.max())
    hidden = " Causal mask: in each head 15 of 36 cells masked." if mask == "causal" else ""
    assert panel.description().startswith(
        f"Scores of {heads} head{'' if heads == 1 else 's'}, 6 tokens, from {lowest} to {highest}.{hidden}"
        f" Head {heads}: “the” in row 5 asks, “cat” answers with score "
    )
    future = torch.ones(6, 6, dtype=torch.bool).triu(1)
    if mask == "causal":
        assert (state["masked"][:, future] == -math.inf).all()
        assert torch.equal(state["masked"][:, ~future], state["scores"][:, ~future])
    else:
        assert torch.equal(state["masked"], state["scores"])
    best = state["tokens"][int(state["masked"][heads - 1, 4].argmax())]
    assert f"The best fit in this row is “{best}”" in panel.description()


def test_more_features_and_heads_keep_what_was_there(panel):
    panel.set(d_k=3, heads=2, mask="none", head=1)
    small = panel.state()["q"]
    panel.set(d_k=8, heads=4)
    assert torch.equal(panel.state()["q"][:2, :, :3], small)


def test_a_masked_cell_is_said_to_be_masked(panel):
    panel.set(mask="causal", query=0, key=5)
    assert "This cell is masked." in panel.description()
    panel.set(mask="none")
    assert "masked" not in panel.description()


def test_each_control_changes_the_picture(panel):
    panel.set(d_k=4, heads=3, mask="none", head=1, query=2, key=5)
    changes = {"key": 1, "query": 3, "head": 2, "d_k": 5, "mask": "causal", "heads": 4}
    for name, value in changes.items():
        before = panel.png()
        panel.controls[name].value = value
        assert panel.png() != before, name


def test_a_sentence_of_ones_own():
    panel = scores_explorer(sentence="<script> $x$ 猫")
    assert panel.state()["scores"].shape == (3, 3, 3)
    assert panel.message() == ""


def test_one_word_is_enough():
    panel = scores_explorer(heads=1, sentence="cat")
    assert panel.state()["scores"].shape == (1, 1, 1)
    assert panel.description().startswith("Scores of 1 head, 1 token, from 0.39 to 0.39. Head 1: ")


def shown(sentence, **arguments):
    """Return the figure for a sentence, and what stands under the heatmaps."""
    state = scores_explorer(sentence=sentence, **arguments).state()
    picture = ScoresPicture()
    figure, artists = picture.draw(state)
    picture.update(artists, state)
    FigureCanvasAgg(figure).draw()
    return figure, artists["bars"]


@pytest.mark.parametrize("sentence", ["cat", "cat eats fish", "W" * 20])
def test_bars_and_sentence_fit_under_narrow_heatmaps(sentence):
    figure, (bars, _, words, text, axis) = shown(sentence, d_k=8, heads=1)
    assert text.get_window_extent().x1 <= figure.bbox.width
    for artist in (bars, words, axis):
        assert artist.get_window_extent().x1 <= figure.bbox.width


def test_a_dollar_sign_in_a_sentence_is_a_dollar_sign():
    _, (*_, text, _) = shown("$5 $6")
    assert "“$6” asks, “$6” answers" in text.get_text()


@pytest.mark.parametrize("head", [1, 2, 3])
def test_a_length_means_the_same_for_every_query_and_key_of_a_head(head):
    panel = scores_explorer()
    panel.set(head=head)
    picture = ScoresPicture()
    _, artists = picture.draw(panel.state())
    lengths, products = [], []
    for query, key in itertools.product(range(6), repeat=2):
        panel.set(query=query, key=key)
        picture.update(artists, panel.state())
        bars = [path.vertices for path in artists["bars"][0].get_paths()]
        lengths += [corners[0, 1] - corners[2, 1] for corners in bars]
        products += panel.state()["products"].tolist()
    most = max(map(abs, products))
    assert lengths == pytest.approx([LONGEST_BAR * product / most for product in products], abs=1e-3)
