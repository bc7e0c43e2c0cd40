"""ONNX's operator by its reference evaluator and by onnxruntime, and two operators of onnxruntime's own."""

import numpy
import onnxruntime
from child import one_number_of_heads, wide
from ml_dtypes import bfloat16
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

KINDS = {
    "float": TensorProto.FLOAT, "float32": TensorProto.FLOAT, "half": TensorProto.FLOAT16,
    "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16, "bool": TensorProto.BOOL,
    "long": TensorProto.INT64, "int64": TensorProto.INT64,
}  # fmt: skip


def convert(array, dtype):
    return array.astype(bfloat16 if dtype == "bfloat16" else dtype)


def back(output):
    return output.astype(numpy.float32)


def model_of(given, kinds, node, opset):
    inputs = [helper.make_tensor_value_info(name, kinds[name], x.shape) for name, x in given.items()]
    output = helper.make_tensor_value_info("output", kinds["q"], None)
    graph = helper.make_graph([node], "attention", inputs, [output])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=11)


def attention_model(given, kinds, causal, opset):
    node = helper.make_node("Attention", list(given), ["output"], is_causal=int(causal))
    return model_of(given, kinds, node, opset)


def run(model, given):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    model, providers = model.SerializeToString(), ["CPUExecutionProvider"]
    return onnxruntime.InferenceSession(model, options, providers=providers).run(None, given)[0]


def named(q, k, v, mask):
    return {"q": q, "k": k, "v": v} | ({} if mask is None else {"mask": mask})


def kinds_of(given):
    return {name: KINDS[str(x.dtype)] for name, x in given.items()}


def standard(opset, evaluate):
    def attend(q, k, v, mask, causal):
        given = named(q, k, v, mask)
        return evaluate(attention_model(given, kinds_of(given), causal, opset), given)

    return attend


def reference(model, given):
    return ReferenceEvaluator(model).run(None, given)[0]


def merged(x):
    return numpy.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(x.shape[0], x.shape[2], -1)


def split(output, like):
    return output.reshape(*output.shape[:2], -1, like.shape[-1]).transpose(0, 2, 1, 3)


def microsoft_attention(q, k, v, mask, causal):
    """A mask that is added has its own input, attention_bias; bool masks are for padding alone."""
    one_number_of_heads(q, k)
    given = named(merged(q), merged(k), merged(v), wide(mask))
    names = ["q", "k", "v", "", "", "mask" if mask is not None else ""]
    options = {"num_heads": q.shape[1], "unidirectional": int(causal)}
    node = helper.make_node("MultiHeadAttention", names, ["output"], domain="com.microsoft", **options)
    return split(run(model_of(given, kinds_of(given), node, 21), given), q)


CALLABLES = {
    "onnx": {f"onnx's reference, Attention of opset {n}": standard(n, reference) for n in (23, 24)},
    "onnxruntime": {f"onnxruntime, Attention of opset {n}": standard(n, run) for n in (23, 24)}
    | {"onnxruntime, com.microsoft.MultiHeadAttention": microsoft_attention},
}
