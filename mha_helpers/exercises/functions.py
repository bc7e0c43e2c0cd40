"""Exercises whose answer is a function. ``framework.py`` is the guide."""

import contextlib
import inspect
import io

from torch import nn

from mha_helpers.exercises.agreement import agree, agree_but_for_nan
from mha_helpers.exercises.called import noting_calls
from mha_helpers.exercises.compare import Difference, difference, kind_of
from mha_helpers.exercises.framework import NOT_ATTEMPTED, NOT_YET, Exercise, Verdict, untouched
from mha_helpers.exercises.running import (
    AnswerError,
    argument_problem,
    describe,
    explain,
    is_stub,
    not_begun,
    run,
)

AT_SIGN = ("matmul", "__matmul__")  # which of the two PyTorch calls for @ depends on its version


class FunctionExercise(Exercise):
    """The answer is a function, tried on all inputs of ``cases``.

    ``reference``: computes the right result. ``cases``: a function without arguments that returns a list
    of ``case(…)``, the page's example first. ``returns``: names of the values if several are returned.
    ``without``: what the task rules out, as ``noting_calls`` names it: ``torch.softmax``. ``calls``: how
    often each input is tried. ``unsteady``: returns what to say of an input with which these calls differ.
    """

    stub_words = "Write the body in place of the `...`, then run the cell again."
    asked_for = "function"

    def __init__(
        self, number, title, *, reference, cases, returns=(), without=(), calls=2, unsteady=None, **rest
    ):
        super().__init__(number, title, **rest)
        self.reference, self.cases, self.returns = reference, cases, tuple(returns)
        self.without, self.calls = tuple(without), calls
        self.unsteady = unsteady or self._unsteady_anywhere

    def _unsteady_anywhere(self, inputs):
        return (
            "Two calls with the same input differ: what is random, or kept from call to call, in your"
            f" {self.asked_for}?"
        )

    @property
    def arguments(self):
        return list(inspect.signature(self.reference).parameters)

    def _run(self, answer, inputs):
        return run(answer, inputs, self.arguments)

    def _refusal(self, answer, inputs):
        """Return a sentence if the answer is no function that could be tried, else None."""
        by_name = f"hand over the function by its name, without brackets after it: check({self.variable})."
        if isinstance(answer, nn.Module):
            return "Your answer is a module; a function is asked for: hand over its .forward."
        if isinstance(answer, type) or not callable(answer):
            return f"Your answer is {kind_of(answer)}; {by_name}"
        return argument_problem(answer, inputs, self.arguments)

    def _not_begun(self, answer, outcome):
        if not_begun(outcome):
            return True
        if outcome.error or not untouched(outcome.value):
            return False
        return outcome.value is not None or is_stub(answer)

    def _judge(self, answer):
        cases = self.cases()
        refusal = self._refusal(answer, cases[0])
        if refusal:
            return Verdict(NOT_YET, refusal)
        outcomes = [self._run(answer, inputs) for inputs in cases]
        if self._not_begun(answer, outcomes[0]):
            return Verdict(NOT_ATTEMPTED, self.stub_words)
        rights = [self._run(self.reference, inputs) for inputs in cases]
        found = [self._difference(*pair) for pair in zip(outcomes, rights, strict=True)]
        if not any(problem and problem.form for problem in found):
            unsteady = self._unsteady_case(answer, cases, outcomes)
            if unsteady:  # by chance it could look right, or like a mistake
                return Verdict(NOT_YET, self.unsteady(unsteady))
        if any(found):
            return Verdict(NOT_YET, self._reason(cases, outcomes, rights, found))
        changed = sorted({name for outcome in outcomes for name in outcome.changed})
        if changed:
            return Verdict(NOT_YET, _changes(changed, "The result is right, but"))
        return self._shortcut(answer, cases) or self._correct()

    def _unsteady_case(self, answer, cases, outcomes):
        """Return the first of these inputs with which further calls come to something else, or None."""
        for inputs, outcome in zip(cases, outcomes, strict=True):
            for _ in range(self.calls - 1):
                with _silence():
                    again = self._run(answer, inputs)
                if type(outcome.error) is not type(again.error):
                    return inputs
                comparable = not outcome.error and agree(outcome, outcome)
                if comparable and not agree(outcome, again):
                    return inputs
        return None

    def _shortcut(self, answer, cases):
        """Return the ``Verdict`` on a right answer that uses what the task rules out, else None."""
        if not self.without:
            return None
        with _silence(), noting_calls() as called:
            for inputs in cases:
                self._run(answer, inputs)
        used = [name.split(".")[-1] for name in self.without if name in called]
        if not used:
            return None
        left_out = "@" if used[0] in AT_SIGN else used[0]
        return Verdict(
            NOT_YET,
            f"The result is right, but this task does without {left_out}, even to check your own result:"
            " write that step yourself.",
        )

    def _difference(self, outcome, right):
        """Return None if the outcome is right, else the ``Difference``."""
        if isinstance(outcome.error, AnswerError):
            return Difference(outcome.message)
        if outcome.error:
            return Difference(explain(outcome))
        if outcome.value is None:
            return Difference(f"Your {self.asked_for} returns None: is there a `return` on its last line?")
        return difference(outcome.value, right.value, "The result", names=self.returns)

    def _reason(self, cases, outcomes, rights, found):
        mistake = self._mistake(cases, outcomes, rights)
        if mistake:
            return mistake.sentence
        # If the example itself fails, that is what to mend first, whatever comes of the other inputs.
        for problem in found[:1] if outcomes[0].error else found:
            if problem and problem.form:
                return problem.sentence
        first = next(place for place, problem in enumerate(found) if problem)
        outcome, sentence = outcomes[first], found[first].sentence
        if isinstance(outcome.error, AnswerError):
            return sentence
        if first > 0 and all(agree(outcomes[0], other) for other in outcomes[1:]):
            return "Right for the example, but every input gives that same result: use the arguments."
        if outcome.changed:
            sentence = f"{sentence} {_changes(outcome.changed, 'Besides,')}"
        if first == 0 and not outcome.error:
            return sentence
        sentence = f"with {describe(cases[first], self.arguments)}, {sentence[0].lower()}{sentence[1:]}"
        if first > 0:
            return f"Right for the example, wrong for other inputs: {sentence}"
        return f"W{sentence[1:]}"

    def _mistake(self, cases, outcomes, rights):
        """Return the first mistake that does the same on every input, or wherever there are numbers."""
        tried = [
            (mistake, [self._run(mistake.wrong, inputs) for inputs in cases]) for mistake in self.mistakes
        ]
        for mistake, wrongs in tried:
            if all(map(agree, outcomes, wrongs)):
                return mistake
        if outcomes[0].error:  # it cannot do the example: that is what to mend first
            return None
        for mistake, wrongs in tried:
            given = [place for place, outcome in enumerate(outcomes) if not outcome.error]
            alike = given and all(agree_but_for_nan(outcomes[place], wrongs[place]) for place in given)
            # Its numbers must be wrong: with NaN in place of zeros alone, every mistake would agree.
            if alike and any(not agree_but_for_nan(outcomes[place], rights[place]) for place in given):
                return mistake
        return None


def _silence():
    """What a learner's code prints is seen once for each input, not each time it is tried."""
    return contextlib.redirect_stdout(io.StringIO())


def _changes(names, opening):
    what = " and ".join(names)
    return f"{opening} your code changes {what} in place: the caller then finds other numbers there."
