"""What does clarity cost? The course's MultiHeadAttention beside PyTorch's own.

    python benchmarks/attention_forward.py            # the table
    python benchmarks/attention_forward.py --write    # also into README.md
    python benchmarks/attention_forward.py --threads 2

Each pair runs turn by turn in one process, so that a busy machine slows both. Ratios are of medians:
1.00 means as fast as ``torch.nn.MultiheadAttention`` asked for the same thing. Memory is counted by
PyTorch's profiler: the largest amount allocated at once during one call. The growth with n is the slope
of a straight line through log(time) over log(n).
"""

import argparse
import math
import statistics
import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.table import report  # noqa: E402
from mha_helpers import MultiHeadAttention, causal_mask  # noqa: E402

SIZES = [(1, 16, 64), (8, 16, 64), (1, 64, 256), (1, 128, 512), (8, 128, 512), (1, 512, 512), (1, 1024, 512)]
HEADS = 8
SECONDS = 1.5  # for each pair
FEWEST = 9  # rounds


def medians(*functions):
    """Return the median seconds of each function; they take turns."""
    for function in functions:
        function()
    times = [[] for _ in functions]
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times[0]) < FEWEST:
        for function, kept in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            kept.append(time.perf_counter() - start)
    return [statistics.median(kept) for kept in times]


def peak_bytes(function):
    """Return the largest number of bytes that a call holds at once, beyond what was there before."""
    function()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        function()
    held = peak = 0
    for event in profiler.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return peak


def calls(size, masked):
    """Return the five calls to compare, on the same input with the same weights."""
    b, n, d_model = size
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(d_model, HEADS, batch_first=True).eval()
    ours = MultiHeadAttention.from_torch(theirs)
    x = torch.randn(b, n, d_model)
    mask = causal_mask(n) if masked else None
    blocked = ~mask if masked else None
    q = torch.randn(b, HEADS, n, d_model // HEADS)
    calls = {
        "ours, weights": lambda: ours(x, mask),
        "nn, weights": lambda: theirs(x, x, x, attn_mask=blocked, average_attn_weights=False),
        "ours, no weights": lambda: ours(x, mask, need_weights=False),
        "nn, no weights": lambda: theirs(x, x, x, attn_mask=blocked, need_weights=False),
        "fused kernel alone": lambda: F.scaled_dot_product_attention(q, q, q, attn_mask=mask),
    }
    output, weights = calls["ours, weights"]()
    expected, expected_weights = calls["nn, weights"]()
    assert torch.allclose(output, expected, atol=1e-5) and torch.allclose(
        weights, expected_weights, atol=1e-5
    )
    return calls


def measure(size, masked, gradients):
    with torch.set_grad_enabled(gradients):
        named = calls(size, masked)
        seconds = dict(zip(named, medians(*named.values()), strict=True))
        memory = {name: peak_bytes(call) for name, call in named.items()}
    return seconds, memory


def growth(times):
    """Return the slope of log(time) over log(n), by least squares."""
    points = [(math.log(n), math.log(seconds)) for n, seconds in times]
    middle_x, middle_y = (statistics.mean(values) for values in zip(*points, strict=True))
    above = sum((x - middle_x) * (y - middle_y) for x, y in points)
    return above / sum((x - middle_x) ** 2 for x, _ in points)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rows, growing = [], {}
    for size in SIZES:
        for masked in (False, True):
            for gradients in (False, True):
                seconds, memory = measure(size, masked, gradients)
                if size[0] == 1 and size[1] >= 128 and not masked and not gradients:
                    for name, taken in seconds.items():
                        growing.setdefault(name, []).append((size[1], taken))
                rows.append(
                    [
                        f"({', '.join(map(str, size))})",
                        "causal" if masked else "none",
                        "yes" if gradients else "no",
                        f"{1e3 * seconds['ours, weights']:.2f} ms",
                        f"{seconds['ours, weights'] / seconds['nn, weights']:.2f}",
                        f"{seconds['ours, no weights'] / seconds['nn, no weights']:.2f}",
                        f"{seconds['ours, weights'] / seconds['ours, no weights']:.2f}",
                        f"{memory['ours, weights'] / 1e6:.1f} MB",
                        f"{memory['ours, no weights'] / 1e6:.1f} MB",
                    ]
                )
                print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    headings = [
        "(b, n, d_model)",
        "mask",
        "gradients",
        "with weights",
        "÷ nn, with weights",
        "÷ nn, without weights",
        "with ÷ without weights",
        "memory with",
        "memory without",
    ]
    report("attention_forward", headings, rows, options.write)
    for name, times in growing.items():
        print(f"{name}: time grows like n^{growth(times):.2f} from n = {times[0][0]} to {times[-1][0]}")


if __name__ == "__main__":
    main()
