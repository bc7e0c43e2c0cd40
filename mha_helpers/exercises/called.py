"""Which functions a learner's code calls, for tasks that leave one out: "without softmax"."""

import contextlib
import dis
import functools
import inspect
import sys

from torch.overrides import TorchFunctionMode

_LIBRARIES = ("torch", "mha_helpers", "numpy")


@contextlib.contextmanager
def noting_calls():
    """Collect the names of what is called meanwhile, in whichever way it is written.

    A function of a library has the library's name in front, so that nobody is blamed for a helper of
    their own: ``softmax`` is the learner's, ``torch.softmax`` is also ``x.softmax(-1)`` and ``F.softmax``.
    In code outside the libraries, ``@`` stands for the sign and ``.dot`` for ``np.dot`` or ``row.dot``,
    whatever they multiply: tensors or NumPy arrays. A method of the learner's own named ``dot`` is none.
    A layer of the course stands under the name of its class: ``mha_helpers.MultiHeadAttention``.

    >>> import torch
    >>> with noting_calls() as names:
    ...     weights = torch.ones(2, 2).softmax(dim=-1)
    >>> "torch.softmax" in names, "torch.exp" in names
    (True, False)
    """
    names, own_methods = set(), set()

    def note(frame, event, _):
        if event == "call":
            library = _library_of(frame.f_globals.get("__name__"))
            name = frame.f_code.co_name
            if library not in _LIBRARIES:
                written = _written(frame.f_code) | _from_numpy(frame)
                names.update([name, *written])
                if "self" in frame.f_code.co_varnames[:1] and f".{name}" not in written:
                    own_methods.add(f".{name}")
            elif _is_offered(frame):
                names.add(f"{library}.{name}")
            elif library == "mha_helpers" and name == "forward":  # building one for comparison is no call
                names.update(f"{library}.{layer}" for layer in _layers_with(frame.f_code, frame.f_locals))

    before = sys.getprofile()
    try:
        with _TorchCalls(names):
            sys.setprofile(note)  # sees functions written in Python; most of PyTorch is not
            yield names
    finally:
        sys.setprofile(before)
        names -= own_methods


def _library_of(module):
    return str(module).split(".")[0]


def _is_offered(frame):
    """Tell whether a library has this function by its name: inside PyTorch many another is called "inner"."""
    function = inspect.unwrap(frame.f_globals.get(frame.f_code.co_name))
    return getattr(function, "__code__", None) is frame.f_code


def _layers_with(forward, variables):
    """Return the name of the class that has this code as its ``forward``, as a list: there may be none."""
    classes = type(variables.get("self")).__mro__
    return [
        layer.__name__
        for layer in classes
        if getattr(vars(layer).get("forward"), "__code__", None) is forward
    ]


def _from_numpy(frame):
    """Return ``.dot`` for a ``dot`` that was imported from NumPy by name."""
    found = [frame.f_globals.get(name) for name in frame.f_code.co_names]
    # Of what kind it is tells whose it is: a ufunc, as matmul is, or a function that NumPy dispatches.
    return {
        f".{value.__name__}"
        for value in found
        if _library_of(type(value).__module__) == "numpy" and hasattr(value, "__name__")
    }


@functools.cache  # a learner's inner function may be called for every cell of a table
def _written(code):
    """Return ``@`` if the code has this sign, and each name after a dot."""
    steps = list(dis.get_instructions(code))
    names = {f".{step.argval}" for step in steps if step.opname in ("LOAD_ATTR", "LOAD_METHOD")}
    if any("MATRIX_MULTIPLY" in step.opname or step.argrepr in ("@", "@=") for step in steps):
        names.add("@")
    return names


class _TorchCalls(TorchFunctionMode):
    def __init__(self, names):
        super().__init__()
        self.names = names

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.names.add(f"torch.{function.__name__}")
        return function(*args, **(kwargs or {}))
