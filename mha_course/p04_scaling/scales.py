"""What the test of exercise 4.3 is handed: scales, two of them right. And which sizes of head it tries."""

import copy
from functools import partial

import torch

from mha_course.exercises import CORRECT, TestExercise, Verdict, as_python, run


def _first_root(met, scores, d_k):
    """Divide by the root of the first d_k. Each call of a learner's test gets a new copy of what was met."""
    met.append(d_k)
    return scores / met[0] ** 0.5


def _first_only(axis, scores, d_k):
    """Divide the first row (axis −2) or column (−1) only, of a list the first number."""
    scores = torch.as_tensor(scores)
    along = max(axis, -max(scores.dim(), 1))
    return scores / torch.ones(scores.shape).index_fill(along, torch.arange(scores.numel())[:1], d_k**0.5)


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
    "÷ the root of the first d_k that it meets": (partial(_first_root, []), "the second d_k shows it."),
    "÷(4 · √d_k)": (lambda scores, d_k: scores / (4 * d_k**0.5), "its spread is 0.25 for every d_k."),
    "÷√(d_k + 8)": (lambda scores, d_k: scores / (d_k + 8) ** 0.5, "at d_k = 4 its spread is 0.58."),
    "÷√d_k rounded down": (lambda scores, d_k: scores / int(d_k**0.5), "at d_k = 3 its spread is 1.73."),
    "÷√d_k, at most ÷4": (lambda scores, d_k: scores / min(d_k, 16) ** 0.5, "at d_k = 64 its spread is 2."),
    "only the first row divided": (partial(_first_only, -2), "all its other rows keep their spread of √d_k."),
    "only the first column divided": (partial(_first_only, -1), "its other columns keep their spread."),
}


class ScaleTest(TestExercise):
    """Say what a test does with a right scale: which scores it makes, and of which sizes."""

    def verdict(self, answer=...):
        """A test that has the right result in itself is correct, and is told that it could do without."""
        verdict = super().verdict(answer)
        if verdict.status == CORRECT:
            turned = run(answer, (lambda scores, d_k: -scores / d_k**0.5,))  # the right spread, other numbers
            if as_python(turned.value) is False:
                words = "It compares with the right result, which it computes itself"
                return Verdict(CORRECT, f"{self.praise} {words}: would the spread alone do?")
        return verdict

    def _slip(self, test, verdicts, candidate):
        tried = self._spreads(test)
        if not any(verdicts):
            d_k, spread = max(tried.items(), key=lambda each: max(each[1], 1 / (each[1] + 1e-9)))
            end = "your test says False: what does it measure, and how much room does it leave?"
            if not 0.6 < spread < 1.6:
                end = "random queries and keys give 1: how were yours made?"
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
        """Return for each d_k that a test tries the spread of its scores, divided by √d_k."""
        spreads = {}
        for scores, d_k in self._handed(test):
            numbers = torch.as_tensor(scores).float()
            spreads[float(d_k)] = float(numbers.std(correction=int(numbers.numel() > 1))) / d_k**0.5
        return spreads
