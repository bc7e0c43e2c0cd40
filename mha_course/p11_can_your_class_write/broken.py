"""The attention of page 11, and what becomes of it when one line is broken."""

from mha_course.exercises.engine import run_code

ATTENTION = """
class Attention(SharedKeyAttention):
    def forward(self, x, mask=None):
        q = rotate(split_heads(self.w_q(x), self.num_heads))
        k = rotate(split_heads(self.w_k(x), self.key_heads))
        v = split_heads(self.w_v(x), self.key_heads)
        shared = self.num_heads // self.key_heads
        k, v = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.w_o(merge_heads(weights @ v))
"""
GIVEN = """
from mha_course.models import SharedKeyAttention, rotate


def rotate_halves(table):
    return rotate(table.unflatten(-1, (2, -1)).mT.flatten(-2)).unflatten(-1, (-1, 2)).mT.flatten(-2)


def without_first(mask):
    mask = mask.clone()
    mask[1:, 0] = False
    return mask


def cut(table, num_heads):
    return table.view(len(table), num_heads, table.shape[1], -1)
"""
_SPLIT = {f"split_heads(self.{name}(x)": f"cut(self.{name}(x)" for name in ("w_q", "w_k", "w_v")}
BREAKS = {  # the text that is replaced, and by what
    "nothing": {},
    "no √d_k": {" / q.shape[-1] ** 0.5": ""},
    "√d_model for √d_k": {"q.shape[-1] ** 0.5": "x.shape[-1] ** 0.5"},
    "no mask": {"scores.masked_fill(~mask, -torch.inf)": "scores"},
    "scores masked with 0": {"-torch.inf": "0.0"},
    "softmax over the queries": {"dim=-1": "dim=-2"},
    "heads cut without transpose": _SPLIT,
    "heads shared in the wrong order": {".repeat_interleave(shared, dim=1)": ".repeat(1, shared, 1, 1)"},
    "keys mixed in place of values": {", v.repeat_interleave": ", k.repeat_interleave"},
    "no W_O": {"self.w_o(merge_heads(weights @ v))": "merge_heads(weights @ v)"},
    "no positions": {"rotate(": "("},
    "pairs half a head apart": {"rotate(": "rotate_halves("},
    "base 10,000 for 100,000": {"num_heads))\n        k": "num_heads), base=10_000)\n        k"}
    | {"key_heads))\n        v": "key_heads), base=10_000)\n        v"},
}
SUSPECTS = {  # of exercise 11.2
    "A": {"~mask": "~(mask | mask.roll(-1, 0))"},
    "B": {"~mask": "~mask.triu(-3)"},
    "C": {"** 0.5": "** 1"},
    "D": {"q = rotate(": "q = ("},
    "E": {"~mask": "~without_first(mask)"},
}


def broken_attention(name="nothing"):
    """Return the class of page 11 with one line broken; ``BREAKS`` has the names. Used in notebook 11.

    >>> import torch
    >>> broken_attention("no W_O")(12, 6, 3)(torch.zeros(1, 4, 12)).shape
    torch.Size([1, 4, 12])
    """
    return run_code("Attention", ATTENTION, BREAKS[name], GIVEN)


suspects = {name: run_code("Attention", ATTENTION, changed, GIVEN) for name, changed in SUSPECTS.items()}
