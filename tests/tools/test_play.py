"""The pages that play without a kernel: their pictures, their formulas, and that nothing is fetched."""

import functools
import json
import re
import shutil
import subprocess

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
    return {path: play.page_html(path, panels=None) for path in PAGES}


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
<figure class="play"><figcaption>A &lt;made-up&gt;</figcaption><div class="controls"><label>mask <select disabled data-control="c|a &amp; b"><option value=0>c</option><option value=1 selected>a &amp; b</option></select></label>\
<label>d &lt;1&gt; <input type="range" min="0" max="2" value="1" disabled data-control="1|2|3" aria-valuetext="2"><output>2</output></label></div>\
<details><summary>more</summary><div class="controls"><label><input type="checkbox" disabled data-control="no|yes" checked> off</label></div></details>\
<div class="scroll picture"><svg><rect/><rect/><g class="hit" data-cell="0,0,9"><rect/></g><g class="hit" data-cell="0,0,0"><rect/></g><g class="hit" data-cell="0,0,1"><rect/></g><g class="hit" data-cell="0,0,2"><rect/></g><text>0 2 True hi</text></svg></div>\
<p role="status">&lt;b&gt;<br>&amp; more</p>\
<p class="note">To type words of your own, open this page in JupyterLab. Where the pointer is a hand, a click answers; in JupyterLab clicks also add up. Not all settings combine here: where one sets another back, JupyterLab does not.</p><script type="text/plain"></script></figure>"""


def test_a_panel_to_the_letter():
    assert re.sub('(plain">).*?<', r"\1<", play.panel_html(made_up_panel)) == PANEL


# As much of a browser as play.js needs for one Panel; a step is a cell that is clicked or control=value.
BROWSER = """
const [packed, names, types, steps] = JSON.parse(require("fs").readFileSync(0));
const element = more => ({ addEventListener(kind, act) { this[kind] = act; }, setAttribute(name, value) { this[name] = value; }, ...more });
const picture = element({ classList: { toggle(_, on) { picture.answers = on; } } });
const parts = { script: element({ textContent: packed }), ".picture": picture, "[role=status]": element() };
const controls = names.map((control, i) => element({ type: types[i], dataset: { control }, nextElementSibling: types[i] === "range" ? {} : null }));
const panel = { querySelector: part => parts[part], querySelectorAll: () => controls };
const boxes = [10, 11].map(scrollWidth => ({ scrollWidth, clientWidth: 10, removeAttribute() { this.tabIndex = -1; } }));
globalThis.document = { querySelectorAll: what => what === ".play" ? [panel] : what.includes(".scroll") ? boxes : [] }, kinds = [];
globalThis.addEventListener = (kind, _, more) => kinds.push(kind, !!more?.capture);
const shown = () => [/<text>([^<]*)/.exec(picture.innerHTML)[1], controls[1]["aria-valuetext"], controls[1].nextElementSibling.value,
  controls.map(control => control.type === "checkbox" ? control.checked : control.value).join()].join(" | ");
const ready = setInterval(() => {
  if (controls[0].disabled !== false) return;
  clearInterval(ready);
  const seen = [shown()];
  for (const step of steps) {
    const [what, to] = step.split("="), event = { target: { closest: () => ({ dataset: { cell: step } }) } };
    if (to) { Object.assign(controls[what], types[what] === "checkbox" ? { checked: to === "true" } : { value: to }).input(); }
    else { picture.pointerover(event); picture.click(event); }
    seen.push(`${picture.answers} ${shown()}`);
  }
  console.log(JSON.stringify([seen, parts["[role=status]"].innerText, picture.innerHTML, [...boxes.map(box => box.tabIndex), ...kinds]]));
}, 10);
"""
# Cell clicked or control set: whether the pointer was a hand, mask d off word | what the slider says | controls
WALK = """start: 0 2 True hi | 2 | 2 | 1,1,true
0,0,1: true 0 2 True one | 2 | 2 | 1,1,true
0,0,1: true 0 2 True two | 2 | 2 | 1,1,true
1=2: true 0 3 True two | 3 | 3 | 1,2,true
0,0,9: false 0 3 True two | 3 | 3 | 1,2,true
0,0,0: true 0 3 False hi | 3 | 3 | 1,2,false
2=true: true 0 3 True hi | 3 | 3 | 1,2,true
0,0,0: true 0 3 False hi | 3 | 3 | 1,2,false
0=0: true 1 2 False hi | 2 | 2 | 0,1,false
1=2: true 1 2 False hi | 2 | 2 | 0,1,false
1=0: true 1 1 False hi | 1 | 1 | 0,0,false
1=2: true 1 2 False hi | 2 | 2 | 0,1,false
0=1: true 0 2 False hi | 2 | 2 | 1,1,false
0,0,2: true 0 1 False one | 1 | 1 | 1,0,false
0,0,1: true 0 1 False one | 1 | 1 | 1,0,false"""


# The setting beside the start is refused: a slider goes on to the next, and back over it.
UNEVEN = """start: 0 1 True hi | 1 | 1 | 1,0,true
1=1: undefined 0 3 True hi | 3 | 3 | 1,2,true
1=1: undefined 0 1 True hi | 1 | 1 | 1,0,true"""


def walked(made, walk):
    """Do the steps of a walk in what play.js makes of a Panel; return what is said of each, and the end."""
    names = ["|".join(label for label, _ in options) for options in made.live.values()]
    steps = [line.split(": ")[0] for line in walk.splitlines()[1:]]
    given = json.dumps([made.packed(), names, ["select-one", "range", "checkbox"], steps])
    command = ["node", "-e", BROWSER + play.part("play.js")]
    said = subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout
    seen, *end = json.loads(said)
    assert "\n".join(seen) == "\n".join(line.split(": ")[1] for line in walk.splitlines())
    return end


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_controls_and_clicks_of_a_played_panel_show_what_they_say():
    walked(States(functools.partial(made_up_panel, start=1, refused=(0, 2))), UNEVEN)
    panel, (lines, svg, focus) = made_up_panel(), walked(States(made_up_panel), WALK)
    panel.set(d=1, off=False, word="one")
    # innerText makes a line of each "\n"; textContent would run them together.
    assert (lines, svg) == (panel.description(), panel.svg())
    assert focus == [-1, 0, "resize", False, "toggle", True]


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
