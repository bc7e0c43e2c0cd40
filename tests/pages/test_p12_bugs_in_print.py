"""The line-up of page 12: its experiments tell the suspects apart, so that exercise 12.2 has one answer."""

import itertools
import re

import pytest

from mha_course.exercises.showing import CORRECT
from mha_course.p12_bugs_in_print import exercises
from mha_course.p12_bugs_in_print.explorer import EXPERIMENTS, SUSPECTS, tells_apart

# In which experiments a bug shows: as a number far from that of healthy heads, or where they have none.
GUILTY = {
    "healthy": set(),
    "mask": {"change the last word", "compare with PyTorch"},
    "softmax": {"change the last word", "let every word give 1", "compare with PyTorch"},
    "values": {"let every word give 1", "compare with PyTorch"},
    "heads": {"shuffle the words", "compare with PyTorch"},
    "scale": {"increase d_k", "compare with PyTorch"},
}


@pytest.mark.parametrize("bug", GUILTY)
def test_a_suspect_is_given_away_by_its_own_experiments_only(bug):
    shown = {experiment for experiment in EXPERIMENTS if tells_apart(experiment, "healthy", bug)}
    assert shown == GUILTY[bug]


def test_a_wrong_list_is_answered_by_an_experiment_that_speaks_against_it():
    for verdicts in itertools.permutations(SUSPECTS.values()):
        claims = dict(zip(SUSPECTS, verdicts, strict=True))
        verdict = exercises.line_up.verdict(claims)
        if claims == SUSPECTS:
            assert verdict.status == CORRECT
            continue
        said = re.fullmatch(r"Your list makes (\w) .*“(.*)” shows\?", verdict.sentence)
        suspect, experiment = said.groups()
        assert claims[suspect] != SUSPECTS[suspect]
        assert experiment in GUILTY[claims[suspect]] | GUILTY[SUSPECTS[suspect]]
