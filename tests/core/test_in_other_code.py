"""The class in code of other people: autocast, graphs, other devices, copies, calls as of other layers."""

import inspect
import io
import itertools
import math
import pydoc
import re
import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import mha_helpers
from mha_helpers import MultiHeadAttention, scaled_dot_product_attention
from mha_helpers.attention import weighted_values
from mha_helpers.masks import causal_mask, padding_mask, sliding_window_mask

MASK = causal_mask(5) & padding_mask([5, 3], 5)


def batch(b=2, n=5, d_model=12):
    return torch.randn(b, n, d_model, generator=torch.Generator().manual_seed(1))


def layer(**options):
    torch.manual_seed(0)
    return MultiHeadAttention(12, 3, **options)


@pytest.mark.parametrize("mask", [None, MASK], ids=["no mask", "mask"])
def test_autocast(mask):
    attention, before, x = layer(), nn.Linear(12, 12), batch()
    expected = attention(before(x), mask)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        x = before(x)  # bfloat16 meets the layer's float32
        output, weights = attention(x, mask)
        fused, _ = attention(x, mask, need_weights=False)
        assert torch.equal(attention.trace(x, mask).output, output)
        on_a_gpu = weighted_values(weights.float(), x[:, None].bfloat16())  # there softmax gives float32
    assert output.dtype == fused.dtype == on_a_gpu.dtype == torch.bfloat16
    close = {"atol": 2e-2, "rtol": 2e-2, "check_dtype": False}
    torch.testing.assert_close((output, weights, fused), (*expected, expected[0]), **close)
    output.sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in attention.parameters())


def test_scores_that_are_too_large_for_float16_before_the_division_do_not_overflow():
    q = torch.full((2, 1024), 12.0, dtype=torch.float16)  # 12 · 12 · 1024 > 65504 > that ÷ 32
    k = q * torch.tensor([[0.5], [1.0]]).half()
    assert torch.isinf(q @ k.mT).any()  # the page's order of the same steps
    output, _ = scaled_dot_product_attention(q, k, k)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(q, k, k))


class NarrowsItsMask(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = layer().requires_grad_(False)

    def forward(self, x, lengths, mask):
        n = x.shape[1]
        mask = mask & causal_mask(n, device=x.device) & padding_mask(lengths, n)
        return *self.attention(x, mask), self.attention(x, mask, need_weights=False)[0]


def exported(model, given):
    b, n = torch.export.Dim("b"), torch.export.Dim("n")
    sizes = {"x": {0: b, 1: n}, "lengths": {0: b}, "mask": {0: n, 1: n}}
    return torch.export.export(model, given, dynamic_shapes=sizes).module()


GRAPHS = {
    "traced": torch.jit.trace,
    "compiled": lambda model, given: torch.compile(model, backend="eager", fullgraph=True),
    "exported": exported,
}


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.filterwarnings("ignore:.*jit.trace", "ignore::torch.jit.TracerWarning")  # it is on its way out
def test_a_graph_of_it_fixes_neither_batch_nor_length_nor_the_lengths_of_sentences(kind):
    model = NarrowsItsMask().eval()
    graph = GRAPHS[kind](model, (batch(), torch.tensor([5, 2]), sliding_window_mask(5, 4)))
    for lengths in ([5, 2], [5, 4], [8, 4, 5]):
        n = max(lengths)
        given = batch(len(lengths), n), torch.tensor(lengths), sliding_window_mask(n, 4)
        torch.testing.assert_close(graph(*given), model(*given))


@pytest.mark.parametrize("mask", [None, MASK & (torch.arange(5) != 0)[:, None]], ids=["none", "an empty row"])
@pytest.mark.filterwarnings("ignore:.*torch.jit")  # it is on its way out
def test_scripted_saved_and_loaded(mask):
    attention, x, file = layer(), batch(), io.BytesIO()
    expected = attention(x, mask)
    torch.jit.save(torch.jit.script(attention), file)
    graph = torch.jit.load(io.BytesIO(file.getvalue()))
    output, weights = graph(x, mask)
    torch.testing.assert_close((output, weights), expected)
    fused, nothing = graph(x, mask, need_weights=False)
    assert nothing is None
    torch.testing.assert_close(fused, output)
    output.sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in graph.parameters())


@pytest.mark.filterwarnings("ignore:.*torch.jit")
def test_a_model_that_was_scripted_goes_on_as_before():
    model = nn.Sequential(layer())
    torch.testing.assert_close(torch.jit.script(model)(batch()), model(batch()))
    with pytest.raises(TypeError, match="has no attn_mask: take mask=~attn_mask"):
        model[0](batch(), attn_mask=MASK)


class Scaled(MultiHeadAttention):
    def forward(self, x: torch.Tensor, memory: float):
        return memory * x


@pytest.mark.filterwarnings("ignore:.*torch.jit")
def test_a_subclass_keeps_a_forward_of_its_own():
    for attention in (Scaled(12, 3), torch.jit.script(Scaled(12, 3))):
        assert torch.equal(attention(batch(), memory=2.0), 2 * batch())


def test_what_the_layer_takes_stands_in_its_signature():
    assert str(inspect.signature(MultiHeadAttention.forward)) == "(self, x, mask=None, *, need_weights=True)"


HIDDEN = ["IPython", "PIL", "anywidget", "ipywidgets", "matplotlib", "numpy", "seaborn"]
ALONE = f"""
import sys
sys.modules.update(dict.fromkeys({HIDDEN}))  # from now on nobody can import them
import mha_helpers.attention
from mha_helpers import MultiHeadAttention, causal_mask, golden_example, sentence_vectors
import torch
assert MultiHeadAttention(8, 2)(torch.zeros(3, 8), causal_mask(3))[0].shape == (3, 8)
try:
    mha_helpers.heatmap
except ImportError:
    print("ready")
"""


@pytest.mark.filterwarnings("ignore:Failed to initialize NumPy")
def test_the_mathematics_needs_pytorch_alone():
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", ALONE], capture_output=True, text=True)
    assert run.stdout == "ready\n", run.stderr


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_is_loaded_late_is_found_like_the_rest():
    assert {*mha_helpers.__all__} <= {*dir(mha_helpers)}
    shown = pydoc.render_doc(mha_helpers, renderer=pydoc.plaintext)
    assert all(f"{name}(" in shown for name in mha_helpers.__all__)
    with pytest.raises(AttributeError, match="module 'mha_helpers' has no attribute 'heat_map'"):
        getattr(mha_helpers, "heat_map")  # noqa: B009


def test_no_tokens_at_all():
    x = batch(n=0)
    for result in (layer()(x), layer()(x, torch.ones(0, 0).bool())):
        assert [part.shape for part in result] == [(2, 0, 12), (2, 3, 0, 0)]
    assert layer()(x, need_weights=False)[0].shape == x.shape
    assert layer()(batch(b=0))[0].shape == (0, 5, 12)
    output, _ = scaled_dot_product_attention(batch(), x, x)  # nobody answers: all zeros
    assert torch.equal(output, torch.zeros(2, 5, 12))


def test_a_layer_and_its_masks_on_another_device():
    attention, x, here = layer().to("meta"), batch().to("meta"), {"device": "meta"}
    masks = [causal_mask(5, **here), sliding_window_mask(5, 1, **here), padding_mask([5, 3], 5, **here)]
    masks.append(padding_mask(torch.tensor([5, 3], **here), 5))
    for mask, need_weights in itertools.product(masks, (True, False)):
        assert mask.is_meta and mask.dtype == torch.bool
        assert attention(x, mask, need_weights=need_weights)[0].shape == x.shape
    assert attention.trace(x, masks[0]).weights.is_meta
    with pytest.raises(TypeError, match=r"x is torch\.float64"):
        attention(x.double())
    assert MultiHeadAttention.from_torch(nn.MultiheadAttention(12, 3, device="meta")).w_q.weight.is_meta


def test_the_biases_of_q_k_v_apart_from_that_of_the_output():
    for bias in (True, False):
        biases = [part.bias is not None for part in layer(bias=bias, qkv_bias=not bias).children()]
        assert biases == [not bias] * 3 + [bias]


# Which must not be told to become a mask.
A_BIAS = r"opposite\. It is like a bias that is added to the scores \(ALiBi, T5\): see deeper/\w+\.$"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda mha, x: mha(x, None, False), r"from one x: layer\(x\)"),
        (lambda mha, x: mha(x, x), r"from one x: layer\(x\)"),
        (lambda mha, x: mha(x, batch(n=7)), r"from one x: layer\(x\)"),
        *((lambda mha, x, name=name: mha(x, **{name: x}), "For two inputs") for name in
          ("key", "context", "memory", "encoder_hidden_states", "cond")),
        (lambda mha, x: mha(None), "Is a `return` missing"),
        (lambda mha, x: mha(x, is_causal=False, context=None), "has no is_causal: leave it out"),
        (lambda mha, x: mha(x, position_bias=x), "no position_bias: it is added to the scores"),
        (lambda mha, x: mha(x, past_key_value=x), "no past_key_value: positions and a cache"),
        (lambda mha, x: mha(x, cu_seqlens=x), "documents in one row"),
        (lambda mha, x: mha(x, -torch.rand(1, 3, 5, 5).masked_fill(~causal_mask(5), math.inf)), A_BIAS),  # ALiBi
        (lambda mha, x: mha(x, nn.Parameter(torch.zeros(1, 3, 5, 5))), A_BIAS),  # T5 before training
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
        *((name, True, causal_mask(5)) for name in ("causal", "is_causal")),
        *((name, ~causal_mask(5), causal_mask(5)) for name in ("attn_mask", "tgt_mask")),
        *((name, PADDING, NO_PADDING) for name in ("key_padding_mask", "padding_mask")),
        ("attention_mask", (~PADDING).long(), NO_PADDING),
        *((name, torch.tensor([5, 3]), NO_PADDING) for name in ("valid_lens", "seq_len")),
        *(("mask", torch.where(causal_mask(5), 0, hidden), causal_mask(5)) for hidden in (-math.inf, -1e4)),
        ("mask", causal_mask(5).float(), causal_mask(5)),
    ],
)  # fmt: skip
def test_who_obeys_the_advice_on_a_mask_of_another_layer_gets_the_mask_that_was_meant(name, value, meant):
    with pytest.raises(TypeError, match=f"(no |^){name}.* take mask") as caught:
        layer()(batch(), **{name: value})
    advice = re.search(r"take (?:mask=)?(.*?)(, where|, which|: | where|;|\.$)", str(caught.value)).group(1)
    assert torch.equal(eval(advice, globals() | {"n": 5, name: value}), meant)


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
