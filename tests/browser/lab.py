"""A real JupyterLab on a copy of the course, and a Chromium that opens notebooks in it.

Shared by the browser tests and by `screenshot.py`.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as BrowserError

ROOT = Path(__file__).resolve().parents[2]
QUIET_CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
]
START_TIMEOUT = 90  # seconds, for a server on a busy machine
OPEN_TIMEOUT = 120_000  # milliseconds, until the kernel of a notebook is idle
RUN_TIMEOUT = 180_000  # milliseconds, for all cells of one notebook


def find_chromium() -> str | None:
    """The browser to use: $COURSE_CHROMIUM, else a Chromium or Chrome on the PATH, else None."""
    named = os.environ.get("COURSE_CHROMIUM")
    if named:
        return named if Path(named).is_file() else shutil.which(named)
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"):
        found = shutil.which(name)
        if found:
            return found
    return None


def chromium_or_exit() -> str:
    """The browser to use; a program that has none ends with a sentence."""
    found = find_chromium()
    if found is None:
        raise SystemExit("There is no Chromium: install one, or name it in COURSE_CHROMIUM.")
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _write_settings(folder: Path, dark: bool) -> dict[str, str]:
    """Settings of a JupyterLab that shows no pop-up and keeps every cell in the page."""
    settings = {
        "labconfig/page_config.json": {
            "disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}
        },
        "settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
        "settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings": {
            "theme": "JupyterLab Dark" if dark else "JupyterLab Light"
        },
    }
    for name, content in settings.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    places = {
        "JUPYTER_CONFIG_DIR": folder,
        "JUPYTER_DATA_DIR": folder / "data",
        "JUPYTER_RUNTIME_DIR": folder / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": folder / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": folder / "workspaces",
        "IPYTHONDIR": folder / "ipython",
    }
    return {name: str(path) for name, path in places.items()}


@contextlib.contextmanager
def jupyterlab(
    folder: Path, dark: bool = False, notebooks: Path | None = None, application: str = "jupyterlab"
) -> Iterator[str]:
    """Serve a copy of the course from `folder`, since JupyterLab saves what it runs. Yields the address.

    `application` is the module that serves: Notebook 7, "notebook", is made of JupyterLab's parts.
    """
    course = folder / "course"
    ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    shutil.copytree(ROOT / "mha_helpers", course / "mha_helpers", ignore=ignored)
    (course / "notebooks").mkdir()
    for path in sorted((notebooks or ROOT / "notebooks").glob("*.ipynb")):
        shutil.copy(path, course / "notebooks")
    port = _free_port()
    command = [sys.executable, "-m", application, "--no-browser", "--ip=127.0.0.1", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", "--IdentityProvider.token=", "--expose-app-in-browser"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    environment = {**os.environ, **_write_settings(folder / "jupyter", dark), "OMP_NUM_THREADS": "1"}
    with open(folder / "server.log", "wb") as log:
        server = subprocess.Popen(command, cwd=course, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for_server(server, address, folder / "server.log")
        yield address
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_for_server(server: subprocess.Popen, address: str, log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline and server.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/api", timeout=5):
            return
        time.sleep(0.2)
    end = log.read_text(encoding="utf-8", errors="replace")[-2000:]
    raise RuntimeError(f"JupyterLab did not answer at {address} within {START_TIMEOUT} s. It said:\n{end}")


@contextlib.contextmanager
def chromium(executable: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=QUIET_CHROMIUM)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """What a page did that nobody sees: errors in its console, requests to other machines."""

    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)


def _watch(page: Page, address: str) -> Watched:
    watched = Watched()
    home = (address + "/", address.replace("http", "ws") + "/", "data:", "blob:", "about:")

    def asked(url: str) -> None:
        if not url.startswith(home):
            watched.strangers.append(url)

    def said(message) -> None:
        # A page's first look for its own workspace file is answered 404, and Chromium reports that itself.
        if message.type == "error" and "/api/workspaces/" not in message.location.get("url", ""):
            watched.errors.append(message.text)

    page.on("request", lambda request: asked(request.url))
    page.on("websocket", lambda socket: asked(socket.url))
    page.on("console", said)
    page.on("pageerror", lambda error: watched.errors.append(str(error)))
    return watched


def open_notebook(page: Page, address: str, name: str, notebook_7: bool = False) -> Watched:
    """Open notebooks/<name>.ipynb alone in the main area and wait until its kernel can run cells."""
    watched = _watch(page, address)
    place = "notebooks" if notebook_7 else f"lab/workspaces/{name}/tree"
    page.goto(f"{address}/{place}/notebooks/{name}.ipynb", timeout=60_000)
    connected = """() => {
            const session = window.jupyterapp?.shell?.currentWidget?.sessionContext?.session;
            return session?.kernel?.connectionStatus === "connected" && session.kernel.status === "idle";
        }"""
    try:
        page.wait_for_function(connected, timeout=OPEN_TIMEOUT)
    except BrowserError as error:
        said = " / ".join(page.locator(".jp-Dialog-content").all_inner_texts())
        raise AssertionError(f"{name} has no idle kernel. Open dialogs: {said or 'none'}") from error
    return watched


def run_all(page: Page) -> None:
    """Run every cell and wait until the last has finished and the kernel is idle."""
    # First without outputs, so that none of what is then looked at comes from the file.
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    try:
        page.wait_for_function(
            """() => {
                const widget = window.jupyterapp.shell.currentWidget;
                const cells = widget.content.widgets.filter(cell => cell.model.type === "code");
                const ran = cells.every(cell => cell.model.executionState !== "running"
                    && (cell.model.executionCount || !cell.model.sharedModel.getSource().trim()));
                return ran && widget.sessionContext.session.kernel.status === "idle";
            }""",
            timeout=RUN_TIMEOUT,
        )
    except BrowserError as error:
        raise AssertionError(f"not every cell ran: {error_outputs(page) or error}") from error
    page.wait_for_timeout(500)  # widgets draw themselves after the kernel is idle


def error_outputs(page: Page) -> list[str]:
    """Errors and stderr that cells show, leaving out errors that are meant (tag raises-exception)."""
    return page.evaluate(
        """() => window.jupyterapp.shell.currentWidget.content.widgets
            .filter(cell => cell.model.type === "code")
            .flatMap(cell => cell.model.sharedModel.toJSON().outputs
                .filter(output => output.output_type === "error"
                    ? !(cell.model.getMetadata("tags") ?? []).includes("raises-exception")
                    : output.name === "stderr")
                .map(output => `${cell.model.id}: ${output.ename ?? "stderr"}: `
                    + `${output.evalue ?? [output.text].flat().join("")}`))"""
    )


def full_length(page: Page, folder: Path, name: str) -> list[Path]:
    """Photograph the whole notebook in pieces as large as the window shows of it."""
    folder.mkdir(parents=True, exist_ok=True)
    scroller = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer"
    box = page.locator(scroller).bounding_box()
    if box is None:
        raise RuntimeError("the notebook's panel is not visible, so there is nothing to photograph")
    total = page.evaluate(
        """selector => {
            const panel = document.querySelector(selector);
            const last = [...panel.querySelectorAll(".jp-Cell")].at(-1).getBoundingClientRect();
            return last.bottom - panel.getBoundingClientRect().top + panel.scrollTop + 20;
        }""",
        scroller,
    )
    step = int(box["height"]) - 40  # neighbours share 40 pixels, so nothing is lost at a seam
    taken = []
    for piece in range(max(1, math.ceil((total - 40) / step))):
        page.evaluate("([s, y]) => document.querySelector(s).scrollTo(0, y)", [scroller, piece * step])
        page.wait_for_timeout(250)
        path = folder / f"{name}_{piece + 1:02d}.png"
        page.screenshot(path=path, clip={**box, "height": min(box["height"], total - piece * step)})
        taken.append(path)
    return taken
