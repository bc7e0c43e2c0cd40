"""The papers before and after, as a browser prints them: two pages A4 each."""

import re

import make_papers
import pytest


@pytest.mark.parametrize("form", "AB")
def test_a_paper_prints_on_two_pages(browser, tmp_path, form):
    assert make_papers.main(["--to", str(tmp_path)]) == 0
    page = browser.new_page()
    page.goto((tmp_path / f"paper_{form}.html").as_uri())
    pdf = page.pdf(prefer_css_page_size=True)
    page.close()
    assert len(re.findall(rb"/Type */Page\b(?!s)", pdf)) == 2
