"""Drive the controls of an explorer as a person does: with the keyboard, looking at what changes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from lab import Watched, error_outputs
from playwright.sync_api import Error as BrowserError
from playwright.sync_api import Locator, Page

SLIDERS = ".widget-slider [role=slider]"
DROPDOWNS = ".widget-dropdown select"
CHECKBOXES = ".widget-checkbox input[type=checkbox]"
TEXTS = ".widget-text input"
BUTTONS = ".widget-toggle-buttons button"  # one of them is down
KEYS = {  # each pressed in turn, until what a person sees has changed
    # A slider at its end cannot go further, and some steps change nothing: the other way too. Notebook 7 keeps
    # the arrows for itself, to move between cells.
    SLIDERS: ("ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowRight", "ArrowRight", "PageUp", "PageDown"),
    CHECKBOXES: ("Space",),
    TEXTS: ("x",),
    BUTTONS: ("Enter", "Space"),
}
BACK = {CHECKBOXES: "Space", TEXTS: "Backspace"}  # a field with bad input would hold up all the others
EXPLORERS = ".jp-OutputArea-output:has(.widget-image)"  # the output of a cell that shows a Panel
CHANGE_TIMEOUT = 20_000  # milliseconds
PATIENCE = 700  # milliseconds; a change takes about 50, and longer on a busy machine

# What a person sees and reads, without the controls themselves: a slider's own number always changes.
SEEN = """explorer => JSON.stringify([
    [...explorer.querySelectorAll(".widget-image")].map(image => image.src),
    [...explorer.querySelectorAll(".widget-html-content")].map(words => words.innerHTML),
])"""


@dataclass(frozen=True)
class Explorer:
    """One Panel on the page, and its controls by their place."""

    page: Page
    root: Locator

    def sliders(self) -> list[str]:
        """The label of every slider, "2: heads", in order; hidden ones too."""
        return self.labels(SLIDERS)

    def dropdowns(self) -> list[str]:
        return self.labels(DROPDOWNS)

    def labels(self, selector: str) -> list[str]:
        """What stands beside each control; of a field or a box, only what belongs to it by its code too."""
        return self.root.evaluate(
            """(root, selector) => [...root.querySelectorAll(selector)].map((control, i) => {
                if (control.tagName === "BUTTON") return `${i}: ${control.textContent.trim()}`;
                if (control.labels) return `${i}: ${[...control.labels].map(one => one.textContent.trim()).join(" ")}`;
                const box = control.closest(".widget-inline-hbox");
                return `${i}: ${box?.querySelector(".widget-label")?.textContent.trim() ?? ""}`;
            })""",
            selector,
        )

    def is_usable(self, selector: str, place: int) -> bool:
        """Whether a person could move it now: it is seen and not disabled."""
        control = self.root.locator(selector).nth(place)
        disabled = """control => Boolean(control.disabled || control.closest("[disabled]")
            || control.getAttribute("aria-disabled") === "true")"""
        return control.is_visible() and not control.evaluate(disabled)

    def seen(self) -> str:
        return self.root.evaluate(SEEN)

    def press(self, selector: str, place: int, key: str) -> bool:
        """Focus a control, press a key, and say whether what a person sees changed."""
        return self._do(selector, place, lambda control: (control.focus(), self.page.keyboard.press(key)))

    def choose(self, place: int, option: int) -> bool:
        """Choose an option of a dropdown as a mouse does, and say whether what a person sees changed."""
        return self._do(DROPDOWNS, place, lambda control: control.select_option(index=option))

    def _do(self, selector: str, place: int, action: Callable[[Locator], object]) -> bool:
        before = self.seen()
        control = self.root.locator(selector).nth(place)
        control.scroll_into_view_if_needed()
        value = control.evaluate(VALUE)
        action(control)
        if control.evaluate(VALUE) == value:
            return False  # at its end, or it does not listen to this key
        # Changed, or the kernel has had its time and has nothing left to do.
        answered = f"""([root, before, since]) => ({SEEN})(root) !== before || (Date.now() - since > {PATIENCE}
            && window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === "idle")"""
        since = self.page.evaluate("() => Date.now()")
        argument = [self.root.element_handle(), before, since]
        self.page.wait_for_function(answered, arg=argument, timeout=CHANGE_TIMEOUT)
        if self.seen() == before:
            return False
        self.settle()
        return True

    def settle(self) -> None:
        """Wait until nothing has changed for a moment and the pictures have pixels."""
        self.page.wait_for_function(
            """root => [...root.querySelectorAll(".widget-image")].every(
                image => image.complete && image.naturalWidth > 1)""",
            arg=self.root.element_handle(),
            timeout=CHANGE_TIMEOUT,
        )
        for _ in range(40):
            before = self.seen()
            self.page.wait_for_timeout(150)
            if self.seen() == before:
                return


# Of the buttons of a group, only the class tells which one is down.
VALUE = """control => control.type === "checkbox" ? control.checked : control.tagName === "BUTTON" ? control.className
    : control.getAttribute("aria-valuetext") ?? control.getAttribute("aria-valuenow") ?? control.value"""


def explorers(page: Page) -> list[Explorer]:
    found = page.locator(EXPLORERS)
    with contextlib.suppress(BrowserError):  # none: the caller says so
        found.first.wait_for(state="attached", timeout=CHANGE_TIMEOUT)
    return [Explorer(page, found.nth(i)) for i in range(found.count())]


def try_every_key(explorer: Explorer, answered: set[tuple[str, str]]) -> None:
    """Use the keys of every control that can be used now; add those that changed the picture or its words."""
    # Buttons once more: the one that was down has nothing to do until another has been pressed.
    for selector, keys in (*KEYS.items(), (BUTTONS, KEYS[BUTTONS])):
        for place, label in enumerate(explorer.labels(selector)):
            if (selector, label) in answered or not explorer.is_usable(selector, place):
                continue
            if any(explorer.press(selector, place, key) for key in keys):
                answered.add((selector, label))
            if selector in BACK:
                explorer.press(selector, place, BACK[selector])


def drive(explorer: Explorer) -> list[str]:
    """Use every control by keyboard alone. Returns what did not answer, in sentences.

    Some controls wait for another one, as a window's width waits for the mask "sliding window". So those that
    have not answered are tried again with every box the other way, under every option of every dropdown, and
    with every slider at its end: the switch of the ninth head waits for nine heads.
    """
    answered: set[tuple[str, str]] = set()
    try_every_key(explorer, answered)
    for place in range(len(explorer.labels(CHECKBOXES))):
        if explorer.is_usable(CHECKBOXES, place):
            explorer.press(CHECKBOXES, place, "Space")
            try_every_key(explorer, answered)
            explorer.press(CHECKBOXES, place, "Space")
    for place, label in enumerate(explorer.dropdowns()):
        if not explorer.is_usable(DROPDOWNS, place):
            continue
        # JupyterLab takes the up and down arrows for itself, to move between cells; these keys it leaves.
        if any([explorer.press(DROPDOWNS, place, key) for key in ("End", "Home", "End")]):
            answered.add((DROPDOWNS, label))
        for option in range(explorer.root.locator(DROPDOWNS).nth(place).locator("option").count()):
            explorer.choose(place, option)
            try_every_key(explorer, answered)
        explorer.choose(place, 0)
    for place in range(len(explorer.sliders())):
        if unanswered(explorer, answered) and explorer.is_usable(SLIDERS, place):
            explorer.press(SLIDERS, place, "End")
            try_every_key(explorer, answered)
    faults = [
        f"{label} ({kind}): no key changed the picture or its words"
        for kind, label in unanswered(explorer, answered)
    ]
    for kind in (*KEYS, DROPDOWNS):
        faults += [
            f"{label} ({kind}) has no label" for label in explorer.labels(kind) if label.endswith(": ")
        ]
    return faults


def unanswered(explorer: Explorer, answered: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Kind and label of every control that has not answered yet."""
    found = [(kind, label) for kind in (*KEYS, DROPDOWNS) for label in explorer.labels(kind)]
    return [one for one in found if one not in answered]


def faults_of(page: Page, watched: Watched) -> list[str]:
    """Drive all explorers of a page that was run; return what is wrong with it."""
    found = explorers(page)
    before = error_outputs(page)
    faults = [*before] if found else [*before, "no explorer on the page"]
    faults += ["Error displaying widget"] * page.locator("text=Error displaying widget").count()
    faults += [f"explorer {i}, {fault}" for i, one in enumerate(found, start=1) for fault in drive(one)]
    after = [f"a control made it: {error}" for error in error_outputs(page) if error not in before]
    strangers = [f"asked another machine for {address}" for address in watched.strangers]
    return faults + after + watched.errors + strangers
