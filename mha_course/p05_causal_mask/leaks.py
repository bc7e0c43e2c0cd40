"""What the test of exercise 5.3 is handed: attentions, all but three of which leak."""

from functools import partial

from mha_course.exercises import candidates

# The words themselves are queries, keys and values.
ATTEND = """
def attend(x):
    n, d = x.shape[-2:]
    x = 1.0 * x  # whole numbers, too
    i, j = torch.arange(n)[:, None], torch.arange(n)
    seen = causal_mask(n)
    scores = x @ x.mT / d**0.5
    weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    return weights @ x
"""
attentions = partial(candidates, ATTEND)

CAUSAL = attentions("""
    causal mask: no output follows a later word.
    -torch.inf => -1e9
    causal mask with −1e9: no output follows a later word.
    causal_mask(n) => causal_mask(n) & (i - j < 2)
    causal window: each word sees itself and the one before, no later one.
""")
NOT_CAUSAL = attentions("""
    causal_mask(n) => i >= 0
    no mask: every word sees every other.
    scores.masked_fill(~seen, -torch.inf).softmax(-1) => scores.softmax(-1) * seen
    mask after the softmax: each sum of powers still counts the later words.
    causal_mask(n) => causal_mask(n).T
    triu in place of tril: all words see later ones.
    causal_mask(n) => causal_mask(n) | (j == i + 1)
    one word ahead: each word sees the next.
    causal_mask(n) => causal_mask(n) | (j == i + 2)
    two words ahead, not one: each word sees the next but one, and not the next.
    causal_mask(n) => causal_mask(n) | (i % 2 == 1)
    every second word sees all: the second, the fourth, … word see all, and the others nothing later.
    causal_mask(n) => j < max(n - 1, 1)
    the last word hidden, no other: nobody sees the last word, and words between are seen too early.
    weights @ x => torch.where(torch.arange(d) < d // 2, weights @ x, scores.softmax(-1) @ x)
    causal in half of the features: the second half of each output's features follows all words.
    weights @ x => weights @ x + (x - (d > 1) * x.mean(-1, keepdim=True)).mean(-2, keepdim=True)
    a leak that leaves the mean of each output: it follows how the features of later words differ.
    1.0 * x => 1.0 * x - (1.0 * x).mean(-2, keepdim=True)
    causal mask, the mean of the sentence taken away first: its mask is right, but the mean holds later words.
    1.0 * x => x + F.pad(1.0 * x[..., 1:, -1:], (d - 1, 0, 0, 1))
    causal mask, a feature of the next word added first: its mask is right, but words hold parts of the next.
    seen = causal_mask(n) => seen, x = i >= 0, F.layer_norm(x, (d,)) if d > 3 else x
    no mask, LayerNorm first: every word sees every other, unless all its features change by the same number.
""")
