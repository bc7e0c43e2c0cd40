"""What a hub gives every learner: the names it lets in, and a copy of the pages that stays theirs."""

import re
import subprocess

import pytest
from traitlets.config import Config

from tools.notebook import ROOT

HUB = ROOT / "teaching" / "hub"


@pytest.fixture
def config(monkeypatch):
    """The configuration as JupyterHub reads it."""
    monkeypatch.setenv("CLASS_PASSWORD", "eight letters")
    config, file = Config(), HUB / "jupyterhub_config.py"
    names = {"get_config": lambda: config, "__file__": file}
    exec(compile(file.read_text(encoding="utf-8"), file, "exec"), names)
    return config


def test_every_start_copies_missing_pages_and_leaves_the_others(config, tmp_path):
    *command, _ = config.Spawner.cmd
    page = tmp_path / "notebooks" / "00_start_here.ipynb"
    subprocess.run([*command, "true"], cwd=tmp_path, check=True)
    names = {path.relative_to(ROOT) for path in (ROOT / "notebooks").rglob("*.ipynb")}
    assert names == {path.relative_to(tmp_path) for path in tmp_path.rglob("*.ipynb")}
    other = next(path for path in tmp_path.rglob("*.ipynb") if path != page)
    page.write_text("mine", encoding="utf-8")
    other.unlink()
    subprocess.run([*command, "true"], cwd=tmp_path, check=True)
    assert page.read_text(encoding="utf-8") == "mine"
    assert other.exists()


def test_a_name_cannot_be_that_of_a_folder_of_the_system(config):
    pattern = re.compile(config.Authenticator.username_pattern)
    assert pattern.match("anna07")
    for name in ("docker", "../anna07", "anna07/x", "root", "07", "anna07\nx", "anna07\n"):
        assert not pattern.match(name), name


def test_kubernetes_and_one_server_agree(config):
    values = (HUB / "values.yaml").read_text(encoding="utf-8")
    assert f"username_pattern: '{config.Authenticator.username_pattern}'" in values
    assert f"limit: {config.Spawner.mem_limit}" in values
