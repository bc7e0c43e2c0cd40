"""What the configurations of a hub and of JupyterLab's server promise: who comes in, and no page or Panel is lost."""

import re
import subprocess
import tomllib
from types import SimpleNamespace

import nbconvert
import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from nbformat.sign import NotebookNotary
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

import course
from tools.notebook import ROOT, WIDGET_STATE, WIDGET_VIEW, all_pages

HUB = ROOT / "teaching" / "hub"
SETTINGS = str(ROOT / "tools/environment/etc/jupyter")
LAB = PyFileConfigLoader("jupyter_server_config.py", SETTINGS).load_config()


@pytest.fixture
def hub(monkeypatch):
    monkeypatch.setenv("CLASS_PASSWORD", "eight letters")
    return PyFileConfigLoader("jupyterhub_config.py", str(HUB)).load_config()


def trusted(path, folder):
    return NotebookNotary(data_dir=str(folder)).check_signature(nbformat.read(path, as_version=4))


def test_every_start_copies_missing_pages_and_leaves_the_others(hub, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    *command, _ = hub.Spawner.cmd
    page = tmp_path / "notebooks" / "00_start_here.ipynb"
    # With a pipe it waits for what signs.
    subprocess.run([*command, "true"], cwd=tmp_path, check=True, stderr=subprocess.PIPE)
    assert all(trusted(path, tmp_path / "data") for path in all_pages())
    names = {path.relative_to(ROOT) for path in (ROOT / "notebooks").rglob("*.ipynb")}
    assert names == {path.relative_to(tmp_path) for path in tmp_path.rglob("*.ipynb")}
    other = next(path for path in tmp_path.rglob("*.ipynb") if path != page)
    page.write_text("mine", encoding="utf-8")
    other.unlink()
    subprocess.run([*command, "true"], cwd=tmp_path, check=True, stderr=subprocess.PIPE)
    assert page.read_text(encoding="utf-8") == "mine" and other.exists()


def test_the_pages_that_came_with_the_course_are_signed_once_it_is_installed(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(ROOT)
    assert not any(trusted(path, tmp_path) for path in all_pages())
    exec(course.SIGN)
    assert all(trusted(path, tmp_path) for path in all_pages())


def test_a_name_is_none_of_the_systems_and_kubernetes_and_one_server_agree(hub):
    pattern = hub.Authenticator.username_pattern
    assert re.match(pattern, "anna07")
    for name in ("docker", "../anna07", "anna07/x", "root", "07", "anna07\nx", "anna07\n"):
        assert not re.match(pattern, name), name
    values = (HUB / "values.yaml").read_text(encoding="utf-8")
    assert f"username_pattern: '{pattern}'" in values and f"limit: {hub.Spawner.mem_limit}" in values
    in_gb = f"{int(hub.Spawner.mem_limit.removesuffix('M')) / 1000:g} GB"
    assert f"A learner may use {in_gb}" in (ROOT / "TEACHING.md").read_text(encoding="utf-8")


def test_an_installed_package_has_its_files_that_are_no_python():
    carried = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    for package in ("mha_helpers", "mha_course"):
        files = {path for path in (ROOT / package).rglob("*.*") if path.suffix not in (".py", ".pyc")}
        assert files == {path for pattern in carried[package] for path in (ROOT / package).glob(pattern)}


def notebook(shown, stored):
    """A page that shows some widgets and stores the states of some."""
    views = [{WIDGET_VIEW: {"model_id": model_id}} for model_id in shown]
    outputs = [nbformat.v4.new_output("display_data", view) for view in views]
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=outputs)])
    page.metadata.widgets = {WIDGET_STATE: {"state": stored}}
    return page


def test_a_panel_of_yesterday_is_kept_with_its_parts_beside_one_run_anew_and_one_replaced_is_not(tmp_path):
    def save(content, name="page", kind="notebook"):
        before_saving({"type": kind, "content": content}, f"{name}.ipynb", manager)

    before_saving = LAB.FileContentsManager.pre_save_hook
    manager = SimpleNamespace(root_dir=str(tmp_path))
    kept = {"old": {"children": ["IPY_MODEL_part"]}, "part": {"“of”": ["IPY_MODEL_old", "IPY_MODEL_anew"]}}
    yesterday = {**kept, "anew": {"value": 1}, "gone": {}}
    nbformat.write(notebook(["old", "anew", "gone"], yesterday), tmp_path / "page.ipynb")
    today = notebook(["old", "anew"], {"anew": {"value": 2}, "replaced": {}})
    save(today)
    stored = {"state": {**kept, "anew": {"value": 2}}, "version_major": 2, "version_minor": 0}
    assert today.metadata.widgets[WIDGET_STATE] == stored
    (tmp_path / "list.ipynb").write_text("[1]", encoding="utf-8")
    (tmp_path / "text.ipynb").write_text("no notebook", encoding="utf-8")
    save("a text", kind="file")  # nothing is raised
    save({"nbformat": 3, "worksheets": []})
    for name in ("text", "list", "new"):
        save(today, name)
    assert today.metadata.widgets[WIDGET_STATE] == stored
    for shown, expected in ((["old"], {**kept, "anew": {"value": 1}}), ([], None)):  # nothing was run today
        unrun = notebook(shown, {})
        del unrun.metadata["widgets"]
        save(unrun)
        widgets = unrun.metadata.get("widgets", {WIDGET_STATE: {"state": None}})
        assert widgets[WIDGET_STATE]["state"] == expected


def test_a_saved_panel_is_exported_in_its_words():
    page = notebook(["old"], {"old": {"model_name": "VBoxModel"}})
    page.cells[0].outputs[0].data["text/plain"] = "Panel: Three heads\n“eats” looks at “cat”"
    for config, words in ((Config(), False), (LAB, True)):
        exported, _ = nbconvert.HTMLExporter(config=config).from_notebook_node(page)
        assert ("“eats” looks at “cat”" in exported.split("<main>")[1]) == words


def test_an_exported_page_has_its_pictures_words_and_slides_begin_at_headings():
    page = nbformat.read(ROOT / "notebooks" / "one_sitting.ipynb", as_version=4)
    outputs = [output for cell in page.cells for output in cell.get("outputs", [])]
    words = [output.metadata["image/png"].alt for output in outputs if "image/png" in output.get("data", {})]
    config = PyFileConfigLoader("jupyter_nbconvert_config.py", SETTINGS).load_config()  # on the command line
    for exporter in (nbconvert.HTMLExporter, nbconvert.SlidesExporter):
        exported = BeautifulSoup(exporter(config=config).from_notebook_node(page)[0], "html.parser")
        images = exported.select("img[src^='data:']")
        assert [image["alt"] for image in images] == words
    headings = [cell for cell in page.cells if cell.source.startswith("#") and cell.cell_type == "markdown"]
    slides = [part for part in exported.select(".slides section") if not part.select("section")]
    assert len(slides) == len(headings) > 12


def test_each_push_runs_the_parts_of_ci_run():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    jobs = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))["jobs"]
    course, *others = re.search(r"\|\| set -- (.+)", script).group(1).split()
    runs = {name: jobs[name]["steps"][-1]["run"] for name in ("course", "part")}
    assert runs == {course: "python course.py test", "part": ".ci/run ${{ matrix.part }}"}
    assert jobs["part"]["strategy"]["matrix"]["part"] == others
    assert set(re.findall(r"^#   (\w+) ", script, re.MULTILINE)) == {course, *others}
    assert all(f"\n{part}() {{" in script for part in [course, *others])
