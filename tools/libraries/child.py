"""Calls a library's attention in that library's own environment, for tools/measure_libraries.py.

``python child.py with_jax`` reads calls from standard input and writes what they returned to standard output,
both as pickles, with arrays of NumPy 2. A module ``with_….py`` holds ``CALLABLES``, by package and name;
``convert(array, dtype)`` makes the library's own arrays, and ``back(output)`` NumPy's.
"""

import importlib
import importlib.metadata
import os
import pickle
import sys
import warnings
from collections import ChainMap
from collections.abc import Callable
from typing import NamedTuple

import numpy


class NotAsked(Exception):
    """Raised where a library has no place for what is asked."""


class Adapter(NamedTuple):
    """An attention and how it wants to be called: ``attend(q, k, v, mask, causal)``.

    Where its axes end in "hd", the heads side by side, their number comes as one argument more.
    """

    attend: Callable
    axes: str = "b h n d"
    mask_axes: int = 2  # the last two are (n_q, n_k)
    takes_flag: bool = True
    shares_heads: bool = True

    def __call__(self, library, dtype, inputs, mask, causal):
        if causal and not self.takes_flag:
            raise NotAsked("it has no causal flag")
        heads = [x.shape[1] for x in inputs]
        if heads[0] != heads[1] and not self.shares_heads:
            raise NotAsked("it has as many heads of keys as of queries")
        side_by_side = self.axes.endswith("hd")
        order = ["bhnd".index(axis) for axis in self.axes.replace(" ", "")]
        arrays = [x.transpose(order) for x in inputs]
        if side_by_side:
            arrays = [x.reshape(*x.shape[:2], -1) for x in arrays]
        if mask is not None:
            mask = mask.reshape((1,) * (self.mask_axes - 2) + mask.shape)
            mask = library.convert(mask, str(mask.dtype))
        arrays = [library.convert(numpy.ascontiguousarray(x), dtype) for x in arrays]
        output = library.back(self.attend(*arrays, mask, causal, *heads[:side_by_side]))
        if side_by_side:
            output = output.reshape(*output.shape[:2], -1, inputs[0].shape[-1])
        return numpy.ascontiguousarray(output.transpose(numpy.argsort(order)), numpy.float32)


def convert(array, dtype):
    """As a library has it that takes NumPy's arrays; bfloat16 is there once ml_dtypes is imported."""
    return array.astype(dtype)


def back(output):
    return output.astype(numpy.float32)


def function(call, mask_name="mask", **options):
    """Return the adapter of a function as jax, flax, keras and paddle have it."""

    def attend(q, k, v, mask, causal):
        return call(q, k, v, **{mask_name: mask, "is_causal": causal, **options})

    return Adapter(attend, "b n h d", mask_axes=4)


def called(library, name, *given):
    """Return ("output", array), or ("refused", kind of the error, its words)."""
    try:
        return "output", ChainMap(*library.CALLABLES.values())[name](library, *given)
    except Exception as error:
        return "refused", type(error).__name__, str(error)


def main():
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between
    warnings.simplefilter("ignore")
    library = importlib.import_module(sys.argv[1])
    reply = {
        name: (package, importlib.metadata.version(package), adapter.axes)
        for package, callables in library.CALLABLES.items()
        for name, adapter in callables.items()
    }
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what came before, an import that fails, is to be read
    while True:
        pickle.dump(reply, channel)
        channel.flush()
        try:
            call = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        reply = called(library, *call)


if __name__ == "__main__":
    main()
