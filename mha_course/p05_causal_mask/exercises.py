"""The exercises of page 05: a mask that hides too much, a mask to design, a test that catches a leak."""

import itertools

import torch

from mha_course.exercises import FunctionExercise, TestExercise, ValueExercise, case, changes, run
from mha_course.exercises.engine import run_code
from mha_helpers import causal_mask


def _broken_rule_of_softmax(row, _):
    """Say of three wrong weights, of which the second is hidden, which rule of softmax they break."""
    if row[1]:
        return f"gives “eats” the weight {row[1]:.3g}: what does the code do with its score?"
    if abs(row.sum() - 1) > 2e-3 or row.min() < 0:
        return f"adds up to {row.sum():.3g}: what should the weights of a row add up to?"
    ratio = f"has a weight of “cat” {row[0] / row[2]:.3g} times that of “fish”"
    return f"{ratio}: does hiding “eats” change the ratio of the others?"


scores_equal_to_zero = ValueExercise(
    "5.1 ★ · 6 min · A mask applied as scores == 0",
    decimals=2,
    describe=_broken_rule_of_softmax,
    task="""
    Published code multiplies the scores by the mask, 1 or 0, and then writes −∞ wherever a score is 0.
    Take this page's “cat” row: its scaled scores are [2.828, 0, 1.414], the mask is all ones,
    and its weights should be [0.768, 0.045, 0.187]. What weights does this code give, to at least
    two decimals? You need no exponentials.
    """,
    stub="my_row = ...  # three numbers, as a list",
    mistakes=[
        ([0.7905, 0.0, 0.2095], "You share 0.045 out equally: does softmax keep differences, or ratios?"),
        ([0.813, 0.0, 0.187], "“cat” takes all that “eats” loses: does “fish” not get a part of it?"),
        ([1.0, 0.0, 0.0], "“cat” still sees “fish”: its score is 1.414, not 0."),
        ([2.828, -torch.inf, 1.414], "Those are the scores the code leaves: what does softmax make of them?"),
        ([0.804, 0.196], "Both shares are right. What weight does the hidden word get, and where?"),
    ],
    praise="A visible word with a score of 0 was hidden, too; random scores are hardly ever exactly 0.",
    hints=[
        "The mask multiplies by 1 everywhere in this row. Which score is 0 nevertheless?",
        "That word loses its weight. The other two keep their ratio, 0.768 to 0.187, and add up to 1.",
    ],
    solution="""
left = 0.768 + 0.187  # the word whose score is 0 gets −∞, and drops out
my_row = [0.768 / left, 0, 0.187 / left]
""",
)


def _broken_rules_of_the_window(seen, wanted):
    seen, wanted, key = seen != 0, wanted != 0, torch.arange(len(seen))
    back = key[:, None] - key
    rules = {
        "shows later words": seen & (back < 0),
        "hides a word from itself": ~seen & (back == 0),
        "hides the first word": ~seen & (back > 0) & (key == 0),
        "hides words of the window": ~seen & wanted & (back > 0) & (key > 0),
        "shows words too far away": seen & ~wanted & (back > 0),
    }
    broken = [(rule, cells.nonzero()[0] + 1) for rule, cells in rules.items() if cells.any()]
    return ", and ".join(f"{rule} (row {row}, column {column})" for rule, (row, column) in broken)


window_mask = FunctionExercise(
    "5.2 ★★ · 8 min · A window, and the first word",
    cases=lambda: [
        case(n, window, label=f"with n = {n} and a window of {window}")
        for n, window in ((5, 1), (6, 2), (7, 0), (9, 6), (1, 2))
    ],
    describe=_broken_rules_of_the_window,
    task="""
    Each word sees itself, the `window` words before it and, however far away, the first word, because
    heads often leave spare weight there (an *attention sink*). No word sees a later one. Return this
    mask, (n, n), True = may attend.
    """,
    mistakes=changes("""
        back <= window => torch.stack([torch.isin(position, position[i - window : i + 1]) for i in position])
        In the first rows your window is lost: a slice that starts below 0 counts from the end.
        near | first => near & first
        Your rules must all hold at once, so a word sees at most the first one: which two are alternatives?
    """),
    praise="Three rules, joined by & and |: you can now write any mask that you can say in a sentence.",
    hints=[
        "Make a table of how many words back each key stands: i[:, None] - i[None, :].",
        "Write each rule as a table of True and False: not later, near enough, is the first word.",
        "Not later, and (near enough, or the first): & and |, with brackets around every comparison.",
    ],
    solution="""
def my_window_mask(n, window):
    # -> tensor (n, n), True = may attend
    position = torch.arange(n)
    back = position[:, None] - position[None, :]  # query (n, 1), key (1, n) -> (n, n)
    near, first = back <= window, position[None, :] == 0
    return (back >= 0) & (near | first)
""",
)

# Attentions that show the slip of a test that says False of the right ones. The outputs of the first are
# rounded to what float32 holds exactly, so that no rounding moves them; gradients pass through it.
_STRICT = changes("""
    weights @ x => (out := weights @ x) + ((1024 * out).round() / 1024 - out).detach()
    Your test says False even of the right ones: it leaves no room for rounding. Which function does?
    weights @ x => torch.ones_like(x)
    Your test is True if no output ever moves, False of right ones: which rows may a changed word move?
""")
_ALWAYS_FALSE = "Your test says False even where no output changes: what lets it say True?"


def _leak(attend, calls):
    """Return how far outputs move above the first word in which a call differs from the first call."""
    outputs, same_so_far = attend(calls), (calls == calls[0]).all(dim=-1).cumprod(dim=-1)
    return float(((outputs - outputs[0]).abs().amax(dim=-1) * same_so_far).max())


def _unchanged_words(attend, groups):
    """Say which words a test never changes though a wrong attention leaks from them."""
    for calls in groups:  # the inputs of one shape
        changed = (calls != calls[0]).any(dim=-1).flatten(0, -2).any(dim=0)
        kept = [word for word in range(1, len(changed)) if changed.any() and not changed[word]]
        others = [calls[0].index_fill(-2, torch.tensor(word), 3.0) for word in kept]
        if kept and _leak(attend, torch.stack([calls[0], *others])) > 1e-3:
            words = f"some of its {len(changed)} words unchanged"
            return f"Handed a right attend, your test leaves {words}: {', '.join(f'{i + 1}' for i in kept)}."


class LeakTest(TestExercise):
    """Say why a test misjudges where what it hands over shows it, or, if it says the same of all, a probe."""

    def _small_faults(self, test):
        """One word sees one later word, each pair in turn, at equal shares; then all see a fiftieth."""
        n = max(len(x) for x, _ in self._inputs(test))
        pairs = list(itertools.combinations(range(n), 2))
        for early, late in pairs[:: 1 + len(pairs) // 60]:

            def attend(x, early=early, late=late):
                seen = causal_mask(x.shape[-2]).to(x.dtype)
                seen[early : early + 1, late : late + 1] = 1
                return seen / seen.sum(-1, keepdim=True) @ x

            attend.late = late
            pair = f"word {early + 1} sees word {late + 1}"
            yield attend, f"An attention passes your test in which {pair}: does any change show it?"
        words = "An attention passes your test that adds 1/50 of all later words: how loose is its limit?"
        yield lambda x: self.candidates[0].function(x) + (x.sum(-2, keepdim=True) - x.cumsum(-2)) / 50, words

    def _slip(self, test, verdicts, candidate):
        of_right = [passed for each, passed in zip(self.candidates, verdicts, strict=False) if each.is_right]
        inputs = self._inputs(test) if not (candidate.is_right and any(of_right)) else []
        if not inputs or min(x.dim() for x, _ in inputs) < 2:
            return None
        if len(set(verdicts)) == 1 and (sentence := self._of_inputs(inputs, verdicts[0])):
            return sentence
        return self._strict(test) if candidate.is_right else self._blind(test, inputs, candidate)

    def _says(self, test, function):
        """A leak passes only where this run handed over words enough for it: sizes may be random."""
        longest = [0]

        def noted(x):
            longest.append(x.shape[-2])
            return function(x)

        says = super()._says(test, noted)
        return says if max(longest) > getattr(function, "late", -1) else None

    def _passes_zeros(self, test):
        return False  # which is right: no output of 0 follows a later word

    def _of_inputs(self, inputs, passes):
        """Say which inputs make a test say the same of all."""
        calls, shapes = [now for _, now in inputs], {x.shape for x, _ in inputs}
        groups = [[now for now in calls[::-1] if now.shape == shape] for shape in shapes]
        step = 2 if passes else 1  # the last two calls of a size are compared, the two before, and so on
        pairs = [pair for each in groups for pair in zip(each[::step], each[1::step], strict=False)]
        places = {(x.data_ptr(), x.shape) for x, _ in inputs}
        one_for_each_size = len(dict(places)) == len(places) == len(shapes) < len(inputs)
        if one_for_each_size and all(itertools.starmap(torch.equal, pairs)) == passes:
            return "No call gets a tensor of its own: what makes a changed copy for one of them?"
        if not all(now.isfinite().all() for now in calls):
            return "NaN and ∞ spread: 0 times either is NaN. Change the later words to other numbers."

    def _blind(self, test, inputs, candidate):
        """Say why a test does not see a leak: of words that never change, or smaller than its limit."""
        wrong, right = candidate.function, self.candidates[0].function

        def larger(x):
            return right(x.double()) + 1e4 * (wrong(x.double()) - right(x.double()))

        shapes = dict.fromkeys(now.shape for _, now in inputs)
        groups = [torch.stack([now for _, now in inputs if now.shape == shape]).double() for shape in shapes]
        moved = max(float((calls - calls[0]).abs().max()) for calls in groups)
        leak = max(_leak(wrong, calls) for calls in groups)
        hardly = f"Your test changes its words by {moved:.1g} at most: what can it see move?"
        if moved and leak < 1e-5 and (sentence := _unchanged_words(wrong, groups)):
            return sentence if moved > 1e-5 else hardly  # float32 rounds some of it away
        never = not moved and all(len(calls) > 1 for calls in groups) and not inputs[0][0].requires_grad
        leaks = leak > 1e-2 * moved
        seen_if_larger = leaks and self._says(test, larger) is False
        if never or (leaks and 0 < moved < 1e-5) or (seen_if_larger and moved < 1e-3):
            return hardly
        loose = f"Outputs that should stay move by {leak:.1g} and pass your test: how loose is its limit?"
        return loose if seen_if_larger else None

    def _strict(self, test):
        for change, sentence in _STRICT:
            says = self._says(test, run_code("attend", self.code, change, of="candidate"))
            if says is True:
                return sentence
        return _ALWAYS_FALSE if says is False else None

    def _inputs(self, test):
        """Return what a test hands to a right attention: each tensor, and a copy of it as it was then."""
        handed, attend_rightly = [], self.candidates[0].function

        def attend(x):
            handed.append((x, x.detach().clone()))
            return attend_rightly(x)

        run(test, (attend,))
        return handed


leak_test = LeakTest(
    "5.3 ★★★ · 13 min · Write the test that catches a leak",
    times=3,
    code="""
def attend(x):
    n, d = x.shape[-2:]
    x = 1.0 * x  # whole numbers, too
    i, j = torch.arange(n)[:, None], torch.arange(n)
    seen = causal_mask(n)
    scores = x @ x.mT / d**0.5
    weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    return weights @ x
""",  # the words themselves are queries, keys and values
    right="""
    causal mask: no output follows a later word.
    -torch.inf => -1e9
    causal mask with −1e9: no output follows a later word.
    causal_mask(n) => causal_mask(n) & (i - j < 2)
    causal window: each word sees itself and the one before, no later one.
    """,
    wrong="""
    causal_mask(n) => i >= 0
    no mask: every word sees every other.
    scores.masked_fill(~seen, -torch.inf).softmax(-1) => scores.softmax(-1) * seen
    mask after the softmax: sums of powers still count the later words, as scores that are not all 0 show.
    causal_mask(n) => causal_mask(n).T
    triu in place of tril: all words see later ones.
    causal_mask(n) => causal_mask(n) | (j == i + 1)
    one word ahead: each word sees the next.
    causal_mask(n) => causal_mask(n) | (j == i + 2)
    two words ahead, not one: a changed word moves the row two before it, and not the one between.
    causal_mask(n) => causal_mask(n) | (j == i + 3)
    three words ahead, not one or two: a changed word moves the row three before it, and none between.
    causal_mask(n) => causal_mask(n) | (i % 2 == 1)
    every second word sees all: the first row stays, and the second, the fourth, … follow all words.
    causal_mask(n) => j < max(n - 1, 1)
    the last word hidden, no other: nobody sees the last word, and words between are seen too early.
    weights @ x => torch.where(torch.arange(d) < (d + 1) // 2, weights @ x, scores.softmax(-1) @ x)
    causal in half of the features: of two and more the second half follows all words; a single one does not.
    weights @ x => weights @ x + (x - (d > 1) * x.mean(-1, keepdim=True)).mean(-2, keepdim=True)
    a leak that leaves the mean of each output: it follows how the features of later words differ.
    1.0 * x => 1.0 * x - (1.0 * x).mean(-2, keepdim=True)
    causal mask, the mean of the sentence taken away first: its mask is right, but the mean holds later words.
    1.0 * x => x + F.pad(1.0 * x[..., 1:, d // 2 : d // 2 + 1], (d // 2, d - 1 - d // 2, 0, 1))
    causal mask, a feature of the next word added first: words hold a middle feature of the next one.
    seen = causal_mask(n) => seen, x = i >= 0, F.layer_norm(x, (d,)) if d > 3 else x
    no mask, LayerNorm first: every word sees every other, unless all its features change by the same number.
    """,
    task="""
    A function `attend(x)` turns x (n, d) into outputs (n, d), for any n and d. Return `True` if no word
    sees a later one, else `False`; its mask is not shown. The check hands your test many
    attention functions, three of which are right.
    """,
    praise="You never looked at a mask, and found a leak that no mask shows: trust what moves.",
    hints=[
        "Make x with torch.randn(5, 4), copy it with x.clone(), and change one word of the copy.",
        "If word j has changed, which rows of the output must stay as they were? Slice them: [:j].",
        "Do it for every j, and compare with torch.allclose.",
    ],
    solution="""
def my_test(attend):
    # attend(x) -> outputs; True if no output follows a later word
    x = torch.randn(5, 4)
    for j in range(5):
        changed = x.clone()
        changed[j] = torch.randn(4)
        if not torch.allclose(attend(x)[:j], attend(changed)[:j], atol=1e-6):
            return False
    return True
""",
)
