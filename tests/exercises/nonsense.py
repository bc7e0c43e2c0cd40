"""Things a learner could pass to ``check``, from the odd to the hostile. Each is made afresh."""

import collections
import functools
import math
import threading

import numpy
import torch
from torch import nn


class Hostile:
    """An object that raises whatever is done with it."""

    def _refuse(self, *args):
        raise RuntimeError("no")

    __eq__ = __repr__ = __str__ = __len__ = __bool__ = __iter__ = __hash__ = __float__ = __getattr__ = _refuse


class Leaving(Hostile):
    def _refuse(self, *args):
        raise SystemExit(3)

    __eq__ = __repr__ = __str__ = __len__ = __bool__ = __iter__ = __getattr__ = _refuse


class Agreeable:
    """An object that says it equals everything."""

    shape, dtype = (3, 3), torch.float32

    def __eq__(self, other):
        return True

    def __getattr__(self, name):
        return self

    def __call__(self, *args, **kwargs):
        return self

    __hash__ = None


class FalseClass:
    @property
    def __class__(self):
        raise ValueError("who asks?")


class LeavingClass:
    @property
    def __class__(self):
        raise SystemExit(4)


class OwnTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def _circular():
    circle = []
    circle.append(circle)
    return circle


def _raising(error):
    def function(*args, **kwargs):
        raise error

    return function


NONSENSE = {
    "text": lambda: "attention",
    "long text": lambda: "猫" * 100_000,
    "a lone surrogate": lambda: "\ud800",
    "bytes": lambda: b"\x00\xff",
    "an empty dict": dict,
    "a dict": lambda: {"q": 1, 2: [3]},
    "a defaultdict": lambda: collections.defaultdict(lambda: 7),
    "an empty list": list,
    "an empty tuple": tuple,
    "a list in itself": _circular,
    "a ragged list": lambda: [[1], [2, 3], "x"],
    "a set": lambda: {frozenset({1})},
    "a generator": lambda: (i for i in range(3)),
    "a range": lambda: range(3),
    "a negative int": lambda: -7,
    "a huge int": lambda: 10**400,
    "NaN": lambda: math.nan,
    "infinity": lambda: -math.inf,
    "a complex number": lambda: 1 + 2j,
    "True": lambda: True,
    "a module of Python": lambda: math,
    "a lock": threading.Lock,
    "an object": object,
    "a class": lambda: Hostile,
    "a metaclass": lambda: type,
    "an exception": lambda: ValueError("x"),
    "Ellipsis in a list": lambda: [1, ...],
    "an object array": lambda: numpy.array([None, {}], dtype=object),
    "a NumPy text": lambda: numpy.str_("x"),
    "a NumPy NaN": lambda: numpy.float64("nan"),
    "a NumPy structure": lambda: numpy.zeros(2, dtype=[("a", int)]),
    "a NumPy date": lambda: numpy.datetime64("2020-01-01"),
    "hostile": Hostile,
    "leaving": Leaving,
    "agreeable": Agreeable,
    "without a class": FalseClass,
    "leaving when asked for its class": LeavingClass,
    "an instance of a tensor class": lambda: torch.zeros(2, 2).as_subclass(OwnTensor),
    "an empty tensor": lambda: torch.zeros(0),
    "an axis of none": lambda: torch.zeros(3, 0, 2),
    "a 0-d tensor": lambda: torch.tensor(1e30),
    "a huge tensor": lambda: torch.zeros(1).expand(10**12),
    "a large tensor": lambda: torch.zeros(300, 300, 30),
    "30 axes": lambda: torch.zeros([1] * 30),
    "a complex tensor": lambda: torch.ones(3, 3, dtype=torch.complex64),
    "a sparse tensor": lambda: torch.eye(3).to_sparse(),
    "a csr tensor": lambda: torch.eye(3).to_sparse_csr(),
    "a meta tensor": lambda: torch.ones(3, 3, device="meta"),
    "a NaN tensor": lambda: torch.full((3, 3), math.nan),
    "an infinite tensor": lambda: torch.full((3, 3), math.inf),
    "half precision": lambda: torch.ones(3, 3, dtype=torch.float16),
    "8-bit floats": lambda: torch.ones(3, 3).to(torch.float8_e4m3fn),
    "a quantised tensor": lambda: torch.quantize_per_tensor(torch.ones(3, 3), 0.1, 0, torch.qint8),
    "a nested tensor": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
    "a tensor with a gradient": lambda: torch.ones(3, 3, requires_grad=True) * 2,
    "a Parameter": lambda: nn.Parameter(torch.ones(3, 3)),
    "a conjugate view": lambda: torch.ones(3, 3, dtype=torch.complex64).conj(),
    "a bool tensor": lambda: torch.ones(3, 3, dtype=torch.bool),
    "a list of tensors": lambda: [torch.ones(2), None, torch.ones(3)],
    "a Linear": lambda: nn.Linear(2, 2),
    "a Linear class": lambda: nn.Linear,
    "nn.Module": lambda: nn.Module,
    "MultiheadAttention": lambda: nn.MultiheadAttention,
}


class Half(nn.Module):
    def __init__(self, d_model, num_heads):
        self.w_q = nn.Linear(d_model, d_model)


class WrongSizes(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.w_q = self.w_k = self.w_v = self.w_o = nn.Linear(d_model, num_heads)

    def forward(self, x, mask=None):
        return self.w_q(x)


class Leaver(nn.Module):
    def __init__(self, *args, **kwargs):
        raise SystemExit(2)

    def forward(self, x, mask=None):
        return x


CODE_THAT_FAILS = {
    "no arguments": lambda: lambda: 1,
    "ten arguments": lambda: lambda a, b, c, d, e, f, g, h, i, j: 1,
    "any arguments": lambda: lambda *args, **kwargs: args,
    "keywords only": lambda: lambda *, x: x,
    "a builtin": lambda: len,
    "print's cousin": lambda: repr,
    "a partial": lambda: functools.partial(torch.add, 1),
    "a method": lambda: "text".upper,
    "torch.matmul backwards": lambda: lambda *args, **kwargs: torch.matmul(*args[::-1][:2]),
    "exit": lambda: _raising(SystemExit(1)),
    "GeneratorExit": lambda: _raising(GeneratorExit()),
    "BaseException": lambda: _raising(BaseException("x")),
    "an exception without text": lambda: _raising(Unprintable()),
    "an exception of many lines": lambda: _raising(ValueError("a\nb\r\n" * 500)),
    "StopIteration": lambda: _raising(StopIteration()),
    "KeyError": lambda: _raising(KeyError("x")),
    "endless recursion": lambda: _recursive,
    "a result that is hostile": lambda: lambda *args, **kwargs: Hostile(),
    "a result that leaves": lambda: lambda *args, **kwargs: Leaving(),
    "a result that agrees": lambda: lambda *args, **kwargs: Agreeable(),
    "a result that is a type": lambda: lambda *args, **kwargs: torch.Tensor,
    "a result in itself": lambda: lambda *args, **kwargs: _circular(),
    "a huge result": lambda: lambda *args, **kwargs: torch.zeros(1).expand(10**12),
    "a random result": lambda: lambda *args, **kwargs: torch.randn(3, 3),
    "a generator": lambda: _generator,
    "a coroutine": lambda: lambda *args, **kwargs: (x for x in args),
    "resized arguments": lambda: _resizing,
    "emptied arguments": lambda: _emptying,
    "half a class": lambda: Half,
    "wrong sizes": lambda: WrongSizes,
    "a class that leaves": lambda: Leaver,
}


def _recursive(*args, **kwargs):
    return _recursive(*args, **kwargs)


def _generator(*args, **kwargs):
    yield args


def _resizing(*args, **kwargs):
    for argument in args:
        if isinstance(argument, torch.Tensor):
            argument.resize_(1)
    return args


def _emptying(*args, **kwargs):
    for argument in args:
        if isinstance(argument, list):
            argument.clear()
    raise RuntimeError
