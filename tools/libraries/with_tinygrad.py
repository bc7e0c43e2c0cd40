"""tinygrad's function, and its reading of ONNX's operator."""

import tempfile
from pathlib import Path

from child import Adapter
from tinygrad import Tensor, dtypes
from tinygrad.nn.onnx import OnnxRunner
from with_onnx import standard


def convert(array, dtype):
    return Tensor(array).cast(getattr(dtypes, dtype))


def back(output):
    return output.float().numpy()


def function(q, k, v, mask, causal):
    shared = q.shape[1] != k.shape[1]
    return q.scaled_dot_product_attention(k, v, mask, is_causal=causal, enable_gqa=shared)


def reading(content, given):
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        Path(file.name).write_bytes(content)
        return OnnxRunner(file.name)(given)["output"].realize()


CALLABLES = {
    "tinygrad": {
        "tinygrad Tensor.scaled_dot_product_attention": Adapter(function),
        "tinygrad, Attention of opset 23 from a file": standard(23, reading),
    }
}
