"""The course's class, given a real model's weights, computes what transformers computes, in every layer."""

import pytest
import torch

from mha_helpers import causal_mask
from mha_helpers.real_model import (
    attention_of_layer,
    heads_off,
    load_minilm,
    run_minilm,
    sentence_vectors_of,
)

SENTENCES = [
    "the cat eats the fish",
    "the cat eats the fish because it is hungry",
    "no",
    "what did the cat eat this morning, and who gave it to the cat?",
    "eat fish",
    "a dog sleeps",
    "attention weights of one row sum to one",
    "internationalisation is one word that becomes many tokens",
    "she said that he said that she said so to me",
    "in the paper of 2017 the queries, the keys and the values are three projections of the same tokens.",
]


@pytest.fixture(scope="module")
def run():
    """Run all sentences, and keep what leaves each layer's W_O, before anything is added to it."""
    _, model = load_minilm()
    kept = []
    handles = [
        block.attention.output.dense.register_forward_hook(lambda module, inputs, output: kept.append(output))
        for block in model.encoder.layer
    ]
    batch, result = run_minilm(SENTENCES)
    for handle in handles:
        handle.remove()
    return batch, result, kept


def test_the_ten_sentences_have_ten_lengths_and_are_padded(run):
    lengths = run[0]["attention_mask"].sum(dim=-1).tolist()
    assert len(set(lengths)) == 10
    assert max(lengths) >= 20 and min(lengths) == 3


@pytest.mark.parametrize("layer", range(6))
def test_weights_and_output_of_every_layer(run, layer):
    batch, result, outputs = run
    mask = batch["attention_mask"].bool()[:, None, None, :]
    with torch.no_grad():
        output, weights = attention_of_layer(load_minilm()[1], layer)(result.hidden_states[layer], mask)
    assert weights.shape == (10, 12, mask.shape[-1], mask.shape[-1])
    assert (weights - result.attentions[layer]).abs().max() < 1e-5
    assert (output - outputs[layer]).abs().max() < 1e-5


def test_another_layers_weights_or_no_mask_would_be_noticed(run):
    batch, result, _ = run
    mask = batch["attention_mask"].bool()[:, None, None, :]
    with torch.no_grad():
        _, other = attention_of_layer(load_minilm()[1], 1)(result.hidden_states[0], mask)
        _, unmasked = attention_of_layer(load_minilm()[1], 0)(result.hidden_states[0])
    for weights in (other, unmasked):
        assert (weights - result.attentions[0]).abs().max() > 0.01


def layers_of_a_gpt2(width, heads, dtype):
    """Return the course's class for each layer of a new GPT-2, with what entered, its weights and its output."""
    from transformers import GPT2Config, GPT2Model

    torch.manual_seed(5)
    config = GPT2Config(n_embd=width, n_head=heads, n_layer=3, vocab_size=97, n_positions=32)
    config._attn_implementation = "eager"
    model = GPT2Model(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():  # as made, biases are 0 and scores nearly so
            weight.copy_(torch.randn_like(weight) * (0.3 if "attn" in name else 1))
    model.to(dtype)
    kept, entered = [], []
    for block in model.h:
        block.attn.c_proj.register_forward_hook(lambda module, inputs, output: kept.append(output))
        block.ln_1.register_forward_hook(lambda module, inputs, output: entered.append(output))
    with torch.no_grad():
        result = model(torch.randint(97, (2, 11)), output_attentions=True)
    attentions = [attention_of_layer(model, layer) for layer in range(3)]
    outputs = [output.view_as(x) for output, x in zip(kept, entered, strict=True)]
    return zip(attentions, entered, result.attentions, outputs, strict=True)


@pytest.mark.parametrize(("width", "heads"), [(48, 4), (60, 3)])
def test_gpt2_with_its_fused_projection_and_its_causal_mask(width, heads):
    for attention, x, right_weights, right_output in layers_of_a_gpt2(width, heads, torch.float64):
        with torch.no_grad():
            output, weights = attention(x, causal_mask(11))
        assert (weights - right_weights).abs().max() < 1e-12
        assert (output - right_output).abs().max() < 1e-12
        assert weights.std() > 0.05, "weights all alike would not tell Q from K"


@pytest.mark.parametrize(("width", "heads"), [(48, 4), (60, 3)])
def test_gpt2_in_the_numbers_it_is_used_with(width, heads):
    """Its scores of 190 are rounded by 1e-5, so the output is that of the same order of steps: of ``trace``."""
    for attention, x, right_weights, right_output in layers_of_a_gpt2(width, heads, torch.float32):
        with torch.no_grad():
            _, weights = attention(x, causal_mask(11))
            trace = attention.trace(x, causal_mask(11))
        for found in (weights, trace.weights):
            assert (found - right_weights).abs().max() < 1e-5
        assert torch.allclose(trace.output, right_output, atol=1e-5, rtol=1e-5)


def test_gpt2_options_that_the_class_leaves_out():
    from transformers import GPT2Config, GPT2Model

    sizes = {"n_embd": 8, "n_head": 2, "n_layer": 1, "vocab_size": 9, "n_positions": 8}
    for option in ({"scale_attn_weights": False}, {"scale_attn_by_inverse_layer_idx": True}):
        with pytest.raises(ValueError, match="other than √d_k"):
            attention_of_layer(GPT2Model(GPT2Config(**sizes, **option)), 0)
    with pytest.raises(ValueError, match=r"layer must be 0 to 0, .*; got 1"):
        attention_of_layer(GPT2Model(GPT2Config(**sizes)), 1)


def test_another_kind_of_model_is_refused():
    from transformers import DistilBertConfig, DistilBertForMaskedLM, DistilBertModel, GPT2LMHeadModel

    config = DistilBertConfig(dim=8, n_heads=2, n_layers=1, hidden_dim=8, vocab_size=9)
    bert = load_minilm()[1]
    for wrong in (
        DistilBertModel(config),
        DistilBertForMaskedLM(config),
        bert.encoder,
        torch.nn.Linear(2, 2),
        None,
    ):
        name = type(wrong).__name__
        with pytest.raises(ValueError, match=f"^model must be a BERT or a GPT-2, got {name}.$"):
            attention_of_layer(wrong, 0)
        with (
            pytest.raises(ValueError, match=f"^model must be a BERT, got {name}.$"),
            heads_off(wrong, (0, 0)),
        ):
            pass
    with (
        pytest.raises(ValueError, match="must be a BERT, got GPT2LMHeadModel"),
        heads_off(small(GPT2LMHeadModel)),
    ):
        pass


def small(kind):
    """An untrained model of one layer and two heads."""
    sizes = {"num_hidden_layers": 1, "num_attention_heads": 2, "hidden_size": 8, "vocab_size": 9}
    return kind(kind.config_class(**sizes)).eval()


@pytest.mark.parametrize("name", ["BertForMaskedLM", "BertForSequenceClassification", "GPT2LMHeadModel"])
def test_a_model_with_a_head_for_a_task_is_read_like_the_one_inside(name):
    import transformers

    model = small(getattr(transformers, name))
    with_head, inside = (attention_of_layer(each, 0).state_dict() for each in (model, model.base_model))
    assert all(torch.equal(with_head[key], inside[key]) for key in inside)
    attention = model.base_model.get_submodule(
        "h.0.attn.c_proj" if "GPT2" in name else "encoder.layer.0.attention.output.dense"
    )
    assert torch.equal(with_head["w_o.weight"], attention.weight.T if "GPT2" in name else attention.weight)
    with pytest.raises(ValueError, match="layer must be 0 to 0, because there are 1 layers; got -1"):
        attention_of_layer(model, -1)


def test_heads_of_a_bert_with_a_head_for_a_task_are_switched_off():
    from transformers import BertForMaskedLM

    model, ids = small(BertForMaskedLM), torch.tensor([[1, 2, 3]])
    kept = []
    model.bert.encoder.layer[0].attention.output.dense.register_forward_hook(
        lambda _, inputs, __: kept.append(inputs[0])
    )
    with torch.no_grad():
        model(ids)
        with heads_off(model, (0, 1)):
            model(ids)
    assert torch.equal(kept[1][..., :4], kept[0][..., :4])
    assert (kept[1][..., 4:] == 0).all() and (kept[0][..., 4:] != 0).all()


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ((0, 12), "head must be 0 to 11, because there are 12 heads; got 12"),
        ((0, -1), "head must be 0 to 11, .*; got -1"),
        ((6, 0), "layer must be 0 to 5, because there are 6 layers; got 6"),
        ((-1, 0), "layer must be 0 to 5, .*; got -1"),
    ],
)
def test_a_head_that_is_not_there_cannot_be_off(place, words):
    model = load_minilm()[1]
    with pytest.raises(ValueError, match=words), heads_off(model, (0, 0), place):
        pass
    hooks = [block.attention.output.dense._forward_pre_hooks for block in model.encoder.layer]
    assert not any(hooks)  # nor does the one before it stay off


def test_a_head_that_is_off_writes_nothing_and_comes_back(run):
    batch, before, outputs = run
    _, model = load_minilm()
    layer, head, d_k = 2, 5, 32
    kept = []
    dense = model.encoder.layer[layer].attention.output.dense
    handle = dense.register_forward_hook(lambda module, inputs, output: kept.append(output))
    with heads_off(model, (layer, head)), torch.no_grad():
        model(**batch)
    handle.remove()
    own = attention_of_layer(model, layer)
    mask = batch["attention_mask"].bool()[:, None, None, :]
    with torch.no_grad():
        concat = own.trace(before.hidden_states[layer], mask).concat.clone()
        concat[..., head * d_k : (head + 1) * d_k] = 0
        assert (own.w_o(concat) - kept[0]).abs().max() < 1e-5
        again = model(**batch).last_hidden_state
    assert (kept[0] - outputs[layer]).abs().max() > 0.01
    assert torch.equal(again, before.last_hidden_state)


def test_sentence_vectors_do_not_see_padding(run):
    batch, result, _ = run
    together = sentence_vectors_of(result.last_hidden_state, batch["attention_mask"])
    alone, one = run_minilm(SENTENCES[:1])
    assert torch.allclose(together.norm(dim=-1), torch.ones(10))
    assert torch.allclose(
        sentence_vectors_of(one.last_hidden_state, alone["attention_mask"])[0], together[0], atol=1e-5
    )
