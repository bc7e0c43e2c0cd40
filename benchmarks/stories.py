"""Does the class learn, and what does each broken line cost? The training of page 10, measured.

    python -m benchmarks.stories             # ten seeds of the right class: facts, stories, CPU seconds
    python -m benchmarks.stories breaks      # each break on three seeds, with the loss along the way

Facts: colours and things that are right where the true text before each is given. Stories: ended by the model
alone without a wrong word, of 200 that training does not see.
"""

import itertools
import sys
import time

import torch

from mha_course.p10_can_your_class_learn import training

ADAMW = "AdamW for everything"
STORIES, SECONDS = 0.95, 30  # goals for nine of ten seeds: at least, and at most
SEEDS_OF_BREAKS, EVERY = (1, 2, 3), 50  # the right class learns with these three


def run(name, seed):
    """Train once. Return losses, each the mean of ``EVERY`` steps, then facts, stories and CPU seconds."""
    start = time.process_time()
    model = training.new_model(training.class_with("nothing" if name == ADAMW else name), seed)
    optimisers = [torch.optim.AdamW(model.parameters(), lr=0.003)] if name == ADAMW else None
    if name == "no positions":
        torch.nn.init.zeros_(model.positions.weight).requires_grad_(False)
    losses = list(training.train(model, seed, optimisers=optimisers))
    seconds, ids = time.process_time() - start, training.stories_kept_back(200)
    means = [sum(part) / len(part) for part in zip(*[iter(losses)] * EVERY, strict=False)]
    return means, training.facts_right(model, ids), training.told_truly(model, ids), seconds


def main(names, seeds):
    good = 0
    for name, seed in itertools.product(names, seeds):
        losses, facts, stories, seconds = run(name, seed)
        good += stories >= STORIES and seconds <= SECONDS
        curve = " ".join(f"{loss:.2f}" for loss in losses)
        print(f"{name:30} seed {seed}: facts {facts:.3f}, stories {stories:.3f}, {seconds:4.1f} s | {curve}")
    print(f"{good} of {len(names) * len(seeds)} tell {STORIES} of stories truly within {SECONDS} s")


if __name__ == "__main__":
    torch.set_num_threads(1)
    breaks = sys.argv[1:] == ["breaks"]
    main([*training.BREAKS, ADAMW][1:] if breaks else ["nothing"], SEEDS_OF_BREAKS if breaks else range(10))
