"""Panel and HeadGrid: what a learner drives, what a notebook stores, and what memory keeps."""

import base64
import contextlib
import ctypes
import gc
import io
import os
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace

import ipywidgets as widgets
import matplotlib
import matplotlib.text
import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from PIL import Image
from traitlets import TraitError

from mha_helpers import panel as panel_module
from mha_helpers import style
from mha_helpers.head_grid import HeadGrid
from mha_helpers.panel import Panel
from mha_helpers.placement import Placement
from mha_helpers.renderer import LAYOUTS_KEPT, encode_png

# Our warnings are errors; an old matplotlib with a new pyparsing warns about itself.
pytestmark = pytest.mark.filterwarnings("error", "ignore::DeprecationWarning:matplotlib")


def weights_of(n, heads=2, shift=0.0):
    numbers = torch.arange(heads * n * n, dtype=torch.float32).view(heads, n, n)
    return torch.softmax(torch.sin(numbers + shift), dim=-1)


def compute(n, shift, word):
    if word == "bad":
        raise ValueError('the word <b>"bad"</b> is not allowed; type another.')
    if word == "broken":
        raise KeyError("a mistake of ours")
    return {
        "weights": weights_of(n, shift=shift),
        "tokens": [f"{word}{i}" for i in range(n)],
        "mask": torch.ones(n, n, dtype=torch.bool).tril(),
    }


def describe(state):
    return f"{len(state['tokens'])} tokens <&>"


def make_panel(**options):
    controls = {
        "n": widgets.IntSlider(3, 1, 40),
        "shift": widgets.FloatSlider(0.0, min=0.0, max=9.0, continuous_update=False),
        "word": widgets.Text("t"),
    }
    return Panel(controls, compute, HeadGrid(), describe, **{"title": "A <panel>", **options})


@pytest.fixture
def panel():
    made = make_panel()
    yield made
    made.close()


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


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


# What the picture shows


@pytest.mark.parametrize("channels", [3, 4])
def test_png_keeps_every_pixel(channels):
    image = np.random.default_rng(0).integers(0, 256, (5, 7, channels), dtype=np.uint8)
    assert (pixels(encode_png(image))[..., :3] == image[..., :3]).all()


def drawn(**state):
    made = Panel({}, lambda: state, HeadGrid(), lambda s: "")
    png = made.png()
    layouts = made._renderer._drawn
    figure = next(iter(layouts.values()))[0].figure if layouts else None
    return pixels(png), figure


@pytest.mark.parametrize(("heads", "n"), [(1, 4), (2, 16), (9, 8), (2, 100)])
def test_every_cell_has_the_colour_of_its_weight_and_masked_cells_are_hatched(heads, n):
    """At every size: row 0 on top, column 0 on the left."""
    weights = torch.zeros(heads, n, n)
    weights[:, 0, n - 1] = 1.0  # the upper right corner
    mask = torch.ones(n, n, dtype=torch.bool)
    mask[n // 2 :, : n // 2] = False  # the lower left quarter
    image, _ = drawn(weights=weights, mask=mask)
    labels = tuple(str(i + 1) for i in range(n))
    place = Placement(heads, n, n, labels, labels)
    cmap = matplotlib.colormaps[style.WEIGHT_CMAP]
    light, dark = (np.array(cmap(value)[:3]) * 255 for value in (0.0, 1.0))
    for head in range(heads):
        left, top = place.left(head), place.top(head)
        near = max(2, round(place.cell * 0.2))  # off the middle, where the number stands

        def at(row, column, left=left, top=top, near=near):
            return image[
                round(top + row * place.cell_height) + (near if place.cell > 6 else round(place.cell / 2)),
                round(left + column * place.cell_width) + (near if place.cell > 6 else round(place.cell / 2)),
            ]

        assert np.abs(at(0, n - 1) - dark).max() <= 2
        assert np.abs(at(n - 1, n - 1) - light).max() <= 2
        assert np.abs(at(0, 0) - light).max() <= 2
        half = round(place.side_height / 2)
        quarter = image[top + half + 4 : top + 2 * half - 4, left + 4 : left + half - 4].reshape(-1, 3)
        assert np.ptp(quarter, axis=1).max() <= 8, "masked cells must be grey"
        assert len(np.unique(quarter[:, 0])) > 1, "masked cells must be hatched"


def test_numbers_are_written_into_cells_that_hold_them():
    few = HeadGrid()
    artists = few.draw({"weights": weights_of(4)})[1]
    assert all(head["cells"].decimals == 2 for head in artists["heads"])
    many = few.draw({"weights": weights_of(40)})[1]
    assert all(head["cells"].decimals is None for head in many["heads"])


def test_one_colour_bar_and_one_fixed_scale_for_all_heads():
    for heads, n in ((3, 4), (12, 4)):
        figure, artists = HeadGrid().draw({"weights": weights_of(n, heads)})
        limits = {(head["cells"].norm.vmin, head["cells"].norm.vmax) for head in artists["heads"]}
        assert limits == {(0.0, 1.0)}
        assert [axes.get_ylabel() for axes in figure.axes].count("weight") == 1


def test_scores_have_zero_in_the_middle_and_a_round_scale():
    grid = HeadGrid("scores", kind="scores")
    state = {"scores": torch.tensor([[3.0, -1.0], [0.0, -float("inf")]])}
    artists = grid.draw(state)[1]
    norm = artists["heads"][0]["cells"].norm
    assert (norm.vmin, norm.vmax) == (-5.0, 5.0)
    assert grid.layout(state) != grid.layout({"scores": state["scores"] * 2})
    with pytest.raises(ValueError, match="kind must be one of"):
        HeadGrid(kind="colours")


def test_no_label_is_cut_or_drawn_as_a_box():
    tokens = ["猫", "🐟", "a$b$c", "x_{1}^2", "internationalisation", "\x07bell", "\\frac"]
    image, figure = drawn(weights=weights_of(7, heads=6), tokens=tokens)
    height, width = image.shape[:2]
    renderer = figure.canvas.get_renderer()
    for text in figure.findobj(lambda artist: hasattr(artist, "get_text") and artist.get_text()):
        if text.get_visible():
            box = text.get_window_extent(renderer)
            assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1, text
    words = {text.get_text() for text in figure.texts}
    assert {"query", "key", "head 6"} <= words
    assert "🐟" not in "".join(words)
    assert "🐟" in HeadGrid().legend({"weights": weights_of(7), "tokens": tokens})


def test_a_head_that_is_off_is_faded():
    on, _ = drawn(weights=weights_of(3), heads_on=[True, True])
    off, _ = drawn(weights=weights_of(3), heads_on=[True, False])
    assert (on != off).any() and off.mean() > on.mean()


def test_half_precision_and_one_head_without_an_axis_can_be_drawn():
    for dtype in (torch.bfloat16, torch.float16, torch.float64):
        drawn(weights=torch.eye(3, dtype=dtype))
    drawn(weights=torch.eye(3, requires_grad=True))


# What memory keeps


def kept_alive():
    """Count the objects that live, the figures among them, and the megabytes of this process (on Linux).

    Pages of files, such as PyTorch's libraries, are left out: the system takes and returns them as it likes.
    """
    # Before 3.11, matplotlib remembers the sizes of the last 4096 texts: no leak, but it grows for a while.
    sizes_of_texts = getattr(matplotlib.text, "_get_text_metrics_with_cache_impl", None)
    if hasattr(sizes_of_texts, "cache_clear"):
        sizes_of_texts.cache_clear()
    gc.collect()
    objects = gc.get_objects()
    figures = sum(type(thing) is Figure for thing in objects)
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return len(objects), figures, 0
    with contextlib.suppress(AttributeError):  # only glibc has it: what is free goes back to the system
        ctypes.CDLL(None).malloc_trim(0)
    resident, of_files = map(int, statm.read_text().split()[1:3])
    return len(objects), figures, (resident - of_files) * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_a_thousand_updates_over_changing_layouts_leave_memory_where_it_was():
    made = make_panel()

    def drive(updates):
        for i in range(updates):  # a new layout every ten updates
            made.set(n=1 + (i // 10) % (LAYOUTS_KEPT + 3), shift=i % 9)

    drive(300)
    objects, figures, megabytes = kept_alive()
    drive(1000)
    objects_now, figures_now, megabytes_now = kept_alive()
    assert figures_now <= figures
    assert objects_now < objects + 1000, "objects pile up"
    assert megabytes_now < megabytes + 60  # the pixels of a hundred layouts would be 100
    assert len(made._renderer._drawn) == LAYOUTS_KEPT
    made.close()
    assert kept_alive()[1] <= figures_now - LAYOUTS_KEPT


def test_two_panels_do_not_disturb_each_other():
    one, two = make_panel(), make_panel()
    picture = two.png()
    one.set(n=6, shift=3.0)
    assert two.png() == picture and two.controls["n"].value == 3
    one.close()
    two.controls["shift"].value = 1.0
    assert two.png() != picture


def registered():
    from ipywidgets.widgets import widget

    return len(getattr(widget, "_instances", None) or widgets.Widget.widgets)


def test_close_releases_every_widget_and_lets_the_panel_be_collected():
    before = registered()
    made = make_panel()
    assert registered() > before
    remembered = weakref.ref(made)
    made.close()
    made.close()
    assert registered() == before
    assert repr(made) == "Panel: A <panel>"
    del made
    gc.collect()
    assert remembered() is None


def test_a_cell_that_runs_again_closes_the_panels_of_its_last_run(monkeypatch):
    running = [("cell 1", "run 1")]
    monkeypatch.setattr(panel_module, "_running_cell", lambda: running[0])
    monkeypatch.setattr(panel_module, "_panels_by_cell", {})
    first, second = make_panel(), make_panel()  # two in one run: both live
    running[0] = ("cell 2", "run 2")
    other = make_panel()
    assert not (first._closed or second._closed or other._closed)
    running[0] = ("cell 1", "run 3")
    third = make_panel()
    assert first._closed and second._closed
    assert not (other._closed or third._closed)
    running[0] = (None, None)  # a front end that does not tell: nothing is closed
    make_panel()
    assert not third._closed


def test_the_running_cell_is_what_the_kernel_says(monkeypatch):
    request = {"metadata": {"cellId": "cell 1"}, "header": {"msg_id": "run 1"}}
    kernel = SimpleNamespace(get_parent=lambda channel: request if channel == "shell" else {})
    shell = SimpleNamespace(kernel=kernel)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert panel_module._running_cell() == ("cell 1", "run 1")
    request["metadata"] = {}  # Colab tells no cell
    assert panel_module._running_cell() == (None, None)
    shell.kernel = SimpleNamespace()  # an old kernel has no get_parent
    assert panel_module._running_cell() == (None, None)
    del shell.kernel
    assert panel_module._running_cell() == (None, None)


def test_nothing_is_wider_than_the_page(panel):
    assert panel.layout.max_width == panel._image.layout.max_width == "100%"
    assert panel._image.layout.width == "max-content"  # not stretched


def test_other_names_of_the_heads_are_drawn_anew():
    state = {"weights": weights_of(3), "tokens": ["a", "b", "c"], "head_names": ["who acts", "what"]}
    others = {**state, "head_names": ["who acts", "where"]}
    assert HeadGrid().layout(state) == HeadGrid().layout(dict(state)) != HeadGrid().layout(others)


def test_a_value_that_a_control_refuses_leaves_picture_and_controls_together():
    panel = make_panel()
    with pytest.raises(TraitError, match="FloatSlider instance expected a float"):
        panel.set(n=5, shift="far")
    assert panel.controls["n"].value == 5 and panel.description() == "5 tokens <&>"
    panel.set(n=4)
    assert panel.description() == "4 tokens <&>"
