"""The four kinds of exercise: a value, a function, a class, a test that the learner writes."""

import inspect
import itertools

import torch
from torch import nn

from mha_helpers.exercises.compare import as_numbers, as_python, difference, kind_of, right_parts, same
from mha_helpers.exercises.engine import Exercise
from mha_helpers.exercises.running import AnswerError, agree, explain, names_used, run


class ValueExercise(Exercise):
    """The answer is a number, bool, text, set, list, tensor, or a tuple or dict of them.

    ``right``: it, or a function without arguments that computes it. ``decimals``: how many are asked for.
    ``tensor``: the task asks for a tensor, so that a list is not right. A text is one choice, a set several.
    A mistake for a dict may hold some of its entries only: ``({"output": (2, 6)}, "…")``.
    """

    def __init__(self, number, title, *, right, decimals=None, tensor=False, **rest):
        super().__init__(number, title, **rest)
        self.right, self.decimals, self.tensor = right, decimals, tensor

    def _judge(self, answer):
        right = self.right() if inspect.isfunction(self.right) else self.right
        found = difference(answer, right, self.decimals, self.tensor)
        if found is None:
            return None
        tried = [self.decimals, *(n for n in (1, 2, 3) if self._is_wrong_and_rounded(answer, right, n))]
        for decimals, (wrong, sentence) in itertools.product(tried, self.mistakes):
            if same(answer, wrong, decimals):
                names = right if isinstance(right, dict) else ()
                good = [name for name in names if not difference(answer[name], right[name], self.decimals)]
                return f"{right_parts(good)}{sentence}"
        return found

    def _is_wrong_and_rounded(self, answer, right, decimals):
        numbers = as_numbers(answer)
        if numbers is None or numbers.numel() < 2 or not difference(answer, right, decimals):
            return False
        return torch.equal(numbers.round(decimals=decimals), numbers)


class FunctionExercise(Exercise):
    """The answer is a function, tried on every input.

    ``reference`` computes the right result. ``cases``: a function without arguments that returns a list of
    ``case(…)``, the plainest first. ``returns``: the names of the values if several are returned.
    ``without``: names that may not stand in the source, ("softmax", "@"). ``planted``: the function or class
    that is to be repaired; cases with ``bug="…"`` isolate one of its bugs each.
    """

    kind = "function"

    def __init__(self, number, title, *, reference, cases, returns=(), without=(), planted=None, **rest):
        super().__init__(number, title, **rest)
        self.reference, self.cases, self.returns = reference, cases, tuple(returns)
        self.without, self.planted = set(without), planted

    def _run(self, answer, case):
        return run(answer, case.args)

    def _runs(self, answer, cases):
        return [self._run(answer, case) for case in cases]

    def _untouched(self, answer):
        cases = self.cases() if self.planted and callable(answer) else ()
        as_planted = cases and all(map(agree, self._runs(answer, cases), self._runs(self.planted, cases)))
        return as_planted or super()._untouched(answer)

    def _wrong_kind(self, answer):
        if isinstance(answer, type | nn.Module) or not callable(answer):
            return f"Your answer is {kind_of(answer)}; hand over the function: check({self.variable})."
        return None

    def _judge(self, answer):
        cases = self.cases()
        problem = self._wrong_kind(answer)
        if problem:
            return problem
        outcomes, rights = self._runs(answer, cases), self._runs(self.reference, cases)
        found = list(map(self._difference, outcomes, rights))
        first = next((place for place, sentence in enumerate(found) if sentence), None)
        if first is not None:
            sentence, alike = self._mistake(cases, outcomes, first)
            sentence = sentence or self._words(answer, cases, outcomes, first, found[first])
            return self._bugs_found(cases, outcomes, found, alike) + sentence
        if any(outcome.changed for outcome in outcomes):
            return f"The result is right, but your {self.kind} writes into its argument: others need it."
        used = sorted(self.without & names_used(answer))
        return f"The result is right, but this task does without {used[0]}." if used else None

    def _difference(self, outcome, right):
        if outcome.error:
            return explain(outcome.error, outcome.line)
        if outcome.value is None:
            return f"your {self.kind} returns None: is there a `return` on its last line?"
        return difference(outcome.value, right.value, tensor=True, names=self.returns, subject="the result")

    def _mistake(self, cases, outcomes, first):
        """Return the sentence of the mistake that does the same on the first input that fails, else None.

        If several do, the one that does the same on most inputs is meant; their number is returned, too.
        """
        planted = [(self.planted, cases[first].bug)] if cases[first].bug else []
        told = {None: 0}
        for wrong, sentence in (*planted, *cases[first].mistakes, *self.mistakes):
            if agree(outcomes[first], self._run(wrong, cases[first])):
                told[sentence] = sum(map(agree, outcomes, self._runs(wrong, cases)))
        return max(told.items(), key=lambda pair: pair[1])

    def _bugs_found(self, cases, outcomes, found, alike):
        """Count the planted bugs whose own input comes out right; say if something new may hide others."""
        isolated = [place for place, case in enumerate(cases) if case.bug]
        wrong = [place for place in isolated if found[place] and alike < len(cases)]  # else: one new mistake
        left = [place for place in wrong if agree(outcomes[place], self._run(self.planted, cases[place]))]
        count = f"{len(isolated) - len(wrong)} of {len(isolated)} bugs found"
        new = (
            ""
            if left and left == wrong
            else ", but something new is wrong" + " and may hide others" * bool(wrong)
        )
        return f"{count}{new}. " if isolated else ""

    def _words(self, answer, cases, outcomes, first, difference):
        again = self._run(answer, cases[first])
        if not (again.error or outcomes[first].error or agree(again, outcomes[first])):
            return f"Two calls with the same input differ: what in your {self.kind} is random, or kept?"
        if first and all(agree(outcomes[0], other) for other in outcomes[1:]):
            return "Every input gives the same result, that of the first one: compute it from the arguments."
        label = cases[first].label
        sentence = f"{label}: {difference}" if label else difference
        return sentence[0].upper() + sentence[1:]


class ModuleExercise(FunctionExercise):
    """The answer is a class, an ``nn.Module``, built and called for every input.

    ``reference``: the right class. Both get the same weights, so the class must name its layers as the
    reference does. Every case is ``case(x, mask, build={"d_model": 6, "num_heads": 3})``.
    """

    kind = "forward"

    def _run(self, answer, case):
        return run(lambda *args: self._built(answer, case.build)(*args), case.args)

    def _wrong_kind(self, answer):
        if not isinstance(answer, type) or not issubclass(answer, nn.Module):
            return f"Your answer is {kind_of(answer)}; hand over a class …(nn.Module), by its name only."
        return None

    def _built(self, answer, sizes):
        module, generator = answer(**sizes), torch.Generator().manual_seed(0)
        mine = dict(module.named_parameters())
        for name, parameter in self.reference(**sizes).named_parameters():
            if name not in mine:
                raise AnswerError(f"self.{name} is missing: does __init__ make this layer, under this name?")
            got, shape = tuple(mine[name].shape), tuple(parameter.shape)
            if got != shape:
                raise AnswerError(
                    f"self.{name} has the shape {got} instead of {shape}: how many go in and out?"
                )
            with torch.no_grad():
                mine[name].copy_(torch.randn(shape, generator=generator) / shape[-1] ** 0.5)
        return module


class TestExercise(Exercise):
    """The answer is a test: a function that is handed a candidate and returns True (right) or False.

    ``candidates``: tuples ``(name, function, is_right)``, if need be with a sentence to be said where this
    one is misjudged. Each is tried ``times`` times, because a test with random numbers may waver. A mistake
    is a wrong test.
    """

    __test__ = False  # for pytest, which takes classes of this name for its own

    def __init__(self, number, title, *, candidates, times=5, **rest):
        super().__init__(number, title, **rest)
        self.candidates, self.times = tuple(candidates), times

    def _judge(self, answer):
        if isinstance(answer, type) or not callable(answer):
            return f"Your answer is {kind_of(answer)}; hand over your test: check({self.variable})."
        said = [self._said(answer, *candidate[:2]) for candidate in self.candidates]
        problem = next((word for word in said if isinstance(word, str)), None)
        return problem or self._misjudged(said)

    def _said(self, test, name, candidate):
        """Return True or False, or a sentence if the test says neither, or now this, now that."""
        outcomes = [run(test, (candidate,)) for _ in range(self.times)]
        values = [as_python(outcome.value) for outcome in outcomes]
        for outcome, value in zip(outcomes, values, strict=True):
            if outcome.error:
                return f"Handed “{name}”, {explain(outcome.error, outcome.line)}"
            if not isinstance(value, bool):
                return f"Handed “{name}”, your test returns {kind_of(value)}; True or False is needed."
        wavers = f"Your test says now True, now False of “{name}”: are its numbers too few?"
        return values[0] if len(set(values)) == 1 else wavers

    def _misjudged(self, said):
        pairs = list(zip(self.candidates, said, strict=True))
        wrong = [candidate for candidate, value in pairs if value != candidate[2]]
        if not wrong:
            return None
        for test, sentence in self.mistakes:
            if [as_python(run(test, (candidate[1],)).value) for candidate in self.candidates] == said:
                return sentence
        if len(wrong) == len(said):
            return "Your test is upside down: it says True of every wrong one and False of every right one."
        if len(set(said)) == 1:
            even = f"even of “{wrong[0][0]}”: print what it measures there."
            return f"Your test says {said[0]} of all {len(said)}, {even}"
        told = [f"“{candidate[0]}” {'is refused' if candidate[2] else 'passes'}" for candidate in wrong]
        more = f", and {len(told) - 2} more are misjudged" if len(told) > 2 else ""
        reason = " ".join(wrong[0][3:])
        right = len(said) - len(wrong)
        return f"{right} of {len(said)} are judged rightly, but {' and '.join(told[:2])}{more}. {reason}"
