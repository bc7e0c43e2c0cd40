"""The exercises of page 04: which root, what a wrong root does, and a test that catches wrong scales."""

import copy
import math
from functools import partial

import torch

from mha_course.exercises import TestExercise, ValueExercise


def _nudge_for(growth, wanted):
    """Say which nudge of the score would make a wrong growth of its weight."""
    before = 1 if wanted > 0.005 else 8  # how far the score lies above the other one
    new = growth + torch.tensor(before).double().sigmoid()
    if growth < 0:
        return "says that a weight falls: which weight, or what minus what?"
    if new >= 1:
        return "would lift the weight above 1: how near to it is the old one?"
    moves = (move for move in (0.8, 0.8 / 8, 0.8 / 64) if abs(new.logit() - before - move) < 0.03 * move)
    return next(
        (f"is what softmax gives if the score moves by {move:.3g}: how far does it?" for move in moves), None
    )


stands_still = ValueExercise(
    "4.1 ★ · 5 min · A row that stands still",
    decimals=4,
    describe=_nudge_for,
    task="""
    In a head with d_k = 64 a query scores 16 with one word and 8 with another, before any scaling. Training
    nudges the first score up, from 16 to 16.8. By how much does the weight of the first word grow, to four
    decimals, if the scores are scaled, and if they are not? `torch.softmax` may help.
    """,
    mistakes=[
        ({"scaled": 0.0263}, "“scaled” is the relative growth: what is new minus old?"),
        ({"scaled": 0.0197}, "“scaled” fits 0.1 · slope, but the slope falls: subtract the two weights."),
        ({"scaled": 0.0108}, "“scaled” is 16.8/24.8 − 16/24: which number does softmax raise to a score?"),
        ({"scaled": 0.7503}, "“scaled” is the new weight: by how much is it above the old one?"),
        ({"scaled": 0.0031}, "“scaled” divides by d_k, not its root."),
        ({"scaled": 0.1}, "“scaled” is how far the score moves: how far does softmax then move the weight?"),
        ({"scaled": 0.0002}, "“scaled” is what the other would be: are 16, 16.8 and 8 divided first?"),
        ({"not scaled": 0.9998}, "“not scaled” is the weight, or new over old: how much is added?"),
        ({"not scaled": 0.0}, "“not scaled” is small, but not 0: how much is left to four decimals?"),
    ],
    praise="Unscaled, the row is nearly saturated: the same nudge moves its weight a hundred times less.",
    hints=[
        "Scaled means divided by √64 = 8: the scores are 2 and 1, and after the nudge 2.1 and 1.",
        "Take the softmax of both rows, before and after, and subtract the first weights.",
    ],
    solution="""
def weight(first, second):
    return torch.softmax(torch.tensor([first, second]), dim=-1)[0]


grows_by = {
    "scaled": weight(16.8 / 8, 8 / 8) - weight(16 / 8, 8 / 8),  # √64 = 8
    "not scaled": weight(16.8, 8.0) - weight(16.0, 8.0),
}
""",
)


wrong_root = ValueExercise(
    "4.2 ★★ · 6 min · A colleague takes the wrong root",
    decimals=2,
    task="""
    A model has d_model = 512 and 8 heads. Its queries and keys are random numbers with mean 0 and
    spread 1, so correctly scaled scores have a spread of 1. A colleague divides by √d_model in place of
    √d_k. What spread do her scores have, to at least two decimals? And will her rows of weights be
    `"flatter"` or `"sharper"` than they should be?
    """,
    mistakes=[
        ({"spread": 8**0.5}, "“spread” is above 1: does she divide by too much, or by too little?"),
        ({"spread": 2.8}, "“spread” is above 1: does she divide by too much, or by too little?"),
        ({"spread": 1 / 8}, "“spread” is 64/512, or √8/√512: what spread does a sum of 64 products have?"),
        ({"spread": 8.0}, "“spread” is that of the scores before any scaling: what does she divide them by?"),
        ({"spread": 0.0442}, "“spread” forgets what is divided: how far does a sum of 64 products spread?"),
        (
            {"spread": 1.0},
            "“spread” is that of queries and keys, and of right scores: what are hers divided by?",
        ),
        (
            {"spread": 512**0.5},
            "“spread” is √512, what she divides by: what is the spread of what she divides?",
        ),
        ({"spread": 8 / 512}, "“spread” divides by d_model itself: she takes its root."),
        ({"rows": "sharper"}, "“rows” is not right: what does softmax do when scores come closer together?"),
    ],
    praise="Her scores come out √8 times too small, so at first her heads can hardly settle on one word.",
    hints=[
        "How many products does a score of one head add up, and what spread does that sum have?",
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


def _first_root(met, scores, d_k):
    """Divide by the root of the first d_k. Each call of a learner's test gets a new copy of what was met."""
    met.append(d_k)
    return scores / met[0] ** 0.5


def _first_only(axis, scores, d_k):
    """Divide the first row (axis −2) or column (−1) only, of a list the first number."""
    scores = torch.as_tensor(scores)
    along = max(axis, -max(scores.dim(), 1))
    return scores / torch.ones(scores.shape).index_fill(along, torch.arange(scores.numel())[:1], d_k**0.5)


def _diagonal_only(scores, d_k):
    """Divide each query's score with the key of its own number, of a list the first number."""
    scores = torch.atleast_2d(torch.as_tensor(scores))
    return scores / (1 + torch.eye(*scores.shape[-2:]) * (d_k**0.5 - 1))


SCALING = {
    "÷√d_k": (lambda scores, d_k: scores / d_k**0.5, "it brings random q @ k.T to a spread near 1."),
    "× d_k to the power −0.5": (lambda scores, d_k: scores * d_k**-0.5, "it divides by √d_k, too."),
}
NOT_SCALING = {
    "no scale": (lambda scores, d_k: scores, "its scores have the spread √d_k."),
    "÷d_k": (lambda scores, d_k: scores / d_k, "its scores have the spread 1/√d_k, not 1."),
    "×√d_k": (lambda scores, d_k: scores * d_k**0.5, "its scores have the spread d_k, not 1."),
    "÷8, whatever d_k is": (lambda scores, d_k: scores / 8, "it is right at d_k = 64 only."),
    "÷√512, whatever d_k is": (lambda scores, d_k: scores / 512**0.5, "it is right at 512 only."),
    "÷ the root of the first d_k that it meets": (partial(_first_root, []), "the second d_k shows it."),
    "÷(4 · √d_k)": (lambda scores, d_k: scores / (4 * d_k**0.5), "its spread is 0.25 at any d_k alike."),
    "÷√(d_k + 8)": (lambda scores, d_k: scores / (d_k + 8) ** 0.5, "at d_k = 4 its spread is 0.58."),
    "÷√d_k rounded down": (lambda scores, d_k: scores / int(d_k**0.5), "at d_k = 3 its spread is 1.73."),
    "÷√d_k, at most ÷4": (lambda scores, d_k: scores / min(d_k, 16) ** 0.5, "at d_k = 64 its spread is 2."),
    "÷√d_k, at least ÷8": (lambda scores, d_k: scores / max(d_k, 64) ** 0.5, "it is right from d_k = 64 on."),
    "only the first row divided": (partial(_first_only, -2), "all its other rows keep their spread of √d_k."),
    "only the first column divided": (partial(_first_only, -1), "its other columns keep their spread."),
    "only the diagonal divided": (_diagonal_only, "it divides no score of a query with another's key."),
}


class ScaleTest(TestExercise):
    """Say what a test does with a right scale: which scores it makes, and of which sizes."""

    def _slip(self, test, verdicts, candidate):
        tried = self._spreads(test)
        if not any(verdicts):
            d_k, (spread, many) = max(tried.items(), key=lambda each: abs(math.log(each[1][0] + 1e-9)))
            end = "your test says False: what does it measure, and how much room does it leave?"
            to_1 = self._says(test, lambda scores, _: scores / scores.std()) is True
            if to_1 and many < 20:
                end = f"many random queries and keys with d_k = {d_k:g} give 1: are yours many, and random?"
            elif to_1 and abs(spread - 1) > 4 / (d_k * many) ** 0.5:  # farther than by chance
                end = f"random queries and keys with d_k = {d_k:g} give 1: how were yours made?"
            return f"With d_k = {d_k:g}, rightly scaled, your scores have a spread of {spread:.3g}, and {end}"
        if not any(verdicts[: len(SCALING)]):
            passing = [f"“{each.name}”" for each, said in zip(self.candidates, verdicts, strict=True) if said]
            words = f"Your test says False of both right scales, and True of {' and '.join(passing[:2])}"
            return f"{words}: what does it ask for?"
        if candidate.is_right or not self._cannot_show(test, candidate):
            return None  # its sizes are not to blame
        if len(tried) == 1:
            return f"Handed a right scale, your test tries d_k = {min(tried):g} only: are there others?"
        if all((d_k**0.5).is_integer() for d_k in tried):
            return f"Your test tries square numbers only, such as d_k = {min(tried):g}, where √d_k is whole."
        return None

    def _cannot_show(self, test, candidate):
        """Return whether a wrong scale is right on all that a test tries."""
        function = copy.deepcopy(candidate.function)
        tried = [(torch.as_tensor(scores), d_k) for scores, d_k in self._handed(test)]
        pairs = [(torch.as_tensor(function(scores, d_k)), scores / d_k**0.5) for scores, d_k in tried]
        return all(torch.allclose(scaled.to(right), right) for scaled, right in pairs)

    def _spreads(self, test):
        """Return for each d_k that a test tries the spread of its scores over √d_k, and their number."""
        spreads = {}
        for scores, d_k in self._handed(test):
            numbers = torch.as_tensor(scores).float()
            spread = float(numbers.std(correction=int(numbers.numel() > 1))) / d_k**0.5
            spreads[float(d_k)] = spread, max(1, min(numbers.shape[-2:], default=1))  # of queries or keys
        return spreads


scale_test = ScaleTest(
    "4.3 ★★★ · 11 min · Write the test that catches a wrong scale",
    right=SCALING,
    wrong=NOT_SCALING,
    times=3,
    task="""
    Somebody hands you a function `scale(scores, d_k)`. Return `True` if it scales rightly for every size
    of head, be it 64 or 80, else `False`. The check hands your test many, two of which are right. Five
    hundred queries and keys suffice.
    """,
    praise="One size misses the divisor that is right there, squares alone a rounded root: yours miss none.",
    hints=[
        "Make random queries and keys with torch.randn, then scores; hand these to scale(scores, d_k).",
        "What spread, .std(), should a correctly scaled result have? It is measured, so leave some room.",
        "A divisor that never changes is right for one d_k: test two that lie far apart, not only squares.",
    ],
    solution="""
def my_test(scale):
    # scale(scores, d_k) -> True or False
    for d_k in [8, 256]:
        q = torch.randn(500, d_k)
        k = torch.randn(500, d_k)
        scores = q @ k.transpose(-2, -1)  # (500, d_k) @ (d_k, 500) -> (500, 500)
        if not 0.8 < scale(scores, d_k).std() < 1.25:
            return False
    return True
""",
)
