"""Which functions a learner's code calls, for tasks that leave one out: "without softmax"."""

import contextlib
import dis
import functools
import sys

from torch.overrides import TorchFunctionMode

_LIBRARIES = ("torch", "mha_helpers", "numpy")


@contextlib.contextmanager
def noting_calls():
    """Collect the names of what is called meanwhile, in whichever way it is written.

    A function of a library has the library's name in front, so that nobody is blamed for a helper of
    their own: ``softmax`` is the learner's, ``torch.softmax`` is also ``x.softmax(-1)`` and ``F.softmax``.
    In code outside the libraries, ``@`` stands for the sign and ``.dot`` for ``np.dot`` or ``row.dot``,
    whatever they multiply: tensors or NumPy arrays.

    >>> import torch
    >>> with noting_calls() as names:
    ...     weights = torch.ones(2, 2).softmax(dim=-1)
    >>> "torch.softmax" in names, "torch.exp" in names
    (True, False)
    """
    names = set()

    def note(frame, event, _):
        if event == "call":
            library = str(frame.f_globals.get("__name__")).split(".")[0]
            name = frame.f_code.co_name
            if library in _LIBRARIES:
                names.add(f"{library}.{name}")
            else:
                names.update([name, *_written(frame.f_code)])

    before = sys.getprofile()
    try:
        with _TorchCalls(names):
            sys.setprofile(note)  # sees functions written in Python; most of PyTorch is not
            yield names
    finally:
        sys.setprofile(before)


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
