"""The pages that play without a kernel: their states, their formulas, and that nothing is fetched."""

import functools
import itertools
import json
import random
import re
import shutil
import subprocess

import ipywidgets as widgets
import nbformat
import pytest
from matplotlib.colors import to_rgb

pytest.importorskip("latex2mathml")

from mha_helpers.pages.p00_start_here import cat_eats_fish_heads
from mha_helpers.pages.p02_qkv_projection import projection_explorer
from mha_helpers.pages.p05_causal_mask import mask_explorer
from mha_helpers.pages.p06_softmax import softmax_explorer
from mha_helpers.pages.p08_splitting_heads import splitting_explorer
from mha_helpers.panel import Panel
from mha_helpers.svg import Drawing
from tools import play, states
from tools.notebook import all_pages, name_of
from tools.set_repository import page_with_address
from tools.states import States, combined, key, options_of, thinned

PAGES = all_pages()
# Code, which is left alone, so that a dollar in it is no formula; what stands between $$ or $ is one.
FORMULA = re.compile(r"(`+)[^`].*?\1|\$\$(.+?)\$\$|\$([^$]+?)\$", re.DOTALL)
SOME_PANELS = [cat_eats_fish_heads, projection_explorer, softmax_explorer, splitting_explorer]
of_some_panels = pytest.mark.parametrize("explorer", SOME_PANELS, ids=lambda make: make.__name__)


@pytest.fixture(scope="module")
def pages():
    """Every page as HTML, with stored pictures in place of Panels."""
    return {path: play.page_html(path, panels=None) for path in PAGES}


@pytest.fixture(scope="module")
def states_of():
    """A function that returns the states of an explorer, made once, with the clicks of its start alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states, "MOST_CLICKS", 0)
        yield functools.cache(States)


@of_some_panels
def test_states_are_what_the_panel_says(states_of, explorer):
    made = states_of(explorer)
    draw = random.Random(explorer.__name__).sample(sorted(name for name in made.shown if " " not in name), 8)
    for name in draw:
        settings, panel = tuple(map(int, name.split(","))), explorer()
        chosen = zip(made.live.items(), settings, strict=True)
        panel.set(**{name: options[i][1] for (name, options), i in chosen})
        assert made.svg_of(settings) == panel.svg()
        assert made.shown[name][1:] == (panel.description(), settings)


@of_some_panels
def test_a_click_shows_what_the_panel_shows_then(states_of, explorer):
    made = states_of(explorer)
    clicked = sorted(name for name in made.shown if name.startswith(f"{key(made.start)} "))
    for name in random.Random(explorer.__name__).sample(clicked, 6):
        panel, click = explorer(), name.split(" ", 1)[1]
        for _ in click.split():  # "0,2,1", or "0,2,1 again"
            panel.click(*map(int, click.split()[0].split(",")))
        assert made.svg_of(made.start, click) == panel.svg()
        assert made.shown[name][1] == panel.description()


def test_each_option_of_one_control_is_a_state(states_of):
    made = states_of(softmax_explorer)
    for k, options in enumerate(made.live.values()):
        for i in range(len(options)):
            assert key((*made.start[:k], i, *made.start[k + 1 :])) in made.shown
    assert len(made.live["temperature"]) == 41


def test_what_does_not_say_by_itself_what_is_shown_is_no_control(states_of, monkeypatch):
    assert "follow" not in states_of(splitting_explorer).live  # its options follow from the sliders
    monkeypatch.setattr(States, "_grid", lambda self: [self.start])
    assert list(States(mask_explorer).live) == [
        "mask",
        "head",
        "query",
        "key",
    ]  # the box ticks a cell of the mask


def test_a_second_click_on_a_number_of_page_08_follows_its_head(states_of):
    made = states_of(splitting_explorer)
    first, second = (made.shown[key(made.start, click)][1] for click in ("0,2,0", "0,2,0 again"))
    assert first.startswith("Token 3") and second.startswith("Head 1")


@of_some_panels
def test_at_most_240_combinations_with_the_start_and_both_ends(explorer):
    panel = explorer()
    live = combined(panel)
    assert states.combinations(live) <= states.MOST_STATES
    for name, options in live.items():
        values, every = ([value for _, value in each] for each in (options, options_of(panel.controls[name])))
        assert panel.controls[name].value in values
        assert {values[0], values[-1]} == {every[0], every[-1]}
        assert values == [value for value in every if value in values]


def test_what_page_06_asks_for_is_among_the_states():
    """Its text names these settings, so that a page without a kernel must show them, too."""
    live = {name: [value for _, value in options] for name, options in combined(softmax_explorer()).items()}
    assert {0, 50, 86, 90} <= set(live["every"]) and {0.1, 1, 10} <= set(live["temperature"])
    assert min(live["cat"]) < 0 in live["cat"] and live["shift"] == [False, True]


def test_of_many_whole_numbers_the_powers_of_two_remain_of_others_every_second():
    for slider, expected in [
        (widgets.IntSlider(11, 1, 40), "1 2 4 8 11 16 32 40"),
        (widgets.IntSlider(0, -20, 20), "-20 -16 -8 -4 -2 -1 0 1 2 4 8 16 20"),
        (widgets.FloatSlider(0.75, min=0, max=1.25, step=0.25), "0.00 0.50 0.75 1.00 1.25"),
    ]:
        assert " ".join(label for label, _ in thinned(options_of(slider), slider.value)) == expected


def test_menus_that_are_too_many_are_refused_in_words():
    menus = {name: widgets.Dropdown(options=range(20)) for name in "ab"}
    panel = Panel("large", menus, lambda a, b: {}, lambda state: Drawing(10, 10), lambda state: [])
    with pytest.raises(ValueError, match="400 states"):
        combined(panel)


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


def test_a_control_has_a_label_a_start_and_all_its_names():
    slider = widgets.IntSlider(2, 1, 3, description="d_k <1>")
    written = play.control_html(slider, options_of(slider), start=1)
    assert "<label>d_k &lt;1&gt; <input" in written and 'max="2" value="1"' in written
    assert 'data-control="1|2|3"' in written and "<output>2</output>" in written
    menu = widgets.Dropdown(options=[("a & b", 0), ("c", 1)], description="mask")
    assert "<option value=1 selected>c</option>" in play.control_html(menu, options_of(menu), start=1)
    box = widgets.Checkbox(True, description="off")
    assert " checked>" in play.control_html(box, options_of(box), start=1)
    assert " checked>" not in play.control_html(box, options_of(box), start=0)


def test_a_panel_carries_its_picture_its_words_and_its_states(states_of, monkeypatch):
    monkeypatch.setattr(play, "States", states_of)
    written = play.panel_html(cat_eats_fish_heads)
    assert written.count("<select") == 3 and cat_eats_fish_heads().svg() in written
    assert re.search(r'<p role="status">Head 1: who acts\..*<br>A row shows', written)
    assert play.TYPED not in written and play.CLICKED in written


def test_what_a_cell_prints_is_text():
    for printed in (
        {"output_type": "stream", "text": "<b>"},
        {"output_type": "error", "ename": "<b>", "evalue": ""},
    ):
        assert "<pre>&lt;b&gt;" in play.output_html(nbformat.from_dict(printed))


def test_below_the_folded_code_of_a_panel_stands_the_panel_that_plays():
    output = nbformat.v4.new_output("display_data", {"text/plain": "Panel: heads"})
    cell = nbformat.v4.new_code_cell("heads()", outputs=[output])
    written = play.cell_html(cell, {"heads()": "<figure>heads</figure>"})
    assert written.startswith("<details><summary>The code of this picture") and written.endswith("</figure>")


# As much of a browser as play.js needs for one Panel, and one control of it moved.
BROWSER = """
const [packed, names, moved, to] = JSON.parse(require("fs").readFileSync(0));
const element = more => ({ classList: {}, setAttribute() {}, addEventListener(_, act) { this.act = act; }, ...more });
const parts = { script: element({ textContent: packed }), ".picture": element(), "[role=status]": element() };
const controls = names.map(control => element({ type: "select-one", dataset: { control } }));
const panel = { querySelector: part => parts[part], querySelectorAll: () => controls };
globalThis.document = { querySelectorAll: what => what === ".play" ? [panel] : [] };
globalThis.addEventListener = () => {};
const ready = setInterval(() => {
  if (controls[moved].disabled !== false) return;
  clearInterval(ready);
  controls[moved].value = to;
  controls[moved].act();
  const [svg, lines] = [parts[".picture"].innerHTML, parts["[role=status]"].innerText];
  console.log(JSON.stringify([svg, lines, controls.map(control => Number(control.value))]));
}, 10);
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_a_control_of_a_played_panel_shows_its_picture_and_its_words_in_lines():
    made = States(cat_eats_fish_heads)
    names = ["|".join(label for label, _ in options) for options in made.live.values()]
    given = json.dumps([made.packed(), names, 0, 2])
    command = ["node", "-e", BROWSER + play.part("play.js")]
    said = subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout
    panel = cat_eats_fish_heads()
    panel.set(head=2)
    # innerText makes a line of each "\n"; textContent would run them together.
    assert json.loads(said) == [panel.svg(), panel.description(), [2, *made.start[1:]]]


def luminance(colour):
    parts = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour))
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_words_and_links_are_readable_on_both_grounds(scheme):
    rules = re.findall(r":root \{(.*?)\}", play.part("play.css"), re.DOTALL)
    colours = dict(re.findall(r"--(\w+): (#\w+)", rules[scheme]))
    for words, ground in itertools.product(("ink", "link"), ("ground", "soft")):
        dark, light = sorted(luminance(colours[name]) for name in (words, ground))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (words, ground)


def test_every_formula_became_mathml(pages):
    formulas = 0
    for path, text in pages.items():
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
        matches = [match for cell in cells for match in FORMULA.finditer(cell.source)]
        expected = sum(bool(match[2] or match[3]) for match in matches)
        assert text.count("<math ") == expected, path
        prose = re.sub(r"<(style|script|pre|code)\b.*?</\1>|<[^>]*>", "", text, flags=re.DOTALL)
        assert not re.findall(r"\$[^$]{0,40}|\\(?:frac|sqrt|text|begin)\b", prose), path
        formulas += expected
    assert formulas > 100


def test_a_formula_keeps_what_markdown_would_take_and_code_keeps_its_dollar():
    written = play.markdown_html("so $a_1 * b_2 * c_3$ and `cost = $5` and $$\\frac{1}{2}$$")
    assert written.count("<math ") == 2 and "<em>" not in written and "<mfrac>" in written
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


def test_badges_of_a_repository_are_no_pictures_of_a_page(tmp_path, monkeypatch):
    page = nbformat.reads(page_with_address(PAGES[0], "octo/course", "main"), as_version=4)
    assert "colab-badge.svg" in page.cells[0].source
    monkeypatch.setattr(play.nbformat, "read", lambda path, as_version: page)
    assert "colab-badge.svg" not in play.page_html(PAGES[0], panels=None)


def test_links_lead_to_pages_that_are_there(pages):
    names = {f"{name_of(path)}.html" for path in PAGES} | {"index.html"}
    for path, text in pages.items():
        anchors = set(re.findall(r'id="([^"]*)"', text))
        for address in re.findall(r'href="([^"]*)"', text):
            file, _, anchor = address.partition("#")
            inside = file in names or (not file and anchor in anchors)
            assert inside or re.match(r"https?:|data:", address), (path, address)
    listed = re.findall(r'href="(\w+\.html)"', play.index_html(PAGES))
    assert sorted(listed) == sorted(names - {"index.html"})  # each once


def test_what_needs_a_kernel_is_folded(pages):
    text = pages[next(path for path in PAGES if path.name.startswith("03_"))]
    folded = re.findall(r"<details><summary>(.*?)</summary>", text)
    assert folded[0].startswith("The cell that sets this page up") and "Hints, in JupyterLab" in folded
