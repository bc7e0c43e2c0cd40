"""keras, with the backend that the environment variable KERAS_BACKEND names."""

import keras
import numpy
from child import Adapter, function
from keras import ops
from keras.layers import GroupQueryAttention, MultiHeadAttention

BACKEND = keras.backend.backend()


def convert(array, dtype):
    return ops.convert_to_tensor(array, dtype)


def back(output):
    return ops.convert_to_numpy(ops.cast(output, "float32"))


def layer(kind, dropout=0.0, **asked):
    """A layer of identity matrices, without biases: what goes in is what the heads get."""

    def attend(q, k, v, mask, causal, heads):
        d = q.shape[-1] // heads
        sizes = (heads, d) if kind is MultiHeadAttention else (d, heads, k.shape[-1] // d)
        layer = kind(*sizes, dropout=dropout, dtype=keras.backend.standardize_dtype(q.dtype))
        layer.build(q.shape, v.shape, k.shape)
        for weight in layer.weights:
            size = int(numpy.prod(weight.shape))
            values = numpy.eye(int(size**0.5)) if "kernel" in weight.name else numpy.zeros(size)
            weight.assign(values.reshape(weight.shape))
        output = layer(q, v, k, attention_mask=mask, use_causal_mask=causal, **asked)
        return output[0] if asked else output

    return Adapter(attend, "b n hd", 3, shares_heads=kind is GroupQueryAttention)


LAYER = f"keras.layers.MultiHeadAttention on {BACKEND}"
CALLABLES = {
    "keras": {
        f"keras.ops.dot_product_attention on {BACKEND}": function(ops.dot_product_attention),
        LAYER: layer(MultiHeadAttention),
        f"{LAYER}, scores returned": layer(MultiHeadAttention, return_attention_scores=True),
        f"{LAYER}, built with dropout": layer(MultiHeadAttention, dropout=0.1),
        f"keras.layers.GroupQueryAttention on {BACKEND}": layer(GroupQueryAttention),
    }
}
