"""Input checks: each raises an error that says in the words of the course what is wrong, and what to try."""

import math
import numbers
import re

import torch
from torch import nn


def check_tensors(**named):
    """Each must be a tensor with enough axes: ``check_tensors(q=(q, "(…, n_q, d_k)"))``."""
    for name, (value, shape) in named.items():
        if not isinstance(value, torch.Tensor):
            advice = _how_to_get_a_tensor(name, value)
            raise TypeError(f"{name} must be a torch.Tensor, got {type(value).__name__}.{advice}")
        axes = shape.count(",")
        if value.dim() < axes:
            has = f"It has {value.dim()}: {tuple(value.shape)}."
            raise ValueError(f"{name} must have shape {shape}: at least {axes} axes. {has}")


def _how_to_get_a_tensor(name, value):
    if value is None:
        return " Without a mask, leave the step out." if name == "mask" else " Is a `return` missing?"
    if isinstance(value, nn.Linear):  # it computes x @ weight.T
        return f" A layer stores its matrix the other way round. Try {name}.weight.T."
    if isinstance(value, numbers.Number):
        return " Are the arguments in the right order?"
    if isinstance(value, (list, tuple)) and any(isinstance(part, torch.Tensor) for part in value):
        return f" It holds {len(value)} of them: take one, such as {name}[0]."
    return f" Try torch.tensor({name})." if isinstance(value, list) or hasattr(value, "__array__") else ""


def check_floats(**named):
    """Each must be a tensor of floating-point numbers, all of one kind: PyTorch multiplies no others."""
    check_tensors(**named)
    first_name, (first, _) = next(iter(named.items()))
    for name, (tensor, _) in named.items():
        if not tensor.is_floating_point():
            advice = f"Try {name}.float()."
            raise TypeError(f"{name} must hold floating-point numbers, got {tensor.dtype}. {advice}")
        is_other = tensor.dtype != first.dtype  # which autocast would bring together by itself
        if is_other and (tensor.is_meta or not torch.is_autocast_enabled(tensor.device.type)):
            kinds = f"{first_name} is {first.dtype}, {name} is {tensor.dtype}. Try {name}.to({first.dtype})"
            raise TypeError(f"numbers of two kinds cannot be multiplied: {kinds}.")


def check_projections(x, **matrices):
    check_floats(x=(x, "(…, n, d_model)"), **{name: (w, "") for name, w in matrices.items()})
    for name, w in matrices.items():
        if w.dim() != 2 or w.shape[0] != x.shape[-1]:
            advice = f" Try {name}.T." if w.dim() == 2 and w.shape[1] == x.shape[-1] else ""
            wanted = f"shape (d_model, d) with d_model = {x.shape[-1]}"
            raise ValueError(f"{name} must have {wanted}; got {_show(x=x, **{name: w})}.{advice}")


def check_queries_and_keys(q, k):
    check_floats(q=(q, "(…, n_q, d_k)"), k=(k, "(…, n_k, d_k)"))
    if q.shape[-1] != k.shape[-1]:
        sizes = f"the last axis of q is {q.shape[-1]}, that of k is {k.shape[-1]} ({_show(q=q, k=k)})"
        raise ValueError(f"a query and a key need the same number of features: {sizes}.")
    _check_leading_axes(q=q, k=k)


def check_weights_and_values(weights, v):
    check_floats(weights=(weights, "(…, n_q, n_k)"), v=(v, "(…, n_k, d_v)"))
    if weights.shape[-1] != v.shape[-2]:
        sizes = f"weights has {weights.shape[-1]} keys, v has {v.shape[-2]} ({_show(weights=weights, v=v)})"
        raise ValueError(f"every key needs one weight and one value: {sizes}.")
    _check_leading_axes(weights=weights, v=v)


def _check_leading_axes(**tensors):
    a, b = (reversed(tensor.shape[:-2]) for tensor in tensors.values())
    if any(size != other and 1 not in (size, other) for size, other in zip(a, b, strict=False)):
        raise ValueError(f"the axes before the last two must match: {_show(**tensors)}.")


def _show(**tensors):
    return ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in tensors.items())


def check_layer_input(x, layer, d_model):
    """``x`` goes through ``layer``: an ``nn.Linear``, or what stands in its place (LoRA, quantised)."""
    weight = layer.weight if type(layer) is nn.Linear else x  # what kind others take is theirs to say
    check_floats(weight=(weight, ""), x=(x, "(…, n, d_model)"))
    if x.shape[-1] != d_model:
        raise ValueError(f"the last axis of x must be d_model = {d_model}; got {_show(x=x)}.")


_TWO_INPUTS = (
    "this layer makes queries, keys and values from one x: layer(x) or layer(x, mask); need_weights is named."
    " For two inputs, or for use in PyTorch's blocks, see deeper/09_in_your_own_model."
)
_ADVICE_BY_NAME = {  # on what other layers take, by a part of its name: the first that fits is said
    "causal": "take mask=causal_mask(n)",
    "cu_": "documents in one row need a mask of their own, see deeper/05_masks_in_pytorch",
    "len": "take mask=padding_mask({name}, n)",
    "attention_mask": "take mask=({name} == 1)[:, None, None, :] where it is (b, n) and 1 stands for a word",
    "pad": "take mask=~{name}[:, None, None, :] where True means padding, without ~ where it means a word",
    "head_mask": "multiply the weights by it, between attention_weights and weighted_values",
    "mask": "take mask=~{name} where its True means “hidden”, as in PyTorch's layers, without ~ elsewhere",
    "bias|alibi": "it is added to the scores, see deeper/09_in_your_own_model",
    "past|cache|pos|rot|freq": "positions and a cache are on the page deeper/09_todays_models",
    "key|value|kv|context|memory|encoder|source|cross|cond": _TWO_INPUTS,
    "attentions|return": "leave it out, the weights are the second result",
    "": "it takes x, mask and need_weights, and none of them does what {name} does",
}


def check_layer_call(x=None, mask=None, *others, need_weights=True, **options):
    """The layer is called as ``layer(x, mask, need_weights=…)``, and with nothing else."""
    if others or (mask is x and x is not None) or _is_second_text(x, mask):
        raise TypeError(_TWO_INPUTS)
    for name, value in options.items():
        advice = next(words for part, words in _ADVICE_BY_NAME.items() if re.search(part, name))
        if value is None or value is False:
            advice = "leave it out"  # it asks for nothing
        said = f"this layer has no {name}: {advice.format(name=name)}."
        raise TypeError(advice if advice is _TWO_INPUTS else said)


def _is_second_text(x, mask):
    """A mask of numbers, as wide as x and no table of queries and keys, is another text."""
    are_tensors = isinstance(x, torch.Tensor) and isinstance(mask, torch.Tensor)
    is_as_wide = are_tensors and (mask.dim(), mask.shape[-1]) == (x.dim(), x.shape[-1])
    return is_as_wide and mask.is_floating_point() and mask.shape[-2:] != 2 * x.shape[-2:-1]


def check_divisible(name, features, num_heads):
    check_count("num_heads", num_heads)
    if features % num_heads:
        fitting = ", ".join(str(h) for h in range(1, features + 1) if features % h == 0)
        problem = f"{name} ({features}) is not divisible by num_heads ({num_heads})"
        raise ValueError(f"{problem}. Try one of {fitting}.")


def check_count(name, value, smallest=1, largest=math.inf):
    if isinstance(value, torch.Tensor) and torch.jit.is_tracing():
        return  # a size, which torch.jit.trace records
    if isinstance(value, bool) or not isinstance(value, (numbers.Integral, torch.SymInt)):
        raise TypeError(f"{name} must be a whole number such as 2, got {value!r}.")
    if not smallest <= value <= largest:
        wanted = f"at least {smallest}" if value < smallest else f"at most {largest}"
        raise ValueError(f"{name} must be {wanted}, got {value}.")
