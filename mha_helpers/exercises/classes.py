"""Exercises whose answer is a class, an ``nn.Module``. ``framework.py`` is the guide."""

import inspect

import torch
from torch import nn

from mha_helpers.exercises.compare import difference, kind_of
from mha_helpers.exercises.framework import NOT_ATTEMPTED, NOT_YET, Verdict
from mha_helpers.exercises.functions import FunctionExercise
from mha_helpers.exercises.running import AnswerError, Case, explain, is_stub, not_begun, numbers, run


class ModuleExercise(FunctionExercise):
    """The answer is a class, an ``nn.Module``, built and called for each input of ``cases``.

    ``reference``: the right class, which also says how each ``nn.Linear`` in ``linears`` must be made.
    Every case is ``case(x, build={"d_model": 6, "num_heads": 3})``. Both classes get the same fixed
    weights. A class with the right numbers must also be able to learn: the same numbers in training
    mode, and a gradient in every layer.
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
            return (
                "Your answer is a module already built; hand over the class by its name alone, without"
                " brackets."
            )
        if not isinstance(answer, type):
            return (
                f"Your answer is {kind_of(answer)}; hand over the class by its name alone, without quotes or"
                " brackets."
            )
        if not issubclass(answer, nn.Module):
            return "Your class must inherit from nn.Module: class …(nn.Module)."
        return None

    def _not_begun(self, answer, outcome):
        return not_begun(outcome)

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
            return self._built(answer, inputs).eval()(*args, **kwargs)

        return run(build_and_call, inputs, self.arguments)

    def _built(self, answer, inputs):
        right, module = self.reference(**inputs.build), answer(**inputs.build)
        for name in self.linears:
            self._set_weights(name, getattr(right, name), getattr(module, name, None))
        self._check_biases(right, module)
        return module

    def _shortcut(self, answer, cases):
        verdict = super()._shortcut(answer, cases)
        for inputs in cases:
            verdict = verdict or self._cannot_learn(answer, inputs)
        return verdict or self._keeps_something(answer, cases)

    def _trained(self, answer, inputs):
        """Return the ``Outcome`` of one pass in training mode: its result, and the gradient of each layer."""

        def train_once(*args, **kwargs):
            module = self._built(answer, inputs).train()
            with torch.enable_grad():
                value = module(*args, **kwargs)
                output = value[0]  # of output and weights
                if output.requires_grad:
                    output.square().sum().backward()
            return value, {name: _gradient(getattr(module, name)) for name in self.linears}

        return run(train_once, inputs)

    def _cannot_learn(self, answer, inputs):
        """Return the ``Verdict`` on a class whose numbers are right, and which could not be trained."""
        outcome = self._trained(answer, inputs)
        if outcome.error:
            return Verdict(NOT_YET, f"The result is right, but in training mode {explain(outcome)}")
        value, gradients = outcome.value
        right, right_gradients = self._trained(self.reference, inputs).value
        if difference(value, right):
            return Verdict(
                NOT_YET,
                "The result is right after .eval(), and another in training mode: is there dropout, or a line"
                " that asks for self.training? This class does without.",
            )
        lost = [f"self.{name}" for name, gradient in gradients.items() if gradient.isnan().any()]
        if lost:
            return Verdict(
                NOT_YET,
                f"The result is right, but the gradient of {', '.join(lost)} becomes NaN, and one step of"
                " training would spoil it all. In a row without any key, masked_fill or torch.where on the"
                " scores stops NaN; −∞ that is added, or written into .data, does not.",
            )
        # Large scores leave next to no gradient, however right a class is.
        learns = [name for name, gradient in right_gradients.items() if gradient.abs().max() > 1e-6]
        still = [f"self.{name}" for name in learns if not gradients[name].any()]
        if still:
            return Verdict(
                NOT_YET,
                f"The result is right, but no gradient reaches {', '.join(still)}, so training would change"
                " nothing there: is there a no_grad, a detach or an .item()?",
            )
        return None

    def _keeps_something(self, answer, cases):
        """Return the ``Verdict`` on a class that is right when new, and wrong after other inputs."""
        modules = {}
        for inputs in [*cases, *cases]:
            sizes = tuple(inputs.build.items())
            if sizes not in modules:
                modules[sizes] = self._built(answer, inputs).eval()
            outcome = run(modules[sizes], inputs)
            if self._difference(outcome, self._run(self.reference, inputs)):
                return Verdict(
                    NOT_YET,
                    "The result is right in a new module, and another when the same module has seen other"
                    " inputs: what does it keep from call to call?",
                )
        return None

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

    def _check_biases(self, right, module):
        """Raise where a bias is lacking. Numbers cannot always tell: softmax takes that of W_K out again."""
        with_bias = [name for name in self.linears if getattr(right, name).bias is not None]
        lacking = [f"self.{name}" for name in with_bias if getattr(module, name).bias is None]
        if lacking:
            verb = "has" if len(lacking) == 1 else "have"
            raise AnswerError(
                f"{', '.join(lacking)} {verb} no bias: nn.Linear makes one unless bias=False stands in its"
                " brackets."
            )


def _gradient(linear):
    return torch.zeros_like(linear.weight) if linear.weight.grad is None else linear.weight.grad
