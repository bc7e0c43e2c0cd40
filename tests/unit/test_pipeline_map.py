"""The pipeline map: one step lit, true shapes, the order of the data."""

import re

import pytest

from mha_helpers import style
from mha_helpers.figures import pipeline_map
from mha_helpers.figures.pipeline import STEPS


@pytest.mark.parametrize("step", range(1, 10))
def test_one_step_is_lit(step):
    picture = pipeline_map(step)
    current = next(s for s in STEPS if s.number == step)
    assert picture.alt.startswith(f"Page {step:02} is lit: {current.said}")
    ink = {t.get_text() for t in picture.figure.axes[0].texts if t.get_color() == style.COLOURS["ink"]}
    assert {f"{step:02}", current.name} <= ink
    assert not {s.name for s in STEPS if s.number != step} & ink


def test_the_map_has_every_step_once_in_the_order_of_the_data():
    assert [step.number for step in STEPS] == [1, 2, 8, 3, 4, 5, 6, 7, 9]
    flow = pipeline_map(1).alt.splitlines()[1]
    assert re.findall(r"(\d\d) ", flow) == ["01", "02", "08", "03", "04", "05", "06", "07", "09"]


def test_the_shapes_are_those_of_the_golden_example():
    texts = [t.get_text() for t in pipeline_map(2).figure.axes[0].texts]
    shapes = [text for text in texts if re.fullmatch(r"\([\d, ]+\)", text)]
    q, scores, heads = "(3, 6)", "(3, 3, 3)", "(3, 3, 2)"
    assert shapes == [q, q, heads, scores, scores, scores, scores, heads, q]


@pytest.mark.parametrize(("step", "error"), [(0, ValueError), (10, ValueError), ("3", TypeError)])
def test_there_are_nine_steps(step, error):
    with pytest.raises(error, match="step must be"):
        pipeline_map(step)
