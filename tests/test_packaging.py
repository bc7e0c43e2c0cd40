"""The files that say what to install agree with one another, and the modules import one way only."""

import ast
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rattler import MatchSpec

from tools import commands

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10, where pytest brings it
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
SYSTEMS = {"linux": ("Linux", "posix"), "darwin": ("Darwin", "posix"), "win32": ("Windows", "nt")}

# conda-forge's names where they differ. `pytorch-cpu` is torch without CUDA.
CONDA_NAMES = {"torch": "pytorch-cpu"}

# Imported though not asked for by name: each always comes with the other.
BROUGHT_ALONG = {
    "numpy": "matplotlib",
    "pandas": "seaborn",
    "ipython": "ipywidgets",
    "ipykernel": "ipywidgets",
}
BROUGHT_ALONG |= {"traitlets": "ipywidgets", "pillow": "matplotlib", "jinja2": "nbconvert"}
BROUGHT_ALONG |= {"jupyter-client": "nbclient", "packaging": "pytest", "tomli": "pytest"}
BROUGHT_ALONG |= {"fonttools": "matplotlib", "pygments": "nbconvert"}


def requirements(file):
    lines = (line.split("#")[0].strip() for line in (ROOT / file).read_text(encoding="utf-8").splitlines())
    return [Requirement(line) for line in lines if line]


def bounds(wanted):
    return {canonicalize_name(one.name): str(one.specifier) for one in wanted}


NEEDED = bounds(requirements("requirements.txt"))


@pytest.mark.parametrize(
    "file",
    [
        "requirements.txt",
        "requirements-real-model.txt",
        "constraints.txt",
        "tests/requirements.txt",
        "tests/requirements-colab.txt",
        "tests/requirements-real-model.txt",
    ],
)
def test_no_file_names_an_index(file):
    # An index that cannot be reached costs pip several seconds for each package.
    assert not re.search(
        r"^\s*-|https?:", (ROOT / file).read_text(encoding="utf-8").replace("\n# ", "\n"), re.M
    )


def test_every_requirement_has_a_lower_bound():
    for name, bound in NEEDED.items():
        assert re.fullmatch(r">=[\d.]+|<\d+,>=[\d.]+", bound), name


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("file", ["constraints.txt", "tests/requirements-colab.txt"])
def test_on_every_python_and_system_a_package_has_one_pinned_version(python, system, file):
    here = default_environment() | {"python_version": python, "python_full_version": f"{python}.9"}
    here |= {"sys_platform": system, "platform_system": SYSTEMS[system][0], "os_name": SYSTEMS[system][1]}
    pinned = {}
    for one in requirements(file):
        assert re.fullmatch(r"==[\d.]+", str(one.specifier)), one
        if one.marker is None or one.marker.evaluate(here):
            assert canonicalize_name(one.name) not in pinned, one
            pinned[canonicalize_name(one.name)] = str(one.specifier).removeprefix("==")
    asked = requirements("requirements.txt")
    if file == "constraints.txt":
        asked += requirements("tests/requirements.txt")
    else:
        asked = [one for one in asked if one.name != "jupyterlab"]  # Colab has none
    for one in asked:
        version = pinned[canonicalize_name(one.name)]
        assert one.specifier.contains(version), f"{one} is pinned to {version}"


def test_what_is_installed_here_is_what_constraints_txt_says():
    if Path(sys.prefix).resolve() != ROOT / ".venv":
        pytest.skip("this is not the environment that course.py made")
    pinned = {
        canonicalize_name(one.name): str(one.specifier).removeprefix("==")
        for one in requirements("constraints.txt")
        if one.marker is None or one.marker.evaluate()
    }
    for package in metadata.distributions():
        name = canonicalize_name(package.name)
        if name not in ("pip", "setuptools"):  # come with Python itself, in its own versions
            assert package.version.split("+")[0] == pinned.get(name), name


def test_colab_replaces_nothing_when_it_installs_the_helpers():
    # Colab, August 2026. Replacing one of these there breaks the running kernel or its widgets.
    colab = {
        one.name: str(one.specifier).removeprefix("==")
        for one in requirements("tests/requirements-colab.txt")
    }
    assert colab["ipywidgets"] == "7.7.1"
    assert colab["matplotlib"] == "3.10.0"
    for one in map(Requirement, PROJECT["dependencies"]):
        assert one.specifier.contains("2.11" if one.name == "torch" else colab[one.name]), one


def test_the_helpers_need_what_requirements_txt_says_and_no_more():
    helpers = bounds(map(Requirement, PROJECT["dependencies"]))
    assert helpers.items() <= NEEDED.items()
    assert NEEDED.keys() - helpers.keys() == {"jupyterlab", "nbval"}


def test_environment_yml_says_the_same_as_requirements_txt():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert conda["channels"] == ["conda-forge"]  # the channel `pytorch` is dead
    python, *others = conda["dependencies"]
    assert python == "python=3.12"  # repo2docker understands this form alone
    found = {}
    for line in others:
        spec = MatchSpec(line, strict=True)
        found[spec.name.normalized] = ",".join(sorted(str(spec.version).split(",")))
    assert found == {
        CONDA_NAMES.get(name, name): ",".join(sorted(bound.split(","))) for name, bound in NEEDED.items()
    }


@pytest.mark.parametrize("line", ["matplotlib=>3.10", "matplotlib>=3.10,,<4", "torch >= [2]"])
def test_a_broken_spec_would_be_noticed(line):
    with pytest.raises(Exception, match=r"."):
        MatchSpec(line, strict=True)


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_the_workflows_are_valid():
    assert len(WORKFLOWS) >= 2
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*command, *map(str, WORKFLOWS)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_workflows_run_the_tests_on_three_systems_with_the_oldest_and_the_newest_python():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    matrix = workflow["jobs"]["course"]["strategy"]["matrix"]
    assert [system.split("-")[0] for system in matrix["system"]] == ["ubuntu", "macos", "windows"]
    assert matrix["python"] == [PROJECT["requires-python"].removeprefix(">="), PYTHONS[-1]]


def commands_in(workflow):
    return re.findall(r"run: python course\.py (.*)", workflow.read_text(encoding="utf-8"))


def test_every_environment_has_its_workflow():
    folder = ROOT / ".github" / "workflows"
    assert commands_in(folder / "tests.yml") == ["test", "test --colab", "test --real-model"]
    assert commands_in(folder / "weekly.yml") == ["test --newest", "test --newest --real-model"]


def test_the_workflows_run_commands_that_there_are():
    for file in WORKFLOWS:
        for line in commands_in(file):
            command, *flags = line.split()
            done = subprocess.run(
                [sys.executable, ROOT / "course.py", command, *flags, "--help"],
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert command in commands.COMMANDS
            assert done.returncode == 0, done.stderr


# One line imports only from lines above it, and within a folder from its own files.
LAYERS = [
    ["checks", "lazy"],
    ["attention", "masks"],
    ["examples", "trained", "real_model"],
    ["style", "training"],
    ["heatmap_cells", "placement", "renderer", "tables"],  # parts of the next three
    ["figures", "inspector", "head_grid"],
    ["panel", "training_view"],
    ["explorers", "exercises"],
]
OF_PYTHON_ALONE = {"environment"}  # runs where nothing is installed yet, and is imported by no other module
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
MODULES = sorted(
    path for path in (ROOT / "mha_helpers").rglob("*.py") if path != ROOT / "mha_helpers" / "__init__.py"
)


def imported(path):
    """Every module that a file imports, also inside functions: "mha_helpers.style", "torch.nn", …"""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: write imports in full"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def ours(path):
    """The parts of mha_helpers that a file imports: "style", "figures", …"""
    return {name.split(".")[1] for name in imported(path) if name.startswith("mha_helpers.")}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_run_one_way(path):
    part = path.relative_to(ROOT / "mha_helpers").parts[0].removesuffix(".py")
    if part in OF_PYTHON_ALONE:
        assert not ours(path)
        return
    assert part in RANK, f"give {part} its place in LAYERS"
    for other in ours(path):
        assert other in RANK, f"{part} imports {other}: name the module it is in, not the package"
        assert RANK[other] < RANK[part] or other == part, f"{part} must not import {other}"


@pytest.mark.parametrize("name", ["attention", "masks"])
def test_the_maths_needs_nothing_but_torch_and_the_input_checks(name):
    path = ROOT / "mha_helpers" / f"{name}.py"
    assert ours(path) <= {"checks"}
    tops = {name.split(".")[0] for name in imported(path)}
    assert tops - set(sys.stdlib_module_names) <= {"torch", "mha_helpers"}


def test_importing_the_helpers_loads_no_picture_and_no_widget_library():
    code = (
        "import sys, mha_helpers\n"
        "mha_helpers.attention_scores\n"
        "print(sorted({'matplotlib', 'seaborn', 'pandas', 'ipywidgets', 'IPython'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.stdout == "[]\n", done.stdout + done.stderr


SETS = {
    "the helpers": (ROOT / "mha_helpers", ["requirements.txt", "requirements-real-model.txt"]),
    "the tools": (ROOT / "tools", ["requirements.txt", "tests/requirements.txt"]),
    "the benchmarks": (ROOT / "benchmarks", ["requirements.txt", "tests/requirements.txt"]),
    "the tests": (
        ROOT / "tests",
        ["requirements.txt", "tests/requirements.txt", "requirements-real-model.txt"],
    ),
}


@pytest.mark.parametrize("which", SETS)
def test_whatever_is_imported_is_asked_for(which):
    folder, files = SETS[which]
    asked = {canonicalize_name(one.name) for file in files for one in requirements(file)}
    asked |= {name for name, other in BROUGHT_ALONG.items() if other in asked}
    packages = metadata.packages_distributions()
    paths = list(folder.rglob("*.py"))
    own = {path.stem for other in ("tools", "tests", "benchmarks") for path in (ROOT / other).rglob("*.py")}
    own |= {"mha_helpers", "tools", "tests", "benchmarks"}
    for path in paths:
        for name in {name.split(".")[0] for name in imported(path)} - set(sys.stdlib_module_names) - own:
            found = {canonicalize_name(package) for package in packages.get(name, [name])}
            assert found & asked, f"{path.relative_to(ROOT)} imports {name}, which is in none of {files}"


def test_the_first_commands_need_python_alone():
    for name in ("commands", "environment", "failures", "run_tests"):
        tops = {name.split(".")[0] for name in imported(ROOT / "tools" / f"{name}.py")}
        assert tops - set(sys.stdlib_module_names) <= {"tools"}, name
