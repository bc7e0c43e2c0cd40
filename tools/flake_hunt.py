"""Run the tests again and again, each time on another kind of machine, and list what fails even once.

    pip install -r benchmarks/requirements.txt      # brings pytest-randomly, for the order of the tests
    python tools/flake_hunt.py                      # everything 20 times: hours
    python tools/flake_hunt.py --rounds 1 unit      # one round of one part
    python tools/flake_hunt.py --rounds 1 --first 7 # round 7 again, with the same settings

Run it with the Python of the tests (`.venv/bin/python`). Each round draws a number of threads, a
PYTHONHASHSEED, a time zone, a locale, an order of the tests and what PyTorch may use of the processor;
the number of the round decides, so a failure comes back. Only locales and instructions that this machine
has are drawn. The cells of a notebook keep their order.
"""

import argparse
import importlib.util
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import run_tests  # noqa: E402
from tools.failures import CannotGoOn  # noqa: E402

ROUNDS = 20
TIME_ZONES = ("UTC", "Asia/Kolkata", "America/St_Johns", "Pacific/Auckland", "America/Los_Angeles")
LOCALES = ("C", "C.UTF-8", "en_US.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "zh_CN.UTF-8")
CAPABILITIES = ("default", "avx2", "avx512")  # PyTorch believes the variable, so none above the processor's
CAN_SHUFFLE = importlib.util.find_spec("pytest_randomly") is not None


def installed_locales():
    if shutil.which("locale") is None:
        return ("C",)
    found = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.lower()
    known = {name.replace("-", "") for name in found.split()}
    return tuple(name for name in LOCALES if name.lower().replace("-", "") in known)


def capabilities():
    code = "import torch; print(torch.backends.cpu.get_cpu_capability().lower())"
    environment = {name: value for name, value in os.environ.items() if name != "ATEN_CPU_CAPABILITY"}
    best = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    best = best.stdout.strip()
    return CAPABILITIES[: CAPABILITIES.index(best) + 1] if best in CAPABILITIES else ("default",)


def settings(number, locales, instructions):
    """Return the variables of a round; the same number gives the same ones on the same machine."""
    draw = random.Random(number)
    return {
        "OMP_NUM_THREADS": str(draw.choice((1, 2, 4))),
        "PYTHONHASHSEED": str(draw.randrange(2**32)),
        "TZ": draw.choice(TIME_ZONES),
        "LC_ALL": draw.choice(locales),
        "ATEN_CPU_CAPABILITY": draw.choice(instructions),
    }


def run_part(part, variables, seed):
    """Run a part of the tests under these variables; return the places that failed."""
    arguments = list(part.arguments)
    if CAN_SHUFFLE and "no:randomly" not in arguments:
        arguments += ["-p", "randomly", f"--randomly-seed={seed}"]
    environment = {**run_tests.test_environment(sys.executable), **variables}
    if part.name == "browser":
        chromium = run_tests.find_chromium()
        if chromium is None:
            print("browser: left out, no Chromium found")
            return []
        environment["COURSE_CHROMIUM"] = chromium
    with tempfile.TemporaryDirectory() as temporary:
        report = Path(temporary) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", *arguments]
        command += [
            f"--timeout={run_tests.TEST_SECONDS}",
            f"--junitxml={report}",
            "-o",
            "junit_family=xunit1",
        ]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        counts, places = run_tests.read_report(report)
    if done.returncode:  # what failed now may not fail again: say all that is known
        print(done.stdout[-5000:] + done.stderr[-1000:])
        places = places or [f"pytest stopped with exit code {done.returncode}"]
    print(f"  {part.name}: {counts['passed']} passed, {len(places)} failed", flush=True)
    return [f"{part.name}: {place}" for place in places]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="parts of the tests, as in `course.py test`; default all")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--first", type=int, default=1, help="number of the first round")
    options = parser.parse_args()
    # ruff reads files and runs nothing, so nothing in it can depend on the machine.
    try:
        parts = [part for part in run_tests.choose(run_tests.PARTS, options.parts) if part.name != "ruff"]
    except CannotGoOn as error:
        parser.error(str(error))
    if not CAN_SHUFFLE:
        print("pytest-randomly is not installed: the tests keep their order.")
    locales, instructions = installed_locales(), capabilities()
    print(f"locales here: {', '.join(locales)}; instructions: {', '.join(instructions)}")
    failures = []
    for number in range(options.first, options.first + options.rounds):
        variables = settings(number, locales, instructions)
        words = " ".join(f"{name}={value}" for name, value in variables.items())
        print(f"round {number}: {words} order {number}", flush=True)
        started = time.monotonic()
        for part in parts:
            failures += [f"round {number}: {place}" for place in run_part(part, variables, number)]
        print(f"  {time.monotonic() - started:.0f} s", flush=True)
    print("\n".join(failures) or f"{options.rounds} rounds without a failure.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
