"""The golden example: its columns are what their names say, its numbers those that every page knows."""

import re

import pytest
import torch

from mha_helpers import golden_example, merge_heads

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


def test_the_numbers_that_every_page_knows():
    q = [[2, 0, 0, 2, 0, 0], [2, -1, 1, -1, 2, 0], [1, 0, 0, 1, 0, 2]]
    output = [[1.508, -0.889, -0.789, 0, 0, 0], [2.784, -3.728, 1.862, 0.876, -0.835, -0.042]]
    output += [[1.359, -0.950, -0.346, -0.876, 1.795, -0.918]]
    assert merge_heads(TRACE.q).tolist() == q
    torch.testing.assert_close(TRACE.output, torch.tensor(output), atol=6e-4, rtol=0)
    swapped = golden_example("fish eats cat").trace().weights[:, 1]  # “eats” finds the fish, less surely
    known = torch.tensor([[0.768, 0.045, 0.187], [0.306, 0.074, 0.620], [0.932, 0.055, 0.013]])
    torch.testing.assert_close(swapped, known, atol=6e-4, rtol=0)


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
