#!/usr/bin/env bash
# onnx 1.23.2: the reference evaluator on Attention (opset 23) with a softcap, scores asked for (fourth output).
# Guess: qk_matmul_output_mode=0, the plain product of query and key, is the same with and without a softcap, and the
# reference is what others are measured by.
# Seen: with a softcap the reference hands out the capped scores; onnxruntime 1.31.1 gives the plain product. The
# attended output is the same in both.
# Who meets it: whoever looks for the scores that a cap holds back, or tests a runtime against the reference.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet onnx==1.23.2 onnxruntime==1.31.1 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

print("onnx", onnx.__version__, "onnxruntime", onnxruntime.__version__)
numbers = np.random.default_rng(0).normal(size=(3, 1, 2, 4, 8)).astype(np.float32)
inputs = dict(zip("QKV", numbers))
plain = inputs["Q"] @ inputs["K"].swapaxes(-1, -2) / 8**0.5


def attention(softcap):
    node = helper.make_node("Attention", [*"QKV"], ["Y", "", "", "S"], qk_matmul_output_mode=0, softcap=softcap)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2, 4, 8]) for name in "QKV"]
    ends += [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "YS"]
    graph = helper.make_graph([node], "g", ends[:3], ends[3:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)


for softcap in (0.0, 0.5):
    model = attention(softcap)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    output, scores = session.run(None, inputs)
    expected, reference = ReferenceEvaluator(model).run(None, inputs)
    off = [np.abs(seen - plain).max() for seen in (scores, reference)]
    print(f"softcap {softcap}: off q @ k / sqrt(d_k) by {off[0]:.4f} in onnxruntime, {off[1]:.4f} in the reference;", end=" ")
    print(f"the reference's largest score {np.abs(reference).max():.4f}")
    assert np.allclose(output, expected, atol=1e-5) and off[0] < 1e-5
    if softcap:
        assert off[1] > 0.1 and np.allclose(reference, softcap * np.tanh(plain / softcap), atol=1e-5)
    else:
        assert off[1] < 1e-5
PY
