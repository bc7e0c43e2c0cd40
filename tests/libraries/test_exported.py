"""The class and the function as an ONNX file: three programs that know nothing of PyTorch give the same numbers."""

import json
import re
from pathlib import Path

import pytest
import torch
from torch import nn

from mha_course.exercises import numbers
from mha_helpers import MultiHeadAttention, causal_mask, padding_mask, scaled_dot_product_attention

onnxruntime = pytest.importorskip("onnxruntime", reason="needs the packages of .ci/run libraries")
reference = pytest.importorskip("onnx.reference")
openvino = pytest.importorskip("openvino")

ROOT = Path(__file__).parents[2]
D_MODEL, HEADS = 8, 2


def empty(mask):
    """Leave its second query without any key."""
    return mask & (torch.arange(mask.shape[-2]) != 1)[:, None]


class OneHead(nn.Module):
    def forward(self, q, k, v, mask):
        return scaled_dot_product_attention(q, k, v, mask)


# What is exported: a model, its mask for some numbers of tokens, and which axes are free in that.
N, N_Q, N_K = (torch.export.Dim(name, min=1, max=64) for name in ("n", "n_q", "n_k"))
FILES = {
    "layer, an empty row": (lambda n, _: empty(causal_mask(n)), {0: N, 1: N}),
    "layer, padding": (lambda n, _: padding_mask([n, n - 2], n), {3: N}),
    "one head, an empty row": (lambda n_q, n_k: empty(numbers(n_q, n_k) > -0.5), {0: N_Q, 1: N_K}),
    "one head, padding of a whole sentence": (lambda _, n_k: padding_mask([n_k, 0], n_k), {3: N_K}),
}


def in_onnxruntime(path, given):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip([value.name for value in session.get_inputs()], given, strict=True)))


def in_the_reference(path, given):
    evaluator = reference.ReferenceEvaluator(str(path))
    return evaluator.run(None, dict(zip(evaluator.input_names, given, strict=True)))


def in_openvino(path, given):
    exact = {"INFERENCE_PRECISION_HINT": "f32"}  # else it computes in bfloat16 on a CPU that can
    return list(openvino.Core().compile_model(str(path), "CPU", exact)(given).values())


PROGRAMS = (in_onnxruntime, in_the_reference, in_openvino)


@pytest.mark.parametrize("opset", [18, 20, 23, 24])
@pytest.mark.parametrize("name", FILES)
@torch.no_grad()
def test_every_program_gives_the_numbers_of_pytorch_for_any_number_of_tokens(name, opset, tmp_path):
    torch.manual_seed(0)
    (mask, of_mask), path = FILES[name], tmp_path / "attention.onnx"
    is_layer = name.startswith("layer")
    model, sizes = MultiHeadAttention(D_MODEL, HEADS), [{1: N}]
    if not is_layer:
        model, sizes = OneHead(), [{2: N_Q}, {2: N_K}, {2: N_K}]

    def given(n_q, n_k):
        heads = [numbers(2, HEADS, n, 4, seed=n) for n in (n_q, n_k)] + [numbers(2, HEADS, n_k, 3, seed=9)]
        return *([numbers(2, n_q, D_MODEL)] if is_layer else heads), mask(n_q, n_k)

    options = {"opset_version": opset, "dynamic_shapes": (*sizes, of_mask)}
    torch.onnx.export(model.eval(), given(5, 4), dynamo=True, verbose=False, **options).save(path)
    for lengths in ((5, 4), (9, 7), (3, 6)):
        inputs = given(*lengths)
        expected = model(*inputs)
        assert (expected[1].sum(dim=-1) == 0).any() == (name != "layer, padding"), "a row without a key"
        for program in PROGRAMS:
            results = program(path, [tensor.numpy() for tensor in inputs])
            for result, wanted in zip(map(torch.tensor, results), expected, strict=True):
                torch.testing.assert_close(result, wanted, atol=1e-5, rtol=0, msg=program.__name__)


class PyTorchsLayer(nn.Module):
    """``nn.MultiheadAttention``, called as ours is; a padding mask (b, 1, 1, n) goes to its own argument."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True)

    def forward(self, x, mask):
        named = {"attn_mask": ~mask} if mask.dim() == 2 else {"key_padding_mask": ~mask[:, 0, 0]}
        return self.attention(x, x, x, need_weights=False, **named)[0]


PAGE = json.loads((ROOT / "notebooks/deeper/09_other_libraries.ipynb").read_text(encoding="utf-8"))
CELLS = ["".join(cell["source"]) for cell in PAGE["cells"]]
TABLE = next(cell for cell in CELLS if cell.startswith("| file of"))
ROWS = [re.split(r"\s*\|\s*", line)[1:-1] for line in TABLE.splitlines() if line.startswith("|")]
ROWS = {(layer.strip("`").split("`")[0], mask): seen for layer, mask, *seen in ROWS[2:]}


@pytest.mark.parametrize(("layer", "mask"), ROWS)
@torch.no_grad()
def test_the_table_of_the_page_says_what_a_file_of_its_cell_gives(layer, mask, tmp_path):
    page = {"torch": torch}
    exec(next(cell for cell in CELLS if cell.startswith("def write_file")), page)
    model = PyTorchsLayer() if layer.startswith("nn.") else MultiHeadAttention(D_MODEL, HEADS)
    model, x = model.eval(), numbers(2, 5, D_MODEL)
    given = empty(causal_mask(5)) if "without a key" in mask else padding_mask([5, 3], 5)
    expected = model(x, given)
    for opset, seen in zip((20, 23), ROWS[layer, mask], strict=True):
        path = tmp_path / f"{opset}.onnx"
        page["write_file"](model, x, given, path, opset)
        assert [answer(program, path, x, given, expected) for program in PROGRAMS] == seen.split(", ")


def answer(program, path, x, mask, expected):
    """Say what the row of the second word is, in which a causal mask leaves no key here."""
    try:
        output = torch.tensor(program(path, [x.numpy(), mask.numpy()])[0])
    except Exception as refusal:  # each program has errors of its own
        assert "inconsistent q_sequence_length (between attn_mask and Q)" in str(refusal)
        return "refused"
    expected = expected[0] if isinstance(expected, tuple) else expected
    others = torch.arange(5) != 1
    torch.testing.assert_close(output[:, others], expected[:, others], atol=1e-5, rtol=0)
    if torch.allclose(output, expected, atol=1e-5):
        return "right"
    if output[:, 1].isnan().all():
        return "NaN"
    return "something else" if output[:, 1].any() else "zeros"
