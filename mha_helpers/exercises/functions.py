"""Exercises whose answer is a function or a class. ``framework.py`` is the guide."""

import contextlib
import inspect
import io

import torch
from torch import nn

from mha_helpers.exercises.called import noting_calls
from mha_helpers.exercises.compare import Difference, difference, kind_of, numbers_of, same
from mha_helpers.exercises.framework import NOT_ATTEMPTED, NOT_YET, Exercise, Verdict, untouched
from mha_helpers.exercises.running import (
    AnswerError,
    Case,
    Outcome,
    argument_problem,
    describe,
    explain,
    is_stub,
    numbers,
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
        self.unsteady = unsteady or (
            lambda inputs: (
                f"Two calls with the same input differ: what is random, or kept, in your {self.asked_for}?"
            )
        )

    @property
    def arguments(self):
        return list(inspect.signature(self.reference).parameters)

    def _run(self, answer, inputs):
        return run(answer, inputs, self.arguments)

    def _refusal(self, answer, inputs):
        """Return a sentence if the answer is no function that could be tried, else None."""
        by_name = f"hand over the function by its name, without brackets after it: check({self.variable})."
        if isinstance(answer, (type, nn.Module)) or not callable(answer):
            return f"Your answer is {kind_of(answer)}; {by_name}"
        return argument_problem(answer, inputs, self.arguments)

    def _not_begun(self, answer, outcome):
        if _says_not_begun(outcome):
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
        rights = [self._run(self.reference, inputs).value for inputs in cases]
        found = [self._difference(*pair) for pair in zip(outcomes, rights, strict=True)]
        if not any(problem and problem.form for problem in found):
            unsteady = self._unsteady_case(answer, cases, outcomes)
            if unsteady:  # by chance it could look right, or like a mistake
                return Verdict(NOT_YET, self.unsteady(unsteady))
        if any(found):
            return Verdict(NOT_YET, self._reason(answer, cases, outcomes, rights, found))
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
                comparable = not outcome.error and _agree(outcome, outcome)
                if comparable and not _agree(outcome, again):
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
            f"The result is right, but this task does without {left_out}, also where it only checks:"
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
        return difference(outcome.value, right, "The result", names=self.returns)

    def _reason(self, answer, cases, outcomes, rights, found):
        mistake = self._mistake(cases, outcomes, rights)
        if mistake:
            return mistake.sentence
        for problem in found:
            if problem and problem.form:
                return problem.sentence
        first = next(place for place, problem in enumerate(found) if problem)
        outcome, sentence = outcomes[first], found[first].sentence
        if isinstance(outcome.error, AnswerError):
            return sentence
        if first > 0 and all(_agree(outcomes[0], other) for other in outcomes[1:]):
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
            if all(map(_agree, outcomes, wrongs)):
                return mistake
        if outcomes[0].error:  # it cannot do the example: that is what to mend first
            return None
        for mistake, wrongs in tried:
            given = [place for place, outcome in enumerate(outcomes) if not outcome.error]
            alike = given and all(_agree_but_for_nan(outcomes[place], wrongs[place]) for place in given)
            # Its numbers must be wrong: with NaN in place of zeros alone, every mistake would agree.
            if alike and any(not _right_but_for_nan(outcomes[place], rights[place]) for place in given):
                return mistake
        return None


def _silence():
    """What a learner's code prints is seen once for each input, not each time it is tried."""
    return contextlib.redirect_stdout(io.StringIO())


def _says_not_begun(outcome):
    # PyTorch raises the same error where an operation does not know a dtype.
    return isinstance(outcome.error, NotImplementedError) and "not implemented for" not in outcome.message


def _agree(outcome, other):
    if outcome.error or other.error:
        return type(outcome.error) is type(other.error) and outcome.message == other.message
    try:
        return same(outcome.value, other.value)
    except (TypeError, RuntimeError, ValueError, OverflowError, NotImplementedError):
        return False


def _agree_but_for_nan(outcome, other):
    """As ``_agree``, but NaN of the answer is passed over: a plain softmax gives it where a row has no key.

    Where the mistake is NaN, the answer may be 0, as after ``nan_to_num``. NaN alone agrees with nothing.
    """
    if other.error or _is_all_nan(outcome.value):
        return False
    return _agree(Outcome(_filled(outcome.value, other.value)), other) or _agree(
        Outcome(_filled(outcome.value, other.value)), Outcome(_nan_as_zero(other.value))
    )


def _right_but_for_nan(outcome, right):
    return _agree(Outcome(_filled(outcome.value, right)), Outcome(right))


def _tensors_in(value):
    if isinstance(value, (tuple, list)):
        return [tensor for part in value for tensor in _tensors_in(part)]
    return [value] if isinstance(value, torch.Tensor) and not value.is_meta else []


def _is_all_nan(value):
    tensors = _tensors_in(value)
    return bool(tensors) and all(bool(numbers_of(tensor).isnan().all()) for tensor in tensors)


def _nan_as_zero(value):
    if isinstance(value, (tuple, list)):
        return tuple(map(_nan_as_zero, value))
    return torch.nan_to_num(value, posinf=torch.inf, neginf=-torch.inf) if _tensors_in(value) else value


def _filled(value, other):
    """Return the value with numbers of the other where it is NaN, if both have the same form."""
    if isinstance(value, (tuple, list)) and isinstance(other, (tuple, list)) and len(value) == len(other):
        return tuple(map(_filled, value, other))
    tensors = isinstance(value, torch.Tensor) and isinstance(other, torch.Tensor)
    if not tensors or value.shape != other.shape or value.is_meta or other.is_meta:
        return value
    value, other = numbers_of(value), numbers_of(other)
    return torch.where(value.isnan(), other, value)


def _changes(names, opening):
    what = " and ".join(names)
    return f"{opening} your code changes {what} in place: the caller then finds other numbers there."


class ModuleExercise(FunctionExercise):
    """The answer is a class, an ``nn.Module``, built and called for each input of ``cases``.

    ``reference``: the right class, which also says how each ``nn.Linear`` in ``linears`` must be made.
    Every case is ``case(x, build={"d_model": 6, "num_heads": 3})``. Both classes get the same fixed
    weights; a bias that the answer does not have stays out.
    """

    stub_words = "Write the class in place of the `...`, then run the cell again."
    asked_for = "forward"

    def __init__(self, number, title, *, linears=("w_q", "w_k", "w_v", "w_o"), **rest):
        super().__init__(number, title, **rest)
        self.linears = linears

    @property
    def arguments(self):
        return list(inspect.signature(self.reference.forward).parameters)[1:]

    def _refusal(self, answer, inputs):
        if isinstance(answer, nn.Module):
            return f"Your answer is a module already built; hand over the class: check({self.variable})."
        if not isinstance(answer, type):
            return (
                f"Your answer is {kind_of(answer)}; hand over the class by its name: check({self.variable})."
            )
        if not issubclass(answer, nn.Module):
            return "Your class must inherit from nn.Module: class …(nn.Module)."
        return None

    def _not_begun(self, answer, outcome):
        return _says_not_begun(outcome)

    def _judge(self, answer):
        if isinstance(answer, type) and issubclass(answer, nn.Module):
            forward = answer.forward
            unwritten = forward is nn.Module.forward or is_stub(forward)
            if unwritten and (answer.__init__ is nn.Module.__init__ or not self._has_linears(answer)):
                return Verdict(NOT_ATTEMPTED, self.stub_words)
            if unwritten:
                return Verdict(NOT_YET, "__init__ is written; forward is still to come.")
        return super()._judge(answer)

    def _has_linears(self, answer):
        built = run(lambda: answer(**self.cases()[0].build), Case(()))
        return any(isinstance(getattr(built.value, name, None), nn.Module) for name in self.linears)

    def _run(self, answer, inputs):
        def build_and_call(*args, **kwargs):
            right, module = self.reference(**inputs.build), answer(**inputs.build)
            for name in self.linears:
                self._set_weights(name, getattr(right, name), getattr(module, name, None))
            return module.eval()(*args, **kwargs)

        return run(build_and_call, inputs, self.arguments)

    def _set_weights(self, name, right, linear):
        if linear is None or linear is ...:
            raise AnswerError(f"self.{name} is missing: __init__ must make it.")
        if not isinstance(linear, nn.Linear):
            raise AnswerError(f"self.{name} is {kind_of(linear)}; it must be an nn.Linear.")
        if linear.weight.shape != right.weight.shape:
            raise AnswerError(
                f"self.{name} turns {linear.in_features} features into {linear.out_features}: how many do"
                " all heads together take in, and give out?"
            )
        with torch.no_grad():
            linear.weight.copy_(numbers(*right.weight.shape, name=name) / right.in_features**0.5)
            if linear.bias is not None and right.bias is not None:
                linear.bias.copy_(numbers(right.out_features, name=f"{name} bias"))
