"""Why a test of exercise 5.3 misjudges: what it hands over, and attentions that show its slip."""

import itertools

import torch

from mha_course.exercises import TestExercise, as_python, changes, run, run_code
from mha_helpers import causal_mask

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
        of_right = [said for each, said in zip(self.candidates, verdicts, strict=False) if each.is_right]
        inputs = self._inputs(test) if passes or not any(of_right) else []
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
            said = as_python(run(test, (run_code("attend", self.code, change, of="candidate"),)).value)
            if said is True:
                return meant
        return _ALWAYS_FALSE if not passes and said is False else None

    def _inputs(self, test):
        """Return what a test hands to a right attention: each tensor, and a copy of it as it was then."""
        handed, attend_rightly = [], self.candidates[0].function

        def attend(x):
            handed.append((x, x.detach().clone()))
            return attend_rightly(x)

        run(test, (attend,))
        return handed
