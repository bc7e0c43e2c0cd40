"""The text alternatives of the heatmaps say what the data say."""

import pytest
import torch

from mha_helpers import causal_mask, golden_example
from mha_helpers.figures import head_heatmaps, heatmap


@pytest.fixture
def golden():
    example = golden_example()
    return example, example.attention().trace(example.x[None])


def test_the_words_say_who_attends_to_whom(golden):
    example, trace = golden
    assert heatmap(trace.weights[0, 0], example.tokens).alt == (
        "Attention weights, 3 queries × 3 keys. cat attends most to cat (0.77);"
        " eats attends most to cat (0.92); fish attends most to cat (0.58)."
    )


def test_the_words_follow_the_data():
    weights = torch.tensor([[0.1, 0.9], [0.5, 0.5]])
    assert "a attends most to b (0.90); b attends most to a and b (0.50 each)" in heatmap(weights, "ab").alt
    assert "a attends most to b (0.50 each)" not in heatmap(weights, "ab").alt
    flipped = heatmap(weights.flip(-1), "ab").alt
    assert "a attends most to a (0.90)" in flipped


def test_masked_cells_are_counted_and_never_win():
    weights = torch.tensor([[0.9, 0.05, 0.05]] * 3)
    mask = torch.tensor([[False, True, True], [True, True, False], [False, False, False]])
    alt = heatmap(weights, "abc", mask=mask).alt
    assert "a attends most to b and c (0.05 each)" in alt
    assert "b attends most to a (0.90)" in alt
    assert "c attends to nothing" in alt
    assert alt.endswith("Masked: 5 of 9 cells.")
    assert "Masked" not in heatmap(weights, "abc").alt


def test_uniform_empty_and_broken_rows_are_said():
    alt = heatmap(torch.tensor([[1 / 3] * 3, [0.0] * 3, [float("nan")] * 3]), "abc").alt
    assert "a attends equally to all 3 keys it may see (0.33 each)" in alt
    assert "b attends to nothing" in alt
    assert "c has no weights (nan)" in alt


def test_scores_of_minus_infinity_are_masked(golden):
    example, _ = golden
    trace = example.attention().trace(example.x[None], causal_mask(3))
    alt = heatmap(trace.masked[0, 0], example.tokens, kind="scores").alt
    assert alt.startswith("Scores, 3 queries × 3 keys. The scores go from −0.71 to 2.83.")
    assert "eats scores highest with cat (2.83)" in alt and alt.endswith("Masked: 3 of 9 cells.")


def test_vectors_are_read_out(golden):
    example, _ = golden
    alt = heatmap(example.x, example.tokens, example.features, kind="vectors", title="x").alt
    assert alt.startswith(
        "x, 3 tokens × 6 features. Columns: who acts, what happens, what is eaten, 1st, 2nd, 3rd."
        " cat: 2, 0, 0, 1, 0, 0; eats: 0, 1, 0, 0, 1, 0;"
    )


def test_vectors_are_read_out_up_to_eight_rows_and_eight_columns():
    for rows, columns in ((8, 8), (9, 8), (8, 9)):
        table = torch.arange(rows * columns).view(rows, columns)
        names = [f"r{row}" for row in range(rows)], [f"c{column}" for column in range(columns)]
        alt = heatmap(table.float(), *names, kind="vectors", title="x").alt
        few = (rows, columns) == (8, 8)
        assert ("; r7: 56, 57, 58," in alt) == few
        assert alt.endswith(f"The numbers go from 0 to {rows * columns - 1}.") != few


def test_rows_and_columns_are_named_as_on_the_axes():
    table = torch.eye(2)
    alt = heatmap(table, ["a", "b"], kind="vectors", title="slopes", axes=("weight", "score")).alt
    assert alt.startswith("slopes, 2 weights × 2 scores. a: 1, 0; b: 0, 1.")
    alt = heatmap(table[:1], ["a"], ["b", "c"], kind="scores", axes=("query", "entry")).alt
    assert alt.startswith("Scores, 1 query × 2 entries.")


def test_frames_are_said():
    words = [heatmap(torch.eye(2), ["a", "b"], highlight=lit).alt for lit in ((1, None), (None, 0), [(0, 1)])]
    assert [alt.rpartition("Framed: ")[2] for alt in words] == [
        "row 2 (b).",
        "column 1 (a).",
        "row 1 (a), column 2 (b).",
    ]
    assert heatmap(torch.eye(2), highlight=(None, None)).alt.endswith(" Framed: all.")
    assert head_heatmaps(torch.eye(2)[None], ["a", "b"], highlight=(1, None)).alt.endswith(
        "\nFramed: row 2 (b)."
    )
    assert "Framed" not in heatmap(torch.eye(2), ["a", "b"]).alt


def test_a_row_with_one_key_and_stripes_of_many_tokens():
    causal = torch.ones(12, 12, dtype=torch.bool).tril()
    weights = causal / causal.sum(dim=-1, keepdim=True)
    for query in range(3, 12):
        weights[query] = 0
        weights[query, query - 3], weights[query, query] = 0.75, 0.25
    words = heatmap(weights, mask=causal).alt
    assert "Of the rows with more than one key, the largest weight is 0.75: query 4 on key 1." in words
    assert "On average the largest weight of such a row is 0.69." in words
    assert words.count("Averages along a diagonal: 0.75 on the key 3 before the query.") == 1
    ahead = heatmap(torch.eye(12).roll(1, dims=1)).alt
    assert "Averages along a diagonal: 1.00 on the key 1 after the query." in ahead
    own = heatmap(torch.eye(12) * 0.6 + torch.eye(12).roll(-2, dims=1) * 0.4).alt
    assert "0.60 on the query's own place and 0.40 on the key 2 before the query." in own
    assert "diagonal" not in heatmap(torch.full((12, 12), 1 / 12)).alt
    assert "diagonal" not in heatmap(torch.eye(12)[:, :10]).alt
    for column in (0, 8):
        weights = torch.full((9, 9), 0.05 / 8)
        weights[:, column] = 0.95
        assert "diagonal" not in heatmap(weights).alt
    assert "No query has a weight to read." in heatmap(torch.eye(9), mask=torch.zeros(9, 9).bool()).alt


def test_of_weights_equal_up_to_rounding_the_first_is_named():
    weights = torch.full((9, 9), 0.1)
    weights[1, 2], weights[5, 6] = 0.5, 0.500001
    assert "The largest weight is 0.50: query 2 on key 3." in heatmap(weights).alt


def test_many_tokens_are_summarised():
    weights = torch.full((40, 40), 0.01)
    weights[7, 3] = 0.61
    alt = heatmap(weights).alt
    assert "The largest weight is 0.61: query 8 on key 4." in alt and len(alt) < 300
    masked = heatmap(weights, mask=torch.arange(40) != 3).alt
    assert "0.61" not in masked and "Masked: 40 of 1600 cells." in masked


def test_each_head_has_its_line(golden):
    example, trace = golden
    lines = head_heatmaps(trace.weights[0], example.tokens, example.head_names).alt.splitlines()
    assert len(lines) == 4
    assert "eats attends most to cat (0.92)" in lines[1] and lines[1].startswith("Head 1 (who acts)")
    assert "eats attends most to fish (0.73)" in lines[2] and lines[2].startswith("Head 2 (what is eaten)")
    assert "eats attends most to cat (0.89)" in lines[3] and lines[3].startswith("Head 3 (previous token)")
