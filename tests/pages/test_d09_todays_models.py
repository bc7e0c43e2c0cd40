"""The turning pair of deeper/09_todays_models: its numbers by complex multiplication, its marks by them."""

import cmath
import re

import pytest
import torch

from mha_course.d09_todays_models import rotary_explorer
from mha_course.models import load_language_model
from mha_helpers.style import number
from tests.pages.svg_reader import SeenDrawing, drawn, px
from tools.notebook import ROOT
from tools.page import Page

QUERY, KEY = 2 - 1j, 2 + 0j  # as complex numbers
SETTINGS = [
    {"pair": 1, "query": 1, "key": 0, "base": 10_000},
    {"pair": 3, "query": 2, "key": 11, "base": 10},
    {"pair": 8, "query": 11, "key": 0, "base": 1_000_000},
]
every_setting = pytest.mark.parametrize("setting", SETTINGS, ids=str)


def turned(vector, pair, position, base):
    return vector * cmath.exp(1j * position * base ** (-2 * (pair - 1) / 16))


def score(pair, query, key, base):
    return (turned(QUERY, pair, query, base) * turned(KEY, pair, key, base).conjugate()).real


@every_setting
def test_a_pair_is_turned_by_its_position_and_scores_are_products(setting):
    pair, query, key, base = setting.values()
    _, state = drawn("rotary_explorer", **setting)
    expected = turned(QUERY, pair, query, base)
    torch.testing.assert_close(state["q"][query].tolist(), [expected.real, expected.imag], atol=1e-5, rtol=0)
    assert state["product"] == pytest.approx(score(**setting), abs=1e-5)
    panel = rotary_explorer()
    panel.set(shown="all 8 pairs, added", **setting)
    for i, j in ((query, key), (0, 0), (7, 4), (3, 11)):
        assert state["scores"][i, j].item() == pytest.approx(score(pair, i, j, base), abs=1e-5)
        added = sum(score(each, i, j, base) for each in range(1, 9))
        panel.set(query=i, key=j)
        assert panel.state()["scores"][i, j].item() == pytest.approx(added, abs=1e-4)
        assert f"together give {number(added)}, and 32 if none turns." in repr(panel)


@every_setting
@pytest.mark.parametrize("shown", ["this pair", "all 8 pairs, added"])
def test_arrows_end_where_the_pair_was_turned_and_the_dot_lies_at_their_score(setting, shown):
    pairs = range(1, 9) if shown.startswith("all") else [setting["pair"]]
    mean = sum(score(**setting | {"pair": pair}) for pair in pairs) / len(pairs)
    picture, _ = drawn("rotary_explorer", shown=shown, **setting)
    pair, *at, base = setting.values()
    arrows = [turned(each, pair, position, base) for each, position in zip((QUERY, KEY), at, strict=True)]
    ends = [px(line, "x2", "y2") for line in picture.shapes("line", **{"stroke-width": "4"})]
    assert ends == [pytest.approx([132 + 46 * end.real, 176 - 46 * end.imag], abs=0.1) for end in arrows]
    [(dot, _)] = picture.hits("circle", "apart")
    place = [410 + 10 * (setting["query"] - setting["key"]), 176 - 96 * mean / abs(QUERY * KEY)]
    assert px(dot, "cx", "cy") == pytest.approx(place, abs=0.1)


def test_the_heatmap_is_that_of_the_scores_and_a_click_moves_both_words():
    panel = rotary_explorer()
    panel.click(0, 9, 5)
    state, [heatmap] = panel.state(), SeenDrawing(panel.svg()).heatmaps
    assert (state["query"], state["key"]) == (9, 5)
    assert heatmap.cells[9, 5].said == f"9 → 5: {state['product']:.2f}".replace("-", "−")


def test_the_class_of_the_page_gives_the_loss_of_the_language_model():
    pytest.importorskip("gguf")
    page = Page(ROOT / "notebooks" / "deeper" / "09_todays_models.ipynb")
    [code] = [cell.source for cell in page.code if "STORY =" in cell.source]
    story = re.search('STORY = """(.*?)"""', code, re.DOTALL)
    [shown] = [output.text for cell, output in page.outputs() if "held still" in output.get("text", "")]
    assert f"held still:  0 pairs from  0, loss {load_language_model().loss(story[1]):.2f}\n" in shown
