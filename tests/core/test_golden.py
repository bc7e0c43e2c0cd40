"""The golden example: its columns are what their names say, its numbers those that every page knows."""

import re

import pytest
import torch

from mha_helpers import golden_example

GOLDEN = golden_example()
TRACE = GOLDEN.trace()


def quantity(name, x):
    """The numbers of the words that a name such as "2 · is eaten − acts" speaks of.

    A word acts by what it is, or because it stands first; it is eaten by what it is, or because it stands third.
    """
    acts, happens, is_eaten, first, second, third = x.T
    meaning = {"acts": acts + first, "happens": happens, "is eaten": is_eaten + third}
    meaning |= {"1st": first, "2nd": second, "3rd": third}
    code = re.sub("|".join(meaning), lambda found: f'meaning["{found[0]}"]', name)
    return eval(code.replace("−", "-").replace("·", "*"), {"meaning": meaning})


@pytest.mark.parametrize("sentence", ["cat eats fish", "fish eats cat", "cat eats cat", "fish eats"])
def test_a_value_and_a_key_are_what_their_names_say(sentence):
    example = golden_example(sentence)
    trace = example.trace()
    for numbers, names in ((trace.v, example.value_names), (trace.k, example.key_names)):
        for head, pair in enumerate(names):
            expected = torch.stack([quantity(name, example.x) for name in pair], dim=-1)
            assert torch.equal(numbers[head], expected), (head, pair)


@pytest.mark.parametrize("sentence", ["", "cat eats dog", "cat eats fish cat"])
def test_other_sentences_are_refused(sentence):
    with pytest.raises(ValueError, match="one to three of the words cat, eats, fish"):
        golden_example(sentence)


def test_its_attention_leaves_the_learners_random_numbers_and_the_next_example_as_they_are():
    before = torch.get_rng_state()
    golden_example().attention()
    golden_example().x.zero_()
    assert golden_example() != GOLDEN  # as objects: == of tensors is no single True or False
    assert not TRACE.output.requires_grad
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(golden_example().x, GOLDEN.x)
