"""The exercises of page 05: a mask that hides too much, a mask to design, a test that catches a leak."""

import torch

from mha_helpers.exercises import FunctionExercise, ValueExercise, case
from mha_helpers.pages.p05_causal_mask.judges import LeakTest
from mha_helpers.pages.p05_causal_mask.leaks import CAUSAL, NOT_CAUSAL

scores_equal_to_zero = ValueExercise(
    "5.1 ★ · 4 min · A mask applied as scores == 0",
    right=[0.670, 0.0, 0.330],
    decimals=3,
    task="""
    Published code multiplies the scores by the mask, 1 or 0, and then writes −∞ wherever a score is 0.
    Take the row “fish” of this page: its scaled scores are [1.414, 0, 0.707], the causal mask forbids
    nothing in it, and its weights should be [0.576, 0.140, 0.284]. Which weights does this code give,
    to three decimals? You need no exponentials.
    """,
    stub="my_row = ...  # three numbers, as a list",
    mistakes=[
        ([0.576, 0.140, 0.284], "That is the right row, and the code does not find it: which score is 0?"),
        ([0.576, 0.0, 0.284], "The row does not add up to 1: who gets what “eats” no longer has?"),
        ([0.646, 0.0, 0.354], "You give half to each: softmax keeps the ratio of the words that are left."),
        ([0.716, 0.0, 0.284], "You give all of it to the largest: softmax keeps the ratio of the two."),
        ([0.667, 0.0, 0.333], "You share in the ratio of the scores: in which ratio are the weights?"),
        ([1.0, 0.0, 0.0], "“fish” still sees itself: its score is 0.707, not 0."),
        ([0.804, 0.196, 0.0], "You hide “fish” itself: which of the three scores is 0?"),
        ([1.414, 0.0, 0.707], "Those are scores: what does softmax make of the two that are left?"),
        ([1.414, -torch.inf, 0.707], "Those are the scores after the code: what does softmax make of them?"),
        ([0.670, 0.330], "The two shares are right. Which weight has the hidden word, in its own place?"),
        ([0.5, 0.0, 0.5], "You share out equally: which ratio had the two words that are left?"),
    ],
    praise="A visible word with a score of 0 was hidden, too; random scores are never exactly 0.",
    hints=[
        "The mask multiplies by 1 everywhere in this row. Which score is 0 all the same?",
        "That word loses its weight. The two others keep their ratio, 0.576 to 0.284, and add up to 1.",
    ],
    solution="""
left = 0.576 + 0.284  # the word whose score is 0 gets −∞, and drops out
my_row = [0.576 / left, 0, 0.284 / left]
""",
)


def _back(n):
    position = torch.arange(n)
    return position[:, None] - position  # how many words back each key stands, (n, n)


def _mask(n, window):
    return (_back(n) >= 0) & ((_back(n) <= window) | (torch.arange(n) == 0))


def _by_slices(n, window):
    mask = torch.arange(n).expand(n, n) == 0
    for i in range(n):
        mask[i, i - window : i + 1] = True
    return mask


def _without_brackets(n, window):
    query, key = torch.arange(n)[:, None], torch.arange(n)
    return key <= query & (query - key <= window) | (key == 0)


_OPEN = [
    (lambda n, w: torch.ones(n, n) > 0, "Every word sees every other: which rule hides the later ones?"),
    (lambda n, w: (_back(n) <= w) | (torch.arange(n) == 0), "Later words are seen: which rule hides them?"),
    (lambda n, w: torch.eye(n) > 0, "Every word sees itself only: where are the ones before it?"),
    (_without_brackets, "& binds its two neighbours before <= compares them: what should be compared first?"),
]
_NEAR_THE_TOP = [
    (_by_slices, "In the first rows your window is lost: a slice that starts below 0 counts from the end."),
]

window_mask = FunctionExercise(
    "5.2 ★★ · 6 min · A window, and the first word",
    reference=_mask,
    cases=lambda: [
        case(5, 1, mistakes=_OPEN),
        case(6, 2, mistakes=_NEAR_THE_TOP),
        case(7, 0),
        case(9, 6),
        case(1, 2),
    ],
    task="""
    Each word sees itself, the `window` words before it and, however far away, the first word, because
    heads often leave spare weight there (an *attention sink*). Nobody sees a later word. Return this
    mask, (n, n), True = may attend.
    """,
    stub="""
def my_window_mask(n, window):
    # -> tensor (n, n), True = may attend
    ...
""",
    mistakes=[
        (lambda n, w: (_back(n) >= 0) & (_back(n) <= w), "Every word may also see the first one."),
        (lambda n, w: _back(n).abs() <= w, "Later words are seen, and the first word is not seen by all."),
        (
            lambda n, w: (_back(n).abs() <= w) | (torch.arange(n) == 0),
            "Your window reaches to both sides: may a word see later ones?",
        ),
        (
            lambda n, w: _mask(n, w - 1),
            "Your window counts the word itself: it should reach `window` words further back.",
        ),
        (lambda n, w: _mask(n, w) & (_back(n) > 0), "Your words do not see themselves."),
        (
            lambda n, w: _mask(n, w) & ((_back(n) > 0) | (torch.arange(n) == 0)),
            "Only the first of your words sees itself: may the others do so, too?",
        ),
        (
            lambda n, w: (_back(n) >= 0) & (_back(n) <= w) & (torch.arange(n) == 0),
            "Your rules must all hold at once, so a word sees the first at most: which two are a choice?",
        ),
        (lambda n, w: _back(n) >= 0, "Your mask is causal, but no word is too far away for it."),
        (
            lambda n, w: (_back(n) <= 0) & ((_back(n) >= -w) | (torch.arange(n) == 0)),
            "Your words see later ones instead of earlier ones: rows are queries, columns are keys.",
        ),
        (lambda n, w: _mask(n, w + 1), "Your window is one word too wide: it counts words before the word."),
        (
            lambda n, w: ((_back(n) >= 0) & (_back(n) <= w)) | (torch.arange(n) == 0)[:, None],
            "You open the first row: which column do the other words need to see the first word?",
        ),
    ],
    praise="Three rules, joined by & and |: you can now write any mask that you can say in a sentence.",
    hints=[
        "Make a table of how many words back each key stands: i[:, None] - i[None, :].",
        "Write each rule as a table of True and False: not later, near enough, is the first word.",
        "Not later, and (near enough, or the first): & and |, with brackets around every comparison.",
    ],
    solution="""
def my_window_mask(n, window):
    position = torch.arange(n)
    back = position[:, None] - position[None, :]  # query (n, 1), key (1, n) -> (n, n)
    near, first = back <= window, position[None, :] == 0
    return (back >= 0) & (near | first)
""",
)


def _compares(words, at=all, rows=lambda j: slice(j)):
    """Return a test that changes these words, one at a time, and compares rows, those before the word."""

    def test(attend):
        x = torch.randn(5, 4)
        changed = [x.index_fill(0, torch.tensor(j), 1.5) for j in words]
        pairs = zip(words, map(attend, changed), strict=True)
        return at(torch.allclose(attend(x)[rows(j)], output[rows(j)], atol=1e-5) for j, output in pairs)

    return test


leak_test = LeakTest(
    "5.3 ★★★ · 9 min · Write the test that catches a leak",
    times=3,
    right=CAUSAL,
    wrong=NOT_CAUSAL,
    task="""
    A function `attend(x)` turns x (n, d) into outputs (n, d), for any n and d. Return `True` if no word
    sees a later one, else `False`; its mask is not shown. The check hands your test seventeen
    attentions, three of which are right.
    """,
    stub="""
def my_test(attend):
    # attend(x) -> outputs; True if no output follows a later word
    ...
""",
    mistakes=[
        (
            _compares(range(5), rows=lambda j: slice(j + 1, 5)),
            "You compare the rows after the changed word: which ones may not follow it?",
        ),
        (
            _compares(range(1, 5), at=any),
            "Your test passes if one of the words does no harm: when are all of them tried?",
        ),
        (
            _compares([1]),
            "Your test sees a leak from the second word into the first, and no other: are all words tried?",
        ),
    ],
    praise="You never looked at a mask, and found a leak that no mask shows: trust what moves.",
    hints=[
        "Make x with torch.randn(5, 4), copy it with x.clone(), and change one word of the copy.",
        "If word j has changed, which rows of the output must stay as they were? Slice them: [:j].",
        "Do it for every j, and compare with torch.allclose.",
    ],
    solution="""
def my_test(attend):
    x = torch.randn(5, 4)
    for j in range(5):
        changed = x.clone()
        changed[j] = torch.randn(4)
        if not torch.allclose(attend(x)[:j], attend(changed)[:j], atol=1e-6):
            return False
    return True
""",
)
