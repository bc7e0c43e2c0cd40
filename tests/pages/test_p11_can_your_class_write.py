"""The explorer of page 11 against plain PyTorch: what heads write, heads off, broken lines, what is kept."""

import re

import pytest
import torch

pytest.importorskip("gguf")

from mha_course.exercises.engine import run_code
from mha_course.models import attention_inputs, heads_off, load_language_model
from mha_course.p11_can_your_class_write import BREAKS, broken_attention, explorer, suspects
from mha_course.p11_can_your_class_write.broken import ATTENTION, GIVEN
from mha_helpers import causal_mask
from tools.notebook import ROOT
from tools.page import Page

PAGE_11 = ROOT / "notebooks" / "11_can_your_class_write.ipynb"
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


def added_by_attention(model, rivals):
    """How much the attention of each layer adds to the first rival against the second, (layers)."""
    ids, streams = model.encode(SENTENCE), []
    with model.norm.register_forward_hook(lambda *call: streams.append(call[1][0][0, -1])):
        logits(model)
    scale = model.norm.weight / (streams[0].square().mean() + 1e-5).sqrt()
    towards = scale * (model.embedding.weight[rivals[0]] - model.embedding.weight[rivals[1]])
    layers, mask = zip(model.blocks, attention_inputs(model, ids), strict=True), causal_mask(len(ids))
    added = [block.attention(x[None], mask)[0, -1] for block, x in layers]
    return torch.stack(added) @ towards  # (layers, d_model) @ (d_model)


@pytest.mark.parametrize("name", ["nothing", "no W_O"])
def test_what_the_heads_write_is_what_attention_adds_to_the_last_stream(model, panel, name):
    """The last stream is the embedding, and what 30 attentions and 30 networks add to it."""
    panel.set(against="John", **{"break": name})
    model.use(broken_attention(name))
    by_layer, state = added_by_attention(model, panel.state()["rivals"]), panel.state()
    assert torch.allclose(state["after"], logits(model).softmax(dim=-1), atol=1e-4)
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
    layer = [(20, head) for head in range(9)]
    for off, heads in {"this head": layer[:1], "its layer": layer, "its neighbours": layer[1:]}.items():
        panel.set(layer=20, head=0, off=off)
        with heads_off(model, *heads):
            expected = logits(model).softmax(dim=-1)
        assert torch.allclose(panel.state()["after"], expected, atol=1e-4)
        assert [(20, i) for i in range(9) if panel.state()["writes"][20, i] == 0] == heads
    assert torch.allclose(panel.state()["before"], logits(model).softmax(dim=-1), atol=1e-4)
    panel.click(1, 3, 4)
    assert [panel.controls[name].value for name in ("layer", "head", "off")] == [3, 4, "no head"]


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


def test_every_broken_line_changes_what_words_get():
    x, mask = torch.randn(1, 8, 12, generator=torch.Generator().manual_seed(0)), causal_mask(8)
    right = broken_attention()(12, 6, 3)
    for name in BREAKS:
        if name.startswith(("nothing", "pairs", "base")):  # which change next to nothing where d_k is 2
            continue
        broken = broken_attention(name)(12, 6, 3)
        broken.load_state_dict(right.state_dict())
        assert not torch.allclose(broken(x, mask), right(x, mask), atol=1e-3), name


def test_what_does_not_fit_is_said_and_the_picture_stays(panel):
    before = panel.svg()
    for sentence, said in (("cat " * 30, "24 fit in the picture"), ("", "sentence is empty")):
        panel.set(sentence=sentence)
        assert said in panel.message() and panel.svg() == before


PLANTED = {  # exhibits of page 12, planted in the class of page 11
    3: {"/ q.shape[-1] ** 0.5": "/ q.shape[-1] ** -0.5"},
    4: BREAKS["√d_model for √d_k"],
    7: {"-torch.inf": "-1e-12"},
    15: {"** 0.5\n": "** 0.5\n        scores = scores.softmax(-1)\n"},
    17: {"merge_heads(weights @ v)": "(weights @ v).reshape(x.shape)"},
}


ON_PAGE_11 = {
    10: "no mask",
    14: "softmax over the queries",
    16: "keys mixed in place of values",
}  # nbval asks


@pytest.mark.parametrize("exhibit", [*PLANTED, *ON_PAGE_11])
def test_page_12_says_what_its_bugs_cost_in_this_model_and_what_it_writes(model, exhibit):
    cells = [cell.source for cell in Page(ROOT / "notebooks" / "12_bugs_in_print.ipynb").cells]
    of_exhibit = "".join(cells).split(f"### {exhibit} · ")[1].split("\n### ")[0]
    over, loss, words = re.search(r"loss 2\.2 → (over )?([\d.]+)(?:, “(.*?)”)?\n", of_exhibit).groups("")
    (table,) = [cell for cell in Page(PAGE_11).code if re.match("from.*\nstory =", cell.source, re.DOTALL)]
    if exhibit in ON_PAGE_11:
        row = re.search(f"^{ON_PAGE_11[exhibit]} +(.*?)  '(.*)'$", table.outputs[0].text, re.MULTILINE)
        measured, written = float(row[1]), row[2]
    else:
        exec(table.source.split("\nfor ")[0], names := {})
        model.use(run_code("Attention", ATTENTION, PLANTED[exhibit], GIVEN))
        measured = model.loss(names["story"])
        written = model.write("Once upon a time there was a little cat who", 10)
    assert measured > float(loss) if over else f"{measured:.1f}" == loss
    assert words in written


def sees(layer, n=8):
    """Which rows move with each word, (n, n)."""
    x, mask = torch.randn(1, n, 12, generator=torch.Generator().manual_seed(0)), causal_mask(n)
    moves = [layer(x + changed[:, None], mask) != layer(x, mask) for changed in torch.eye(n)]
    return torch.cat(moves).any(dim=-1).T


def test_a_suspect_sees_what_the_exercise_says():
    causal, one_ahead = causal_mask(8), torch.ones(8, 8).tril(1).bool()
    no_first = torch.cat([torch.eye(8)[:, :1].bool(), causal[:, 1:]], dim=1)
    right = {"A": one_ahead, "B": causal.triu(-3), "C": causal, "D": causal, "E": no_first}
    for name, expected in right.items():
        assert torch.equal(sees(suspects[name](12, 3, 1)), expected), name
