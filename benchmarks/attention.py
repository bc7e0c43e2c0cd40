"""What does clarity cost? The course's MultiHeadAttention beside PyTorch's own.

    python -m benchmarks.attention

Both do the same work with the same weights and take turns in one process, so that a busy machine slows both.
A number is a ratio of medians: 2.00 means twice as long. Without gradients PyTorch's module is one call.
"""

import itertools
import statistics
import time
import timeit
from functools import partial

import torch
from torch import nn

from mha_helpers import MultiHeadAttention, causal_mask

HEADS = 8
SECONDS = 2  # for each number of the table
SIZES = [(8, 16, 64), (8, 64, 512), (1, 512, 512)]
MASKED = "weights, causal mask"
GOALS = {"weights": 1.2, MASKED: 1.15, "no weights": 1.1}  # from 64 tokens on


def pair(size, column):
    """Return the same call to both modules, after a look whether their outputs are equal."""
    _, n, d_model = size
    theirs = nn.MultiheadAttention(d_model, HEADS, batch_first=True).eval()
    ours = MultiHeadAttention.from_torch(theirs)
    x = torch.randn(size)
    mask, options = None, {"need_weights": column != "no weights"}
    if column == MASKED:
        mask, options["attn_mask"] = causal_mask(n), ~causal_mask(n)
    ours = partial(ours, x, mask, need_weights=options["need_weights"])
    theirs = partial(theirs, x, x, x, average_attn_weights=False, **options)
    torch.testing.assert_close(ours()[0], theirs()[0], atol=1e-5, rtol=0)
    return ours, theirs


def medians(functions):
    """Return the median seconds of each function; they take turns."""
    turns, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(turns) < 9:
        turns.append([timeit.timeit(function, number=1) for function in functions])
    return map(statistics.median, zip(*turns, strict=True))


def main():
    torch.set_num_threads(1)
    print(f"| (b, n, d_model) | gradients | {' | '.join(GOALS)} |\n|---|---{'|---' * len(GOALS)}|")
    for size, gradients in itertools.product(SIZES, (False, True)):
        cells = [str(size), "yes" if gradients else "no"]
        for column, goal in GOALS.items():
            with torch.set_grad_enabled(gradients):
                ours, theirs = medians(pair(size, column))
            above = size[1] >= 64 and ours / theirs > goal
            cells.append(f"{ours / theirs:.2f}" + " above the goal" * above)
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
