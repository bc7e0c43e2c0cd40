"""Numbers of the prose are numbers of the page: a decimal or a percentage stands in its outputs or its code."""

import re

import pytest

from tools.notebook import ROOT
from tools.page import stored_pages

# What a page computes on paper, takes from its explorer or from another page, or quotes.
ELSEWHERE = {
    "00_start_here": "0.33 1.838 2.828 0.707 2.718 16.919 0.493 18.412 0.37 0.20 0.576 0.140 1.23 4.56",
    "03_qk_scores": "2.718 54.598 0.368 55.966 0.976 0.007 0.018 1.784 1.865",
    "05_causal_mask": "0.768 0.045 0.187",
    "06_softmax": "0.41 0.29 0.900",
    "08_splitting_heads": "0.11",
    "09_concat_and_output": "0.768 0.919",
    "11_can_your_class_write": "2.86 0.03",
    "12_bugs_in_print": "2.718",
    "one_sitting": "1.333 0.333 1.838",
    "05_masks_in_pytorch": "2.14",
    "09_in_your_own_model": "2.13",
    "12_printed_numbers": "0.61173 0.38827",
}
PAGES = stored_pages()


def numbers_in(text):
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", text.replace(",", ""))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_decimal_or_a_percentage_in_prose_is_one_that_the_page_shows(page):
    outputs = [
        f"{shown.get('text', '')} {shown.get('data', {}).get('text/plain', '')}"
        for _, shown in page.outputs()
    ]
    shown = [n for text in [*outputs, *(cell.source for cell in page.code)] for n in numbers_in(text)]
    prose = re.sub(r"\]\([^)]*\)", "", page.text)  # addresses hold numbers, too
    decimals = {*re.findall(r"(?<![\w.·])\d+\.\d{2,}(?![\w.])", prose)} - {
        *ELSEWHERE.get(page.name, "").split()
    }
    strange = [
        each for each in decimals if not any(f"{n:.{len(each.split('.')[1])}f}" == each for n in shown)
    ]
    for percent in re.findall(r"(?<![\w.])(\d+) %", prose):
        if not any(f"{n:.0f}" == percent or f"{100 * n:.0f}" == percent for n in shown):
            strange.append(f"{percent} %")
    assert not strange


@pytest.mark.parametrize(
    "path", [ROOT / "TEACHING.md", *sorted((ROOT / "teaching").glob("*.md"))], ids=lambda p: p.name
)
def test_a_decimal_of_the_teachers_notes_stands_on_a_page(path):
    of_pages = {
        number for page in PAGES for number in re.findall(r"\d+\.\d{2,}", page.text + str(page.outputs()))
    }
    decimals = {*re.findall(r"(?<![\w.])\d+\.\d{2,}(?![\w.])", path.read_text(encoding="utf-8"))}
    assert not {number for number in decimals if not any(each.startswith(number) for each in of_pages)}
