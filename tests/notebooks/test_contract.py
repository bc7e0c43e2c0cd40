"""Every stored notebook keeps the page contract. One test for each notebook and rule:

    python -m pytest tests/notebooks/test_contract.py -k 03_qk

The rules themselves stand in `page_rules.py` (what a page promises) and `cell_rules.py` (what holds for
every cell); `test_contract_rules.py` shows that each of them refuses a page that breaks it.
"""

import pytest
from cell_rules import CELL_RULES
from notebook_page import FOLDER, NAMES, Page, stored_pages
from page_rules import START_RULES, STEP_RULES


def _cases():
    for page in stored_pages():
        for rule in (START_RULES if page.number == "00" else STEP_RULES) + CELL_RULES:
            yield pytest.param(page, rule, id=f"{page.name}-{rule.__name__}")


@pytest.mark.parametrize(("page", "rule"), list(_cases()))
def test_page_keeps_the_contract(page: Page, rule):
    faults = rule(page)
    assert not faults, f"{page.path.name}\n  " + "\n  ".join(faults)


def test_every_notebook_is_here():
    assert [path.stem for path in sorted(FOLDER.glob("*.ipynb"))] == NAMES
