"""How answers of page 09 are judged: a head taken out, a class, bugs in a class."""

import dis
import functools
import inspect
import re
from collections import namedtuple

import torch
from torch import nn
from torch.nn import functional as F

from mha_course.exercises import AnswerError, FunctionExercise, Outcome, another_kind, case, numbers
from mha_course.exercises.compare import as_float64
from mha_course.exercises.running import run, same_outcome
from mha_course.p09_concat_and_output import diagnoses
from mha_course.p09_concat_and_output.seen import AttentionExercise


class Pruning(FunctionExercise):
    """Sizes and product are judged: in which order the heads that stay are kept is free."""

    def _difference(self, outcome, right):
        sentence = super()._difference(outcome, right)
        got = outcome.value if isinstance(outcome.value, tuple | list) else ()
        parts, rights = (list(map(as_float64, pair)) for pair in (got, right.value))
        if not sentence or [getattr(part, "shape", 0) for part in parts] != [part.shape for part in rights]:
            return sentence
        products = [concat @ w_o for concat, w_o in (parts, rights)]
        kept = (parts[0][:, :, None] == rights[0][:, None]).all(0).any(1)  # columns that concat had
        return None if kept.all() and torch.allclose(*products, atol=1e-5) else sentence


# Factor of the bias of W_K, by sizes: with 0 a word of zeros scores 0, with 130 some score −60 with all, and
# 80 with the last word, which a causal mask hides: its last feature turns that bias round.
KEY_BIAS = {(4, 2): 0, (8, 2): 130}


def batch(sizes, *mask, n=5, b=3, **rest):
    """Return an input of b sentences for a class built with these sizes, d_model and num_heads."""
    x = numbers(b, n, sizes[0], seed=sizes[0])  # not as many as there are values returned
    x[:, 1:2] *= KEY_BIAS.get(sizes) != 0
    if KEY_BIAS.get(sizes):
        x[..., -1] = 7 / 3 * (torch.arange(n) == n - 1)
    return case(x, *mask, build=sizes, **rest)


@functools.cache
def random_weights(layer_class, sizes):
    """Return the weights that each class built with these sizes gets, by their names in this one."""
    shapes = {name: tuple(each.shape) for name, each in layer_class(*sizes).named_parameters()}
    seeded = torch.Generator().manual_seed(0)
    weights = {name: torch.randn(s, generator=seeded) / s[-1] ** 0.5 for name, s in shapes.items()}
    if "w_k.bias" in weights:
        weights["w_k.bias"] *= KEY_BIAS.get(sizes, 1)
        if KEY_BIAS.get(sizes):
            weights["w_q.weight"][:, -1], weights["w_k.weight"][:, -1] = 0, -weights["w_k.bias"]
    return weights


class Layer(namedtuple("Layer", "weight bias")):
    """One of the four layers, as the steps take it."""

    def __call__(self, x):
        return F.linear(x, *self)


class ModuleExercise(AttentionExercise):
    """The answer is a class, an ``nn.Module``, built and called for every input.

    It and the solution get the same weights, so it must name its layers as the solution does. Every case
    is a ``batch``.
    """

    kind, mask_at = "forward", 1

    def _run(self, answer, case):
        return super()._run(self._called(answer, case), case)

    def _called(self, answer, case):
        return lambda *args: self._built(answer, case.build)(*args)

    def _parts(self, case):
        x, mask = (*case.args, None)[:2]
        weights = {**random_weights(self.reference, case.build)}
        if "w_qkv.weight" in weights:  # three side by side
            for part in ("weight", "bias"):
                three = weights[f"w_qkv.{part}"].chunk(3)
                weights |= dict(zip((f"w_q.{part}", f"w_k.{part}", f"w_v.{part}"), three, strict=True))
        names = "w_q", "w_k", "w_v", "w_o"
        layers = {name: Layer(weights[f"{name}.weight"], weights[f"{name}.bias"]) for name in names}
        return {"x": x, "source": x, "mask": mask, "h": case.build[1], **layers}

    def _returned(self, output_and_weights):
        return output_and_weights if isinstance(self.asked.axes, dict) else output_and_weights[0]

    def _wrong_kind(self, answer):
        if isinstance(answer, type) and not issubclass(answer, nn.Module):
            return f"{answer.__name__} is a class, but no nn.Module: what stands in brackets behind its name?"
        return None if isinstance(answer, type) else another_kind(self, answer, "the class, by its name only")

    def _broken_rule(self, answer, cases, outcomes):
        broken = super()._broken_rule(answer, cases, outcomes) or self._kept_mask(answer, cases, outcomes)
        if broken:
            return broken
        if answer.forward is nn.Module.forward:
            return "your class has __call__ in place of forward: nn.Module's own runs hooks, then forward."
        module, idle = self._built(answer, cases[0].build), []
        output = module(*cases[0].args)
        output = output[0] if isinstance(output, tuple | list) else output
        if output.requires_grad:
            output.sum().backward()
        for name, _ in self.reference(*cases[0].build).named_children():
            gradient = getattr(module, name).weight.grad
            if gradient is None or not gradient.any(dim=-1).all():
                idle.append(f"self.{name}")
        if idle:
            return f"no gradient reaches all of {', '.join(idle)}: nothing is learnt there. What cuts it off?"
        return None

    def _kept_mask(self, answer, cases, outcomes):
        """Say so if a layer that has been called with another mask before returns something else."""
        for each, outcome in zip(cases, outcomes, strict=True):
            if len(each.args) > 1:
                module, (x, mask) = self._built(answer, each.build), each.args
                module(x, torch.ones_like(mask))
                if not same_outcome(run(module, (x, mask)), outcome):
                    return "a second call with another mask gives other numbers: what does your class keep?"
        return None

    def _words(self, answer, cases, outcomes, first, difference):
        words = super()._words(answer, cases, outcomes, first, difference)
        if outcomes[first].error:
            return words
        parameters = dict(self._built(answer, cases[0].build).named_parameters(remove_duplicate=False))
        named = [id(parameters[name]) for name in random_weights(self.reference, cases[0].build)]
        new = [name.partition(".")[0] for name, each in parameters.items() if id(each) not in named]
        return words + (f" Your class also has self.{new[0]}, which the task does not name." if new else "")

    def _built(self, answer, sizes):
        state = torch.get_rng_state()
        torch.default_generator.manual_seed(0)  # what the task does not name is the same in every call
        module = answer(*sizes)
        torch.set_rng_state(state)
        mine = dict(module.named_parameters(remove_duplicate=False))
        makers = {}
        for name, weight in random_weights(self.reference, sizes).items():
            layer, _, part = name.partition(".")
            if name not in mine and part == "bias" and f"{layer}.weight" in mine:
                raise AnswerError(f"your self.{layer} has no bias, and the task asks for one.")
            if name not in mine:
                others = ", ".join(f"self.{other}" for other, _ in module.named_children())
                lacking = f"your self.{name} is missing{'; your layers are ' * bool(others)}{others}"
                raise AnswerError(f"{lacking}: does __init__ make what the task names?")
            got, shape = tuple(mine[name].shape), tuple(weight.shape)
            if got != shape:
                shapes = f"has shape {got} instead of {shape}"
                raise AnswerError(f"your self.{name} {shapes}: how many go in and out?")
            if (first := makers.setdefault(id(mine[name]), layer)) != layer:
                raise AnswerError(f"your self.{layer} and self.{first} are one layer, and two are needed.")
            with torch.no_grad():
                mine[name].copy_(weight)
        return module


def _written(code):
    """Return what is written in a class or a function, step by step, whatever its comments."""
    if isinstance(code, type):
        return {
            name: _written(each.__code__) for name, each in vars(code).items() if inspect.isfunction(each)
        }
    steps = ((step.opname, step.argval) for step in dis.get_instructions(code))
    return [(name, _written(what) if inspect.iscode(what) else what) for name, what in steps]


class BugHunt(ModuleExercise):
    """A class to repair: the check counts the bugs found, and says of the first that is left what it does.

    Its bugs are those of the stub; cases with ``bug="…"`` isolate one of them each.
    """

    def __init__(self, heading, **rest):
        super().__init__(heading, **rest)
        self.planted = self.made_by(self.stub)
        self.stub_words = "This is still as it was handed to you: change it, then run the cell again."

    def _untouched(self, answer):
        as_planted = isinstance(answer, type) and _written(answer) == _written(self.planted)
        return as_planted or super()._untouched(answer)

    def _as_planted(self, outcome, case):
        """Tell whether the weights are those of the class as handed out: each bug shows in them."""
        pair, planted = outcome.value, self._run(self.planted, case).value
        return isinstance(pair, tuple | list) and same_outcome(Outcome(pair[1:]), Outcome(planted[1:]))

    def _mistake(self, answer, cases, outcomes, failing):
        case, outcome = cases[failing[0]], outcomes[failing[0]]
        bug = getattr(case, "bug", None) if self._as_planted(outcome, case) else None
        isolated = [index for index in failing if hasattr(cases[index], "bug")]
        if bug and all(self._as_planted(outcomes[index], cases[index]) for index in isolated):
            return bug
        return super()._mistake(answer, cases, outcomes, failing) or bug

    def _failure(self, answer, cases, outcomes, sentences):
        """Count the planted bugs: found where the input that isolates one comes out right, left where it does
        as planted; else something else hides it. One known mistake that explains the rest leaves none of it.
        """
        words = super()._failure(answer, cases, outcomes, sentences)
        pairs = list(zip(cases, outcomes, strict=True))
        plain = [change for change, _ in diagnoses.MISTAKES if not re.search("mask|inf", " ".join(change))]
        same = [change for change in plain if all(self._does_the_same(change, *pair) for pair in pairs)]
        isolated = {index for index, case in enumerate(cases) if hasattr(case, "bug")}
        left = {index for index in isolated if self._as_planted(outcomes[index], cases[index])}
        hidden = set() if same else {index for index in isolated - left if sentences[index]}
        raised = [index for index in sorted(hidden) if outcomes[index].error]
        if raised and words in {cases[index].bug for index in left}:  # what raises is said first
            words = self._words(answer, cases, outcomes, raised[0], sentences[raised[0]])
        count = f"{len(isolated - left - hidden)} of {len(isolated)} bugs found"
        if hidden and left | hidden == isolated:
            return f"Something else is wrong, so that the bugs cannot be counted yet. {words}"
        if hidden:
            return f"At least {count}, and something is wrong in a new way. {words}"
        scale = any("0.5" in " ".join(change) for change in same)
        rest = "" if left else ", but the scale is not right yet" if scale else ", but not all is right yet"
        return f"{count}{rest}. {words}"
