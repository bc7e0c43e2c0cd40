"""paddle on a CPU."""

import numpy
import paddle
from child import no_flag, one_number_of_heads, wide
from paddle.nn import functional as F


def convert(array, dtype):
    return paddle.to_tensor(array).cast(dtype)


def back(output):
    return output.cast("float32").numpy()


def turned(x):
    return x.transpose([0, 2, 1, 3])  # (b, h, n, d) <-> (b, n, h, d)


def function(q, k, v, mask, causal):
    given = {"attn_mask": wide(mask), "is_causal": causal}
    return turned(F.scaled_dot_product_attention(*map(turned, (q, k, v)), **given))


def layer(q, k, v, mask, causal):
    no_flag(causal)
    one_number_of_heads(q, k)
    width = q.shape[1] * q.shape[-1]
    layer = paddle.nn.MultiHeadAttention(width, q.shape[1])
    for parameter in layer.parameters():
        eye = numpy.eye(width) if parameter.ndim == 2 else numpy.zeros(width)
        parameter.set_value(convert(eye, "float32"))
    output = layer.astype(q.dtype)(*(turned(x).flatten(2) for x in (q, k, v)), attn_mask=wide(mask))
    return turned(output.reshape([1, -1, q.shape[1], q.shape[-1]]))


CALLABLES = {
    "paddlepaddle": {
        "paddle.nn.functional.scaled_dot_product_attention": function,
        "paddle.nn.MultiHeadAttention": layer,
    }
}
