"""No input and no mistake of an exercise computes something else than when somebody last looked at it."""

import pytest
import torch
from fingerprints import differs, every_exercise, fingerprint, lines_of, stored

EXERCISES = every_exercise()
STORED = stored()
REFRESH = "python tests/exercises/fingerprints.py --write"


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_tries_and_computes_what_it_did(name):
    now = lines_of(EXERCISES[name])
    before = STORED.get(name, {})
    faults = [f"{what} is new or gone" for what in sorted(now.keys() ^ before.keys())]
    faults += [
        f"{what}: {words}, before: {before[what]}"
        for what, words in now.items()
        if what in before and differs(words, before[what])
    ]
    assert not faults, "\n".join([*faults, f"Do the sentences still fit? Then: {REFRESH}"])


def test_nothing_is_kept_of_an_exercise_that_is_gone():
    assert set(STORED) == set(EXERCISES), REFRESH


def test_a_fingerprint_sees_form_size_and_place():
    seen = [
        torch.tensor([1.0, 2.0]),
        torch.tensor([2.0, 1.0]),
        torch.tensor([1.0, 2.01]),
        torch.tensor([1.0, -2.0]),
        torch.tensor([[1.0, 2.0]]),
        torch.tensor([1, 2]),
        torch.tensor([1.0, torch.nan]),
        torch.tensor([1.0, torch.inf]),
        torch.tensor([1.0, -torch.inf]),
        (1.0, 2.0),
        [1.0, 2.0],
        [1, 2],
        {"a": 1.0},
        {"b": 1.0},
        {1, 2},
        "b",
        ValueError("b"),
        None,
    ]
    for place, thing in enumerate(seen):
        assert not differs(fingerprint([thing]), fingerprint([thing]))
        for other in seen[:place]:
            assert differs(fingerprint([thing]), fingerprint([other])), (thing, other)


def test_a_fingerprint_does_not_see_rounding():
    numbers = torch.arange(100.0)
    assert not differs(fingerprint([numbers * (1 + 1e-5)]), fingerprint([numbers]))
