"""Train the two tiny models of notebook 10 and keep what they were along the way.

    python tools/train_tiny_model.py            # writes mha_helpers/checkpoints/, a few minutes
    python tools/train_tiny_model.py --check    # trains, compares with what is there, writes nothing

The same seed gives the same files on one machine. Another machine adds in another order, so its files
differ in their last digits and its models in a hair's breadth; --check compares what the models do.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from mha_helpers.trained import (  # noqa: E402
    FIXED_DISTANCE,
    HELD_OUT_DISTANCES,
    RUNS,
    accuracy,
    load_checkpoint,
    repeated_sequences,
)
from mha_helpers.training import new_model, train  # noqa: E402

FOLDER = ROOT / "mha_helpers" / "checkpoints"
SEED = 1
KEPT = {
    "varying": (0, 50, 100, 125, 150, 175, 200, 225, 250, 300, 400, 600, 1000),
    "fixed": (0, 25, 50, 75, 100, 125, 150, 300),
}
SAME_ACCURACY = 0.02  # two machines part in their last digits, and so a little in what they learn


def make_checkpoints(run: str, path: Path) -> None:
    """Train one model and write its tensors at the steps of KEPT, one below the other, in float16."""
    model = new_model(SEED)
    kept = {name: [] for name in model.state_dict()}
    for step, on_batch in train(model, RUNS[run], KEPT[run][-1], SEED):
        if step in KEPT[run]:
            print(f"{run}: step {step}, {on_batch:.0%} of the batch right", flush=True)
            for name, values in model.state_dict().items():
                kept[name].append(values.half())
    tensors = {name: torch.stack(values) for name, values in kept.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"steps": torch.tensor(KEPT[run]), **tensors}, path)


def measured(path: Path) -> dict[str, float]:
    """What the last checkpoint in a file gets right, on distances of training and on others."""
    model = load_checkpoint(path)
    return {
        words: accuracy(model, *repeated_sequences(512, distances, seed=99))
        for words, distances in (("held-out distances", HELD_OUT_DISTANCES), ("at 12", (FIXED_DISTANCE,)))
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the shipped files, write nothing")
    check = parser.parse_args(arguments).check
    torch.set_num_threads(1)  # sums in one order, and faster for tensors this small
    faults = 0
    with tempfile.TemporaryDirectory() as temporary:
        for run in RUNS:
            kept = FOLDER / f"{run}.pt"
            shipped = measured(kept) if kept.exists() else {}  # before it is written over
            path = Path(temporary if check else FOLDER, f"{run}.pt")
            make_checkpoints(run, path)
            new = measured(path)
            for words, value in new.items():
                before = shipped.get(words, value)
                differs = abs(value - before) > SAME_ACCURACY
                faults += differs
                print(f"{run}: {words} {value:.3f}" + (f", shipped {before:.3f}" if differs else ""))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
