"""What is written in words: each decimal and percentage is a number that a page shows, each passage was read."""

import re

import pytest

from tests import kept
from tests.notebooks import reading
from tools.notebook import ROOT, exercises_in
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
    "09_since_2023": "5.24",
}
IN_HINTS_ALONE = {"0.0", "0.9", "1.10", "2.1", "22.6", "1, 8, 12"}
PAGES = stored_pages()
NOTES = [ROOT / "TEACHING.md", *sorted((ROOT / "teaching").glob("*.md"))]
DECIMAL = re.compile(r"(?<![\w.·])\d+\.\d{2,}(?![\w.])")


def printed(page):
    outputs = [output for _, output in page.outputs()]
    return [f"{shown.get('text', '')} {shown.get('data', {}).get('text/plain')}" for shown in outputs]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_decimal_or_a_percentage_in_prose_is_one_that_the_page_shows(page):
    seen = " ".join([*printed(page), *(cell.source for cell in page.code)]).replace(",", "")
    shown = [float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", seen)]
    prose = re.sub(r"\]\([^)]*\)", "", page.text)  # addresses hold numbers, too
    decimals = {*DECIMAL.findall(prose)} - {*ELSEWHERE.get(page.name, "").split()}
    percents = {*re.findall(r"(?<![\w.])(\d+(?:\.\d+)?)\s?%", prose)}
    for each in decimals | percents:
        form, share = f".{len(each.partition('.')[2])}f", 100 if each in percents else 1
        assert any(each in (format(n, form), format(share * n, form)) for n in shown), each


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_decimal_or_a_row_of_numbers_in_a_hint_is_one_of_its_page(page):
    text = " ".join([*(cell.source for cell in page.cells), *printed(page)]).replace("−", "-")
    for exercise, _ in exercises_in(page):
        computed = str(getattr(exercise, "right", ""))
        comments = [line.partition("#")[2] for line in exercise.solution_code.splitlines()]
        said = " | ".join([*exercise.hints, exercise.praise, *comments]).replace("−", "-")
        decimals = re.findall(r"(?<![\w.])\d+\.\d+(?![\w.])", said)
        rows = re.findall(r"\((-?[\d.]+(?:, -?[\d.]+){2,})\)", said)
        for numbers in {*decimals, *rows} - IN_HINTS_ALONE:
            shown = r"[^\d.-]+".join(rf"{re.escape(number)}(?:\.0*)?" for number in numbers.split(", "))
            is_shown = re.search(rf"(?<![\d.]){shown}(?!\d)", text) or numbers in computed
            assert is_shown, f"{exercise.number}: {numbers}"


@pytest.mark.parametrize("path", NOTES, ids=lambda path: path.name)
def test_a_decimal_of_the_teachers_notes_stands_on_a_page(path):
    shown = " ".join(page.text + " ".join(printed(page)) for page in PAGES)
    for number in DECIMAL.findall(path.read_text(encoding="utf-8")):
        assert re.search(rf"(?<!\d){re.escape(number)}", shown), number


def test_every_passage_was_read_as_it_is_now():
    """Pages, papers, and what exercises say: python -m tests.kept prints what is new, read it aloud."""
    [file] = reading.files()
    said, text = kept.differences(reading, file)
    assert not said, "\n\n".join(f"{name}, new or changed: {words}" for name, words in said.items())
    assert text == file.read_text(encoding="utf-8")
