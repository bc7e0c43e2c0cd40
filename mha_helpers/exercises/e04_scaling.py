"""The exercises of notebook 04: the scale of any head, a published example, other spreads, a test."""

import itertools
import math

import torch

from mha_helpers.attention import attention_scores, scale_scores
from mha_helpers.examples import golden_example
from mha_helpers.exercises import FunctionExercise, Mistake, ValueExercise, case, numbers
from mha_helpers.exercises.mistakes import SCALING, pick
from mha_helpers.exercises.scales import SCALES


def _golden_scores():
    example = golden_example()
    return example.attention().trace(example.x).scores.detach()  # (h, n, n)


def _in_heads(mistake):
    """The same mistake for a function that is handed d_model and num_heads in place of d_k."""
    return Mistake(
        mistake.name,
        lambda scores, d_model, num_heads: mistake.wrong(scores, d_model // num_heads),
        mistake.sentence,
    )


scale_any_head = FunctionExercise(
    "4.1",
    "The scale of any head",
    stars=1,
    minutes=3,
    variable="my_scale",
    reference=lambda scores, d_model, num_heads: scale_scores(scores, d_model // num_heads),
    cases=lambda: [
        case(_golden_scores(), 6, 3),
        case(numbers(2, 4, 5, 7), 64, 4),
        case(numbers(5, 7), 30, 2),
        case(numbers(2, 8, 3, 3), 512, 8),
    ],
    mistakes=[
        *map(
            _in_heads, pick(SCALING, "no scale", "÷d_k", "×√d_k", "÷d_k²", "÷√n_k", "** 1/2 without brackets")
        ),
        Mistake(
            "÷√d_model",
            lambda scores, d_model, num_heads: scores / math.sqrt(d_model),
            "You divide by √d_model: how many products does a score of one head add up?",
        ),
        Mistake(
            "√d_model ÷ num_heads",
            lambda scores, d_model, num_heads: scores / (math.sqrt(d_model) / num_heads),
            "You divide by √d_model ÷ num_heads: first find the size of one head, then take its root.",
        ),
        Mistake(
            "÷√d_model ÷ num_heads",
            lambda scores, d_model, num_heads: scores / math.sqrt(d_model) / num_heads,
            "You divide by √d_model and by num_heads: first find the size of one head, then take its root.",
        ),
        Mistake(
            "÷√num_heads",
            lambda scores, d_model, num_heads: scores / math.sqrt(num_heads),
            "You divide by the root of the number of heads: how many columns of W_Q does each of them get?",
        ),
        Mistake(
            "÷num_heads",
            lambda scores, d_model, num_heads: scores / num_heads,
            "You divide by the number of heads: how many columns of W_Q does each of them get?",
        ),
        Mistake(
            "÷√(d_model · num_heads)",
            lambda scores, d_model, num_heads: scores / math.sqrt(d_model * num_heads),
            "You multiply d_model by the number of heads: do heads share its columns, or multiply them?",
        ),
        Mistake(
            "the page's d_k",
            lambda scores, d_model, num_heads: scores / math.sqrt(2),
            "You divide by √2, right for this page's d_k alone: compute d_k from d_model and num_heads.",
        ),
        Mistake(
            "divisor alone",
            lambda scores, d_model, num_heads: math.sqrt(d_model // num_heads),
            "That is the divisor, and a right one. What is to be done with it and the scores?",
        ),
        Mistake(
            "d_k alone",
            lambda scores, d_model, num_heads: d_model // num_heads,
            "That is d_k. Two steps are left: make the divisor of it, then scale the scores.",
        ),
        Mistake(
            "weights",
            lambda scores, d_model, num_heads: torch.softmax(
                scale_scores(scores, d_model // num_heads), dim=-1
            ),
            "These are weights, after softmax: that comes two pages later. What stands before it?",
        ),
        Mistake(
            "÷d_model",
            lambda scores, d_model, num_heads: scores / d_model,
            "You divide by d_model: neither the size nor the root is that of one head.",
        ),
    ],
    praise="The scale belongs to one head: d_k = d_model ÷ num_heads columns, and the root of that.",
    hints=[
        "How many columns of W_Q does each head get, if num_heads heads share d_model columns?",
        "That number is d_k. Its root is the divisor; math.sqrt gives it.",
    ],
    solution="""
def my_scale(scores, d_model, num_heads):
    d_k = d_model // num_heads
    return scores / math.sqrt(d_k)  # (…, n_q, n_k) -> (…, n_q, n_k)
""",
)

published_scale = ValueExercise(
    "4.2",
    "Find the error in a published example",
    stars=1,
    minutes=4,
    variable="my_row",
    answer=lambda: torch.tensor([100.0, 1.0, 2.0]) / math.sqrt(128),
    decimals=1,
    mistakes=[
        Mistake(
            "the published row",
            lambda: torch.tensor([1.0, 0.1, 0.2]),
            "That is the published row. Its first number is 100 ÷ 100: is √128 as large as that?",
        ),
        Mistake(
            "no scale",
            lambda: torch.tensor([100.0, 1.0, 2.0]),
            "These are the scores before the scale.",
        ),
        Mistake(
            "÷d_k",
            lambda: torch.tensor([100.0, 1.0, 2.0]) / 128,
            "You divide by d_k itself: the scale is its root.",
        ),
        Mistake(
            "×√d_k",
            lambda: torch.tensor([100.0, 1.0, 2.0]) * math.sqrt(128),
            "You multiply where you should divide: scaled scores lie closer together.",
        ),
        Mistake(
            "÷√d_model",
            lambda: torch.tensor([100.0, 1.0, 2.0]) / math.sqrt(512),
            "You divide by √512, so √d_model: which size belongs to one head?",
        ),
        Mistake(
            "weights",
            lambda: torch.softmax(torch.tensor([100.0, 1.0, 2.0]) / math.sqrt(128), dim=-1),
            "Your 100 became 1. By softmax? It comes later. Divided by 100? √128 is not as large.",
        ),
    ],
    praise="Softmax still turns this row into [1.00, 0.00, 0.00]: 100 lies nearly 9 spreads from 0,"
    " and no fair start makes that soft. To get from 100 to 1, d_k would have to be 10,000.",
    hints=[
        "Three scores go in and three come out, each divided by the same number.",
        "The number is the root of d_k, a little more than 11.",
    ],
    solution="""
my_row = torch.tensor([100.0, 1.0, 2.0]) / math.sqrt(128)
""",
)

other_spreads = ValueExercise(
    "4.3",
    "A divisor for other numbers",
    stars=2,
    minutes=5,
    variable="my_divisor",
    answer=48.0,
    decimals=1,
    mistakes=[
        Mistake(
            "√d_k alone", 8.0, "√64 = 8 is right if q and k have spread 1: here their numbers are larger."
        ),
        Mistake("spreads without d_k", 6.0, "6 is the spread of one product: a score adds 64 of them."),
        Mistake(
            "spreads times d_k", 384.0, "You take 64 products for 64 times the spread: much of a sum cancels."
        ),
        Mistake(
            "root of all",
            math.sqrt(6 * 64),
            "The root goes over d_k and the variances; 6 is a spread already.",
        ),
        Mistake(
            "variances times √d_k",
            36 * 8.0,
            "36 is the variance of one product: the spread is the root of it.",
        ),
        Mistake(
            "variance of the score",
            36 * 64.0,
            "This is the variance of a score: its spread is the root of it.",
        ),
        Mistake(
            "spreads added", 5 * 8.0, "You add the spreads of q and k: a score multiplies their numbers."
        ),
        Mistake(
            "spreads added, without d_k",
            5.0,
            "You add the spreads of q and k: a score multiplies their numbers.",
        ),
        Mistake(
            "factor",
            1 / 48,
            "A divisor near 0 makes scores larger, not smaller. Did you give the number to multiply with?",
        ),
        Mistake(
            "variances added",
            math.sqrt(13 * 64),
            "You add the variances of q and k: right for a sum q + k, but a score is made of products.",
        ),
    ],
    praise="Each product has spread 2 · 3 = 6, and 64 of them √64 times that. ÷√d_k alone would leave 6.",
    hints=[
        "What is the spread of one product, if one factor has spread 2 and the other spread 3?",
        "For independent numbers with mean 0, spreads multiply in a product.",
        "The score adds d_k such products, so its spread is √d_k times the spread of one.",
    ],
    solution="""
spread_of_a_product = 2 * 3
my_divisor = math.sqrt(64) * spread_of_a_product
""",
)


def _spread(scale, d_k):
    queries, keys = numbers(200, d_k, name="queries"), numbers(200, d_k, name="keys")
    return float(scale(attention_scores(queries, keys), d_k).std())


def _equal_spreads(scale):
    return abs(_spread(scale, 16) - _spread(scale, 256)) < 0.1


def _on_scores_of_spread_1(scale):
    scores = numbers(200, 200, name="scores")
    return all(0.8 < float(scale(scores, d_k).std()) < 1.25 for d_k in (16, 256))


def _near_one(*d_ks, low=0.8, high=1.25):
    return lambda scale: all(low < _spread(scale, d_k) < high for d_k in d_ks)


def _last_verdict_alone(last):
    def test(scale):
        _spread(scale, 4)
        return _near_one(last)(scale)

    return test


def _one_is_enough(one, other):
    return lambda scale: _near_one(one)(scale) or _near_one(other)(scale)


def _wavering(scale):
    if scale.right:
        return (
            "Your test says True and False of the right scale: it measures the spread of too few scores, or"
            " its limits are too close to 1."
        )
    return (
        f"Your test says True and False of “{scale}”: two d_k further apart may tell, or limits nearer to 1;"
        " or what it measures comes out large and small alike, as a sum does in which + and − cancel."
    )


def _to_the_last_bit(scale):
    scores = numbers(5, 5)
    return all(torch.equal(scale(scores, d_k), scores / math.sqrt(d_k)) for d_k in (2, 16, 37, 256))


scale_test = FunctionExercise(
    "4.4",
    "Write the test that catches a wrong scale",
    stars=3,
    minutes=8,
    variable="my_test",
    reference=_near_one(16, 256),
    cases=lambda: [case(scale) for scale in SCALES],
    calls=12,  # a scale on both limits says True and False in turn: few calls could all agree
    unsteady=lambda inputs: _wavering(*inputs.args),
    mistakes=[
        Mistake(
            "accepts everything",
            lambda scale: True,
            "Your test lets every scale pass, even none at all: which number tells them apart?",
        ),
        Mistake(
            "refuses everything",
            lambda scale: False,
            "Your test lets no scale pass, not even the right one: print what it measures there. Is that near"
            " 1?",
        ),
        Mistake(
            "the wrong way round",
            lambda scale: not _near_one(16, 256)(scale),
            "Your test says True for the wrong scales and False for the right one: turn it round.",
        ),
        *(
            Mistake(
                f"d_k = {d_k} alone",
                _near_one(d_k),
                f"Your test lets {scale} pass for every head: it is right where d_k is {d_k}. Does your test"
                " get as far as a second d_k, and are its limits narrow enough there?",
            )
            for d_k, scale in ((64, "÷8"), (512, "÷√512"), (16, "÷4"))
        ),
        Mistake(
            "another d_k alone",
            _near_one(128),
            "Your test tries one d_k, or two that are close: a divisor that stays the same slips through."
            " Does a loop get as far as the second?",
        ),
        *(
            Mistake(
                f"last verdict alone, {last}",
                _last_verdict_alone(last),
                "Your test lets pass what is wrong at the first d_k alone: does your loop overwrite its"
                " verdict?",
            )
            for last in (16, 64, 256, 512)
        ),
        *(
            Mistake(
                f"one that fits is enough, {one} or {other}",
                _one_is_enough(one, other),
                "Your test is content as soon as one d_k fits: must one of them fit, or all?",
            )
            for one, other in itertools.combinations((16, 64, 512, 128, 256), 2)
        ),
        Mistake(
            "to the last bit",
            _to_the_last_bit,
            "You compare to the last bit. scores * d_k**-0.5 is right, too, and rounded differently: allow a"
            " little, as torch.allclose does.",
        ),
        Mistake(
            "no lower limit",
            _near_one(16, 256, low=0.0),
            "Your test notices scores that spread too far, not those that lie too close.",
        ),
        Mistake(
            "no upper limit",
            _near_one(16, 256, high=math.inf),
            "Your test notices scores that lie too close together, not those that spread too far.",
        ),
        Mistake(
            "equal spreads",
            _equal_spreads,
            "Your test asks for equal spreads alone: a scale that makes all of them too small passes. Near"
            " which number must they be?",
        ),
        Mistake(
            "scores of spread 1",
            _on_scores_of_spread_1,
            "Your scores have spread 1 before the scale, whatever d_k is: make them from queries and keys of"
            " d_k numbers.",
        ),
        Mistake(
            "d_k = 1",
            _near_one(1),
            "You test with d_k = 1, where √d_k, d_k and no scale at all are the same.",
        ),
    ],
    praise="Your test passes the right scale in both spellings and none of the nine wrong ones."
    " A divisor that never changes shows only where two values of d_k are tested.",
    hints=[
        "Make random queries and keys with torch.randn, then scores; hand these to scale(scores, d_k).",
        "What is the spread (.std()) after the right scale? Allow some distance: it is measured, not exact.",
        "A fixed divisor is right for one d_k. Test a second one, and return True only if both are right.",
    ],
    solution="""
def my_test(scale):
    for d_k in [16, 256]:
        q = torch.randn(500, d_k)
        k = torch.randn(500, d_k)
        scores = q @ k.transpose(-2, -1)  # (500, d_k) -> (500, 500)
        spread = scale(scores, d_k).std()
        if not 0.8 < spread < 1.25:
            return False
    return True
""",
)
