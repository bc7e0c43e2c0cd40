"""Input checks: each raises an error that says in the words of the course what is wrong, and what to try."""

import math
import numbers

import torch


def check_tensors(**named):
    """Each must be a tensor with enough axes: ``check_tensors(q=(q, "(…, n_q, d_k)"))``."""
    for name, (value, shape) in named.items():
        if not isinstance(value, torch.Tensor):
            advice = _how_to_get_a_tensor(name, value)
            raise TypeError(f"{name} must be a torch.Tensor, got {type(value).__name__}.{advice}")
        axes = shape.count(",")
        if value.dim() < axes:
            found = f"It has {value.dim()}: {tuple(value.shape)}."
            raise ValueError(f"{name} must have shape {shape}: at least {axes} axes. {found}")


def _how_to_get_a_tensor(name, value):
    if value is None:
        return " Without a mask, leave the step out." if name == "mask" else " Is a `return` missing?"
    if isinstance(value, torch.nn.Linear):  # it computes x @ weight.T
        return f" A layer stores its matrix the other way round. Try {name}.weight.T."
    if isinstance(value, numbers.Number):
        return " Are the arguments in the right order?"
    if isinstance(value, (list, tuple)) and any(isinstance(one, torch.Tensor) for one in value):
        return f" It holds {len(value)} of them: take one, such as {name}[0]."
    return f" Try torch.tensor({name})."


def check_floats(**named):
    """Each must be a tensor of floating-point numbers, all of one kind: PyTorch multiplies no others."""
    check_tensors(**named)
    first_name, (first, _) = next(iter(named.items()))
    for name, (tensor, _) in named.items():
        if not tensor.is_floating_point():
            raise TypeError(
                f"{name} must hold floating-point numbers, got {tensor.dtype}. Try {name}.float()."
            )
        if tensor.dtype != first.dtype:
            kinds = f"{first_name} is {first.dtype}, {name} is {tensor.dtype}"
            raise TypeError(
                f"numbers of two kinds cannot be multiplied: {kinds}. Try {name}.to({first.dtype})."
            )


def _show(**tensors):
    return ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in tensors.items())


def check_projections(x, **matrices):
    check_floats(x=(x, "(…, n, d_model)"), **{name: (w, "") for name, w in matrices.items()})
    d_model = x.shape[-1]
    for name, w in matrices.items():
        if w.dim() != 2 or w.shape[0] != d_model:
            advice = f" Try {name}.T." if w.dim() == 2 and w.shape[1] == d_model else ""
            sizes = _show(x=x, **{name: w})
            raise ValueError(
                f"{name} must have shape (d_model, d) with d_model = {d_model}; got {sizes}.{advice}"
            )


def check_queries_and_keys(q, k):
    check_floats(q=(q, "(…, n_q, d_k)"), k=(k, "(…, n_k, d_k)"))
    if q.shape[-1] != k.shape[-1]:
        sizes = f"the last axis of q is {q.shape[-1]}, that of k is {k.shape[-1]}"
        raise ValueError(f"a query and a key need the same number of features: {sizes} ({_show(q=q, k=k)}).")
    _check_leading_axes(q=q, k=k)


def check_weights_and_values(weights, v):
    check_floats(weights=(weights, "(…, n_q, n_k)"), v=(v, "(…, n_k, d_v)"))
    if weights.shape[-1] != v.shape[-2]:
        sizes = f"weights has {weights.shape[-1]} keys, v has {v.shape[-2]}"
        raise ValueError(
            f"every key needs one weight and one value: {sizes} ({_show(weights=weights, v=v)})."
        )
    _check_leading_axes(weights=weights, v=v)


def _check_leading_axes(**tensors):
    a, b = (reversed(tensor.shape[:-2]) for tensor in tensors.values())
    if any(size != other and 1 not in (size, other) for size, other in zip(a, b, strict=False)):
        raise ValueError(f"the axes before the last two must match: {_show(**tensors)}.")


def check_mask(mask, scores_shape):
    """It must be bool, with the two axes (n_q, n_k) or with every axis of the scores."""
    check_tensors(mask=(mask, ""))
    if mask.dtype != torch.bool:
        advice = "Where 1 means “may attend”, take mask == 1; where 1 means “hidden”, take mask == 0."
        if (mask < 0).any():  # bool() would turn it round
            advice = "It holds negative numbers, as a mask does that is added to the scores: take mask == 0."
        opposite = "True means “may attend” here; torch.nn.MultiheadAttention means the opposite."
        raise TypeError(f"mask must be bool, got {mask.dtype}. {opposite} {advice}")
    axes, missing = len(scores_shape), len(scores_shape) - mask.dim()
    pairs = zip(reversed(mask.shape), reversed(scores_shape), strict=False)
    # (b, n, n) is refused: where b happens to equal h it would be taken for (h, n, n), without an error.
    if mask.dim() not in (2, axes) or any(size not in (1, wanted) for size, wanted in pairs):
        advice = ""
        if missing < 0 and set(mask.shape[:-missing]) == {1}:
            advice = f" Take mask[{', '.join('0' * -missing)}]."
        elif mask.dim() > 1 and missing > 0 and mask.shape[0] == scores_shape[0]:
            advice = f" If its first axis is the sentence, take mask[:{', None' * missing}]."
        raise ValueError(
            f"mask {tuple(mask.shape)} does not fit the scores {tuple(scores_shape)}. Give it the 2 axes"
            f" (n_q, n_k) or all {axes}, each 1 or as long as theirs.{advice}"
        )


def check_layer_input(x, weight):
    """``x`` goes through ``nn.Linear`` layers of this weight."""
    check_floats(weight=(weight, ""), x=(x, "(…, n, d_model)"))
    if x.shape[-1] != weight.shape[1]:
        raise ValueError(f"the last axis of x must be d_model = {weight.shape[1]}; got {_show(x=x)}.")


def check_divisible(name, features, num_heads):
    check_count("num_heads", num_heads)
    if features % num_heads:
        fitting = ", ".join(str(h) for h in range(1, features + 1) if features % h == 0)
        raise ValueError(
            f"{name} ({features}) is not divisible by num_heads ({num_heads}). Try one of {fitting}."
        )


def check_count(name, value, smallest=1, largest=math.inf):
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number such as 2, got {value!r}.")
    if not smallest <= value <= largest:
        wanted = f"at least {smallest}" if value < smallest else f"at most {largest}"
        raise ValueError(f"{name} must be {wanted}, got {value}.")
