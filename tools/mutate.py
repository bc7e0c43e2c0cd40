"""Change one small thing in the helpers at a time and see whether a test notices.

    pip install -r benchmarks/requirements.txt
    python tools/mutate.py                      # attention, masks, checks and examples: some minutes
    python tools/mutate.py masks                # one of them
    python tools/mutate.py exercises.compare    # any module of mha_helpers that TESTS knows

Works in a copy in a temporary folder, on one core. mutmut imports the tests once and forks for each
mutant. A mutant that no test kills is printed with its difference, and the exit code is 1 if there is
one that ``tests/MUTANTS.md`` does not list as harmless.

mutmut changes the bodies of functions and methods. It leaves alone constants, functions with another
decorator than ``classmethod`` or ``staticmethod`` (here: one, ``_fixed_numbers``), and docstrings.
"""

import argparse
import os
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
EXERCISES = ["tests/exercises"]
TESTS = {
    "attention": MATHS,
    "masks": MATHS,
    "checks": MATHS,
    "examples": ["tests/unit/test_examples.py"],
    "exercises.compare": EXERCISES,
    "exercises.values": EXERCISES,
    "exercises.framework": EXERCISES,
    "exercises.functions": EXERCISES,
    "inspector": ["tests/unit/test_inspector.py"],
    "style": ["tests/unit/test_style.py", "tests/unit/test_palettes.py"],
}
FIRST = ["attention", "masks", "checks", "examples"]
# Starts Python anew without mutmut's variables, so it can tell nothing about a mutant.
LEFT_OUT = ["test_numbers_do_not_depend_on_the_hash_seed"]
NOT_KILLED = ("survived", "no tests", "suspicious")


def settings(modules):
    """Return the lines that tell mutmut what to change and which tests to run."""
    files = [f"mha_helpers/{module.replace('.', '/')}.py" for module in modules]
    tests = sorted({path for module in modules for path in TESTS[module]})
    arguments = ["-q", "-x", "-p", "no:randomly", "-p", "no:cacheprovider"]
    arguments += [word for name in LEFT_OUT for word in ("-k", f"not {name}")]
    return "\n".join(
        [
            "",
            "[tool.mutmut]",
            'source_paths = ["mha_helpers"]',
            f"only_mutate = {files}",
            f"pytest_add_cli_args = {arguments}",
            f"pytest_add_cli_args_test_selection = {tests}",
            'also_copy = ["tools", "notebooks"]',
            "use_git_change_detection = false",
            "",
        ]
    )


def run(modules, folder):
    """Copy the course into the folder, run mutmut there, return ``{mutant: status}``."""
    for name in ("mha_helpers", "tests", "tools", "notebooks"):
        ignore = shutil.ignore_patterns("__pycache__", "browser", ".hypothesis")
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text(project + settings(modules), encoding="utf-8")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "mutmut"]
    # On a terminal mutmut shows where it is by writing over one line; in a file that would be thousands.
    hidden = None if sys.stdout.isatty() else subprocess.PIPE
    words = {"stdout": hidden, "stderr": subprocess.STDOUT if hidden else None, "text": True}
    done = subprocess.run([*command, "run", "--max-children", "1"], cwd=folder, env=environment, **words)
    if done.returncode:
        raise SystemExit(
            f"{(done.stdout or '')[-5000:]}\nmutmut stopped before the end; its words are above."
        )
    results = subprocess.run(
        [*command, "results", "--all", "true"], cwd=folder, env=environment, capture_output=True, text=True
    )
    return dict(re.findall(r"^\s*(\S+): (.+?)\s*$", results.stdout, flags=re.MULTILINE))


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="module", help=f"of {', '.join(TESTS)}")
    modules = parser.parse_args().modules or FIRST
    unknown = [module for module in modules if module not in TESTS]
    if unknown:
        parser.error(
            f"no tests are named for {', '.join(unknown)}; TESTS in this file has {', '.join(TESTS)}"
        )
    listed = LISTED.read_text(encoding="utf-8") if LISTED.exists() else ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        statuses = run(modules, folder)
        alive = [mutant for mutant, status in statuses.items() if status in NOT_KILLED]
        bad = 0
        for mutant, changes in differences(alive, folder).items():
            harmless = entry(mutant, changes) in listed
            bad += not harmless
            print(f"\n{mutant}: {statuses[mutant]}{', listed as harmless' if harmless else ''}\n{changes}")
            if not harmless:
                print(f"  entry: {entry(mutant, changes)}")
    print()
    for module in modules:
        mine = [m for m in statuses if re.match(rf"mha_helpers\.{re.escape(module)}\.xǁ?_?", m)]
        killed = sum(m not in alive for m in mine)
        share = f" ({killed / len(mine):.1%})" if mine else ""
        print(f"{module}: {killed} of {len(mine)} mutants killed{share}")
    print(f"{len(alive)} survive, {bad} of them not listed in {LISTED.relative_to(ROOT)}")
    return 1 if bad or not statuses else 0


if __name__ == "__main__":
    sys.exit(main())
