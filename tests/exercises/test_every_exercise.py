"""Every exercise of every page takes its right answers, names its mistakes and refuses nonsense."""

import re

import pytest
import torch
from torch import nn

from mha_course.exercises import FunctionExercise, ValueExercise
from mha_course.exercises.showing import CORRECT, NOT_ATTEMPTED, NOT_YET
from tests import kept
from tests.entries import entries
from tests.exercises import verdicts

EXERCISES = verdicts.all_exercises()
every_exercise = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)

NONSENSE = [[], {}, "abc", -12345.678, float("nan"), torch.zeros(2, 3), torch.zeros(0), object(), int]
NONSENSE += [nn.Linear(2, 2), lambda: None, lambda *everything: torch.zeros(2, 2)]
NONSENSE += [lambda *everything: 1 / 0, lambda first, *others: first]


@every_exercise
def test_the_solution_is_right_and_the_stub_not_attempted(exercise):
    assert exercise.verdict(exercise.made_by(exercise.solution_code)).status == CORRECT
    assert exercise.verdict(exercise.made_by(exercise.stub)).status == NOT_ATTEMPTED
    assert exercise.verdict().status == NOT_ATTEMPTED


@every_exercise
def test_there_are_right_answers_written_otherwise_and_wrong_ones(exercise):
    answers = [entry for file in verdicts.files() for entry in entries(file).items()]
    said = [words for name, words in answers if name.split()[0] == exercise.number]
    assert {CORRECT, NOT_YET} <= {words.split(".")[0] for words in said}


@pytest.mark.parametrize("file", verdicts.files(), ids=lambda file: file.stem)
def test_a_check_says_of_an_answer_what_it_said(file):
    said, text = kept.differences(verdicts, file)
    assert not said, "\n".join([*map(": ".join, said.items()), "Meant? Then read it: python -m tests.kept"])
    assert text == file.read_text(encoding="utf-8")


def as_an_answer(wrong, right):
    """Fill a mistake up: a dict with the right entries, a single choice with the others (or take it away)."""
    right = right() if isinstance(wrong, dict) and callable(right) else right
    if isinstance(wrong, dict):
        return right | {name: as_an_answer(part, right[name]) for name, part in wrong.items()}
    if wrong is ...:  # anything else of its kind
        return ("no_mask" if right != "no_mask" else "right") if isinstance(right, str) else (29, 1)
    return right ^ {wrong} if isinstance(right, set) and not isinstance(wrong, set) else wrong


@every_exercise
def test_each_listed_mistake_gets_its_own_sentence(exercise):
    cases = exercise.cases() if hasattr(exercise, "cases") else []
    listed = [*exercise.mistakes, *(mistake for case in cases for mistake in case.mistakes)]
    assert len(exercise.mistakes) <= 12
    for wrong, sentence in listed:
        if isinstance(exercise, ValueExercise):
            answer = as_an_answer(wrong, exercise.right)
        else:
            answer = wrong if callable(wrong) else exercise.made_by(wrong)
        errors = [exercise._run(answer, case).error for case in cases]
        assert not any(isinstance(error, NameError | AttributeError) for error in errors), errors
        verdict = exercise.verdict(answer)
        assert verdict.status == NOT_YET, sentence
        assert verdict.sentence.endswith(sentence), f"{sentence}\n{verdict.sentence}"


def as_lists(value):
    if isinstance(value, dict):
        return dict(zip(value, map(as_lists, value.values()), strict=True))
    return tuple(map(as_lists, value)) if isinstance(value, tuple) else value.tolist()


FUNCTIONS = [name for name in EXERCISES if getattr(EXERCISES[name], "kind", "") == "function"]
FUNCTIONS.remove("p02_qkv_projection-into_a_layer")  # it returns a layer


@pytest.mark.parametrize("name", FUNCTIONS)
def test_right_values_that_are_no_tensor_are_right_or_said_to_be_none(name):
    exercise = EXERCISES[name]
    verdict = exercise.verdict(lambda *args: as_lists(exercise.reference(*args)))
    if exercise.asked.tensor:
        assert re.search("tensor is asked for|float tensor .* is needed", verdict.sentence)
    else:
        assert verdict, verdict.sentence


@pytest.mark.parametrize(
    "name", [name for name in EXERCISES if isinstance(EXERCISES[name], FunctionExercise)]
)
def test_each_axis_of_a_result_is_tried_with_a_single_entry(name):
    exercise = EXERCISES[name]
    results = [exercise._run(exercise.reference, case).value for case in exercise.cases()]
    results = [each if isinstance(each, tuple) else (each,) for each in results]
    for parts in zip(*results, strict=True):
        if name != "p03_qk_scores-next_word" and not isinstance(parts[0], dict):
            shapes = [part.shape[::-1] for part in parts]
            assert all(1 in sizes for sizes in zip(*shapes, strict=False)), shapes


@every_exercise
def test_nonsense_is_neither_accepted_nor_raises(exercise):
    for answer in NONSENSE:
        assert exercise.verdict(answer).status != CORRECT, answer


def off_by_a_little(right):
    """The right numbers, each wrong in its second decimal; texts, choices and whole numbers as they are."""
    if isinstance(right, dict):
        return {name: off_by_a_little(part) for name, part in right.items()}
    if isinstance(right, list | tuple):
        return type(right)(map(off_by_a_little, right))
    return 1.02 * right + 0.015 if isinstance(right, float | torch.Tensor) else right


@pytest.mark.parametrize("name", [name for name in EXERCISES if isinstance(EXERCISES[name], ValueExercise)])
def test_a_number_that_is_wrong_in_its_second_decimal_is_refused(name):
    right = EXERCISES[name].right
    wrong = off_by_a_little(right)
    assert repr(wrong) == repr(right) or EXERCISES[name].verdict(wrong).status == NOT_YET


@every_exercise
def test_it_says_what_a_page_needs(exercise):
    assert re.fullmatch(r"Exercise D?\d+\.\d+ ★{1,3} · \d+ min · \S.+", exercise.heading)
    assert exercise.praise.endswith(".")
    assert 2 <= len(exercise.hints) <= 4
    assert len(exercise.task.split()) > 10
    assert all(candidate.fact.endswith(".") for candidate in getattr(exercise, "candidates", []))


@pytest.mark.parametrize("page", sorted({name[:3] for name in EXERCISES}))
def test_the_exercises_of_a_page_are_counted_from_1(page):
    """Those of the folder deeper/, d09_…, have a D in front, and pages that lead on from one page count on."""
    numbers = [exercise.number for name, exercise in EXERCISES.items() if name.startswith(page)]
    name = page.replace("p", "").replace("d0", "D").replace("d", "D").lstrip("0") or "0"
    assert sorted(numbers) == [f"{name}.{n + 1}" for n in range(len(numbers))]


@pytest.mark.parametrize("name", [name for name in EXERCISES if hasattr(EXERCISES[name], "cases")])
def test_no_size_is_the_same_in_all_inputs_unless_the_task_names_it(name):
    """Else code passes that has it written down."""
    exercise, sizes = EXERCISES[name], {}
    for case in exercise.cases():
        for place, each in enumerate(case.args):
            for axis, size in enumerate(each.shape[::-1] if isinstance(each, torch.Tensor) else ()):
                sizes.setdefault((place, -1 - axis), []).append(size)
    named = set(map(int, re.findall(r"\d+", f"{exercise.task} {exercise.stub}".replace("five", "5"))))
    same = {place: seen[0] for place, seen in sizes.items() if len(seen) > 1 and len(set(seen)) == 1}
    assert not set(same.values()) - named, same
