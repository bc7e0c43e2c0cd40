"""keras, with the backend that the environment variable KERAS_BACKEND names."""

import keras
import numpy
from child import one_number_of_heads
from keras import ops

BACKEND = keras.backend.backend()


def convert(array, dtype):
    return ops.convert_to_tensor(array, dtype)


def back(output):
    return ops.convert_to_numpy(ops.cast(output, "float32"))


def turned(x):
    return ops.transpose(x, (0, 2, 1, 3))  # (b, h, n, d) <-> (b, n, h, d)


def function(q, k, v, mask, causal):
    mask = None if mask is None else mask[None, None]
    return turned(ops.dot_product_attention(*map(turned, (q, k, v)), mask=mask, is_causal=causal))


def merged(x):
    return ops.reshape(turned(x), (x.shape[0], x.shape[2], -1))


def layer(**options):
    def attend(q, k, v, mask, causal):
        one_number_of_heads(q, k)
        heads, d = q.shape[1], q.shape[-1]
        layer = keras.layers.MultiHeadAttention(
            heads, d, dtype=keras.backend.standardize_dtype(q.dtype), **settings
        )
        layer.build(*(merged(x).shape for x in (q, v, k)))
        for weight in layer.weights:
            eye = (
                numpy.eye(heads * d).reshape(weight.shape)
                if "kernel" in weight.name
                else numpy.zeros(weight.shape)
            )
            weight.assign(eye)
        mask = None if mask is None else mask[None]
        output = layer(merged(q), merged(v), merged(k), attention_mask=mask, use_causal_mask=causal, **asked)
        output = output[0] if asked else output
        return turned(ops.reshape(output, (1, output.shape[1], heads, d)))

    asked = {name: options.pop(name) for name in ("return_attention_scores",) if name in options}
    settings = options
    return attend


def grouped(q, k, v, mask, causal):
    sizes = q.shape[-1], q.shape[1], k.shape[1]
    layer = keras.layers.GroupQueryAttention(*sizes, dtype=keras.backend.standardize_dtype(q.dtype))
    layer.build(*(merged(x).shape for x in (q, v, k)))
    for weight in layer.weights:
        size = int(numpy.prod(weight.shape)) if "kernel" in weight.name else 0
        eye = numpy.eye(int(size**0.5)) if size else numpy.zeros(weight.shape)
        weight.assign(eye.reshape(weight.shape))
    mask = None if mask is None else mask[None]
    output = layer(merged(q), merged(v), merged(k), attention_mask=mask, use_causal_mask=causal)
    return turned(ops.reshape(output, (1, output.shape[1], q.shape[1], q.shape[-1])))


CALLABLES = {
    f"keras.ops.dot_product_attention on {BACKEND}": function,
    f"keras.layers.MultiHeadAttention on {BACKEND}": layer(),
    f"keras.layers.MultiHeadAttention on {BACKEND}, scores returned": layer(return_attention_scores=True),
    f"keras.layers.MultiHeadAttention on {BACKEND}, built with dropout": layer(dropout=0.1),
    f"keras.layers.GroupQueryAttention on {BACKEND}": grouped,
}
PACKAGES = dict.fromkeys(CALLABLES, "keras")
