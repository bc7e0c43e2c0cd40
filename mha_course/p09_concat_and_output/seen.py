"""What is seen of a learner's attention: what it returns, what becomes of its mask, what backward says."""

import functools
from types import SimpleNamespace

import torch
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from mha_course.exercises import FunctionExercise, Outcome, run, same_outcome
from mha_course.exercises.compare import as_float64
from mha_course.exercises.running import explain
from mha_course.p09_concat_and_output import diagnoses
from mha_helpers.style import number

_A_LOW_SCORE = "A hidden score becomes {}, so words whose other scores are as low look there: what is lower?"
_NOTHING_LEFT = "You share out first, then hide: if hidden scores have taken all, what is left to divide?"
_AFTER_SOFTMAX = "−∞ is written into the weights, after softmax: what becomes 0 if it is there before?"


class Watch(TorchFunctionMode):
    """Notes while code runs what becomes of its mask, and whether softmax is told its axis."""

    def __init__(self):
        super().__init__()
        self.of_mask, self.softmaxed, self.hidden_late = {}, {}, {}
        self.longer, self.of_infinity, self.low = [], [], []  # masks with more axes; what is said of ∞; fills
        self.no_axis = False

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name, everything = getattr(func, "__name__", ""), [*args, *kwargs.values()]
        tensors = [each for each in everything if isinstance(each, torch.Tensor)]
        masks = [id(each) in self.of_mask for each in tensors]
        result = func(*args, **kwargs)
        if not isinstance(result, torch.Tensor):
            return result
        numbers = {float(each) for each in everything if type(each) in (int, float)}
        fills = name.startswith("masked_fill") or name == "where"
        divides = "div" in name or name == "normalize"
        if masks and all(masks):
            self.of_mask[id(result)] = result
            self.longer += [result] if result.dim() > tensors[0].dim() else []
            if result.is_floating_point() and result.isnan().any():
                self.of_infinity.append("0 · ∞ is NaN: what is your mask times ∞ where it is 0?")
        elif any(masks) and fills and torch.inf in numbers:
            self.of_infinity.append("Your code writes +∞ into scores: which score gives no weight?")
        elif any(masks) and fills and -torch.inf in numbers and id(args[0]) in self.softmaxed:
            self.of_infinity.append(_AFTER_SOFTMAX)
        if any(masks) and any(id(each) in self.softmaxed for each in tensors):
            self.hidden_late[id(result)] = result
        late = [each for each in tensors if id(each) in self.hidden_late]
        if late and (result.isnan().any() or (divides and (late[0].sum(-1) < 1e-4).any())):
            self.of_infinity.append(_NOTHING_LEFT)
        if any(masks) and fills:
            self.low += [each for each in numbers if -1000 < each < -1e-6]
        if "softmax" in name:
            self.softmaxed[id(result)] = result
            self.no_axis |= func is F.softmax and [*args, None][1] is None and kwargs.get("dim") is None
        return result


def steps_of(q, k, v, mask):
    """Return what the steps take where an input holds queries, keys and values."""
    made = {"w_q": lambda _: q, "w_k": lambda _: k, "w_v": lambda _: v, "w_o": lambda concat: concat}
    return {"x": None, "source": None, "mask": mask, "h": None, **made}


class AttentionExercise(FunctionExercise):
    """An answer that computes attention: its mistakes are looked for in the one list, and in its own.

    ``_parts`` of an exercise returns what the steps take of an input.
    """

    mask_at = 3  # which argument is the mask

    def _mistake(self, answer, cases, outcomes, failing):
        seen = functools.partial(self._seen_in_the_code, answer, cases[failing[0]], outcomes[failing[0]])
        return (
            seen(SIGHTS)
            or self._listed(
                [(change, (change, words)) for change, words in diagnoses.MISTAKES], cases, outcomes, failing
            )
            or super()._mistake(answer, cases, outcomes, failing)
            or seen([low_score_for_a_hidden_key])
            or self._listed(diagnoses.pairs(), cases, outcomes, failing)
        )

    def _listed(self, mistakes, cases, outcomes, failing):
        """Return the sentence of the mistake that does the same on most inputs, if one does.

        It does so on the first that fails, on all without a mask and all that come out right, on half of
        the others that return something, and finite numbers of one prove it.
        """
        first, best = failing[0], (0, ())
        valued = [i for i in failing if not outcomes[i].error]
        proofs = [i for i in failing if self._proves(cases[i], outcomes[i])]
        for change, *named in mistakes if proofs and not outcomes[first].error else ():
            if not self._does_the_same(change, cases[first], outcomes[first]):
                continue
            same = [self._does_the_same(change, *each) for each in zip(cases, outcomes, strict=True)]
            right = [same[i] for i in range(len(cases)) if i not in failing]
            plain = [same[i] for i, case in enumerate(cases) if self._parts(case)["mask"] is None]
            enough = all(right) and all(plain) and 2 * (sum(same) - len(right)) >= len(valued)
            if enough and any(same[i] for i in proofs) and sum(same) > best[0]:
                best = sum(same), named
        alone = [each for each in best[1] if self._does_the_same(each[0], cases[first], outcomes[first])]
        return next((words for _, words in alone or best[1][::-1] if words), None)

    def _does_the_same(self, change, case, outcome):
        return same_outcome(outcome, self._done(change, case))

    def _done(self, change, case):
        """Return what the steps come to with a change, in the form in which the answer returns it."""
        known = self.__dict__.setdefault("_known", {})
        key = case.label, getattr(case, "build", None), *change.items()
        if key not in known:
            done = diagnoses.outcome_of(change, self._parts(case))
            known[key] = done if done.error else Outcome(self._returned(done.value))
        return known[key]

    def _returned(self, output_and_weights):
        return output_and_weights[0]

    def _broken_rule(self, answer, cases, outcomes):
        """Backward is tried with a mask and without one: what is written in place stops it."""
        for case in cases:
            if error := backward_error(self._called(answer, case), case.args):
                return f"backward {explain(error).removeprefix('it ')}"
            if self._parts(case)["mask"] is not None and (words := self._of_large_scores(answer, case)):
                return words
        return super()._broken_rule(answer, cases, outcomes)

    def _of_large_scores(self, answer, case):
        """Say so if it is wrong where scores are as large as some models have; a softmax may overflow."""
        largest = 0
        while largest < 400:
            case = SimpleNamespace(**vars(case) | {"args": (1.5 * case.args[0], *case.args[1:])})
            scores = diagnoses.outcome_of({"concat), weights": "concat), scores"}, self._parts(case)).value[1]
            largest = int(scores[scores.isfinite()].abs().max())
        values = (self._run(each, case).value for each in (answer, self.reference))
        got, right = (as_float64(each[0] if self.asked.returns else each) for each in values)
        if ((got - right).abs() > 0.05 * right.nan_to_num().abs().max()).any():
            return f"not where scores reach ±{largest}: can a hidden one be the highest there?"
        return None

    def _proves(self, case, outcome):
        right = self._done({}, case).value
        got = outcome.value if isinstance(right, tuple) else (outcome.value,)
        right = right if isinstance(right, tuple) else (right,)
        values = [as_float64(each) for each in got] if isinstance(got, tuple | list) else ()
        of_numbers = len(values) == len(right) and all(value is not None for value in values)
        return of_numbers and any(map(diagnoses.proves, values, map(as_float64, right)))

    def _called(self, answer, case):
        """Return what is called with the arguments of a case: the answer, or a layer built from it."""
        return answer

    def _seen_in_the_code(self, answer, case, outcome, sights):
        args = (*case.args, *[None] * (self.mask_at + 1 - len(case.args)))
        watch, mask = Watch(), args[self.mask_at]
        scores = diagnoses.outcome_of({}, self._parts(case)).value[1]
        if mask is None and "None" in str(outcome.error or ""):
            with_mask = (*args[: self.mask_at], torch.ones(scores.shape[-2:]).bool())
            if not run(self._called(answer, case), with_mask).error:
                return "Called without a mask, your code uses it all the same: what is mask then?"

        def watched(*args):
            watch.of_mask = {id(args[self.mask_at]): args[self.mask_at]}
            with watch:
                return self._called(answer, case)(*args)

        run(watched, args)
        watch.mask, watch.right, watch.scores = mask, self._parts(case)["mask"], tuple(scores.shape)
        sights = sights if mask is not None else [no_axis_for_softmax]
        return next((words for sight in sights if (words := sight(watch))), None)


# --- what a watch has seen, each with what to say of it ---


def no_axis_for_softmax(watch):
    if watch.no_axis and len(watch.scores) > 2:
        return "Your softmax is told no axis, so PyTorch guesses one: which holds the keys of one query?"


def low_score_for_a_hidden_key(watch):
    if watch.low:
        return _A_LOW_SCORE.format(number(watch.low[0]))


def axes_added_to_the_mask(watch):
    had = tuple(watch.mask.shape)
    lacked = watch.right.dim() - len(had)  # axes that the task leaves to the learner
    for longer in watch.longer[::-1]:
        if longer.dim() > len(had) + lacked and not _fits(longer, watch.right, watch.scores):
            shapes = f"{had} becomes {tuple(longer.shape)}, scores are {watch.scores}."
            return f"You add axes to the mask, which needs {lacked or 'no'} more: {shapes}"


def infinity_written(watch):
    return next(iter(watch.of_infinity), None)


SIGHTS = no_axis_for_softmax, axes_added_to_the_mask, infinity_written


def _fits(mask, right, shape):
    """Tell whether a mask with more axes still says of each score what it said."""
    try:
        mine, theirs = (each.broadcast_to(shape) != 0 for each in (mask, right))
    except RuntimeError:
        return False
    return torch.equal(mine, theirs) or torch.equal(~mine, theirs)


def backward_error(call, args):
    """Return the error that backward raises, if it raises one."""
    inputs = (each.clone().requires_grad_() * 1 if each.is_floating_point() else each for each in args)
    try:
        output = call(*inputs)
    except RuntimeError:  # through numpy, say
        return None
    try:
        output = output[0] if isinstance(output, tuple | list) else output
        if getattr(output, "requires_grad", False):  # not of an array
            output.sum().backward()
    except RuntimeError as error:
        return error
    return None
