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
import itertools
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import requests
import websocket
from jupyter_client.jsonutil import json_default
from jupyter_client.session import Session

from course import FIRST_PAGE
from tools.lab import ERRORS, READY, chromium, free_port, served, start_all, wait_for, wait_for_all
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
c.Spawner.args = [*c.Spawner.args, "--LabApp.expose_app_in_browser=True"]
"""


@contextlib.contextmanager
def hub(folder):
    """Start the hub in a folder of its own. Yields its address and its process."""
    settings = {name: free_port() for name in ("port", "hub_port", "proxy_port")}
    settings["config"] = str(ROOT / "teaching" / "hub" / "jupyterhub_config.py")
    settings["homes"] = str(folder / "homes" / "{username}")
    (folder / "config.py").write_text(CONFIG.format(**settings), encoding="utf-8")
    command = [sys.executable, "-m", "jupyterhub", "--config", "config.py"]
    environment = {**os.environ, "CLASS_PASSWORD": PASSWORD, "OMP_NUM_THREADS": "1"}
    address = f"http://127.0.0.1:{settings['port']}"
    # At its end the hub ends the learners' servers and its proxy.
    with served(
        command, folder, environment, lambda: requests.get(f"{address}/hub/health", timeout=5).ok
    ) as run:
        yield address, psutil.Process(run.pid)


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


def learner(address, name, begin):
    """Return seconds from login to a page, from there to its first picture and to its end, and the errors."""
    home, speaker = f"{address}/user/{name}", Session()
    begin.wait()
    start = time.monotonic()
    session = log_in(address, name)
    ready = time.monotonic() - start
    token = next(cookie.value for cookie in session.cookies if cookie.name == "_xsrf" and name in cookie.path)
    notebook = session.get(f"{home}/api/contents/{FIRST_PAGE}").json()["content"]
    asked = {"path": FIRST_PAGE, "type": "notebook", "name": "", "kernel": {"name": "python3"}}
    answer = session.post(f"{home}/api/sessions", json=asked, headers={"X-XSRFToken": token})
    answer.raise_for_status()
    kernel = f"{home.replace('http', 'ws', 1)}/api/kernels/{answer.json()['kernel']['id']}"
    cookies = "; ".join(f"{c.name}={c.value}" for c in session.cookies if f"/user/{name}/".startswith(c.path))
    channels = f"{kernel}/channels?session_id={speaker.session}"
    channel = websocket.create_connection(channels, cookie=cookies, timeout=PATIENCE)
    first, errors = None, []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            for message in messages(channel, speaker, cell["source"]):
                if WIDGET_VIEW in message["content"].get("data", {}):
                    first = first or time.monotonic() - start - ready
                if message["msg_type"] == "error":
                    errors.append(message["content"]["evalue"])
    channel.close()
    return ready, first, time.monotonic() - start - ready, errors


def messages(channel, speaker, code):
    """Run code, and yield what the kernel says until it is idle again."""
    request = speaker.msg("execute_request", {"code": code})
    channel.send(json.dumps(request | {"channel": "shell"}, default=json_default))
    idle = False
    while not idle:
        message = json.loads(channel.recv())
        if message["parent_header"].get("msg_id") == request["msg_id"]:
            yield message
            idle = message["content"].get("execution_state") == "idle"


def learner_in_browser(address, name, begin):
    """Return the same of a learner with a browser, who has to load JupyterLab, too."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(PATIENCE * 1000)
        begin.wait()
        start = time.monotonic()
        page.goto(f"{address}/hub/login")
        page.fill("#username_input", name)
        page.fill("#password_input", PASSWORD)
        page.click("#login_submit")
        page.wait_for_function(f"() => {READY}")
        ready = time.monotonic() - start
        start_all(page)
        page.wait_for_function(f"() => document.querySelector('.mha-panel svg.mha') || {ERRORS}.length")
        first = time.monotonic() - start - ready
        wait_for_all(page, PATIENCE * 1000)
        return ready, first, time.monotonic() - start - ready, page.evaluate(f"() => {ERRORS}")


def usage(hub_process):
    """Return name -> (megabytes, seconds of a core) of a learner's server and kernel; "" is hub and proxy."""
    processes = defaultdict(list, {"": [hub_process]})
    for child in hub_process.children():
        processes[child.environ().get("JUPYTERHUB_USER", "")] += [child, *child.children(recursive=True)]
    return {name: taken(own) for name, own in processes.items()}


def taken(processes):
    times = [process.cpu_times() for process in processes]
    seconds = sum(time.user + time.system for time in times)
    return sum(process.memory_full_info().pss for process in processes) / 1e6, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--learners", type=int, default=8)
    names = [f"learner{i:02}" for i in range(1, parser.parse_args().learners + 1)]
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        hub(Path(folder)) as (address, process),
        ThreadPoolExecutor(len(names)) as pool,
    ):
        begin = threading.Barrier(len(names), timeout=PATIENCE)
        asked = [pool.submit(learner_in_browser, address, names[0], begin)]
        asked += [pool.submit(learner, address, name, begin) for name in names[1:]]
        ready, first, end, errors = zip(*(run.result() for run in asked), strict=True)
        used = usage(process)
    memory, work = zip(*(used[name] for name in names), strict=True)
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
    megabytes, seconds = used[""]
    print(f"\nhub and proxy: {megabytes:.0f} MB, {seconds:.0f} s of a core")
    print("Errors:", *itertools.chain(*errors))


if __name__ == "__main__":
    main()
