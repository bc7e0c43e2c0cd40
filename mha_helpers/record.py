"""record_attention: the weights of any model that is made of PyTorch's own attention layers."""

import contextlib
import functools
import inspect

import torch
from torch import nn


@contextlib.contextmanager
def record_attention(model):
    """Gather the weights of every ``nn.MultiheadAttention`` in a model while the ``with`` lasts.

    It hands out a dict that each call of the model fills: name of the layer -> weights, ``(b, h, n_q, n_k)``,
    of its last call and before dropout; cross-attention, too. ``attention_view`` takes it as it is. The
    output stays the same, because each layer is asked a second time, for its weights alone. PyTorch's fast
    path goes round the layers, so it is off until the end of the ``with``: only the zeros are missing that
    it writes to padded places.

    Without such a layer the dict stays empty. Used in notebook deeper/09_in_your_own_model.

    >>> model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, batch_first=True), 2).eval()
    >>> with record_attention(model) as recorded:
    ...     output = model(torch.zeros(1, 3, 8))
    >>> {name: tuple(weights.shape) for name, weights in recorded.items()}
    {'layers.0.self_attn': (1, 2, 3, 3), 'layers.1.self_attn': (1, 2, 3, 3)}
    """
    layers = {name: part for name, part in model.named_modules() if isinstance(part, nn.MultiheadAttention)}
    recorded, fast = {}, torch.backends.mha.get_fastpath_enabled()
    with contextlib.ExitStack() as until_the_end:
        until_the_end.callback(torch.backends.mha.set_fastpath_enabled, fast)
        torch.backends.mha.set_fastpath_enabled(False)
        for name, layer in layers.items():
            hook = functools.partial(_record, recorded, name)
            until_the_end.callback(layer.register_forward_hook(hook, with_kwargs=True).remove)
        yield recorded


@torch.no_grad()
def _record(recorded, name, layer, given, named, output):
    call = inspect.signature(layer.forward).bind(*given, **named).arguments
    call |= {"need_weights": True, "average_attn_weights": False}
    dropout, layer.dropout = layer.dropout, 0.0
    try:
        recorded[name] = layer.forward(**call)[1]
    finally:
        layer.dropout = dropout
