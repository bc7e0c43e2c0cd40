"""What any attention does with masks, empty rows, lengths: ``probe`` asks; ``moves`` shows who hears whom."""

import re

import torch
from torch.nn import functional as F

from mha_helpers.keyhole import QUESTIONS, Keyhole, nearest
from mha_helpers.style import number
from mha_helpers.tables import words_table


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
    _check_adapter(attend)
    answers = Answers(_ask_all(attend))
    for name, found in _ask_all(pytorch).items():
        answers[name]["pytorch"] = found["answer"]
    return answers


class Answers(dict):
    """The table of ``probe``: name of a question -> question, answer, weights, refusal, pytorch."""

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


def pytorch(q, k, v, mask=None, causal=False):
    """The adapter of PyTorch's function, beside which every answer is put."""
    return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)


def _ask_all(attend):
    ask, answers = Keyhole(attend), {}
    for name, (question, call, meanings) in QUESTIONS.items():
        answers[name] = found = {"question": question, "answer": "refused", "weights": None, "refusal": ""}
        try:
            seen = call(ask) if callable(call) else ask.weights(**call)
            meanings = meanings(ask) if callable(meanings) else meanings
        except Exception as error:  # a library may raise whatever it likes
            found["refusal"] = _shortened(error)
            continue
        numbers = dict.fromkeys(" ".join(map(number, row)) for row in seen)  # equal rows once
        found["answer"] = ask.learn(name, nearest(seen, meanings), seen) or "; ".join(numbers)
        found["weights"] = seen.double().round(decimals=4).tolist()
    return answers


def _check_adapter(attend):
    """Say in one sentence what is wrong with it, before any question is asked."""
    wanted = "attend(q, k, v, mask=None, causal=False) must return the output alone, in the shape of q"
    ask = Keyhole(attend)
    try:
        first, *others = (ask.weights().nan_to_num() for _ in range(4))
        if not all(torch.equal(first, other) for other in others):
            raise ValueError("four equal calls differ: is dropout on?")
        if (ask.heads(2).diagonal() < 0.1).any():
            raise ValueError("no query finds its own key: does the library want (b, n, h, d)?")
    except Exception as error:
        raise ValueError(f"{wanted}; without mask and flag: {_shortened(error)}") from error


def _shortened(error):
    """Return the first line of an error, without addresses and paths."""
    line = str(error).strip().partition("\n")[0]
    if "unsupported ScalarType BFloat16" in line:
        line = "the adapter asks for .numpy(), and NumPy has no bfloat16: from_dlpack, or .float() and back"
    line = re.sub(r"https?://\S+|0x[0-9a-fA-F]+|(?<![\w.])/\S+/", "…", line)
    return f"{type(error).__name__}: {line if len(line) <= 120 else line[:119] + '…'}"
