"""The page on other libraries: its explorer shows what is stored, and the black boxes do what libraries do."""

import pytest
import torch

from mha_course.d09_other_libraries import boxes, libraries_explorer, libraries_table
from mha_course.d09_other_libraries.boxes import BEHAVIOUR
from mha_course.d09_other_libraries.explorer import MET, title_of
from mha_course.d09_other_libraries.measured import REFUSALS, measured
from mha_helpers import probe
from mha_helpers.probing import QUESTIONS


@pytest.fixture(scope="module")
def panel():
    return libraries_explorer()


def test_two_callables_are_shown_as_they_were_measured(panel):
    panel.set(situation="empty row", left="F.scaled_dot_product_attention", right="mlx.nn.MultiHeadAttention")
    zeros, mean = panel.state()["weights"]
    assert torch.equal(zeros[1], torch.zeros(5)) and torch.allclose(mean[1], torch.full((5,), 0.2))
    assert "Left: zeros. Right: the mean." in panel.description()
    assert panel.svg().count('data-cell="1,1,') >= 5
    answers = [measured()[panel.state()[side]]["answers"] for side in ("left", "right")]
    assert panel.state()["part"] == [name for name in QUESTIONS if answers[0][name][0] != answers[1][name][0]]


def test_titles_that_are_cut_still_tell_callables_apart():
    titles = [title_of(name) for name in measured()]
    assert len(set(titles)) == len(titles) and max(map(len, titles)) <= 46


def test_a_click_leads_through_the_situations_in_which_two_part(panel):
    own = "nn.MultiheadAttention, no weights"
    panel.set(situation="softmax, bfloat16", left=own, right="transformers, sdpa")
    part, seen = panel.state()["part"], []
    for _ in part:
        panel.click(0, 0, 0)
        seen.append(panel.state()["situation"])
    assert seen == part and len(part) > 3
    panel.click(0, 0, 0)
    assert panel.state()["situation"] == part[0]
    # Both refuse to take a mask and the flag, in different words: where would one click then?
    both = {"left": "F.scaled_dot_product_attention, math", "right": "mlx.nn.MultiHeadAttention"}
    panel.set(situation="more keys", **both)
    assert "mask and flag" in panel.state()["part"]
    panel.click(0, 0, 0)
    assert panel.state()["situation"] == "shared heads"
    panel.set(left=own, right=own)
    assert panel.state()["part"] == [] and "Both: " in panel.description()


def test_a_refusal_is_drawn_in_the_librarys_words(panel):
    panel.set(situation="integer mask", left="F.scaled_dot_product_attention", right="flex_attention")
    assert panel.state()["weights"][0] is None and "Refused: RuntimeError: Expected attn_mask" in panel.svg()
    assert set(MET) == set(QUESTIONS)


@pytest.mark.parametrize("box", BEHAVIOUR)
def test_a_black_box_answers_as_its_library_was_measured_to(box):
    """In the five questions of the exercise, as far as the library could be asked."""
    stored, said = measured()[BEHAVIOUR[box][0]]["answers"], probe(boxes()[box])
    asked = ["bool mask", "empty row", "more keys", "mask and flag", "shared heads"]
    compared = [name for name in asked if stored[name][0] not in REFUSALS]
    assert len(compared) >= 3
    assert {name: said[name]["answer"] for name in compared} == {name: stored[name][0] for name in compared}


@pytest.mark.parametrize("box", BEHAVIOUR)
def test_a_black_box_takes_one_text_without_a_batch_and_no_table_without_heads(box):
    attend, (q, k, v) = boxes()[box], (torch.randn(heads, n, 8) for heads, n in ((4, 2), (2, 5), (2, 5)))
    batch = attend(q[None], k[None], v[None], causal=True)
    assert torch.allclose(attend(q, k, v, causal=True), batch[0])
    with pytest.raises(ValueError, match="an axis of heads"):
        attend(q, k, torch.eye(5))


def test_the_table_names_what_it_does_not_have():
    assert len(libraries_table(["bool mask"]).text.splitlines()) == len(measured()) + 1
    assert "something else" in libraries_table(["more keys"], ["microsoft.MultiHead"]).text  # numbers
    for asked in ((["bool masks"],), (["bool mask"], ["pytorch"])):
        with pytest.raises(ValueError, match=f"there is no .*{asked[-1][0]}.*; the questions are bool mask"):
            libraries_table(*asked)
