#!/usr/bin/env bash
# coremltools 9.0, scaled_dot_product_attention whose query, key and value are constants, and a mask that comes in.
# Guess: the mask hides keys, as it does when one of the three comes in as well.
# Seen: while it converts, it computes the operator from its constants, and leaves out the mask, which it does
# not know yet. The model that comes out returns one fixed answer, that without a mask; its input is not used.
# Who meets it: learned queries over a learned memory of which each call may see a part, as slots or prompts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet coremltools==9.0 numpy==2.4.6
"$folder/venv/bin/python" -I - 2>/dev/null <<'PY'
from importlib.metadata import version

import coremltools
import numpy as np
from coremltools.converters.mil import Builder

print("coremltools", version("coremltools"))
target = coremltools.target.iOS18
mask, query = (Builder.TensorSpec(shape=(1, 3, 3)) for _ in range(2))
memory = np.eye(3, dtype=np.float32)[None]
zeros = np.zeros_like(memory)


@Builder.program(input_specs=[mask], opset_version=target)
def of_constants(mask):
    return Builder.scaled_dot_product_attention(query=zeros, key=memory, value=memory, attn_mask=mask)


@Builder.program(input_specs=[mask, query], opset_version=target)
def of_a_query(mask, query):
    return Builder.scaled_dot_product_attention(query=query, key=memory, value=memory, attn_mask=mask)


for program in (of_constants, of_a_query):
    model = coremltools.convert(
        program,
        convert_to="mlprogram",
        minimum_deployment_target=target,
        compute_precision=coremltools.precision.FLOAT32,
    )
    function = model._mil_program.functions["main"]
    operators = [operator.op_type for operator in function.operations if operator.op_type != "const"]
    output = function.outputs[0].val
    print("operators:", operators, "and the output is", "computed" if output is None else "fixed:")
    if output is not None:
        print(output.round(3))
    if program is of_constants:
        assert "scaled_dot_product_attention" not in operators
        assert np.allclose(output, 1 / 3, atol=1e-4)
    else:
        assert "scaled_dot_product_attention" in operators and output is None
PY
