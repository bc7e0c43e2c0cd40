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
    merge_heads,
    sentence_vectors,
    shape_example,
    sinusoidal_positions,
    split_heads,
    token_vectors,
    tokenize,
)

CAT, EATS, FISH = 0, 1, 2
VISIBLE = 0.01  # a change in the second decimal
WRITTEN_DOWN = [[-0.6535, -1.6598], [-1.2183, -1.3173]]  # fixed_matrix("test", 2, 2)


def printed(q, k, v, w_o, to_weights):
    """Everything the notebooks print from the scores on: weights, heads, output."""
    weights = to_weights(q @ k.mT)
    heads = weights @ v
    return {"weights": weights, "heads": heads, "output": merge_heads(heads) @ w_o}


def right(scores):
    return torch.softmax(scores / math.sqrt(2), dim=-1)


@pytest.fixture
def golden():
    return golden_example()


@pytest.fixture
def trace(golden):
    with torch.no_grad():
        return golden.attention().trace(golden.x)


def test_sizes_and_names(golden):
    assert golden.x.shape == (3, 6)
    assert len(golden.tokens) == len(golden.chinese) == 3
    assert len(golden.features) == 6
    assert golden.num_heads * golden.d_k == 6
    assert len(golden.head_names) == golden.num_heads


# These numbers stand in stored pages and on slides, so changing one must be a decision, made here as well.
GOLDEN_NUMBERS = {
    "x": [[2, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [1, 0, 2, 0, 0, 1]],
    "q": [[2, 0, 0, 2, -1, 0], [2, -1, -1, 1, -1, 2], [1, 0, -2, 1, 1, -1]],
    "k": [[2, 0, 2, 0, -1, 2], [0, 1, 0, -1, 2, 0], [1, 2, 1, 2, 0, 1]],
    "v": [[2, 2, 0, 2, 2, 1], [0, -1, 1, 0, 0, 2], [-1, 1, 2, 1, -1, 0]],
}
GOLDEN_W_O = [
    [1, 0, 0, 0, 0, 1],
    [0, 1, 0, 1, 0, 0],
    [0, 0, 1, 0, 1, 0],
    [1, 0, 0, -1, 0, 0],
    [0, 0, 1, 0, 0, -1],
    [0, 1, 0, 0, 1, 0],
]


def test_every_number_and_name_of_the_golden_example_is_written_down(golden):
    found = {
        "x": golden.x,
        "q": golden.x @ golden.w_q,
        "k": golden.x @ golden.w_k,
        "v": golden.x @ golden.w_v,
    }
    assert {name: values.int().tolist() for name, values in found.items()} == GOLDEN_NUMBERS
    assert golden.w_o.int().tolist() == GOLDEN_W_O
    assert golden.tokens == ("cat", "eats", "fish")
    assert golden.chinese == ("猫", "吃", "鱼")
    assert golden.features == ("who acts", "what happens", "what is eaten", "1st", "2nd", "3rd")
    assert golden.head_names == ("who acts", "what is eaten", "previous token")
    for name in ("x", "w_q", "w_k", "w_v", "w_o"):
        assert getattr(golden, name).dtype == torch.float32, name


def test_everything_up_to_the_scores_is_a_small_integer(trace):
    for name in ("x", "q", "k", "v", "scores"):
        values = getattr(trace, name)
        assert torch.equal(values, values.round()), name
        assert values.abs().max() <= 5, name


def test_each_call_gives_fresh_tensors():
    golden_example().x.zero_()
    assert golden_example().x.abs().sum() > 0


def test_its_attention_leaves_the_learners_random_numbers_as_they_are(golden):
    before = torch.get_rng_state()
    golden.attention()
    assert torch.equal(torch.get_rng_state(), before)


def test_three_heads_do_what_their_names_say(trace):
    who_acts, what_is_eaten, previous = trace.weights
    assert who_acts[EATS].argmax() == CAT
    assert who_acts[EATS, CAT] > 0.9
    assert what_is_eaten[EATS].argmax() == FISH
    assert what_is_eaten[EATS, FISH] > 0.7
    assert previous[EATS].argmax() == CAT
    assert previous[FISH].argmax() == EATS
    assert min(previous[EATS, CAT], previous[FISH, EATS]) > 0.8


def test_head_3_looks_at_positions_only(golden):
    swapped = golden.x.clone()
    swapped[[CAT, FISH], :3] = golden.x[[FISH, CAT], :3]  # other words in the same places
    with torch.no_grad():
        attention = golden.attention()
        assert torch.equal(attention.trace(swapped).weights[2], attention.trace(golden.x).weights[2])
        assert not torch.equal(attention.trace(swapped).weights[0], attention.trace(golden.x).weights[0])


def test_queries_keys_and_values_differ_in_every_head(trace):
    for head in range(3):
        q, k, v = trace.q[head], trace.k[head], trace.v[head]
        for a, b in ((q, k), (k, v), (q, v)):
            assert (a != b).any(dim=-1).sum() >= 2, head  # not in one token alone: a learner must see it


def test_scores_are_not_symmetric_and_some_are_negative(trace):
    for scores in trace.scores:
        assert not torch.equal(scores, scores.T)
        assert scores.min() < 0


WRONG_WEIGHTS = {
    "no scale": lambda scores: torch.softmax(scores, dim=-1),
    "divided by d_k": lambda scores: torch.softmax(scores / 2, dim=-1),
    "times the root of d_k": lambda scores: torch.softmax(scores * math.sqrt(2), dim=-1),
    "divided by the root of d_model": lambda scores: torch.softmax(scores / math.sqrt(6), dim=-1),
    "softmax over the queries": lambda scores: torch.softmax(scores / math.sqrt(2), dim=-2),
    "softmax over the heads": lambda scores: torch.softmax(scores / math.sqrt(2), dim=-3),
    "queries and keys exchanged": lambda scores: right(scores.mT),
}


@pytest.mark.parametrize("mistake", WRONG_WEIGHTS)
def test_each_wrong_way_to_the_weights_is_visible_in_every_head(trace, golden, mistake):
    expected = printed(trace.q, trace.k, trace.v, golden.w_o, right)
    wrong = printed(trace.q, trace.k, trace.v, golden.w_o, WRONG_WEIGHTS[mistake])
    for head in range(3):
        assert (wrong["weights"][head] - expected["weights"][head]).abs().max() > VISIBLE
        assert (wrong["heads"][head] - expected["heads"][head]).abs().max() > VISIBLE
    assert (wrong["output"] - expected["output"]).abs().max() > VISIBLE
    # … and in what the page follows: the row of "eats"
    assert (wrong["weights"][:, EATS] - expected["weights"][:, EATS]).abs().max() > VISIBLE


def test_masking_after_the_softmax_is_visible(trace):
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    expected = torch.softmax((trace.scores / math.sqrt(2)).masked_fill(~mask, -math.inf), dim=-1)
    wrong = trace.weights.masked_fill(~mask, 0.0)
    for head in range(3):
        assert (wrong[head] - expected[head]).abs().max() > VISIBLE


@pytest.mark.parametrize("mistake", ["view", "values from w_k", "values from w_q"])
def test_wrong_heads_and_values_are_visible(trace, golden, mistake):
    if mistake == "view":
        q, k, v = ((golden.x @ w).view(3, 3, 2) for w in (golden.w_q, golden.w_k, golden.w_v))
    else:
        q, k, v = trace.q, trace.k, split_heads(golden.x @ (golden.w_k if "k" in mistake else golden.w_q), 3)
    expected = printed(trace.q, trace.k, trace.v, golden.w_o, right)
    wrong = printed(q, k, v, golden.w_o, right)
    for name in ("heads", "output"):
        assert (wrong[name] - expected[name]).abs().max() > VISIBLE


def test_wrong_ways_from_the_heads_to_the_output_are_visible(trace, golden):
    concat = merge_heads(trace.heads)
    wrong = {
        "no W_O": concat,
        "W_O transposed": concat @ golden.w_o.T,
        "heads in the wrong order": merge_heads(trace.heads.flip(0)) @ golden.w_o,
        "merged without transpose": trace.heads.reshape(3, 6) @ golden.w_o,
    }
    for mistake, output in wrong.items():
        assert (output - trace.output).abs().max() > VISIBLE, mistake
        assert (output[EATS] - trace.output[EATS]).abs().max() > VISIBLE, mistake


def test_no_printed_number_sits_on_a_rounding_edge(trace, golden):
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    with torch.no_grad():
        causal = golden.attention().trace(golden.x, mask)
    for run in (trace, causal):
        for name in ("scaled", "weights", "heads", "output"):
            values = getattr(run, name).double()
            for decimals in (2, 3):
                shifted = (values * 10**decimals) % 1
                assert (shifted - 0.5).abs().min() > 1e-4, (name, decimals)


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
