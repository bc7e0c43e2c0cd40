"""A JupyterLab of its own, and a Chromium that opens notebooks in it, for browser tests and screenshots."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import nbformat
from playwright.sync_api import sync_playwright

import course
from tools.notebook import NOTEBOOK_METADATA, faults_of, name_of, with_helpers

BROWSERS = (
    "chromium-headless-shell",  # first: it draws no window, and takes less
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",  # where macOS and Windows keep one
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
WIDGET = "window.jupyterapp.shell.currentWidget"
KERNEL = f"{WIDGET.replace('.', '?.')}?.sessionContext?.session?.kernel"
READY = f"{KERNEL}?.connectionStatus === 'connected' && {KERNEL}.status === 'idle'"
ANSWER_TIMEOUT = 90  # seconds, until a server answers on a busy machine
LOOK_EVERY = 100  # milliseconds; looking at every frame would draw each, and slow down what it waits for
OPEN_TIMEOUT = 90_000  # milliseconds, until the kernel of a notebook is idle
RUN_TIMEOUT = 180_000  # milliseconds, for all cells of one notebook


def find_chromium():
    """The browser to use: the one named by COURSE_CHROMIUM, else one of Chromium's family, else None."""
    names = (os.environ.get("COURSE_CHROMIUM", ""), *BROWSERS)
    return next(filter(None, map(shutil.which, names)), None)


@contextlib.contextmanager
def chromium():
    with sync_playwright() as api, api.chromium.launch(executable_path=find_chromium()) as browser:
        yield browser


@contextlib.contextmanager
def jupyterlab(folder, options=()):
    """Serve `folder`/course as `course.py lab` does, without a person's own settings. Yields the address."""
    (folder / "course").mkdir()
    course.configure(str(folder / "environment"))
    # Every cell stays in the page, also when it is not on the screen.
    path = "config/lab/user-settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
    course.write(folder / path, '{"windowingMode": "none"}')
    fork = "from tools import forked_kernels\n\nforked_kernels.install()\n"
    course.write(folder / "config/jupyter_server_config.py", fork)
    environment = with_helpers() | {
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_CONFIG_PATH": str(folder / "environment/etc/jupyter"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "IPYTHONDIR": str(folder / "ipython"),
    }
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"]
    command += [f"--port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder / 'course'}"]
    command += ["--IdentityProvider.token=", "--expose-app-in-browser", *options]
    command.append(f"--LabApp.app_settings_dir={folder / 'environment/share/jupyter/lab/settings'}")
    address = f"http://127.0.0.1:{port}"
    with (
        open(folder / "server.log", "wb") as log,
        subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log) as server,
    ):
        try:
            for _ in range(ANSWER_TIMEOUT):
                with contextlib.suppress(OSError):  # nobody answers yet
                    urllib.request.urlopen(f"{address}/api", timeout=5).close()
                    break
                time.sleep(1)
            else:
                said = (folder / "server.log").read_text(encoding="utf-8", errors="replace")
                raise TimeoutError(said[-2000:])
            yield address
        finally:
            server.terminate()


@contextlib.contextmanager
def opened(notebook, **options):
    """Run a notebook in a JupyterLab and a browser of its own. Yields the browser's page."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        jupyterlab(Path(folder)) as address,
        chromium() as browser,
    ):
        page = browser.new_page(**options)
        open_notebook(page, address, Path(folder), notebook)
        page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
        run_all(page)
        yield page


def open_notebook(page, address, folder, notebook):
    """Open a copy of a notebook, or code cells as one, and wait until its kernel can run them."""
    if isinstance(notebook, Path):
        name, text = f"notebooks/{name_of(notebook)}.ipynb", notebook.read_text(encoding="utf-8")
    else:
        cells = [nbformat.v4.new_code_cell(source) for source in notebook]
        new = nbformat.v4.new_notebook(cells=cells, metadata=NOTEBOOK_METADATA)
        name, text = "notebooks/cells.ipynb", nbformat.writes(new)
    course.write(str(folder / "course" / name), text)
    open_copy(page, address, name)


def open_copy(page, address, name):
    """Open a notebook that lies where JupyterLab serves it, and wait until its kernel can run cells."""
    if page.url.startswith(address):  # JupyterLab is open already: loading it again takes seconds
        page.evaluate("path => void window.jupyterapp.commands.execute('docmanager:open', { path })", name)
    else:
        page.goto(f"{address}/lab/workspaces/{Path(name).stem}/tree/{name}", timeout=60_000)
    page.wait_for_function(f"() => {READY}", timeout=OPEN_TIMEOUT, polling=LOOK_EVERY)


def close_notebook(page):
    """End the kernel of the notebook that is seen, and close it as it is."""
    page.evaluate(f"async () => {{ await {WIDGET}.sessionContext.shutdown(); {WIDGET}.dispose(); }}")


def error_outputs(page):
    cells = f"{WIDGET}.content.widgets.map(cell => cell.model.sharedModel.toJSON())"
    return faults_of(page.evaluate(f"() => {cells}"))


def run_all(page):
    """Run every cell until one fails; without the file's outputs."""
    clear_outputs(page)
    run(page, "window.jupyterapp.commands.execute('notebook:run-all-cells')")


def run_cells(page, indices):
    """Run these cells one after the other, also after one that fails."""
    activate = f"{WIDGET}.content.activeCellIndex = i"
    execute = "await window.jupyterapp.commands.execute('notebook:run-cell')"
    run(page, f"(async () => {{ for (const i of {indices}) {{ {activate}; {execute}; }} }})()")


def clear_outputs(page):
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")


def run(page, promise):
    page.evaluate(f"() => {{ window.ran = false; {promise}.finally(() => {{ window.ran = true; }}); }}")
    page.wait_for_function("() => window.ran", timeout=RUN_TIMEOUT, polling=LOOK_EVERY)
    page.wait_for_timeout(500)  # widgets draw themselves after the kernel is idle
