"""What every exercise tries and every mistake computes, as one line each.

    python tests/exercises/fingerprints.py --write     # after a change that is meant

The rules of ``exercise_rules.py`` hand each mistake to its own exercise, so they cannot see that a mistake
computes something else than its sentence says, or that an input lost what made it tell two answers
apart. A line that changes here asks for a look at both.
"""

from __future__ import annotations

import math
import re
import sys
import warnings
import zlib
from pathlib import Path

import torch

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from exercise_rules import exercises_of, modules

from mha_helpers.exercises import ChoiceExercise, FunctionExercise, ModuleExercise
from mha_helpers.exercises.compare import numbers_of

FILE = Path(__file__).with_name("fingerprints.txt")
NUMBER = re.compile(r"-?\d+\.\d{6}")
SAME = 1e-3  # of the mean size: above what another machine adds up, below every change that was meant


def lines_of(exercise):
    """Return ``{what: fingerprint}`` for the inputs, the right results and each mistake of an exercise."""
    if not isinstance(exercise, FunctionExercise):
        wrong = {mistake.name: mistake.wrong for mistake in exercise.mistakes}
        if isinstance(exercise, ChoiceExercise):  # the name of a set differs from run to run
            wrong = {f"wrong choice {place}": choice for place, choice in enumerate(wrong.values(), start=1)}
        answers = {"right": exercise.answer} | wrong
        return {
            name: fingerprint([answer() if callable(answer) else answer]) for name, answer in answers.items()
        }
    cases = exercise.cases()
    lines = {"inputs": fingerprint([[each.args, each.kwargs, each.build] for each in cases])}
    answers = {"right": exercise.reference} | {mistake.name: mistake.wrong for mistake in exercise.mistakes}
    for name, answer in answers.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # x.T of four axes is one of the mistakes
            outcomes = [exercise._run(answer, inputs) for inputs in cases]
        lines[name] = fingerprint([outcome.error or outcome.value for outcome in outcomes])
    if isinstance(exercise, ModuleExercise):
        lines["layers"] = fingerprint([exercise.linears])
    return lines


def fingerprint(things):
    """Return the first form, a sum of all forms, the mean size of all numbers, and a sum by place."""
    forms, values = [], []
    for thing in things:
        _take_apart(thing, forms, values)
    form = zlib.crc32("|".join(forms).encode())
    numbers = torch.cat([torch.zeros(1, dtype=torch.float64), *values])
    special = [int(kind.sum()) for kind in (numbers.isnan(), numbers == math.inf, numbers == -math.inf)]
    numbers = numbers.nan_to_num(0.0, 0.0, 0.0)
    places = torch.arange(len(numbers), dtype=torch.float64)
    mean, mark = numbers.abs().mean(), (numbers * torch.cos(places)).mean()
    words = f"{forms[0] if forms else 'nothing'}, forms {form:08x}, mean {mean:.6f}, mark {mark:.6f}"
    return words + (f", NaN, ∞, −∞: {special}" if any(special) else "")


def _take_apart(thing, forms, values):
    if isinstance(thing, torch.Tensor):
        forms.append(f"{str(thing.dtype).removeprefix('torch.')} {tuple(thing.shape)}")
        values.append(numbers_of(thing).flatten())
    elif isinstance(thing, dict):
        for name, part in thing.items():
            forms.append(str(name))
            _take_apart(part, forms, values)
    elif isinstance(thing, (list, tuple)):
        forms.append(f"{type(thing).__name__} of {len(thing)}")
        for part in thing:
            _take_apart(part, forms, values)
    elif isinstance(thing, (bool, int, float)):
        forms.append(type(thing).__name__)
        values.append(torch.tensor([thing], dtype=torch.float64))
    elif isinstance(thing, (set, frozenset)):
        forms.append(f"set {sorted(map(repr, thing))}")
    elif isinstance(thing, BaseException):
        forms.append(type(thing).__name__)
    else:
        forms.append(re.sub(r" at 0x[0-9a-f]+", "", repr(thing)))


def differs(now, before):
    """Tell whether two fingerprints differ by more than the rounding of another machine."""
    if NUMBER.sub("", now) != NUMBER.sub("", before):
        return True
    found, wanted = ([float(number) for number in NUMBER.findall(text)] for text in (now, before))
    tolerance = SAME * wanted[0] + 2e-6
    return any(abs(a - b) > tolerance for a, b in zip(found, wanted, strict=True))


def every_exercise():
    return {f"{module}-{name}": ex for module in modules() for name, ex in exercises_of(module).items()}


def stored():
    """Return ``{exercise: {what: fingerprint}}`` as the file has it."""
    kept, lines = {}, None
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            what, _, words = line.strip().partition(" | ")
            lines[what] = words
        elif line:
            lines = kept[line] = {}
    return kept


def write():
    text = []
    for name, exercise in every_exercise().items():
        text.append(name)
        text += [f"  {what} | {words}" for what, words in lines_of(exercise).items()]
    FILE.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__" and "--write" in sys.argv:
    write()
