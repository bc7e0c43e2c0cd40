"""The class in code of other people: each time beside plain torch, written out in the same test."""

import copy
import itertools
import math
import pickle
import re
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from mha_helpers import MultiHeadAttention, attention_weights, scaled_dot_product_attention
from mha_helpers.masks import causal_mask, padding_mask, sliding_window_mask

MASK = causal_mask(5) & padding_mask([5, 3], 5)


def batch(b=2, n=5, d_model=12):
    return torch.randn(b, n, d_model, generator=torch.Generator().manual_seed(1))


def layer(**options):
    torch.manual_seed(0)
    return MultiHeadAttention(12, 3, **options)


def plain(attention, x, mask=None):
    """The paper in five lines of plain torch, whatever the four parts are."""
    q, k, v = (part(x).view(*x.shape[:-1], 3, 4).transpose(-3, -2) for part in [*attention.children()][:3])
    scores = q @ k.transpose(-2, -1) / 2
    scores = scores if mask is None else scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return attention.w_o((weights @ v).transpose(-3, -2).flatten(-2)), weights


def assert_plain(results, expected, **tolerance):
    for ours, theirs in zip(results, expected, strict=True):
        assert ours.dtype == theirs.dtype and ours.isfinite().all()
        torch.testing.assert_close(ours, theirs, **tolerance)


class SoftmaxInFloat32(TorchFunctionMode):
    """CUDA's rule of autocast, on a machine without CUDA: softmax works in float32 and returns it."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in (torch.softmax, F.softmax) and torch.is_autocast_enabled("cpu"):
            args = (args[0].float(), *args[1:])
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("rule", ["cpu", "cuda"])
@pytest.mark.parametrize("mask", [None, MASK], ids=["no mask", "mask"])
def test_autocast(rule, mask):
    attention, before, x = layer(), nn.Linear(12, 12), batch()
    mode = SoftmaxInFloat32() if rule == "cuda" else warnings.catch_warnings()
    with torch.autocast("cpu", dtype=torch.bfloat16), mode:
        x = before(x)  # bfloat16 meets the layer's float32
        results, expected = attention(x, mask), plain(attention, x, mask)
        fused, _ = attention(x, mask, need_weights=False)
        assert torch.equal(attention.trace(x, mask).output, results[0])
    assert results[0].dtype == fused.dtype == torch.bfloat16
    assert results[1].dtype == (torch.float32 if rule == "cuda" else expected[1].dtype)
    assert_plain(results, expected, atol=2e-2, rtol=2e-2)
    torch.testing.assert_close(fused, results[0], atol=2e-2, rtol=2e-2)
    results[0].sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in attention.parameters())


def test_scores_that_are_too_large_for_float16_before_the_division_do_not_overflow():
    q = torch.full((1, 2, 1024), 12.0, dtype=torch.float16)  # 12 · 12 · 1024 > 65504 > that ÷ 32
    k = q * torch.tensor([[0.5], [1.0]]).half()
    v = torch.tensor([[[1.0], [20.0]]], dtype=torch.float16)
    output, _ = scaled_dot_product_attention(q, k, v)
    assert torch.isinf(q @ k.mT).any()  # the page's order of the same steps
    torch.testing.assert_close(output, F.scaled_dot_product_attention(q, k, v))


class NarrowsItsMask(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = layer().requires_grad_(False)

    def forward(self, x, lengths, mask):
        n = x.shape[1]
        mask = mask & causal_mask(n, device=x.device) & padding_mask(lengths, n)
        return *self.attention(x, mask), self.attention(x, mask, need_weights=False)[0]


def exported(model, given, strict):
    b, n = torch.export.Dim("b"), torch.export.Dim("n")
    sizes = {"x": {0: b, 1: n}, "lengths": {0: b}, "mask": {0: n, 1: n}}
    return torch.export.export(model, given, dynamic_shapes=sizes, strict=strict).module()


GRAPHS = {
    "traced": torch.jit.trace,
    "compiled": lambda model, given: torch.compile(model, backend="eager", fullgraph=True),
    "exported": lambda model, given: exported(model, given, strict=False),
    "exported strictly": lambda model, given: exported(model, given, strict=True),
}


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.filterwarnings("ignore:.*jit.trace", "ignore::torch.jit.TracerWarning")  # it is on its way out
def test_a_graph_of_it_fixes_neither_batch_nor_length_nor_the_lengths_of_sentences(kind):
    model = NarrowsItsMask().eval()
    graph = GRAPHS[kind](model, (batch(), torch.tensor([5, 2]), sliding_window_mask(5, 4)))
    for lengths in ([5, 2], [5, 4], [8, 4, 5]):
        x, window = batch(len(lengths), max(lengths)), sliding_window_mask(max(lengths), 4)
        mask = window & causal_mask(max(lengths)) & padding_mask(lengths, max(lengths))
        output, weights = plain(model.attention, x, mask)
        assert_plain(graph(x, torch.tensor(lengths), window), (output, weights, output))


def test_no_tokens_at_all():
    x, theirs = batch(n=0), nn.MultiheadAttention(12, 3, batch_first=True)
    for output, weights in (layer()(x), layer()(x, torch.ones(0, 0).bool())):
        assert output.shape == theirs(x, x, x)[0].shape == (2, 0, 12) and weights.shape == (2, 3, 0, 0)
    assert layer()(x, need_weights=False)[0].shape == x.shape
    assert layer()(batch(b=0))[0].shape == (0, 5, 12)
    q, nothing = batch(), batch(n=0)
    output, weights = scaled_dot_product_attention(q, nothing, nothing)  # nobody answers: all zeros
    assert torch.equal(output, F.scaled_dot_product_attention(q, nothing, nothing))
    assert attention_weights(weights).shape == weights.shape == (2, 5, 0)


@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_tensor_is_told_to_be_padded(layout):
    nested = torch.nested.nested_tensor([torch.zeros(3, 12), torch.zeros(5, 12)], layout=layout)
    with pytest.raises(TypeError, match=r"x is a nested tensor.*to_padded_tensor\(x, 0\.0\)"):
        layer()(nested)
    padded = torch.nested.to_padded_tensor(nested, 0.0)
    assert layer()(padded, padding_mask([3, 5], 5))[0].isfinite().all()


def test_a_layer_and_its_masks_on_another_device():
    attention, x, here = layer().to("meta"), batch().to("meta"), {"device": "meta"}
    masks = [causal_mask(5, **here), sliding_window_mask(5, 1, **here), padding_mask([5, 3], 5, **here)]
    for mask, need_weights in itertools.product([*masks, causal_mask(5, 5, **here)], (True, False)):
        assert mask.is_meta and mask.dtype == torch.bool
        assert attention(x, mask, need_weights=need_weights)[0].shape == x.shape
    assert attention.trace(x, masks[0]).weights.is_meta
    with pytest.raises(TypeError, match=r"mask must be bool, got torch\.float32.*padding_mask make one"):
        attention(x, masks[0].float())
    with pytest.raises(TypeError, match=r"x is torch\.float64"):
        attention(x.double())
    assert MultiHeadAttention.from_torch(nn.MultiheadAttention(12, 3, device="meta")).w_q.weight.is_meta


@pytest.mark.parametrize("again", [copy.deepcopy, lambda original: pickle.loads(pickle.dumps(original))])
@torch.no_grad()  # PyTorch copies no tensor that has a history
def test_copied_and_pickled(again):
    attention, x = layer(), batch()
    trace, other = attention.trace(x), again(attention)
    assert torch.equal(again(trace).weights, trace.weights)
    attention.w_q.weight.zero_()
    assert_plain(other(x, MASK), plain(layer(), x, MASK))


@pytest.mark.parametrize(("bias", "qkv_bias"), [(True, False), (False, True), (False, None), (True, None)])
def test_the_biases_of_q_k_v_apart_from_that_of_the_output(bias, qkv_bias):
    attention, x = layer(bias=bias, qkv_bias=qkv_bias), batch()
    wanted = [bias if qkv_bias is None else qkv_bias] * 3 + [bias]
    assert [part.bias is not None for part in attention.children()] == wanted
    assert_plain(attention(x), plain(attention, x))


# Which must not be told to become a mask.
A_BIAS = r"opposite\. It is like a bias that is added to the scores \(ALiBi, T5\): see deeper/\w+\.$"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda mha, x: mha(x, x, x), r"from one x: layer\(x\)"),
        (lambda mha, x: mha(x, x), r"from one x: layer\(x\)"),
        (lambda mha, x: mha(x, batch(n=7)), r"from one x: layer\(x\)"),
        (lambda mha, x: mha(x[0], batch(n=7)[0]), r"from one x: layer\(x\)"),
        (lambda mha, x: mha(x, key=x + 1, value=x + 1), "For two inputs, or for use in PyTorch's"),
        *((lambda mha, x, name=name: mha(x, **{name: x}), "For two inputs") for name in
          ("context", "memory", "encoder_hidden_states", "kv", "source", "key_value_states", "cross_x", "cond")),
        (lambda mha, x: mha(x, None, False), "need_weights is named"),
        (lambda mha, x: mha(None), "Is a `return` missing"),
        (lambda mha, x: mha(x, average_attn_weights=False, is_causal=False), "has no average_attn_weights: leave it out"),
        (lambda mha, x: mha(x, context=None), "has no context: leave it out"),
        (lambda mha, x: mha(x, position_bias=x), "no position_bias: it is added to the scores"),
        (lambda mha, x: mha(x, past_key_value=x), "no past_key_value: positions and a cache"),
        (lambda mha, x: mha(x, cu_seqlens=x), "documents in one row"),
        (lambda mha, x: mha(x, -torch.rand(1, 3, 5, 5).masked_fill(~causal_mask(5), math.inf)), A_BIAS),  # ALiBi
        (lambda mha, x: mha(x, nn.Parameter(torch.zeros(1, 3, 5, 5))), A_BIAS),  # T5 before training
        (lambda mha, x: mha(x, -torch.rand(1, 3, 5, 5).half()), A_BIAS),
        (lambda mha, x: mha(x, scale=1.0), "none of them does what scale does"),
    ],
)  # fmt: skip
def test_called_as_other_layers_are_called_it_answers_in_words(call, words):
    with pytest.raises(TypeError, match=words):
        call(layer(), batch())


PADDING, NO_PADDING = torch.tensor([[False] * 5, [False, False, False, True, True]]), padding_mask([5, 3], 5)


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        *((name, True, causal_mask(5)) for name in ("causal", "is_causal", "use_causal_mask")),
        *((name, ~causal_mask(5), causal_mask(5)) for name in ("attn_mask", "src_mask", "tgt_mask")),
        *((name, PADDING, NO_PADDING) for name in ("key_padding_mask", "src_key_padding_mask", "padding_mask")),
        ("attention_mask", (~PADDING).long(), NO_PADDING),
        *((name, torch.tensor([5, 3]), NO_PADDING) for name in ("valid_lens", "lengths", "seq_len")),
        ("window_size", 1, causal_mask(5) & sliding_window_mask(5, 1)),
    ],
)  # fmt: skip
def test_who_obeys_the_advice_on_a_name_of_another_layer_gets_the_mask_that_was_meant(name, value, meant):
    with pytest.raises(TypeError, match=f"no {name}: take mask=") as caught:
        layer()(batch(), **{name: value})
    advice = re.search(r"take mask=(.*?)(, where|, which|: | where|\.$)", str(caught.value)).group(1)
    assert torch.equal(eval(advice, globals() | {"n": 5, "window": value, name: value}), meant)


@pytest.mark.parametrize("trainable", [True, False])
def test_from_torch_carries_what_the_module_carried_under_any_default_device(trainable):
    module = nn.MultiheadAttention(12, 3, dtype=torch.bfloat16).eval().requires_grad_(trainable)
    module.out_proj.bias.requires_grad_(not trainable)
    before = torch.get_rng_state()
    with torch.device("meta"), torch.no_grad():
        ours = MultiHeadAttention.from_torch(module)
    assert torch.equal(torch.get_rng_state(), before)
    for name, parameter in ours.named_parameters():
        assert parameter.requires_grad == (trainable ^ (name == "w_o.bias")), name
        assert (parameter.device.type, parameter.dtype) == ("cpu", torch.bfloat16) and parameter.is_leaf
    assert not ours.training
    x = batch().bfloat16()
    expected = module(*[x.transpose(0, 1)] * 3)[0].transpose(0, 1)
    torch.testing.assert_close(ours(x)[0], expected, atol=2e-2, rtol=2e-2)
    nn.init.zeros_(ours.w_q.weight)
    assert module.in_proj_weight[:12].any()  # it was copied
