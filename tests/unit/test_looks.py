"""Nothing that the course draws or says of a picture changes unnoticed."""

import io

import pytest
from looks import EXPLORERS, FOLDER, NAMES, fault, kept_words, pictures, thumbnail
from PIL import Image, ImageDraw

REFRESH = "If it is meant: python tests/unit/looks.py --write, and look at the pictures."


@pytest.mark.parametrize("drawn", NAMES)
def test_a_picture_and_its_words_are_as_they_were(drawn):
    words, faults = kept_words(), []
    for name, png, said in pictures(drawn):
        found = fault(png, name)
        faults += [found] if found else []
        if words.get(name) != said:
            faults.append(f"{name} says: {said}\n    before: {words.get(name)}")
    assert not faults, "\n".join([*faults, REFRESH])


@pytest.mark.parametrize("drawn", NAMES)
def test_where_a_learner_calculates_in_float64_every_picture_says_the_same(drawn, float64_by_default):
    assert [said for _, _, said in pictures(drawn)] == [
        kept_words()[name] for name in (drawn, f"{drawn}_moved")[: 2 if drawn in EXPLORERS else 1]
    ]


def test_nothing_is_kept_of_a_picture_that_is_gone():
    names = {*NAMES, *(f"{name}_moved" for name in EXPLORERS)}
    assert {path.stem for path in FOLDER.glob("*.png")} == set(kept_words()) == names, REFRESH


@pytest.mark.parametrize("name", ["heads", "attention_explorer"])
def test_a_changed_picture_is_noticed_and_said_where(name):
    image = Image.open(io.BytesIO(pictures(name)[0][1])).convert("RGB")
    assert fault(_bytes(image), name) is None
    width, height = image.size
    spot = image.copy()
    ImageDraw.Draw(spot).rectangle([width // 2, height // 2, width // 2 + 20, height // 2 + 20], fill="red")
    assert "from the left" in fault(_bytes(spot), name)
    moved = Image.new("RGB", image.size, "white")
    moved.paste(image, (8, 0))
    assert "looks different" in fault(_bytes(moved), name)
    assert "has the shape" in fault(_bytes(image.crop((0, 0, width, height // 2))), name)
    assert fault(_bytes(image), "unknown") == "unknown is new"


def _bytes(image):
    stream = io.BytesIO()
    image.save(stream, format="png")
    return stream.getvalue()


def test_a_thumbnail_keeps_the_shape():
    assert thumbnail(_bytes(Image.new("RGB", (960, 480)))).size == (96, 48)
