"""The pages that play without a kernel: their pictures, their formulas, and that nothing is fetched."""

import itertools
import json
import re
import shutil
import subprocess

import ipywidgets as widgets
import nbformat
import pytest
from matplotlib.colors import to_rgb

pytest.importorskip("latex2mathml")

from mha_helpers.panel import Panel
from tools import play, states
from tools.notebook import all_pages
from tools.states import States

PAGES, PANEL_OF = all_pages(), play.panel_of
# Code, which is left alone, so that a dollar in it is no formula; what stands between $$ or $ is one.
FORMULA = re.compile(r"(`+)[^`].*?\1|\$\$(.+?)\$\$|\$([^$]+?)\$", re.DOTALL)


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


def made_up_panel():
    """Two settings of it do not combine; clicks on its cells type a word, move a slider, or change a box."""
    more = {"off": widgets.Checkbox(True), "word": widgets.Text("hi")}
    menu = widgets.Dropdown(options=[("c", 1), ("a & b", 0)], value=0)
    controls = {"mask": menu, "d": widgets.IntSlider(2, 1, 3, description="d <1>")}

    def compute(**values):
        if values["mask"] == 1 and values["d"] == 3:
            raise ValueError("no")
        return values

    def draw(drawing, state):
        cells = "".join(f'<g class="hit" data-cell="0,0,{i}"><rect/></g>' for i in range(3))
        svg = f"<svg>{cells}<text>{' '.join(map(str, state.values()))}</text></svg>"
        drawing.svg = lambda: svg

    def click(values, map, row, column):
        word = "two" if values["word"] == "one" else "one"
        return [{"off": not values["off"]}, {"word": word}, {"d": 1, "word": "one"}][column]

    return Panel("A <made-up>", controls, compute, draw, lambda _: ["<b>", "& more"], more, click=click)


PANEL = """\
<figure class="play"><figcaption>A &lt;made-up&gt;</figcaption><div class="controls"><label>mask <select disabled data-control="c|a &amp; b"><option value=0>c</option><option value=1 selected>a &amp; b</option></select></label>\
<label>d &lt;1&gt; <input type="range" min="0" max="2" value="1" disabled data-control="1|2|3" aria-valuetext="2"><output>2</output></label></div>\
<details><summary>more</summary><div class="controls"><label><input type="checkbox" disabled data-control="no|yes" checked> off</label></div></details>\
<div class="scroll picture"><svg><g class="hit" data-cell="0,0,0"><rect/></g><g class="hit" data-cell="0,0,1"><rect/></g><g class="hit" data-cell="0,0,2"><rect/></g><text>0 2 True hi</text></svg></div>\
<p role="status">&lt;b&gt;<br>&amp; more</p>\
<p class="note">To type words of your own, open this page in JupyterLab. Where the pointer is a hand, a click answers; in JupyterLab clicks also add up. Not all settings combine here: where one sets another back, JupyterLab does not.</p><script type="text/plain"></script></figure>"""
PAGE = """<h1>Why &amp; <when>? · 5 min</h1> <details><summary>The cell that sets this page up in JupyterLab</summary><div class="scroll code"><pre># @title
Set-up </pre></div> </details> <div class="scroll"><table> <thead> <tr> <th>a</th> </tr> </thead> <tbody> <tr> <td>b</td> </tr> </tbody> </table></div>
<p><a href="deeper_04_scaling.html#S">s</a></p> <div class="scroll code"><pre># hint x </pre></div> <div class="scroll
output"><pre>&lt;b&gt;</pre></div><div class="scroll output"><pre>&lt;E&gt;: of 0</pre></div><div class="scroll output"><i>as it is</i></div><div
class="scroll output"><pre>a &lt; b</pre></div><div class="scroll output"><img alt="a &quot;b&quot;" width="60" src="data:image/png;base64,iV"></div>
<details><summary>Hints, in JupyterLab</summary><div class="scroll code"><pre># hint() # solution() </pre></div> </details> <details><summary>The code
of this picture</summary><div class="scroll code"><pre>panel() </pre></div> </details> </main> </body> </html>"""
# fmt: off
LISTED = ['Twenty minutes', '00 00_a.html Why &amp; &lt;when&gt;?', 'One sitting', 'one_d.html Why &amp; &lt;when&gt;?', 'The course', '05 05_b.html Why &amp; &lt;when&gt;?']
LISTED += ['After it', '11 11_c.html Why &amp; &lt;when&gt;?', 'Deeper', '04 deeper_04_e.html Why &amp; &lt;when&gt;?']
# fmt: on


def test_a_panel_to_the_letter():
    assert re.sub('(plain">).*?<', r"\1<", play.panel_html(made_up_panel)) == PANEL


@pytest.fixture
def made_up_page(tmp_path):
    """A function that writes a page with all that a cell can hold."""
    new, code, words = nbformat.v4.new_output, nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    title = "# Why & <when>? · 5 min\n\n[![Open in Colab](badge.svg)](https://a.org)"
    outputs = [
        new("stream", text="<b>"), new("error", ename="<E>", evalue="of 0"),
        new("display_data", {"text/html": "<i>as it is</i>", "text/plain": "not this"}),
        new("execute_result", {"text/plain": "a < b"}),
        new("display_data", {"image/png": "iV\n"}, metadata={"image/png": {"alt": 'a "b"', "width": 60}}),
        new("display_data", {"image/png": "iV", "text/plain": "Panel: <b>"}),
    ]  # fmt: skip
    cells = [
        words(title), code("# @title Set-up"), words("| a |\n|---|\n| b |\n\n[s](04_scaling.ipynb#S)"),
        code("# hint\nx", outputs=outputs[:-1]), code("# hint()\n# solution()"), code("panel()", outputs=outputs[-1:]),
    ]  # fmt: skip

    def write(name):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
        return path

    return write


def test_pages_and_their_list_to_the_letter(made_up_page, tmp_path, monkeypatch, capsys):
    names = ["00_a.ipynb", "05_b.ipynb", "11_c.ipynb", "one_d.ipynb", "deeper/04_e.ipynb"]
    paths = [made_up_page(name) for name in names]
    monkeypatch.setattr(play, "all_pages", lambda: paths)
    monkeypatch.setattr(play, "can_run", lambda path: path.stem[:2] != "11")
    monkeypatch.setattr(play, "panel_of", lambda source: made_up_panel())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "of_old.html").touch()
    play.main(["--out", str(tmp_path / "out")])
    made = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir()}
    assert sorted(made) == ["00_a", "05_b", "11_c", "deeper_04_e", "index", "one_d"]
    before, page = made["deeper_04_e"].split("<main>")
    page = re.sub("</?span[^>]*>|<script.*?</script>|<figure.*</figure>", "", page, flags=re.DOTALL)
    assert page.split() == PAGE.split() and "<title>Why &amp; &lt;when&gt;?</title>" in before
    light, dark = before.split("prefers-color-scheme: dark")[:2]
    assert ".code { background: #f8f8f8" in light and ".code { background: #0d1117" in dark
    assert 'alt="Panel: &lt;b&gt;"' in made["11_c"]
    assert [name for name, text in made.items() if "<figure class" not in text and name != "index"] == [
        "11_c"
    ]
    listed = re.findall('<h2>(.*?)</h2>|<li>(.*?) <a href="(.*?)">(.*?)</a></li>', made["index"])
    assert [" ".join(filter(None, part)) for part in listed] == LISTED
    (tmp_path / "out" / "of_old.html").touch()
    play.main([str(paths[1]), "--out", str(tmp_path / "out")])
    assert len(list((tmp_path / "out").iterdir())) == 7 and "one_d.html" in play.index_html(paths)
    with pytest.raises(TypeError, match="shows none now"):
        PANEL_OF("1 + 1")


# As much of a browser as play.js needs for one Panel; a step is a cell that is clicked or control=value.
BROWSER = """
const [packed, names, types, steps] = JSON.parse(require("fs").readFileSync(0));
const element = more => ({ addEventListener(kind, act) { this[kind] = act; }, setAttribute(name, value) { this[name] = value; }, ...more });
const picture = element({ classList: { toggle(_, on) { picture.answers = on; } } });
const parts = { script: element({ textContent: packed }), ".picture": picture, "[role=status]": element() };
const controls = names.map((control, i) => element({ type: types[i], dataset: { control }, nextElementSibling: {} }));
const panel = { querySelector: part => parts[part], querySelectorAll: () => controls };
const boxes = [10, 11].map(scrollWidth => ({ scrollWidth, clientWidth: 10, removeAttribute() { this.tabIndex = -1; } }));
globalThis.document = { querySelectorAll: what => what === ".play" ? [panel] : boxes };
globalThis.addEventListener = () => {};
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
  console.log(JSON.stringify([seen, parts["[role=status]"].innerText, picture.innerHTML, boxes.map(box => box.tabIndex)]));
}, 10);
"""
# Cell clicked or control set: whether the pointer was a hand, mask d off word | what the slider says | controls
WALK = """start: 0 2 True hi | 2 | 2 | 1,1,true
0,0,1: true 0 2 True one | 2 | 2 | 1,1,true
0,0,1: true 0 2 True two | 2 | 2 | 1,1,true
1=2: true 0 3 True two | 3 | 3 | 1,2,true
9,9,9: false 0 3 True two | 3 | 3 | 1,2,true
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


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_controls_and_clicks_of_a_played_panel_show_what_they_say(monkeypatch):
    monkeypatch.setattr(states, "MOST_CLICKS", 1000)
    made, panel = States(made_up_panel), made_up_panel()
    (_, *steps), expected = zip(*(line.split(": ") for line in WALK.splitlines()), strict=True)
    names = ["|".join(label for label, _ in options) for options in made.live.values()]
    given = json.dumps([made.packed(), names, ["select-one", "range", "checkbox"], steps])
    command = ["node", "-e", BROWSER + play.part("play.js")]
    said = subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout
    seen, lines, svg, focus = json.loads(said)
    assert seen == list(expected)
    panel.set(d=1, off=False, word="one")
    # innerText makes a line of each "\n"; textContent would run them together.
    assert (lines, svg, focus) == (panel.description(), panel.svg(), [-1, 0])


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
    assert (
        written.count("<math ") == 2
        and written.count('display="block"') == 1
        and "<em>" not in written
        and "<mfrac>" in written
    )
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
