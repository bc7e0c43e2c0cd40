"""The line-up of page 12: its experiments tell the suspects apart, so that exercise 12.6 has one answer."""

import pytest

from mha_helpers.exercises import e12_bugs_in_print
from mha_helpers.explorers import bugs_explorer
from mha_helpers.explorers.e12_bugs import EXPERIMENTS, SUSPECTS

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


def test_the_exercise_asks_for_these_suspects():
    line_up = next(
        value for value in vars(e12_bugs_in_print).values() if getattr(value, "number", "") == "12.6"
    )
    assert line_up.right == SUSPECTS
