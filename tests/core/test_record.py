"""record_attention: the weights of every layer of a model, its output and itself as they were."""

import contextlib

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from mha_course.exercises import numbers
from mha_helpers import attention_view, causal_mask, padding_mask, record_attention

X, TARGET, PADDING = numbers(2, 5, 8), numbers(2, 3, 8, seed=1), ~padding_mask([5, 3], 5)[:, 0, 0]


def encoder(**options):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, **options)
    return nn.TransformerEncoder(layer, 2).eval()


def left_behind(model):
    """What a ``with`` could change for good."""
    hooks = [len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules()]
    dropouts = [vars(part).get("dropout") for part in model.modules()]
    return hooks, dropouts, torch.backends.mha.get_fastpath_enabled()


def test_a_transformer_gives_its_six_maps_and_the_same_output():
    torch.manual_seed(0)
    model = nn.Transformer(8, 2, 2, 2, 16, batch_first=True).eval()
    causal = {"tgt_mask": ~causal_mask(3)}
    causal |= {"src_key_padding_mask": PADDING, "memory_key_padding_mask": PADDING}
    before, expected = left_behind(model), model(X, TARGET, **causal)
    with record_attention(model) as recorded:
        output = model(X, TARGET, **causal)
    torch.testing.assert_close(output, expected, atol=1e-6, rtol=0)
    assert left_behind(model) == before
    assert [(name.replace("layers.", ""), tuple(weights.shape)) for name, weights in recorded.items()] == [
        *((f"encoder.{i}.self_attn", (2, 2, 5, 5)) for i in range(2)),
        *((f"decoder.{i}.{kind}", (2, 2, 3, n_k)) for i in range(2) for kind, n_k in (("self_attn", 3), ("multihead_attn", 5))),
    ]  # fmt: skip
    for name, weights in recorded.items():
        assert not weights.requires_grad
        if "decoder" in name and "self" in name:
            assert not weights[..., ~causal_mask(3)].any()
        else:
            assert not weights[1, ..., 3:].any() and weights[0, ..., 3:].all()


@pytest.mark.parametrize("mask", [None, PADDING[:, None, None], ~causal_mask(5)])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@torch.no_grad()
def test_an_encoder_in_eval_which_would_take_its_fast_path(mask):
    model, is_padding = encoder(), mask is not None and mask.dim() == 4
    options = {"mask": mask, "is_causal": mask is not None}
    options = {"src_key_padding_mask": PADDING} if is_padding else options
    expected = model(X, **options)
    with record_attention(model) as recorded:
        output = model(X, **options)
    if is_padding:  # where the fast path writes zeros
        assert not expected[PADDING].any() and output[PADDING].any()
        output = output.masked_fill(PADDING[..., None], 0)
    torch.testing.assert_close(output, expected, atol=1e-6, rtol=0)
    attention = model.layers[0].self_attn
    q, k, _ = F.linear(X, attention.in_proj_weight, attention.in_proj_bias).view(2, 5, 3, 2, 4).unbind(2)
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / 2
    scores = scores if mask is None else scores.masked_fill(mask, -torch.inf)
    torch.testing.assert_close(recorded["layers.0.self_attn"], scores.softmax(dim=-1))


def test_a_row_without_a_key_which_asking_for_weights_would_make_nan():
    attention, empty = nn.MultiheadAttention(8, 2, batch_first=True), torch.ones(5, 5, dtype=torch.bool)
    with record_attention(attention) as recorded:
        output, weights = attention(X, X, X, None, False, empty)
    assert weights is None and output.isfinite().all() and recorded[""].isnan().all()
    with record_attention(attention):
        assert attention(X, X, X)[1].shape == (2, 5, 5)  # averaged, as it was asked for


def test_training_with_dropout_goes_on_with_the_same_random_numbers_and_gradients():
    gradients = []
    for within in (contextlib.nullcontext, record_attention):
        model = encoder(dropout=0.5).train()
        torch.manual_seed(1)
        with within(model) as recorded:
            loss = model(X).square().sum()
        gradients.append(torch.autograd.grad(loss, model.parameters()))
    torch.testing.assert_close(*gradients)
    torch.testing.assert_close(recorded["layers.1.self_attn"].sum(dim=-1), torch.ones(2, 2, 5))


def test_after_an_error_nothing_is_left_behind():
    model = encoder(dropout=0.5)
    before = left_behind(model)
    with pytest.raises(RuntimeError), record_attention(model):
        model(X, mask=torch.zeros(4, 4))
    with pytest.raises(ZeroDivisionError), record_attention(model):
        assert left_behind(model) != before
        raise ZeroDivisionError
    assert left_behind(model) == before


def test_a_model_without_such_a_layer_has_none_to_view():
    with record_attention(nn.Linear(2, 2)) as recorded:
        pass
    with pytest.raises(ValueError, match=r"There are none\..*eager.*output_attentions=True\."):
        attention_view(recorded)
