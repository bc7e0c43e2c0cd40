"""Running a learner's function: on copies of the inputs, with every way to fail turned into words."""

import copy
import dis
import inspect
import sysconfig
import traceback
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from mha_helpers.examples import fixed_matrix
from mha_helpers.exercises.framework import one_line

# Steps of the interpreter that compute nothing; their names differ between versions of Python.
_IDLE_STEPS = {"RESUME", "NOP", "NOT_TAKEN", "CACHE", "POP_TOP", "RETURN_VALUE", "BUILD_TUPLE"}
_CONSTANT_STEPS = {"LOAD_CONST", "RETURN_CONST"}

_HELPERS = str(Path(__file__).parents[1])
_LIBRARIES = (
    str(Path(torch.__file__).parent),  # it may lie elsewhere than the other packages
    *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
)

_WHOLE_SIZE = (
    "A size must be a whole number: // in place of / keeps it one. A whole .shape is several: take one of"
    " them, as in .shape[0]."
)
_ONE_NUMBER = (
    "One number is needed there, not a tensor of several: for whole tensors torch has functions of its own,"
    " and torch.stack makes one tensor of a list of tensors."
)
_INNER_SIZES = "The shapes do not fit: print both with .shape. The two inner sizes must be equal."

# (words in the message, what usually causes it), tried in order.
_CAUSES = (
    ("'ellipsis'", "A `...` is still in the code: put something in its place."),
    (
        "view size is not compatible",
        "view needs numbers that lie in memory in the order of the axes, and after a transpose or a slice"
        " they do not; reshape copies them first. (To turn axes round, neither will do.)",
    ),
    ("is invalid for input of size", "The new shape must hold as many numbers as the old one."),
    ("Dimension out of range", "The tensor has fewer axes than that: count axes from the end, -1 and -2."),
    ("dimension in transpose", "The tensor has fewer axes than that: count axes from the end, -1 and -2."),
    ("too many indices", "The tensor has fewer axes than that: does your code fix the number of axes?"),
    (
        "shape of the mask",
        "In square brackets a mask is not broadcast: it needs the shape of the tensor.",
    ),
    (
        "to an index",
        "A single whole number is needed there, not a whole tensor. (torch.stack, not torch.tensor, makes one"
        " tensor of a list of tensors.)",
    ),
    (
        "tuple index",
        "A tuple, as .shape is one, has fewer entries than that: count them from the end, -1 and -2.",
    ),
    (
        "'list' object cannot be interpreted",
        "range needs a number, and that is a list: len() tells how many entries it has.",
    ),
    (
        "list indices must be integers",
        "A list is asked for a place, a whole number: does your loop run through places or through entries?",
    ),
    (
        "can't multiply sequence",
        "Lists are not multiplied entry by entry: a loop takes one entry of each at a time.",
    ),
    (
        "for @: 'list'",
        "Lists know no @: a loop takes one entry of each at a time.",
    ),
    ("must be a matrix", "mm and addmm take two axes alone; @ and torch.matmul take axes in front as well."),
    (
        "by an inplace operation",
        "Training still needs numbers that were written over: x.f_() and x[…] = … write into x; x = x.f()"
        " does not.",
    ),
    ("output with shape", "+= keeps the shape on its left: a = a + b may grow."),
    ("must be a 3D tensor", "torch.bmm takes three axes alone; @ and torch.matmul take any number."),
    ("1D tensors expected", "torch.dot takes one axis alone; @ and torch.matmul take any number."),
    (
        "desired ordering",
        "permute names every axis, so it fixes their number. What swaps two axes, counted from the end?",
    ),
    (
        "tensor with <= 2 dimensions",
        ".t() takes two axes at most. What swaps two axes, counted from the end?",
    ),
    (
        "sizes provided (0)",
        "One cell takes one number, and it is handed several: is a step left that makes one of them?",
    ),
    (
        "must be Tensor, not",
        "That argument must be a tensor: for a plain number, math may have the same function.",
    ),
    ("got torch.dtype", "The kind of number is handed over by its name: dtype=…"),
    ("slice indices must be integers", _WHOLE_SIZE),
    ("are valid indices", "An index must be a whole number: // in place of / keeps it one."),
    (
        "used as indices",
        "An index must be a whole number. A loop through a tensor gives its rows, not their numbers:"
        " range(len(…)) gives these.",
    ),
    ("list index", "The list has fewer entries than that: print its len(). Does a loop run one too far?"),
    ("list assignment index", "The list has fewer entries than that: append adds one at its end."),
    ("0-dim tensor", "That is a single number already: there is an index too many."),
    ("index", "An index ran past the end: print the .shape, and compare it with your loop."),
    ("failed to unpack the object", _WHOLE_SIZE),
    ("object cannot be interpreted as an integer", _WHOLE_SIZE),
    (
        "torch.return_types",
        "max along an axis returns two things, the values and their places: .values is the first; amax gives"
        " it alone.",
    ),
    (
        "too many values to unpack",
        "There are more sizes than names: .shape gives one for each axis, also for the batch.",
    ),
    ("not enough values to unpack", "There are fewer sizes than names: print the .shape of what you unpack."),
    (
        "subscripts in the equation",
        "The letters fix how many axes there are: in einsum `...` stands for any axes in front.",
    ),
    ("converted to Python scalars", _ONE_NUMBER),
    ("converted to Scalar", _ONE_NUMBER),
    ("transpose() ", "transpose swaps two axes, by two numbers; permute takes a whole new order."),
    ("unary ~", "Without a mask, mask is None: ask `if mask is not None`."),
    (
        "is ambiguous",
        "One True or False is needed there, and a tensor holds many: torch.equal or torch.allclose compares"
        " two, ~ turns a mask round, `is not None` asks whether there is one.",
    ),
    ("same dtype", "Two kinds of number meet: print the .dtype of both."),
    ("mat1 and mat2", _INNER_SIZES),
    ("size mismatch", _INNER_SIZES),
    ("inconsistent tensor size", _INNER_SIZES),
    (
        "expected Tensor as element",
        "torch.stack takes a list of tensors, and this list holds lists: torch.tensor makes one of each.",
    ),
    ("must match", "The shapes do not fit: print both with .shape before that line."),
    ("Expected size", "The shapes do not fit: print both with .shape before that line."),
    ("to have size", "The shapes do not fit: print both with .shape before that line."),
    ("expects each tensor to be equal size", "The shapes do not fit: print each with .shape."),
    (
        "unexpected keyword argument",
        "No argument there has this name: is it spelt as in the task, or as PyTorch spells it?",
    ),
    ("Module.__init__", "super().__init__() must come first in __init__."),
    ("not callable", "A value is called like a function: look for brackets too many, or a name used twice."),
    (
        "not defined",
        "Is the name spelt as above? Did you run the cell that makes or imports it? In a class, is self."
        " missing?",
    ),
    ("cannot access local variable", "A name is used before it has a value."),
    ("before assignment", "A name is used before it has a value."),
    ("recursion", "The function calls itself without an end."),
    (
        "has no attribute",
        "That object has no such name: print its type(). In a class: is self the first argument, and does"
        " __init__ make self.…?",
    ),
)


class AnswerError(Exception):
    """Something about an answer that stops the check, said in a whole sentence."""


@dataclass
class Case:
    """One input: arguments for the function; for a class also those it is built with."""

    args: tuple
    kwargs: dict = field(default_factory=dict)
    build: dict = field(default_factory=dict)


def case(*args, build=None, **kwargs):
    """Return a ``Case``: ``case(q, k, mask=mask)``; for a class ``case(x, build={"d_model": 6, …})``."""
    return Case(args, kwargs, build or {})


def numbers(*shape, name="exercise"):
    """Return a tensor of fixed numbers, mean 0 and variance 1, the same on every machine.

    >>> numbers(2, 3, 4).shape
    torch.Size([2, 3, 4])
    """
    count = int(torch.tensor(shape).prod())
    return fixed_matrix(f"{name} {shape}", count, 1).view(shape)


@dataclass
class Outcome:
    """What a call came to: a value or an error, and the arguments that it changed."""

    value: Any = None
    error: BaseException | None = None
    changed: tuple = ()
    line: str = ""  # of the learner's code, where the error came up

    @property
    def message(self):
        try:
            return one_line(self.error, longest=160)
        except BaseException:  # an exception whose text raises in turn
            return ""


def run(call, inputs, names=()):
    """Call a function with copies of the inputs and return the ``Outcome``; only Ctrl-C gets through."""
    args, kwargs = copy.deepcopy((inputs.args, inputs.kwargs))
    outcome = Outcome()
    try:
        outcome.value = _keep(call(*args, **kwargs))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well: an exit() must not end the learner's kernel
        outcome.error, outcome.line = error, _last_line(error)
        error.__traceback__ = None  # it would keep every tensor of the call alive
    pairs = zip([*args, *kwargs.values()], [*inputs.args, *inputs.kwargs.values()], strict=True)
    names = [*names[: len(args)], *kwargs]
    outcome.changed = tuple(
        name for name, (now, before) in zip(names, pairs, strict=False) if not _unchanged(now, before)
    )
    return outcome


def _last_line(error):
    """Return the last line of the learner's own code that the error went through, "" if there is none."""
    own = [
        frame.line
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_HELPERS, *_LIBRARIES))
    ]
    return one_line(own[-1], longest=90) if own and own[-1] else ""


def describe(inputs, names):
    """Name the inputs by their shapes: "q (3, 2) and k (4, 2)"."""
    handed = dict(zip(names, inputs.args, strict=False)) | inputs.kwargs
    parts = [_describe_one(name, value) for name, value in handed.items()]
    built = [f"{name} = {value}" for name, value in inputs.build.items()]
    return one_line(" and ".join([", ".join([*built, *parts[:-1]]), *parts[-1:]]).removeprefix(" and "), 200)


def _describe_one(name, value):
    if isinstance(value, torch.Tensor):
        return f"{name} of shape {tuple(value.shape)}"
    if callable(value):  # a suspect of an exercise has a name of its own
        value = getattr(value, "__name__", getattr(value, "name", "a function"))
    return f"{name} = {value}"


def explain(outcome):
    """Return "it raises RuntimeError: …" with its usual cause."""
    message = outcome.message
    words = f"it raises {type(outcome.error).__name__}" + (f": {message}" if message else "")
    words = words.rstrip(".") + "."
    if isinstance(outcome.error, SystemExit):
        return f"{words} exit() or quit() would end the session: leave it out."
    if isinstance(outcome.error, AssertionError):
        return f"{words} A failed assert ends the call: where the answer is no, return False hands it back."
    causes = (f" {cause}" for fragment, cause in _CAUSES if fragment in message)
    line = f" The line: {outcome.line}" if outcome.line else ""
    return f"{words}{next(causes, '')}{line}"


def is_stub(function):
    """Tell whether nobody has written in a function yet: it reads no argument and returns None or `...`."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        return False
    arguments = set(inspect.getargs(code).args)
    for step in dis.get_instructions(code):
        if step.opname.startswith(("LOAD_FAST", "STORE_FAST")):
            names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            if arguments & set(names):
                return False
        elif step.opname in _CONSTANT_STEPS:
            constants = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            if any(constant is not None and constant is not ... for constant in constants):
                return False
        elif step.opname not in _IDLE_STEPS:
            return False
    return True


def not_begun(outcome):
    """Tell whether a call ended in the NotImplementedError of a stub."""
    # PyTorch raises the same error where an operation does not know a dtype.
    return isinstance(outcome.error, NotImplementedError) and "not implemented for" not in outcome.message


def argument_problem(function, inputs, names):
    """Return a sentence if the function cannot take these arguments at all, else None."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built in, without a signature: the call will tell
        return None
    try:
        signature.bind(*inputs.args, **inputs.kwargs)
    except TypeError:
        taken = list(signature.parameters)
        needed = [*names[: len(inputs.args)], *(f"{name}=…" for name in inputs.kwargs)]
        count = f"{len(taken)} argument" + ("" if len(taken) == 1 else "s")
        renamed = len(taken) == len(needed) and not set(inputs.kwargs) <= set(taken)
        return (
            f"Your function takes {count} ({', '.join(taken)}); it is called with ({', '.join(needed)})"
            + (": keep these names." if renamed else ".")
        )
    return None


def _keep(value):
    # A function may hand out the same tensor again and again and write into it.
    if isinstance(value, torch.Tensor):
        small = value.layout == torch.strided and not value.is_meta and value.numel() <= 1_000_000
        return value.detach().clone() if small else value
    if type(value) in (list, tuple):
        return type(value)(_keep(item) for item in value)
    return {key: _keep(item) for key, item in value.items()} if type(value) is dict else value


def _unchanged(now, before):
    if isinstance(before, torch.Tensor):
        return now.shape == before.shape and torch.equal(now.nan_to_num(), before.nan_to_num())
    if isinstance(before, (list, tuple)):
        return len(now) == len(before) and all(map(_unchanged, now, before))
    if isinstance(before, dict):
        return now.keys() == before.keys() and all(_unchanged(now[key], before[key]) for key in before)
    return now == before if isinstance(before, (str, int, float, set)) else True
