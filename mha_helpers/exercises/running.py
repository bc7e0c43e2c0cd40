"""Running a learner's function: on copies of the inputs, with every way to fail put in words."""

import ast
import copy
import inspect
import linecache
import sysconfig
import textwrap
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from mha_helpers.exercises.compare import same

_NOT_THEIRS = (str(Path(__file__).parents[1]), sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"))
_SHAPES = "The shapes do not fit: print both with .shape before that line."

# (words in the message, what usually causes it), tried in order.
_CAUSES = (
    ("ellipsis", "A `...` is still in the code: put something in its place."),
    ("positional argument", "How many arguments does the task name?"),
    ("view size is not compatible", "After a transpose use reshape: it copies the numbers first."),
    ("Dimension out of range", "The tensor has fewer axes than that: count them from the end, -1 and -2."),
    ("index", "An index ran past the end, or is no whole number: compare it with the .shape."),
    ("converted to", "One number is needed there, not a tensor of several: try the function of torch."),
    ("must be Tensor, not", "A tensor is needed there: for a plain number, math may have the same function."),
    ("is ambiguous", "One True or False is needed there, and a tensor holds many: .all(), or `is not None`?"),
    ("to unpack", "There are more or fewer sizes than names: .shape gives one for each axis."),
    ("keyword argument", "No argument has this name: is it spelt as in the task, or as in PyTorch?"),
    ("Module.__init__", "super().__init__() must come first in __init__."),
    ("not callable", "A value is called like a function: are there brackets too many, or a name used twice?"),
    ("not defined", "Is the name spelt as above, and did its cell run? In a class, is self. missing?"),
    ("unary ~", "Without a mask, mask is None: ask `if mask is not None`."),
    ("must match", _SHAPES),
    ("cannot be multiplied", _SHAPES),
)


class AnswerError(Exception):
    """Something about an answer that stops the check, said in a whole sentence."""


@dataclass(frozen=True)
class Case:
    """One input: ``case(q, k, label="without a mask", mistakes=[…])``.

    ``label`` opens the sentence when this input is the first to fail. ``mistakes`` are tried before those
    of the exercise. ``bug``: this input isolates one planted bug, and this sentence tells of it. ``build``
    holds the arguments that a class is built with.
    """

    args: tuple
    label: str = ""
    mistakes: tuple = ()
    bug: str = ""
    build: dict = field(default_factory=dict)


def case(*args, **rest):
    """Return the ``Case`` of these arguments."""
    return Case(args, **rest)


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
        value = copy.deepcopy(_detached(call(*copies)))  # a copy: it may be written into by the next call
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well: an exit() must not end the learner's kernel
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.line for frame in frames if not frame.filename.startswith(_NOT_THEIRS)]
        return Outcome(error=error.with_traceback(None), line=(lines or [""])[-1])
    return Outcome(value, changed=any(map(_changed, copies, args)))


def agree(outcome, other):
    """Tell whether two calls came to the same: equal values, or the same error; 0 is as good as NaN."""
    if outcome.error or other.error:
        return type(outcome.error) is type(other.error) and str(outcome.error) == str(other.error)
    return same(outcome.value, other.value) or same(outcome.value, _without_nan(other.value))


def explain(error, line=""):
    """Return "it raises RuntimeError: …" with its usual cause and the learner's line."""
    message = " ".join(str(error).split())[:160]
    message += "" if message.endswith((".", "?")) else "."
    if isinstance(error, AnswerError):
        return message
    cause = next((f" {cause}" for words, cause in _CAUSES if words in message), "")
    where = f" The line: {line}" if line else ""
    return f"it raises {type(error).__name__}{': ' * (len(message) > 1)}{message}{cause}{where}"


def is_stub(thing):
    """Tell whether nobody has written in a function, or in any function of a class, yet."""
    if isinstance(thing, type) and not issubclass(thing, torch.nn.Module):
        return False
    trees = [_tree(function) for function in _functions(thing)]
    return all(isinstance(tree, ast.FunctionDef) and all(map(_says_nothing, tree.body)) for tree in trees)


def names_used(thing):
    """Return the names in the source of a function or class, and "@"; none where the source is not known.

    A name that stands for another function of the same notebook does not count.
    """
    found = set()
    for function in _functions(thing):
        tree, known = _tree(function), getattr(function, "__globals__", {})
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.MatMult):
                found.add("@")
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.Name):
                value = known.get(node.id)  # an import may have renamed it
                own = inspect.isfunction(value) and value.__module__ == function.__module__
                found.add("" if own else getattr(value, "__name__", node.id))
    return found


def _functions(thing):
    if not isinstance(thing, type):
        return [thing]
    own = [part for part in thing.__mro__ if not part.__module__.startswith(("torch", "builtins"))]
    return [value for part in own for value in vars(part).values() if inspect.isfunction(value)]


def _tree(function):
    try:  # inspect.getsource would do, but looks through all modules first
        code = function.__code__
        lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
        return ast.parse(textwrap.dedent("".join(inspect.getblock(lines)))).body[0]
    except (AttributeError, IndexError, SyntaxError):
        return None


def _says_nothing(step):
    words = ast.unparse(step)
    if isinstance(step, ast.Expr):
        return isinstance(step.value, ast.Constant) or words == "super().__init__()"
    return words in ("pass", "return", "return None", "return ...") or "NotImplementedError" in words


def _detached(value):
    if isinstance(value, torch.Tensor):
        return value.detach()
    return type(value)(map(_detached, value)) if type(value) in (list, tuple) else value


def _without_nan(value):
    if isinstance(value, torch.Tensor):
        return value.masked_fill(value.isnan(), 0)
    return type(value)(map(_without_nan, value)) if type(value) in (list, tuple) else value


def _changed(now, before):
    if isinstance(before, torch.Tensor):
        return now.shape != before.shape or not torch.equal(now.nan_to_num(), before.nan_to_num())
    return isinstance(before, list) and now != before
