"""What the test of exercise 8.3 is handed: splits, all but two of which scramble."""

from functools import partial

from mha_course.exercises import candidates

SPLIT = """
def split(q, num_heads):
    if q.dim() != 2:
        raise ValueError(f"q is (n, h·d_k); this one is {tuple(q.shape)}")
    n, h, d_k = len(q), num_heads, q.shape[-1] // num_heads
    heads = q.reshape(n, h, d_k).transpose(0, 1)
    return heads
"""
splits = partial(candidates, SPLIT)

SPLITTING = splits("""
    view, then transpose: it is the cut of this page.
    q.reshape(n, h, d_k).transpose(0, 1) => torch.stack(q.chunk(h, dim=-1))
    slices, stacked: it has the same numbers, in memory of its own.
""")
SCRAMBLING = splits("""
    (n, h, d_k).transpose(0, 1) => (h, n, d_k)
    view only: its shape is right, and its heads hold numbers from several words.
    q.reshape(n, h, d_k).transpose(0, 1) => q.mT.reshape(h, n, d_k)
    transpose, then view: its heads hold their own numbers, in wrong positions unless d_k or n is 1.
    (n, h, d_k).transpose(0, 1) => (h, d_k, n).mT
    view (h, d_k, n), then transpose: its heads hold numbers from several words.
    (n, h, d_k).transpose(0, 1) => (h, n, d_k).transpose(0, 1).reshape(h, n, d_k)
    view (h, n, d_k), then transpose: it is right only with as many words as heads, or with one of either.
    q.reshape(n, h, d_k).transpose(0, 1) => torch.stack(q.chunk(d_k, dim=-1)).reshape(h, n, d_k)
    d_k heads of h numbers: it is right only where d_k is the number of heads, or one of the two is 1.
    return heads => return heads.flip(1)
    words in reverse order: each row is right, the last first.
    return heads => return heads.flip(-1)
    numbers of each head in reverse order: each row of a head holds the right numbers, the last one first.
    return heads => return heads.flip(0)
    heads in reverse order: each head is right, the last first.
""")
