"""Calls a library's attention in that library's own environment, for tools/measure_libraries.py.

``python child.py with_jax`` reads calls from standard input and writes what they returned to standard output,
both as pickles of (type, shape, bytes) for an array. A module ``with_….py`` holds ``CALLABLES``, by package
and name, each an ``attend(q, k, v, mask, causal)`` on the library's own arrays; ``convert(array, dtype)``
makes those, and ``back(output)`` makes them NumPy's.
"""

import importlib
import importlib.metadata
import os
import pickle
import sys
import warnings
from collections import ChainMap

import numpy


class NotAsked(Exception):
    """Raised by a with_….py where a library has no place for what is asked."""


def one_number_of_heads(q, k):
    if q.shape[1] != k.shape[1]:
        raise NotAsked("it has as many heads of keys as of queries")


def no_flag(causal):
    if causal:
        raise NotAsked("it has no causal flag")


def wide(mask):
    """Give a mask axes for sentences and heads: (n_q, n_k) -> (1, 1, n_q, n_k)."""
    return None if mask is None else mask[None, None]


def packed(array):
    return (str(array.dtype), array.shape, array.tobytes())


def unpacked(kind, shape, data):
    return numpy.frombuffer(data, kind).reshape(shape).copy()


def called(library, name, dtype, inputs, mask, causal):
    """Return ("output", array), or ("refused", kind of the error, its words)."""
    try:
        q, k, v = (library.convert(unpacked(*array), dtype) for array in inputs)
        if mask is not None:
            mask = unpacked(*mask)
            mask = library.convert(mask, str(mask.dtype))
        output = ChainMap(*library.CALLABLES.values())[name](q, k, v, mask, causal)
        return "output", packed(numpy.ascontiguousarray(library.back(output), numpy.float32))
    except Exception as error:
        return "refused", type(error).__name__, str(error)


def main():
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between
    warnings.simplefilter("ignore")
    library = importlib.import_module(sys.argv[1])
    reply = {}
    for package, callables in library.CALLABLES.items():
        reply |= dict.fromkeys(callables, (package, importlib.metadata.version(package)))
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
