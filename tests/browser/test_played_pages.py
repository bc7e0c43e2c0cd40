"""Pages that play without a kernel, opened from a file with the network cut, on a screen and a telephone."""

import functools
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from mha_helpers.panel import Panel
from tests.tools.test_play import MadeUp
from tools import play
from tools.notebook import ROOT

NAMES = ("07_weighted_values", "08_splitting_heads")  # with a thinned slider; with a menu that follows
SIZES = {"screen": (1440, 900, "light"), "telephone": (390, 844, "dark"), "its side": (844, 390, "dark")}
KEYS = {"ArrowUp": "ArrowDown", "ArrowDown": "ArrowUp", "Space": "Space"}  # each with the one that leads back


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("html")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(play, "POOL", functools.partial(ThreadPoolExecutor, 1))
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


def test_a_page_fits_its_window_and_its_paper_and_a_picture_stays_readable(opened):
    window, width = opened.viewport_size, opened.viewport_size["width"]
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    for picture in opened.locator(".picture").all():
        assert picture.locator("svg").bounding_box()["width"] >= 690  # of 860: words of 13 pixels keep 10
        if width >= 700:
            assert picture.evaluate("box => box.scrollWidth <= box.clientWidth")
    opened.set_viewport_size({"width": 703, "height": 1032})  # A4 within its margins, in pixels
    opened.emulate_media(media="print")
    boxes = "[...document.querySelectorAll('.scroll, .highlight, .picture svg')]"
    assert opened.evaluate(f"{boxes}.filter(box => box.getBoundingClientRect().right > 703.5).length") == 0
    opened.emulate_media(media="screen")
    opened.set_viewport_size(window)


def test_axe_finds_nothing_serious(opened):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    opened.wait_for_timeout(500)  # after another width a box that scrolls is reached by keys a moment later
    violations = axe.run(opened, options={"resultTypes": ["violations"]}).response["violations"]
    for broken in violations:
        assert broken["impact"] not in ("serious", "critical"), (broken["id"], broken["nodes"][0]["html"])


def test_a_cell_under_the_mouse_says_its_number_and_every_control_answers_a_key(opened):
    for panel in opened.locator(".play").all():
        cell = panel.locator(".hit:has(.tip)").first
        cell.locator("> rect").hover()
        assert cell.locator(".tip").evaluate("tip => getComputedStyle(tip).visibility") == "visible"
        assert any(letter.isdigit() for letter in cell.locator(".tip").text_content())
        for chosen in panel.locator(".map:hover .rest").all():
            assert not chosen.is_visible(), "its words stand upon those of the chosen cell"
        for control in panel.locator("[data-control]").all():
            seen = {panel.evaluate(SEEN)}
            for key, back in KEYS.items():
                control.press(key)
                seen.add(panel.evaluate(SEEN))
                control.press(back)  # where it stays, one control can hide what another does
            assert len(seen) > 1, control.evaluate("control => control.closest('label').innerText")


def test_few_steps_of_a_random_walk_find_nothing_kept(opened):
    on_a_screen = opened.viewport_size["width"] == 1440  # what is kept is the same on each
    for panel in opened.locator(".play").all() if on_a_screen else []:
        (clicks, moves, *without), of = panel.evaluate(RANDOM_WALK)
        assert clicks + moves == 300 and without[0] <= clicks / 10 and without[1] <= moves / 10, of


def test_a_click_answers_or_says_why_not_at_every_setting_of_a_control(opened):
    panels = opened.locator(".play").all() if opened.viewport_size["width"] == 1440 else []
    for panel in panels:
        panel.locator(".reset").click()
        assert panel.evaluate(WITHOUT_ANSWER) == []


# --- a made-up Panel: a step is a cell that is clicked or control=option ---------------------------------

SET = """(control, i) => {
  if (control.type === "checkbox") control.checked = i === 1; else control.value = i;
  control.dispatchEvent(new Event("input"));
}"""
# How many clicks, how many moves among what the controls offer, how many of both are not shown as asked, and of what.
RANDOM_WALK = """panel => {
  let seed = 1;
  const draw = n => Math.floor((seed = seed * 16807 % 2147483647) / 2147483647 * n), count = [0, 0, 0, 0], of = {};
  const says = panel.querySelector("[role=status]"), inputs = panel.querySelectorAll("[data-control]");
  for (let step = 0; step < 300; step++) {
    const cells = panel.querySelectorAll("[data-cell]"), input = inputs[draw(inputs.length)], isMove = draw(2) || !cells.length;
    const offered = [...input.options ?? []].filter(option => !option.disabled).map(option => option.value);
    const to = input.options ? offered[draw(offered.length)] : String(draw(Number(input.max) + 1));
    if (!isMove) cells[draw(cells.length)].dispatchEvent(new Event("click", { bubbles: true }));
    else if (input.type === "checkbox") input.click();
    else Object.assign(input, { value: to }).dispatchEvent(new Event("input"));
    const sprang = isMove && input.type !== "checkbox" && input.value !== to;
    count[+isMove]++;
    if (!sprang && !/ kept /.test(says.innerText)) continue;
    const asked = isMove ? input.closest("label").innerText.trim().split("\\n")[0] : "a cell";
    count[2 + isMove]++;
    of[asked] = (of[asked] ?? 0) + 1;
  }
  return [count, of];
}"""
SEEN = """panel => {
  return panel.querySelector(".picture").innerHTML + panel.querySelector("[role=status]").innerText;
}"""
# Of the clicks on each cell, and on the last at each option of a control, those after which nothing else is seen.
WITHOUT_ANSWER = f"""panel => {{
  const all = name => [...panel.querySelectorAll(name)], cells = all("[data-cell]").map((_, k) => [k]);
  const options = control => control.dataset.control.split("|").map((_, i) => [-1, control, i]);
  return [...cells, ...all("[data-control]").flatMap(options)].filter(([k, ...option]) => {{
    panel.querySelector(".reset").click();
    if (option.length) ({SET})(...option);
    const before = ({SEEN})(panel);
    all("[data-cell]").at(k).dispatchEvent(new Event("click", {{ bubbles: true }}));
    return ({SEEN})(panel) === before;
  }}).map(([k, control, i]) => [k, control?.dataset.name, i]);
}}"""
SHOWN = """panel => {
  const inputs = [...panel.querySelectorAll("[data-control]")], slider = inputs[1];
  return [panel.querySelector(".picture").classList.contains("answers"), panel.querySelector("text").textContent,
    slider.getAttribute("aria-valuetext"), slider.nextElementSibling.value,
    inputs.map(input => input.type === "checkbox" ? +input.checked : input.value).join(),
    panel.querySelector("[role=status]").innerText.split("\\n").slice(2).join(),
    ...[...panel.querySelectorAll(".way button")].map(step => step.textContent)].join(" | ");
}"""
SILENT = "It is chosen already, or a click on it changes nothing."
# What follows: whether the pointer is a hand | mask d off word | the slider, twice | controls | what is said | the way here
WALK = f"""start: false | 0 2 True hi | 2 | 2 | 1,1,1 |
0,0,1: true | 0 2 True one | 2 | 2 | 1,1,1 |  | <one>
0,0,2: true | 0 1 True two | 1 | 1 | 1,0,1 |  | <one> | ← <two>
way 0: true | 0 2 True one | 2 | 2 | 1,1,1 |  | <one>
0,0,2: true | 0 1 True two | 1 | 1 | 1,0,1 |  | <one> | ← <two>
link: false | 0 1 True two | 1 | 1 | 1,0,1 |  | <two>
1=1: false | 0 2 True hi | 2 | 2 | 1,1,1 |
0,0,1: true | 0 2 True one | 2 | 2 | 1,1,1 |  | <one>
1=2: true | 0 3 True hi | 3 | 3 | 1,2,1 |
0=0: true | 1 2 True hi | 2 | 2 | 0,1,1 | Not every combination is kept here: “d <1>” is now 2.
0=1: true | 0 2 True hi | 2 | 2 | 1,1,1 |
1=2: true | 0 3 True hi | 3 | 3 | 1,2,1 |
0,0,9: true | 0 2 True hi | 2 | 2 | 1,1,1 |  | <hi>
0,0,0: true | 0 2 False hi | 2 | 2 | 1,1,0 |  | <hi> | ← <hi>
2=1: true | 0 2 True hi | 2 | 2 | 1,1,1 |
0,0,0: true | 0 2 False hi | 2 | 2 | 1,1,0 |  | <hi>
0=0: true | 1 2 False hi | 2 | 2 | 0,1,0 |  | <hi> | ← <hi>
1=2: true | 1 2 False hi | 2 | 2 | 0,1,0 |  | <hi> | ← <hi>
1=0: true | 1 1 False hi | 1 | 1 | 0,0,0 |
1=2: true | 1 2 False hi | 2 | 2 | 0,1,0 |
0=1: true | 0 2 False hi | 2 | 2 | 1,1,0 |
0,0,2: true | 0 1 False two | 1 | 1 | 1,0,0 |  | <two>
0,0,2: true | 0 1 False two | 1 | 1 | 1,0,0 | {SILENT} | <two>
link: false | 0 1 False two | 1 | 1 | 1,0,0 |  | <two>
reset: false | 0 2 True hi | 2 | 2 | 1,1,1 |
followed: false | 0 1 False two | 1 | 1 | 1,0,0 |  | <two>
reset: false | 0 2 True hi | 2 | 2 | 1,1,1 |
link: false | 0 2 True hi | 2 | 2 | 1,1,1 |"""
PLAYED = """A <made-up>
mask
c
a & b
d <1>
2
reset
more
off
0 2 True hi

<hi>
& more

In JupyterLab you can also change “note”. Click or tap a cell to choose it. In JupyterLab several clicks also add up."""


def test_controls_and_clicks_of_a_played_panel_show_what_they_say(browser, tmp_path):
    panel = play.panel_html(lambda: Panel(explorer=MadeUp()))
    text = f"{play.head('a')}{panel}<script>{play.text_of('play.js')}</script>"
    (tmp_path / "a.html").write_text(text, encoding="utf-8")
    page, address, seen = browser.new_page(), (tmp_path / "a.html").as_uri(), []
    page.goto(address)
    page.locator(".play summary").click()
    assert page.locator(".play").inner_text() == PLAYED
    for step in re.findall("^(.*?):", WALK, re.MULTILINE):
        control, _, option = step.partition("=")
        if step in ("link", "followed"):
            page.wait_for_timeout(400)  # until the address names what is shown
        if step == "link":
            address = page.url
            page.goto("about:blank")
            page.goto(address)
        elif step == "followed":  # the last link, on the page itself
            page.goto(address)
        elif step.startswith("way "):
            page.locator(".way button").nth(int(step[-1])).click()
        elif step == "reset":
            page.locator(".reset").click()
        elif option:
            page.locator("[data-control]").nth(int(control)).evaluate(SET, int(option))
        elif step != "start":
            page.locator(f"[data-cell='{step}']").dispatch_event("pointerover")
            page.locator(f"[data-cell='{step}']").dispatch_event("click")
        page.wait_for_function("!document.querySelector(':disabled')")
        seen.append(f"{step}: {page.locator('.play').evaluate(SHOWN)}".strip())
    assert "\n".join(seen) == WALK
    page.close()
