"""ONNX's operator by its reference, onnxruntime and openvino, and operators that each of the latter has."""

import numpy
import onnxruntime
import openvino
from child import Adapter, back, convert  # noqa: F401
from ml_dtypes import bfloat16
from onnx import helper
from onnx.reference import ReferenceEvaluator
from openvino import opset13

INPUTS = {  # of onnxruntime's own operators, in order; "" is one that is not given
    "MultiHeadAttention": ["q", "k", "v", "", "", "mask"],
    "GroupQueryAttention": ["q", "k", "v", "past_k", "past_v", "n_k - 1", "n_k", "", "", "", "mask"],
}


def named(q, k, v, mask):
    return {"q": q, "k": k, "v": v} | ({} if mask is None else {"mask": mask})


def file_of(given, operator, **options):
    """Return the bytes of a file with one operator, for inputs of these types and shapes."""
    kinds = {name: helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in given.items()}
    inputs = [helper.make_tensor_value_info(name, kinds[name], x.shape) for name, x in given.items()]
    output = helper.make_tensor_value_info("output", kinds["q"], None)
    names = [name if name in given else "" for name in INPUTS.get(operator, given)]
    more = ["present_k", "present_v"] if "past_k" in given else []
    node = helper.make_node(operator, names, ["output", *more], **options)
    graph = helper.make_graph([node], "attention", inputs, [output])
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=11).SerializeToString()


def standard(run):
    def attend(q, k, v, mask, causal):
        given = named(q, k, v, mask)
        return run(file_of(given, "Attention", is_causal=int(causal)), given)

    return Adapter(attend)


def in_the_reference(file, given):
    return ReferenceEvaluator(file).run(None, given)[0]


def in_onnxruntime(file, given):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    return session.run(None, given)[0]


def microsofts_own(operator, given, heads, **options):
    file = file_of(given, operator, domain="com.microsoft", num_heads=heads, **options)
    return in_onnxruntime(file, given)


def multi_head(q, k, v, mask, causal, heads):
    """A mask that is added has its own input, attention_bias; bool masks are for padding alone."""
    return microsofts_own("MultiHeadAttention", named(q, k, v, mask), heads, unidirectional=int(causal))


def grouped_queries(q, k, v, mask, causal):
    """Keys beyond the number of queries are a cache."""
    _, h, n_q, d = q.shape
    new = [x[:, :, -n_q:].swapaxes(1, 2).reshape(1, n_q, -1) for x in (q, k, v)]
    given = named(*new, None if mask is None else mask[None, None])
    given |= {"past_k": k[:, :, :-n_q], "past_v": v[:, :, :-n_q]}
    n_k = numpy.array([k.shape[2]], numpy.int32)
    given |= {"n_k - 1": n_k - 1, "n_k": n_k}
    options = {"kv_num_heads": k.shape[1], "causal": int(causal)}
    output = microsofts_own("GroupQueryAttention", given, h, **options)
    return output.reshape(1, n_q, h, d).swapaxes(1, 2)


def in_openvino(model, given):
    """A model is one of openvino's, or the bytes of a file."""
    model = openvino.Core().read_model(model) if isinstance(model, bytes) else model
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


CALLABLES = {
    "onnx": {"onnx's reference, Attention of opset 23": standard(in_the_reference)},
    "onnxruntime": {
        "onnxruntime, Attention of opset 23": standard(in_onnxruntime),
        "onnxruntime, com.microsoft.MultiHeadAttention": Adapter(multi_head, "b n hd", 4, shares_heads=False),
        "onnxruntime, com.microsoft.GroupQueryAttention": Adapter(grouped_queries),
    },
    "openvino": {
        "openvino.opset13.scaled_dot_product_attention": Adapter(openvinos_own),
        "openvino, Attention of opset 23 from a file": standard(in_openvino),
    },
}
