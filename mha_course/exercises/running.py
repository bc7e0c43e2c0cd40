"""Running a learner's function: on copies of the inputs, with every way to fail put in words."""

import copy
import dis
import inspect
import re
import sys
import textwrap
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

import mha_course
import mha_helpers
from mha_course.exercises.compare import same

_OURS = [str(Path(package.__file__).parent) for package in (mha_helpers, mha_course)]
_NOT_THEIRS = (*_OURS, sys.prefix, sys.base_prefix, "<candidate")
_USING = ("LOAD", "STORE", "RETURN_CONST")
_OF_STUBS = {None, ..., "self", "super", "__class__", "__init__", "NotImplementedError"}

# (a pattern of the message, what usually causes it), tried in order.
_CAUSES = (
    ("AssertionError", "An assert stops the code where it fails: a test returns False there instead."),
    (r"['(]ellipsis|(not|type) ellipsis", "A `...` is still in the code: put something in its place."),
    ("KeyError", "The dict has no entry of this name: print its keys, and what your code builds."),
    ("'Linear'|not Linear", "A layer is no matrix: what do you do with a layer to apply it to x?"),
    (r"(positional|keyword\S*) arg", "Compare the arguments with those that the task, or PyTorch, names."),
    ("shape of the mask", "A mask must be as long as what it picks from: compare the two shapes."),
    ("(index|Dim).* out of|many indices|desired", "Print the .shape: are there so many, counted from 0?"),
    ("is ambiguous", "if, and, or, not take one True or False: &, |, ~ in brackets, .all(), `is not None`?"),
    ("Module.__init__", "super().__init__() must come first in __init__."),
    ("not callable", "A value is called like a function: brackets too many, no self., or a name used twice?"),
    ("'torch' is not defined", "Run the set-up cell at the top of the page first: it imports torch."),
    ("return_types", "With dim, max and min return values and indices: take .values, or use amax, amin."),
    ("'(math|np|numpy|F|nn)' is not defined", "It is imported first, in a cell or a line: import math."),
    ("not defined", "Is the name spelt as above, and did its cell run? Is self. or torch. missing?"),
    (r"'(My\w*|Suspect)' object has no attr", "Does __init__ make it? The page's functions need no self."),
    ("must be Tensor, not (int|float)", "A size is a plain number, whose root is ** 0.5."),
    ("unary ~", "Without a mask, mask is None: ask `if mask is not None`."),
    ("is invalid for input|view size is", "A view keeps all numbers, in order: print .shape before it."),
    (r"values to unpack.*\.shape", "Both sides of = must have as many: .shape has a size for each axis."),
    ("values to unpack", "Both sides of = must have as many: what does the right side hold?"),
    ("(local|free) variable", "It is used before a line gives it a value: is that one in an if?"),
    ("as parameter", "A weight is an nn.Parameter: make one of the tensor, or copy_ the numbers into it."),
    ("leaf Variable", "A weight is written into below `with torch.no_grad():`."),
    ("one element tensors", "math takes a single number: torch has such functions for tensors."),
    ("required .forward", "Is your method called forward, and is it indented as __init__ is?"),
    ("inplace operation", "Backward needs a tensor as it was: which line writes into it (/=, +=, …_())?"),
    ("target (batch_)?size", "It takes (rows, words) and (rows): flatten(0, 1) joins the first two axes."),
    (r"must match.*[-/] ?\w+\.(sum|mean|amax)\((?!.*keepdim)", "keepdim=True keeps the axis of a sum."),
    (r"multiplied.*q @ k\b(?! *\.)", "A query meets each key: which two axes of k change places before?"),
    (r"(must match|Expected size).*@ \w+\.T\b", "`.T` turns all axes round: which two should change places?"),
    (r"size.*(=|return) \S*product_attention\([^@+/]*\)$", "Has each key a value? Are q, k, v in order?"),
    ("must match|Expected size|equal size|be multiplied", "The shapes do not fit: print both .shape first."),
)


class AnswerError(Exception):
    """Something about an answer that stops the check, said in a whole sentence."""


def case(*args, label="", mistakes=(), **rest):
    """Return one input: ``case(q, k, label="without a mask", mistakes=[…])``.

    ``label`` opens the sentence when this input is the first to fail. ``mistakes`` are tried before those
    of the exercise. ``rest`` is what a page's own kind of exercise wants to know of it.
    """
    return SimpleNamespace(args=args, label=label, mistakes=mistakes, **rest)


def numbers(*shape, seed=0):
    """Return a tensor of seeded random numbers, mean 0 and variance 1; two tensors need two seeds.

    >>> numbers(2, 3, 4).shape
    torch.Size([2, 3, 4])
    """
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float32)


@dataclass(frozen=True)
class Outcome:
    """What a call came to: a value or an error, and whether it wrote into its arguments."""

    value: Any = None
    error: BaseException | None = None
    changed: bool = False
    line: str = ""  # of the learner's code, where the error came up


def run(call, args):
    """Call a function with copies of the arguments and return the ``Outcome``; only Ctrl-C gets through."""
    copies = copy.deepcopy(args)
    try:
        with warnings.catch_warnings(action="ignore"):  # the check speaks for itself
            value = call(*copies)
        value = tuple(value) if isinstance(value, Iterator) else value
        value = copied(value)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well: an exit() must not end the learner's kernel
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.line for frame in frames if not frame.filename.startswith(_NOT_THEIRS)]
        return Outcome(error=error.with_traceback(None), line=(lines or [""])[-1])
    return Outcome(value, changed=not all(map(_unchanged, copies, args)))


def _unchanged(now, before):
    """Tell whether a tensor, or a dict of tensors, is as it was; of all else that is handed over, say so."""
    if isinstance(now, dict):
        return now.keys() == before.keys() and all(_unchanged(now[name], before[name]) for name in now)
    return not torch.is_tensor(now) or (now.dtype == before.dtype and torch.equal(now, before))


def same_outcome(outcome, other):
    """Tell whether two calls ended alike: with values as good as each other, or with the same error."""
    if outcome.error or other.error:
        return type(outcome.error) is type(other.error) and str(outcome.error) == str(other.error)
    return same(outcome.value, other.value)


def explain(error, line=""):
    """Return "it raises RuntimeError: …" with its usual cause and the learner's line."""
    whole = " ".join(str(error).split())
    message = textwrap.shorten(whole, 220, placeholder=" …")
    message += "" if message.endswith(("?", ".", "…")) else "."
    if isinstance(error, AnswerError):
        return message
    whole = f"{type(error).__name__}: {whole}"
    cause = next((f" {cause}" for words, cause in _CAUSES if re.search(words, f"{whole} {line}")), "")
    where = f" The line: {line}" if line else ""
    return f"it raises {type(error).__name__}{': ' * (len(message) > 1)}{message}{cause}{where}"


def page_variable(code):
    """Return the name of a number or tensor that a function or class reads from the page, None without."""
    functions = [code] if inspect.isfunction(code) else filter(inspect.isfunction, vars(code).values())
    for function in functions:
        for step in dis.get_instructions(function):
            value = function.__globals__.get(step.argval) if step.opname == "LOAD_GLOBAL" else None
            if isinstance(value, torch.Tensor | int | float) and step.argval != "inf":
                return step.argval
    return None


def is_stub(code):
    """Tell whether nobody has written in a function, or in any function of a class, yet.

    A stub uses nothing: no name, argument or constant but those it was handed out with. The names of the
    steps that load, store or return something begin alike in Python 3.11 to 3.14.
    """
    if isinstance(code, type):
        own = [part for part in code.__mro__ if not part.__module__.startswith(("torch", "builtins"))]
        functions = [value for part in own for value in vars(part).values() if inspect.isfunction(value)]
        return issubclass(code, torch.nn.Module) and all(map(is_stub, functions))
    if not inspect.isfunction(code):
        return False
    return {step.argval for step in dis.get_instructions(code) if step.opname.startswith(_USING)} <= _OF_STUBS


class Calls(TorchFunctionMode):
    """Notes the names of functions of torch, NumPy and this package that are called, also by a helper.

    What is called is noted, not what is written: a variable may be named softmax. ``q @ k`` is a matmul.
    """

    def __enter__(self):
        self.names, self._before = set(), sys.getprofile()
        sys.setprofile(self._note_own)
        return super().__enter__()

    def __exit__(self, *error):
        sys.setprofile(self._before)
        return super().__exit__(*error)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        func_or_property = func.__self__ if func.__name__ == "__get__" else func  # q.mT
        self.names.add(func_or_property.__name__.removeprefix("special_").removesuffix("_copy").strip("_"))
        return func(*args, **(kwargs or {}))

    def _note_own(self, frame, event, called):
        module = frame.f_globals.get("__name__", "")
        ours = module.startswith(("mha_helpers.", "mha_course.")) and ".exercises" not in module
        in_numpy, back = module.startswith("numpy."), frame.f_back
        entered = in_numpy and not back.f_globals.get("__name__", "").startswith("numpy.")
        if event == "call" and (ours or entered):
            self.names.add(frame.f_code.co_name)
        if event == "c_call" and not in_numpy and type(called.__self__).__module__ == "numpy":
            self.names.add(called.__name__)  # a method of an array


def copied(value):
    """Return a tensor, or each one in a list or tuple, as it is now: the next call may write into it."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return type(value)(map(copied, value)) if type(value) in (list, tuple) else value
