"""The golden example tells every usual mistake apart; sentences give the same vectors everywhere."""

import math
import subprocess
import sys

import pytest
import torch

from mha_helpers import (
    fixed_matrix,
    golden_example,
    head_projections,
    sentence_vectors,
    shape_example,
    sinusoidal_positions,
    token_vectors,
    tokenize,
)

WRITTEN_DOWN = [[-0.6535, -1.6598], [-1.2183, -1.3173]]  # fixed_matrix("test", 2, 2)

# Sentences


@pytest.mark.parametrize(
    "sentence, tokens",
    [
        ("cat eats fish", ["cat", "eats", "fish"]),
        ("  two\tspaces \n here ", ["two", "spaces", "here"]),
        ("猫吃鱼", ["猫", "吃", "鱼"]),
        ("2002年的雪", ["2002", "年", "的", "雪"]),
        ("猫 loves 鱼!", ["猫", "loves", "鱼", "!"]),
        ("你好，世界", ["你", "好", "，", "世", "界"]),
        ("猫\u3000吃鱼", ["猫", "吃", "鱼"]),  # the wide space of Chinese text
        ("🐱 <b>", ["🐱", "<b>"]),
        ("\U00020000a", ["\U00020000", "a"]),
    ],
)
def test_tokenize(sentence, tokens):
    assert tokenize(sentence) == tokens


@pytest.mark.parametrize("sentence", ["", "   ", "\n\t", "\u3000"])
def test_an_empty_sentence_is_answered_with_what_to_do(sentence):
    with pytest.raises(
        ValueError, match=r"^The sentence is empty. Type at least one word, for example “cat eats fish”.$"
    ):
        tokenize(sentence)


def test_a_sentence_must_be_text():
    with pytest.raises(TypeError, match=r"^the sentence must be text in quotes, got int\.$"):
        tokenize(3)


def test_equal_tokens_have_equal_vectors_and_others_differ():
    vectors = token_vectors(["cat", "sat", "cat"], 16)
    assert torch.equal(vectors[0], vectors[2])
    assert not torch.allclose(vectors[0], vectors[1])


def test_positions_tell_equal_tokens_apart():
    tokens, x = sentence_vectors("cat cat", 16)
    assert tokens == ["cat", "cat"]
    assert not torch.allclose(x[0], x[1])
    torch.testing.assert_close(x, token_vectors(tokens, 16) + sinusoidal_positions(2, 16))


@pytest.mark.parametrize("n, d_model", [(1, 1), (3, 5), (7, 8)])
def test_sinusoidal_positions_follow_the_paper(n, d_model):
    positions = sinusoidal_positions(n, d_model)
    assert positions.shape == (n, d_model)
    for position in range(n):
        for feature in range(d_model):
            angle = position / 10_000 ** ((feature - feature % 2) / d_model)
            expected = math.cos(angle) if feature % 2 else math.sin(angle)
            assert positions[position, feature].item() == pytest.approx(expected, abs=1e-5)


def test_fixed_numbers_have_mean_0_and_variance_1_and_are_written_down():
    matrix = fixed_matrix("test", 200, 50)
    assert abs(matrix.mean()) < 0.02
    assert abs(matrix.var() - 1) < 0.02
    assert matrix.abs().max() <= math.sqrt(3) + 1e-6
    # Written down, because the pictures stored in the notebooks rest on them.
    expected = torch.tensor(WRITTEN_DOWN)
    torch.testing.assert_close(fixed_matrix("test", 2, 2), expected, atol=1e-4, rtol=0)


def test_fixed_numbers_lie_row_after_row_and_can_be_viewed():
    assert fixed_matrix("test", 3, 4).view(12).tolist() == fixed_matrix("test", 3, 4).flatten().tolist()


def test_names_give_different_numbers_and_results_are_fresh():
    assert not torch.equal(fixed_matrix("a", 1, 4), fixed_matrix("b", 1, 4))
    fixed_matrix("a", 1, 4).zero_()
    assert fixed_matrix("a", 1, 4).abs().sum() > 0


def test_numbers_do_not_depend_on_the_hash_seed():
    code = "from mha_helpers import token_vectors; print(token_vectors(['cat'], 4).tolist())"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_projections_grow_by_adding_columns_and_heads():
    small = head_projections(16, 2, 4)
    large = head_projections(16, 5, 9)
    for a, b in zip(small, large, strict=True):
        assert a.shape == (2, 16, 4)
        assert b.shape == (5, 16, 9)
        assert torch.equal(a, b[:2, :, :4])
    w_q, w_k, w_v = large
    assert not torch.equal(w_q, w_k)
    assert not torch.equal(w_k, w_v)
    assert w_q.var().item() == pytest.approx(1 / 16, rel=0.1)


def test_each_projection_has_a_name_of_its_own():
    # The pictures stored in the notebooks rest on these numbers.
    for name, matrices in zip(("w_q", "w_k", "w_v"), head_projections(16, 2, 4), strict=True):
        for head in range(2):
            assert torch.equal(matrices[head], fixed_matrix(f"{name} of head {head}", 16, 4) / 4)


def test_shape_example_has_four_sentences_of_16_tokens():
    sentences, x = shape_example()
    assert [len(tokenize(sentence)) for sentence in sentences] == [16] * 4
    assert x.shape == (4, 16, 512)
    assert torch.equal(x[2], sentence_vectors(sentences[2], 512)[1])


@pytest.mark.parametrize(
    "call",
    [
        lambda: token_vectors(["a"], 0),
        lambda: sinusoidal_positions(0, 4),
        lambda: sinusoidal_positions(4, 0),
        lambda: fixed_matrix("a", 0, 1),
        lambda: fixed_matrix("a", 1, 0),
        lambda: head_projections(0, 1, 1),
        lambda: head_projections(1, 0, 1),
        lambda: head_projections(1, 1, 0),
    ],
)
def test_sizes_start_at_1(call):
    with pytest.raises(
        ValueError, match=r"^(d_model|n|rows|columns|num_heads|d_k) must be at least 1, got 0\.$"
    ):
        call()


def test_where_a_learner_calculates_in_float64_the_numbers_are_the_same_float32(float64_by_default):
    positions = sinusoidal_positions(50, 7)
    example = golden_example()
    assert positions.dtype == example.attention()(example.x)[0].dtype == torch.float32
    torch.set_default_dtype(torch.float32)
    assert torch.equal(positions, sinusoidal_positions(50, 7))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: token_vectors([], 4), ValueError, "^tokens is empty"),
        (lambda: token_vectors("abc", 4), TypeError, "one text for each token, got 'abc'"),
        (lambda: token_vectors(None, 4), TypeError, "one text for each token, got None"),
        (lambda: fixed_matrix(None, 2, 2), TypeError, "name must be a text, got None"),
        (lambda: fixed_matrix([1], 2, 2), TypeError, "name must be a text"),
    ],
)
def test_vectors_of_something_else_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
