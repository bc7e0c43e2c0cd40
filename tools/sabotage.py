"""Break one thing at a time, in a copy, and see that the tests notice and name the place.

    python tools/sabotage.py                 # everything, some minutes
    python tools/sabotage.py polarity link   # the breaks whose name holds one of these words

Run it with the Python of the tests (`.venv/bin/python`). A break that no test notices is a missing test.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = (".git", ".venv*", "dist", "__pycache__", ".pytest_cache", ".ruff_cache", ".hypothesis")
RUN = """
import sys
from pathlib import Path
sys.path.insert(0, ".")
from tools import run_tests
sys.exit(run_tests.run(run_tests.choose(run_tests.PARTS, [{part!r}]), Path(sys.executable)))
"""


@dataclass(frozen=True)
class Break:
    """``old`` becomes ``new`` once in ``path``; then ``part`` of the tests must fail and name ``place``."""

    name: str
    path: str
    old: str
    new: str
    part: str
    place: str


BREAKS = [
    Break(
        "a sign in the golden example",
        "mha_helpers/examples.py",
        "[2, -1, -1, 1, 0, 0]",
        "[2, 1, -1, 1, 0, 0]",
        "unit",
        "test_examples",
    ),
    Break(
        "softmax over the wrong axis",
        "mha_helpers/attention.py",
        "return torch.softmax(scores, dim=-1)",
        "return torch.softmax(scores, dim=-2)",
        "unit",
        "test_attention",
    ),
    Break(
        "no root in the scale",
        "mha_helpers/attention.py",
        "scores / math.sqrt(d_k)",
        "scores / d_k",
        "unit",
        "test_attention",
    ),
    Break(
        "polarity of a mask",
        "mha_helpers/attention.py",
        "masked_fill(~mask, -math.inf)",
        "masked_fill(mask, -math.inf)",
        "unit",
        "test_attention",
    ),
    Break(
        "polarity of the causal mask",
        "mha_helpers/masks.py",
        "dtype=torch.bool).tril()",
        "dtype=torch.bool).triu()",
        "unit",
        "test_masks",
    ),
    Break(
        "heads merged without transpose",
        "mha_helpers/attention.py",
        "x.transpose(-3, -2).flatten(-2)",
        "x.flatten(-2).unflatten(-2, (-1, x.shape[-3])).flatten(-2)",
        "unit",
        "test_attention",
    ),
    Break(
        "a stored number", "notebooks/06_softmax.ipynb", "weight 0.919", "weight 0.918", "nbval", "06_softmax"
    ),
    Break(
        "a solution of an exercise",
        "mha_helpers/exercises/e03_qk_scores.py",
        "return q @ k.transpose(-2, -1)",
        "return q @ k.transpose(-3, -1)",
        "exercises",
        "e03_qk_scores",
    ),
    Break(
        "a check that takes a wrong answer",
        "mha_helpers/exercises/e01_inputs_and_shapes.py",
        "answer=(8, 20, 64),",
        "answer=(20, 8, 64),",
        "exercises",
        "e01_inputs_and_shapes",
    ),
    Break(
        "a dead link in a notebook",
        "notebooks/02_qkv_projection.ipynb",
        "](03_qk_scores.ipynb)",
        "](03_scores.ipynb)",
        "pages",
        "02_qkv_projection",
    ),
    Break(
        "a dead link in the README",
        "README.md",
        "(notebooks/04_scaling.ipynb)",
        "(notebooks/04_scale.ipynb)",
        "pages",
        "test_readme",
    ),
    Break(
        "an unordered count",
        "notebooks/01_inputs_and_shapes.ipynb",
        '"execution_count": 3,',
        '"execution_count": 7,',
        "pages",
        "01_inputs_and_shapes",
    ),
    Break(
        "another set-up cell",
        "notebooks/05_causal_mask.ipynb",
        "import torch\\n",
        "import torch as torch\\n",
        "pages",
        "05_causal_mask",
    ),
    Break(
        "explorer ignores its mask",
        "mha_helpers/explorers/e03_qk_scores.py",
        'if mask == "causal" else None',
        'if mask == "other" else None',
        "explorers",
        "test_e03",
    ),
    Break(
        "an unescaped token",
        "mha_helpers/tables.py",
        "<b>{html.escape(name)}</b>",
        "<b>{name}</b>",
        "unit",
        "test_inspector",
    ),
    Break(
        "the wrong way of an import",
        "mha_helpers/masks.py",
        "import torch\n",
        "import torch\n\nimport mha_helpers.style\n",
        "tools",
        "test_packaging",
    ),
    Break("a deleted picture", "notebooks/03_qk_scores.ipynb", "", "", "pages", "03_qk_scores"),
]


def apply(broken, copy):
    path = copy / broken.path
    text = path.read_text(encoding="utf-8")
    if broken.name == "a deleted picture":
        notebook = json.loads(text)
        outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
        shown = next(output for output in outputs if "image/png" in output.get("data", {}))
        del shown["data"]["image/png"]
        text = json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
    elif broken.old not in text:
        raise SystemExit(
            f"{broken.path} does not hold {broken.old!r} any more: bring tools/sabotage.py up to date."
        )
    else:
        text = text.replace(broken.old, broken.new, 1)
    path.write_text(text, encoding="utf-8")


def noticed(broken):
    """Return (whether the tests failed, whether they named the place)."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "course"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        apply(broken, copy)
        done = subprocess.run(
            [sys.executable, "-c", RUN.format(part=broken.part)], cwd=copy, capture_output=True, text=True
        )
        said = done.stdout + done.stderr
        failures = [line for line in said.splitlines() if broken.place in line and "FAILED" in line.upper()]
        return done.returncode != 0, bool(failures) or (done.returncode != 0 and broken.place in said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only breaks whose name holds one of these; default all")
    words = parser.parse_args().words
    chosen = [broken for broken in BREAKS if not words or any(word in broken.name for word in words)]
    if not chosen:
        parser.error(
            f"no break is called {' or '.join(words)}; there are {', '.join(b.name for b in BREAKS)}"
        )
    missed = []
    for broken in chosen:
        failed, named = noticed(broken)
        verdict = "noticed" if failed and named else "noticed, place not named" if failed else "NOT NOTICED"
        print(f"{verdict:24} {broken.name} ({broken.path}; {broken.part})", flush=True)
        if not (failed and named):
            missed.append(broken.name)
    print(f"{len(chosen) - len(missed)} of {len(chosen)} breaks noticed and named.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
