"""What a reader sees who only opens a notebook: HTML made without a kernel, as nbviewer and exports do."""

import re
from html.parser import HTMLParser

import nbformat
import pytest
from export import ReadingExporter
from notebook_page import EXPLORERS, Page, stored_pages
from sample_page import NAME, code, picture, printed, sample_page, write_page


def as_html(notebook):
    """A notebook as the reading copy shows it."""
    return ReadingExporter().from_notebook_node(notebook)[0]


class _Images(HTMLParser):
    def __init__(self):
        super().__init__()
        self.alts = []

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.alts.append(dict(attributes).get("alt") or "")


def faults_of(page: Page) -> list[str]:
    """What is wrong with the static view of `page`, in sentences."""
    html, faults = as_html(page.notebook), []
    body = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.DOTALL)
    for words in (
        "Error displaying widget",
        "Error creating widget",
        "jupyter-widgets-view",
        "widget-view+json",
    ):
        if words in body:
            faults.append(f"shows {words!r}")
    text = re.sub(r"<[^>]+>", "", body)
    faults += [f"shows a widget in words: {words!r}" for words in re.findall(r"\b[VH]Box\(.{0,30}", text)]
    images = _Images()
    images.feed(body)
    stored = page.pictures()
    if len(images.alts) < len(stored):
        faults.append(f"{len(images.alts)} of {len(stored)} stored pictures are shown")
    told = [re.sub(r"\s+", " ", alt) for alt in images.alts]
    faults += [f"picture {i} has no text alternative" for i, alt in enumerate(told) if len(alt.split()) < 3]
    faults += [f"picture {i}: {alt!r}" for i, alt in enumerate(told) if alt.startswith("No description")]
    explorer = EXPLORERS[page.number]
    for cell in page.code:
        shows = re.search(rf"^(?:panel = )?{explorer}\(", cell.source, re.MULTILINE)
        if (
            shows
            and cell.outputs
            and not any("image/png" in output.get("data", {}) for output in cell.outputs)
        ):
            faults.append(f"{cell.id}: no picture in place of the explorer")
    return faults


@pytest.mark.parametrize("page", stored_pages(), ids=lambda page: page.name)
def test_a_stored_notebook_is_readable_without_a_kernel(page):
    faults = faults_of(page)
    assert not faults, "\n  ".join([page.path.name, *faults])
    assert page.pictures()


def test_a_good_page_passes(tmp_path):
    assert faults_of(Page(write_page(sample_page(), tmp_path))) == []


@pytest.mark.parametrize(
    "cell",
    [
        code("scores_explorer()", printed("VBox(children=(IntSlider(value=3),))\n")),
        code("scores_explorer()", printed("Error displaying widget: model not found\n")),
        code("heatmap(x)", picture(alt="")),
    ],
    ids=["widget in words", "error", "no alt"],
)
def test_a_page_that_shows_no_picture_or_no_words_is_refused(cell, tmp_path):
    notebook = sample_page()
    notebook.cells.append(nbformat.from_dict(cell))
    assert faults_of(Page(write_page(notebook, tmp_path, NAME)))


def test_the_words_of_a_picture_are_escaped(tmp_path):
    notebook = sample_page()
    notebook.cells.append(code("heatmap(x)", picture('weights of "<b>cat</b>" & fish')))
    html = as_html(notebook)
    assert 'alt="weights of &quot;&lt;b&gt;cat&lt;/b&gt;&quot; &amp; fish"' in html or (
        "alt='weights of \"&lt;b&gt;cat&lt;/b&gt;\" &amp; fish'" in html
    )
