"""The line-up of page 12: its experiments tell the suspects apart, so that exercise 12.2 has one answer."""

import itertools
import re

import pytest

from mha_helpers.exercises.engine import CORRECT
from mha_helpers.pages.p12_bugs_in_print import bugs_explorer, exercises
from mha_helpers.pages.p12_bugs_in_print.explorer import EXPERIMENTS, SUSPECTS, attend, measure
from mha_helpers.sentence import fixed_matrix, sentence_vectors

# In which experiments a bug shows: as a number far from that of healthy heads, or where they have none.
GUILTY = {
    "healthy": set(),
    "mask": {"change the last word", "compare with PyTorch"},
    "softmax": {"change the last word", "let every word give 1", "compare with PyTorch"},
    "values": {"let every word give 1", "compare with PyTorch"},
    "heads": {"shuffle the words", "compare with PyTorch"},
    "scale": {"enlarge d_k", "compare with PyTorch"},
}


def shows(state):
    pairs = list(zip(state["healthy"], state["measured"], strict=True))
    if state["experiment"] == "change the last word":  # which outputs move, not how far
        return any((healthy == 0) != (measured == 0) for healthy, measured in pairs)
    return any(abs(healthy - measured) > 0.1 for healthy, measured in pairs)


@pytest.mark.parametrize("suspect", SUSPECTS)
def test_a_suspect_is_given_away_by_its_own_experiments_only(suspect):
    panel, found = bugs_explorer(), set()
    for experiment in EXPERIMENTS:
        panel.set(suspect=suspect, experiment=experiment)
        assert experiment == panel.state()["experiment"] and not panel.message()
        assert f"Suspect {suspect}: " in panel.description() and "<svg" in panel.svg()
        if shows(panel.state()):
            found.add(experiment)
    assert found == GUILTY[SUSPECTS[suspect]]


def test_after_a_shuffle_a_bar_carries_the_word_whose_output_it_is():
    labels, moved = measure("shuffle the words", "heads")
    tokens, x = sentence_vectors("the old cat eats fresh fish")
    order = [tokens.index(label) for label in labels]
    projections = [fixed_matrix(f"line-up {name}", 64, 16) / 8 for name in "qkv"]
    before, after = (attend(words, projections, bug="heads")[0] for words in (x, x[order]))
    assert moved == pytest.approx((before[order] - after).abs().amax(dim=-1).tolist(), abs=1e-4)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_healthy_bars_keep_their_length(experiment):
    panel, pictures = bugs_explorer(), set()
    for suspect in SUSPECTS:
        panel.set(suspect=suspect, experiment=experiment)
        pictures.add(panel.svg().split(">healthy heads<")[1].split(f">suspect {suspect}<")[0])
    assert len(pictures) == 1


def test_a_wrong_list_is_answered_by_an_experiment_that_speaks_against_it():
    for verdicts in itertools.permutations(SUSPECTS.values()):
        claims = dict(zip(SUSPECTS, verdicts, strict=True))
        verdict = exercises.line_up.verdict(claims)
        if claims == SUSPECTS:
            assert verdict.status == CORRECT
            continue
        suspect, experiment = re.fullmatch(
            r"Your list makes (\w) .*“(.*)” shows\?", verdict.sentence
        ).groups()
        assert claims[suspect] != SUSPECTS[suspect]
        assert experiment in GUILTY[claims[suspect]] | GUILTY[SUSPECTS[suspect]]


def test_a_list_with_a_hole_or_a_word_twice_says_nothing_about_the_others():
    for answer in (SUSPECTS | {"C": ...}, SUSPECTS | {"C": "mask"}, SUSPECTS | {"C": "good"}):
        sentence = exercises.line_up.verdict(answer).sentence
        assert "right" not in sentence and not re.search(r"\b[ABDEF]\b", sentence.replace("A has none", ""))
    capitals = exercises.line_up.verdict(SUSPECTS | {"A": "Mask", "B": "Values."}).sentence
    assert capitals.startswith("Your list makes A guilty in its mask")
