"""Every slide of every deck fits 1280 × 720 without scrolling, asks no other machine, and holds no wall of code."""

import shutil

import make_slides
import pytest
from course_notebooks import course_notebooks
from slides import measured, open_deck

NOTEBOOKS = course_notebooks()
SMALLEST_LETTERS = 0.6  # of letters 27 pixels high


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    cache = make_slides.ROOT / "dist" / "npm"
    there = all(
        (cache / f"{name}-{version}").is_dir() for name, (version, *_) in make_slides.PACKAGES.items()
    )
    if not there and shutil.which("npm") is None:
        pytest.skip("no npm, which fetches reveal.js and KaTeX: install Node.js to test the slides")
    folder = tmp_path_factory.mktemp("slides") / "decks"
    make_slides.make(NOTEBOOKS, folder, cache)
    return folder


@pytest.mark.parametrize("notebook", ["index", *(path.stem for path in NOTEBOOKS)])
def test_every_slide_fits(decks, browser, notebook):
    page, trouble = open_deck(browser, decks / f"{notebook}.html")
    try:
        slides = measured(page)
        faults = [f"slide {i + 1}: {fault}" for i, one in enumerate(slides) for fault in one["faults"]]
        faults += [
            f"slide {i + 1}: letters are shrunk to {one['scale']:.0%}; split it"
            for i, one in enumerate(slides)
            if one["scale"] < SMALLEST_LETTERS
        ]
        faults += [
            f"slide {i + 1}: {lines} lines of code in one piece"
            for i, one in enumerate(slides)
            for lines in one["code"]
            if lines > make_slides.LONGEST_ALONE
        ]
        assert not faults + trouble, "\n".join(faults + trouble)
    finally:
        page.close()
    if notebook != "index":
        assert len(slides) >= 5


def test_a_slide_that_is_too_long_is_noticed(decks, browser):
    """The measure itself: 60 paragraphs do not fit, whatever the scale."""
    page, _ = open_deck(browser, decks / "index.html")
    try:
        page.evaluate(
            "() => { document.querySelector('.fit').innerHTML += '<p>one more line</p>'.repeat(60); }"
        )
        (slide,) = measured(page)
        assert any("ends at" in fault for fault in slide["faults"])
    finally:
        page.close()
