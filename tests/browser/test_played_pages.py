"""Pages that play without a kernel, opened from a file with the network cut, on a screen and a telephone."""

import pytest

from tools import play, states
from tools.notebook import ROOT

NAMES = ("01_inputs_and_shapes", "06_softmax")
SIZES = {"screen": (1440, 900, "light"), "telephone": (390, 844, "dark")}
KEYS = {"ArrowUp": "ArrowDown", "ArrowDown": "ArrowUp", "Space": "Space"}  # each with the one that leads back


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("html")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states, "MOST_CLICKS", 0)  # only at the start: all others take most of the time
        play.main([*(str(ROOT / "notebooks" / f"{name}.ipynb") for name in NAMES), "--out", str(folder)])
    return folder


@pytest.fixture(scope="module", params=[(name, size) for name in NAMES for size in SIZES], ids="-".join)
def opened(request, browser, folder):
    name, size = request.param
    width, height, scheme = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.context.set_offline(True)
    page.asked, page.faults = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.goto((folder / f"{name}.html").as_uri())
    page.wait_for_function("!document.querySelector('[data-control]:disabled')")
    for more in page.locator(".play summary").all():
        more.click()
    yield page
    assert page.faults == []
    assert page.asked == [(folder / f"{name}.html").as_uri()]
    page.close()


def shown(panel):
    return panel.evaluate("one => one.querySelector('svg').outerHTML + one.querySelector('p').innerText")


def test_a_page_fits_its_window_and_a_picture_stays_readable(opened):
    width = opened.viewport_size["width"]
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    for picture in opened.locator(".picture svg").all():
        assert picture.bounding_box()["width"] >= 700  # of 860: words of 13 pixels keep 10


def test_axe_finds_nothing_serious(opened):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    violations = axe.run(opened).response["violations"]
    serious = [broken for broken in violations if broken["impact"] in ("serious", "critical")]
    assert [(broken["id"], broken["nodes"][0]["html"][:200]) for broken in serious] == []


def test_a_cell_under_the_mouse_says_its_number(opened):
    for panel in opened.locator(".play").all():
        cell = panel.locator(".hit:has(.tip)").first
        cell.locator("> rect").hover()
        assert cell.locator(".tip").evaluate("tip => getComputedStyle(tip).visibility") == "visible"
        assert any(letter.isdigit() for letter in cell.locator(".tip").text_content())


def test_a_click_chooses_a_cell(opened):  # before the keys: here states have clicks at their start only
    panels = opened.locator(".play").all()
    assert panels
    for panel in panels:
        before = shown(panel)
        panel.locator("[data-cell]").last.locator("> rect").click()
        assert shown(panel) != before


def test_every_control_answers_a_key(opened):
    for panel in opened.locator(".play").all():
        for control in panel.locator("[data-control]").all():
            seen = {shown(panel)}
            for key, back in KEYS.items():
                control.press(key)
                seen.add(shown(panel))
                control.press(back)  # where it stays, one control can hide what another does
            assert len(seen) > 1, control.evaluate("control => control.closest('label').innerText")
