"""What any attention does with masks, empty rows, lengths: ``probe`` asks; ``moves`` shows who hears whom.

The keyhole: a query of zeros makes every score 0, and unit vectors as values make the output the weights.
"""

import re

import numpy
import torch
from torch.nn import functional as F

from mha_helpers.style import number
from mha_helpers.tables import words_table

HEADS, KEYS, D_K = 2, 5, 16
TIED, TILT = torch.zeros(KEYS), torch.arange(KEYS) / 2  # scores; TILT tells the mean from weights unmasked


def probe(attend):
    """Ask an attention about what libraries answer differently, and return a table of answers.

    ``attend(q, k, v, mask=None, causal=False)`` is your adapter: it gets tensors, calls the library, and
    returns the output alone, as anything that torch can read: a tensor, an array, what has dlpack. The table
    is a dict of dicts: each answer in words, the weights seen, a refusal's words, and PyTorch's answer.

    Shapes: q ``(1, h, n_q, 16)``, k and v ``(1, h, n_k, 16)``, mask ``(n_q, n_k)`` -> as q.
    Taught in notebook deeper/09_other_libraries.
    Raises ``ValueError`` if attend refuses a plain call, answers it in two ways, as with dropout, exchanges
    heads and words, or returns no tensor in the shape of q.

    >>> def attend(q, k, v, mask=None, causal=False):
    ...     return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)
    >>> answers = probe(attend)
    >>> answers["empty row"]["answer"], answers["more keys"]["answer"]
    ('zeros', 'top left')
    """
    answers, usual = Answers(attend), Answers(pytorch)
    for name, found in answers.items():
        found["pytorch"] = usual[name]["answer"]
    return answers


def pytorch(q, k, v, mask=None, causal=False):
    """The adapter of PyTorch's function, beside which every answer is put."""
    return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)


class Answers(dict):
    """The table of ``probe``: name of a question -> question, answer, weights, refusal, pytorch."""

    def __init__(self, attend):
        ask = Keyhole(attend)
        for name, (question, call, meanings) in QUESTIONS.items():
            self[name] = found = {"question": question, "answer": "refused", "weights": None, "refusal": ""}
            try:
                seen = call(ask) if callable(call) else ask.weights(**call)
                found["answer"] = ask.answer(name, seen, meanings)
                found["weights"] = seen.double().round(decimals=4).tolist()
            except Exception as error:  # a library may raise whatever it likes
                found["refusal"] = _shortened(error)

    def rows(self):
        yield "question", "answer", "second row of weights", "PyTorch’s function, if otherwise"
        for found in self.values():
            said = f"{found['answer']}: {found['refusal']}" if found["refusal"] else found["answer"]
            second_row = " ".join(map(number, found["weights"][1])) if found["weights"] else ""
            otherwise = found["pytorch"] if found["pytorch"] != found["answer"] else ""
            yield found["question"], said, second_row, otherwise

    def __repr__(self):
        return "\n".join(" | ".join(row) for row in self.rows())

    def _repr_html_(self):
        return words_table(self.rows()).html


class Keyhole:
    """Calls an attention so that its output is the weights; learns how it reads a mask, and how it scales."""

    def __init__(self, attend):
        """Raises ``ValueError`` with a sentence that says what is wrong with an adapter."""
        self.attend, self.true_attends, self.scale = attend, None, D_K**-0.5
        try:
            if len({str(self.weights().tolist()) for _ in range(4)}) > 1:
                raise ValueError("four equal calls differ: is dropout on?")
            if (self.heads(2).diagonal() < 0.1).any():
                raise ValueError("no query finds its own key: does the library want (b, n, h, d)?")
        except Exception as error:
            rule = "attend(q, k, v, mask=None, causal=False) must return the output alone, in the shape of q"
            raise ValueError(f"{rule}; without mask and flag: {_shortened(error)}") from error

    def output(self, q, k, v, mask=None, causal=False):
        """Return what the attention returns, as float32 on the CPU."""
        mask = None if mask is None else mask.clone()  # whoever writes into it
        output = self.attend(q, k, v, mask=mask, causal=causal)
        if not isinstance(output, torch.Tensor):
            try:
                output = torch.from_dlpack(output)
            except Exception:  # it has no dlpack, or not for this number type
                output = torch.as_tensor(numpy.asarray(output).astype(numpy.float32))
        if output.shape != q.shape:
            hint = ": transpose(1, 2)?" if output.shape == q.transpose(1, 2).shape else ""
            raise ValueError(f"the output has shape {tuple(output.shape)}, q has {tuple(q.shape)}{hint}")
        return output.detach().cpu().float()

    def weights(self, scores=TIED, q=1, v=1, allowed=None, n_q=KEYS, **options):
        """Return what head 1 shows, ``(n_q, 5)``; all is in the number type of ``scores``.

        ``scores`` are those of each row, after scaling, as parts to be added where they have two axes; ``q``
        multiplies them, ``v`` the unit vectors. ``allowed`` is a mask, True = may attend.
        """
        query, key = (scores.new_zeros(1, HEADS, n, D_K) for n in (n_q, KEYS))
        parts = scores.view(KEYS, -1)
        query[..., : parts.shape[1]], key[..., : parts.shape[1]] = q, parts / self.scale
        value = (torch.eye(KEYS, D_K) * v).to(query.dtype).repeat(1, HEADS, 1, 1)
        if allowed is not None:  # 0 and −∞ to be added, where a bool mask says nothing
            options["mask"] = allowed.log() if self.true_attends is None else allowed == self.true_attends
        return self.output(query, key, value, **options)[0, 0, :, :KEYS]

    def heads(self, of_queries):
        """Return which of 2 key heads each query head reads, 0 where it asks with the query of another."""
        names = torch.eye(KEYS, D_K)  # of keys, and of heads
        q = (10 / self.scale * names[:of_queries, None]).repeat(1, 1, KEYS, 1)  # head i asks for key i
        v = names[:2, None] + names.roll(2, dims=1)  # first the head's name, then the key's
        seen = self.output(q, names.repeat(1, 2, 1, 1), v[None])[0, :, 0]
        return seen[:, :2] * (seen[:, 2:].diagonal()[:, None] > 0.1)  # a weak scale is not our question

    def answer(self, name, seen, meanings):
        """Return what was seen in words, and remember what later questions need."""
        odds = seen[:2, -1] / seen[:2, 0]  # of key 5 for queries 1 and 2
        if name == "scale" and 1e-3 < (scale := float(torch.log(odds[1] / odds[0]) / 4)) < 1e3:
            scores, self.scale = 4 * scale * LAST * NO_KEY, scale
            meanings = meanings | {f"times {number(scale, 3)}": _rows(ALL, scores)}
            meanings["columns of weights add up to 1, not rows"] = torch.softmax(scores, dim=0)
        answer = nearest(seen, meanings(self) if callable(meanings) else meanings)
        if name == "bool mask" and "True means" in answer:
            self.true_attends = "True means may attend" in answer
        return answer


def nearest(seen, meanings):
    """Return the answer that looks like the weights seen, or like their shares; else rows of numbers."""
    for remark, weights in {"": seen, ", rows do not add up to 1": F.normalize(seen, p=1, dim=-1)}.items():
        for name, meant in meanings.items():
            if torch.allclose(weights, meant.to(seen), rtol=0, atol=0.0017, equal_nan=True):
                return name + remark
    return "; ".join(dict.fromkeys(" ".join(map(number, row)) for row in seen))  # equal rows once


def _shortened(error):
    """Return the first line of an error, without addresses and paths."""
    line = str(error).strip().partition("\n")[0]
    if "unsupported ScalarType BFloat16" in line:
        line = "the adapter asks for .numpy(), and NumPy has no bfloat16: from_dlpack, or .float() and back"
    line = re.sub(r"https?://\S+|0x[0-9a-fA-F]+|(?<![\w.])/\S+/", "…", line)
    return f"{type(error).__name__}: {line if len(line) <= 120 else line[:119] + '…'}"


def _rows(allowed, scores=0):
    return torch.softmax(allowed.log() + scores, dim=-1)


def _empty_rows(ask):
    """What a row without a key may become, beside this attention's own weights of the other rows."""
    tilted = ask.weights(TILT)
    meanings = {name: tilted.masked_fill(NO_KEY, value) for name, value in EMPTY.items()}
    # Read upside down, the row is the only one that sees anything.
    others = {f"upside down, others {name}": tilted.masked_fill(~NO_KEY, EMPTY[name]) for name in EMPTY}
    return meanings | others | {"as if unmasked": tilted}


ALL, OWN, BELOW = torch.ones(KEYS, KEYS), torch.eye(KEYS), torch.ones(KEYS, KEYS).tril()
NEXT = OWN.roll(1, dims=1)  # the next key, a mask that neither its transpose nor the values look like
NO_KEY = (torch.arange(KEYS) == 1)[:, None].expand(KEYS, KEYS)  # for query 2
SOME = ~NO_KEY.T  # all but key 2
LAST = OWN[-1]  # a score of 1 for key 5
LARGE = torch.tensor([(0, 0), (0, 0), (588, 0), (600, 0), (600, 1)]).bfloat16()  # it has no 601

# What the answers look like.
EMPTY = {"zeros": 0.0, "NaN": torch.nan, "the mean": 1 / KEYS}
IGNORED = {"ignored": _rows(ALL)}
POLARITY = {"True means may attend": NEXT, "True means hidden": _rows(1 - NEXT)}
POLARITY |= {f"{name}, transposed": weights.T for name, weights in POLARITY.items()}
BOOL = POLARITY | IGNORED | {"added as 0 and 1": _rows(ALL, NEXT)}
NUMBERS = {f"as bool, {name}": POLARITY[name] for name in POLARITY} | IGNORED | {"added": _rows(ALL, NEXT)}
ADDED = {"added": NEXT, "added, transposed": NEXT.T, "read upside down": _rows(1 - NEXT)} | IGNORED
SCALES = {"1 / √d_k": _rows(ALL, LAST * NO_KEY)}
SCALES["1 / √(2 · d_k), and h is 2"] = _rows(ALL, LAST * NO_KEY / 2**0.5)  # by d_model, perhaps
CAUSAL = {"itself and before": _rows(BELOW)} | IGNORED
CAUSAL |= {f"a window of {n}": _rows(BELOW.triu(1 - n)) for n in range(1, KEYS)}
CAUSAL |= {f"only before, row 1 {name}": _rows(BELOW - OWN).nan_to_num(EMPTY[name]) for name in EMPTY}
MORE = {"top left": _rows(BELOW[:2]), "bottom right": _rows(BELOW[-2:]), "ignored": _rows(ALL[:2])}
BOTH = {"both hold": _rows(SOME * BELOW), "flag ignored": _rows(SOME), "mask ignored": _rows(BELOW)} | IGNORED
SHARED = {"1 1 2 2": torch.eye(2).repeat_interleave(2, dim=0), "1 2 1 2": torch.eye(2).repeat(2, 1)}
LEAKS = {"stays hidden": _rows(SOME), "leaks: NaN": ALL * torch.nan}
APART = {"yes": _rows(ALL, LARGE.float().sum(dim=1)), "no": _rows(ALL, LARGE[:, 0])}
APART["no, nor 588 and 600: are they capped?"] = _rows(ALL, LARGE[:, 0].clamp(max=588))
SUM = {"yes": _rows(ALL, 7 * LAST), "no": _rows(ALL, 7 * LAST).where(LAST == 0, 1)}  # 1.004 is 1

# Name: the question in words, what the keyhole is asked, and what each answer looks like. The order counts:
# "bool mask" tells how to hide a key, "scale" how to ask for scores; nan_to_num() makes −∞ the lowest number.
QUESTIONS = {
    "bool mask": ("A bool mask with one True in each row: the next key", {"mask": NEXT.bool()}, BOOL),
    "integer mask": ("The same mask as integers, 0 and 1", {"mask": NEXT.long()}, NUMBERS),
    "float mask": ("The same mask as floats, 0.0 and 1.0", {"mask": NEXT}, NUMBERS),
    "additive mask": ("A mask that is added: 0 for the next key, else −∞", {"mask": NEXT.log()}, ADDED),
    "scale": ("How scores are scaled", {"scores": LAST, "q": NO_KEY[:, :1]}, SCALES),
    "empty row": ("A row without a key", {"scores": TILT, "allowed": ~NO_KEY}, _empty_rows),
    "empty row, −∞": ("A row of −∞ that is added", {"scores": TILT, "mask": (~NO_KEY).log()}, _empty_rows),
    "empty row, lowest": ("A row of float32’s lowest number that is added",
                          {"scores": TILT, "mask": (~NO_KEY).log().nan_to_num()}, _empty_rows),
    "empty row, float16": ("All in float16, with its lowest number",
                           {"scores": TILT.half(), "mask": (~NO_KEY).log().half().nan_to_num()}, _empty_rows),
    "causal": ("The causal flag with 5 queries and 5 keys", {"causal": True}, CAUSAL),
    "more keys": ("The causal flag with 2 queries and 5 keys", {"n_q": 2, "causal": True}, MORE),
    "mask and flag": ("The causal flag, and key 2 hidden by a mask", {"causal": True, "allowed": SOME}, BOTH),
    "shared heads": ("Which of 2 key heads each of 4 query heads reads", lambda ask: ask.heads(4), SHARED),
    "NaN in a value": ("NaN in a value that the mask hides",
                       {"v": torch.where(NO_KEY[:, :1], torch.nan, 1), "allowed": SOME}, LEAKS),
    "large scores, bfloat16": ("bfloat16: are scores of 600 and 601 told apart", {"scores": LARGE}, APART),
    "softmax, bfloat16": ("bfloat16: does softmax add up in float32", {"scores": 7 * LAST.bfloat16()}, SUM),
}  # fmt: skip


def moves(layer, x):
    """Change one token after the other, and draw which outputs of a layer move: 1 where one does.

    For a layer with projections of its own, whose weights no keyhole shows. ``layer(x)`` returns a tensor, or
    a tuple that begins with one. The rounding of an FFT moves, too: give float64 to such a layer.

    Shape: x ``(n, d_model)`` or ``(1, n, d_model)`` -> a ``Picture`` of ``(n, n)``; rows are outputs.
    Taught in notebook deeper/09_other_libraries.
    Raises ``ValueError`` for another x, or a layer that answers twice with other numbers, as with dropout.

    >>> moves(lambda x: x.cumsum(dim=0), torch.ones(3, 4)).heatmaps[0].matrix.tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    """
    from mha_helpers.heatmaps import heatmap  # which needs matplotlib

    if x.dim() not in (2, 3) or x.shape[:-2].numel() != 1 or not x.is_floating_point():
        wanted = "x must be one text, (n, d_model) or (1, n, d_model), embedded: no token ids"
        raise ValueError(f"{wanted}; got {tuple(x.shape)} of {x.dtype}.")
    n, d_model = x.shape[-2:]
    changes = torch.eye(n)[..., None] * torch.linspace(1, 2, d_model)  # which no LayerNorm takes away
    with torch.no_grad():
        given = [layer(x + change) for change in (0, 0, *changes.to(x))]
    outputs = torch.stack([each[0] if isinstance(each, tuple) else each for each in given]).view(n + 2, n, -1)
    # Relative to each number, since a layer may add very little to x; NaN in both has not moved.
    stays = torch.isclose(outputs, outputs[0], rtol=1e-7, atol=0, equal_nan=True).all(dim=-1)
    if not stays[1].all():
        raise ValueError("layer(x) differs from call to call: is dropout on? Try layer.eval().")
    nan = "".join(f", output {i} is NaN" for i, row in enumerate(outputs[0].isnan(), start=1) if row.any())
    return heatmap(~stays[2:].T, axes=("output", "token changed"), title=f"moves{nan}")
