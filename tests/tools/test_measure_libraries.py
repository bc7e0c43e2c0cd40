"""The tool that measures other libraries: its child process, its comparison, and what it has stored."""

import copy
import sys

import torch
from torch.nn import functional as F

from mha_course.d09_other_libraries.measured import weights_of
from mha_helpers import causal_mask, probe
from mha_helpers.probing import QUESTIONS, Keyhole, nearest, pytorch
from tools import measure_libraries
from tools.measure_libraries import GROUPS, Library, differences, read

STORED = read()
PLAIN = Keyhole(pytorch)


def test_what_is_asked_in_another_process_is_answered_as_in_this_one():
    library, name = Library(sys.executable, "with_torch"), "F.scaled_dot_product_attention"
    assert library.callables[name] == ("torch", torch.__version__, "b h n d")
    here, there = probe(pytorch), probe(library.attend(name))
    assert here.pop("shared heads")["answer"] == "refused"  # the adapter there switches them on
    assert there.pop("shared heads")["answer"] == "1 1 2 2"
    assert str(here) == str(there)
    q = torch.randn(2, 3, 5, 4)
    for name in ("nn.MultiheadAttention, no weights", "nn.MultiheadAttention, in eval and no_grad"):
        output = torch.tensor(library.attend(name)(q, q, q, ~causal_mask(5)))  # with its heads side by side
        torch.testing.assert_close(output, F.scaled_dot_product_attention(q, q, q, is_causal=True))
    library.close()


def test_what_is_stored_has_every_question_and_says_what_its_weights_say():
    assert len(STORED) >= 30 and len({entry["callable"] for entry in STORED}) == len(STORED)
    for entry in STORED:
        assert list(entry["answers"]) == list(QUESTIONS) and entry["group"] in GROUPS
        for question, (answer, seen) in entry["answers"].items():
            weights, meanings = weights_of(entry["callable"], question), QUESTIONS[question][2]
            if weights is None:
                assert isinstance(seen, str) and seen
                continue
            meant = nearest(weights, meanings(PLAIN) if callable(meanings) else meanings)
            assert answer == meant, (entry, question)


def test_the_versions_stored_are_those_that_are_installed():
    pinned = {name.split("[")[0]: version for _, packages, _ in GROUPS.values() for name, _, version in
              (package.partition("==") for package in packages)}  # fmt: skip
    for entry in STORED:
        assert pinned[entry["library"]] == entry["version"], entry["callable"]


def test_a_comparison_names_what_is_another_answer_and_lets_last_digits_pass():
    now = copy.deepcopy(STORED[:1])
    answers = now[0]["answers"]
    answers["scale"][1][0][0] += 0.001
    assert list(differences(STORED, now)) == []
    answers["scale"][1][0][0] += 0.1
    answers["empty row"][1][1] = [None] * 5
    answers["bool mask"][0] = "ignored"
    now[0]["answers"]["another question"] = ["yes", []]
    found = list(differences(STORED, now))
    assert len(found) == 4, found
    assert len(list(differences([], now))) == len(QUESTIONS) + 1


def test_new_entries_take_the_place_of_old_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(measure_libraries, "STORED", tmp_path / "measured.json")
    measure_libraries.write([], STORED)
    again = [STORED[3] | {"date": "2027-01-01"}]
    measure_libraries.write(read(), again)
    assert [entry["callable"] for entry in read()] == [entry["callable"] for entry in STORED]
    assert [entry["date"] for entry in read()].count("2027-01-01") == 1
