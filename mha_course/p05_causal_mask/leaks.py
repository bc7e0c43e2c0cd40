"""What the test of exercise 5.3 is handed: attentions, all but three of which leak. And its slips."""

import itertools
from functools import partial

import torch

from mha_course.exercises import TestExercise, as_python, candidates, changes, run, run_code
from mha_helpers import causal_mask

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

# Attentions that show the slip of a test that says True of them: one that says False of all others …
_STRICT = changes("""
    weights @ x => x.cummax(dim=-2).values
    Your test says False even of the right ones: it leaves no room for rounding. Which function does?
    weights @ x => torch.ones_like(x)
    Your test compares rows that may change: which words differ, and which rows come before them all?
""")
# … and one that passes what leaks, and has changed every word.
_LOOSE = changes("""
    weights @ x => x + 1e-3 * x.cumsum(dim=-2).cumsum(dim=-1).sum(dim=-2, keepdim=True)
    Outputs that move by thousandths of the change pass your test: how loose is its limit?
    weights @ x => x + torch.cat([x[..., 1:-1, :].cumsum(dim=-1), 0 * x[..., :2, :]], dim=-2)
    An attention that shows each next word but the last passes your test: is one equal pair enough?
""")
_ALWAYS_FALSE = "Your test says False even where no output changes: what lets it say True?"


class LeakTest(TestExercise):
    """Say why a test misjudges where what it hands over shows it, or, if it says the same of all, a probe."""

    def _small_faults(self, test):
        """One word sees one later word, each pair in turn, and all words seen get the same share."""
        n = max(len(x) for x, _ in self._inputs(test))
        pairs = list(itertools.combinations(range(n), 2))
        for early, late in pairs[:: 1 + len(pairs) // 60]:

            def attend(x, early=early, late=late):
                seen = causal_mask(x.shape[-2]).to(x.dtype)
                seen[early : early + 1, late : late + 1] = 1
                return seen / seen.sum(-1, keepdim=True) @ x

            pair = f"word {early + 1} sees word {late + 1}"
            yield attend, f"An attention passes your test in which {pair}: does any change show it?"

    def _slip(self, test, verdicts, candidate):
        of_all, passes = len(set(verdicts)) == 1, not candidate.is_right
        inputs = self._inputs(test) if passes or not any(verdicts[: len(CAUSAL)]) else []
        if not inputs or inputs[0][0].dim() < 2:
            return None
        alike = [now for _, now in inputs if now.shape == inputs[0][1].shape]
        changed = torch.stack([(now != alike[0]).any(dim=-1) for now in alike]).flatten(0, -2).any(dim=0)
        one_place = len(inputs) > 1 and len({(x.data_ptr(), x.shape) for x, _ in inputs}) == 1
        if of_all and one_place and (changed.any() or verdicts[0]):
            return "All calls get the very same tensor: if y is x, both change at once. What makes a copy?"
        if of_all and any(now.isnan().any() for _, now in inputs):
            return "NaN spreads: 0 times NaN is NaN. Change the later words to other numbers."
        kept = ", ".join(f"{word + 1}" for word in range(1, len(changed)) if not changed[word])
        if kept and changed.any() and len(alike) == len(inputs) and passes:
            some = f"some of its {len(changed)} words unchanged: {kept}."
            return f"Handed a right attend, your test leaves {some}"
        moved = max(torch.dist(now.float(), alike[0].float(), 1) for now in alike)
        if passes and 1 < len(alike) == len(inputs) and moved < 1e-3 and not inputs[0][0].requires_grad:
            return f"Your test changes its words by {moved:.1g} at most: what can it see move?"
        loose = _LOOSE if changed[1:].all() and len(changed) > 2 else ()
        for change, meant in loose if passes else _STRICT:
            said = as_python(run(test, (run_code("attend", ATTEND, change, of="candidate"),)).value)
            if said is True:
                return meant
        return _ALWAYS_FALSE if not passes and said is False else None

    @staticmethod
    def _inputs(test):
        """Return what a test hands to a right attention: each tensor, and a copy of it as it was then."""
        handed, attend_rightly = [], CAUSAL["causal mask"][0]

        def attend(x):
            handed.append((x, x.detach().clone()))
            return attend_rightly(x)

        run(test, (attend,))
        return handed
