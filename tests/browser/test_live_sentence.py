"""The explorers of pages 00 and 05 as a page computes them, held against the Panels at every step of a walk."""

import base64
import hashlib
import io
import os
import random
import re

import ipywidgets as widgets
import numpy as np
import pytest
from PIL import Image

from mha_course.p00_start_here import attention_explorer
from mha_course.p05_causal_mask import mask_explorer
from mha_helpers.sentence import tokenize
from tools import play, played_exercise
from tools.shipped import own_pages
from tools.states import CELL, options_of

STEPS = int(os.environ.get("COURSE_STEPS", "200"))  # 2000 for a long walk
WORDS = ["the", "cat", "Cat", "eats", "fish", "it", "hungry", "WWWWWWWWWWWW", "internationalisation", "naïve"]
WORDS += ["猫吃鱼", "カ", "<b>", "it's", "&amp;", "🐟", "\ufeffx\x1cy\u3000z", '"a,b"', "ÀÉ", "dog,", "2"]
# A step is [i, what control i is set to], [a cell that is clicked], or [] for reset.
WALK = """([steps, drawings]) => {
  const panel = document.querySelector(".play"), { picture } = panel, box = panel.querySelector(".picture");
  const menus = picture.inputs.filter(input => input.options), wanted = document.createElement("div");
  const take = ([first, value], i) => {
    if (typeof value === "boolean") picture.inputs[first].click();
    else if (value !== undefined) {
      picture.inputs[first].value = value;
      picture.inputs[first].dispatchEvent(new Event("input"));
    } else if (first) box.querySelector(`[data-cell="${first}"]`).dispatchEvent(new Event("click", { bubbles: true }));
    else panel.querySelector(".reset").click();
    wanted.innerHTML = drawings[i];
    const isSame = box.innerHTML === wanted.innerHTML; // as most are: then they need not come here
    return {
      drawn: isSame ? "" : box.innerHTML, wanted: isSame ? "" : wanted.innerHTML, words: picture.status.innerText.replace("\\nIt is chosen already.", ""), weights: picture.state.weights.flat(2),
      menus: menus.map(menu => [...menu.options].map(option => option.text)), chosen: picture.inputs.map(input => input.type === "checkbox" ? String(+input.checked) : input.value),
    };
  };
  box.hidden = true; // or each step would lay out what nobody sees
  const taken = steps.map(take);
  box.hidden = false;
  return taken;
}"""
JUDGED = """(form, pairs) => pairs.map(pair => {
  form.querySelectorAll("input").forEach((field, i) => { field.value = pair[i]; });
  form.querySelector("button").click();
  return form.querySelector("[role=status]").innerText;
})"""
NUMBER = re.compile(r"([−-]?\d+(?:\.\d+)?)")
UNSEEN = re.compile(r' fill="#\w{6}" fill-opacity="0.00"|data:image/png;base64,[\w+/=]+')
IMAGE = re.compile(r"data:image/png;base64,([\w+/=]+)")


@pytest.fixture
def open_page(browser, tmp_path):
    def opened(explorer):
        panel = play.panel_html(explorer)
        html = play.head("live") + panel + play.scripts(panel)
        (tmp_path / "live.html").write_text(html, encoding="utf-8")
        page = browser.new_page()
        page.context.set_offline(True)
        page.goto((tmp_path / "live.html").as_uri())
        page.wait_for_function("document.querySelector('.play').picture")
        return page

    return opened


@pytest.fixture
def page(open_page):
    page = open_page(attention_explorer)
    yield page
    page.close()


def sentence(draw):
    return " ".join(draw.choices(WORDS, k=draw.choice([0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 26, 40, 80])))


def step(panel, draw):
    """Take a step in the Panel; return it as the page takes it, and what the Panel then shows."""
    if draw.random() < 0.03:
        panel.reset()
        return [], seen(panel)
    if draw.random() < 0.3:
        cell = draw.choice(CELL.findall(panel.svg()))
        panel.click(*map(int, cell.split(",")))
        return [cell], seen(panel)
    i, (name, control) = draw.choice(list(enumerate(panel.controls.items())))
    options = options_of(control)
    chosen = draw.randrange(len(options)) if options else sentence(draw)
    if isinstance(control.value, bool):
        chosen = not control.value
        panel.set(**{name: chosen})
        return [i, chosen], seen(panel)
    panel.set(**{name: options[chosen][1] if options else chosen})
    return [i, chosen], seen(panel)


def seen(panel):
    menus = [menu for menu in panel.controls.values() if isinstance(menu, widgets.Dropdown)]
    menus = [[label for label, _ in options_of(menu)] for menu in menus]
    until = " Until then the picture stays as it was."
    words = panel.message() + until if panel.message() else panel.description()
    values = [[value for _, value in options_of(control)] for control in panel.controls.values()]
    pairs = zip(values, panel.controls.values(), strict=True)
    chosen = [str(each.index(control.value)) if each else control.value for each, control in pairs]
    return panel.svg(), words, panel.state()["weights"].numpy().ravel(), menus, chosen


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA")).astype(int)


def same_but_for_rounding(ours, theirs):
    """Two texts are alike where each number differs at most in its last place."""
    ours, theirs = NUMBER.split(ours), NUMBER.split(theirs)
    assert ours[::2] == theirs[::2]
    for mine, other in zip(ours[1::2], theirs[1::2], strict=True):
        places = max(len(text.partition(".")[2]) for text in (mine, other))
        difference = abs(float(mine.replace("−", "-")) - float(other.replace("−", "-")))
        assert difference < 1.01 * 10**-places * (places > 0) + 1e-9, (mine, other, "".join(theirs)[:90])
    return ours == theirs


def same_images(*drawn):
    for images in zip(*map(IMAGE.findall, drawn), strict=True):
        ours, theirs = map(pixels, images)
        assert abs(ours[..., 3] - theirs[..., 3]).max() <= 1
        deep = theirs[..., 3] > 100  # in pale pixels a browser keeps less of the hue
        assert (abs(ours - theirs)[deep] <= 3).all()


@pytest.mark.parametrize("explorer", [attention_explorer, mask_explorer])
def test_a_walk_through_sentences_settings_and_clicks_shows_what_the_panel_shows(open_page, explorer):
    draw, panel, page, exact = random.Random(7), explorer(), open_page(explorer), 0
    for _ in range(0, STEPS, 20):
        steps, wanted = zip(*(step(panel, draw) for _ in range(20)), strict=True)
        got = page.evaluate(WALK, [steps, [drawing for drawing, *_ in wanted]])
        for at, taken, (_, words, weights, menus, controls) in zip(steps, got, wanted, strict=True):
            assert (at, taken["menus"], taken["chosen"]) == (at, menus, controls)
            same_but_for_rounding(taken["words"], words)
            assert np.abs(np.array(taken["weights"]) - weights).max() <= 1e-6, (at, words)
            both = taken["drawn"], taken["wanted"]
            same_images(*both)
            exact += same_but_for_rounding(*(UNSEEN.sub(' fill-opacity="0.00"', drawn) for drawn in both))
    assert exact > 0.9 * STEPS, f"{STEPS - exact} of {STEPS} pictures have another last digit"
    page.close()


def test_a_finger_brings_small_cells_near_and_then_chooses_one(browser, page):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    phone = context.new_page()
    phone.goto(page.url)
    phone.wait_for_function("document.querySelector('.play').picture")
    cell = phone.locator(".map:nth-of-type(4) [data-cell='2,6,5']")
    for says in ("Tap a cell", "Head 3: next word. “because” looks"):
        cell.dispatch_event("click")
        assert says in phone.locator("[role=status]").inner_text()
        if says == "Tap a cell":
            place = cell.locator("rect").bounding_box()
            assert min(place["width"], place["height"]) >= 23.9 and 0 < place["x"] < 366
    context.close()


def test_every_sign_is_cut_into_tokens_as_in_python(page):
    signs = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x30000)]))
    text = " a".join(signs)
    assert page.evaluate("text => tokenize(text)", text) == tokenize(text)
    for name in ("", "a", "é" * 68, "x" * 135, "x" * 136, "x" * 400):
        ours = page.evaluate("name => [...shake256(name, 64)]", name)
        assert bytes(ours) == hashlib.shake_256(name.encode()).digest(64)


def test_a_link_brings_a_sentence_and_its_settings_back(page):
    page.evaluate(WALK, [[[], [0, "one fish, two fish"], [2, 1], [3, 11], [7, 2], ["9,3,1"]], [""] * 6])
    page.wait_for_timeout(400)  # until the address names what is shown
    before, address = page.locator(".play").inner_html(), page.url
    assert address.endswith("#picture-1=0,1,11,15,9,3,2/one%20fish%2C%20two%20fish")
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_function("document.querySelector('.play').picture")
    assert page.locator(".play").inner_html() == before


@pytest.mark.parametrize("explorer", [attention_explorer, mask_explorer])
def test_a_link_to_a_refused_sentence_says_so_and_a_click_waits_for_another(open_page, explorer):
    page, faults = open_page(explorer), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.evaluate(WALK, [[[0, "a " * 65]], [""]])
    page.wait_for_timeout(400)  # until the address names what is shown
    page.reload()
    page.wait_for_function("document.querySelector('.play').picture")
    assert "shorten it. Until then" in page.locator("[role=status]").inner_text()
    cell = page.locator(".play [data-cell]").nth(8)
    for kind in ("pointerover", "click"):
        cell.dispatch_event(kind)
    *_, taken = page.evaluate(WALK, [[[0, "one fish"]], [""]])
    assert taken["chosen"][0] == "one fish" and "fish" in taken["words"] and faults == []
    page.close()


def test_of_weights_alike_the_one_nearest_to_the_query_is_the_strongest(page):
    page.evaluate(WALK, [[[5, 1], [6, 4]], [""] * 2])  # “the” finds two words that are the same
    assert page.evaluate("document.querySelector('.play').picture.state.chosen") == [1, 4, 4]


def test_a_head_that_only_the_old_picture_shows_is_not_chosen_while_a_sentence_is_refused(page):
    steps = [[3, 11], [0, "a " * 65], [3, 1], ["9,3,1"], [0, "now there are five words"]]
    *_, taken = page.evaluate(WALK, [steps, [""] * 5])
    assert taken["chosen"] == ["now there are five words", "0", "0", "1", "15", "0", "3", "2"]


def test_the_list_of_pages_opens_with_it_and_an_exercise_that_is_judged_as_the_check_does(browser, tmp_path):
    (tmp_path / "index.html").write_text(play.index_html(own_pages()), encoding="utf-8")
    page, draw = browser.new_page(viewport={"width": 390, "height": 844}), random.Random(3)
    page.context.set_offline(True)
    page.goto((tmp_path / "index.html").as_uri())
    page.wait_for_function("document.querySelector('.play').picture")
    page.locator(".play svg [data-cell='0,8,9']").last.dispatch_event("click")
    framed, seen = page.locator(".picture rect[stroke='#E8A200']").first, page.locator(".picture")
    boxes = [one.bounding_box() for one in (framed, seen)]
    assert boxes[1]["x"] <= boxes[0]["x"] and boxes[0]["width"] >= 24
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] + boxes[1]["width"]
    wrong = [pair[:2] for pair in played_exercise.given()["said"][:20]]
    pairs = [[round(draw.uniform(-4, 4), 2) for _ in "12"] for _ in range(60)] + wrong
    pairs += [[0.868, 1.296], [0.87, 1.3], [1.736, 2.592], [0.434, 0.648], [0, 0], [0.868, 7], [-1, 1.3]]
    judged = page.locator(".judged").evaluate(JUDGED, [[str(value) for value in pair] for pair in pairs])
    for pair, said in zip(pairs, judged, strict=True):
        assert said == played_exercise.said(pair), pair
    page.locator(".judged input").first.fill("many")
    page.locator(".judged button").click()
    assert "Write one number" in page.locator(".judged [role=status]").inner_text()
    page.close()
