"""The answers to **Try this** in TEACHING.md: every prompt is done as it stands, in order."""

import math
import re

import pytest
import torch
from try_this import PAGES, Answers, masked, notes, prompts, two

from mha_helpers.explorers.e03_qk_scores import ScoresPicture
from mha_helpers.style import number


def page_00(page):
    state = page.do(2, "Set *mask* to causal", mask="causal")
    weights = state["weights"][:, 0, 0]
    assert weights.min() == weights.max() and state["mask"][0].sum() == 1
    page.say(f"{two(weights[0])} on itself, in every head", "1, and one key", f"{masked(state)} cells")


def page_01(page):
    before = page.panel.state()
    state = page.do(1, "Set *d_model* to 7", d_model=7)
    more, numbers = (state[name] - before[name] for name in ("bytes", "numbers"))
    page.say(f"by {more}: {numbers} more numbers of {more // numbers} bytes")
    state = page.do(2, "Light `x[1, 0, 0]`", sentence=1)
    (_, n, d_model), old, place = state["x"].shape, before["x"].shape[-1], state["place"]
    page.say(f"{place} = {n} · {d_model}", f"still {d_model}", f"With {old} it would be {n * old}")
    after = page.do(3, "Move *feature d* by one", feature=1)["place"]
    last = page.do(3, "then *token t* by one", token=1)["place"]
    page.say(f"from {place} to {after}, then to {last}")


def page_02(page):
    for row, asked in ((0, "Set *row* to cat"), (2, "then to fish")):
        state = page.do(1, asked, token=row)
        x, w = state["x"][row], state["w"][:, state["selected"][1]]
        (both,) = (x * w).nonzero().flatten().tolist()
        assert f"at “{state['features'][both]}” alone" in page.left[1]
        page.say(f"{number(x[both])} · {number(w[both])} for “{state['tokens'][row]}”")
    state = page.do(3, "Set *columns of W* to 6 and *matrix for* to key", columns=6, kind="key")
    zero = (state["w"][:, -2:] == 0).all(dim=-1)
    *rows, last = [f"“{name}”" for name, is_zero in zip(state["features"], zero, strict=True) if is_zero]
    page.say(f"columns 4 and 5 the rows {', '.join(rows)} and {last} are {number(0)}")


def page_03(page):
    picture = ScoresPicture()
    _, artists = picture.draw(page.panel.state())
    heights, longest, places, said = [], [], [], []
    for key, token in enumerate(page.panel.state()["tokens"]):
        state = page.do(1, "Move *key* through all tokens", key=key)
        picture.update(artists, state)
        bars = [path.vertices[:, 1] for path in artists["bars"][0].get_paths()]
        heights.append(max(bar.max() - bar.min() for bar in bars))
        longest.append(state["products"].abs().max().item())
        places.append(int(state["products"].abs().argmax()))
        said.append(f"“{token}” ({number(state['products'][places[-1]])})")
    pixels = [height / product for height, product in zip(heights, longest, strict=True)]
    assert pixels == pytest.approx([pixels[0]] * 6, rel=1e-3)  # a length always means the same
    assert heights[-1] == min(heights)
    page.say("the bars of “mat” are short")
    assert places == [1, 2, 2, 1, 1, 0]
    the, cat, sat, on, other, mat = said
    page.say(f"The second for {the}, {on} and the other {other}")
    page.say(f"the third for {cat} and {sat}", f"the first for {mat}")
    far = {}
    for d_k in range(1, 9):
        scores = page.do(2, "Move *d_k* from 1 to 8", d_k=d_k)["scores"].flatten()
        far[d_k] = scores[scores.abs().argmax()].item()
    most = max(far, key=lambda d_k: abs(far[d_k]))
    page.say(f"{number(far[1])} with d_k = 1, {number(far[most])} with {most}, {number(far[8])} with 8")
    page.say(f"{masked(page.do(3, 'Set *mask* to causal', mask='causal'))} cells in each head")


def page_04(page):
    def leader(state):
        return f"key {int(state['row'].argmax()) + 1}", two(state["row"].max())

    state = page.do(1, "Leave *scale* at none and move *d_k* from 1 to 512", d_k=512)
    page.say(f"at 512 the spread is {two(state['spread'][-1])} (√512 is {two(math.sqrt(512))})")
    page.say("{} takes {}".format(*leader(state)))
    for asked, scale in (
        ("Set *scale* to ÷√d_k", "÷√d_k"),
        ("choose ÷d_k", "÷d_k"),
        ("Then ÷√d_model", "÷√d_model"),
    ):
        page.do(2, asked, scale=scale)
    state = page.do(2, "Move *d_k* to 4. Still right?", d_k=4)
    assert state["row"].min() > 0.05  # nearly even
    assert torch.allclose(state["scaled"], state["scores"] / math.sqrt(512))
    page.say(f"At *d_k* = 4 the spread is {two(state['spread'][state['place']])}")
    page.say("{} leads with {}".format(*leader(state)), "√512 is too much for 4 products")
    before = page.do(3, "With ÷√d_k and d_k = 256", scale="÷√d_k", d_k=256)
    state = page.do(3, "raise *q aligned with own key* to 0.5", alignment=0.5)
    page.say("{} takes {}".format(*leader(state)), "{} led with {}".format(*leader(before)))
    own = torch.eye(16, dtype=torch.bool)
    near, far = (number(state["scaled"][:, which].mean().abs(), 0) for which in (own, ~own))
    assert own[5, int(state["row"].argmax())]  # the row of query 6
    page.say(f"{near} against {len(own) - 1} scores near {far}")


def page_05(page):
    page.do(1, "head 2, and *query* to “2 eats”", scores="“cat eats fish”, head 2", query=1)
    page.do(2, "Go back to your sentence", scores="your sentence, untrained")
    page.do(2, "and untick *causal*", causal=False)
    state = page.do(2, "Move *real tokens* from 7 to 4", length=4)
    shares = (state["weights"] * ~state["real"]).sum(dim=-1)[state["real"]]
    page.say(f"up to {100 * shares.max():.0f} %, in the row of “{state['tokens'][int(shares.argmax())]}”")
    state = page.do(2, "Now tick\n*padding*", padding=True)
    on_padding, gone = state["weights"][:, ~state["real"]].sum(), int((~state["mask"]).all(dim=0).sum())
    page.say(f"Then {number(on_padding)}: {gone} columns", f"sum to {number(state['weights'][-1].sum())}")
    page.do(3, "Tick *causal* alone", padding=False, causal=True)
    page.do(3, "pick a cell above the diagonal", query=1, key=2)
    page.do(3, "and tick *this cell may attend*", may_attend=True)
    assert "A leak: 1 cell looks ahead." in page.panel.description()
    state = page.do(3, "the cell “1 the”, “1 the” and untick it", query=0, key=0, may_attend=False)
    assert "Row 1 has no key left. A plain softmax gives NaN there." in page.panel.description()
    page.say("A leak: 1 cell", "row 1 has no key left", f"all {number(state['weights'][0].abs().max())} here")


def page_06(page):
    start = page.do(1, "Raise the *score of cat* slowly", score_1=5.0)["weights"]
    assert f"cat {two(start[0])}, eats {two(start[1])}," in page.panel.description()
    page.say(f"at 5, “cat” has {two(start[0])}")
    page.say(f"has {two(start[1])} in the words, {number(start[1], 3)} in the picture")
    state = page.do(2, "Move *temperature* down to 0.05", temperature=10**-1.3)
    assert state["weights"][1] == 0
    page.say("with “cat” at 5", f"cold, {two(state['weights'][0])} for “cat”", "“eats” is even 0")
    page.say(f"e to the power {number(state['powers'][1], 0)} is too small for float32")
    state = page.do(2, "then up to 20", temperature=10**1.3)
    page.say(f"hot, {', '.join(map(two, state['weights']))}")
    page.do(2, "Set it back to 1", temperature=1.0)
    state = page.do(3, "Untick *subtract the maximum first*", minus_maximum=False)
    assert torch.allclose(page.now(shift=80)["weights"], start)  # 90 is the first that is too much
    state = page.do(3, "then raise *add to all* to 90", shift=90)
    assert state["weights"].isnan().all() and torch.tensor(90.0).exp().isinf()
    page.say("e to the power 90 is ∞, and ∞ ÷ ∞ is no number")
    assert torch.allclose(page.do(3, "Tick it again", minus_maximum=True)["weights"], start)


def page_07(page):
    def output(state):
        return f"({', '.join(map(number, state['output']))})"

    start = page.panel.state()
    page.do(1, "Raise *add to score of fish* to +8", fish=8.0)
    state = page.do(1, "Now set all three to +8", cat=8.0, eats=8.0)
    assert output(state) == output(start)
    page.say(f"+8 for all changes none: {', '.join(map(two, state['weights']))} again")
    swapped = page.do(2, "Set *mix* to “V, cat and fish swapped”", values="V, cat and fish swapped")
    page.say(f"from {output(start)} to {output(swapped)}")
    for mix, answer in (
        ("V, cat and fish swapped", "{}, then inside. In head 2, {} outside"),
        ("V", "{} and {}"),
    ):
        page.now(values=mix, head=1)
        above = page.do(3, "Move *weights sum to* up to 1.3", total=1.3)["outside"]
        assert page.do(3, "Down to 0.3", total=0.3)["outside"] == 0
        below = page.do(3, "Set *head* to 2 and look again", head=2)["outside"]
        page.say(answer.format(number(above), number(below)))
    nowhere = page.now(total=0.0)
    assert nowhere["outside"] > 0
    page.say(f"{output(nowhere)} is not in that hull")


def page_08(page):
    def holding():
        return re.findall(r"h\d", page.panel.description().split("The numbers of t1 are in")[1])

    kept = []
    for heads in (1, 2, 4, 8):
        page.do(1, "Move *heads* from 1 to 8", heads=heads)
        kept += re.findall(r"scores to keep.*?= (\d+)</td>", page.panel.children[-1].value)
    page.say(f"scores to keep: {', '.join(kept)}")
    asked = "Untick *transpose after view*. Leave *follow token t* at 1"
    wrong = page.do(2, asked, transpose=False)["misplaced"]
    page.say(f"with {len(wrong)} heads: in {holding()[0]} to {holding()[-1]} alone")
    page.say(f"{int(wrong.sum())} of {wrong.numel()} numbers are in a wrong place")
    page.now(heads=4)
    page.say(f"With 4 heads: {' and '.join(holding())}")
    assert not page.do(3, "Set *heads* to 1", heads=1)["misplaced"].any()
    assert not page.do(3, "or *tokens* to 1", heads=4, tokens=1)["misplaced"].any()


def page_09(page):
    def changed(state, after):
        names = ("x", "q", "k", "v", "scores", "weights", "heads", "concat", "output")
        return {name for name in names if state[name].shape != after[name].shape}

    page.do(1, "Untick head 2", head_2=False)
    state = page.do(2, "Set *mask* to causal, and *query* to the first word", mask="causal", query=0)
    first, _, third, fourth = map(two, state["contributions"][:, 0].norm(dim=-1))
    page.say(f"{first}, {third} and {fourth}; head 2 is still off")
    page.say(f"would add {two(page.now(head_2=True)['contributions'][1, 0].norm())}")
    page.now(head_2=False)
    wide = page.do(3, "Move *d_k*", d_k=16)
    more = page.do(3, "then *heads*", heads=8)
    assert changed(state, wide) == {"q", "k", "v", "heads", "concat"}
    assert changed(wide, more) == changed(state, wide) | {"scores", "weights"}
    page.say(f"x and output stay {tuple(more['output'].shape)}")
    after = page.do(3, "type 他用电脑写代码", sentence="他用电脑写代码")
    page.say(f"{len(state['x'])} becomes {len(after['x'])}")


def page_10(page):
    def right(state):
        return f"{100 * state['accuracies']['held-out distances']:.1f} %"

    def known(state):
        return f"{int((state['known'] & state['right']).sum())} of {int(state['known'].sum())}"

    page.do(1, "Layer 1, head 3", layer=1, head=3)
    early, late = (page.do(1, "Move *training step* from 0 to 1000", step=step) for step in (150, 250))
    dark = [(state["weights"][0, 2].diagonal(-1) > 0.5).nonzero().max() for state in (early, late)]
    assert dark[0] < 4 < 7 < dark[1]
    page.say(f"from step {early['step']} to {late['step']}", f"from {right(early)} to {right(late)}")
    page.do(1, "Then the same with layer 2", layer=2)
    before, after = (number(state["after a copy"][1, 2]) for state in (early, late))
    page.say(f"layer 2, head 3 from {before} to {after}")
    asked = "Last step, layer 1, head 3: tick *switch this head off*"
    page.say(right(page.do(2, asked, step=1000, layer=1, off=True)))
    off = [page.do(2, "Now layer 2: switch off one head", layer=2, head=head) for head in (1, 2, 3, 4)]
    page.say(f"in layer 2 never below {min(map(right, off))}")
    page.do(3, "Untick *switch this head off*", off=False)
    page.say(known(page.do(3, "Type `ABCABCABCABC`", sequence="ABCABCABCABC")))
    assert not page.do(3, "a line in which nothing repeats", sequence="ABCDEFGHIJKL")["known"].any()
    page.do(4, "Type `KQWMADZTKQWMADZTKQWMADZT` again, layer 2, head 2", sequence="KQWMADZT" * 3, head=2)
    state = page.do(4, "Set *trained on* to distance 12 only", training="distance 12 only")
    (dark,) = {i - int(state["weights"][1, 1, i].argmax()) for i in range(12, 23)}
    near, far = sorted({i - j for i, j in state["right_places"].nonzero().tolist()})
    page.say(f"dark {dark} back, where at distance {dark + 1} the letter after the copy stands")
    page.say(f"frames {near} and {far} back", known(state))


DRIVES = {name[-2:]: drive for name, drive in list(globals().items()) if name.startswith("page_")}


@pytest.mark.parametrize("number", DRIVES)
def test_every_number_of_an_answer_is_what_the_explorer_shows(number):
    page = Answers(number)
    DRIVES[number](page)
    page.nothing_left()


@pytest.mark.parametrize("number", PAGES)
def test_a_page_with_prompts_has_answers_in_their_place(number):
    """A teacher reads the notes from above: what to move, what it shows, where learners get stuck."""
    assert prompts(number) and (number in DRIVES or number == "11")  # tests/real_model drives page 11
    assert list(notes(number))[:6] == ["Project", "Ask", "They say", "Move", "Try this", "Stuck"]
    assert len(notes(number)["Try this"].split()) < 90


def test_what_nobody_measures_is_noticed():
    page = Answers("01")
    with pytest.raises(AssertionError, match="not measured: “by 24"):
        page.nothing_left()
    page.do(1, "Set *d_model* to 7")
    with pytest.raises(AssertionError, match="measured “by 25”"):
        page.say("by 25")
