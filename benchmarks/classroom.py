"""What does a class on a hub cost? A real JupyterHub with its proxy, and learners who all begin at once.

    .venv/bin/python -m pip install -c constraints.txt -r teaching/hub/requirements.txt
    npm install -g configurable-http-proxy
    .venv/bin/python -m benchmarks.classroom --learners 8

Each learner logs in on the hub of ``teaching/hub``, gets a server, opens page 00 and runs it. One does so in
a browser; the others speak to their servers through the proxy as a browser does. Memory is that of the server
and the kernel of one learner, where what several share counts in equal parts (PSS). Hub, learners and browser
share one machine, and one account of it.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import requests
import websocket

from course import FIRST_PAGE
from tools.lab import ERRORS, WIDGET, chromium, free_port, served, wait_for
from tools.notebook import ROOT, WIDGET_VIEW

PASSWORD = "eight letters"
PATIENCE = 300  # seconds
CONFIG = """
load_subconfig({config!r})
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r}
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub_port}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.ConfigurableHTTPProxy.command = {proxy!r}
c.Spawner.args = [*c.Spawner.args, "--LabApp.expose_app_in_browser=True"]
"""


@contextlib.contextmanager
def hub(folder, proxy):
    """Start the hub in a folder of its own. Yields its address and its process."""
    port = free_port()
    settings = {
        "config": str(ROOT / "teaching" / "hub" / "jupyterhub_config.py"),
        "homes": str(folder / "homes" / "{username}"),
        "proxy": proxy,
    }
    ports = {"port": port, "hub_port": free_port(), "proxy_port": free_port()}
    (folder / "config.py").write_text(CONFIG.format(**settings, **ports), encoding="utf-8")
    command = [sys.executable, "-m", "jupyterhub", "--config", "config.py"]
    environment = {**os.environ, "CLASS_PASSWORD": PASSWORD, "OMP_NUM_THREADS": "1"}
    address = f"http://127.0.0.1:{port}"
    # At its end the hub ends the learners' servers and its proxy.
    with served(
        command, folder, environment, lambda: requests.get(f"{address}/hub/health", timeout=5).ok
    ) as run:
        yield address, psutil.Process(run.pid)


# --- a learner without a browser ----------------------------------------------------------------------------


def log_in(address, name):
    """Log in and wait for the own server. Returns a session that it knows."""
    session = requests.Session()
    form = session.get(f"{address}/hub/login")
    data = {"username": name, "password": PASSWORD, "_xsrf": session.cookies["_xsrf"]}
    session.post(form.url, data=data).raise_for_status()

    def lab_is_served():
        answer = session.get(f"{address}/user/{name}/lab")
        return answer.ok and f"/user/{name}/lab" in answer.url

    wait_for(lab_is_served, PATIENCE)
    return session


def run_page(address, name, session):
    """Run every cell of the page. Returns seconds to the first picture, to the end, and the errors."""
    start, home = time.monotonic(), f"{address}/user/{name}"
    token = next(cookie.value for cookie in session.cookies if cookie.name == "_xsrf" and name in cookie.path)
    notebook = session.get(f"{home}/api/contents/{FIRST_PAGE}").json()["content"]
    asked = {"path": FIRST_PAGE, "type": "notebook", "name": "", "kernel": {"name": "python3"}}
    answer = session.post(f"{home}/api/sessions", json=asked, headers={"X-XSRFToken": token})
    answer.raise_for_status()
    kernel = f"{home.replace('http', 'ws', 1)}/api/kernels/{answer.json()['kernel']['id']}"
    cookies = "; ".join(f"{c.name}={c.value}" for c in session.cookies if f"/user/{name}/".startswith(c.path))
    channels = f"{kernel}/channels?session_id={uuid.uuid4().hex}"
    channel = websocket.create_connection(channels, cookie=cookies, timeout=PATIENCE)
    first, errors = None, []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            for message in messages(channel, cell["source"]):
                if WIDGET_VIEW in message["content"].get("data", {}):
                    first = first or time.monotonic() - start
                if message["msg_type"] == "error":
                    errors.append(message["content"]["evalue"])
    channel.close()
    return first, time.monotonic() - start, errors


def messages(channel, code):
    """Run code, and yield what the kernel says until it is idle again."""
    header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "version": "5.3"}
    header |= {"username": "", "session": "", "date": ""}
    content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
    request = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
    channel.send(json.dumps(request))
    while True:
        message = json.loads(channel.recv())
        if message["parent_header"].get("msg_id") != header["msg_id"]:
            continue
        yield message
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            return


def learner(address, name, begin):
    """Return seconds from login to a page, from there to its first picture and to its end, and the errors."""
    begin.wait()
    start = time.monotonic()
    session = log_in(address, name)
    ready = time.monotonic() - start
    return ready, *run_page(address, name, session)


# --- a learner with a browser -------------------------------------------------------------------------------


def learner_in_browser(address, name, begin):
    """Return the same of a learner with a browser, which has to load JupyterLab, too."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(PATIENCE * 1000)
        begin.wait()
        start = time.monotonic()
        page.goto(f"{address}/hub/login")
        page.fill("#username_input", name)
        page.fill("#password_input", PASSWORD)
        page.click("#login_submit")
        kernel = WIDGET.replace(".", "?.") + "?.sessionContext?.session?.kernel"
        page.wait_for_function(f"() => {kernel}?.status === 'idle'")
        ready = time.monotonic() - start
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
        page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-all-cells')")
        page.wait_for_selector(".mha-panel svg.mha")
        first = time.monotonic() - start - ready
        last = "widgets.filter(cell => cell.model.type === 'code').every(cell => cell.model.executionCount)"
        page.wait_for_function(f"() => {WIDGET}.content.{last} && {kernel}.status === 'idle'")
        return ready, first, time.monotonic() - start - ready, page.evaluate(f"() => {ERRORS}")


# --- the class ----------------------------------------------------------------------------------------------


def usage(hub_process):
    """Return (megabytes, seconds of a core) of each learner's server and kernel, and of hub and proxy."""
    of_learner, others = {}, [hub_process]
    for child in hub_process.children():
        name = child.environ().get("JUPYTERHUB_USER")
        if name:
            of_learner[name] = taken([child, *child.children(recursive=True)])
        else:
            others.append(child)
    return of_learner, taken(others)


def taken(processes):
    times = [process.cpu_times() for process in processes]
    seconds = sum(time.user + time.system for time in times)
    return sum(process.memory_full_info().pss for process in processes) / 1e6, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--learners", type=int, default=8)
    parser.add_argument("--proxy", default="configurable-http-proxy", help="where the proxy's command is")
    arguments = parser.parse_args()
    names = [f"learner{i:02}" for i in range(1, arguments.learners + 1)]
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        hub(Path(folder), arguments.proxy) as (address, process),
        ThreadPoolExecutor(len(names)) as pool,
    ):
        begin = threading.Barrier(len(names), timeout=PATIENCE)
        asked = [pool.submit(learner_in_browser, address, names[0], begin)]
        asked += [pool.submit(learner, address, name, begin) for name in names[1:]]
        failures = {name: run.exception() for name, run in zip(names, asked, strict=True) if run.exception()}
        if failures:
            log = (Path(folder) / "server.log").read_text(encoding="utf-8", errors="replace")
            sys.exit(f"{log[-5000:]}\nNot everybody came to the end of the page: {failures}")
        ready, first, end, errors = zip(*(run.result() for run in asked), strict=True)
        of_learner, others = usage(process)
    memory, work = zip(*(of_learner[name] for name in names), strict=True)
    print(f"{len(names)} learners at once, one of them in a browser; {os.cpu_count()} cores\n")
    print(f"{'':34}{'browser':>9}{'median':>9}{'slowest':>9}")
    rows = {
        "from login to a page, s": ready,
        "from there to its first picture, s": first,
        "to the end of the page, s": end,
        "memory of one, MB": memory,
        "work for one, s of a core": work,
    }
    for label, values in rows.items():
        print(f"{label:34}{values[0]:9.1f}{statistics.median(values):9.1f}{max(values):9.1f}")
    messages = [error for of_one in errors for error in of_one]
    print(f"\nhub and proxy: {others[0]:.0f} MB, {others[1]:.0f} s of a core. Errors: {messages or 'none'}")


if __name__ == "__main__":
    main()
