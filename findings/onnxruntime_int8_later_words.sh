#!/usr/bin/env bash
# onnxruntime 1.31.1: quantize_dynamic on the four products with weights of a causal attention layer.
# Guess: int8 costs a little precision; no word sees a later one, and no text its neighbour in the batch.
# Seen: the inputs of each product are rounded in steps of one size for the whole tensor, taken from its largest and
# smallest number at run time. One loud word makes the steps coarse for all: an earlier word's output moves though
# the mask hides the loud one, and so does another text's in the same batch. In float32 both stay as they are.
# Who meets it: whoever tests for causality, compares with and without a cache, or finds that answers depend on
# who else asks.
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
d_model, heads, n = 64, 4, 6
random = np.random.default_rng(0)
weights = [(random.normal(size=(d_model, d_model)) / 8).astype(np.float32) for _ in range(4)]
nodes = [helper.make_node("MatMul", ["x", f"W{i}"], [f"p{i}"]) for i in range(3)]
nodes.append(helper.make_node("Attention", ["p0", "p1", "p2"], ["a"], q_num_heads=heads, kv_num_heads=heads, is_causal=1))
nodes.append(helper.make_node("MatMul", ["a", "W3"], ["y"]))
ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", n, d_model]) for name in "xy"]
tensors = [numpy_helper.from_array(w, f"W{i}") for i, w in enumerate(weights)]
graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], tensors)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)

text = random.normal(size=(1, n, d_model)).astype(np.float32)
loud = text.copy()
loud[0, -1] *= 30
with tempfile.TemporaryDirectory() as folder:
    onnx.save(model, f"{folder}/float32.onnx")
    quantize_dynamic(f"{folder}/float32.onnx", f"{folder}/int8.onnx", op_types_to_quantize=["MatMul"])
    for kind in ("float32", "int8"):
        session = onnxruntime.InferenceSession(f"{folder}/{kind}.onnx", providers=["CPUExecutionProvider"])
        plain, last_loud, both = (session.run(None, {"x": x})[0] for x in (text, loud, np.concatenate([text, loud])))
        earlier = np.abs(last_loud[0, :-1] - plain[0, :-1]).max()
        neighbour = np.abs(both[0] - plain[0]).max()
        print(f"{kind}: a loud last word moves earlier words by {earlier:.4f},", end=" ")
        print(f"a loud neighbour moves the text by {neighbour:.4f} (outputs up to {np.abs(plain).max():.2f})")
        if kind == "float32":
            assert earlier < 1e-5 and neighbour < 1e-5
        else:
            assert earlier > 0.1 and neighbour > 0.1
PY
