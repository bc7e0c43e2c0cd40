"""paddle on a CPU."""

import numpy
import paddle
from child import Adapter, function
from paddle.nn import functional as F


def convert(array, dtype):
    return paddle.to_tensor(array).cast(dtype)


def back(output):
    return output.cast("float32").numpy()


def layer(q, k, v, mask, causal, heads):
    width = q.shape[-1]
    layer = paddle.nn.MultiHeadAttention(width, heads)
    for parameter in layer.parameters():
        eye = numpy.eye(width) if parameter.ndim == 2 else numpy.zeros(width)
        parameter.set_value(convert(eye, "float32"))
    return layer.astype(q.dtype)(q, k, v, attn_mask=mask)


CALLABLES = {
    "paddlepaddle": {
        "paddle.nn.functional.scaled_dot_product_attention": function(
            F.scaled_dot_product_attention, "attn_mask"
        ),
        "paddle.nn.MultiHeadAttention": Adapter(layer, "b n hd", 4, takes_flag=False, shares_heads=False),
    }
}
