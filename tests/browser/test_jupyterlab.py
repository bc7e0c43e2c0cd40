"""Pages and their Panels in a real JupyterLab, used as a person does: all in one file, and so in one process.

What starts a JupyterLab, and opens it for the first time, costs as much as six pages do after that.
"""

import contextlib
import functools
import re

import nbformat
import pytest
from PIL import Image
from playwright.sync_api import expect

from mha_course.p09_concat_and_output.machine import MATRICES
from tools import lab, readme_picture
from tools.lab import KERNEL, WIDGET
from tools.notebook import ROOT, WIDGET_STATE, WIDGET_VIEW, all_pages
from tools.play import shows_panel
from tools.stored_pictures import live_picture

SOURCE = "from mha_course.p09_concat_and_output import machine_explorer\n\nmachine_explorer()"
FAULTS = ["import sys\n\nprint('a warning', file=sys.stderr)", "1 / 0"]
ANSWER_TIMEOUT = 20_000  # milliseconds; a change takes about sixty, and much longer on a busy machine


def test_clicks_lead_through_the_machine_and_back_and_keys_through_its_tour_and_menus(open_in):
    pytest.importorskip("anywidget")
    machine = open_in([SOURCE])
    assert lab.error_outputs(machine) == []

    def says(line):
        machine.locator(".mha-panel [role=status]", has_text=line).wait_for(timeout=ANSWER_TIMEOUT)

    for matrix, row, line in [
        (MATRICES.index("concat"), 1, "1.784 is copied from head 1's output."),
        (MATRICES.index("head"), 1, "0.919 · 2 + 0.027 · 0 + 0.054 · (−1) = 1.784"),
        (len(MATRICES), 0, "= 2.784"),  # the trail, counted as a matrix after the others
    ]:
        machine.locator(f".mha-panel [data-cell='{matrix},{row},0'] > rect").click()
        says(line)
    machine.get_by_role("slider", name="tour").press("ArrowRight")
    says("“eats” comes in as six numbers")  # where a number of x is chosen
    machine.get_by_role("slider", name="value").press("ArrowRight")
    says("2 was set by you, in place of 1.")
    machine.get_by_role("button", name="reset", exact=True).press("Enter")
    says("= 2.784")
    machine.get_by_role("button", name="more", exact=True).press("Enter")
    menu = machine.get_by_label("matrix", exact=True)
    menu.wait_for(timeout=ANSWER_TIMEOUT)  # what is still folded away takes no keys
    menu.press("ArrowDown")
    says("W_O: ")


FIRST_PAGE = ROOT / "notebooks" / "00_start_here.ipynb"
PANELS = """() => {
    const panels = [...document.querySelectorAll(".mha-panel")];
    const before = part => getComputedStyle(part, "::before").content;
    return {
        pictures: panels.map(panel => panel.querySelector("svg.mha").outerHTML),
        lines: panels.map(before),
        icons: [...document.querySelectorAll(".mha-panel .jupyter-widgets-disconnected")]
            .filter(part => before(part) !== "none").length,
        errors: document.body.innerText.split("Error displaying widget").length - 1,
    };
}"""


def test_a_page_shows_its_panels_as_they_were_left_and_says_how_to_wake_them(open_in, served):
    """On the first day the page runs and a slider is moved; on the second it is only saved, as JupyterLab does by
    itself after two minutes. Each day loads JupyterLab anew, in the same tab: there it costs half as much.
    """
    page = open_in(FIRST_PAGE)
    at_start = page.evaluate(PANELS)
    page.locator(".mha-panel .widget-slider [role=slider]").first.press("ArrowLeft")
    page.wait_for_timeout(1000)
    left = page.evaluate(PANELS)
    assert left["pictures"] != at_start["pictures"] and set(left["lines"]) == {"none"}
    for _ in ("second day", "third day"):
        page.evaluate(f"async () => await {WIDGET}.context.save()")
        page.evaluate(f"async () => await {WIDGET}.sessionContext.shutdown()")
        page.goto("about:blank")
        lab.open_copy(page, served[0], f"notebooks/{FIRST_PAGE.name}")
        page.wait_for_timeout(3000)  # widgets are restored after the kernel is idle
        seen = page.evaluate(PANELS)
        assert seen["pictures"] == left["pictures"]
        assert all("Run All Cells" in line for line in seen["lines"])
        assert seen["icons"] == seen["errors"] == 0
    lab.run_all(page)
    assert set(page.evaluate(PANELS)["lines"]) == {"none"}
    page.evaluate(f"async () => await {KERNEL}.restart()")  # before what was just run is saved
    page.evaluate(f"async () => await {WIDGET}.context.save()")
    saved = nbformat.read(served[1] / "course" / "notebooks" / FIRST_PAGE.name, as_version=4)
    widgets = saved.metadata.widgets[WIDGET_STATE].state
    outputs = [output.get("data", {}) for cell in saved.cells for output in cell.get("outputs", [])]
    views = [data[WIDGET_VIEW]["model_id"] for data in outputs if WIDGET_VIEW in data]
    assert len(views) == len(left["pictures"]) and all(live_picture(view, widgets) for view in views)


# A cell that lets nothing else in, because it sleeps without giving the interpreter away. While one only sleeps,
# JupyterLab 4.6 and ipykernel 7 answer beside it. What it has printed, and that it is busy, is sent in the first second.
BUSY = """import ctypes, sys, time
print("busy", flush=True)
time.sleep(1)
if sys.platform == "win32":
    ctypes.PyDLL("kernel32").Sleep(8000)
else:
    ctypes.PyDLL(None).sleep(8)"""
RUN = f"""code => new Promise(printed => {{
    const run = {KERNEL}.requestExecute({{ code }});
    run.onIOPub = message => message.header.msg_type === "stream" && printed();
}})"""
END_AS_A_CULLER = """id => fetch(`/api/kernels/${id}`, {
    method: "DELETE", headers: { "X-XSRFToken": document.cookie.match(/_xsrf=([^;]+)/)[1] },
})"""


def test_a_panel_without_an_answer_says_so_until_the_answer_comes(open_in):
    pytest.importorskip("anywidget")
    page = open_in([SOURCE])

    def moved():
        """Whether the Panel says that no answer came, 4 seconds after its slider moved."""
        page.get_by_role("slider", name="tour").press("ArrowRight")
        page.wait_for_timeout(4000)
        return "No answer from Python" in page.evaluate(PANELS)["lines"][0]

    assert not moved()
    page.evaluate(RUN, BUSY)
    page.wait_for_timeout(1200)
    assert moved()
    page.wait_for_function(f"() => !({PANELS})().lines[0].includes('No answer')", timeout=ANSWER_TIMEOUT)
    page.evaluate(END_AS_A_CULLER, page.evaluate(f"() => {KERNEL}.id"))
    assert moved()


def test_the_moving_picture_shows_d_k_from_1_to_16_and_then_five_weights(open_in, tmp_path, monkeypatch):
    page = open_in([readme_picture.CODE, *FAULTS], width=1280)
    said = [fault.partition(": ")[2] for fault in lab.error_outputs(page)]
    assert said == ["stderr: a warning\n", "ZeroDivisionError: division by zero"]
    monkeypatch.setattr(readme_picture, "opened", lambda cells, **_: contextlib.nullcontext(page))
    monkeypatch.setattr(readme_picture, "PICTURE", tmp_path / "explorer.gif")
    readme_picture.remake()
    with Image.open(readme_picture.PICTURE) as picture:
        shown = [picture.seek(i) or picture.info["duration"] for i in range(picture.n_frames)]
        assert shown == [1100, *[350] * 15, *[1100] * 5] and picture.info["loop"] == 0
    assert page.locator(".mha-panel .widget-readout").nth(1).text_content() == "16"


# --- every page; one is opened once for all its tests -------

SLIDER = ".widget-slider [role=slider]"
KEYS = ("ArrowRight", "ArrowLeft", "End", "Home")  # at its end a slider cannot go on; some steps show nothing
CHANGE_TIMEOUT = 3000  # milliseconds; a change takes about sixty, and longer on a busy machine
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
    assert [error.split(": ")[1] for error in lab.error_outputs(page)] == ["SyntaxError"] * 2


def is_answer(cell):
    return "answer" in cell.metadata.get("tags", [])


@pytest.fixture(scope="module", params=PAGES, ids=lambda path: path.stem)
def opened(request, tab, served):
    """The page after its Panels and answers were shown; with it what was seen on the way."""
    tab.set_viewport_size({"width": 1440, "height": 900})
    lab.open_notebook(tab, *served, request.param)
    tab.wait_for_timeout(500)  # what JupyterLab writes into a page on opening, it writes now
    tab.changed_on_opening = tab.evaluate(f"() => {WIDGET}.context.model.dirty")
    tab.folded_on_opening = tab.evaluate(FOLDED)
    tab.first_lines = tab.locator(".jp-OutputPlaceholder .jp-PlaceholderText").evaluate_all(SIZES)
    cells = nbformat.read(request.param, as_version=4).cells
    # Such a cell needs nothing that stands above it but the imports; nbval runs all cells, without a browser.
    lab.clear_outputs(tab)
    tab.evaluate(f"code => void {KERNEL}.requestExecute({{ code }})", IMPORTS)
    lab.run_cells(tab, [i for i, cell in enumerate(cells) if shows_panel(cell)])
    tab.faults = lab.error_outputs(tab)
    lab.run_cells(tab, [i for i, cell in enumerate(cells) if is_answer(cell) and not shows_panel(cell)])
    yield tab
    lab.close_notebook(tab)


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
    return panel.evaluate(CHANGES, CHANGE_TIMEOUT)


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


def test_nothing_is_asked_from_another_machine(opened, served):
    home = (f"{served[0]}/", f"{served[0].replace('http', 'ws')}/", "data:", "blob:", "about:")
    assert opened.asked
    assert [address for address in opened.asked if not address.startswith(home)] == []
