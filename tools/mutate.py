"""Change one small thing in the helpers at a time and see whether a test notices.

    pip install -r benchmarks/requirements.txt
    python tools/mutate.py                      # attention, masks, checks and examples: some minutes
    python tools/mutate.py exercises.compare    # one module
    python tools/mutate.py exercises            # all modules of a package: hours
    python tools/mutate.py --sample 300 rest    # 300 mutants drawn from everything but exercises and FIRST

Works in a copy in a temporary folder, on one core. mutmut imports the tests once and forks for each
mutant, so it misses the mutants of functions that run while the modules are imported, as the tables of
the exercises do: what lives through mutmut is tried once more in a new Python, and so is what ran out of
time, because a busy machine may be the reason. A mutant that no test kills is printed with its
difference, and the exit code is 1 if there is one that ``tests/MUTANTS.md`` does not list as harmless. An
entry of that list whose mutant does not survive is named as well: rewrite it, or take it out.

mutmut changes the bodies of functions and methods. It leaves alone constants, docstrings, and functions with
another decorator than ``classmethod`` or ``staticmethod``: in the modules it runs without arguments that is
one, ``_fixed_numbers``; elsewhere properties, and functions that are cached or make a context.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LISTED = ROOT / "tests" / "MUTANTS.md"
# Without tests/property: hypothesis refuses to run a second time in one process, as mutmut does.
MATHS = ["tests/unit/test_attention.py", "tests/unit/test_masks.py"]
COMPARE = ["tests/exercises/test_compare.py", "tests/exercises/test_same.py"]
MISTAKES = [f"tests/exercises/test_{name}.py" for name in ("fingerprints", "capstone", "mistakes")]
FRAMEWORK = [
    f"tests/exercises/test_{name}.py"
    for name in (
        "framework",
        "agreement",
        "functions",
        "classes",
        "values_and_choices",
        "without",
        "steady",
        "plain_softmax",
        "near_misses",
    )
]
# The quick tests of a module that many slow ones pass through; of every other module see `tests_of`.
TESTS = {
    "attention": MATHS,
    "masks": MATHS,
    "checks": [*MATHS, "tests/unit/test_inspector.py", "tests/explorers/test_refusals.py"],
    "examples": ["tests/unit/test_examples.py"],
    "exercises.compare": COMPARE,
    "exercises.called": ["tests/exercises/test_without.py"],
    "exercises.agreement": FRAMEWORK,
    "exercises.classes": [*FRAMEWORK, "tests/exercises/test_capstone.py"],
    "exercises.framework": FRAMEWORK,
    "exercises.functions": FRAMEWORK,
    "exercises.values": FRAMEWORK,
    "exercises.capstone": MISTAKES,
    "exercises.suspects": ["tests/exercises/test_suspects.py"],
    "exercises.mistakes": MISTAKES,
    "exercises.whole_mistakes": MISTAKES,
    "exercises.running": ["tests/exercises/test_running.py", *FRAMEWORK],
}
FIRST = ["attention", "masks", "checks", "examples"]
# Needs a model and an environment of its own.
REAL_MODEL = ["real_model", "explorers.e11_real_model", "explorers.e11_picture", "exercises.e11_a_real_model"]
# One starts Python anew without mutmut's variables, so it can tell nothing about a mutant; the other measures
# memory, which mutmut uses as well.
LEFT_OUT = ["test_numbers_do_not_depend_on_the_hash_seed", "test_a_thousand_updates"]
NEW_PYTHON_SECONDS = 1200
NOT_KILLED = ("survived", "no tests", "suspicious", "timeout")


def modules_of(name):
    """Return the modules that a name on the command line stands for: a module, a package, or `rest`."""
    package = ROOT / "mha_helpers"
    paths = [path.relative_to(package).with_suffix("") for path in sorted(package.rglob("*.py"))]
    known = [".".join(path.parts) for path in paths if path.name != "__init__"]
    known = [module for module in known if module not in REAL_MODEL]
    if name == "rest":
        return [module for module in known if module not in FIRST and not module.startswith("exercises.")]
    return [module for module in known if module == name or module.startswith(f"{name}.")]


def tests_of(module):
    """Return the tests that must notice a mutant of this module."""
    if module in TESTS:
        return TESTS[module]
    if module.startswith("exercises."):
        return ["tests/exercises"]
    return ["tests/unit", "tests/explorers"]


def settings(modules):
    """Return the lines that tell mutmut what to change and which tests to run."""
    files = [f"mha_helpers/{module.replace('.', '/')}.py" for module in modules]
    tests = sorted({path for module in modules for path in tests_of(module)})
    arguments = ["-q", "-x", "-p", "no:randomly", "-p", "no:cacheprovider"]
    arguments += ["-k", " and ".join(f"not {name}" for name in LEFT_OUT)]
    return "\n".join(
        [
            "",
            "[tool.mutmut]",
            'source_paths = ["mha_helpers"]',
            f"only_mutate = {files}",
            f"pytest_add_cli_args = {arguments}",
            f"pytest_add_cli_args_test_selection = {tests}",
            'also_copy = ["tools", "notebooks", "requirements.txt"]',
            "use_git_change_detection = false",
            "",
        ]
    )


def drawn(modules, folder, sample):
    """Return the names of so many mutants of these modules, by lot; the same ones each time."""
    code = (
        "import sys; from mutmut.mutation.file_mutation import mutate_file_contents\n"
        "for path in sys.argv[1:]:\n"
        "    module = path.removesuffix('.py').replace('/', '.')\n"
        "    for name in mutate_file_contents(path, open(path, encoding='utf-8').read()).mutant_names:\n"
        "        print(f'{module}.{name}')"
    )
    files = [f"mha_helpers/{module.replace('.', '/')}.py" for module in modules]
    listed = subprocess.run(
        [sys.executable, "-c", code, *files], cwd=folder, capture_output=True, text=True, check=True
    )
    mutants = listed.stdout.split()
    return random.Random(0).sample(mutants, min(sample, len(mutants)))


def run(modules, folder, sample=None):
    """Copy the course into the folder, run mutmut there, return ``{mutant: status}``."""
    for name in ("mha_helpers", "tests", "tools", "notebooks"):
        ignore = shutil.ignore_patterns("__pycache__", "browser", ".hypothesis")
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    shutil.copy(ROOT / "requirements.txt", folder)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text(project + settings(modules), encoding="utf-8")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "mutmut"]
    # On a terminal mutmut shows where it is by writing over one line; in a file that would be thousands.
    hidden = None if sys.stdout.isatty() else subprocess.PIPE
    words = {"stdout": hidden, "stderr": subprocess.STDOUT if hidden else None, "text": True}
    mutants = drawn(modules, folder, sample) if sample else []
    done = subprocess.run(
        [*command, "run", "--max-children", "1", *mutants], cwd=folder, env=environment, **words
    )
    if done.returncode:
        raise SystemExit(
            f"{(done.stdout or '')[-5000:]}\nmutmut stopped before the end; its words are above."
        )
    results = subprocess.run(
        [*command, "results", "--all", "true"], cwd=folder, env=environment, capture_output=True, text=True
    )
    statuses = dict(re.findall(r"^\s*(\S+): (.+?)\s*$", results.stdout, flags=re.MULTILINE))
    return {mutant: status for mutant, status in statuses.items() if status != "not checked"}


def lives_in_a_new_python(mutant, status, modules, folder):
    """Tell whether the tests pass with this mutant in place from the first import on."""
    module = next(module for module in modules if belongs(mutant, module))
    if status != "timeout" and module not in TESTS and not module.startswith("exercises."):
        return True  # no tables are made on import there, and all its tests would take minutes
    stem = module.rpartition(".")[2]
    # The exercises of a page carry its name in the names of their tests.
    own = ["-k", stem] if re.match(r"exercises\.e\d\d", module) else []
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:randomly", "-p", "no:cacheprovider"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MUTANT_UNDER_TEST": mutant}
    try:
        done = subprocess.run(
            [*command, *own, *tests_of(module)],
            cwd=folder / "mutants",
            env=environment,
            capture_output=True,
            timeout=NEW_PYTHON_SECONDS,
        )
    except subprocess.TimeoutExpired:  # noticed: it hangs
        return False
    return done.returncode == 0


def differences(mutants, folder):
    """Return ``{mutant: the lines it changes}``."""
    # One process for all: mutmut takes a second or two to start.
    code = (
        "import sys; from mutmut.__main__ import cli\n"
        "for name in sys.argv[1:]: cli(['show', name], standalone_mode=False)"
    )
    command = [sys.executable, "-c", code, *mutants]
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    changes = {mutant: [] for mutant in mutants}
    mutant = None
    for line in shown.splitlines():
        heading = re.match(r"# (\S+): ", line)
        if heading and heading[1] in changes:
            mutant = heading[1]
        elif mutant and re.match(r"[-+](?![-+])", line):
            changes[mutant].append(line)
    return {mutant: "\n".join(lines) for mutant, lines in changes.items()}


def place(mutant):
    """Return ``attention.scale_scores`` for mutmut's name of one of that function's mutants."""
    name = mutant.removeprefix("mha_helpers.").split("__mutmut_")[0]
    return re.sub(r"\.x_?(?=\w)|xǁ", ".", name).replace("ǁ", ".").replace("..", ".")


def entry(mutant, changes):
    """Return what ``tests/MUTANTS.md`` must hold for this mutant to count as harmless."""
    added = [line[1:].strip() for line in changes.splitlines() if line.startswith("+")]
    return f"- `{place(mutant)}`: `{' '.join(added)}`"


def belongs(mutant, module):
    return re.match(rf"mha_helpers\.{re.escape(module)}\.xǁ?_?", mutant) is not None


def outdated(entries, modules, listed):
    """Return the lines of the list that belong to these modules and are none of the survivors' entries."""
    own = tuple(f"- `{module}." for module in modules)
    return [line for line in listed if line.startswith(own) and line not in entries]


def share(mutants, alive):
    killed = sum(mutant not in alive for mutant in mutants)
    return f"{killed} of {len(mutants)} mutants killed ({killed / max(len(mutants), 1):.1%})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", default=FIRST, help="modules or packages of mha_helpers; rest")
    parser.add_argument("--sample", type=int, metavar="N", help="run N mutants drawn by lot, not all")
    options = parser.parse_args()
    modules = [module for name in options.modules for module in modules_of(name)]
    if options.sample is not None and options.sample < 1:
        parser.error(f"--sample must be at least 1, got {options.sample}")
    unknown = [name for name in options.modules if not modules_of(name)]
    if unknown:
        parser.error(f"mha_helpers has no {', '.join(unknown)} (page 11 has tests of its own)")
    listed = LISTED.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        statuses = run(modules, folder, options.sample)
        alive = [mutant for mutant, status in statuses.items() if status in NOT_KILLED]
        alive = [m for m in alive if lives_in_a_new_python(m, statuses[m], modules, folder)]
        changes_of = differences(alive, folder)
        entries = {mutant: entry(mutant, changes) for mutant, changes in changes_of.items()}
        bad = 0
        for mutant, changes in changes_of.items():
            harmless = entries[mutant] in listed
            bad += not harmless
            print(f"\n{mutant}: {statuses[mutant]}{', listed as harmless' if harmless else ''}\n{changes}")
            if not harmless:
                print(f"  entry: {entries[mutant]}")
    print()
    for module in modules:
        print(f"{module}: {share([m for m in statuses if belongs(m, module)], alive)}")
    print(f"together: {share(statuses, alive)}")
    print(f"{len(alive)} survive, {bad} of them not listed in {LISTED.relative_to(ROOT)}")
    if options.sample is None:
        for line in outdated(entries.values(), modules, listed):
            print(f"listed, but it does not survive here: {line}")
    return 1 if bad or not statuses else 0


if __name__ == "__main__":
    sys.exit(main())
