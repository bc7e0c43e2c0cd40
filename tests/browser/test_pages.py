"""Every page in a real JupyterLab, used as a person does. One page is opened once for all its tests."""

import functools
import re

import nbformat
import pytest
from playwright.sync_api import expect

from tools.lab import KERNEL, WIDGET, clear_outputs, close_notebook, error_outputs, open_notebook, run_cells
from tools.notebook import ROOT, all_pages
from tools.play import shows_panel

SLIDER = ".widget-slider [role=slider]"
KEYS = ("ArrowRight", "ArrowLeft", "End", "Home")  # at its end a slider cannot go on; some steps show nothing
PATIENCE = 3000  # milliseconds; a change takes about sixty, and longer on a busy machine
SIZES = "texts => texts.map(text => getComputedStyle(text).fontSize)"
FOLDED = f"() => {WIDGET}.content.widgets.filter(cell => cell.outputHidden).map(cell => cell.model.id)"
PAGES = all_pages()
IMPORTS = "import torch\nfrom torch import nn\nfrom mha_helpers import *"


def test_a_slip_in_every_exercise_takes_no_output_below_away(open_in, tmp_path):
    """Run All goes on, and the sitting, which needs what the learner writes, goes on with its own."""
    notebook = nbformat.read(ROOT / "notebooks" / "one_sitting.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = "1 +" if ".check(" in cell.source else cell.source
    nbformat.write(notebook, tmp_path / "slips.ipynb")
    page = open_in(tmp_path / "slips.ipynb")
    # Run All says that it is done at the first slip, while the kernel goes on with the cells below.
    shown = f"{WIDGET}.content.widgets.map(cell => (cell.model.outputs?.length ?? 0) > 0)"
    expected = [bool(cell.get("outputs")) for cell in notebook.cells]
    page.wait_for_function(f"expected => String({shown}) === String(expected)", arg=expected, timeout=60_000)
    assert [error.split(": ")[1] for error in error_outputs(page)] == ["SyntaxError"] * 2


def is_answer(cell):
    return "answer" in cell.metadata.get("tags", [])


@pytest.fixture(scope="module", params=PAGES, ids=lambda path: path.stem)
def opened(request, tab, lab):
    """The page after its Panels and answers were shown; with it what was seen on the way."""
    tab.set_viewport_size({"width": 1440, "height": 900})
    open_notebook(tab, *lab, request.param)
    tab.wait_for_timeout(500)  # what JupyterLab writes into a page on opening, it writes now
    tab.changed_on_opening = tab.evaluate(f"() => {WIDGET}.context.model.dirty")
    tab.folded_on_opening = tab.evaluate(FOLDED)
    tab.first_lines = tab.locator(".jp-OutputPlaceholder .jp-PlaceholderText").evaluate_all(SIZES)
    cells = nbformat.read(request.param, as_version=4).cells
    # Such a cell needs nothing that stands above it but the imports; nbval runs all cells, without a browser.
    clear_outputs(tab)
    tab.evaluate(f"code => void {KERNEL}.requestExecute({{ code }})", IMPORTS)
    run_cells(tab, [i for i, cell in enumerate(cells) if shows_panel(cell)])
    tab.faults = error_outputs(tab)
    run_cells(tab, [i for i, cell in enumerate(cells) if is_answer(cell) and not shows_panel(cell)])
    yield tab
    close_notebook(tab)


@pytest.fixture
def panels(opened):
    of_page = opened.locator(".mha-panel").all()
    if not of_page:
        pytest.skip("no Panel on this page")
    return of_page


SEEN = "panel => panel.querySelector('svg').outerHTML + panel.querySelector('[role=status]').textContent"
CHANGES = f"""async (panel, patience) => {{
    const end = Date.now() + patience, wait = () => new Promise(done => setTimeout(done, 50));
    while (({SEEN})(panel) === panel.before && Date.now() < end) await wait();
    return ({SEEN})(panel) !== panel.before;
}}"""


def changes(panel, action):
    """Do something, and say whether picture or words of the Panel change."""
    panel.evaluate(f"panel => {{ panel.before = ({SEEN})(panel); }}")
    action()
    return panel.evaluate(CHANGES, PATIENCE)


def test_a_page_just_opened_is_unchanged_and_what_answers_a_question_is_folded(request, opened):
    assert not opened.changed_on_opening
    cells = nbformat.read(request.node.callspec.params["opened"], as_version=4).cells
    answers = [cell.id for cell in cells if is_answer(cell)]
    assert opened.folded_on_opening == answers
    assert set(opened.first_lines) <= {"0px"}  # JupyterLab would show the first line of what is folded
    assert opened.evaluate(FOLDED) == []


def test_panels_are_shown_without_an_error(opened):
    assert opened.faults == []
    assert opened.locator("text=Error displaying widget").count() == 0


def visible_sliders(panel):  # others are under "more"
    return [slider for slider in panel.locator(SLIDER).all() if slider.is_visible()]


def learn(panel):
    """Where a model learns in a Panel, let it: until then there are no steps to go back to."""
    button = panel.get_by_role("button", name="train", exact=True)
    if button.count():
        button.click()
        steps = re.compile(r"Step ([5-9]\d|\d{3})")
        expect(panel.locator(".mha-words")).to_contain_text(steps, timeout=90_000)
        panel.get_by_role("button", name="stop", exact=True).click()
        expect(panel.get_by_role("button", name="go on", exact=True)).to_be_visible()


def test_a_key_moves_every_slider_and_its_picture(panels):
    for panel in panels:
        learn(panel)
        for slider in visible_sliders(panel):
            label = slider.evaluate("one => one.closest('.widget-inline-hbox').textContent")
            assert any(changes(panel, functools.partial(slider.press, key)) for key in KEYS), label


def test_a_cell_under_the_mouse_says_its_number(panels):
    for panel in panels:
        cell = panel.locator(".hit:has(.tip)").first
        tip = cell.locator(".tip")
        assert tip.evaluate("one => getComputedStyle(one).visibility") == "hidden"
        cell.locator("> rect, > circle").first.hover()
        assert tip.evaluate("one => getComputedStyle(one).visibility") == "visible"
        assert tip.text_content().strip()  # its number, or of a mask a word


def test_a_click_on_a_cell_chooses_it(panels):
    pytest.importorskip("anywidget")
    for panel in panels:
        cells = panel.locator("[data-cell] > rect, [data-cell] > circle")
        if cells.count() == 0:  # two explorers show bars, of which none is to be chosen
            continue
        indices = (cells.count() // 2, cells.count() - 1, 0)  # the first is often chosen already
        assert any(changes(panel, cells.nth(index).click) for index in indices), "no click changes it"


def test_a_panel_fits_the_screen_and_keeps_its_height(panels):
    for panel in panels:
        height = panel.bounding_box()["height"]
        assert height <= 640
        for slider in visible_sliders(panel):
            slider.press("End")
            panel.page.wait_for_timeout(300)
            assert panel.bounding_box()["height"] == height


def test_nothing_is_asked_from_another_machine(opened, lab):
    home = (f"{lab[0]}/", f"{lab[0].replace('http', 'ws')}/", "data:", "blob:", "about:")
    assert opened.asked
    assert [address for address in opened.asked if not address.startswith(home)] == []
