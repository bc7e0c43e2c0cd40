"""course.py makes its environment: for real, in a copy of the project with very small packages."""

import functools
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from small_project import NOWHERE, HangingServer, Project, write_wheel

from tools import environment, failures
from tools.failures import CannotGoOn

ROOT = Path(__file__).resolve().parent.parent
ON_LINUX = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux has two builds of torch to choose from"
)


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("course") / "made")
    started, said = project.lab()
    return project, started, said


@pytest.fixture
def made(made_once, tmp_path):
    """A project whose environment is there: a copy, which a test may break."""
    project = object.__new__(Project)
    project.__dict__.update(made_once[0].__dict__)
    project.folder = tmp_path / "copy"
    shutil.copytree(made_once[0].folder, project.folder, symlinks=True)
    project.venv = project.folder / ".venv"
    project.stamp = project.venv / "course-stamp.json"
    return project


def test_the_first_start_makes_the_environment_and_opens_the_first_page(made_once):
    project, started, said = made_once
    assert said.startswith(".venv is not there yet. Making it: this happens once")
    assert "Installing requirements.txt into .venv ..." in said
    assert f"--LabApp.default_url=/lab/tree/{'notebooks/00_start_here.ipynb'}" in started["lab"]
    assert Path(started["folder"]).samefile(project.folder)
    assert "--no-browser" in started["lab"]
    assert started["torch"] == "2.13.0"


def test_the_second_start_is_at_once_and_needs_no_network(made):
    _, said = made.lab(network=False)
    assert said == "Starting JupyterLab. Press Ctrl-C twice here to stop it."


def test_other_line_ends_are_no_change(made):
    file = made.folder / "requirements.txt"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert "Installing" not in made.lab(network=False)[1]


def remove_a_package(project):
    shutil.rmtree(next(project.venv.rglob("torch/__init__.py")).parent)


def remove_pip(project):
    shutil.rmtree(next(project.venv.rglob("pip/__init__.py")).parent)


def remove_python(project):
    for program in project.venv.glob("bin/python*" if os.name != "nt" else "Scripts/python*"):
        program.unlink()


def spoil_the_stamp(project):
    project.stamp.write_text("{")


def make_it_busy(project):
    project.stamp.write_text(json.dumps({**json.loads(project.stamp.read_text()), "busy": "course"}))


def age_it(project):
    project.stamp.write_text(json.dumps({**json.loads(project.stamp.read_text()), "python": "3.9"}))


@pytest.mark.parametrize(
    ("harm", "said_of_it"),
    [
        (lambda project: None, "None"),
        (remove_a_package, "is broken"),
        (remove_pip, "is broken"),
        (remove_python, "is broken"),
        (spoil_the_stamp, "was left half-made"),
        (make_it_busy, "was left half-made"),
        (age_it, r"was made with Python 3\.9, and this is 3\.\d+"),
    ],
)
def test_a_broken_environment_is_noticed(made, harm, said_of_it):
    harm(made)
    own = environment.Environment(made.venv, {"course": ["requirements.txt"]})  # an absolute path stays one
    assert re.fullmatch(said_of_it, str(own.trouble()))


@pytest.mark.parametrize(
    ("harm", "said_of_it"), [(remove_a_package, "is broken"), (make_it_busy, "was left half-made")]
)
def test_a_broken_environment_is_made_anew(made, harm, said_of_it):
    harm(made)
    (made.venv / "left over").touch()
    started, said = made.lab()
    assert said.startswith(f".venv {said_of_it}. Making it: ")
    assert started["torch"] == "2.13.0"
    assert not (made.venv / "left over").exists()


@pytest.mark.skipif(
    os.name == "nt", reason="kills a whole group of processes, as Ctrl-C or closing a terminal does"
)
def test_an_installation_that_was_killed_is_noticed(tmp_path):
    project = Project(tmp_path / "killed")
    with HangingServer() as server:
        settings = {**project.settings(network=False), "PIP_INDEX_URL": server.address}
        process = subprocess.Popen(
            [sys.executable, str(project.folder / "course.py"), "lab", "--no-browser"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=settings,
            start_new_session=True,
        )  # fmt: skip
        for line in process.stdout:
            if line.startswith("Installing"):
                break
        assert server.asked.wait(60)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert ".venv was left half-made. Making it" in project.lab()[1]


def test_changed_requirements_are_installed_without_making_everything_anew(made):
    write_wheel(made.wheels, "seaborn", "9.0")
    file = made.folder / "constraints.txt"
    file.write_text(file.read_text().replace("seaborn==8.0", "seaborn==9.0"))
    (made.venv / "kept").touch()
    _, said = made.lab()
    assert said.startswith("Installing requirements.txt into .venv ...")
    assert (made.venv / "kept").exists()
    assert list(made.venv.rglob("seaborn-9.0.dist-info"))
    assert "Installing" not in made.lab(network=False)[1]


def test_somebodys_own_sound_environment_is_kept(made):
    made.stamp.unlink()
    (made.venv / "theirs").touch()
    assert made.lab()[1].startswith("Installing requirements.txt")
    assert (made.venv / "theirs").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows does not let a program remove itself")
def test_started_with_its_own_python(made):
    make_it_busy(made)
    _, said = made.lab(python=made.venv / "bin/python")
    assert ".venv was left half-made. Making it" in said


def test_without_a_network_one_sentence(tmp_path):
    project = Project(tmp_path / "offline")
    done = project.course("lab", network=False)
    assert done.returncode == 1
    assert done.stderr == (
        "The package index cannot be reached, so I could not install requirements.txt:"
        " check the network and try again.\n"
    )
    # What was made so far is good: the next try goes on from there.
    assert "Making" not in project.lab()[1]


def test_lab_still_works_after_the_tests_could_not_be_installed(made):
    done = made.course("test", network=False)
    assert done.returncode == 1
    assert done.stderr.startswith("The package index cannot be reached, so I could not install tests/requ")
    assert made.lab(network=False)[1] == "Starting JupyterLab. Press Ctrl-C twice here to stop it."


def test_a_version_that_the_index_does_not_have(tmp_path):
    project = Project(tmp_path / "missing")
    next(project.wheels.glob("torch-*")).unlink()
    done = project.course("lab")
    assert done.returncode == 1
    assert re.fullmatch(
        r"There is no fitting torch for Python 3\.\d+ on \w+ \(\w+\): try a Python .*\n", done.stderr
    )


@pytest.fixture
def cpu_index(tmp_path):
    """An index of CPU builds, as PyTorch has one: its wheels are named torch-2.13.0+cpu-….whl."""
    write_wheel(tmp_path / "index" / "torch", "torch", "2.13.0+cpu")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path / "index")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@ON_LINUX
def test_without_a_gpu_torch_is_the_cpu_build(tmp_path, cpu_index):
    project = Project(tmp_path / "cpu", cpu_index)
    # The index alone, and only for torch: PIP_NO_INDEX would shut it out.
    started, said = project.lab(PIP_NO_INDEX="0", PIP_INDEX_URL=NOWHERE, PIP_RETRIES="0")
    assert "No NVIDIA GPU here: taking the CPU build of torch==2.13.0 ..." in said
    assert started["torch"] == "2.13.0+cpu"


@ON_LINUX
def test_where_the_cpu_builds_cannot_be_reached_it_says_so_and_goes_on(made_once):
    _, started, said = made_once
    assert said.count("cannot be reached: taking torch from the usual index, perhaps with CUDA.") == 1
    assert started["torch"] == "2.13.0"


@ON_LINUX
def test_with_a_gpu_torch_is_the_usual_build(tmp_path, cpu_index):
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\necho "GPU 0: NVIDIA something (UUID: GPU-1)"\n')
    tool.chmod(0o755)
    project = Project(tmp_path / "gpu", cpu_index)
    started, said = project.lab(PATH=f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
    assert "CPU build" not in said
    assert started["torch"] == "2.13.0"


def test_a_driver_without_a_gpu_is_no_gpu(tmp_path, monkeypatch):
    if os.name == "nt" or Path("/proc/driver/nvidia/version").exists():
        pytest.skip("needs a machine without an NVIDIA driver, and shell scripts")
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'No devices were found'\nexit 6\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not environment.has_nvidia_gpu()
    monkeypatch.setenv("PATH", str(tmp_path / "nothing here"))
    assert not environment.has_nvidia_gpu()


def test_an_index_that_hangs_costs_the_time_limit_and_no_more():
    with HangingServer() as server:
        began = time.monotonic()
        assert not environment.reachable(server.address, seconds=0.5)
        assert time.monotonic() - began < 5


def test_a_full_disk_is_told_before_anything_is_made(tmp_path, monkeypatch):
    small = shutil._ntuple_diskusage(10e9, 9.9e9, 0.1e9)
    monkeypatch.setattr(failures.shutil, "disk_usage", lambda folder: small)
    own = environment.Environment(tmp_path / "new", {"course": ["requirements.txt"]})
    with pytest.raises(CannotGoOn, match=r"is nearly full: 2\.0 GB are needed and 0\.1 GB are free, so make"):
        own.ensure("course")
    assert not own.folder.exists()


def test_a_python_without_venv_is_told_what_to_install(tmp_path, monkeypatch):
    find_spec = environment.importlib.util.find_spec
    monkeypatch.setattr(
        environment.importlib.util, "find_spec", lambda name: None if name == "ensurepip" else find_spec(name)
    )
    own = environment.Environment(tmp_path / "new", {"course": ["requirements.txt"]})
    with pytest.raises(CannotGoOn, match=r"lacks its venv module: .* sudo apt install python3\.\d+-venv"):
        own.ensure("course")


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n",
            "The disk is full, so I could not install it: ",
        ),
        (
            "WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NameResolutionError'\n"
            "ERROR: Could not find a version that satisfies the requirement torch==2.13.0 (from versions: none)\n"
            "ERROR: No matching distribution found for torch==2.13.0\n",
            "The package index cannot be reached, so I could not install it: ",
        ),
        (  # one hiccup on the way is not the reason
            "WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by 'NewConnectionError'\n"
            "ERROR: No matching distribution found for torch==2.13.0\n",
            "There is no fitting torch for Python ",
        ),
        (
            "pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool: Read timed out.\n",
            "The package index cannot be reached, so I could not install it: ",
        ),
        ("ERROR: something new\n", "I could not install it. What pip said:\nERROR: something new"),
    ],
)
def test_what_pip_says_becomes_one_sentence(said, sentence):
    assert failures.explain_pip(said, "install it").startswith(sentence)


def test_a_folder_that_may_not_be_written(tmp_path):
    error = PermissionError(13, "Permission denied", str(tmp_path))
    assert failures.explain_os_error(error, tmp_path) == (
        f"{tmp_path} cannot be changed (Permission denied): close what is using it, or see whose it is."
    )
