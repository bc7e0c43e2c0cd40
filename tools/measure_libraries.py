"""Measure what the attention of other libraries does, for the page deeper/09_other_libraries.

    python -m tools.measure_libraries                    # every group
    python -m tools.measure_libraries jax paddle         # these
    python -m tools.measure_libraries --check            # the quick group, compared with what is stored

A group of packages is installed in an environment of its own, in ``dist/libraries``, which you may remove.
There ``tools/libraries/child.py`` calls the library; ``probe`` asks it from here. What was seen goes into
``mha_course/d09_other_libraries/measured.json``. A group whose Python is not on this machine is left out.
"""

import argparse
import datetime
import json
import math
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy

from mha_helpers import probe

ROOT = Path(__file__).parents[1]
STORED = ROOT / "mha_course/d09_other_libraries/measured.json"
CHILD = ROOT / "tools/libraries/child.py"
ENVIRONMENTS = ROOT / "dist/libraries"
TORCH = "torch==2.13.0"  # pinned, because a plain torch is a build for a graphics card
KERAS, TRANSFORMERS = "keras==3.15.1", "transformers==5.24.0"
ANY = ""  # the Python that runs this
QUICK = "quick"  # the group that continuous integration measures again

# Name: Python, packages, and the modules of tools/libraries that call them, with their settings.
GROUPS = {
    QUICK: (ANY,
        [TORCH, "onnx==1.23.2", "onnxruntime==1.31.1", "openvino==2026.4.1", "mlx[cpu]==0.32.4",
         "tinygrad==0.14.0", "timm==1.0.31", "x-transformers==2.31.10", TRANSFORMERS],
        ["with_torch", "with_torch_users", "with_onnx", "with_mlx", "with_tinygrad"]),
    "others": (ANY,
        [TORCH, "curated-transformers==2.0.1", "transformer-lens==4.3.0", TRANSFORMERS],
        ["with_other_torch_users"]),
    "converters": (ANY,
        [TORCH, "ncnn==1.0.20261020", "coremltools==9.0", "litert-torch==0.10.0"], ["with_converters"]),
    "paddle and tvm": (ANY, ["paddlepaddle==3.3.1", "apache-tvm==0.27.0.post1"], ["with_paddle", "with_tvm"]),
    "jax": ("3.12",
        ["jax==0.12.0.1", "flax==0.12.12", "equinox==0.13.8", "dm-haiku==0.0.17", KERAS],
        ["with_jax", "with_keras KERAS_BACKEND=jax"]),
    "tensorflow": ("3.12", ["tensorflow==2.21.0", KERAS], ["with_keras KERAS_BACKEND=tensorflow"]),
    "keras on torch": (ANY, [TORCH, KERAS], ["with_keras KERAS_BACKEND=torch"]),
}  # fmt: skip


class Library:
    """A process in the environment of a library, which calls its attention."""

    def __init__(self, python, module):
        name, *settings = module.split()
        quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "DEV": "PYTHON", "JAX_PLATFORMS": "cpu"}
        env = os.environ | quiet | dict(setting.split("=") for setting in settings)
        command = [python, "-E", str(CHILD), name]  # -E: a child has its own folder, and that alone
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self.callables = pickle.load(self.process.stdout)  # name -> package, version, order of the axes

    def attend(self, name):
        """Return the adapter of one callable, as probe wants it."""

        def call(q, k, v, mask=None, causal=False):
            dtype = str(q.dtype).removeprefix("torch.")
            inputs = [part.float().numpy() for part in (q, k, v)]
            mask = None if mask is None else mask.numpy()
            pickle.dump((name, dtype, inputs, mask, causal), self.process.stdin)
            self.process.stdin.flush()
            kind, *answer = pickle.load(self.process.stdout)
            if kind == "refused":
                raise type(answer[0], (Exception,), {})(answer[1])
            return answer[0]

        return call

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def python_of(version):
    """Return the path of a Python of this version, or None; a name in the path may stand for none."""
    if version == ANY:
        return sys.executable
    others = Path.home().glob(f".pyenv/versions/{version}.*/bin/python")
    for found in (shutil.which(f"python{version}"), *map(str, others)):
        if found and subprocess.run([found, "--version"], capture_output=True).returncode == 0:
            return found
    return None


def environment(name):
    """Return the Python of an environment that holds the packages of a group."""
    version, packages, _ = GROUPS[name]
    python = ENVIRONMENTS / name / "bin/python"
    if not python.exists():
        subprocess.run([python_of(version), "-m", "venv", ENVIRONMENTS / name], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return python


def measured(name):
    entries, python, today = [], environment(name), datetime.date.today().isoformat()
    for module in GROUPS[name][2]:
        library = Library(python, module)
        for callable_, (package, version, axes) in library.callables.items():
            print(f"    {package} {version}: {callable_}", flush=True)
            entry = {"group": name, "library": package, "version": version.split("+")[0]}
            entry |= {"callable": callable_, "axes": axes, "date": today}
            found = probe(library.attend(callable_))
            entries.append(entry | {"answers": {question: _stored(found[question]) for question in found}})
        library.close()
    return entries


def _stored(found):
    if found["refusal"].startswith("NotAsked: "):
        return ["not asked", found["refusal"].removeprefix("NotAsked: ")]
    if found["refusal"]:
        return ["refused", found["refusal"]]
    rows = [[None if math.isnan(x) else round(x, 3) + 0.0 for x in row] for row in found["weights"]]
    return [found["answer"], rows]


def differences(stored, now):
    """Yield a line for each answer that is not the stored one; the last digits of weights may differ."""
    before = {entry["callable"]: entry["answers"] for entry in stored}
    for entry in now:
        for question, answer in entry["answers"].items():
            old = before.get(entry["callable"], {}).get(question)
            if not old or not _alike(*old, *answer):
                yield f"{entry['library']} {entry['callable']}, {question}: {old} is stored, and now {answer}"


def _alike(answer, seen, new_answer, now_seen):
    if answer != new_answer or isinstance(now_seen, str):
        return (answer, seen) == (new_answer, now_seen)
    numbers = [numpy.array(rows, dtype=float) for rows in (seen, now_seen)]  # None is NaN
    return numpy.allclose(*numbers, rtol=0, atol=0.005, equal_nan=True)


def read():
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []


def write(stored, now):
    """Put new entries in place of those of the same callables, one callable a line."""
    entries = {entry["callable"]: entry for entry in (*stored, *now)}.values()
    lines = [json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries]
    STORED.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", help=", ".join(GROUPS))
    parser.add_argument("--check", action="store_true", help="compare with what is stored, and store nothing")
    options = parser.parse_args()
    failed = False
    for name in options.groups or ([QUICK] if options.check else GROUPS):
        if python_of(GROUPS[name][0]) is None:
            print(f"{name}: left out, because there is no Python {GROUPS[name][0]} here")
            continue
        print(f"{name}:", flush=True)
        now = measured(name)
        if not options.check:
            write(read(), now)
            continue
        found = list(differences(read(), now))
        print(*found, f"{len(now)} callables measured, {len(found)} answers differ", sep="\n")
        failed |= bool(found)
    return failed


if __name__ == "__main__":
    sys.exit(main())
