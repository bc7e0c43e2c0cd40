"""openvino's own operator, and ONNX's operator as openvino reads it from a file."""

import numpy
import openvino
import with_onnx
from openvino import opset13
from with_onnx import back, convert, named  # noqa: F401


def run(model, given):
    compiled = openvino.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    output = compiled([tensor(x) for x in given.values()])[0]
    return output.view(given["q"].dtype) if given["q"].dtype == with_onnx.bfloat16 else output


def kind(x):
    return openvino.Type.bf16 if x.dtype == with_onnx.bfloat16 else openvino.Type(x.dtype)


def tensor(x):
    if x.dtype != with_onnx.bfloat16:
        return openvino.Tensor(numpy.ascontiguousarray(x))
    return openvino.Tensor(numpy.ascontiguousarray(x).view(numpy.uint16), x.shape, kind(x))


def own(q, k, v, mask, causal):
    given = named(q, k, v, mask)
    parameters = [opset13.parameter(x.shape, kind(x)) for x in given.values()]
    node = opset13.scaled_dot_product_attention(*parameters, causal=causal)
    return run(openvino.Model([node], parameters), given)


def from_file(opset):
    def attend(q, k, v, mask, causal):
        given = named(q, k, v, mask)
        model = with_onnx.attention_model(given, with_onnx.kinds_of(given), causal, opset).SerializeToString()
        return run(openvino.Core().read_model(model), given)

    return attend


CALLABLES = {
    "openvino": {
        "openvino.opset13.scaled_dot_product_attention": own,
        "openvino, Attention of opset 23 from a file": from_file(23),
    }
}
