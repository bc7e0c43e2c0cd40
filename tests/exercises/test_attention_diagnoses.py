"""The one list of diagnoses for 0.2, 0.3, 9.2, 9.3, D9.2, D9.3: each is said where it is true, and nowhere else.

Here answers are made of the list's own changes; what learners write, right and wrong, is in answers/.
"""

import itertools

import pytest
from torch import nn

from mha_course.d09_in_your_own_model.exercises import cross_attention
from mha_course.d09_todays_models.exercises import without_copies
from mha_course.exercises.running import same_outcome
from mha_course.exercises.showing import NOT_YET
from mha_course.p00_one_sitting.exercises import write_attention
from mha_course.p09_concat_and_output import diagnoses
from mha_course.p09_concat_and_output.exercises import the_class

assert len({str(change) for change, _ in diagnoses.MISTAKES}) == len(diagnoses.MISTAKES)
EXERCISES = {"0.2": write_attention, "9.2": the_class, "D9.2": without_copies, "D9.3": cross_attention}
DOES_NOT_SHOW = "correct. ", "The result is right", "returns None"
SIGHTS = "Your code writes +∞ into scores", "A hidden score becomes ", "−∞ is written into the weights"


def answer_doing(change, exercise):
    """Return an answer that does what the steps do with this change."""
    steps = diagnoses._steps(tuple(change.items()))
    if exercise.kind == "function":
        case = type("Case", (), {})()

        def function(*args):
            case.args = args
            return steps(**exercise._parts(case))[0]

        return function

    class MyAttention(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.num_heads = num_heads
            self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

        def forward(self, x, mask=None):
            layers = {name: getattr(self, name) for name in ("w_q", "w_k", "w_v", "w_o")}
            return exercise._returned(steps(x, x, mask, self.num_heads, **layers))

    return MyAttention


@pytest.mark.parametrize("number", EXERCISES)
def test_each_mistake_is_named_where_it_shows_and_never_by_a_sentence_on_another(number):
    exercise = EXERCISES[number]
    all_parts = [exercise._parts(case) for case in exercise.cases()]
    does = []
    for change, words in diagnoses.MISTAKES:
        does.append(([diagnoses.outcome_of(change, each) for each in all_parts], words))
    for (outcomes, _), (change, _) in zip(does, diagnoses.MISTAKES, strict=True):
        if not any(outcome.error for outcome in outcomes):
            verdict = "{0.status}. {0.sentence}".format(exercise.verdict(answer_doing(change, exercise)))
            said = [others for others, words in does if words in verdict]
            is_true = any(all(map(same_outcome, outcomes, others)) for others in said)
            is_seen = any(words in verdict for words in (*SIGHTS, *DOES_NOT_SHOW))
            assert is_true or is_seen, (change, verdict)


@pytest.mark.parametrize("number", ["0.2", "9.2"])
def test_of_two_mistakes_at_once_a_true_one_is_named(number):
    exercise, named = EXERCISES[number], []
    for one, other in itertools.islice(itertools.combinations(diagnoses.MISTAKES[18:], 2), 0, None, 113):
        change = {**one[0], **other[0]}
        pair = [both for both, *_ in diagnoses.pairs() if both == change]
        outcomes = [diagnoses.outcome_of(change, exercise._parts(case)) for case in exercise.cases()]
        if pair and not any(outcome.error for outcome in outcomes):
            verdict = exercise.verdict(answer_doing(change, exercise))
            has_one = one[1] in verdict.sentence or other[1] in verdict.sentence
            named.append(verdict.status == NOT_YET and has_one)
    assert len(named) > 10 and sum(named) > 0.7 * len(named), (sum(named), len(named))
