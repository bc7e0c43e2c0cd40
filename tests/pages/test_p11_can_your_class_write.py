"""The explorer of page 11 against plain PyTorch: what heads write, heads off, broken lines, what is kept."""

import pytest
import torch

pytest.importorskip("gguf")

from mha_course.models import attention_inputs, heads_off, load_language_model
from mha_course.p11_can_your_class_write import BREAKS, broken_attention, explorer, suspects
from mha_helpers import causal_mask

SENTENCE, (MARY, JOHN) = explorer.SENTENCES[0], (" Mary", " John")


@pytest.fixture
def model():
    model = load_language_model()
    own = type(model.blocks[0].attention)
    yield model
    model.use(own)


@pytest.fixture
def panel():
    return explorer.language_explorer()


def logits(model):
    with torch.no_grad():
        return model(model.encode(SENTENCE))[-1]


@pytest.mark.parametrize("name", ["nothing", "no W_O"])
def test_what_the_heads_write_is_what_attention_adds_to_the_last_stream(model, panel, name):
    """The last stream is the embedding, and what 30 attentions and 30 networks add to it."""
    panel.set(against="John", **{"break": name})
    state, ids, streams = panel.state(), model.use(broken_attention(name)).encode(SENTENCE), []
    with model.norm.register_forward_hook(lambda *call: streams.append(call[1][0][0, -1])):
        assert torch.allclose(state["after"], logits(model).softmax(dim=-1), atol=1e-4)
    scale = model.norm.weight / (streams[0].square().mean() + 1e-5).sqrt()
    first, second = model.embedding.weight[state["rivals"]]
    layers, mask = zip(model.blocks, attention_inputs(model, ids), strict=True), causal_mask(len(ids))
    added = [block.attention(x[None], mask)[0, -1] for block, x in layers]
    by_layer = torch.stack(added) @ (scale * (first - second))  # (layers, d_model) @ (d_model)
    assert torch.allclose(state["writes"].sum(dim=-1), by_layer, atol=1e-3 * max(1, by_layer.abs().max()))


def test_weights_are_causal_shares_and_the_heads_of_the_name_write_most(model, panel):
    panel.set(against="John")
    state, expected = panel.state(), logits(model)
    assert state["weights"].shape == (30, 9, 14, 14) and state["weights"].triu(1).abs().max() == 0
    torch.testing.assert_close(state["weights"].sum(dim=-1), torch.ones(30, 9, 14), atol=1e-4, rtol=0)
    rivals = [int(model.encode(word)[0]) for word in (MARY, JOHN)]
    assert state["rivals"] == rivals
    difference = float(expected[rivals[0]] - expected[rivals[1]])
    assert state["total"] == pytest.approx(difference, abs=1e-3)
    writes = [round(float(state["writes"][head]), 1) for head in ((23, 3), (29, 1), (24, 4))]
    assert writes == [2.9, 1.7, -1.1]


def test_a_head_off_is_a_slice_of_zeros_in_front_of_w_o(model, panel):
    panel.set(layer=20, head=4, off=True)
    with heads_off(model, (20, 4)):
        expected = logits(model).softmax(dim=-1)
    assert torch.allclose(panel.state()["after"], expected, atol=1e-4)
    assert [i for i in range(9) if panel.state()["writes"][20, i] == 0] == [4]
    assert torch.allclose(panel.state()["before"], logits(model).softmax(dim=-1), atol=1e-4)
    panel.click(1, 3, 4)
    chosen = [panel.controls[name].value for name in ("layer", "head", "off")]
    assert chosen == [3, 4, False], "a head just chosen is on"


@pytest.mark.parametrize("name", list(BREAKS))
def test_a_broken_line_is_the_page_s_own(model, panel, name):
    weight = model.blocks[0].attention.w_k.weight
    panel.set(**{"break": name})
    expected, state = logits(model.use(broken_attention(name))), panel.state()
    assert model.blocks[0].attention.w_k.weight.data_ptr() == weight.data_ptr()  # never copied
    assert torch.allclose(state["after"], expected.softmax(dim=-1), atol=1e-3)
    first, second = state["rivals"]
    assert state["total"] == pytest.approx(float(expected[first] - expected[second]), abs=1e-2)
    assert name == "nothing" or f"With {name}" in panel.description()


def test_what_does_not_fit_is_said_and_the_picture_stays(panel):
    before = panel.svg()
    for sentence, said in (("cat " * 30, "24 fit in the picture"), ("", "sentence is empty")):
        panel.set(sentence=sentence)
        assert said in panel.message() and panel.svg() == before


def test_a_suspect_sees_what_the_exercise_says():
    x = torch.randn(1, 8, 12, generator=torch.Generator().manual_seed(0))
    causal, one_ahead = causal_mask(8), torch.ones(8, 8).tril(1).bool()
    no_first = torch.cat([torch.eye(8)[:, :1].bool(), causal[:, 1:]], dim=1)
    right = {"A": one_ahead, "B": causal.triu(-3), "C": causal, "D": causal, "E": no_first}
    for name, expected in right.items():
        layer = suspects[name](12, 3, 1)
        moves = [layer(x + changed[:, None], causal) != layer(x, causal) for changed in torch.eye(8)]
        assert torch.equal(torch.cat(moves).any(dim=-1).T, expected), name
