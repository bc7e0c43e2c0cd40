"""The scaling explorer: its numbers against independent ones, its picture, and what the page promises."""

import io
import itertools
import math

import numpy as np
import pytest
import torch
from PIL import Image

from mha_helpers import attention_scores, scale_scores, scaling_explorer
from mha_helpers.explorers.e04_picture import ScalePicture
from mha_helpers.explorers.e04_scaling import D_KS, D_MODEL, ROW, SCALES, SENTENCES, TOKENS, details, measures

pytestmark = pytest.mark.usefixtures("warnings_are_errors")


@pytest.fixture(scope="module")
def one_panel():
    panel = scaling_explorer()
    yield panel
    panel.close()


@pytest.fixture
def panel(one_panel):
    one_panel.set(d_k=64, scale="none", size=1.0, alignment=0.0)
    return one_panel


def pixels(panel):
    return np.asarray(Image.open(io.BytesIO(panel.png())).convert("RGB")).astype(int)


def now(state, name):
    return float(state[name][state["place"]])


def test_every_state_of_the_controls_is_drawn_and_keeps_the_rules(panel):
    others = ((1.0, 0.0), (0.5, 0.7), (2.0, 1.0))
    for d_k, scale, (size, alignment) in itertools.product(D_KS, SCALES, others):
        panel.set(d_k=d_k, scale=scale, size=size, alignment=alignment)
        state = panel.state()
        assert panel.message() == ""
        assert state["weights"].shape == (SENTENCES, TOKENS, TOKENS)
        assert torch.allclose(state["weights"].sum(dim=-1), torch.ones(SENTENCES, TOKENS))
        assert 1 / TOKENS - 1e-6 <= now(state, "largest") <= 1 + 1e-6
        assert -1e-6 <= now(state, "entropy") <= math.log2(TOKENS) + 1e-5
        assert -1e-6 <= now(state, "gradient") <= 1 - 1 / TOKENS + 1e-6
        assert f"d_k = {d_k}" in panel.description()


@pytest.mark.parametrize("d_k", D_KS)
def test_scores_and_weights_come_from_the_queries_and_keys_shown(panel, d_k):
    panel.set(d_k=d_k, scale="÷√d_k", size=1.5, alignment=0.3)
    state = panel.state()
    assert state["q"].shape == state["k"].shape == (SENTENCES, TOKENS, d_k)
    assert torch.allclose(state["scores"], attention_scores(state["q"], state["k"]), atol=2e-3)
    assert torch.allclose(state["scaled"], scale_scores(state["scores"], d_k), atol=1e-4)
    assert torch.allclose(state["weights"], torch.softmax(state["scaled"], dim=-1), atol=1e-5)
    assert torch.equal(state["row"], state["weights"][ROW])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("d_k", D_KS)
def test_the_spread_lies_on_its_line(panel, d_k, scale):
    panel.set(d_k=d_k, scale=scale)
    line = {
        "none": math.sqrt(d_k),
        "÷√d_k": 1,
        "÷d_k": 1 / math.sqrt(d_k),
        "×√d_k": d_k,
        "÷√d_model": math.sqrt(d_k / D_MODEL),
    }[scale]
    assert panel.state()["scaled"].std().item() == pytest.approx(line, rel=0.03)
    assert now(panel.state(), "spread") == pytest.approx(panel.state()["scaled"].std().item(), rel=1e-4)


def test_queries_and_keys_are_what_the_argument_assumes(panel):
    panel.set(d_k=512)
    q, k = panel.state()["q"], panel.state()["k"]
    assert q.mean().abs() < 0.01 and k.mean().abs() < 0.01
    assert q.var().item() == pytest.approx(1, abs=0.01) and k.var().item() == pytest.approx(1, abs=0.01)
    assert (q * k).mean().abs() < 0.01


@pytest.mark.parametrize("alignment", [0.25, 0.5, 1.0])
def test_alignment_is_the_correlation_with_the_own_key_and_leaves_the_variance(panel, alignment):
    panel.set(d_k=512, alignment=alignment, size=2.0)
    q, k = panel.state()["q"], panel.state()["k"]
    assert k.var().item() == pytest.approx(4, rel=0.02)
    assert ((q * k).mean() / 4).item() == pytest.approx(alignment, abs=0.01)


def test_a_larger_head_keeps_the_numbers_of_the_smaller_one(panel):
    panel.set(d_k=8)
    small = panel.state()["q"]
    panel.set(d_k=512)
    assert torch.equal(panel.state()["q"][..., :8], small)


def test_the_gradient_is_the_trace_of_the_jacobian_and_the_entropy_that_of_torch(panel):
    weights = panel.state()["weights"]
    found = measures(weights)
    traces, entropies = [], []
    for row in panel.state()["scaled"][0]:
        jacobian = torch.autograd.functional.jacobian(lambda scores: torch.softmax(scores, dim=-1), row)
        traces.append(jacobian.diagonal().sum())
        entropies.append(torch.distributions.Categorical(logits=row).entropy() / math.log(2))
    first = measures(weights[:1])
    assert first["gradient"].item() == pytest.approx(torch.stack(traces).mean().item(), abs=1e-5)
    assert first["entropy"].item() == pytest.approx(torch.stack(entropies).mean().item(), abs=1e-5)
    largest = weights.max(dim=-1).values.mean().item()
    assert found["largest"].item() == pytest.approx(largest, abs=1e-6)


def test_measures_of_the_two_extreme_rows():
    flat = torch.full((1, 2, 16), 1 / 16)
    sharp = torch.eye(16)[None, :2]
    assert measures(flat)["entropy"].item() == pytest.approx(4)
    assert measures(flat)["gradient"].item() == pytest.approx(15 / 16)
    assert measures(flat)["still"].item() == 0
    assert measures(sharp)["entropy"].item() == measures(sharp)["gradient"].item() == 0
    assert measures(sharp)["still"].item() == 1


def test_what_try_this_1_promises(panel):
    panel.set(scale="none", d_k=1)
    assert panel.state()["row"].max() < 0.5
    panel.set(d_k=512)
    assert panel.state()["row"].max() > 0.99
    assert now(panel.state(), "still") == pytest.approx(2 / 3, abs=0.05)
    assert "65% of the rows stand still" in panel.description()


def test_what_try_this_2_promises(panel):
    for d_k in D_KS:
        panel.set(scale="÷√d_k", d_k=d_k)
        assert panel.state()["row"].max() < 0.5
        assert now(panel.state(), "still") == 0
    panel.set(scale="÷d_k", d_k=512)
    assert panel.state()["row"].max() < 1.3 / TOKENS
    right = []
    for d_k in D_KS:
        panel.set(scale="÷√d_model", d_k=d_k)
        if now(panel.state(), "spread") == pytest.approx(1, abs=0.05):
            right.append(d_k)
    assert right == [512]


def test_what_try_this_3_promises(panel):
    panel.set(scale="÷√d_k", d_k=256, alignment=0.5)
    scaled = panel.state()["scaled"]
    own = scaled.diagonal(dim1=-2, dim2=-1)
    others = scaled[:, ~torch.eye(TOKENS, dtype=torch.bool)]
    assert own.mean().item() == pytest.approx(8, abs=0.2)
    assert own.min() > others.abs().quantile(0.99)  # two bells that can be told apart
    assert panel.state()["row"].argmax().item() == ROW[1]
    assert panel.state()["row"].max() > 0.9


def test_every_control_changes_the_picture(panel):
    for name, value in {"d_k": 256, "scale": "÷√d_k", "size": 1.5, "alignment": 0.8}.items():
        before = pixels(panel)
        panel.controls[name].value = value
        assert (pixels(panel) != before).any(), name


def test_nothing_is_cut_at_the_edge_of_the_picture(panel):
    for settings in (
        {},
        {"scale": "×√d_k", "d_k": 512, "size": 2.0, "alignment": 1.0},
        {"scale": "÷d_k", "d_k": 512},
    ):
        panel.set(**settings)
        image = pixels(panel)
        edges = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
        assert (edges > 240).all()


def test_the_table_shows_all_scales_and_marks_the_chosen_one(panel):
    panel.set(d_k=64, scale="÷d_k")
    html = details(panel.state())
    assert [name for name in SCALES if f">{name}</th>" in html] == list(SCALES)
    assert html.count("font-weight: bold") == 1
    bold = html[html.index("font-weight: bold") :].split("</tr>")[0]
    assert ">÷d_k<" in bold and ">0.13<" in bold and ">0.94<" in bold


def test_arguments_set_the_controls():
    panel = scaling_explorer(d_k=128, scale="÷√d_k", size=0.5, alignment=0.25)
    values = {name: control.value for name, control in panel.controls.items()}
    panel.close()
    assert values == {"d_k": 128, "scale": "÷√d_k", "size": 0.5, "alignment": 0.25}


@pytest.mark.parametrize("settings", [{}, {"d_k": 512}, {"scale": "÷√d_k", "d_k": 256, "alignment": 0.5}])
def test_the_picture_shows_the_state(panel, settings):
    panel.set(**settings)
    state = panel.state()
    picture = ScalePicture(D_KS, SCALES, query=ROW[1] + 1, keys=TOKENS, bits=4.0)
    artists = picture.draw(state)[1]
    picture.update(artists, state)
    place, d_k = state["place"], state["d_k"]
    assert artists["spreads"].get_ydata() == pytest.approx(state["spread"].tolist())
    assert artists["spread_now"].get_xydata()[0] == pytest.approx([d_k, float(state["spread"][place])])
    assert [bar.get_height() for bar in artists["bars"]] == pytest.approx(state["row"].tolist())
    assert artists["row_text"].get_text() == f"{state['row'].max():.2f}"
    for name, full in {"largest": 1, "entropy": 4, "gradient": 1}.items():
        assert artists[name].get_ydata() == pytest.approx((state[name] / full).tolist())
        assert artists[f"{name}_now"].get_xydata()[0] == pytest.approx([d_k, now(state, name) / full])
    heights, borders, _ = artists["histogram"].get_data()
    scaled = state["scaled"].flatten().numpy()
    counted = [int(((scaled >= a) & (scaled < b)).sum()) for a, b in itertools.pairwise(borders)]
    assert heights == pytest.approx(np.array(counted) / max(counted), abs=1e-3)
    assert artists["bracket"].get_xdata() == pytest.approx([-now(state, "spread"), now(state, "spread")])
    assert artists["spread_text"].get_text() == f"spread {now(state, 'spread'):.2f}"
    outside = (abs(scaled) > 40).mean()
    assert artists["outside"].get_text() == (f"{outside:.0%} lie outside" if outside > 0.005 else "")


def test_the_words_name_the_query_and_its_own_key(panel):
    panel.set(d_k=64, scale="none", alignment=0)
    assert f" In the row of query {ROW[1] + 1}, key " in panel.description()
    assert "own key" not in panel.description()
    panel.controls["alignment"].value = 0.5
    own = torch.stack([sentence.diagonal() for sentence in panel.state()["scaled"]]).mean()
    assert f"The score of a query on its own key is {own:.2f} on average." in panel.description()
