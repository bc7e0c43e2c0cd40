"""tinygrad's function, and its reading of ONNX's operator."""

import tempfile
from pathlib import Path

import with_onnx
from tinygrad import Tensor, dtypes
from tinygrad.nn.onnx import OnnxRunner


def convert(array, dtype):
    return Tensor(array).cast(getattr(dtypes, dtype))


def back(output):
    return output.float().numpy()


def function(q, k, v, mask, causal):
    shared = q.shape[1] != k.shape[1]
    return q.scaled_dot_product_attention(k, v, mask, is_causal=causal, enable_gqa=shared)


def reading(q, k, v, mask, causal):
    given = with_onnx.named(q, k, v, mask)
    kinds = {name: with_onnx.KINDS[str(x.dtype).removeprefix("dtypes.")] for name, x in given.items()}
    model = with_onnx.attention_model(given, kinds, causal, 23)
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        Path(file.name).write_bytes(model.SerializeToString())
        return OnnxRunner(file.name)(given)["output"].realize()


CALLABLES = {
    "tinygrad": {
        "tinygrad Tensor.scaled_dot_product_attention": function,
        "tinygrad, Attention of opset 23 from a file": reading,
    }
}
