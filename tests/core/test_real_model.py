"""Page 11 against its model: the course's class computes what transformers computes."""

import os

import pytest
import torch

from mha_course.models import attention_of_layer, heads_off, load_minilm
from mha_course.p09_concat_and_output.exercises import the_class
from mha_course.p11_a_real_model import exercises
from mha_helpers import MultiHeadAttention

pytestmark = pytest.mark.real_model
os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported: the weights come from a package

SENTENCES = [
    "cats",
    "the cat eats",
    "the cat eats the fish because it is hungry",
    "one dog saw another dog near the old bank of the river and did not bark at all",
]


@pytest.fixture(scope="module")
def padded():
    """The model on sentences of four lengths, its layers, and the mask as our class wants it."""
    tokenizer, model = load_minilm()
    batch = tokenizer(SENTENCES, padding=True, return_tensors="pt")
    with torch.no_grad():
        result = model(**batch, output_attentions=True, output_hidden_states=True)
    assert len(set(batch["attention_mask"].sum(dim=-1).tolist())) == len(SENTENCES)
    return model, batch, result, batch["attention_mask"].bool()[:, None, None, :]


def solution_of(exercise):
    page = {"torch": torch, "nn": torch.nn}
    exec(exercise.solution_code, page)
    return page[exercise.variable]


@pytest.mark.parametrize("own", [MultiHeadAttention, solution_of(the_class)])
@pytest.mark.parametrize("layer", range(6))
def test_weights_and_output_are_those_of_transformers_on_padded_sentences(padded, layer, own):
    model, _, result, mask = padded
    x, theirs = result.hidden_states[layer], model.encoder.layer[layer].attention
    with torch.no_grad():
        output, weights = attention_of_layer(model, layer, own)(x, mask)
        expected = theirs(x, torch.where(mask, 0.0, torch.finfo(x.dtype).min))[0]
    assert torch.allclose(weights, result.attentions[layer], atol=1e-5)
    assert weights.masked_select(~mask).max() == 0  # nobody looks at padding
    assert torch.allclose(theirs.output.LayerNorm(output + x), expected, atol=1e-5)


def test_the_solution_of_the_exercise_loads_layer_4(padded):
    model, _, result, mask = padded
    layer_4 = MultiHeadAttention(d_model=384, num_heads=12)
    layer_4.load_state_dict(solution_of(exercises.load_a_layer)(model.state_dict(), 3))
    _, weights = layer_4(result.hidden_states[3], mask)
    assert torch.allclose(weights, result.attentions[3], atol=1e-5)


def test_the_solution_of_the_exercise_takes_a_gpt_2_apart():
    from transformers import GPT2Config, GPT2Model

    torch.manual_seed(0)
    gpt_2 = GPT2Model(GPT2Config(n_embd=24, n_head=4, n_layer=1, vocab_size=9, n_positions=8)).eval()
    weight, x = gpt_2.h[0].attn.c_attn.weight, torch.randn(2, 5, 24)
    q, k, v = (x @ part.T for part in solution_of(exercises.fused)(weight))  # its biases begin as 0
    expected = (x @ weight).chunk(3, dim=-1)
    assert all(map(torch.allclose, (q, k, v), expected))


def test_a_head_that_is_off_is_rows_of_w_o_that_are_zero(padded):
    model, batch, result, _ = padded
    with torch.no_grad(), heads_off(model, (2, 5), (5, 11)):
        off = model(**batch).last_hidden_state
    dense = {layer: model.encoder.layer[layer].attention.output.dense.weight for layer in (2, 5)}
    kept = {layer: weight.detach().clone() for layer, weight in dense.items()}
    with torch.no_grad():
        dense[2][:, 5 * 32 : 6 * 32] = 0  # nn.Linear keeps W_O transposed
        dense[5][:, 11 * 32 :] = 0
        cut = model(**batch).last_hidden_state
        for layer, weight in dense.items():
            weight.copy_(kept[layer])
        again = model(**batch).last_hidden_state
    assert torch.allclose(off, cut, atol=1e-5)
    assert not torch.allclose(off, result.last_hidden_state, atol=1e-2)
    assert torch.allclose(again, result.last_hidden_state, atol=1e-6)  # outside the with all heads are on
    with pytest.raises(ValueError, match="from 0 to 11, got 12"), heads_off(model, (0, 12)):
        pass


def test_a_layer_that_is_not_there_is_refused(padded):
    with pytest.raises(ValueError, match="from 0 to 5, got 6"):
        attention_of_layer(padded[0], 6)
