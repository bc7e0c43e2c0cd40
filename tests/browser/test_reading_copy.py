"""The reading copy in a browser without a network: formulas and pictures are there, and axe finds no fault."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import export
import pytest
from course_notebooks import course_notebooks
from playwright.sync_api import Browser, Page

PATHS = course_notebooks()
NAMES = ["index", *(path.stem for path in PATHS)]
AXE = "axe-core@4.14.1"
NARROW = 420  # pixels, a telephone

TOO_WIDE = "() => document.documentElement.scrollWidth - window.innerWidth"
# Else a swipe across a table would move the text away with it.
MOVES_THE_TEXT = (
    "() => { const main = document.querySelector('main'); return main.scrollWidth - main.clientWidth; }"
)

# axe wants tabindex on every box that may scroll, which would be a hundred stops on a page where nothing does.
# Browsers bring what has something to scroll within reach by themselves: a test below looks.
RULES = '{rules: {"scrollable-region-focusable": {enabled: false}}}'

# What a reader would miss, in sentences.
LOOK = r"""() => {
    document.querySelectorAll("details").forEach(one => { one.open = true; });
    const faults = [];
    for (const image of document.images)
        if (!image.complete || image.naturalWidth < 2) faults.push(`no picture: ${image.alt || image.src}`);
    if (document.querySelector("math") && ![...document.fonts].some(font => font.status === "loaded"))
        faults.push("the font of the formulas is not loaded");
    for (const math of document.querySelectorAll("math")) {
        const tex = math.querySelector("annotation")?.textContent ?? "no LaTeX";
        const box = math.getBoundingClientRect();
        if (box.width < 4 || box.height < 8) faults.push(`nothing to see of ${tex}`);
        if (math.querySelector("merror")) faults.push(`an error in place of ${tex}`);
        for (const sum of math.querySelectorAll("mfrac")) {
            const [over, under] = [...sum.children].map(part => part.getBoundingClientRect());
            if (over.bottom > under.top + 1) faults.push(`not typeset: ${tex}`);
        }
        for (const sign of math.querySelectorAll("msub, msup")) {
            const [base, script] = [...sign.children].map(part => part.getBoundingClientRect());
            if (script.left < base.left + 1 || script.height >= base.height + 12) faults.push(`not typeset: ${tex}`);
        }
        const lines = [...math.querySelectorAll("mtr")].map(line => line.getBoundingClientRect());
        lines.slice(1).forEach((line, i) => {
            if (line.top < lines[i].bottom - 1) faults.push(`lines on top of each other: ${tex}`);
        });
    }
    const text = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (text.nextNode()) {
        const unread = text.currentNode.parentElement.closest("pre, code, annotation");
        if (!unread && /\$|\\[a-z]/.test(text.currentNode.data)) faults.push(`not set: ${text.currentNode.data}`);
    }
    return faults;
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("reading")
    assert export.main(["--out", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def offline(browser: Browser):
    context = browser.new_context(offline=True, viewport={"width": 1000, "height": 900})
    yield context
    context.close()


@pytest.fixture(scope="module")
def axe(tmp_path_factory) -> str:
    """The text of axe-core, which npm brings."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(
            "npm is not installed, and axe-core, which looks for faults of accessibility, comes with it"
        )
    place = tmp_path_factory.mktemp("axe")
    command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(place), AXE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm could not fetch {AXE} within two minutes")
    if done.returncode:
        pytest.skip(f"npm could not fetch {AXE}: {done.stderr.strip()[-300:]}")
    return (place / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def opened(offline, path: Path) -> tuple[Page, list[str]]:
    page, trouble = offline.new_page(), []
    page.on("requestfailed", lambda request: trouble.append(f"failed: {request.url[:100]}"))
    page.on("request", lambda request: trouble.extend([request.url] * request.url.startswith(("http", "ws"))))
    page.on("console", lambda message: trouble.extend([message.text] * (message.type == "error")))
    page.goto(path.as_uri())
    page.evaluate("() => document.fonts.ready")
    return page, trouble


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_readable_without_a_network(name, offline, folder):
    page, trouble = opened(offline, folder / f"{name}.html")
    faults = page.evaluate(LOOK)
    wide = page.evaluate(TOO_WIDE)
    page.set_viewport_size({"width": NARROW, "height": 900})
    wide_on_a_telephone = max(page.evaluate(TOO_WIDE), page.evaluate(MOVES_THE_TEXT))
    page.close()
    assert not faults, "\n".join(faults)
    assert not trouble
    assert wide <= 0, f"the page is {wide} pixels wider than a window of 1000"
    assert wide_on_a_telephone <= 0, f"the page is {wide_on_a_telephone} pixels wider than {NARROW}"


def serious(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)
    page.evaluate('() => document.querySelectorAll("details").forEach(one => { one.open = true; })')
    found = page.evaluate("() => axe.run(RULES).then(result => result.violations)".replace("RULES", RULES))
    return [
        f"{one['impact']}: {one['help']}: {node['html'][:150]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_no_serious_fault(name, axe, offline, folder):
    page, _ = opened(offline, folder / f"{name}.html")
    faults = serious(page, axe)
    page.set_viewport_size({"width": NARROW, "height": 900})
    faults += serious(page, axe)
    page.close()
    assert not faults, "\n".join(faults)


def test_the_tab_key_reaches_what_scrolls_and_nothing_else(offline, folder):
    page, _ = opened(offline, folder / "09_concat_and_output.html")
    reached = {}
    for width in (NARROW, 1000):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("() => { document.activeElement.blur(); window.scrollTo(0, 0); }")
        names = []
        for _ in range(12):
            page.keyboard.press("Tab")
            names.append(page.evaluate("() => document.activeElement.tagName"))
        reached[width] = set(names)
    page.close()
    assert "PRE" in reached[NARROW]
    assert reached[1000] <= {"A", "SUMMARY", "BODY"}


# --- the tests above would notice -----------------------------------------------------------------------


def test_faults_of_a_page_are_noticed(offline, folder, tmp_path):
    shutil.copy(folder / "style.css", tmp_path)
    (tmp_path / "faulty.html").write_text(
        '<!DOCTYPE html><html lang="en"><link rel="stylesheet" href="style.css"><p>So $Q$ is <math></math>'
        '<math><msub><mi>W</mi><mi>Q</mi></msub></math><math style="display: block"><mfrac style="display: block">'
        '<mn style="display: block">1</mn><mn style="display: block; margin-top: -9px">2</mn></mfrac></math>'
        '<img src="gone.png" alt="gone"><img src="https://example.org/elsewhere.png" alt="elsewhere">',
        encoding="utf-8",
    )
    page, trouble = opened(offline, tmp_path / "faulty.html")
    faults = page.evaluate(LOOK)
    page.close()
    for words in ("no picture: gone", "no picture: elsewhere", "nothing to see", "not set", "not typeset"):
        assert any(fault.startswith(words) for fault in faults), (words, faults)
    assert any("gone.png" in one for one in trouble)
    assert any("elsewhere.png" in one for one in trouble)


def test_axe_notices_a_picture_without_words_and_pale_text(axe, offline, tmp_path):
    (tmp_path / "faulty.html").write_text(
        '<!DOCTYPE html><html lang="en"><title>a</title><main><img src="data:image/png;base64,AA">'
        '<p style="color: #ccc; background: #fff">pale</p></main>',
        encoding="utf-8",
    )
    page, _ = opened(offline, tmp_path / "faulty.html")
    faults = serious(page, axe)
    page.close()
    assert len(faults) == 2
