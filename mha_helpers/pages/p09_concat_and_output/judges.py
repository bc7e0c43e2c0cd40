"""How answers of page 09 are judged: a class, bugs in a class."""

import inspect

import torch
from torch import nn

from mha_helpers.exercises import FunctionExercise
from mha_helpers.exercises.kinds import hand_over
from mha_helpers.exercises.running import AnswerError, Outcome, agree, run


class ModuleExercise(FunctionExercise):
    """The answer is a class, an ``nn.Module``, built and called for every input.

    ``reference``: the right class. Both get the same weights, so the class must name its layers as the
    reference does. Every case is ``case(x, mask, build={"d_model": 6, "num_heads": 3})``;
    an answer whose arguments have other names gets these in their order.
    """

    kind = "forward"

    def _run(self, answer, case):
        return run(lambda *args: self._built(answer, case.build)(*args), case.args)

    def _wrong_kind(self, answer):
        if isinstance(answer, type) and not issubclass(answer, nn.Module):
            return f"{answer.__name__} is a class, but no nn.Module: what stands in brackets behind its name?"
        return None if isinstance(answer, type) else hand_over(self, answer, "the class, by its name only")

    def _broken_rule(self, answer, cases, outcomes):
        if issubclass(answer, self.reference):
            return f"{self.reference.__name__} of the course computes it: inherit from nn.Module only."
        order, wanted = list(inspect.signature(answer).parameters), list(cases[0].build)
        if set(wanted) <= set(order) and order[: len(wanted)] != wanted:
            first, second = wanted
            return f"{first} comes before {second} in the task: by place, yours is handed the wrong sizes."
        idle = self._idle_layers(answer, max(cases, key=lambda case: sum(case.build.values())))
        if idle:
            return f"no gradient reaches {', '.join(idle)}: without one nothing is learnt. What cuts it off?"
        return super()._broken_rule(answer, cases, outcomes)

    def _idle_layers(self, answer, case):
        """Name the layers that the output's gradient does not reach, or not in all rows of their weight."""
        module, idle = self._built(answer, case.build), []
        output = module(*case.args)[0]
        if output.requires_grad:
            output.square().sum().backward()
        for name in self._wanted(case.build):
            layer, _, part = name.rpartition(".")
            gradient = module.get_parameter(name).grad
            rows = torch.zeros(1) if gradient is None else gradient.any(dim=-1)
            if part == "weight" and not rows.all():
                idle.append(f"{'a part of ' if rows.any() else ''}self.{layer}")
        return idle

    def _wanted(self, sizes):
        return dict(self.reference(**sizes).named_parameters())

    def _built(self, answer, sizes):
        by_name = sizes.keys() <= inspect.signature(answer).parameters.keys()  # else in their order
        module = answer(**sizes) if by_name else answer(*sizes.values())
        generator, wanted = torch.Generator().manual_seed(0), self._wanted(sizes)
        mine = dict(module.named_parameters(remove_duplicate=False))
        for name, parameter in wanted.items():
            layer, _, part = name.partition(".")
            if name not in mine and part == "bias" and f"{layer}.weight" in mine:
                raise AnswerError(f"your self.{layer} has no bias, and the task asks for one.")
            if name not in mine:
                others = ", ".join(f"self.{other}" for other, _ in module.named_children())
                lacking = f"your self.{name} is missing{'; your layers are ' * bool(others)}{others}"
                raise AnswerError(f"{lacking}: does __init__ make what the task names?")
            twin = next(other for other in wanted if mine.get(other) is mine[name])
            if twin != name:
                raise AnswerError(f"your self.{name} is self.{twin}: each layer needs numbers of its own.")
            got, shape = tuple(mine[name].shape), tuple(parameter.shape)
            if got != shape:
                sizes = f"your self.{name} has shape {got} instead of {shape}"
                raise AnswerError(f"{sizes}: how many go in and out?")
            with torch.no_grad():
                mine[name].copy_(torch.randn(shape, generator=generator) / shape[-1] ** 0.5)
        return module


class BugHunt(ModuleExercise):
    """A class to repair: the check counts the bugs found, and says of the first that is left what it does.

    Its bugs are those of the stub; cases with ``bug="…"`` isolate one of them each.
    """

    def __init__(self, *names, **rest):
        super().__init__(*names, **rest)
        handed_out = {"torch": torch, "nn": nn, "__name__": __name__}
        exec(f"{self.given}\n\n{self.stub}", handed_out)
        self.planted = handed_out[self.variable]

    def _untouched(self, answer):
        cases = self.cases() if callable(answer) else ()
        as_planted = cases and all(map(agree, self._runs(answer, cases), self._runs(self.planted, cases)))
        return as_planted or super()._untouched(answer)

    def _as_planted(self, outcome, case):
        """Tell whether the weights are those of the class as handed out: each bug shows in them."""
        pair, planted = outcome.value, self._run(self.planted, case).value
        return isinstance(pair, tuple | list) and agree(Outcome(pair[1:]), Outcome(planted[1:]))

    def _mistake(self, cases, outcomes, failing):
        first = failing[0]
        bug = getattr(cases[first], "bug", None) if self._as_planted(outcomes[first], cases[first]) else None
        return super()._mistake(cases, outcomes, failing) or bug

    def _failure(self, answer, cases, outcomes, sentences):
        """Count the planted bugs: found where the input that isolates one comes out right, left where it does
        as planted; else something else hides it. One known mistake that explains the rest leaves none of it.
        """
        words = super()._failure(answer, cases, outcomes, sentences)
        explained = any(
            all(map(agree, outcomes, self._runs(mistake, cases)))
            for mistake, _ in (*cases[0].mistakes, *self.mistakes)
        )
        isolated = {index for index, case in enumerate(cases) if hasattr(case, "bug")}
        left = {index for index in isolated if self._as_planted(outcomes[index], cases[index])}
        hidden = set() if explained else {index for index in isolated - left if sentences[index]}
        found = f"{len(isolated - left - hidden)} of {len(isolated)} bugs found"
        if hidden and left | hidden == isolated:
            return f"Something else is wrong, so that the bugs cannot be counted yet. {words}"
        if hidden:
            return f"At least {found}, and something else is wrong. {words}"
        return f"{found}{'' if left else ', but something else is wrong'}. {words}"
