"""attention_explorer: driven as a learner drives it, its numbers checked by another route."""

import itertools
import math
import re

import ipywidgets as widgets
import pytest
import torch
from torch.nn import functional as F

from mha_helpers import causal_mask, sliding_window_mask
from mha_helpers.explorers import attention_explorer
from mha_helpers.explorers.whole import D_MODEL, LARGEST_D_K, MASKS, MOST_HEADS, MOST_TOKENS, details

pytestmark = pytest.mark.usefixtures("warnings_are_errors")


@pytest.fixture
def panel():
    made = attention_explorer("cat eats fish and then sleeps", heads=2)
    yield made
    made.close()


def expected_mask(name, n, window, padding):
    if name == "none":
        return torch.ones(n, n, dtype=torch.bool)
    if name == "padding":
        return (torch.arange(n) < n - padding).expand(n, n)
    near, causal = sliding_window_mask(n, window), causal_mask(n)
    return {"causal": causal, "sliding window": near, "causal window": near & causal}[name]


def check_state(panel):
    """Everything that must hold whatever the controls say."""
    state, values = panel.state(), {name: control.value for name, control in panel.controls.items()}
    heads, d_k, n = values["heads"], values["d_k"], len(state["tokens"])
    shapes = {
        "x": (n, D_MODEL),
        **dict.fromkeys(("q", "k", "v", "heads"), (heads, n, d_k)),
        **dict.fromkeys(("scores", "scaled", "masked", "weights"), (heads, n, n)),
        "concat": (n, heads * d_k),
        "output": (n, D_MODEL),
    }
    assert {name: tuple(state[name].shape) for name in shapes} == shapes
    mask = expected_mask(values["mask"], n, values["window"], values["padding"])
    assert (state["mask"] is None) == (values["mask"] == "none")
    assert state["mask"] is None or torch.equal(state["mask"], mask)
    weights = state["weights"]
    rows = weights.sum(dim=-1)
    assert torch.allclose(rows, torch.ones_like(rows), atol=1e-5)  # every mask here leaves a key
    assert (weights[:, ~mask] == 0).all() and (weights >= 0).all()
    assert torch.isneginf(state["masked"][:, ~mask]).all() and state["masked"][:, mask].isfinite().all()
    for name, w in (("q", "w_q"), ("k", "w_k"), ("v", "w_v")):
        by_token = torch.einsum("nm,hmk->hnk", state["x"], state[w])
        assert torch.allclose(state[name], by_token, atol=1e-4)
    fused = F.scaled_dot_product_attention(state["q"], state["k"], state["v"], attn_mask=mask)
    on = torch.tensor([values[f"head_{head + 1}"] for head in range(heads)])
    fused = fused * on[:, None, None]
    assert torch.allclose(state["heads"], fused, atol=1e-4)
    # Concat view = sum over heads: the second route to the output.
    blocks = state["w_o"].view(heads, d_k, D_MODEL)
    assert torch.allclose(state["output"], sum(fused[h] @ blocks[h] for h in range(heads)), atol=1e-3)
    assert f"{n} token" in panel.description() and f"{heads} head" in panel.description()
    assert panel.message() == ""


@pytest.mark.parametrize("mask", MASKS)
def test_the_grid(panel, mask):
    for heads, d_k, sentence in itertools.product(
        (1, 3, MOST_HEADS), (1, 7, LARGEST_D_K), ("one", "a b c d")
    ):
        panel.set(mask=mask, heads=heads, d_k=d_k, sentence=sentence, window=heads % 3, padding=1 + d_k % 4)
        check_state(panel)


def test_every_slider_position_changes_the_picture(panel):
    words = " ".join(f"t{place}" for place in range(18))  # enough for each window and padding
    for name, mask, sentence in (
        ("d_k", "none", "cat eats fish and then sleeps"),
        ("heads", "none", "cat eats fish and then sleeps"),
        ("window", "sliding window", words),
        ("window", "causal window", words),
        ("padding", "padding", words),
    ):
        panel.set(mask=mask, sentence=sentence, heads=2)
        control = panel.controls[name]
        shown = set()
        for value in range(control.min, control.max + 1):
            control.value = value
            check_state(panel)
            shown.add(panel.png())
        assert len(shown) == control.max - control.min + 1, (name, mask)


def test_masks_pickers_and_switches_change_the_picture(panel):
    seen = {panel.png()}
    changes = [("mask", name) for name in MASKS[1:]]
    changes += [("window", 0), ("mask", "none"), ("query", 1), ("key", 3), ("head", 2), ("head_2", False)]
    before = panel.png()
    for name, value in changes:
        if name == "window":
            panel.controls["mask"].value = "causal window"
            before = panel.png()
        panel.controls[name].value = value
        assert panel.png() != before, (name, value)
        before = panel.png()
        seen.add(before)
        check_state(panel)
    assert len(seen) >= len(changes) - 1


def test_causal_later_tokens_change_nothing_earlier(panel):
    panel.set(mask="causal", sentence="cat eats fish now")
    first = panel.state()
    panel.controls["sentence"].value = "cat eats fish tomorrow"
    second = panel.state()
    assert torch.allclose(first["output"][:3], second["output"][:3], atol=1e-6)
    assert not torch.allclose(first["output"][3], second["output"][3], atol=1e-3)
    panel.controls["mask"].value = "none"
    leaky = panel.state()
    assert not torch.allclose(leaky["output"][:3], second["output"][:3], atol=1e-3)


def test_moving_a_slider_keeps_what_was_there(panel):
    panel.set(d_k=8, heads=2)
    small = panel.state()
    panel.set(d_k=9, heads=3)
    large = panel.state()
    for name in ("q", "k", "v"):
        assert torch.allclose(large[name][:2, :, :8], small[name], atol=1e-5)


def test_a_head_switched_off_hands_on_zeros(panel):
    full = panel.state()
    panel.controls["head_1"].value = False
    state = panel.state()
    check_state(panel)
    assert (state["heads"][0] == 0).all() and not torch.allclose(state["output"], full["output"])
    assert torch.equal(state["weights"], full["weights"])
    panel.controls["head_2"].value = False
    assert (panel.state()["output"] == 0).all()


def test_only_the_controls_that_matter_are_shown(panel):
    def shown():
        return {name for name, control in panel.controls.items() if control.layout.display != "none"}

    always = {"sentence", "d_k", "heads", "mask", "head", "query", "key"}
    assert shown() == always | {"head_1", "head_2"}
    panel.set(mask="sliding window", heads=1)
    assert shown() == always | {"head_1", "window"}
    panel.set(mask="padding", heads=3)
    assert shown() == always | {"head_1", "head_2", "head_3", "padding"}


def test_the_pickers_follow_the_sentence_and_the_heads(panel):
    panel.set(query=4, key=2)
    panel.controls["sentence"].value = "cat eats fish and then sleeps well"
    assert (panel.controls["query"].value, panel.controls["key"].value) == (4, 2)
    panel.controls["sentence"].value = "cat eats"
    assert [label for label, _ in panel.controls["query"].options] == ["1 cat", "2 eats"]
    assert panel.state()["selected"] == (1, 1)
    panel.controls["head"].value = 2
    panel.controls["heads"].value = 1
    assert panel.controls["head"].value == 1 and panel.state()["selected_head"] == 0


def test_the_added_tokens_are_called_pad(panel):
    panel.controls["sentence"].value = "cat eats fish"
    panel.controls["mask"].value = "padding"
    panel.controls["padding"].value = 2
    assert panel.state()["tokens"] == ["cat", "eats", "fish", "[pad]", "[pad]"]
    assert [words for words, _ in panel.controls["key"].options][-2:] == ["4 [pad]", "5 [pad]"]


def test_the_arithmetic_of_the_chosen_cell_is_written_out(panel):
    panel.set(head=2, query=2, key=0, d_k=4)
    state, text = panel.state(), details(panel.state())
    score = float(state["scores"][1, 2, 0])
    by_hand = sum(float(a) * float(b) for a, b in zip(state["q"][1, 2], state["k"][1, 0], strict=True))
    assert math.isclose(score, by_hand, abs_tol=1e-4)
    written = f"{score:.2f}".replace("-", "−").rstrip("0").rstrip(".")
    assert f"score {written}</b>" in text and "√4" in text and "“fish” asks, “cat” answers" in text
    weight = f"{float(state['weights'][1, 2, 0]):.3f}".rstrip("0").rstrip(".")
    assert f"weight {weight}</b>" in text
    panel.set(mask="causal", query=0, key=2)
    assert "masked: −∞" in details(panel.state()) and "weight 0</b>" in details(panel.state())
    for name in ("x", "q", "scores", "weights", "concat", "output"):
        assert str(tuple(state[name].shape)) in text


def test_the_words_say_what_the_weights_say(panel):
    panel.set(mask="causal", query=0)
    assert "causal mask" in panel.description()
    assert "“cat” (row 1) attends: head 1 most to “cat” (1.00)" in panel.description()
    panel.set(heads=12)
    assert "and 4 more heads" in panel.description()
    panel.set(heads=9)
    assert "; and 1 more head." in panel.description()


def test_a_word_that_stands_twice_is_named_with_its_column(panel):
    panel.controls["sentence"].value = "the the cat"
    panel.set(query=0)
    weights = panel.state()["weights"][:, 0]
    for head, column in enumerate(weights.argmax(dim=-1).tolist()):
        word = ["“the” in column 1", "“the” in column 2", "“cat”"][column]
        assert f"head {head + 1} most to {word} (" in panel.description()


def test_the_written_power_of_e_is_that_of_the_written_number(panel):
    for query in range(3):
        panel.set(query=query, key=1)
        exponent, power = re.search(r"e<sup>(\S+)</sup> ≈ (\S+) ", details(panel.state())).groups()
        exponent = float(exponent.replace("−", "-"))
        assert math.exp(exponent) == pytest.approx(float(power), abs=0.0005 + 0.0001 * math.exp(exponent))


def test_it_says_that_the_numbers_are_untrained(panel):
    text = " ".join(child.value for child in panel.children if isinstance(child, widgets.HTML))
    assert "untrained" in text


@pytest.mark.parametrize("bad", ["", "   ", "\n\t"])
def test_an_empty_line_gets_a_sentence(panel, bad):
    good = panel.png()
    panel.controls["sentence"].value = bad
    assert "empty" in panel.message() and panel.png() == good
    panel.controls["d_k"].value = 3  # another control must not hide the reason
    assert "empty" in panel.message()
    panel.controls["sentence"].value = "cat"
    check_state(panel)
    assert panel.state()["q"].shape[-1] == 3


def test_odd_sentences_get_a_picture(panel):
    for sentence in (
        "<script>alert(1)</script> & <b>bold</b>",
        "🐟 👩‍👩‍👧 fish",
        "猫吃鱼，因为饿了。",
        "a$b$ x_1^2 \\frac{1}{2} $$",
        "مرحبا बिल्ली",
        "\x00\x07 bell \u202e",
        "x" * 500,
    ):
        panel.controls["sentence"].value = sentence
        check_state(panel)
        shown = " ".join(child.value for child in panel.children if isinstance(child, widgets.HTML))
        assert "<script" not in shown and "<b>bold" not in shown


def test_three_hundred_words_are_drawn_and_more_are_refused(panel):
    panel.controls["sentence"].value = " ".join(f"w{i}" for i in range(300))
    check_state(panel)
    good = panel.png()
    panel.controls["sentence"].value = " ".join(["word"] * (MOST_TOKENS + 5))
    assert str(MOST_TOKENS) in panel.message() and "Take out at least 5" in panel.message()
    assert panel.png() == good
    panel.controls["mask"].value = "padding"
    assert "tokens, [pad] among them; this picture holds" in panel.message()


def test_it_can_start_with_anything():
    for options in ({"sentence": ""}, {"heads": 16, "d_k": 64, "mask": "padding"}, {"mask": "causal window"}):
        attention_explorer(**options).close()
    with pytest.raises(ValueError, match="mask must be one of none, causal"):
        attention_explorer(mask="future")


def test_the_words_tell_of_the_mask_and_of_heads_that_are_off(panel):
    panel.set(mask="none", query=0)
    assert ", no mask. “" in panel.description() and "Off" not in panel.description()
    panel.set(mask="causal")
    n = len(panel.state()["tokens"])
    hidden = f", causal mask. {n * (n - 1) // 2} of {n * n} cells masked, {n - 1} in row 1."
    assert hidden in panel.description()
    panel.controls["head_2"].value = False
    assert panel.description().endswith(" Off: head 2.")
    panel.controls["head_1"].value = False
    assert panel.description().endswith(" Off: heads 1 and 2.")
