"""What the test of exercise 4.3 is handed: scales, two of them right. And which sizes of head it tries."""

import torch

from mha_helpers.exercises import TestExercise
from mha_helpers.exercises.compare import as_python
from mha_helpers.exercises.running import run


class _FirstRoot:
    """Right at every single d_k. Each call of a learner's test gets a new copy."""

    d_k = None

    def __call__(self, scores, d_k):
        self.d_k = self.d_k or d_k
        return scores / self.d_k**0.5


def _first_only(axis):
    """Return a scale that divides the first row (axis −2) or column (−1) only, of a list one number."""

    def scale(scores, d_k):
        scores = torch.as_tensor(scores)
        along = max(axis, -max(scores.dim(), 1))
        return scores / torch.ones(scores.shape).index_fill(along, torch.arange(scores.numel())[:1], d_k**0.5)

    return scale


SCALING = {
    "÷√d_k": (lambda scores, d_k: scores / d_k**0.5, "it brings random q @ k.T to a spread near 1."),
    "× d_k to the power −0.5": (lambda scores, d_k: scores * d_k**-0.5, "it divides by √d_k, too."),
}
NOT_SCALING = {
    "no scale": (lambda scores, d_k: scores, "its scores have the spread √d_k."),
    "÷d_k": (lambda scores, d_k: scores / d_k, "its scores have the spread 1/√d_k."),
    "×√d_k": (lambda scores, d_k: scores * d_k**0.5, "its scores have the spread d_k."),
    "÷8, whatever d_k is": (lambda scores, d_k: scores / 8, "it is right at d_k = 64 only."),
    "÷√512, whatever d_k is": (lambda scores, d_k: scores / 512**0.5, "it is right at 512 only."),
    "÷ the root of the first d_k that it meets": (_FirstRoot(), "the second d_k shows it."),
    "÷(4 · √d_k)": (lambda scores, d_k: scores / (4 * d_k**0.5), "its spread is 0.25 for every d_k."),
    "÷√(d_k + 8)": (lambda scores, d_k: scores / (d_k + 8) ** 0.5, "at d_k = 4 its spread is 0.58."),
    "÷ the whole part of √d_k": (
        lambda scores, d_k: scores / int(d_k**0.5),
        "it is right at square numbers only: at d_k = 3 its spread is 1.73.",
    ),
    "÷√d_k up to 16, then ÷4": (
        lambda scores, d_k: scores / min(d_k, 16) ** 0.5,
        "at d_k = 64 its spread is 2.",
    ),
    "only the first row divided": (_first_only(-2), "all its other rows keep their spread of √d_k."),
    "only the first column divided": (_first_only(-1), "its other columns keep their spread."),
}


class ScaleTest(TestExercise):
    """If a wrong scale passes, say where the sizes that a test tries cannot tell it from a right one."""

    def _slip(self, test, verdicts, candidate):
        if not any(verdicts):
            return self._other_scores(test)
        if not any(verdicts[: len(SCALING)]):
            passing = [f"“{each.name}”" for each, said in zip(self.candidates, verdicts, strict=True) if said]
            words = f"Your test says False of both right scales, and True of {' and '.join(passing[:2])}"
            return f"{words}: what does it ask for?"
        sizes = [] if candidate.is_right else self._sizes(test)
        if len(sizes) == 1:
            return f"Handed a right scale, your test tries d_k = {sizes[0]:g} only: are there others?"
        for size in sizes[:1] + sizes[-1:] if len(set(verdicts)) > 1 else ():
            factors = (100, 0.01)
            if all(self._sizes(test, size, wrong) and not self._sizes(test, 0, wrong) for wrong in factors):
                return f"Your test passes what is right at d_k = {size:g} only: does every size count?"
        if sizes and all((size**0.5).is_integer() for size in sizes):
            return f"Your test tries square numbers only, such as d_k = {sizes[0]:g}: there √d_k is whole."
        return None

    @staticmethod
    def _other_scores(test):
        """Say which scores a test that nobody passes hands over, and whether random queries make such."""
        handed = []
        run(test, (lambda scores, d_k: handed.append((scores, d_k)) or scores / d_k**0.5,))
        for scores, d_k in handed:
            scores = torch.as_tensor(scores).float()
            spread = scores.std(correction=int(scores.numel() > 1))
            if not 0.6 < spread / d_k**0.5 < 1.6:
                words = f"With d_k = {d_k:g} your test hands over scores with a spread of {spread:.3g}"
                return f"{words}, and random queries and keys make √d_k = {d_k**0.5:.3g}: how were they made?"
        return handed and (
            f"With d_k = {d_k:g} and a right scale your scores have a spread of {spread / d_k**0.5:.3g}, "
            "and your test says False: what does it measure, and how much room has it?"
        )

    @staticmethod
    def _sizes(test, only=None, wrong=1):
        """Return each d_k at which a test tries a scale, right (``only`` at this one), that it passes."""
        sizes = []

        def scale(scores, d_k):
            sizes.append(float(d_k))
            return scores / d_k**0.5 if only in (None, sizes[-1]) else wrong * scores

        passes = as_python(run(test, (scale,)).value) is True
        return sorted(set(sizes)) if passes else []
