"""probe: ask any attention what it does with masks, empty rows, lengths, shared heads and half precision."""

import functools
import html
import inspect
import re
from dataclasses import asdict, dataclass

import torch
from torch.nn import functional as F

from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.keyhole import D_K, HEADS, KEYS, QUESTIONS, Keyhole, as_tensor
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
    Raises ``TypeError`` if attend takes other arguments or returns no tensor, ``ValueError`` if it returns
    another shape or refuses a plain call.

    >>> def attend(q, k, v, mask=None, causal=False):
    ...     return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)
    >>> answers = probe(attend).as_dict()
    >>> answers["empty row"]["answer"], answers["more keys"]["answer"]
    ('zeros', 'top left')
    """
    _check_adapter(attend)
    findings = _ask_all(attend)
    for other, answers in {name: _answers(function) for name, function in OTHERS.items()}.items():
        for name, finding in findings.items():
            if answers[name] != finding.answer:
                finding.otherwise[other] = answers[name]
    return Answers(findings)


def moves(layer, x):
    """Change one token after the other, and draw which outputs of a layer move: 1 where one does.

    For a layer with projections of its own, whose weights no keyhole shows. ``layer(x)`` returns a tensor, or
    a tuple that begins with one.

    Shape: x ``(n, d_model)`` or ``(1, n, d_model)`` -> a ``Picture`` of ``(n, n)``; rows are outputs.
    Taught in notebook deeper/09_other_libraries.
    Raises ``ValueError`` for another x, or a layer that answers twice with other numbers, as with dropout.

    >>> moves(lambda x: x.cumsum(dim=0), torch.ones(3, 4)).heatmaps[0].matrix.tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    """
    from mha_helpers.heatmaps import heatmap  # draws with matplotlib, which probe does not need

    if x.dim() not in (2, 3) or x.shape[:-2].numel() != 1:
        raise ValueError(f"x must be one text, (n, d_model) or (1, n, d_model); got {tuple(x.shape)}.")
    n, step = x.shape[-2], torch.linspace(1, 2, x.shape[-1])  # which no LayerNorm takes away

    def output(token=None):
        changed = x if token is None else x + torch.eye(n)[token, :, None].to(x) * step.to(x)
        given = layer(changed)
        return as_tensor(given[0] if isinstance(given, tuple) else given).reshape(n, -1)

    with torch.no_grad():
        before = output()
        if not torch.equal(before.nan_to_num(), output().nan_to_num()):
            raise ValueError("layer(x) differs from call to call: is dropout on? Try layer.eval().")
        gaps = torch.stack([(output(token) - before).abs().amax(dim=-1) for token in range(n)], dim=1)
    moved = ~(gaps < 1e-6)  # NaN moves, too
    return heatmap(moved.double(), axes=("output", "token changed"), title="moves")


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
        others = "; ".join(f"{name}: {answer}" for name, answer in self.otherwise.items())
        return self.question, said, others

    def second_row(self):
        return " ".join(map(number, self.weights[1])) if self.weights else ""

    def cells(self):
        """Draw the weights as small squares, dark for much; what is not a weight is red."""
        style = "display:inline-block;width:12px;height:12px;border:1px solid #8888;background:"
        rows = [
            [f"#3568B5{min(round(255 * w), 255):02x}" if w >= 0 else "#C4433A" for w in row]
            for row in self.weights or []
        ]
        return "<br>".join("".join(f'<span style="{style}{cell}"></span>' for cell in row) for row in rows)


class Answers(dict):
    """The table of ``probe``: name of a question -> ``Finding``."""

    def as_dict(self):
        return {name: asdict(finding) for name, finding in self.items()}

    def __repr__(self):
        lines = []
        for finding in self.values():
            question, said, others = finding.columns()
            lines += [question, f"    {said}  {finding.second_row()}".rstrip()]
            lines += [f"    otherwise {others}"] if others else []
        return "\n".join(lines)

    def _repr_html_(self):
        rows = ["<th>question</th><th>answer</th><th>weights seen</th><th>who answers otherwise</th>"]
        for finding in self.values():
            question, said, others = map(html.escape, finding.columns())
            cells = f'<div style="line-height:11px" title="{finding.second_row()}">{finding.cells()}</div>'
            rows.append(f"<td>{question}</td><td><b>{said}</b></td><td>{cells}</td><td>{others}</td>")
        rows = [re.sub("<(t[hd])>", r'<\1 style="text-align:left">', row) for row in rows]
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


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


def nearest(seen, meanings):
    """Return the answer that looks like the weights that were seen, None if none does."""
    gaps = {answer: float((seen - weights).nan_to_num().abs().max()) for answer, weights in meanings.items()
            if torch.equal(seen.isnan(), weights.isnan())}  # fmt: skip
    best = min(gaps, key=gaps.get, default=None)
    return best if gaps and gaps[best] < 0.005 else None


def _in_words(seen):
    """Write an answer that nobody has foreseen as numbers, equal rows once."""
    rows = [" ".join(map(number, row)) for row in seen]
    where = {row: [str(i) for i, other in enumerate(rows, start=1) if other == row] for row in rows}
    return "; ".join(f"in row {' '.join(where[row])}: {row}" if len(where) > 1 else row for row in where)


def _check_adapter(attend):
    """Say in one sentence what is wrong with it, before any question is asked."""
    q = torch.zeros(1, HEADS, KEYS, D_K)
    try:
        inspect.signature(attend).bind(q, q, q, mask=None, causal=False)
    except ValueError:
        pass  # written in C, it tells nobody what it takes
    except TypeError:
        raise TypeError("attend must be a function attend(q, k, v, mask=None, causal=False).") from None
    try:
        output = attend(q, q, q, mask=None, causal=False)
    except Exception as error:
        raise ValueError(f"attend refuses a call without mask and flag: {_shortened(error)}") from error
    try:
        shape, wanted = () if output is None else tuple(as_tensor(output).shape), tuple(q.shape)
    except (TypeError, ValueError):
        shape = ()
    if not shape:
        raise TypeError(f"attend must return the output alone, got {type(output).__name__}.")
    if shape != wanted:
        raise ValueError(f"attend must return the shape of q, (b, h, n, d) = {wanted}; got {shape}.")


def _shortened(error):
    """Return the first line of an error, without addresses and paths."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    line = re.sub(r"https?://\S+|0x[0-9a-fA-F]+|(?<![\w.])/\S+/", "…", line)
    return f"{type(error).__name__}: {line if len(line) <= 120 else line[:119] + '…'}"


def _pytorch(q, k, v, mask=None, causal=False):
    return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)


def _course(q, k, v, mask=None, causal=False):
    flag = causal_mask(q.shape[-2], k.shape[-2]) if causal else None
    both = flag if mask is None else mask if flag is None else mask & flag
    return scaled_dot_product_attention(q, k, v, both)[0]


OTHERS = {"PyTorch’s function": _pytorch, "this course": _course}


@functools.cache
def _answers(attend):
    return {name: finding.answer for name, finding in _ask_all(attend).items()}
