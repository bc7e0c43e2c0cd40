"""Whether what an answer came to is what a mistake, or the right answer, comes to."""

import torch

from mha_helpers.exercises.compare import numbers_of, same


def agree(outcome, other):
    """Tell whether two calls came to the same: equal values, or one kind of error with one message."""
    if outcome.error or other.error:
        return type(outcome.error) is type(other.error) and outcome.message == other.message
    return _same_values(outcome.value, other.value)


def agree_but_for_nan(outcome, other):
    """As ``agree``, but NaN of the answer is passed over: a plain softmax gives it where a row has no key.

    Where the other is NaN, the answer may be 0, as after ``nan_to_num``. NaN alone agrees with nothing.
    """
    if other.error or _is_all_nan(outcome.value):
        return False
    expected = _nan_as_zero(other.value)
    return _same_values(_filled(outcome.value, expected), expected)


def _same_values(value, other):
    try:
        return same(value, other)
    except (TypeError, RuntimeError, ValueError, OverflowError, NotImplementedError):
        return False


def _tensors_in(value):
    if isinstance(value, (tuple, list)):
        return [tensor for part in value for tensor in _tensors_in(part)]
    return [value] if isinstance(value, torch.Tensor) and not value.is_meta else []


def _is_all_nan(value):
    tensors = _tensors_in(value)
    return bool(tensors) and all(bool(numbers_of(tensor).isnan().all()) for tensor in tensors)


def _nan_as_zero(value):
    if isinstance(value, (tuple, list)):
        return tuple(map(_nan_as_zero, value))
    return torch.nan_to_num(value, posinf=torch.inf, neginf=-torch.inf) if _tensors_in(value) else value


def _filled(value, other):
    """Return the value with numbers of the other where it is NaN, if both have the same form."""
    if isinstance(value, (tuple, list)) and isinstance(other, (tuple, list)) and len(value) == len(other):
        return tuple(map(_filled, value, other))
    tensors = isinstance(value, torch.Tensor) and isinstance(other, torch.Tensor)
    if not tensors or value.shape != other.shape or value.is_meta or other.is_meta:
        return value
    value, other = numbers_of(value), numbers_of(other)
    return torch.where(value.isnan(), other, value)
