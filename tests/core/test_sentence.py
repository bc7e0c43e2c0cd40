"""The examples: a match of heads made by hand has one score at every d_k; golden columns are as named."""

import re

import pytest
import torch

from mha_helpers import golden_example, hand_made_heads, sentence_vectors
from mha_helpers.sentence import MATCH, tokenize, word_vectors

SENTENCE = "the old cat eats the fish because it is hungry"
TOKENS, X = sentence_vectors(SENTENCE)
GOLDEN = golden_example()
STEPS = (-1, 0, 1, 0)  # from a word to the one that each head looks for


def scaled_scores(x, d_k):
    w_q, w_k, _, _ = hand_made_heads(4, d_k)
    return (x @ w_q) @ (x @ w_k).transpose(-2, -1) / d_k**0.5  # (h, n, n)


@pytest.mark.parametrize("d_k", range(1, 33))
@pytest.mark.parametrize("sentence", [SENTENCE, " ".join(f"word{i}" for i in range(64))], ids=["10", "64"])
def test_a_match_has_the_same_scaled_score_for_every_word_and_d_k_and_no_other_word_a_higher(d_k, sentence):
    scores = scaled_scores(sentence_vectors(sentence)[1], d_k)
    for head, step in enumerate(STEPS):
        match = scores[head].diagonal(step)
        torch.testing.assert_close(match, torch.full_like(match, MATCH), atol=1e-3, rtol=0)
    assert scores.max() <= MATCH + 1e-3


def test_what_is_written_without_spaces_is_cut_at_every_character_of_every_block():
    tokens = [*"aねb、cカd㐂e猫f\uf900g，h𠀀i", "no"]  # a letter beside each
    assert tokenize("".join(tokens[:-1]) + "\u3000no") == tokens
    assert sentence_vectors("as many", most=2)[0] == ["as", "many"]


def test_equal_words_get_equal_weights_in_the_head_of_the_same_word():
    _, same, _, _ = scaled_scores(X, 16).softmax(dim=-1)
    first, second = (i for i, token in enumerate(TOKENS) if token == "the")
    torch.testing.assert_close(same[first, first], same[first, second])
    assert torch.equal(word_vectors(["The"]), word_vectors(["the"]))
    assert same.argmax(dim=-1).tolist() == [i if i != second else first for i in range(10)]


def test_a_wider_matrix_begins_with_the_columns_of_the_narrower():
    wide_q, wide_k, wide_v, _ = hand_made_heads(6, 32)
    for d_k in range(2, 32, 2):
        w_q, w_k, w_v, _ = hand_made_heads(6, d_k)
        assert torch.equal(w_k, wide_k[..., :d_k]) and torch.equal(w_v, wide_v[..., :d_k])
        assert torch.equal(w_q[4:], wide_q[4:, :, :d_k])  # random heads keep their scale
    assert 0.7 < (X @ wide_v).std() < 1  # as large as the words themselves


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_all_that_is_made_has_the_default_dtype_of_today(dtype):
    usual = hand_made_heads(5, 3)[:3]
    torch.set_default_dtype(dtype)
    made, x, example = hand_made_heads(5, 3)[:3], sentence_vectors(SENTENCE)[1], golden_example()
    output, _ = example.attention()(example.x)
    torch.set_default_dtype(torch.float32)
    assert {tensor.dtype for tensor in (*made, x, example.x, example.w_q, output)} == {dtype}
    for ours, theirs in zip(made, usual, strict=True):
        torch.testing.assert_close(ours.float(), theirs, atol=2e-2, rtol=2e-2)
    assert hand_made_heads(5, 3)[0].dtype == torch.float32  # what was kept is not handed out


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
    assert not GOLDEN.trace().output.requires_grad
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(golden_example().x, GOLDEN.x)
