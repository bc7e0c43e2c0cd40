"""Every slider goes where its page says, no further, in steps that a hand can find."""

import pytest

import mha_helpers

SLIDERS = {  # explorer -> slider -> smallest, largest, step; the largest as the explorer starts
    "shapes_explorer": {
        "batch": (1, 4, 1), "n": (1, 6, 1), "d_model": (1, 8, 1),
        "sentence": (0, 1, 1), "token": (0, 2, 1), "feature": (0, 5, 1),
    },
    "projection_explorer": {"columns": (1, 6, 1), "feature": (0, 1, 1)},
    "scores_explorer": {"d_k": (1, 8, 1), "heads": (1, 4, 1), "head": (1, 3, 1)},
    "scaling_explorer": {"size": (0.5, 2, 0.1), "alignment": (0, 1, 0.05)},
    "mask_explorer": {"length": (0, 7, 1), "window": (0, 8, 1)},
    "softmax_explorer": {
        **dict.fromkeys(("score_1", "score_2", "score_3", "score_4"), (-5, 5, 0.1)),
        "temperature": (-1.3, 1.3, 0.1),  # powers of ten
        "shift": (0, 200, 10),
    },
    "values_explorer": {
        **dict.fromkeys(("cat", "eats", "fish"), (-8, 8, 0.5)),
        "total": (0, 1.5, 0.05),
    },
    "splitting_explorer": {"tokens": (1, 5, 1), "follow": (0, 2, 1)},
    "attention_explorer": {
        "d_k": (1, 64, 1), "heads": (1, 16, 1), "head": (1, 4, 1),
        "window": (0, 16, 1), "padding": (1, 8, 1),
    },
    "trained_explorer": {"layer": (1, 2, 1), "head": (1, 4, 1)},
}  # fmt: skip


@pytest.fixture(params=SLIDERS)
def named_panel(request):
    panel = getattr(mha_helpers, request.param)()
    yield request.param, panel
    panel.close()


def test_no_explorer_is_forgotten():
    explorers = {name for name in mha_helpers.__all__ if name.endswith("_explorer")}
    assert explorers == {*SLIDERS, "real_model_explorer"}  # the last needs a model


def test_every_slider_has_its_ends_and_its_step(named_panel):
    name, panel = named_panel
    found = {
        slider: (control.min, control.max, control.step)
        for slider, control in panel.controls.items()
        if hasattr(control, "min")
    }
    assert found == SLIDERS[name]
