"""tvm, which compiles its operator."""

import ml_dtypes  # noqa: F401 – so that NumPy has bfloat16
import tvm
from child import Adapter, back, convert  # noqa: F401


def attention(q, k, v, mask, causal):
    builder = tvm.relax.BlockBuilder()
    given = [x for x in (q, k, v, mask) if x is not None]
    kinds = [tvm.relax.TensorType(x.shape, str(x.dtype)) for x in given]
    inputs = [tvm.relax.Var(f"x{i}", kind) for i, kind in enumerate(kinds)]
    with builder.function("main", inputs):
        node = tvm.relax.op.nn.attention(*inputs, causal_mask="TopLeft" if causal else None)
        builder.emit_func_output(builder.emit(node))
    machine = tvm.relax.VirtualMachine(tvm.compile(builder.get(), "llvm"), tvm.cpu())
    return machine["main"](*map(tvm.runtime.tensor, given)).numpy()


CALLABLES = {"apache-tvm": {"tvm.relax.op.nn.attention, TopLeft": Adapter(attention, "b n h d", 4)}}
