"""ONNX's operator by its reference, onnxruntime and openvino, and an operator that each of the latter has."""

import numpy
import onnxruntime
import openvino
from child import Adapter
from ml_dtypes import bfloat16
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from openvino import opset13

KINDS = {
    "float": TensorProto.FLOAT, "float32": TensorProto.FLOAT, "half": TensorProto.FLOAT16,
    "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16, "bool": TensorProto.BOOL,
    "long": TensorProto.INT64, "int64": TensorProto.INT64,
}  # fmt: skip


def convert(array, dtype):
    return array.astype(bfloat16 if dtype == "bfloat16" else dtype)


def back(output):
    return output.astype(numpy.float32)


def named(q, k, v, mask):
    return {"q": q, "k": k, "v": v} | ({} if mask is None else {"mask": mask})


def file_of(given, operator, names, opset=23, **options):
    """Return the bytes of a file with one operator, for inputs of these types and shapes."""
    kinds = {name: KINDS[str(x.dtype).removeprefix("dtypes.")] for name, x in given.items()}
    inputs = [helper.make_tensor_value_info(name, kinds[name], x.shape) for name, x in given.items()]
    output = helper.make_tensor_value_info("output", kinds["q"], None)
    node = helper.make_node(operator, names, ["output"], **options)
    graph = helper.make_graph([node], "attention", inputs, [output])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=11).SerializeToString()


def standard(opset, run):
    def attend(q, k, v, mask, causal):
        given = named(q, k, v, mask)
        return run(file_of(given, "Attention", list(given), opset, is_causal=int(causal)), given)

    return Adapter(attend)


def in_the_reference(file, given):
    return ReferenceEvaluator(file).run(None, given)[0]


def in_onnxruntime(file, given):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    return session.run(None, given)[0]


def microsoft_attention(q, k, v, mask, causal, heads):
    """A mask that is added has its own input, attention_bias; bool masks are for padding alone."""
    names = ["q", "k", "v", "", "", "mask" if mask is not None else ""]
    options = {"domain": "com.microsoft", "num_heads": heads, "unidirectional": int(causal)}
    given = named(q, k, v, mask)
    return in_onnxruntime(file_of(given, "MultiHeadAttention", names, 21, **options), given)


def in_openvino(model, given):
    compiled = openvino.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    output = compiled([tensor(x) for x in given.values()])[0]
    return output.view(given["q"].dtype) if given["q"].dtype == bfloat16 else output


def kind(x):
    return openvino.Type.bf16 if x.dtype == bfloat16 else openvino.Type(x.dtype)


def tensor(x):
    if x.dtype != bfloat16:
        return openvino.Tensor(x)
    return openvino.Tensor(x.view(numpy.uint16), x.shape, kind(x))


def openvinos_own(q, k, v, mask, causal):
    given = named(q, k, v, mask)
    parameters = [opset13.parameter(x.shape, kind(x)) for x in given.values()]
    node = opset13.scaled_dot_product_attention(*parameters, causal=causal)
    return in_openvino(openvino.Model([node], parameters), given)


def read_by_openvino(file, given):
    return in_openvino(openvino.Core().read_model(file), given)


CALLABLES = {
    "onnx": {f"onnx's reference, Attention of opset {n}": standard(n, in_the_reference) for n in (23, 24)},
    "onnxruntime": {
        "onnxruntime, Attention of opset 23": standard(23, in_onnxruntime),
        "onnxruntime, Attention of opset 24": standard(24, in_onnxruntime),
        "onnxruntime, com.microsoft.MultiHeadAttention": Adapter(
            microsoft_attention, "b n hd", 4, shares_heads=False
        ),
    },
    "openvino": {
        "openvino.opset13.scaled_dot_product_attention": Adapter(openvinos_own),
        "openvino, Attention of opset 23 from a file": standard(23, read_by_openvino),
    },
}
