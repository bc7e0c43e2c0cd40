"""What would the course's MultiHeadAttention gain or lose by showing less or more?

    python benchmarks/price_of_clarity.py            # the table
    python benchmarks/price_of_clarity.py --write    # also into README.md

Without gradients, as ratios to ``torch.nn.MultiheadAttention`` asked for the same thing; all calls take
turns in one process. "Step by step" is ``trace``: each function of the course in a row, each with its own
checks, and the scores divided by √d_k where the forward pass divides the query. "One projection" makes Q, K
and V by one product with a packed matrix, as PyTorch does, where the course has three layers with names.
"""

import argparse
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.attention_forward import HEADS, SIZES, medians  # noqa: E402
from benchmarks.table import report  # noqa: E402
from mha_helpers import MultiHeadAttention, causal_mask, merge_heads  # noqa: E402

HEADINGS = [
    "(b, n, d_model)",
    "mask",
    "with weights: the course",
    "step by step",
    "one projection",
    "without weights: the course",
    "one projection",
]


def with_one_projection(theirs, ours, x, mask):
    """Return two calls, with and without weights, that make Q, K and V by one product."""

    def q_k_v():
        ours._check(x, mask)  # what the course checks is checked here too
        projected = F.linear(x, theirs.in_proj_weight, theirs.in_proj_bias)  # -> (b, n, 3·d_model)
        return projected.unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)  # -> (3, b, h, n, d_k)

    def weights():
        q, k, v = q_k_v()
        scores = (q / math.sqrt(ours.d_k)) @ k.transpose(-2, -1)
        if mask is not None:
            scores = torch.where(mask, scores, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        return ours.w_o(merge_heads(weights @ v)), weights

    def no_weights():
        q, k, v = q_k_v()
        return ours.w_o(merge_heads(F.scaled_dot_product_attention(q, k, v, attn_mask=mask))), None

    return weights, no_weights


def measure(size, masked):
    b, n, d_model = size
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(d_model, HEADS, batch_first=True).eval()
    ours = MultiHeadAttention.from_torch(theirs)
    x = torch.randn(b, n, d_model)
    mask = causal_mask(n) if masked else None
    blocked = ~mask if masked else None
    one_projection, one_projection_no_weights = with_one_projection(theirs, ours, x, mask)

    def step_by_step():
        trace = ours.trace(x, mask)
        return trace.output, trace.weights

    calls = [
        lambda: theirs(x, x, x, attn_mask=blocked, average_attn_weights=False),
        lambda: ours(x, mask),
        step_by_step,
        one_projection,
        lambda: theirs(x, x, x, attn_mask=blocked, need_weights=False),
        lambda: ours(x, mask, need_weights=False),
        one_projection_no_weights,
    ]
    expected = calls[0]()[0]
    assert all(torch.allclose(call()[0], expected, atol=1e-5) for call in calls)
    seconds = medians(*calls)
    return [taken / seconds[0] for taken in seconds[1:4]] + [taken / seconds[4] for taken in seconds[5:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    with torch.no_grad():
        for size in SIZES:
            for masked in (False, True):
                ratios = measure(size, masked)
                shown = f"({', '.join(map(str, size))})"
                rows.append([shown, "causal" if masked else "none", *(f"{ratio:.2f}" for ratio in ratios)])
                print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    report("price_of_clarity", HEADINGS, rows, options.write)


if __name__ == "__main__":
    main()
