"""Does an explorer live long? Thousands of random settings, with every warning an error.

    python benchmarks/long_life.py                          # 10 000 settings for each explorer
    python benchmarks/long_life.py --settings 500 mask_explorer scores_explorer

The explorer of page 11 needs its model: `.venv-real-model/bin/python` has it, elsewhere it is left out.

Each setting changes one control to a random value, as a learner does. It stops at the first exception or
warning and names the controls. Printed: milliseconds for a setting, the memory after a tenth of the
settings and at the end. Memory that keeps growing is a leak.
"""

import argparse
import gc
import random
import resource
import sys
import time
import warnings
from pathlib import Path

import ipywidgets as widgets

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.table import report  # noqa: E402
from mha_helpers import explorers  # noqa: E402
from mha_helpers.real_model import ModelMissing  # noqa: E402

TEXTS = [
    "cat eats fish",
    "",
    "   ",
    "<script>alert(1)</script> & <b>",
    "猫 吃 鱼 和 别 的",
    "🐱 🐟 $x$ $ \\frac{1}{2} %s {0}",
    "a" * 400,
    "the old cat eats the fish because it is hungry",
    "word " * 60,
    "(1, 2)=1 (2, 1)=0",
    "\u202eabc \x00 \ud800",
]


def change(control, chance):
    """Set one control to a random value that a learner can reach."""
    if isinstance(control, widgets.Text):
        control.value = chance.choice(TEXTS)
    elif isinstance(control, widgets.Checkbox):
        control.value = not control.value
    elif isinstance(control, widgets.SelectMultiple):
        control.value = tuple(option for option in control._options_values if chance.random() < 0.5)
    elif hasattr(control, "_options_values"):
        control.value = chance.choice(control._options_values)
    elif isinstance(control, widgets.FloatLogSlider):
        control.value = control.base ** chance.uniform(control.min, control.max)
    elif isinstance(control, (widgets.IntSlider, widgets.BoundedIntText)):
        control.value = chance.randint(control.min, control.max)
    elif isinstance(control, (widgets.FloatSlider, widgets.BoundedFloatText)):
        control.value = chance.uniform(control.min, control.max)
    else:
        raise TypeError(f"long_life.py does not know how to change a {type(control).__name__}.")


def megabytes():
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 1e6
    except FileNotFoundError:  # not Linux: the largest so far is the next best
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def live(name, settings, seed):
    """Drive one explorer; return milliseconds for a setting and the memory early and late."""
    chance = random.Random(seed)
    panel = getattr(explorers, name)()
    early = None
    start = time.perf_counter()
    for setting in range(settings):
        control = chance.choice(list(panel.controls))
        try:
            change(panel.controls[control], chance)
        except Exception:
            values = {known: widget.value for known, widget in panel.controls.items()}
            print(f"{name}, setting {setting}: changing {control!r} failed. The controls: {values}")
            raise
        if not panel.description():
            raise AssertionError(f"{name}, setting {setting}: the picture has no words")
        if setting == settings // 10:
            early = megabytes()
    taken = 1000 * (time.perf_counter() - start) / settings
    late = megabytes()
    panel.close()
    return taken, early, late


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("explorers", nargs="*", default=[], help="all by default")
    parser.add_argument("--settings", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    known = [name for name in dir(explorers) if name.endswith("_explorer")]
    names = options.explorers or known
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no explorer {unknown[0]}: choose from {', '.join(known)}.")
    if options.settings < 1:
        parser.error(f"--settings must be at least 1, got {options.settings}.")
    warnings.simplefilter("error")
    rows = []
    for name in names:
        try:
            taken, early, late = live(name, options.settings, options.seed)
        except ModelMissing as error:
            print(f"{name}: left out. {error}", file=sys.stderr, flush=True)
            continue
        rows.append([name, options.settings, f"{taken:.0f} ms", f"{early:.0f} MB", f"{late:.0f} MB"])
        print(*rows[-1], file=sys.stderr, flush=True)
    report("long_life", ["explorer", "settings", "each", "memory early", "at the end"], rows)


if __name__ == "__main__":
    main()
