"""What does clarity cost? The course's MultiHeadAttention beside PyTorch's own.

    python -m benchmarks.attention

Both do the same work with the same weights and take turns in one process, so that a busy machine slows both.
Each number is a ratio of medians: 1.00 means as fast as ``torch.nn.MultiheadAttention`` asked for the same
thing, 2.00 means twice as long. Without gradients PyTorch's module is one native call.
The goals stand in ``GOALS``.
"""

import itertools
import statistics
import time
from functools import partial

import torch
from torch import nn

from mha_helpers import MultiHeadAttention, causal_mask

HEADS = 8
SECONDS = 2  # for each number of the table
SIZES = [(8, 16, 64), (8, 64, 512), (1, 512, 512)]
COLUMNS = {"weights": (False, True), "weights, causal mask": (True, True), "no weights": (False, False)}
GOALS = {"weights": 1.2, "weights, causal mask": 1.15, "no weights": 1.1}  # from 64 tokens on


def pair(size, masked, need_weights):
    """Return the same call to both modules, after a look whether their outputs are equal."""
    _, n, d_model = size
    theirs = nn.MultiheadAttention(d_model, HEADS, batch_first=True).eval()
    ours = MultiHeadAttention.from_torch(theirs)
    x = torch.randn(size)
    mask = causal_mask(n) if masked else None
    options = {"attn_mask": ~mask if masked else None, "average_attn_weights": False}
    calls = partial(ours, x, mask), partial(theirs, x, x, x, **options)
    ours, theirs = (partial(call, need_weights=need_weights) for call in calls)
    torch.testing.assert_close(ours()[0], theirs()[0], atol=1e-5, rtol=0)
    return ours, theirs


def medians(functions):
    """Return the median seconds of each function; they take turns."""
    times = [[] for _ in functions]
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times[0]) < 9:
        for function, kept in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            kept.append(time.perf_counter() - start)
    return [statistics.median(kept) for kept in times]


def main():
    torch.set_num_threads(1)
    print("| (b, n, d_model) | gradients | " + " | ".join(COLUMNS) + " |")
    print("|---|---" + "|---" * len(COLUMNS) + "|")
    for size, gradients in itertools.product(SIZES, (False, True)):
        cells = [str(size), "yes" if gradients else "no"]
        for name, (masked, need_weights) in COLUMNS.items():
            with torch.set_grad_enabled(gradients):
                ours, theirs = medians(pair(size, masked, need_weights))
            above = size[1] >= 64 and ours / theirs > GOALS[name]
            cells.append(f"{ours / theirs:.2f}" + " above the goal" * above)
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
