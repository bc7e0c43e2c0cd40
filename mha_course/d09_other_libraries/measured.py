"""What ``tools/measure_libraries.py`` has seen of other libraries, and a table of it."""

import functools
import json
import math
from pathlib import Path

import torch

from mha_helpers.probing import QUESTIONS
from mha_helpers.tables import words_table

FILE = Path(__file__).with_name("measured.json")
REFUSALS = {"refused", "not asked"}
LONG = 26  # letters of an answer in a table
WELL_KNOWN = (  # for a table that fits a screen
    "attention, math", "nn.MultiheadAttention, weights", "transformers, ", "x_transformers.Attend, flash",
    "onnxruntime, Attention of opset 23", "openvino.opset13", "mlx.nn", "jax.nn",
    "keras.layers.MultiHeadAttention on jax", "paddle.nn.functional",
)  # fmt: skip


@functools.cache
def measured():
    """Return what was measured: name of a callable -> its entry."""
    return {entry["callable"]: entry for entry in json.loads(FILE.read_text(encoding="utf-8"))}


def weights_of(callable_, question):
    """Return the weights seen, ``(n_q, n_k)``, or None where the library refused."""
    answer, seen = measured()[callable_]["answers"][question]
    if answer in REFUSALS:
        return None
    return torch.tensor([[math.nan if weight is None else weight for weight in row] for row in seen])


def answer_of(callable_, question):
    """Return the answer in words; one that nobody has foreseen is numbers, so it is shortened."""
    answer = measured()[callable_]["answers"][question][0]
    return answer if len(answer) <= LONG or not answer[0].isdigit() else "something else"


def libraries_table(questions=tuple(QUESTIONS), callables=None):
    """Return a table of what libraries answer: a row for each callable, a column for each question.

    ``questions`` are those of ``probe``, by name, ``callables`` parts of names; by default all. Its axes
    are b texts, n words, h heads of d features, or hd where heads lie side by side.
    Used in deeper/09_other_libraries. Raises ``ValueError`` for other questions, and parts of no name.

    >>> libraries_table(["empty row", "more keys"], ["F.scaled_dot_product_attention, math", "mlx.nn"])
    callable                              version  axes     empty row  more keys
    F.scaled_dot_product_attention, math  2.13.0   b h n d  zeros      top left
    mlx.nn.MultiHeadAttention             0.32.4   b n hd   the mean   bottom right
    """
    names = [name for name in measured() if callables is None or any(part in name for part in callables)]
    unknown = [question for question in questions if question not in QUESTIONS]
    if unknown or not names:
        raise ValueError(f"there is no {unknown or callables}; the questions are {', '.join(QUESTIONS)}.")
    rows = [["callable", "version", "axes", *questions]]
    for name in names:
        entry = measured()[name]
        rows.append([name, entry["version"], entry["axes"], *(answer_of(name, each) for each in questions)])
    return words_table(rows)
