"""How an answer differs from the right one, said in one sentence to the person who wrote it.

An answer comes from a learner, so it can be anything. Its type is looked at before its values, its
shape before its numbers, and none of its own methods decides whether it is right.
"""

import itertools
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import torch

NOT_DEFINED = "0/0, 0 · ∞, ∞/∞, ∞ − ∞ or the root or logarithm of a negative number was computed."
RELATIVE = 1e-5  # above the rounding of float32 for the small sums of the course, below every mistake
HALF = (torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class Difference:
    """``form`` means: the wrong kind of thing, so that looking at its numbers would be idle."""

    sentence: str
    form: bool = False


def difference(got, expected, subject="Your answer", names=(), decimals=None, any_dtype=False):
    """Return None if ``got`` is right, else the ``Difference``.

    ``subject`` opens the sentence. ``names`` are those of the values if several are expected.
    ``decimals``: numbers rounded to so many decimals are right. ``any_dtype``: 3 is as good as 3.0.
    """
    if got is ... and expected is not ...:
        return Difference(f"{subject} is still `...`: put what you found in its place.", form=True)
    if isinstance(expected, torch.Tensor):
        return _tensor_difference(got, expected, subject, decimals, any_dtype)
    if isinstance(expected, dict):
        return _dict_difference(got, expected, decimals, any_dtype)
    if isinstance(expected, bool):
        return _bool_difference(got, expected, subject)
    if isinstance(expected, (int, float)):
        return _number_difference(got, expected, subject, decimals)
    if _is_shape(expected):
        return _shape_difference(got, expected, subject)
    if isinstance(expected, (tuple, list)):
        return _sequence_difference(got, expected, subject, names, decimals, any_dtype)
    raise TypeError(f"an exercise cannot expect a {type(expected).__name__}")


def same(a, b):
    """Tell whether two results agree in shape and values (NaN like NaN), whatever their dtype."""
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return a.shape == b.shape and bool(_close(numbers_of(a), numbers_of(b), None).all())
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in b)
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    a, b = plain_number(a), plain_number(b)
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if a is None or b is None:
        return False
    return bool(_close(torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64), None))


def plain_number(value):
    """Return the bool, int or float in a Python, NumPy or 0-d torch number, None for all else.

    >>> plain_number(torch.tensor(2.5)), plain_number(Fraction(1, 4)), plain_number("3")
    (2.5, 0.25, None)
    """
    if isinstance(value, torch.Tensor):
        value = value.detach().item() if value.dim() == 0 and not value.is_meta else None
    elif type(value).__module__ == "numpy" and hasattr(value, "item") and value.shape == ():
        value = value.item()
    if type(value) in (Fraction, Decimal):
        return float(value)
    return value if type(value) in (bool, int, float) else None


def numbers_of(tensor):
    """Return the tensor's numbers as float64, cut loose from its graph, its class and its device."""
    with torch._C.DisableTorchFunctionSubclass():
        tensor = tensor.detach().cpu()
        if tensor.layout != torch.strided:
            tensor = tensor.to_dense()
        if tensor.is_complex():
            return torch.where(tensor.imag == 0, tensor.real, math.nan).double()
        return (tensor.dequantize() if tensor.is_quantized else tensor).double().as_subclass(torch.Tensor)


def kind_of(value):
    """Name what a value is in the learner's words: "a list", "a NumPy array", "a function"."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, type):
        return "a class"
    if isinstance(value, torch.nn.Module):
        return "a module"
    if type(value).__module__ == "numpy":
        return "a NumPy array" if type(value).__name__ == "ndarray" else "a NumPy number"
    words = {str: "text", bool: "True or False", int: "a number", float: "a number", list: "a list"}
    words |= {tuple: "a tuple", torch.Size: "a shape", dict: "a dict", type(None): "None"}
    if type(value) in words:
        return words[type(value)]
    return "a function" if callable(value) else f"a {type(value).__name__}"


def _tensor_difference(got, expected, subject, decimals, any_dtype):
    if not isinstance(got, torch.Tensor):
        return Difference(_no_tensor(got, expected, subject), form=True)
    if type(got) not in (torch.Tensor, torch.nn.Parameter):  # a class of its own could answer for itself
        with torch._C.DisableTorchFunctionSubclass():
            got = got.as_subclass(torch.Tensor)
    if got.is_meta:
        return Difference(f"{subject} is on the device “meta”: it has a shape and no numbers.", form=True)
    if got.layout != torch.strided:
        return Difference(f"{subject} is a sparse tensor; .to_dense() makes it a usual one.", form=True)
    if got.is_complex():
        return Difference(f"{subject} holds complex numbers; attention needs real ones.", form=True)
    if got.shape != expected.shape:
        return Difference(_other_shape(got, expected, subject, decimals))
    values, wanted = numbers_of(got), numbers_of(expected)
    wrong = ~_close(values, wanted, decimals)
    coarse = got.dtype in HALF and expected.dtype not in HALF and torch.allclose(values, wanted, 2e-2, 2e-2)
    if coarse and (wrong.any() or not any_dtype):
        return Difference(f"{subject} is {_name(got.dtype)}, too coarse here; use {_name(expected.dtype)}.")
    if wrong.any():
        return Difference(_wrong_cells(values, wanted, wrong, subject))
    kinds_differ = (got.dtype == torch.bool) != (expected.dtype == torch.bool)
    if kinds_differ or (not any_dtype and got.dtype != expected.dtype):
        return Difference(
            f"{subject} has the right values, but as {_name(got.dtype)}; {_name(expected.dtype)} is needed."
        )
    return None


def _no_tensor(got, expected, subject):
    kind = kind_of(got)
    if kind == "a NumPy array":
        return f"{subject} is a NumPy array; a torch tensor is needed. torch.from_numpy(…) converts it."
    if kind in ("a list", "a tuple"):
        if _are_parts(got, expected):
            return (
                f"{subject} is {kind} of {len(got)} tensors; one tensor is needed:"
                " torch.stack(…, dim=…) or torch.cat(…, dim=…) puts them together."
            )
        if any(isinstance(item, torch.Tensor) for item in got):
            which = "Which of them is asked for?"
            if not any(same(item, expected) for item in got):
                which = "Is a step left that makes one of them?"
            return f"{subject} is {kind} of {len(got)} values; one tensor is needed. {which}"
        return f"{subject} is {kind}; a torch tensor is needed. torch.tensor(…) converts it."
    if kind in ("a number", "a NumPy number", "True or False"):
        return f"{subject} is {kind}; a torch tensor is needed: did a sum, .item() or an index go too far?"
    if kind in ("a function", "a module"):
        return f"{subject} is {kind}; a tensor is needed: call it, with brackets and its arguments."
    return f"{subject} is {kind}; a torch tensor is needed."


def _are_parts(got, expected):
    """Tell whether these could be the parts of the expected tensor: of one shape, as many numbers in all."""
    if not all(isinstance(item, torch.Tensor) for item in got):
        return False
    one_shape = len({tuple(item.shape) for item in got}) == 1
    return one_shape and sum(item.numel() for item in got) == expected.numel()


def _other_shape(got, expected, subject, decimals):
    shapes = f"{tuple(got.shape)} instead of {tuple(expected.shape)}"
    if got.numel() == 0:
        return f"{subject} is an empty tensor: its shape is {tuple(got.shape)}. Did a slice take nothing?"
    if got.numel() == expected.numel() and got.numel() <= 100_000:
        values, wanted = numbers_of(got), numbers_of(expected)
        if _close(values.flatten(), wanted.flatten(), decimals).all():
            return f"{subject} has the right numbers in the wrong shape: {shapes}."
        if got.dim() == expected.dim() <= 5:
            for order in itertools.permutations(range(got.dim())):
                turned = values.permute(order)
                if turned.shape == wanted.shape and _close(turned, wanted, decimals).all():
                    return f"{subject} has the right numbers with its axes in another order: {shapes}."
    axes = got.dim() - expected.dim()
    if axes:
        few = "an axis too many" if axes == 1 else f"{axes} axes too many"
        few = few if axes > 0 else ("an axis too few" if axes == -1 else f"{-axes} axes too few")
        return f"{subject} has {few}: its shape is {shapes}."
    return f"{subject} has the shape {shapes}: follow the sizes of the axes from line to line."


def _wrong_cells(values, wanted, wrong, subject):
    lost = values.isnan() & ~wanted.isnan()
    if lost.any():
        return (
            f"{subject} has NaN in {int(lost.sum())} of {wrong.numel()} cells, first"
            f" at {lost.nonzero()[0].tolist()}: {NOT_DEFINED}"
        )
    infinite = values.isinf() & ~wanted.isinf()
    if infinite.any():
        at = f", first at {infinite.nonzero()[0].tolist()}" if infinite.dim() else ""
        return f"{subject} is infinite where it should not be{at}."
    right = wrong.numel() - int(wrong.sum())
    if wrong.numel() == 1:
        return f"{subject} has the right shape, but its only number is not right."
    if not right:
        return f"{subject} has the right shape, but none of its {wrong.numel()} numbers is right."
    return (
        f"{subject} has the right shape, but {right} of {wrong.numel()} numbers"
        f" {'is' if right == 1 else 'are'} right;"
        f" the first wrong one is at {wrong.nonzero()[0].tolist()}, counted from 0."
    )


def _number_difference(got, expected, subject, decimals):
    number = plain_number(got)
    if isinstance(number, bool) or number is None:
        if isinstance(got, torch.Tensor) and got.numel() == 1:
            return Difference(
                f"{subject} is {kind_of(got)}; one number is needed: .item() takes it out.", True
            )
        return Difference(f"{subject} is {kind_of(got)}; one number is needed.", form=True)
    if math.isnan(number):
        return Difference(f"{subject} is NaN: {NOT_DEFINED}")
    exact = isinstance(expected, int) and decimals is None  # a count, however large it is
    if _close(_double(number), _double(expected), decimals) and (not exact or round(number) == expected):
        return None
    if decimals is not None and _close(_double(number), _double(expected), max(decimals - 1, 0)):
        places = "1 decimal" if decimals == 1 else f"{decimals} decimals"
        if round(number, decimals - 1) != number:
            return Difference(f"{subject} is close, but not right to {places}.")
        return Difference(f"{subject} is close; give it with {places}.")
    if number == -expected:
        return Difference(f"{subject} has the right size and the wrong sign.")
    return Difference(f"{subject} is a number, but not the right one.")


def _bool_difference(got, expected, subject):
    answer = plain_number(got)
    if not isinstance(answer, bool):
        cells = isinstance(got, torch.Tensor) and got.numel() != 1
        way = " `==` compares cell by cell: torch.equal(a, b) gives one answer for all." if cells else ""
        return Difference(f"{subject} must be True or False.{way}", form=True)
    return None if answer is expected else Difference(f"{subject} is {answer}; {expected} is right.")


def _is_shape(value):
    return isinstance(value, tuple) and all(type(size) is int for size in value)


def _shape_difference(got, expected, subject):
    if isinstance(got, torch.Tensor):
        if got.shape == (len(expected),) and got.dtype == torch.long:
            sizes = f"({', '.join(map(str, got.tolist()))})"
            return Difference(f"{subject} is a tensor that holds sizes: write {sizes} alone.", form=True)
        return Difference(f"{subject} is a tensor; its shape is asked for, as in (2, 3).", form=True)
    if not isinstance(got, (tuple, list)):
        return Difference(f"{subject} is {kind_of(got)}; a shape is needed, as in (2, 3).", form=True)
    sizes = [plain_number(size) for size in tuple(got)]
    if any(size is ... for size in tuple(got)):
        return Difference(f"{subject} still has a `...` in it: put a size in its place.", form=True)
    if any(type(size) is not int for size in sizes):
        whole = [size for size in sizes if isinstance(size, float) and size.is_integer()]
        keep = f" {whole[0]} is a float: // in place of / keeps it whole." if whole else ""
        return Difference(f"{subject} must hold whole numbers only, as in (2, 3).{keep}", form=True)
    if tuple(sizes) == expected:
        return None
    if len(sizes) != len(expected):
        count = f"{len(sizes)} axes" if len(sizes) != 1 else "1 axis"
        return Difference(f"{subject} has {count}; the tensor has {len(expected)}.")
    if sorted(sizes) == sorted(expected):
        return Difference(f"{subject} has the right sizes in the wrong order.")
    wrong = [axis for axis, size in enumerate(sizes) if size != expected[axis]]
    return Difference(
        f"{subject} has {len(sizes) - len(wrong)} of {len(sizes)} axes right;"
        f" the first wrong one is axis {wrong[0]}, counted from 0."
    )


def _sequence_difference(got, expected, subject, names, decimals, any_dtype):
    wanted = f"{len(expected)} values" + (f" ({', '.join(names)})" if names else "")
    if not isinstance(got, (tuple, list)):
        return Difference(f"{subject} is {kind_of(got)}; {wanted} are needed.", form=True)
    got = list(got)
    if len(got) != len(expected):
        count = "1 value" if len(got) == 1 else f"{len(got)} values"
        return Difference(f"{subject} has {count}; {wanted} are needed.", form=True)
    found = []
    for place, (item, right) in enumerate(zip(got, expected, strict=True)):
        part = f"“{names[place]}”" if names else f"Value {place + 1} of {len(expected)}"
        found.append(difference(item, right, part, (), decimals, any_dtype))
    if any(found) and _right_in_another_order(got, expected, decimals, any_dtype):
        order = f": {', '.join(names)} is asked for" if names else ""
        return Difference(f"{subject} holds the right values in another order{order}.")
    return _most_telling(found)


def _right_in_another_order(got, expected, decimals, any_dtype):
    def is_right(order):
        pairs = zip(order, expected, strict=True)
        return not any(difference(*pair, decimals=decimals, any_dtype=any_dtype) for pair in pairs)

    return len(expected) <= 4 and any(map(is_right, itertools.permutations(got)))


def _dict_difference(got, expected, decimals, any_dtype):
    if not isinstance(got, dict):
        sentence = f"Your answer is {kind_of(got)}; a dict with {', '.join(map(repr, expected))} is needed."
        return Difference(sentence, form=True)
    missing = [repr(key) for key in expected if key not in got]
    if missing:
        return Difference(f"Your dict lacks {', '.join(missing)}.", form=True)
    found = [difference(got[key], expected[key], f"“{key}”", (), decimals, any_dtype) for key in expected]
    return _most_telling(found)


def _most_telling(found):
    """The first wrong form; else the first wrong value, with how many are right if any is."""
    found_wrong = [part for part in found if part]
    forms = [part for part in found_wrong if part.form]
    if forms or not found_wrong:
        return forms[0] if forms else None
    right = len(found) - len(found_wrong)
    verb = "is" if right == 1 else "are"
    count = f" ({right} of {len(found)} values {verb} right.)" if right else ""
    return Difference(f"{found_wrong[0].sentence}{count}")


def _close(values, wanted, decimals):
    if decimals is not None:
        return torch.isclose(values, wanted, rtol=0.0, atol=0.6 * 10.0**-decimals, equal_nan=True)
    finite = wanted[wanted.isfinite()].abs()
    largest = float(finite.max()) if finite.numel() else 0.0
    return torch.isclose(values, wanted, rtol=RELATIVE, atol=RELATIVE * largest or 1e-6, equal_nan=True)


def _double(number):
    return torch.tensor(number, dtype=torch.float64)


def _name(dtype):
    return str(dtype).removeprefix("torch.")
