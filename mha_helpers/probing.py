"""probe: ask any attention what it does with masks, empty rows, lengths, shared heads and half precision."""

import html
import re
from dataclasses import asdict, dataclass

import torch
from torch.nn import functional as F

from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.keyhole import QUESTIONS, Keyhole, as_tensor, nearest
from mha_helpers.masks import causal_mask
from mha_helpers.style import number


def probe(attend):
    """Ask an attention about what libraries answer differently, and return a table of answers.

    ``attend(q, k, v, mask=None, causal=False)`` is your adapter: it gets tensors, calls the library, and
    returns the output alone, as anything that torch can read: a tensor, an array, what has dlpack. The table
    holds each answer in words, the weights seen, and who answers otherwise: PyTorch's function, this
    course's. A refusal is an answer. ``as_dict()`` gives the same as plain dicts.

    Shapes: q ``(1, h, n_q, 16)``, k and v ``(1, h, n_k, 16)``, mask ``(n_q, n_k)`` -> as q.
    Taught in notebook deeper/09_other_libraries.
    Raises ``TypeError`` if attend takes other arguments, ``ValueError`` if it refuses a plain call, answers
    it in two ways, as with dropout, or returns anything but a tensor in the shape of q.

    >>> def attend(q, k, v, mask=None, causal=False):
    ...     return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)
    >>> answers = probe(attend).as_dict()
    >>> answers["empty row"]["answer"], answers["more keys"]["answer"]
    ('zeros', 'top left')
    """
    _check_adapter(attend)
    findings = _ask_all(attend)
    for other, function in OTHERS.items():
        for name, finding in _ask_all(function).items():
            if finding.answer != findings[name].answer:
                findings[name].otherwise[other] = finding.answer
    return Answers(findings)


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
    from mha_helpers.heatmaps import heatmap  # draws with matplotlib, which probe does not need

    if x.dim() not in (2, 3) or x.shape[:-2].numel() != 1 or not x.is_floating_point():
        wanted = "x must be one text, (n, d_model) or (1, n, d_model), embedded: no token ids"
        raise ValueError(f"{wanted}; got {tuple(x.shape)} of {x.dtype}.")
    n, step = x.shape[-2], torch.linspace(1, 2, x.shape[-1])  # which no LayerNorm takes away

    def output(token=None):
        changed = x if token is None else x + torch.eye(n)[token, :, None].to(x) * step.to(x)
        given = layer(changed)
        return as_tensor(given[0] if isinstance(given, tuple) else given).reshape(n, -1)

    with torch.no_grad():
        before, *after = output(), output(), *map(output, range(n))
    # Beside the size of each number, since a layer may add very little to x; what is NaN in both stays.
    near = [torch.isclose(now, before, rtol=1e-7, atol=0, equal_nan=True).all(dim=-1) for now in after]
    if not near[0].all():
        raise ValueError("layer(x) differs from call to call: is dropout on? Try layer.eval().")
    nan = " ".join(str(i) for i, row in enumerate(before.isnan(), start=1) if row.any())
    title = f"moves (NaN: output {nan})" if nan else "moves"
    return heatmap(~torch.stack(near[1:], dim=1), axes=("output", "token changed"), title=title)


@dataclass
class Finding:
    """What one question brought; ``weights`` are rows of numbers, None where the call was refused."""

    question: str
    answer: str
    weights: list | None
    refusal: str
    otherwise: dict  # who answers otherwise, and what

    def columns(self):
        said = f"{self.answer}: {self.refusal}" if self.refusal else self.answer
        second_row = " ".join(map(number, self.weights[1])) if self.weights else ""
        return self.question, said, second_row, "; ".join(map(": ".join, self.otherwise.items()))


class Answers(dict):
    """The table of ``probe``: name of a question -> ``Finding``."""

    def as_dict(self):
        return {name: asdict(finding) for name, finding in self.items()}

    def __repr__(self):
        lines = []
        for question, said, second_row, others in map(Finding.columns, self.values()):
            lines += [question, f"    {said}  {second_row}".rstrip()]
            lines += [f"    otherwise {others}"] if others else []
        return "\n".join(lines)

    def _repr_html_(self):
        rows = [("th", ("question", "answer", "second row of weights", "who answers otherwise"))]
        rows += [("td", finding.columns()) for finding in self.values()]
        style = 'style="text-align:left"'
        lines = ["".join(f"<{tag} {style}>{html.escape(cell)}</{tag}>" for cell in row) for tag, row in rows]
        return f"<table><tr>{'</tr><tr>'.join(lines)}</tr></table>"


def _ask_all(attend):
    ask, findings = Keyhole(attend), {}
    for name, (words, call, meanings) in QUESTIONS.items():
        try:
            seen = call(ask) if callable(call) else ask.weights(**call)
            meanings = meanings(ask) if callable(meanings) else meanings
        except Exception as error:  # a library may raise whatever it likes
            findings[name] = Finding(words, "refused", None, _shortened(error), {})
            continue
        answer = ask.learn(name, nearest(seen, meanings), seen) or _in_words(seen)
        findings[name] = Finding(words, answer, seen.double().round(decimals=4).tolist(), "", {})
    return findings


def _in_words(seen):
    """Write an answer that nobody has foreseen as numbers, equal rows once."""
    rows = [" ".join(map(number, row)) for row in seen]
    where = {row: [str(i) for i, other in enumerate(rows, start=1) if other == row] for row in rows}
    return "; ".join(f"in row {' '.join(where[row])}: {row}" if len(where) > 1 else row for row in where)


def _check_adapter(attend):
    """Say in one sentence what is wrong with it, before any question is asked."""
    wanted = "attend(q, k, v, mask=None, causal=False) must return the output alone, in the shape of q"
    try:
        first, *others = (Keyhole(attend).weights().nan_to_num() for _ in range(4))
        if not all(torch.equal(first, other) for other in others):
            raise ValueError("four equal calls differ: is dropout on?")
    except Exception as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{wanted}; without mask and flag: {_shortened(error)}") from error


def _shortened(error):
    """Return the first line of an error, without addresses and paths."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    line = re.sub(r"https?://\S+|0x[0-9a-fA-F]+|(?<![\w.])/\S+/", "…", line)
    return f"{type(error).__name__}: {line if len(line) <= 120 else line[:119] + '…'}"


def _pytorch(q, k, v, mask=None, causal=False):
    return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)


def _course(q, k, v, mask=None, causal=False):
    if causal:
        flag = causal_mask(q.shape[-2], k.shape[-2])
        mask = flag if mask is None else mask & flag
    return scaled_dot_product_attention(q, k, v, mask)[0]


OTHERS = {"PyTorch’s function": _pytorch, "this course": _course}
