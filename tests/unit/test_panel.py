"""Panel: what a learner drives, and what a notebook stores."""

import base64

import ipywidgets as widgets
import pytest
import torch
from sample_panel import compute, describe, make_panel, pixels, weights_of
from traitlets import TraitError

from mha_helpers.head_grid import HeadGrid
from mha_helpers.panel import Panel
from mha_helpers.renderer import LAYOUTS_KEPT

pytestmark = pytest.mark.usefixtures("warnings_are_errors")


@pytest.fixture
def panel():
    made = make_panel()
    yield made
    made.close()


def all_html(widget):
    found = [widget.value] if isinstance(widget, widgets.HTML) else []
    return found + [text for child in getattr(widget, "children", ()) for text in all_html(child)]


# What a learner drives


def test_a_control_set_in_code_redraws_before_it_returns(panel):
    before = panel.png()
    panel.controls["shift"].value = 2.0
    assert panel.png() != before
    assert torch.equal(panel.state()["weights"], weights_of(3, shift=2.0))
    panel.controls["shift"].value = 0.0
    assert panel.png() == before, "the same state must give the same picture, whatever came between"


def test_the_same_picture_comes_back_after_other_layouts(panel):
    before = panel.png()
    for n in [*range(4, 4 + LAYOUTS_KEPT + 2), 3]:
        panel.controls["n"].value = n
    assert panel.png() == before


def test_every_control_follows_while_it_moves_and_has_a_label(panel):
    assert panel.controls["shift"].continuous_update
    assert [control.description for control in panel.controls.values()] == ["n", "shift", "word"]


def test_set_changes_several_controls_and_computes_once():
    calls = []

    def counted(**values):
        calls.append(values)
        return compute(**values)

    made = Panel(make_panel().controls, counted, HeadGrid(), describe)
    calls.clear()
    made.set(n=5, shift=1.0, word="w")
    assert calls == [{"n": 5, "shift": 1.0, "word": "w"}]
    with pytest.raises(ValueError, match="no control named 'd_k'; it has n, shift, word"):
        made.set(d_k=3)


def test_adjust_may_change_a_control_without_a_second_redraw():
    seen = []

    def adjust(controls, values):
        controls["row"].max = values["n"]

    def rows(n, row):
        seen.append((n, row))
        return {"weights": weights_of(n)}

    controls = {"n": widgets.IntSlider(9, 1, 9), "row": widgets.IntSlider(9, 1, 9)}
    made = Panel(controls, rows, HeadGrid(), lambda state: "", adjust=adjust)
    made.controls["n"].value = 4
    assert seen == [(9, 9), (4, 4)]


def test_a_value_error_becomes_a_sentence_and_the_last_good_picture_stays(panel):
    good, words = panel.png(), panel.description()
    panel.controls["word"].value = "bad"
    assert panel.message() == 'the word <b>"bad"</b> is not allowed; type another.'
    assert panel.png() == good and panel.description() == words
    shown = " ".join(all_html(panel))
    assert 'role="alert"' in shown and "&lt;b&gt;" in shown and "<b>&quot;bad" not in shown
    panel.controls["word"].value = "good"
    assert panel.message() == "" and not any('role="alert"' in text for text in all_html(panel))


def test_any_other_error_is_shown_and_raised(panel):
    good = panel.png()
    with pytest.raises(KeyError, match="a mistake of ours"):
        panel.controls["word"].value = "broken"
    assert "KeyError" in panel.message() and "a mistake of ours" in panel.message()
    assert panel.png() == good
    panel.controls["word"].value = "t"
    assert panel.message() == ""


def test_a_value_error_of_the_drawing_is_not_told_as_the_learners_mistake():
    class Wrong(HeadGrid):
        def update(self, artists, state):
            raise ValueError("shapes do not fit")

    with pytest.raises(ValueError, match="shapes do not fit"):
        Panel(make_panel().controls, compute, Wrong(), describe)


def test_a_panel_whose_first_input_is_bad_waits_for_a_good_one():
    controls = {"n": widgets.IntSlider(3), "shift": widgets.FloatSlider(0.0), "word": widgets.Text("bad")}
    made = Panel(controls, compute, HeadGrid(), describe)
    assert made.state() == {} and "not allowed" in made.message()
    assert set(made._repr_mimebundle_()[0]) == {"text/plain", "application/vnd.jupyter.widget-view+json"}
    made.controls["word"].value = "t"
    assert made.message() == "" and len(made.state()["tokens"]) == 3


def test_what_is_typed_is_escaped_everywhere(panel):
    panel.controls["word"].value = "<script>alert(1)</script>🐟"
    shown = " ".join(all_html(panel))
    assert "<script" not in shown and "&lt;script&gt;" in shown
    assert "A &lt;panel&gt;" in shown and "3 tokens &lt;&amp;&gt;" in shown


def test_rows_must_place_every_control_once():
    with pytest.raises(ValueError, match="every control once"):
        make_panel(rows=[["n", "shift"]])


def test_a_value_that_a_control_refuses_leaves_picture_and_controls_together():
    panel = make_panel()
    with pytest.raises(TraitError, match="FloatSlider instance expected a float"):
        panel.set(n=5, shift="far")
    assert panel.controls["n"].value == 5 and panel.description() == "5 tokens <&>"
    panel.set(n=4)
    assert panel.description() == "4 tokens <&>"


# What a notebook stores


def test_a_panel_that_is_still_being_made_has_a_name():
    assert repr(Panel.__new__(Panel)) == "Panel"  # widgets print themselves in errors of their constructor


def test_the_bundle_holds_words_a_picture_and_the_view(panel):
    data, metadata = panel._repr_mimebundle_(include=None, exclude=None)
    assert data["text/plain"] == repr(panel) == "Panel: A <panel>"
    assert base64.b64decode(data["image/png"]) == panel.png()
    assert metadata["image/png"]["alt"] == "3 tokens <&>"
    view = data["application/vnd.jupyter.widget-view+json"]
    assert view == {"version_major": 2, "version_minor": 0, "model_id": panel.model_id}
    assert panel._ipython_display_ is None
    panel.controls["n"].value = 8
    assert panel._repr_mimebundle_()[0]["text/plain"] == "Panel: A <panel>"


def test_the_picture_fits_the_page():
    for heads in (1, 2, 3, 5, 8, 16, 20):
        for n in (1, 3, 16, 64):
            made = Panel({}, lambda h=heads, n=n: {"weights": weights_of(n, h)}, HeadGrid(), lambda s: "")
            height, width = pixels(made.png()).shape[:2]
            assert width <= 900 and height <= 560, (heads, n, width, height)
            made.close()


def test_no_label_of_a_control_is_cut(panel):
    for control in panel.controls.values():
        assert control.style.description_width == "initial" and control.layout.max_width == "100%"


def test_nothing_is_wider_than_the_page(panel):
    assert panel.layout.max_width == "100%"
    assert panel._image.layout.max_width == "calc(100% - 4px)"  # and 2 pixels of margin on each side
    assert panel._image.layout.width == "max-content"  # not stretched


def test_a_state_that_somebody_changes_is_their_own(panel):
    before = panel.state()["weights"].clone()
    panel.state()["weights"].zero_()
    assert torch.equal(panel.state()["weights"], before)
