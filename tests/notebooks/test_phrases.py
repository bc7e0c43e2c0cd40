"""Phrases that readers marked as foreign do not come back: not on a page, not in what a check or a Panel says."""

import re

import pytest

from tools.notebook import ROOT
from tools.page import stored_pages

FOREIGN = [
    r"(bring|take|carr[yi]e?|brought|took|taken|carried)s? home", "all alike", "six numbers a word", r"asks? softly",
    "each whole in itself", "lie on top of each other", r"shall (bring|fetch|come)", r"\w, less (acts|happens|is eaten|stands)",
    "a happening", "is a good start", "makes every sum with it NaN", "asks nowhere", "in a wrong place",
    r"[Ww]hich (spread|share|weight|shape|numbers?) ha(s|ve) (the|your|a|each)", r"how many ha(s|ve) (the|your)", "decimals at least",
    r"\bMuch code\b", "said yours", "two paddings", r"\bis no (law|mask|key)\b", "padded in front", r"keeps its matrix turned",
    r"how often (does softmax|do you take)", "repaired the same day", r"\b(table|numbers) n × n of its own", "judges like this",
    "rooms of the house", "stand(ing)? still on GitHub", "other(s)? than in training", r"by which one\b", "a way that is",
]  # fmt: skip
TEXTS = {page.path.relative_to(ROOT).as_posix(): page.text for page in stored_pages()}
TEXTS |= {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for pattern in ("*.md", "teaching/*.md", "mha_*/**/*.py")
    for path in ROOT.glob(pattern)
}


@pytest.mark.parametrize("name", TEXTS)
def test_no_foreign_phrase_comes_back(name):
    text = " ".join(TEXTS[name].split())  # a phrase may go on in the next line
    assert not [match.group() for phrase in FOREIGN for match in re.finditer(phrase, text)]
