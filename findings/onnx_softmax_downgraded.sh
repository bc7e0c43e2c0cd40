#!/usr/bin/env bash
# onnx 1.23.2: version_converter from opset 13 to 11, with a Softmax over an axis that is not the last.
# Guess: the file computes the same, or the conversion is refused.
# Seen: until opset 12 Softmax flattened all axes from the given one on and took one softmax of all those numbers. On
# the way up, the converter adds the nodes that this needs. On the way down it changes the number of the opset
# alone: weights that added up to 1 over the keys add up to 1 over keys and queries together.
# Who meets it: whoever ships to an older runtime a model whose keys stand on the last axis but one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet onnx==1.23.2 onnxruntime==1.31.1 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, version_converter

print("onnx", onnx.__version__, "onnxruntime", onnxruntime.__version__)
scores = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)


def softmax(axis, opset):
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3, 4]) for name in "XY"]
    graph = helper.make_graph([helper.make_node("Softmax", ["X"], ["Y"], axis=axis)], "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)


def run(model):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": scores})[0]


off = {}
for start, goal, axis in ((11, 13, 1), (13, 11, 2), (13, 11, 1)):
    model = softmax(axis, start)
    other = version_converter.convert_version(model, goal)
    onnx.checker.check_model(other)
    off[start, axis] = np.abs(run(model) - run(other)).max()
    nodes = [node.op_type for node in other.graph.node]
    print(f"opset {start} to {goal}, axis {axis}: nodes {nodes}, the output moves by {off[start, axis]:.4f}")
print("sums over axis 1 after 13 to 11:", run(other).sum(1).round(2).tolist())
assert off[11, 1] < 1e-6 and off[13, 2] < 1e-6 and off[13, 1] > 0.1
assert np.allclose(run(other).sum((1, 2)), 1, atol=1e-5)
PY
