"""What converters make of an attention: Core ML tools fold constants, ncnn and LiteRT run what they made."""

import coremltools
import litert_torch
import ncnn
import numpy
import torch
from child import Adapter, back, convert  # noqa: F401
from coremltools.converters.mil import Builder
from coremltools.converters.mil.mil import Function
from ml_dtypes import bfloat16
from torch.nn import functional as F


def folded(q, k, v, mask, causal):
    """Core ML tools run nothing here, but compute an operator whose inputs are all known."""
    given = {"query": q, "key": k, "value": v} | ({} if mask is None else {"attn_mask": mask})
    with Function({}, opset_version=coremltools.target.iOS18):
        return Builder.scaled_dot_product_attention(**given).val


def in_ncnn(q, k, v, mask, causal):
    given = {"q": q, "k": k, "v": v} | ({} if mask is None else {"mask": mask})
    lines = [f"Input {name} 0 1 {name}" for name in given]
    lines.append(f"SDPA attention {len(given)} 1 {' '.join(given)} output 5={int('mask' in given)}")
    net = ncnn.Net()
    net.opt.use_bf16_storage = q.dtype == bfloat16
    net.load_param_mem("\n".join(["7767517", f"{len(lines)} {len(lines)}", *lines, ""]))
    net.load_model_mem(b"")
    with net.create_extractor() as extractor:
        given = {name: numpy.ascontiguousarray(x, numpy.float32) for name, x in given.items()}
        for name, x in given.items():
            extractor.input(name, ncnn.Mat(x.reshape(x.shape[-3:])))
        return numpy.array(extractor.extract("output")[1])[None]


def in_litert(q, k, v, mask, causal):
    class Layer(torch.nn.Module):
        def forward(self, q, k, v, mask=None):
            shared = q.shape[1] != k.shape[1]
            return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal, enable_gqa=shared)

    given = [torch.tensor(x.astype(numpy.float32)).to(getattr(torch, str(x.dtype))) for x in (q, k, v)]
    given += [] if mask is None else [torch.tensor(mask)]
    return litert_torch.convert(Layer().eval(), tuple(given))(*given)


CALLABLES = {
    "coremltools": {"coremltools, constants folded": Adapter(folded, takes_flag=False)},
    "ncnn": {"ncnn, layer SDPA": Adapter(in_ncnn, takes_flag=False)},
    "litert-torch": {"litert_torch of F.scaled_dot_product_attention": Adapter(in_litert)},
}
