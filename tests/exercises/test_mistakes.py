"""The library of mistakes: each list, asked about its own function, tells every mistake from every other."""

import math

import pytest
import torch
from exercise_rules import is_described, names_each_mistake, solution_of, status

from mha_helpers import (
    MultiHeadAttention,
    attention_scores,
    attention_weights,
    causal_mask,
    mask_scores,
    merge_heads,
    padding_mask,
    project_qkv,
    scale_scores,
    scaled_dot_product_attention,
    split_heads,
    weighted_values,
)
from mha_helpers.exercises import FunctionExercise, ModuleExercise, case, framework, numbers
from mha_helpers.exercises import mistakes as steps
from mha_helpers.exercises import whole_mistakes as whole

INFINITE = -math.inf


def _padded(b, n):
    """The last sentence is empty, so that each of its rows is without a key."""
    return padding_mask([max(n - 2 * sentence, 0) for sentence in range(b - 1)] + [0], n)


def projections():
    sizes = [(4, 4), (4, 4), (4, 4)]
    square = [numbers(*size, name=name) for size, name in zip(sizes, ("w_q", "w_k", "w_v"), strict=True)]
    wide = [numbers(6, size, name=name) for size, name in ((2, "w_q"), (2, "w_k"), (5, "w_v"))]
    return [case(numbers(3, 4), *square), case(numbers(2, 3, 6), *wide)]


def scores():
    shapes = [((3, 2), (3, 2)), ((2, 3, 4, 5), (2, 3, 6, 5)), ((4, 4, 4, 4), (4, 4, 4, 4))]
    return [case(numbers(*q, name="q"), numbers(*k, name="k")) for q, k in shapes]


def scalings():
    return [case(numbers(3, 3), 2), case(numbers(3, 4, 5), 16), case(numbers(2, 8, 3, 3), 64)]


def maskings():
    return [
        case(numbers(3, 3), causal_mask(3)),
        case(numbers(2, 2, 4, 4), _padded(2, 4)),
        case(numbers(3, 2, 4, 4), causal_mask(4) & _padded(3, 4)),
    ]


def softmaxes():
    blocked = numbers(2, 4, 4).masked_fill(~_padded(2, 4)[:, 0], INFINITE)
    return [case(numbers(3, 3)), case(numbers(2, 3, 4, 5)), case(200 * numbers(2, 3, 3)), case(blocked)]


def mixtures():
    pairs = [((3, 3), (3, 2)), ((2, 3, 4, 4), (2, 3, 4, 5))]
    return [case(numbers(*w, name="w").softmax(-1), numbers(*v, name="v")) for w, v in pairs]


def whole_attention():
    b, h, n, d_k, d_v = 3, 2, 4, 6, 6
    q, k = numbers(b, h, n, d_k, name="q"), numbers(b, h, n, d_k, name="k")
    v = numbers(b, h, n, d_v, name="v")
    small = [numbers(3, 3, name=name) for name in "qkv"]
    return [
        case(*small),
        case(*small, mask=causal_mask(3)),
        case(q, k, v),
        case(q, k, v, mask=_padded(b, n)),
        case(q, k, v, mask=causal_mask(n)),
        case(40 * q, k, v),
        case(400 * q, k, v, mask=causal_mask(n)),
    ]


def splits():
    return [case(numbers(3, 6), 3), case(numbers(2, 4, 12), 3), case(numbers(2, 6, 12), 2)]


def merges():
    return [case(numbers(3, 3, 2)), case(numbers(2, 3, 4, 5)), case(numbers(2, 2, 6, 3))]


def classes():
    x = numbers(3, 4, 12)
    build = {"d_model": 12, "num_heads": 3}
    return [
        case(numbers(1, 3, 6), build={"d_model": 6, "num_heads": 3}),
        case(30 * numbers(2, 5, 12), causal_mask(5), build=build),
        case(x, build=build),
        case(x, causal_mask(4), build=build),
        case(x, _padded(3, 4), build=build),
    ]


LIBRARY = {
    "PROJECTION": (steps.PROJECTION, project_qkv, projections),
    "SCORES": (steps.SCORES, attention_scores, scores),
    "SCALING": (steps.SCALING, scale_scores, scalings),
    "MASKING": (steps.MASKING, mask_scores, maskings),
    "CAUSAL_MASK": (steps.CAUSAL_MASK, causal_mask, lambda: [case(3), case(1), case(6)]),
    "SOFTMAX": (steps.SOFTMAX, attention_weights, softmaxes),
    "VALUES": (steps.VALUES, weighted_values, mixtures),
    "ATTENTION": (whole.ATTENTION, scaled_dot_product_attention, whole_attention),
    "SPLITTING": (whole.SPLITTING, split_heads, splits),
    "MERGING": (whole.MERGING, merge_heads, merges),
    "CLASS": (whole.CLASS, MultiHeadAttention, classes),
    "planted bugs": (
        whole.remaining_faults(
            {
                "reshape without transpose": "Tokens end up in other heads.",
                "mask polarity": "Look at the mask.",
                "no scale": "Look at the scores.",
            }
        ),
        MultiHeadAttention,
        classes,
    ),
}


@pytest.fixture
def exercise(request):
    mistakes, reference, cases = LIBRARY[request.param]
    kind = ModuleExercise if isinstance(reference, type) else FunctionExercise
    yield kind(
        "0.0",
        request.param,
        stars=1,
        minutes=3,
        variable="answer",
        reference=reference,
        cases=cases,
        mistakes=mistakes,
        praise="Yes.",
        hints=["Look.", "Look again."],
        solution=f"answer = {reference.__name__}",
    )
    framework._registry.pop("0.0", None)


@pytest.mark.parametrize("exercise", LIBRARY, indirect=True)
def test_each_mistake_is_told_from_every_other(exercise):
    faults = names_each_mistake(exercise)
    assert not faults, "\n".join(faults)
    assert status(exercise, solution_of(exercise))[0] == "correct"
    assert not is_described(exercise)


def test_the_usual_mistakes_are_all_there():
    wanted = {
        "ATTENTION": [
            "no scale", "÷d_k", "×√d_k", "÷√d_model", "mask polarity", "mask after softmax", "diagonal masked",
            "padding on rows", "−1e9", "softmax over queries", "softmax over everything",
            "softmax without the maximum", "weights built from V",
        ],
        "CAUSAL_MASK": ["triu for tril", "diagonal masked", "mask polarity"],
        "PROJECTION": ["V from W_K", "Q and K swapped"],
        "SCORES": [".T", "transposed picture", "elementwise product", "sum of elementwise product"],
        "SPLITTING": ["reshape without transpose", "transpose of the wrong axes: the last two"],
        "MERGING": ["reshape without transpose", "heads merged in the wrong order"],
        "CLASS": [
            "reshape without transpose", "heads merged in the wrong order", "W_O missing", "W_O transposed",
            "d_k taken as d_model", "bias forgotten", "mask polarity", "no scale", "V from W_K",
        ],
    }  # fmt: skip
    for name, mistakes in wanted.items():
        there = {mistake.name for mistake in LIBRARY[name][0]}
        assert not set(mistakes) - there, f"{name} lacks {set(mistakes) - there}"


def test_pick_takes_some_by_name_in_order_and_names_one_that_is_missing():
    picked = steps.pick(steps.SCALING, "÷d_k", "no scale")
    assert [mistake.name for mistake in picked] == ["÷d_k", "no scale"]
    with pytest.raises(KeyError, match="no such"):
        steps.pick(steps.SCALING, "no such")


def test_planted_bugs_are_counted_down_one_by_one():
    sentences = {"reshape without transpose": "A.", "mask polarity": "B.", "no scale": "C."}
    told = {mistake.name: mistake.sentence for mistake in whole.remaining_faults(sentences)}
    assert len(told) == 7
    assert told["reshape without transpose, mask polarity, no scale"] == "3 bugs are left. A."
    assert told["mask polarity, no scale"] == "2 bugs are left. B."
    assert told["no scale"] == "1 bug is left. C."


def test_a_faulty_class_differs_from_the_right_one_on_plain_or_large_numbers():
    build = {"d_model": 12, "num_heads": 3}
    torch.manual_seed(0)
    right = MultiHeadAttention(**build)
    for name in whole.FAULTS:
        wrong = whole.faulty_class(name)(**build)
        wrong.load_state_dict(right.state_dict(), strict=False)
        mask = causal_mask(3) & padding_mask([3, 2, 0], 3)
        inputs = numbers(3, 3, 12), 30 * numbers(3, 3, 12)  # 30: a hidden score can be very large
        same = [torch.equal(right(x, mask)[0].nan_to_num(9), wrong(x, mask)[0].nan_to_num(9)) for x in inputs]
        assert not all(same), name
