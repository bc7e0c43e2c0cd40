"""The reading copy: every formula set or refused, every picture there with its words, no address outside."""

import base64
import html
import io
import itertools
import re
from html.parser import HTMLParser

import export
import maths
import nbformat
import pytest
from course_notebooks import course_notebooks
from fontTools.ttLib import TTFont
from pygments.styles import get_style_by_name

PATHS = course_notebooks()
PAGES = [f"{path.stem}.html" for path in PATHS]


@pytest.fixture(scope="module")
def files():
    return export.reading_copy(PATHS)


class _Page(HTMLParser):
    """What a page asks for, where it leads, its pictures, and the words that are neither code nor formula."""

    UNREAD = ("pre", "code", "math")

    def __init__(self, text):
        super().__init__()
        self.asked, self.links, self.pictures, self.tags, self.words = [], [], [], [], []
        self.depth = 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        self.depth += tag in self.UNREAD
        if tag == "img":
            self.pictures.append(attributes.get("alt") or "")
        if tag == "a":
            self.links.append(attributes.get("href", ""))
        self.asked += [attributes[name] for name in ("src", "srcset") if name in attributes]
        self.asked += [attributes["href"]] if tag == "link" else []

    def handle_endtag(self, tag):
        self.depth -= tag in self.UNREAD

    def handle_data(self, data):
        if not self.depth:
            self.words.append(data)


def stored_pictures(path):
    outputs = [output for cell in nbformat.read(path, 4).cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_page_is_whole(path, files):
    page = _Page(files[f"{path.stem}.html"])
    assert len(page.pictures) >= stored_pictures(path) > 0
    assert all(len(words.split()) > 3 and "No description" not in words for words in page.pictures)
    assert {"script", "iframe", "object", "svg"}.isdisjoint(page.tags)
    assert page.tags.count("h1") == page.tags.count("main") == 1
    words = "".join(page.words)
    assert not re.search(r"\$|\\[a-z]+\b|\\begin", words), "a formula that was not set"
    assert not re.search(r"\b[VH]Box\(|Error displaying widget", words)


@pytest.mark.parametrize("name", ["index.html", *PAGES])
def test_a_page_asks_for_nothing_outside_its_folder(name, files):
    page = _Page(files[name])
    assert [one for one in page.asked if not one.startswith("data:image/")] == ["style.css"]
    assert page.links
    for link in page.links:
        assert link in files or link.startswith("https://"), link


def test_a_page_says_which_one_it_is_and_where_its_ways_lead(files):
    page = files["05_causal_mask.html"]
    assert page.count("Page 04</a>") == page.count("Page 06 →</a>") == 2
    assert "<title>05 How do you stop" in page
    assert '<p class="page">Page 05</p>' in page


def test_the_words_of_a_panel_are_read_below_its_picture(files):
    for name in PAGES:
        panels = [
            output
            for cell in nbformat.read(next(path for path in PATHS if path.stem == name[:-5]), 4).cells
            for output in cell.get("outputs", [])
            if output.get("data", {}).get("text/plain", "").startswith("Panel")
        ]
        captions = re.findall(r'<p aria-hidden="true" class="words">(.*?)</p>', files[name], re.DOTALL)
        words = [output["metadata"]["image/png"]["alt"] for output in panels]
        assert [html.unescape(one) for one in captions] == words
        assert words or name.startswith("11")


def test_tables_and_displayed_formulas_scroll_by_themselves(files):
    for name, page in files.items():
        if name == "style.css":
            continue
        for part, box in (("<table>", "div"), ('display="block"', "span")):
            boxed = re.findall(rf'<{box} class="wide">\s*<[^>]*{part.strip("<>")}', page)
            assert len(boxed) == page.count(part), (name, part)
    assert files["05_causal_mask.html"].count('class="wide"') >= 3


def test_no_style_asks_for_anything():
    assert "url(" not in export.STYLE.read_text(encoding="utf-8")
    assert "@import" not in export.STYLE.read_text(encoding="utf-8")


def test_every_page_is_reached_from_the_index_and_from_the_page_before(files):
    assert _Page(files["index.html"]).links == PAGES
    for name, following in itertools.pairwise(PAGES):
        assert following in _Page(files[name]).links
        assert name in _Page(files[following]).links


def test_the_same_course_gives_the_same_bytes(files):
    assert export.reading_copy(PATHS) == files


def test_the_folder_holds_no_page_of_a_notebook_that_is_gone(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(export, "OUT", tmp_path / "reading")
    monkeypatch.setattr(export, "reading_copy", lambda paths: {"index.html": "a", "style.css": "b"})
    (tmp_path / "reading").mkdir()
    (tmp_path / "reading" / "99_gone.html").write_text("old")
    assert export.main(["--out", str(tmp_path / "reading")]) == 0
    assert sorted(path.name for path in (tmp_path / "reading").iterdir()) == ["index.html", "style.css"]
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter.txt").write_text("keep")
    assert export.main(["--out", str(mine)]) == 0
    assert (mine / "letter.txt").exists() and (mine / "index.html").exists()
    assert str(mine) in capsys.readouterr().out


def test_a_formula_that_cannot_be_set_stops_the_export_with_a_sentence(tmp_path, monkeypatch, capsys):
    notebook = nbformat.read(PATHS[0], 4)
    notebook.cells.append(nbformat.v4.new_markdown_cell(r"See $\nosuch{Q}$."))
    monkeypatch.setattr(export, "read_notebook", lambda path: notebook)
    assert export.main(["--out", str(tmp_path / "out")]) == 1
    assert r"\nosuch" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_damaged_notebook_stops_the_export_with_its_name(tmp_path, monkeypatch, capsys):
    page = tmp_path / "03_qk_scores.ipynb"
    page.write_text(PATHS[0].read_text(encoding="utf-8")[:5000], encoding="utf-8")
    monkeypatch.setattr(export, "course_notebooks", lambda root: [page])
    assert export.main(["--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == f"{page}: this is no notebook\n"
    assert not (tmp_path / "out").exists()


# --- formulas -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tex",
    [
        r"\nosuch{a}", r"a & b", r"a \\ b", r"\frac{a", r"\frac{a}", r"a}", r"\begin{nosuch}a\end{nosuch}",
        r"\left( a", r"a_", "", r"\sqrt",
    ],
)  # fmt: skip
def test_a_formula_that_is_not_understood_is_refused(tex):
    with pytest.raises(ValueError, match="cannot be set"):
        maths.as_mathml(tex)


def test_lines_are_aligned_at_the_sign():
    written = maths.as_mathml(r"\begin{aligned}Q &= X\,W_Q \\ K &= X\,W_K\end{aligned}", display=True)
    cells = re.findall(r"<mtd.*?</mtd>", written)
    assert len(cells) == 4 and written.count("<mtr>") == 2
    assert all(("-webkit-right" in cell) == (place % 2 == 0) for place, cell in enumerate(cells))
    assert ["<mo>=</mo>" in cell for cell in cells] == [False, True, False, True]


def test_a_word_is_one_word():
    assert "<mi>head</mi>" in maths.as_mathml(r"\mathrm{head}_1")
    assert "<mi>x</mi>" in maths.as_mathml("x")


def test_the_latex_can_be_copied_from_the_page():
    assert r'<annotation encoding="application/x-tex">a &lt; \frac{1}{2}</annotation>' in maths.as_mathml(
        r"a < \frac{1}{2}"
    )


def test_the_font_has_every_sign_of_the_formulas_and_what_roots_and_brackets_grow_from(files):
    (address,) = re.findall(r'url\("data:font/woff;base64,([^"]+)"\)', files["style.css"])
    font = TTFont(io.BytesIO(base64.b64decode(address)))
    assert font["MATH"].table.MathVariants.VertGlyphConstruction
    drawn = font.getBestCmap()
    grows = font["MATH"].table.MathVariants.VertGlyphCoverage.glyphs
    assert {drawn[ord(sign)] for sign in "√()"} <= set(grows)
    formulas = [math for name in PAGES for math in re.findall(r"<math.*?</math>", files[name], re.DOTALL)]
    assert len(formulas) > 50
    for math in formulas:
        for mark, text in re.findall(r"<(m[ion])[^>]*>([^<]+)</m[ion]>", math):
            slanted = mark == "mi" and len(text) == 1
            for sign in text:
                assert (maths.slanted(ord(sign)) if slanted else ord(sign)) in drawn, math


# --- colours --------------------------------------------------------------------------------------------


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_the_colours_of_code_are_readable():
    (ground,) = re.findall(r"\.highlight \{ background: #(\w{6});", export.STYLE.read_text(encoding="utf-8"))
    for kind, look in get_style_by_name(export.COLOURS_OF_CODE):
        if look["color"]:
            contrast = (luminance(ground) + 0.05) / (luminance(look["color"]) + 0.05)
            assert contrast >= 4.5, (str(kind), look["color"], round(contrast, 2))
