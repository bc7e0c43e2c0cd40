"""The exercises of page 05: a mask that hides too much, a mask to design, a test that catches a leak."""

import torch

from mha_helpers.attention import attention_weights
from mha_helpers.exercises import FunctionExercise, TestExercise, ValueExercise, case
from mha_helpers.masks import causal_mask, sliding_window_mask

scores_equal_to_zero = ValueExercise(
    "5.1",
    "A mask applied as scores == 0",
    stars=1,
    minutes=4,
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
        (
            [0.646, 0.0, 0.354],
            "You give half to each: softmax keeps the ratio of the words that are left.",
        ),
        ([0.716, 0.0, 0.284], "You give all of it to the largest: softmax keeps the ratio of the two."),
        ([0.667, 0.0, 0.333], "You share in the ratio of the scores: in which ratio are the weights?"),
        ([1.0, 0.0, 0.0], "“fish” still sees itself: its score is 0.707, not 0."),
        ([0.804, 0.196, 0.0], "You hide “fish” itself: which of the three scores is 0?"),
        ([1.414, 0.0, 0.707], "Those are scores: what does softmax make of the two that are left?"),
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
    place = torch.arange(n)
    return place[:, None] - place  # how many words back each key stands, (n, n)


def _window(n, window):
    return (_back(n) >= 0) & ((_back(n) <= window) | (torch.arange(n) == 0))


window_mask = FunctionExercise(
    "5.2",
    "A window, and the first word",
    stars=2,
    minutes=6,
    reference=_window,
    cases=lambda: [case(5, 1), case(6, 2), case(7, 0), case(1, 2)],
    task="""
    Each word sees itself, the `window` words before it and, however far away, the first word, because
    heads often leave spare weight there (an *attention sink*). Nobody sees a later word. Return this
    mask, (n, n), True = may attend.
    """,
    stub="""
def my_window_mask(n, window):
    # -> (n, n)
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
            lambda n, w: (_back(n) >= 0) & ((_back(n) < w) | (torch.arange(n) == 0)),
            "Your window counts the word itself: it should reach `window` words further back.",
        ),
        (
            lambda n, w: (_back(n) > 0) & ((_back(n) <= w) | (torch.arange(n) == 0)),
            "Your words do not see themselves.",
        ),
        (lambda n, w: _back(n) >= 0, "Your mask is causal, but no word is too far away for it."),
        (
            lambda n, w: (_back(n) <= 0) & ((_back(n) >= -w) | (torch.arange(n) == 0)),
            "Your words see later ones instead of earlier ones: rows are queries, columns are keys.",
        ),
        (lambda n, w: _window(n, w).T, "Your rows are keys: rows should be queries, columns keys."),
        (lambda n, w: ~_window(n, w), "True and False have changed places: True = may attend."),
        (lambda n, w: _window(n, w).int(), "Your numbers are right; a mask holds True and False."),
    ],
    praise="Three rules, joined by & and |: you can now write any mask that you can say in a sentence.",
    hints=[
        "Make a table of how many words back each key stands: place[:, None] - place[None, :].",
        "Write each rule as a table of True and False: not later, near enough, is the first word.",
        "Not later, and (near enough, or the first): & and |, with brackets around every comparison.",
    ],
    solution="""
def my_window_mask(n, window):
    place = torch.arange(n)
    back = place[:, None] - place[None, :]  # query (n, 1), key (1, n) -> (n, n)
    near, first = back <= window, place[None, :] == 0
    return (back >= 0) & (near | first)
""",
)


def _attend(mask_of, hidden=-torch.inf, prepare=lambda x: x):
    """Make an attention x (n, d) -> (n, d) in which the words themselves are queries, keys and values."""

    def attend(x):
        seen = prepare(x)
        scores = seen @ seen.transpose(-2, -1) / x.shape[-1] ** 0.5
        mask = mask_of(x.shape[-2])
        return attention_weights(torch.where(mask, scores, torch.tensor(hidden))) @ seen

    return attend


def _third_sees_fourth(n):
    mask = causal_mask(n)
    mask[2:3, 3:4] = True
    return mask


def _moves(attend, changed, watched):
    """Say whether the outputs ``watched`` follow when the words ``changed`` become others."""
    x = torch.randn(5, 4)
    other = x.clone()
    other[changed] = torch.randn(4)
    return not torch.allclose(attend(x)[watched], attend(other)[watched], atol=1e-6)


leak_test = TestExercise(
    "5.3",
    "Write the test that catches a leak",
    stars=3,
    minutes=9,
    times=3,
    candidates=[
        ("causal mask", _attend(causal_mask), True),
        ("causal mask with −1e9", _attend(causal_mask, -1e9), True),
        ("causal window", _attend(lambda n: causal_mask(n) & sliding_window_mask(n, 1)), True),
        ("no mask", _attend(lambda n: torch.ones(n, n).bool()), False),
        ("0 in place of −∞", _attend(causal_mask, 0.0), False, "Which output moves there, and how far?"),
        ("triu in place of tril", _attend(lambda n: causal_mask(n).T), False),
        ("one word ahead", _attend(lambda n: torch.ones(n, n).bool().tril(1)), False),
        (
            "the last word hidden, no other",
            _attend(lambda n: (torch.arange(n) < max(n - 1, 1)).expand(n, n)),
            False,
            "There only words in the middle are seen too early.",
        ),
        (
            "the third word sees the fourth",
            _attend(_third_sees_fourth),
            False,
            "There a single cell is wrong: does your test try every word, in a sentence that is long enough?",
        ),
        (
            "causal mask, the mean of the sentence taken away first",
            _attend(causal_mask, prepare=lambda x: x - x.mean(dim=-2, keepdim=True)),
            False,
            "Its mask is right; what else lets a later word in?",
        ),
    ],
    task="""
    A function `attend(x)` turns x (n, d) into outputs (n, d), for any n and d. Return `True` if no word
    sees a later one, else `False`; its mask is not shown. The check hands your test ten attentions,
    three of which are right.
    """,
    stub="""
def my_test(attend):
    # attend(x) -> outputs; True if no output follows a later word
    ...
""",
    mistakes=[
        (
            lambda attend: not _moves(attend, slice(4, 5), slice(0, 4)),
            "You change only the last word: which other words must nobody before them see?",
        ),
        (
            lambda attend: not _moves(attend, slice(1, 5), slice(0, 1)),
            "A leak between later words escapes you: is every output watched, in a sentence long enough?",
        ),
        (
            lambda attend: _moves(attend, slice(0, 1), slice(1, 5)),
            "You watch later outputs follow an earlier word, and that is allowed.",
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
