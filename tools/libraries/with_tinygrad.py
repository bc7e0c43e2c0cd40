"""tinygrad's function, and its reading of ONNX's operator."""

import tempfile
from pathlib import Path

import numpy
from child import Adapter, convert  # noqa: F401
from tinygrad import Tensor, dtypes
from tinygrad.nn.onnx import OnnxRunner
from with_onnx import standard


def tensor(array):
    readable = array.astype(numpy.float32) if str(array.dtype) == "bfloat16" else array
    return Tensor(readable).cast(getattr(dtypes, str(array.dtype)))


def back(output):
    return output.float().numpy()


def function(q, k, v, mask, causal):
    q, k, v = map(tensor, (q, k, v))
    mask = None if mask is None else tensor(mask)
    shared = q.shape[1] != k.shape[1]
    return q.scaled_dot_product_attention(k, v, mask, is_causal=causal, enable_gqa=shared)


def reading(content, given):
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        Path(file.name).write_bytes(content)
        return OnnxRunner(file.name)({name: tensor(x) for name, x in given.items()})["output"].realize()


CALLABLES = {
    "tinygrad": {
        "tinygrad Tensor.scaled_dot_product_attention": Adapter(function),
        "tinygrad, Attention of opset 23 from a file": standard(reading),
    }
}
