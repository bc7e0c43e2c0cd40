"""Page 10: stories, the model and its training beside plain torch, and the explorer that trains it."""

import asyncio
import copy
import math
import random
import re
import time
from itertools import islice

import pytest
import torch

import __main__
from mha_course.p10_can_your_class_learn import ASKED, explorer, learning_explorer, training
from mha_course.p10_can_your_class_learn.stories import COLOURS, FACTS, LENGTH, THINGS, as_words, new_stories
from tools.notebook import ROOT
from tools.page import Page


@pytest.fixture
def panel():
    return learning_explorer()


def test_what_is_asked_follows_from_the_story_and_from_no_place():
    ids = new_stories(400, seed=3)
    for words in map(as_words, ids):
        assert all(words[at] in part for at, part in zip(FACTS, [COLOURS, THINGS] * 2, strict=True))
        own = words.index(words[ASKED - 1])
        other = 6 if own == 1 else 1
        assert words[ASKED : ASKED + 2] == words[own + 1 : own + 3]
        assert words[ASKED + 3 : ASKED + 5] == words[other + 1 : other + 3]
        assert words[10] == words[other].removesuffix("'s") and words[12] == words[own].removesuffix("'s")
    assert ids.shape == (400, LENGTH)
    for word in (18, 19, 21, 22):
        assert (ids[:, :ASKED] == ids[:, word, None]).float().mean(dim=0).max() < 0.6


def test_the_model_its_loss_and_its_optimisers_are_those_of_the_page():
    page, defines = {"torch": torch}, "(?m)^(class|def loss_of|def optimisers_of|from .* import ASKED)"
    for cell in Page(ROOT / "notebooks" / "10_can_your_class_learn.ipynb").code:
        if re.search(defines, cell.source):
            exec(cell.source.split("\n\n\ntorch.manual_seed")[0], page)
    torch.manual_seed(3)
    theirs, ids = page["StoryModel"](), new_stories(8, seed=0)
    ours = training.new_model(training.class_with(), seed=3)
    for model, its in ((ours, vars(training)), (theirs, page)):
        its["loss_of"](model, ids).backward()
        for optimiser in its["optimisers_of"](model):
            optimiser.step()
    assert torch.equal(training.loss_of(ours, ids), page["loss_of"](theirs, ids))
    assert torch.equal(ours(ids), theirs(ids))


def test_training_learns_the_grammar_and_uses_no_story_that_is_kept_back(monkeypatch):
    def losses():
        return training.train(training.new_model(training.class_with(), seed=1), seed=1)

    first, *_, last = islice(losses(), 30)
    assert first > 3 and last < 1.6
    used = new_stories(training.BATCH, random.Random(1))  # in the first step of this seed
    monkeypatch.setattr(training, "stories_kept_back", lambda count: used)
    assert math.isnan(next(losses()))  # the mean of none


def test_without_muon_adamw_moves_every_weight(monkeypatch):
    model = training.new_model(training.class_with())
    monkeypatch.delattr(torch.optim, "Muon")
    [alone] = training.optimisers_of(model)
    assert {*alone.param_groups[0]["params"]} == {*model.parameters()}


def test_a_story_is_true_if_no_word_of_its_end_is_wrong():
    ids = new_stories(4, seed=5)
    told = ids.clone()

    def oracle(text):  # knows each story, or says one wrong word of it
        return torch.nn.functional.one_hot(told[:, 1 : text.shape[1] + 1], 40).float()

    assert training.told_truly(oracle, ids) == training.facts_right(oracle, ids) == 1
    told[1, ASKED] = told[1, ASKED + 3]
    assert training.told_truly(oracle, ids) == 0.75
    assert training.facts_right(oracle, ids) == pytest.approx(15 / 16)


@pytest.mark.parametrize("name", sorted(training.BREAKS.keys() - {"nothing", "no positions"}))
def test_each_break_changes_what_comes_out_and_the_mask_is_left_out_only_where_it_says_so(name):
    right, broken = (training.new_model(training.class_with(each), seed=2) for each in ("nothing", name))
    ids = new_stories(1, seed=0)
    assert not torch.allclose(right(ids), broken(ids), atol=1e-5)
    other = ids.clone()
    other[0, -1] = 0
    moved = (broken(ids) - broken(other))[0, :-1].abs().max() > 1e-6
    assert moved == (name in ("no mask", "softmax over the queries", "heads cut without transpose"))


def test_it_trains_to_the_next_kept_step_and_leads_back(panel, monkeypatch):
    untrained = panel.svg()
    panel.controls["train"].value = True
    assert panel.controls["step"].options == (0, 25) and panel.controls["step"].value == 25
    assert not panel.controls["train"].value and panel.controls["train"].description == "go on"
    assert "Step 25" in panel.description() and panel.state()["loss"] == panel.state()["losses"][24]
    panel.set(step=0)
    assert "Step 0: 0 of 50" in panel.description() and panel.svg() != untrained  # the curve stays
    assert not panel.controls["train"].disabled
    with monkeypatch.context() as short:
        short.setattr(training, "STEPS", 25)
        panel.set(step=25)
        assert panel.controls["train"].disabled and panel.controls["train"].description == "trained"
    panel.reset()
    assert not panel.controls["train"].disabled
    assert panel.svg() == untrained and panel.controls["step"].options == (0,)


def test_it_learns_beside_the_kernels_work_is_stopped_and_goes_on(panel):
    async def work():
        panel.controls["train"].value = True
        answered, start = 0, time.perf_counter()
        while len(panel.explorer.run.losses) < 30 and time.perf_counter() - start < 100:
            await asyncio.sleep(0.001)
            answered += 1
        assert panel.controls["train"].description == "stop" and panel.controls["train"].value
        panel.controls["train"].value = False
        await asyncio.sleep(1)
        stopped = len(panel.explorer.run.losses)
        await asyncio.sleep(0.2)
        assert len(panel.explorer.run.losses) == stopped and panel.controls["train"].description == "go on"
        panel.controls["train"].value = True
        await asyncio.sleep(0.5)
        assert len(panel.explorer.run.losses) > stopped
        return answered

    assert asyncio.run(work()) >= 5


def test_heads_are_those_of_the_model_and_one_that_is_off_writes_nothing(panel):
    model, _ = panel.explorer.run.kept[0]
    text = training.written(model, training.stories_kept_back(1))[:, :ASKED]
    panel.set(head=6)
    x = model.embedding(text) + model.positions.weight[:ASKED]
    block = model.blocks[0]
    _, weights = block.attention(block.norm_1(x), torch.ones(ASKED, ASKED).tril().bool())
    torch.testing.assert_close(panel.state()["weights"][:4], weights[0, :, -1])
    before = panel.state()["weights"]
    panel.explorer.run.kept[0] = model, 1.0  # had the whole model told all stories truly
    panel.set(off=True, head=1)
    assert "Head 0.1 is off" in panel.description()
    assert ": 0 of 50 stories told truly" in panel.description(), "counted again, with the head off"
    assert torch.equal(panel.state()["weights"][:4], before[:4])
    assert not torch.equal(panel.state()["weights"][4:], before[4:])
    panel.click(0, 3, 5)
    assert panel.controls["head"].value == 5


def test_a_break_goes_on_with_the_numbers_learned_so_far(panel):
    panel.controls["train"].value = True
    before = copy.deepcopy(panel.explorer.run.model.state_dict())
    panel.set(**{"break": "no mask"})
    torch.testing.assert_close(panel.explorer.run.model.state_dict(), before, rtol=0, atol=0)
    assert panel.explorer.run.changes == [(25, "no mask")]
    said = panel.description()  # the loss is of a step that was trained with the mask
    assert "Step 25, no mask: loss" in said and "before the change, " in said
    panel.set(**{"break": "no positions"})
    panel.controls["train"].value = True
    assert not panel.explorer.run.model.positions.weight.any()  # and none are learned again
    panel.set(**{"break": "nothing"})
    panel.controls["train"].value = True
    assert panel.explorer.run.model.positions.weight.any(), "until that is mended"


def test_the_learners_class_is_taken_where_it_is_right_and_a_slip_is_told(panel, monkeypatch):
    panel.set(**{"break": explorer.YOURS})
    assert "Run the cell of `class MyAttention` first" in panel.message()
    mine = type("MyAttention", (training.class_with(),), {})
    monkeypatch.setattr(__main__, "MyAttention", mine, raising=False)
    assert learning_explorer().explorer.right is mine
    monkeypatch.setattr(__main__, "MyAttention", training.class_with("no mask"))
    assert learning_explorer().explorer.right is training.class_with()
    monkeypatch.setattr(__main__, "MyAttention", torch.nn.Linear)
    other = learning_explorer()
    other.set(**{"break": explorer.YOURS})
    assert "needs an nn.Linear w_q" in other.message()
    other.set(**{"break": "nothing"})
    assert not other.message(), "what is mended is told no longer"
