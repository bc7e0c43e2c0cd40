"""The pages that play without a kernel: their pictures, their formulas, and that nothing is fetched."""

import re

import ipywidgets as widgets
import nbformat
import pytest

pytest.importorskip("latex2mathml")

from mha_helpers.panel import Panel
from tools import play, states
from tools.notebook import all_pages
from tools.states import States

PAGES = all_pages()


@pytest.fixture(scope="module")
def pages():
    """Every page as HTML, with stored pictures in place of Panels."""
    return {path: play.page_html(path, panels={}) for path in PAGES}


def test_every_panel_of_the_course_stands_in_a_cell_of_its_own(pages):
    """What a cell stores as the picture of a Panel can be made from this cell alone."""
    count = 0
    for path in PAGES:
        for cell in nbformat.read(path, as_version=4).cells:
            text = "".join(out.get("data", {}).get("text/plain", "") for out in cell.get("outputs", []))
            if text.startswith("Panel: ") and not path.name.startswith("11_"):
                assert repr(play.panel_of(cell.source)) == text
                count += 1
    assert count >= 12


def made_up_panel(start=2, refused=(1, 3)):
    """Two settings of it do not combine; clicks on its cells do nothing, change a box, type a word or move a slider."""
    more = {"off": widgets.Checkbox(True), "word": widgets.Text("hi")}
    menu = widgets.Dropdown(options=[("c", 1), ("a & b", 0)], value=0)
    controls = {"mask": menu, "d": widgets.IntSlider(start, 1, 3, description="d <1>")}

    def compute(**values):
        if (values["mask"], values["d"]) == refused:
            raise ValueError("no")
        return values

    def draw(drawing, state):
        cells = "".join(f'<g class="hit" data-cell="0,0,{i}"><rect/></g>' for i in (9, 0, 1, 2))
        svg = f"<svg><rect/><rect/>{cells}<text>{' '.join(map(str, state.values()))}</text></svg>"
        drawing.svg = lambda: svg

    def click(values, map, row, column):
        word = "two" if values["word"] == "one" else "one"
        return {0: {"off": not values["off"]}, 1: {"word": word}, 2: {"d": 1, "word": "one"}}.get(column, {})

    return Panel("A <made-up>", controls, compute, draw, lambda _: ["<b>", "& more"], more, click=click)


PANEL = """\
<figure class="play"><figcaption>A &lt;made-up&gt;</figcaption><div class="controls"><label>mask <select disabled data-name="mask" data-control="c|a &amp; b"><option value=0>c</option><option value=1 selected>a &amp; b</option></select></label>\
<label>d &lt;1&gt; <input type="range" min="0" max="2" value="1" disabled data-name="d &lt;1&gt;" data-control="1|2|3" aria-valuetext="2"><output>2</output></label><button type="button" class="reset" disabled>reset</button></div>\
<details><summary>more</summary><div class="controls"><label><input type="checkbox" disabled data-name="off" data-control="no|yes" checked> off</label></div></details>\
<div class="scroll picture"><svg><rect/><rect/><g class="hit" data-cell="0,0,9"><rect/></g><g class="hit" data-cell="0,0,0"><rect/></g><g class="hit" data-cell="0,0,1"><rect/></g><g class="hit" data-cell="0,0,2"><rect/></g><text>0 2 True hi</text></svg></div>\
<p role="status">&lt;b&gt;<br>&amp; more</p>\
<p class="note">To type words of your own, open this page in JupyterLab. Click or tap a cell to choose it. In JupyterLab several clicks also add up. Not every combination of settings is kept here; a line says so where one is left out.</p><script type="text/plain"></script></figure>"""


def test_a_panel_to_the_letter():
    assert re.sub('(plain">).*?<', r"\1<", play.panel_html(made_up_panel)) == PANEL


def test_after_so_many_clicks_no_further_state_is_clicked_through(monkeypatch):
    monkeypatch.setattr(states, "MOST_CLICKS", 1)
    made = States(made_up_panel)
    assert {name.split()[0] for name in made.shown if " " in name} == {states.key(made.start)}


def test_no_formula_is_left_as_it_was_typed(pages):
    assert sum(text.count("<math ") for text in pages.values()) > 100
    for path, text in pages.items():
        prose = re.sub(r"<(style|script|pre|code)\b.*?</\1>|<[^>]*>", "", text, flags=re.DOTALL)
        assert not re.findall(r"\$[^$]{0,40}|\\(?:frac|sqrt|text|begin)\b", prose), path


def test_a_formula_keeps_what_markdown_would_take_and_code_keeps_its_dollar():
    written = play.markdown_html("so $a_1 * b_2 * c_3$ and `cost = $5` and $$\\frac{1}{2}$$")
    assert [written.count(part) for part in ("<math ", 'display="block"', "<mfrac>", "<em>")] == [2, 1, 1, 0]
    assert "cost = $5" in written
    heading = play.markdown_html("## After $W_O$")
    assert "<math display" in heading and 'id="After-WO"' in heading


def test_a_page_fetches_nothing_and_fits_a_telephone(pages):
    for text in [*pages.values(), play.index_html(PAGES)]:
        for tag in re.findall(r"<(?:script|link|img|iframe|image|source)\b[^>]*>", text):
            for address in re.findall(r'(?:src|href)="([^"]*)"', tag):
                assert address.startswith("data:"), tag[:100]
        assert not re.search(r"@import|url\(", text)
        assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text
        # Stored pictures are transparent, and have dark words.
        assert re.search(r"\.output img \{[^}]*background: #fff;", text)
