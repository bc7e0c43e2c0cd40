"""Open decks of slides and measure every slide; as a program, photograph them.

python tests/browser/slides.py dist/slides /tmp/shots        # 03-05.png: deck 03, slide 5
python tests/browser/slides.py dist/slides /tmp/shots 03
"""

from __future__ import annotations

import sys
from pathlib import Path

from lab import chromium, chromium_or_exit

WIDTH, HEIGHT = 1280, 720
# What a slide shows must lie on the screen, and nothing on it may hide behind a scroll bar.
MEASURE = """() => {
    const slide = Reveal.getCurrentSlide(), faults = [];
    slide.querySelectorAll('.fragment').forEach((one) => one.classList.add('visible'));
    for (const one of slide.querySelectorAll('*')) {
        const box = one.getBoundingClientRect();
        if (!box.width || !box.height || one.closest('.katex-mathml, .katex svg')) continue;
        const what = `${one.tagName.toLowerCase()} “${one.textContent.trim().slice(0, 40)}”`;
        if (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1)
            faults.push(`${what} ends at ${Math.round(box.right)} × ${Math.round(box.bottom)}`);
        const style = getComputedStyle(one);
        for (const [axis, size, room] of [['X', one.scrollWidth, one.clientWidth],
                                          ['Y', one.scrollHeight, one.clientHeight]])
            if (['auto', 'scroll', 'hidden'].includes(style['overflow' + axis]) && size > room + 1
                && !one.closest('.katex'))
                faults.push(`${what} scrolls or is cut: ${size} in ${room}`);
    }
    for (const one of slide.querySelectorAll('img'))
        if (!one.naturalWidth || !one.alt.trim()) faults.push(`a picture is missing or has no words: ${one.src}`);
    for (const one of slide.querySelectorAll('.katex-error')) faults.push(`a formula: ${one.title}`);
    const text = slide.innerText.trim();
    if (!text && !slide.querySelector('img')) faults.push('an empty slide');
    return {faults, scale: Number(slide.dataset.scale), code: [...slide.querySelectorAll('.highlight')].map(
        (one) => one.innerText.trim().split('\\n').length)};
}"""


def open_deck(browser, path: Path):
    """The page with a deck, ready, and a list that fills with errors and calls to other machines."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    trouble: list[str] = []
    page.on("console", lambda said: trouble.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("requestfailed", lambda request: trouble.append(f"not found: {request.url}"))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("file:", "data:", "blob:"))
            else trouble.append(f"asked {request.url}")
        ),
    )
    page.goto(path.resolve().as_uri())
    page.wait_for_selector("body[data-ready=yes]", state="attached", timeout=120_000)
    return page, trouble


def measured(page) -> list[dict]:
    """What MEASURE says of every slide, in order."""
    results = []
    for i in range(page.evaluate("() => Reveal.getTotalSlides()")):
        page.evaluate("i => Reveal.slide(i)", i)
        results.append(page.evaluate(MEASURE))
    return results


def main(decks: Path, shots: Path, *numbers: str) -> None:
    shots.mkdir(parents=True, exist_ok=True)
    with chromium(chromium_or_exit()) as browser:
        for path in sorted(decks.glob("*.html")):
            if numbers and not path.name.startswith(numbers):
                continue
            page, trouble = open_deck(browser, path)
            for i in range(page.evaluate("() => Reveal.getTotalSlides()")):
                page.evaluate("i => Reveal.slide(i)", i)
                result = page.evaluate(MEASURE)
                page.screenshot(path=shots / f"{path.stem[:2]}-{i:02d}.png")
                print(path.stem[:2], i, result["scale"], *result["faults"][:3])
            for said in trouble:
                print("!!", said)
            page.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
