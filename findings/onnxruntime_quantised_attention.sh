#!/usr/bin/env bash
# onnxruntime 1.31.1: quantize_dynamic (its defaults) on a file with the standard operator Attention (opset 23).
# Guess: the operator is left in float32, or quantised; the file written can be run.
# Seen: the operator is taken for onnxruntime's own older Attention of the same name, whose inputs are the words and
# one stacked matrix. A QAttention is written with query and key for those, and the session refuses the file. Nothing
# is said while quantising. op_types_to_quantize=["MatMul"] leaves the operator alone.
# Who meets it: whoever exports attention at opset 23 and makes it small.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet onnx==1.23.2 onnxruntime==1.31.1 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import quantize_dynamic

print("onnx", onnx.__version__, "onnxruntime", onnxruntime.__version__)
random = np.random.default_rng(0)
weight = numpy_helper.from_array((random.normal(size=(16, 16)) / 4).astype(np.float32), "W")
nodes = [helper.make_node("MatMul", ["x", "W"], ["q"])]
nodes.append(helper.make_node("Attention", ["q", "q", "x"], ["y"], q_num_heads=4, kv_num_heads=4))
ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 5, 16]) for name in "xy"]
graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [weight])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
onnx.checker.check_model(model)
words = random.normal(size=(1, 5, 16)).astype(np.float32)


def run(path):
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": words})[0]


with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/float32.onnx")
    expected = run(f"{folder}/float32.onnx")
    for name, choice in {"defaults": {}, "MatMul alone": {"op_types_to_quantize": ["MatMul"]}}.items():
        quantize_dynamic(f"{folder}/float32.onnx", f"{folder}/int8.onnx", **choice)
        kinds = [node.op_type for node in onnx.load(f"{folder}/int8.onnx").graph.node]
        try:
            answer = f"off float32 by {np.abs(run(f'{folder}/int8.onnx') - expected).max():.4f}"
        except Exception as refusal:
            answer = f"refused: {str(refusal)[-70:]}"
        print(f"{name}: {kinds}; {answer}")
        assert ("QAttention" in kinds) == answer.startswith("refused") == (name == "defaults")
PY
