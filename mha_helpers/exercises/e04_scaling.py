"""The exercises of page 04: which root, what a wrong root does, and a test that catches wrong scales."""

import math

import torch

from mha_helpers.attention import attention_scores
from mha_helpers.exercises import TestExercise, ValueExercise

ROW = torch.tensor([12.0, 4.0, -8.0, 2.0])

which_root = ValueExercise(
    "4.1",
    "Which root?",
    stars=1,
    minutes=3,
    right=ROW / 4,
    task="""
    A layer has d_model = 48, and its 3 heads share these columns equally. In head 1, one word scores
    [12, 4, −8, 2] on the four words of a sentence. Scale this row with pencil and paper.
    """,
    stub="my_row = ...  # four numbers, as a list",
    mistakes=[
        (ROW / 48**0.5, "You divide by √48: does one head have 48 features?"),
        (ROW / 48, "You divide by d_model: how many features does one head have, and which root is missing?"),
        (ROW / 16, "You divide by d_k itself: which step turns it into the divisor?"),
        (ROW / 3, "You divide by the number of heads: how many features does each of them get?"),
        (ROW / 3**0.5, "You divide by √3, the root of the number of heads: how many features does each get?"),
        (
            ROW / 2,
            "You divide by √4, and 4 is the number of words: what does a score add up, words or features?",
        ),
        (ROW * 4, "You multiply by 4: should scaled scores lie closer together, or further apart?"),
        (ROW, "These are still the scores before the scale."),
        (4.0, "That is the divisor, and it is the right one. What becomes of the four scores?"),
    ],
    praise="The root is that of one head: 48 ÷ 3 = 16 products are added up in a score, and √16 = 4.",
    hints=[
        "A score adds up as many products as one head has features. How many are that here?",
        "Take the root of that number, and divide each of the four scores by it.",
    ],
    solution="""
d_k = 48 // 3  # 16 features a head
my_row = [score / math.sqrt(d_k) for score in [12, 4, -8, 2]]
""",
)

wrong_root = ValueExercise(
    "4.2",
    "A colleague takes the wrong root",
    stars=2,
    minutes=5,
    right={"spread": 8 / math.sqrt(512), "rows": "flatter"},
    decimals=2,
    task="""
    A model has d_model = 512 and 8 heads. Its queries and keys are random numbers with mean 0 and
    spread 1, so correctly scaled scores have a spread of 1. A colleague divides by √d_model in place of
    √d_k. Which spread do her scores have, to two decimals at least? And will her rows of weights be
    `"flatter"` or `"sharper"` than they should be?
    """,
    stub="""
colleague = {
    "spread": ...,
    "rows": ...,
}
""",
    mistakes=[
        ({"spread": 8**0.5}, "“spread” is upside down: she divides by more than she should."),
        (
            {"spread": 1 / 8},
            "“spread” is the ratio of two sizes: does she divide by sizes, or by their roots?",
        ),
        ({"spread": 8.0}, "“spread” is that of the scores before any scale: what does she divide them by?"),
        ({"spread": 1.0}, "“spread” would be 1 with the right divisor: how much larger is hers?"),
        ({"spread": 512**-0.5}, "“spread” forgets what is divided: which spread has a sum of 64 products?"),
        ({"spread": 512**0.5}, "“spread” is her divisor: which spread do the scores have that she divides?"),
        ({"spread": 8 / 512}, "“spread” divides by d_model itself: she takes its root."),
        ({"rows": "sharper"}, "“rows” is not right: what does softmax do when scores come closer together?"),
    ],
    praise="Her scores come out √8 times too small, so her heads can hardly decide for one word.",
    hints=[
        "How many products does a score of one head add up, and which spread has that sum?",
        "Divide this spread by √512.",
        "The smaller the spread, the closer the scores: what does softmax make of equal ones?",
    ],
    solution="""
d_k = 512 // 8
colleague = {
    "spread": math.sqrt(d_k) / math.sqrt(512),  # 8 / 22.6
    "rows": "flatter",
}
""",
)


def _spread(scale, d_k):
    q, k = torch.randn(200, d_k), torch.randn(200, d_k)
    return float(scale(attention_scores(q, k), d_k).std())


def _test(*d_ks, low=0.8, high=1.25):
    return lambda scale: all(low < _spread(scale, d_k) < high for d_k in d_ks)


def _spread_1_before(scale):
    return all(0.8 < float(scale(torch.randn(200, 200), d_k).std()) < 1.25 for d_k in (4, 256))


def _equal_spreads(scale):
    return abs(_spread(scale, 4) - _spread(scale, 256)) < 0.15


def _one_that_fits(scale):
    return _test(4)(scale) or _test(256)(scale)


_ONE_D_K = "It is right for one d_k: does your test get as far as a second one?"


class _FirstRoot:
    """Right at every single d_k. Each call of a learner's test gets a new copy."""

    d_k = None

    def __call__(self, scores, d_k):
        self.d_k = self.d_k or d_k
        return scores / self.d_k**0.5


_PRINT = "Print the spread that your test measures there."
_LEVEL = "Its spread is the same for every d_k: near which number must it be?"
_SMALL = "It is nearly right where d_k is large: try a small one, or narrower limits."

scale_test = TestExercise(
    "4.3",
    "Write the test that catches a wrong scale",
    stars=3,
    minutes=8,
    candidates=[
        ("÷√d_k", lambda scores, d_k: scores / d_k**0.5, True),
        ("× d_k to the power −0.5", lambda scores, d_k: scores * d_k**-0.5, True),
        ("no scale", lambda scores, d_k: scores, False, _PRINT),
        ("÷d_k", lambda scores, d_k: scores / d_k, False, _PRINT),
        ("×√d_k", lambda scores, d_k: scores * d_k**0.5, False, _PRINT),
        ("÷8, whatever d_k is", lambda scores, d_k: scores / 8, False, _ONE_D_K),
        ("÷√512, whatever d_k is", lambda scores, d_k: scores / 512**0.5, False, _ONE_D_K),
        ("÷ the root of the first d_k that it meets, ever after", _FirstRoot(), False, _ONE_D_K),
        ("÷(4 · √d_k)", lambda scores, d_k: scores / (4 * d_k**0.5), False, _LEVEL),
        ("÷√(d_k + 8)", lambda scores, d_k: scores / (d_k + 8) ** 0.5, False, _SMALL),
    ],
    times=3,
    task="""
    Somebody hands you a function `scale(scores, d_k)`. Return `True` if it scales as it should for
    every size of head, else `False`. The check hands your test ten scales, two of which are right.
    """,
    stub="""
def my_test(scale):
    # scale(scores, d_k) -> True or False
    ...
""",
    mistakes=[
        (
            _test(4, 256, low=0.0),
            "Your test notices scores that spread too far, and not those too close together.",
        ),
        (
            _test(4, 256, high=9e9),
            "Your test notices scores too close together, and not those that spread too far.",
        ),
        (_spread_1_before, "Your scores have spread 1 before the scale: make them from queries and keys."),
        (_equal_spreads, "Your test asks for equal spreads only: near which number must they be?"),
        (_one_that_fits, "Your test is content as soon as one d_k fits: must one of them fit, or all?"),
        (_test(1), "You test with d_k = 1, where √d_k, d_k and no scale at all are the same."),
    ],
    praise="A divisor that never changes shows only where two sizes are tested.",
    hints=[
        "Make random queries and keys with torch.randn, then scores; hand these to scale(scores, d_k).",
        "Which spread, .std(), has the result if the scale is right? It is measured, so allow some distance.",
        "A divisor that never changes is right for one d_k: test two that lie far apart, and ask for both.",
    ],
    solution="""
def my_test(scale):
    for d_k in [4, 256]:
        q = torch.randn(500, d_k)
        k = torch.randn(500, d_k)
        scores = q @ k.transpose(-2, -1)  # (500, d_k) @ (d_k, 500) -> (500, 500)
        if not 0.8 < scale(scores, d_k).std() < 1.25:
            return False
    return True
""",
)
