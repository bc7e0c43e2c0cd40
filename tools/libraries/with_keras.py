"""keras, with the backend that the environment variable KERAS_BACKEND names."""

import keras
import numpy
from child import one_number_of_heads, wide
from keras import ops

BACKEND = keras.backend.backend()


def convert(array, dtype):
    return ops.convert_to_tensor(array, dtype)


def back(output):
    return ops.convert_to_numpy(ops.cast(output, "float32"))


def turned(x):
    return ops.transpose(x, (0, 2, 1, 3))  # (b, h, n, d) <-> (b, n, h, d)


def function(q, k, v, mask, causal):
    given = {"mask": wide(mask), "is_causal": causal}
    return turned(ops.dot_product_attention(*map(turned, (q, k, v)), **given))


def merged(x):
    return ops.reshape(turned(x), (x.shape[0], x.shape[2], -1))


def called(layer, q, k, v, mask, causal, **asked):
    """Call a layer of identity matrices, without biases: what goes in is what the heads get."""
    layer.build(*(merged(x).shape for x in (q, v, k)))
    for weight in layer.weights:
        size = int(numpy.prod(weight.shape))
        values = numpy.eye(int(size**0.5)) if "kernel" in weight.name else numpy.zeros(size)
        weight.assign(values.reshape(weight.shape))
    mask = None if mask is None else mask[None]
    output = layer(merged(q), merged(v), merged(k), attention_mask=mask, use_causal_mask=causal, **asked)
    output = output[0] if asked else output
    return turned(ops.reshape(output, (1, output.shape[1], q.shape[1], q.shape[-1])))


def kind_of(x):
    return keras.backend.standardize_dtype(x.dtype)


def layer(dropout=0.0, **asked):
    def attend(q, k, v, mask, causal):
        one_number_of_heads(q, k)
        layer = keras.layers.MultiHeadAttention(q.shape[1], q.shape[-1], dropout=dropout, dtype=kind_of(q))
        return called(layer, q, k, v, mask, causal, **asked)

    return attend


def grouped(q, k, v, mask, causal):
    sizes = q.shape[-1], q.shape[1], k.shape[1]
    return called(keras.layers.GroupQueryAttention(*sizes, dtype=kind_of(q)), q, k, v, mask, causal)


LAYER = f"keras.layers.MultiHeadAttention on {BACKEND}"
CALLABLES = {
    "keras": {
        f"keras.ops.dot_product_attention on {BACKEND}": function,
        LAYER: layer(),
        f"{LAYER}, scores returned": layer(return_attention_scores=True),
        f"{LAYER}, built with dropout": layer(dropout=0.1),
        f"keras.layers.GroupQueryAttention on {BACKEND}": grouped,
    }
}
