"""Panel: controls change the picture, a click chooses, a bad input is a sentence."""

import ipywidgets as widgets
import pytest

from mha_helpers import panel as panel_module
from mha_helpers.panel import Explorer, IndexMenu, Panel


class Letters(Explorer):
    title, more, letters = "A title", ("head", "query", "key"), "abcde"

    def __init__(self):
        self.drawings = []

    def controls(self):
        return {"size": widgets.IntSlider(3, 1, 5), **{name: IndexMenu(name) for name in self.more}}

    def adjust(self, controls, values):
        for name in self.more:
            controls[name].offer(self.letters[: values["size"]])

    def compute(self, size, **chosen):
        if size == 4:
            raise ValueError("four is too many: a to Z")
        return {"chosen": tuple(chosen.values())}

    def draw(self, drawing, state):
        self.drawings.append(state)
        drawing.text(0, 20, str(state), 12)

    def words(self, state):
        return [f"{state['size']} words"]


@pytest.fixture
def panel():
    return Panel(explorer=Letters())


def test_set_redraws_once_and_names_what_it_does_not_know(panel):
    panel.set(size=5, key=1)
    assert len(panel.explorer.drawings) == 2
    assert panel.state()["chosen"] == (0, 0, 1)
    panel.set(size=3, query=2)
    panel.set(size=5, query=4)  # a query that there is only since size is 5
    assert panel.state()["chosen"] == (0, 4, 1)
    with pytest.raises(ValueError, match="no control 'd_k'; it has size"):
        panel.set(d_k=3)


@pytest.mark.parametrize("click", ["0,2,1", "0,7,7", "9,0,0", "nonsense"])
def test_a_click_in_the_browser_reaches_the_panel_or_is_on_a_picture_that_is_gone(panel, click):
    pytest.importorskip("anywidget")
    listener = panel.children[-1]
    listener._receive(listener, click, [])
    assert panel.state()["chosen"] == ((0, 2, 1) if click == "0,2,1" else (0, 0, 0))


def test_a_bad_input_is_a_sentence_and_the_last_picture_stays(panel):
    before = panel.svg()
    panel.controls["size"].value = 4
    assert panel.message() == "four is too many: a to Z"
    assert panel.svg() == before and panel.description() == "3 words"
    row_of_title = panel.children[0].children[0]  # above the controls, where the learner types
    assert "Four is too many: a to Z" in row_of_title.value and 'role="alert"' in row_of_title.value
    panel.controls["size"].value = 2
    assert panel.message() == "" and "A title" in row_of_title.value and "2 words" in panel.children[4].value


def test_a_button_leads_back_to_the_start_and_one_shows_the_other_controls(panel):
    _, reset, more = panel.children[0].children
    start = panel.state()
    panel.set(size=5, query=4)
    reset.click()
    assert reset.description == "reset" and panel.state() == start
    panel.explorer.letters = "cba"
    panel.set(size=2, query=1)
    panel.explorer.letters = "abcde"
    panel.reset()
    assert panel.state() == start  # the index of the start, though its word stood elsewhere before
    assert list(panel.children[1].children) == [panel.controls["size"]]
    assert panel.children[2].layout.display == "none"
    more.value = True
    assert panel.children[2].layout.display == "flex" and more.description == "less"


def test_a_notebook_stores_words_and_a_view_and_marimo_shows_the_title_the_picture_and_the_words(panel):
    bundle = panel._repr_mimebundle_()[0]
    assert bundle["text/plain"] == repr(panel) == "Panel: A title\n3 words"
    assert set(bundle) == {"text/plain", "application/vnd.jupyter.widget-view+json"}
    kind, shown = panel._mime_()
    assert kind == "text/html" and "<b>A title</b>" in shown and panel.svg() in shown and "3 words" in shown


@pytest.mark.parametrize("start", [2, -1])
def test_a_menu_keeps_its_word_or_the_strongest_while_a_sentence_is_typed(start):
    menu = IndexMenu("query", start)
    menu.offer(["cat", "eats", "fish"])
    for sentence, kept in (
        ("old cat eats fish", 3),  # the word stands elsewhere now
        ("cat", 0),  # it is gone, and so is its index
        ("cat eats fis", 2),  # its index is there again
        ("fish eats fish now", 2),  # the nearest
    ):
        menu.offer(sentence.split())
        assert menu.value == (kept if start == 2 else -1), sentence
    menu.value = 0
    menu.offer(["the", "fish", "eats"])
    assert (menu.value, menu.label) == (1, "2 fish")


@pytest.mark.parametrize("listener", [panel_module.Listener, None])
def test_a_title_asks_for_a_click_where_one_is_answered(listener, monkeypatch):
    monkeypatch.setattr(panel_module, "Listener", listener)
    monkeypatch.setattr(Letters, "asks", "click")
    panel = Panel(explorer=Letters())
    assert ("A title: click" in panel.children[0].children[0].value) == (listener is not None)
    assert ("status" in panel.children[4].value) == (listener is None)  # else it is the box's
    assert "A title: click" in repr(panel)  # stored in a page, so alike on every machine
    assert "click" not in panel._mime_()[1]  # a still picture
