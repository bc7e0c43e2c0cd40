"""The page's attention inside PyTorch's blocks: the numbers of the module whose place it takes."""

import copy
import pickle

import pytest
import torch
from torch import nn

from mha_course.d09_in_your_own_model import InPyTorchsBlock
from mha_helpers import causal_mask
from tools.notebook import ROOT
from tools.page import Page

B, N, H, D_MODEL = 2, 5, 4, 12
BIAS = torch.randn(B * H, N, N, generator=torch.Generator().manual_seed(2))
PADDING = torch.tensor([[False] * N, [False, False, False, True, True]])
MASKS = {
    "none": {},
    "causal": {"src_mask": ~causal_mask(N)},
    "a float bias": {"src_mask": BIAS[0]},
    "a float bias for each head": {"src_mask": BIAS},
    "for each head": {"src_mask": BIAS.abs() > 1},
    "padding": {"src_key_padding_mask": PADDING},
    "padding in numbers": {"src_key_padding_mask": PADDING * -1.5},
    "a bias and padding": {"src_mask": BIAS, "src_key_padding_mask": PADDING},
}


@pytest.fixture(autouse=True)
def no_fast_path():  # which computes a float bias wrongly in PyTorch's own layer
    torch.backends.mha.set_fastpath_enabled(False)
    yield
    torch.backends.mha.set_fastpath_enabled(True)


def block(batch_first=True, kind=nn.TransformerEncoderLayer):
    torch.manual_seed(0)
    return kind(D_MODEL, H, dim_feedforward=16, batch_first=batch_first).eval()


def ours(theirs):
    replaced = copy.deepcopy(theirs)
    for name, part in list(replaced.named_children()):
        if isinstance(part, nn.MultiheadAttention):
            setattr(replaced, name, InPyTorchsBlock.from_torch(part))
    return replaced


def words(batch_first=True, n=N):
    x = torch.randn(B, n, D_MODEL, generator=torch.Generator().manual_seed(1))
    return x if batch_first else x.transpose(0, 1)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
def test_an_encoder_block_gives_pytorchs_numbers_with_every_mask_and_without_a_batch_axis(masks, batch_first):
    theirs, x = block(batch_first), words(batch_first)
    torch.testing.assert_close(ours(theirs)(x, **masks), theirs(x, **masks))
    of_second = {(B, N): 1, (B * H, N, N): slice(H, None)}  # other masks are the same for all sentences
    alone = {name: mask[of_second.get(mask.shape, ...)] for name, mask in masks.items()}
    torch.testing.assert_close(ours(theirs)(words()[1], **alone), theirs(words()[1], **alone))


@pytest.mark.parametrize("batch_first", [True, False])
def test_a_decoder_block_reads_the_source_and_keeps_the_weights(batch_first):
    theirs, x = block(batch_first, nn.TransformerDecoderLayer), words(batch_first)
    source, padding = words(batch_first, 7), torch.arange(7) > torch.tensor([[6], [4]])
    masks = {"tgt_mask": ~causal_mask(N), "memory_key_padding_mask": padding}
    replaced = ours(theirs)
    torch.testing.assert_close(replaced(x, source, **masks), theirs(x, source, **masks))
    assert replaced.multihead_attn.weights.shape == (B, H, N, 7)
    assert not replaced.multihead_attn.weights[1, :, :, 5:].any()
    with pytest.raises(ValueError, match="from one text"):
        replaced.self_attn(x, x, x + 1)


@pytest.mark.parametrize("fast", [True, False])
def test_a_layer_that_has_run_can_be_copied_stacked_and_pickled(fast):
    torch.backends.mha.set_fastpath_enabled(fast)
    replaced, x = ours(block()), words()
    expected = replaced(x)
    expected.sum().backward()
    assert not replaced.self_attn.weights.requires_grad
    for again in (copy.deepcopy(replaced), pickle.loads(pickle.dumps(replaced))):
        assert torch.equal(again(x), expected)
    stacked, masks = nn.TransformerEncoder(replaced, 2).eval(), {"src_key_padding_mask": PADDING}
    with torch.no_grad():
        torch.testing.assert_close(stacked(x, **masks), replaced(replaced(x, **masks), **masks))


def test_an_encoder_that_goes_round_its_layers_is_told_how_to_stop_it():
    encoder = nn.TransformerEncoder(block(), 1).eval().requires_grad_(False)
    expected = encoder(words(), src_key_padding_mask=PADDING)
    encoder.layers[0] = ours(encoder.layers[0])
    torch.testing.assert_close(encoder(words(), src_key_padding_mask=PADDING), expected)
    torch.backends.mha.set_fastpath_enabled(True)
    with pytest.raises(RuntimeError, match=r"call torch\.backends\.mha\.set_fastpath_enabled\(False\) first"):
        encoder(words(), src_key_padding_mask=PADDING)


CELLS = [cell.source for cell in Page(ROOT / "notebooks" / "deeper" / "09_in_your_own_model.ipynb").code]


def run(names, *words):
    """Run the cells of the page that hold one of the words."""
    for code in CELLS:
        if any(word in code for word in words):
            exec(code, names)


def test_its_recipes_take_a_model_in_half_precision():
    names = {"__name__": "page"}
    run(names, "import golden_example", "golden_example()", "module = nn.MultiheadAttention")
    for name in ("x", "attention", "module"):
        names[name] = names[name].to(torch.bfloat16)
    run(names, "class LowRank", "layer.w_q = LowRank", "slopes", "ALiBi:")
    assert names["output"].dtype == names["layer"](names["x"])[0].dtype == torch.bfloat16
