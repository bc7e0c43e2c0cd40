"""Train the three tiny models of deeper/10 and keep what they were along the way.

    python -m tools.train_tiny_model            # writes mha_course/models/checkpoints/, a few minutes

The same seed gives the same files on one machine. Another machine adds in another order, so the last digits
of its files differ, and its models by a hair; tests/core/test_tiny.py says what they must be able to do.
"""

import torch

from mha_course.models import tiny

SEED = 1
KEPT = {
    "varying": (0, 50, 100, 125, 150, 175, 200, 225, 250, 300, 400, 600, 1000),
    "fixed": (0, 25, 50, 75, 100, 125, 150, 300),
    "one layer": (0, 1000),
}


def main():
    torch.set_num_threads(1)  # sums in one order, and faster for tensors this small
    for run, steps in KEPT.items():
        model, kept = tiny.new_tiny_model(SEED, run), []
        for step, on_batch in tiny.train_tiny_model(model, tiny.RUNS[run], steps[-1], SEED):
            if step in steps:
                print(f"{run}: step {step}, {on_batch:.0%} of the batch right", flush=True)
                kept.append({name: values.half() for name, values in model.state_dict().items()})
        tensors = {name: torch.stack([each[name] for each in kept]) for name in kept[0]}
        torch.save({"steps": torch.tensor(steps), **tensors}, tiny.file_of(run))


if __name__ == "__main__":
    main()
