"""Panels in a real JupyterLab: used, photographed for the README, and opened on days without their kernel."""

import contextlib

import nbformat
import pytest
from PIL import Image

from mha_course.p09_concat_and_output.machine import MATRICES
from tools import readme_picture
from tools.lab import KERNEL, WIDGET, error_outputs, open_copy, run_all
from tools.notebook import ROOT, WIDGET_STATE, WIDGET_VIEW
from tools.stored_pictures import live_picture

SOURCE = "from mha_course.p09_concat_and_output import machine_explorer\n\nmachine_explorer()"
FAULTS = ["import sys\n\nprint('a warning', file=sys.stderr)", "1 / 0"]
PATIENCE = 20_000  # milliseconds; a change takes about sixty, and much longer on a busy machine


def test_clicks_lead_through_the_machine_and_back_and_keys_through_its_tour_and_menus(open_in):
    pytest.importorskip("anywidget")
    machine = open_in([SOURCE])
    assert error_outputs(machine) == []

    def says(line):
        machine.locator(".mha-panel [role=status]", has_text=line).wait_for(timeout=PATIENCE)

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
    menu.wait_for(timeout=PATIENCE)  # what is still folded away takes no keys
    menu.press("ArrowDown")
    says("W_O: ")


PAGE = ROOT / "notebooks" / "00_start_here.ipynb"
SEEN = """() => {
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


def test_a_page_shows_its_panels_as_they_were_left_and_says_how_to_wake_them(open_in, lab):
    """On the first day the page runs and a slider is moved; on the second it is only saved, as JupyterLab does by
    itself after two minutes. Each day loads JupyterLab anew, in the same tab: there it costs half as much.
    """
    page = open_in(PAGE)
    at_start = page.evaluate(SEEN)
    page.locator(".mha-panel .widget-slider [role=slider]").first.press("ArrowLeft")
    page.wait_for_timeout(1000)
    left = page.evaluate(SEEN)
    assert left["pictures"] != at_start["pictures"] and set(left["lines"]) == {"none"}
    for _ in ("second day", "third day"):
        page.evaluate(f"async () => await {WIDGET}.context.save()")
        page.evaluate(f"async () => await {WIDGET}.sessionContext.shutdown()")
        page.goto("about:blank")
        open_copy(page, lab[0], f"notebooks/{PAGE.name}")
        page.wait_for_timeout(3000)  # widgets are restored after the kernel is idle
        seen = page.evaluate(SEEN)
        assert seen["pictures"] == left["pictures"]
        assert all("Run All Cells" in line for line in seen["lines"])
        assert seen["icons"] == seen["errors"] == 0
    run_all(page)
    assert set(page.evaluate(SEEN)["lines"]) == {"none"}
    page.evaluate(f"async () => await {KERNEL}.restart()")  # before what was just run is saved
    page.evaluate(f"async () => await {WIDGET}.context.save()")
    saved = nbformat.read(lab[1] / "course" / "notebooks" / PAGE.name, as_version=4)
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
        return "No answer from Python" in page.evaluate(SEEN)["lines"][0]

    assert not moved()
    page.evaluate(RUN, BUSY)
    page.wait_for_timeout(1200)
    assert moved()
    page.wait_for_function(f"() => !({SEEN})().lines[0].includes('No answer')", timeout=PATIENCE)
    page.evaluate(END_AS_A_CULLER, page.evaluate(f"() => {KERNEL}.id"))
    assert moved()


def test_the_moving_picture_shows_d_k_from_1_to_16_and_then_five_weights(open_in, tmp_path, monkeypatch):
    page = open_in([readme_picture.CODE, *FAULTS], width=1280)
    said = [fault.partition(": ")[2] for fault in error_outputs(page)]
    assert said == ["stderr: a warning\n", "ZeroDivisionError: division by zero"]
    monkeypatch.setattr(readme_picture, "opened", lambda cells, **_: contextlib.nullcontext(page))
    monkeypatch.setattr(readme_picture, "PICTURE", tmp_path / "explorer.gif")
    readme_picture.remake()
    with Image.open(readme_picture.PICTURE) as picture:
        shown = [picture.seek(i) or picture.info["duration"] for i in range(picture.n_frames)]
        assert shown == [1100, *[350] * 15, *[1100] * 5] and picture.info["loop"] == 0
    assert page.locator(".mha-panel .widget-readout").nth(1).text_content() == "16"
