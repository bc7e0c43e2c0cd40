"""What holds for every exercise. Each rule takes an exercise and returns its faults as sentences.

``test_every_exercise.py`` applies them to all exercises of the course, and shows on spoilt exercises that
each rule notices what it is for.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import math
import pkgutil
import re
import warnings

import numpy
import torch
from answers import (
    SPOILT_TENSORS,
    change_first,
    empty_classes,
    empty_functions,
    first_tensor,
    nudged,
    nudged_anything,
    spoil_class,
    spoil_function,
)
from nonsense import CODE_THAT_FAILS, NONSENSE
from torch import nn

import mha_helpers
from mha_helpers import exercises as package
from mha_helpers.exercises import ChoiceExercise, Exercise, FunctionExercise, ModuleExercise, ValueExercise

BANNED = re.compile(r"\b(simply|just|obviously|clearly|easy|trivial)\b", re.IGNORECASE)
AMERICAN = re.compile(r"\b\w*(color|center|gray|normaliz|neighbor|behavior|labeled)\w*", re.IGNORECASE)
HEADING = re.compile(r"Exercise \d+\.\d+ ★{1,3} · \d+ min · \S.*")
WIDEST_CODE = 100  # characters, as on the pages
STUB_SAYS, WRONG_SAYS, RIGHT_SAYS = "not attempted yet", "not yet", "correct"


def modules():
    """The names of all files of exercises: e01_inputs_and_shapes, …"""
    names = [module.name for module in pkgutil.iter_modules(package.__path__)]
    return sorted(name for name in names if re.fullmatch(r"e\d\d_\w+", name))


def exercises_of(module_name):
    module = importlib.import_module(f"{package.__name__}.{module_name}")
    return {name: value for name, value in vars(module).items() if isinstance(value, Exercise)}


def printed(exercise, *answer):
    """Return what ``check`` prints; its done mark is put back."""
    done, stream = exercise.done, io.StringIO()
    with contextlib.redirect_stdout(stream), warnings.catch_warnings():
        warnings.simplefilter("error")
        result = exercise.check(*answer)
    exercise.done = done
    assert result is None, "check must return nothing, or a notebook shows it"
    return stream.getvalue()


def status(exercise, *answer):
    """Return (status, sentence) from what is printed, which must be exactly one line."""
    line = printed(exercise, *answer)
    match = re.fullmatch(rf"Exercise {exercise.number}: (not attempted yet|not yet|correct)\. (\S.*)\n", line)
    assert match, f"printed {line!r}"
    return match.groups()


def solution_of(exercise):
    """Run the printed solution in the names a notebook has, and return the learner's answer."""
    names = {
        name: getattr(mha_helpers, name)
        for name in mha_helpers.__all__
        if mha_helpers._LAZY.get(name, "examples") == "examples"
    }
    names |= {"torch": torch, "math": math, "nn": nn, "F": nn.functional}
    exec(exercise.given, names)
    exec(exercise.solution_code, names)
    return names[exercise.variable]


def _wrong_unless(exercise, answer, expected, what):
    got, sentence = status(exercise, answer)
    return [] if got == expected else [f"{what}: said “{got}. {sentence}”, not “{expected}”"]


def is_described(exercise):
    faults = [] if HEADING.fullmatch(exercise.heading) else [f"heading {exercise.heading!r}"]
    if not 2 <= len(exercise.hints) <= 4:
        faults.append(f"{len(exercise.hints)} hints; two to four, each a step on")
    if not 1 <= exercise.minutes <= 30:
        faults.append(f"{exercise.minutes} minutes")
    if not str.isidentifier(exercise.variable):
        faults.append(f"variable {exercise.variable!r} is no name")
    wide = [line for line in exercise.solution_code.splitlines() if len(line) > WIDEST_CODE]
    return faults + [f"a line of {len(line)} characters in the solution: {line}" for line in wide]


def speaks_plainly(exercise):
    """Praise, hints and sentences: one line each, whole sentences, British, the same on every machine."""
    spoken = [exercise.praise, *exercise.hints, *(mistake.sentence for mistake in exercise.mistakes)]
    if isinstance(exercise, ChoiceExercise):
        spoken.append(exercise.otherwise)
    faults = []
    for text in spoken:
        if "\n" in text or len(text) > 240:
            faults.append(f"not one short line: {text!r}")
        if text[-1] not in ".?!:”)" or re.match(
            r"[a-z]{3,}\b(?![(\[._])", text
        ):  # n, d_k and f(x) may begin one
            faults.append(f"not a whole sentence: {text!r}")
        faults += [f"{word!r} in {text!r}" for word in BANNED.findall(text) + AMERICAN.findall(text)]
        if re.search(r"0x[0-9a-f]{4}|\d\.\d{5}", text):
            faults.append(f"digits that may differ by machine: {text!r}")
    return faults


def keeps_the_answer_to_itself(exercise):
    """No line of code of the solution stands in a sentence that a wrong answer gets."""
    lines = [line.split("#")[0].strip() for line in exercise.solution_code.splitlines()]
    lines = [line.removeprefix("return ") for line in lines if len(line) > 14 and "def " not in line]
    return [
        f"the sentence on “{mistake.name}” gives the answer: {line!r}"
        for mistake in exercise.mistakes
        for line in lines
        if line in mistake.sentence
    ]


def accepts_its_solution(exercise):
    """Also the second time: a check keeps nothing from the first."""
    times = ("the first time", "the second time")
    return [fault for t in times for fault in _wrong_unless(exercise, solution_of(exercise), RIGHT_SAYS, t)]


def accepts_its_solution_in_a_session_of_float64(exercise):
    """Some cell above may have called ``torch.set_default_dtype``."""
    torch.set_default_dtype(torch.float64)
    try:
        faults = _wrong_unless(exercise, solution_of(exercise), RIGHT_SAYS, "in a session of float64")
        if torch.get_default_dtype() != torch.float64:
            faults.append("checking changes the default dtype of the session")
        return faults
    finally:
        torch.set_default_dtype(torch.float32)


def knows_the_stub(exercise):
    stubs = {"`...`": ..., "None": None, "[..., ...]": [..., ...], "(..., ...)": (..., ...)}
    if isinstance(exercise, FunctionExercise):
        stubs |= empty_functions(", ".join(exercise.arguments))
    if isinstance(exercise, ModuleExercise):
        stubs = {"`...`": ..., "None": None} | empty_classes()
    faults = [f for name, stub in stubs.items() for f in _wrong_unless(exercise, stub, STUB_SAYS, name)]
    return faults + ([] if status(exercise)[0] == STUB_SAYS else ["check() without an answer"])


def names_each_mistake(exercise):
    """Each mistake, handed in as an answer, gets its own sentence and no other."""
    faults = []
    # "mask polarity" and "mask polarity, plain softmax" are one mistake made in two ways: one sentence for both.
    said = {(mistake.name.split(",")[0], mistake.sentence) for mistake in exercise.mistakes}
    if len({sentence for _, sentence in said}) != len(said):
        faults.append("two mistakes have the same sentence")
    if len({mistake.name for mistake in exercise.mistakes}) != len(exercise.mistakes):
        faults.append("two mistakes have the same name")
    for mistake in exercise.mistakes:
        wrong = mistake.wrong
        if isinstance(exercise, ValueExercise) and inspect.isfunction(wrong):
            wrong = wrong()
        said, sentence = status(exercise, wrong)
        if said != WRONG_SAYS or sentence != mistake.sentence:
            faults.append(f"“{mistake.name}” is told “{said}. {sentence}”, not “{mistake.sentence}”")
    if not exercise.mistakes:
        faults.append("no mistake is named")
    return faults


def diagnoses_the_form(exercise):
    """Numpy, list, shape, dtype, one wrong cell, …: each is refused, and the general words are right."""
    if isinstance(exercise, ChoiceExercise):
        return []
    answer = solution_of(exercise)
    if isinstance(exercise, ModuleExercise):
        spoil = spoil_class
    elif isinstance(exercise, FunctionExercise):
        spoil = spoil_function
    else:
        spoil = change_first
    example = answer
    if isinstance(exercise, FunctionExercise):
        example = exercise._run(answer, exercise.cases()[0]).value
    tensor = first_tensor(example)
    decimals = getattr(exercise, "decimals", None)
    if tensor is None:
        return []
    named = {mistake.sentence for mistake in exercise.mistakes}
    faults = []
    coarse = 0 if decimals is None else 2 * 10**-decimals
    spoilt = SPOILT_TENSORS | {
        "one cell off": (lambda t: nudged(t, coarse), "numbers (is|are) right|none of its|NaN|infinite"),
        "Parameter off": (lambda t: nn.Parameter(nudged(t, coarse).float()), ""),
    }
    if isinstance(exercise, FunctionExercise):  # numbers typed by hand may be of any kind
        spoilt["float64"] = (lambda t: t.double(), "float64")
    for name, (change, words) in spoilt.items():
        if name == "last axes swapped" and tensor.dim() > 1 and torch.equal(tensor, tensor.mT):
            continue
        if name == "all zero" and not tensor.any():
            continue
        said, sentence = status(exercise, spoil(answer, change))
        if said != WRONG_SAYS or (sentence not in named and not re.search(words, sentence)):
            faults.append(f"{name}: said “{said}. {sentence}”")
    return faults


def sees_through_copied_numbers(exercise):
    """A function that knows the page's example by heart, or changes its arguments, is not enough."""
    if not isinstance(exercise, FunctionExercise) or isinstance(exercise, ModuleExercise):
        return []
    example = exercise.cases()[0]
    answer = solution_of(exercise)
    right = exercise._run(answer, example).value
    calls = []

    def first_right(*args, **kwargs):
        calls.append(1)
        result = answer(*args, **kwargs)
        return right if len(calls) == 1 else change_first(result, nudged_anything)

    faults = _wrong_unless(exercise, lambda *args, **kwargs: right, WRONG_SAYS, "the example's numbers")
    faults += _wrong_unless(exercise, first_right, WRONG_SAYS, "right for the example alone")
    if len(exercise.cases()) < 3:
        faults.append(f"{len(exercise.cases())} inputs; at least three")

    def in_place(*args, **kwargs):
        result = answer(*args, **kwargs)
        result = result.clone() if isinstance(result, torch.Tensor) else result
        for argument in args:
            if isinstance(argument, torch.Tensor):
                argument.logical_not_() if argument.dtype == torch.bool else argument.zero_()
        return result

    if any(isinstance(argument, torch.Tensor) for argument in example.args):
        said, sentence = status(exercise, in_place)
        if said != WRONG_SAYS or "in place" not in sentence:
            faults.append(f"an argument changed in place: said “{said}. {sentence}”")
    return faults


def refuses_a_wrong_call(exercise):
    """Wrong number of arguments, a result or class for a function, code that raises."""
    if not isinstance(exercise, FunctionExercise) or isinstance(exercise, ModuleExercise):
        return []
    faults = []
    for name, function, words in (
        ("one argument too few", lambda: 1, r"takes 0 arguments"),
        ("a result", torch.ones(2, 2), r"without brackets"),
        ("a NumPy result", numpy.ones((2, 2)), r"without brackets"),
        ("a class", nn.Linear, r"a class"),
        ("a module", nn.Linear(2, 2), r"a module"),
        ("no return", lambda *args, **kwargs: [*args].clear(), r"return"),
    ):
        said, sentence = status(exercise, function)
        if said != WRONG_SAYS or not re.search(words, sentence):
            faults.append(f"{name}: said “{said}. {sentence}”")
    return faults


def survives_nonsense(exercise):
    """Whatever is handed over: one line, and never "correct"."""
    faults = []
    for name, make in (NONSENSE | CODE_THAT_FAILS).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of its rarer tensors
            answer = make()
        try:
            said, _ = status(exercise, answer)
        except BaseException as error:
            faults.append(f"{name}: {type(error).__name__}: {error}")
            continue
        # A letter, number or bool can happen to be the right choice.
        if said == RIGHT_SAYS and not isinstance(exercise, (ChoiceExercise, ValueExercise)):
            faults.append(f"{name}: accepted")
    return faults


def helps_step_by_step(exercise):
    exercise._hints_given = 0
    lines = []
    for _ in range(len(exercise.hints) + 2):
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            exercise.hint()
        lines.append(stream.getvalue())
    exercise._hints_given = 0
    *hints, first_end, second_end = lines
    faults = [f"a hint of several lines: {line!r}" for line in hints if line.count("\n") != 1]
    if any("no more hints" in line for line in hints):
        faults.append("hints do not end where they should")
    for end in (first_end, second_end):  # after the last hint, all of them once more
        if "no more hints" not in end.splitlines()[0] or not end.endswith("".join(hints)):
            faults.append("after the last hint, they cannot all be read again")
    for number, line in enumerate(lines[:-2], start=1):
        if not line.startswith(f"Exercise {exercise.number}, hint {number} of {len(exercise.hints)}: "):
            faults.append(f"hint {number} opens with {line[:40]!r}")
    return faults


RULES = [
    is_described,
    speaks_plainly,
    keeps_the_answer_to_itself,
    accepts_its_solution,
    accepts_its_solution_in_a_session_of_float64,
    knows_the_stub,
    names_each_mistake,
    diagnoses_the_form,
    sees_through_copied_numbers,
    refuses_a_wrong_call,
    survives_nonsense,
    helps_step_by_step,
]
