"""A JupyterLab of its own, and a Chromium that opens notebooks in it, for browser tests and screenshots."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as BrowserError

import course

ROOT = Path(__file__).resolve().parents[1]
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
OTHER_PLACES = (  # where macOS and Windows keep one
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
WIDGET = "window.jupyterapp.shell.currentWidget"
OPEN_TIMEOUT = 90_000  # milliseconds, until the kernel of a notebook is idle
RUN_TIMEOUT = 180_000  # milliseconds, for all cells of one notebook


def find_chromium() -> str | None:
    """The browser to use: the one named by COURSE_CHROMIUM, else one of Chromium's family, else None."""
    names = [os.environ.get("COURSE_CHROMIUM"), *BROWSERS, *OTHER_PLACES]
    return next((found for name in names if name and (found := shutil.which(name))), None)


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=QUIET)
        yield browser
        browser.close()


def _settings(folder: Path, dark: bool) -> dict[str, str]:
    """Environment variables of a JupyterLab as `course.py lab` starts it, without a person's own settings."""
    course.configure(str(folder / "environment"))
    theme = "JupyterLab Dark" if dark else "JupyterLab Light"
    files = {
        # Every cell stays in the page, also when it is not on the screen.
        "settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
        "settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings": {"theme": theme},
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    folders = {
        "JUPYTER_CONFIG_DIR": folder / "config",
        "JUPYTER_CONFIG_PATH": folder / "environment/etc/jupyter",
        "JUPYTER_DATA_DIR": folder / "data",
        "JUPYTER_RUNTIME_DIR": folder / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": folder / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": folder / "workspaces",
        "IPYTHONDIR": folder / "ipython",
    }
    paths = [
        *filter(None, [os.environ.get("PYTHONPATH")]),
        str(ROOT),
    ]  # the helpers, if they are not installed
    return {name: str(path) for name, path in folders.items()} | {"PYTHONPATH": os.pathsep.join(paths)}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def jupyterlab(folder: Path, dark: bool = False, options: Sequence[str] = ()) -> Iterator[str]:
    """Serve `folder`/course, where `open_notebook` puts copies of the pages. Yields the address."""
    (folder / "course").mkdir()
    port = free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}"]
    command += [
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        "--expose-app-in-browser",
        *options,
    ]
    command.append(f"--LabApp.app_settings_dir={folder / 'jupyter/environment/share/jupyter/lab/settings'}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    environment = {**os.environ, **_settings(folder / "jupyter", dark), "OMP_NUM_THREADS": "1"}
    address = f"http://127.0.0.1:{port}"
    with open(folder / "server.log", "wb") as log:
        server = subprocess.Popen(command, cwd=folder / "course", env=environment, stdout=log, stderr=log)
    try:
        for _ in range(450):  # ninety seconds, for a busy machine
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/api", timeout=5):
                break
            time.sleep(0.2)
        else:
            message = (folder / "server.log").read_text(encoding="utf-8", errors="replace")
            raise RuntimeError(f"JupyterLab did not answer at {address}. It said:\n{message[-2000:]}")
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


def watch_requests(page: Page, address: str) -> list[str]:
    """A list that fills with what the page asks from other machines."""
    strangers: list[str] = []
    home = (address + "/", address.replace("http", "ws") + "/", "data:", "blob:", "about:")

    def asked(request) -> None:
        if not request.url.startswith(home):
            strangers.append(request.url)

    page.on("request", asked)
    page.on("websocket", asked)
    return strangers


def open_notebook(page: Page, address: str, folder: Path, notebook: Path) -> None:
    """Open a copy of a notebook alone in the main area and wait until its kernel can run cells."""
    inside = notebook.is_relative_to(ROOT / "notebooks")
    name = notebook.relative_to(ROOT) if inside else Path("notebooks", notebook.name)
    target = folder / "course" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(notebook, target)
    open_copy(page, address, name.as_posix())


def open_copy(page: Page, address: str, name: str) -> None:
    """Open a notebook that lies where JupyterLab serves it, and wait until its kernel can run cells."""
    page.goto(f"{address}/lab/workspaces/{Path(name).stem}/tree/{name}", timeout=60_000)
    idle = f"""() => {{
        const kernel = {WIDGET.replace(".", "?.")}?.sessionContext?.session?.kernel;
        return kernel?.connectionStatus === "connected" && kernel.status === "idle";
    }}"""
    try:
        page.wait_for_function(idle, timeout=OPEN_TIMEOUT)
    except BrowserError as error:
        message = " / ".join(page.locator(".jp-Dialog-content").all_inner_texts())
        raise AssertionError(f"{name} has no idle kernel. Open dialogs: {message or 'none'}") from error


# Errors and stderr that cells show, leaving out errors that are meant (tag raises-exception).
ERRORS = f"""{WIDGET}.content.widgets
    .filter(cell => cell.model.type === "code")
    .flatMap(cell => cell.model.sharedModel.toJSON().outputs
        .filter(output => output.output_type === "error"
            ? !(cell.model.getMetadata("tags") ?? []).includes("raises-exception")
            : output.name === "stderr")
        .map(output => `${{cell.model.id}}: ${{output.ename ?? "stderr"}}: `
            + `${{output.evalue ?? [output.text].flat().join("")}}`))"""


def error_outputs(page: Page) -> list[str]:
    return page.evaluate(f"() => {ERRORS}")


def run_all(page: Page) -> None:
    """Run every cell and wait until the last has finished, or one has failed, and the kernel is idle."""
    # First without outputs, so that none of what is then looked at comes from the file.
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    finished = f"""() => {{
        const cells = {WIDGET}.content.widgets.filter(cell => cell.model.type === "code");
        const ran = cells.every(cell => cell.model.executionState !== "running" && cell.model.executionCount);
        return {WIDGET}.sessionContext.session.kernel.status === "idle" && (ran || {ERRORS}.length > 0);
    }}"""
    page.wait_for_function(finished, timeout=RUN_TIMEOUT)
    page.wait_for_timeout(500)  # widgets draw themselves after the kernel is idle
