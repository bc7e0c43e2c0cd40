"""Answers of two kinds: stubs that nobody has written in, and right answers spoilt in one way each."""

import torch
from torch import nn


def empty_functions(arguments):
    bodies = {
        "`...` as a body": "    ...",
        "a docstring as a body": '    """What to write."""',
        "docstring and `...`": '    """What to write."""\n    ...',
        "pass": "    pass",
        "return None": "    return None",
        "return ...": "    return ...",
        "result = ...": "    result = ...\n    return result",
        "two results": "    output = ...\n    weights = ...\n    return output, weights",
        "NotImplementedError": "    raise NotImplementedError('write me')",
    }
    stubs = {}
    for name, body in bodies.items():
        exec(f"def stub({arguments}):\n{body}", stubs)
        stubs[f"{name} in a function"] = stubs.pop("stub")
    stubs.pop("__builtins__")
    return stubs


def empty_classes():
    class Nothing(nn.Module):
        """What to write."""

    class Bare(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            ...

        def forward(self, x, mask=None): ...

    class Dotted(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.w_q = ...

        def forward(self, x, mask=None):
            output = ...
            return output

    class Raising(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            raise NotImplementedError

        def forward(self, x, mask=None):
            raise NotImplementedError

    return {kind.__name__: kind for kind in (Nothing, Bare, Dotted, Raising)}


def first_tensor(result):
    values = result if isinstance(result, tuple) else (result,)
    return next((value for value in values if isinstance(value, torch.Tensor)), None)


def change_first(result, change):
    """Change the first tensor of a result (or the result itself, if there is none)."""
    if not isinstance(result, tuple):
        return change(result)
    place = next(i for i, value in enumerate(result) if isinstance(value, torch.Tensor))
    return (*result[:place], change(result[place]), *result[place + 1 :])


def nudged(tensor, coarse=0):
    changed = tensor.clone()
    last = tuple(size - 1 for size in tensor.shape)
    if tensor.dtype == torch.bool:
        changed[last] = ~changed[last]
    elif not changed[last].isfinite():
        changed[last] = 0
    else:
        changed[last] = changed[last] + max(1e-3 * float(tensor[tensor.isfinite()].abs().max()), 1e-3, coarse)
    return changed


# What is done to a right tensor, and a word of what must then be said.
SPOILT_TENSORS = {
    "NumPy": (lambda t: t.numpy(), "NumPy"),
    "list": (lambda t: t.tolist(), "list|number|True or False"),
    "an axis more": (lambda t: t[None], "an axis too many|wrong shape"),
    "flattened": (lambda t: t.flatten() if t.dim() > 1 else t[:, None], "wrong shape"),
    "last axes swapped": (lambda t: t.transpose(-2, -1) if t.dim() > 1 else t.flip(0), ""),
    "all zero": (torch.zeros_like, ""),
    "NaN": (lambda t: t.float() * torch.nan, "NaN|numbers|right"),
    "empty": (lambda t: t[:0], "empty"),
    "complex": (lambda t: t.to(torch.complex64), "complex"),
    "meta": (lambda t: t.to("meta"), "meta"),
    "sparse": (lambda t: t.to_sparse(), "sparse"),
    "pair": (lambda t: (t, t), "2 values|values"),
    "text": (str, "text"),
}


def spoil_function(answer, change):
    return lambda *args, **kwargs: change_first(answer(*args, **kwargs), lambda t: change(t.detach()))


def spoil_class(answer, change):
    class Spoilt(answer):
        def forward(self, *args, **kwargs):
            return change_first(super().forward(*args, **kwargs), lambda t: change(t.detach()))

    return Spoilt


def nudged_anything(value):
    if isinstance(value, torch.Tensor):
        return nudged(value)
    return (
        [*value, 1] if isinstance(value, list) else (value + 1 if not isinstance(value, bool) else not value)
    )
