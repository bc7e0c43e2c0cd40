"""The course's formulas as MathML, which browsers set without any script, and a font to set them in.

A formula that is not understood in full is refused: half a formula on a page is worse than none.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

from fontTools import subset
from fontTools.ttLib import TTFont
from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import IPythonRenderer

# Of the package ziamath its font alone is used (SIL Open Font License).
FONT = Path(find_spec("ziamath").origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"
ENVIRONMENTS = {"aligned", "matrix", "pmatrix", "bmatrix", "cases"}
PARTS = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3}
NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"


def as_mathml(tex: str, display: bool = False) -> str:
    """A formula in LaTeX as one `<math>` element that keeps the LaTeX beside it, for copying.

    >>> as_mathml("W_Q").count("<msub>")
    1

    Raises ValueError for what would not come out as it is meant.
    """
    refused = f"the formula {tex!r} cannot be set"
    braces = re.sub(r"\\.", "", tex)
    if braces.count("{") != braces.count("}"):
        raise ValueError(f"{refused}: a brace is missing")
    for name in set(re.findall(r"\\begin\{(.*?)\}", tex)) - ENVIRONMENTS:
        raise ValueError(f"{refused}: the environment {name!r} is none of {', '.join(sorted(ENVIRONMENTS))}")
    # The converter knows aligned lines under one name alone.
    known = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{align*}", tex.strip())
    try:
        math = ElementTree.fromstring(convert(known, display="block" if display else "inline"))
    except Exception as error:  # each kind of bad input has an exception of its own
        raise ValueError(f"{refused}: {error!r}") from error
    for mark in math.iter():
        if mark.text and "\\" in mark.text:
            raise ValueError(f"{refused}: {mark.text} is not understood")
        if mark.get("linebreak"):
            raise ValueError(f"{refused}: a new line needs \\begin{{aligned}}")
        kind = mark.tag.removeprefix(NAMESPACE)
        if len(mark) != PARTS.get(kind, len(mark)):
            raise ValueError(f"{refused}: something is missing, in what became <{kind}>")
    return _tidy(math, tex)


def _tidy(math: ElementTree.Element, tex: str) -> str:
    for parent in math.iter():
        letters = [child.get("mathvariant") == "normal" for child in parent]
        if len(letters) > 1 and all(letters):  # one word, not a product of its letters
            word = "".join(child.text or "" for child in parent)
            parent[:] = [ElementTree.Element(f"{NAMESPACE}mi")]
            parent[0].text = word
        for child in parent:
            side = child.get("columnalign")
            if side:  # browsers align by style alone, and Chromium by a word of its own
                child.set("style", f"text-align:{side};text-align:-webkit-{side}")
    content = list(math)
    math[:] = []
    semantics = ElementTree.SubElement(math, f"{NAMESPACE}semantics")
    row = ElementTree.SubElement(semantics, f"{NAMESPACE}mrow")
    row.extend(content)
    note = ElementTree.SubElement(semantics, f"{NAMESPACE}annotation", encoding="application/x-tex")
    note.text = tex.strip()
    ElementTree.register_namespace("", NAMESPACE[1:-1])
    return ElementTree.tostring(math, encoding="unicode")


class MathMLRenderer(IPythonRenderer):
    """Markdown as nbconvert renders it, with the formulas as MathML."""

    def inline_math(self, body: str) -> str:
        return as_mathml(body)

    def block_math(self, body: str) -> str:
        return as_mathml(body, display=True)

    def latex_environment(self, name: str, body: str) -> str:
        return as_mathml(f"\\begin{{{name}}}{body}\\end{{{name}}}", display=True)


def font_for(pages: Iterable[str]) -> str:
    """The letters and signs of the formulas in `pages`, as a font in a data address.

    Without a font made for it, a browser draws brackets too small and roots crooked, and not every machine
    has one.
    """
    root = ord("√")  # stands in an element's name, not in its text
    used = {ord(sign) for page in pages for math in re.findall(r"<math.*?</math>", page, re.DOTALL)
            for sign in re.sub(r"<annotation.*?</annotation>|<[^>]+>", "", math)}  # fmt: skip
    font = TTFont(FONT, recalcTimestamp=False)
    options = subset.Options(layout_features=["*"], flavor="woff", name_IDs=["*"], notdef_outline=True)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes={root} | used | {slanted(sign) for sign in used})
    cutter.subset(font)
    font.flavor = "woff"
    packed = io.BytesIO()
    font.save(packed)
    return "data:font/woff;base64," + base64.b64encode(packed.getvalue()).decode("ascii")


def slanted(sign: int) -> int:
    """The code point that a browser takes for a variable: the slanted x for x.

    >>> chr(slanted(ord("x"))), chr(slanted(ord("+")))
    ('𝑥', '+')
    """
    if sign == ord("h"):
        return 0x210E  # Planck's constant had the place before the others came
    for first, last, start in (("A", "Z", 0x1D434), ("a", "z", 0x1D44E), ("α", "ω", 0x1D6FC)):
        if ord(first) <= sign <= ord(last):
            return start + sign - ord(first)
    return sign
