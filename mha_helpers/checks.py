"""Input checks: a mistake is reported in the terms of the course, with the numbers and what to try."""

import numbers

import numpy
import torch


def check_tensors(**tensors):
    for name, value in tensors.items():
        if not isinstance(value, torch.Tensor):
            advice = _advice(name, value)
            raise TypeError(f"{name} must be a torch.Tensor, got {type(value).__name__}.{advice}")


def _advice(name, value):
    if value is None:
        if name == "mask":
            return " Without a mask, leave the step out: `if mask is not None`."
        return " Is a `return` missing?"
    if isinstance(value, torch.nn.Linear):  # it computes x @ weight.T
        return f" A layer stores its matrix the other way round. Try {name}.weight.T."
    try:
        torch.tensor(value)
    except (TypeError, ValueError, RuntimeError):
        several = isinstance(value, (list, tuple)) and any(isinstance(one, torch.Tensor) for one in value)
        return f" It holds {len(value)} of them: take one, such as {name}[0]." if several else ""
    return f" Try torch.tensor({name}{', dtype=torch.bool' if name == 'mask' else ''})."


def as_real_numbers(name, values):
    """Return what can be drawn as a tensor: a tensor, an array, a table, or lists of rows or numbers."""
    try:
        tensor = _as_tensor(values).detach().cpu()
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must hold numbers in rows and columns, got {values!r}.") from None
    if tensor.is_complex():
        raise TypeError(f"{name} holds complex numbers, which have no place on one scale. Try {name}.real.")
    return tensor


def _as_tensor(values):
    # A tensor has __array__ as well, so a list of either is a list of rows.
    if isinstance(values, (list, tuple)) and any(hasattr(row, "__array__") for row in values):
        return torch.stack([_as_tensor(row) for row in values])
    if hasattr(values, "__array__") and not isinstance(values, torch.Tensor):
        # PyTorch takes neither a table nor an array that is read backwards, as a[::-1] is.
        values = numpy.array(values)
    return torch.as_tensor(values)


_TO_KIND = {torch.float32: ".float()", torch.float64: ".double()"}


def check_dtypes(**tensors):
    """All must hold floating-point numbers of one kind: PyTorch multiplies no others."""
    first_name, first = next(iter(tensors.items()))
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():
            raise TypeError(
                f"{name} must hold floating-point numbers, got {_kind(tensor)}. Try {name}.float()."
            )
        if tensor.dtype != first.dtype and not _autocast_evens_out(tensor, first.dtype):
            raise TypeError(
                f"{first_name} and {name} must hold the same kind of number: {first_name} is {_kind(first)},"
                f" {name} is {_kind(tensor)}. Try {name}{_TO_KIND.get(first.dtype, f'.to({first.dtype})')}."
            )


def _kind(tensor):
    return str(tensor.dtype).removeprefix("torch.")


def _autocast_evens_out(tensor, other_dtype):
    # torch.autocast turns float32 and both half precisions into one before it multiplies; float64 it leaves.
    return torch.is_autocast_enabled(tensor.device.type) and torch.float64 not in (tensor.dtype, other_dtype)


def check_axes(name, tensor, wanted):
    axes = wanted.count(",")
    if tensor.dim() < axes:
        raise ValueError(
            f"{name} must have shape {wanted}: at least {axes} axes."
            f" It has {tensor.dim()}: {tuple(tensor.shape)}."
        )


def check_length(name, values, size, what):
    """There must be one for each row, column or head."""
    if len(values) != size:
        raise ValueError(f"{name} must hold {size}, one for each {what}; got {len(values)}.")


def check_count(name, value, smallest=1, largest=None):
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number such as 2, got {value!r}.")
    if value < smallest:
        raise ValueError(f"{name} must be at least {smallest}, got {value}.")
    if largest is not None and value > largest:
        raise ValueError(f"{name} must be at most {largest}, got {value}.")


def check_number(name, value, smallest, largest):
    wanted = f"{name} must be a number from {smallest:.4g} to {largest:.4g}, got {value!r}."
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(wanted)
    if not smallest <= value <= largest:  # so nan is refused too
        raise ValueError(wanted)


def check_choice(name, value, choices):
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(str, choices))}; got {value!r}.")


def check_index(name, index, size, what):
    if not 0 <= index < size:
        raise ValueError(f"{name} must be 0 to {size - 1}, because there are {size} {what}; got {index}.")


def check_divisible(name, features, num_heads):
    check_count("num_heads", num_heads)
    if features % num_heads:
        fitting = [h for h in range(2, features + 1) if features % h == 0]
        nearest = sorted(sorted(fitting, key=lambda h: abs(h - num_heads))[:2]) or [1]
        raise ValueError(
            f"{name} ({features}) is not divisible by num_heads ({num_heads});"
            f" {' or '.join(map(str, nearest))} heads would fit."
        )


def check_leading_axes(name_a, a, name_b, b):
    if a.shape[:-2] == b.shape[:-2]:  # nearly always; broadcast_shapes takes longer than a small product
        return
    try:
        torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except RuntimeError:
        raise ValueError(
            f"the axes before the last two must match: {name_a} {tuple(a.shape)} has"
            f" {tuple(a.shape[:-2])}, {name_b} {tuple(b.shape)} has {tuple(b.shape[:-2])}."
        ) from None


def check_mask(mask, scores_shape):
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask must be bool, got {str(mask.dtype).removeprefix('torch.')}. True means “may attend”"
            f" here; torch.nn.MultiheadAttention means the opposite. {_as_bool(mask)}"
        )
    surplus = mask.dim() - len(scores_shape)
    if surplus > 0:
        firsts = ", ".join("0" * surplus)
        raise ValueError(
            f"mask {tuple(mask.shape)} does not broadcast to the scores {tuple(scores_shape)}: it has"
            f" {mask.dim()} axes, they have {len(scores_shape)}."
            + (f" Take mask[{firsts}]." if set(mask.shape[:surplus]) == {1} else "")
        )
    # From the right, an axis of the mask is 1 or as long as that of the scores.
    pairs = zip(reversed(mask.shape), reversed(scores_shape), strict=False)
    if any(size not in (1, wanted) for size, wanted in pairs):
        raise ValueError(
            f"mask {tuple(mask.shape)} does not broadcast to the scores {tuple(scores_shape)}. From the"
            f" right, every axis must be 1 or the same: keys {scores_shape[-1]}, queries {scores_shape[-2]}."
            + (" If it is (b, n), take mask[:, None, None]." if _may_be_padding(mask, scores_shape) else "")
        )


def _may_be_padding(mask, scores_shape):
    return len(scores_shape) == 4 and mask.shape == (scores_shape[0], scores_shape[-1])


def _as_bool(mask):
    """Say how this mask becomes a bool one. bool() of a mask that is to be added would turn it round."""
    has_numbers = mask.numel() and not mask.is_meta and not mask.is_complex()
    if has_numbers and (mask < 0).any():
        return "It holds negative numbers, as a mask does that is added to the scores: take mask == 0."
    return "Where 1 means “may attend”, take mask == 1; where 1 means “hidden”, mask == 0."


def check_mask_axes(mask, scores_shape):
    # (b, n, n) would be taken for (h, n, n) and, where b happens to equal h, without an error.
    if mask.dim() == 2 or mask.dim() >= len(scores_shape):  # of too many axes, check_mask speaks
        return
    raise ValueError(
        f"mask {tuple(mask.shape)} has {mask.dim()} axes; say which they are. Give it 2 axes (n_q, n_k),"
        f" or all {len(scores_shape)}, to fit {tuple(scores_shape)}: mask[:, None] makes (b, n, n) into"
        " (b, 1, n, n), mask[:, None, None] makes (b, n) into (b, 1, 1, n)."
    )


def mask_of_one(mask, axes):
    """Leave out the axes of length 1 that a mask has in front for sentences and heads, down to ``axes``."""
    while mask.dim() > axes and mask.shape[0] == 1:
        mask = mask[0]
    return mask
