"""The exercises of page 08: which number goes where, a cut from slices, a test that catches a scramble."""

import torch

from mha_helpers.attention import split_heads
from mha_helpers.examples import golden_example
from mha_helpers.exercises import FunctionExercise, TestExercise, ValueExercise, case, numbers

where_it_goes = ValueExercise(
    "8.1",
    "Where does this number go?",
    stars=1,
    minutes=5,
    right={"columns": [4, 5, 6, 7], "place": (2, 1, 1), "view only": (0, 5, 1)},
    task="""
    `q` has 6 words and 12 columns, cut into 3 heads of 4. All answers are Python indices, counted from 0.

    - **columns**: which columns of `q` does `q_heads[1]` hold?
    - **place**: at which three indices of `q_heads` is the number `q[1, 9]`?
    - **view only**: at which of `q.view(3, 6, 4)`?
    """,
    stub="""
places = {
    "columns": ...,  # a list
    "place": ...,  # (head, word, number)
    "view only": ...,  # (head, word, number)
}
""",
    mistakes=[
        ({"columns": [8, 9, 10, 11]}, "“columns” are those of the last head: Python counts from 0."),
        ({"columns": [1, 4, 7, 10]}, "“columns” lie apart: does a head own neighbours?"),
        ({"columns": [3, 4, 5]}, "“columns” are three: how many of the 12 has each of 3 heads?"),
        ({"place": (1, 2, 1)}, "“place” is that after `view`: what does `transpose` do?"),
        ({"place": (3, 1, 1)}, "“place” counts the heads from 1: Python counts from 0."),
        ({"place": (3, 1, 0)}, "“place” takes heads of three columns: how wide are they?"),
        ({"place": (2, 1, 2)}, "“place” has the right row: at which column does it begin?"),
        ({"view only": (2, 1, 1)}, "“view only” is the right place: how many numbers come before it?"),
        ({"view only": (1, 2, 1)}, "“view only” is the place in view(6, 3, 4): here heads are first."),
    ],
    praise="21 numbers come before it in memory, so the wrong way calls it a number of the sixth word.",
    hints=[
        "Head 0 owns the first four columns, the next head the next four.",
        "Column 9: which head owns it, and which of its four columns is it? The word stays the word.",
        "`view` fills (3, 6, 4) in the order in which q is read. 12 + 9 numbers come before q[1, 9];"
        " a head takes 6 · 4 of them, and a row of a head takes 4.",
    ],
    solution="""
places = {
    "columns": [4, 5, 6, 7],
    "place": (9 // 4, 1, 9 % 4),  # column 9 = 2 · 4 + 1
    "view only": (21 // 24, 21 // 4, 21 % 4),  # 21 numbers before it; a head holds 24, a row 4
}
""",
)


def _overlapping(q, num_heads):
    d_k = q.shape[-1] // num_heads
    return torch.stack([q[..., head : head + d_k] for head in range(num_heads)], dim=1)


cut_from_slices = FunctionExercise(
    "8.2",
    "The cut without view",
    stars=2,
    minutes=6,
    reference=lambda q, num_heads: split_heads(q, num_heads),  # the argument's name that sentences say
    cases=lambda: [
        case((golden_example().x @ golden_example().w_q)[None], 3, label="with “cat eats fish”"),
        case(numbers(2, 5, 12), 3, label="with two sentences of five words"),
        case(numbers(3, 4, 10), 2),
        case(numbers(4, 3, 6), 1, label="with one head"),
    ],
    without=["view", "reshape", "unflatten", "transpose", "permute", "swapaxes", "movedim", "split_heads"],
    task="""
    A colleague does not trust `view` and `transpose`. Write the cut for a batch, (b, n, h·d_k) →
    (b, h, n, d_k), without them or their relatives, from slices such as `q[..., 2:4]`, columns 2 and 3
    of every word.
    """,
    stub="""
def my_cut(q, num_heads):
    # (b, n, h·d_k) -> (b, h, n, d_k)
    ...
""",
    mistakes=[
        (_overlapping, "Your heads overlap: where does head i begin if each of them is d_k wide?"),
        (
            lambda q, num_heads: torch.stack([q[..., head::num_heads] for head in range(num_heads)], dim=1),
            "Your heads take every num_heads-th column: a head owns columns that lie side by side.",
        ),
        (
            lambda q, num_heads: torch.stack(q.split(num_heads, dim=-1), dim=1),
            "You have d_k heads of num_heads columns: which of the two counts the heads?",
        ),
        (
            lambda q, num_heads: torch.cat(q.split(q.shape[-1] // num_heads, dim=-1), dim=1),
            "Your heads stand below each other on the axis of the words: they need an axis of their own.",
        ),
    ],
    praise="Slices and a new axis do what view and transpose do: each word keeps its row in every head.",
    hints=[
        "How wide is a head, and at which column does head i begin?",
        "The three dots stand for all axes in front: q[..., start:stop] cuts columns only.",
        "Collect the slices in a list. torch.stack(slices, dim=…) makes the new axis: which place has h?",
    ],
    solution="""
def my_cut(q, num_heads):
    d_k = q.shape[-1] // num_heads
    slices = []
    for head in range(num_heads):
        start = head * d_k
        slices.append(q[..., start : start + d_k])  # (b, n, d_k)
    return torch.stack(slices, dim=1)  # h of (b, n, d_k) -> (b, h, n, d_k)
""",
)


def _one_word_late(*place):
    """A wrong split: the rows, or the numbers, of one place come a word too late."""

    def split(q, num_heads):
        heads = split_heads(q, num_heads).clone()
        heads[place] = heads[place].roll(1, dims=-2 if len(place) == 1 else -1)
        return heads

    return split


def _last_head_swapped(q, num_heads):
    heads = split_heads(q, num_heads).clone()
    heads[-1, :2] = heads[-1, :2].flip(0)
    return heads


def _last_words_swapped(q, num_heads):
    return split_heads(torch.cat([q[:-2], q[-2:].flip(0)]), num_heads)


_NUMBERED = torch.arange(24.0).view(4, 6)


def _same(n, num_heads, d_k, part=...):
    """A test: is this part of the split what it should be?"""
    q = torch.arange(float(n * num_heads * d_k)).view(n, -1)
    return lambda split: torch.equal(split(q, num_heads)[part], split_heads(q, num_heads)[part])


def _first_word_moves(split):
    changed = _NUMBERED.clone()
    changed[0] += 1
    moved = (split(_NUMBERED, 3) != split(changed, 3)).any(dim=-1)  # (h, n, d_k) -> (h, n)
    return torch.equal(moved, (torch.arange(4) == 0).expand(3, 4))


_ONE_HEAD = "Only one of its heads is scrambled: does your test look at all of them?"
_SWAPPED = "Two words have changed places, and the others are right: does your test look at each word?"

scramble_test = TestExercise(
    "8.3",
    "Write the test that catches a scramble",
    stars=2,
    minutes=8,
    candidates=[
        ("view, then transpose", lambda q, h: q.reshape(len(q), h, -1).transpose(0, 1), True),
        ("slices, stacked", lambda q, h: torch.stack(q.chunk(h, dim=-1)), True),
        ("view only", lambda q, h: q.reshape(h, len(q), -1), False, "Its shape is right: compare numbers."),
        ("transpose, then view", lambda q, h: q.mT.reshape(h, len(q), -1), False, "Try a d_k above 1."),
        ("view (h, d_k, n), then transpose", lambda q, h: q.reshape(h, -1, len(q)).mT, False),
        ("first head one word late", _one_word_late(0), False, _ONE_HEAD),
        ("last head one word late", _one_word_late(-1), False, _ONE_HEAD),
        ("two words swapped in the last head", _last_head_swapped, False, _ONE_HEAD),
        ("words in reverse order", lambda q, h: split_heads(q.flip(0), h), False, _SWAPPED),
        ("last two words swapped", _last_words_swapped, False, _SWAPPED),
        ("last number of each head one word late", _one_word_late(..., -1), False),
        ("heads in reverse order", lambda q, h: split_heads(q, h).flip(0), False),
    ],
    times=2,
    task="""
    Somebody hands you a function `split(q, num_heads)`, (n, h·d_k) → (h, n, d_k). Choose an input, call it,
    and return `True` if every number is where it belongs, else `False`. The check hands your test
    twelve such functions, two of which are right.
    """,
    stub="""
def my_test(split):
    # split(q, num_heads) -> (h, n, d_k)
    ...
""",
    mistakes=[
        (
            lambda split: split(_NUMBERED, 3).shape == (3, 4, 2),
            "Your test sees only the shape, and all twelve have the right one: compare different numbers.",
        ),
        (_same(4, 1, 6), "Your test cuts into one head, where even view alone is right: take two or more."),
        (_same(1, 3, 4), "Your test has one word, and one word cannot be mixed up: take two or more."),
        (_same(4, 3, 1), "Your heads are one number wide, and some scrambles do not show: try two."),
        (_same(4, 3, 2, 0), "Your test looks at the first head only, and another may be scrambled."),
        (_same(4, 3, 2, (..., 0)), "Your test looks at the first number of each row only."),
        (_same(4, 3, 2, (slice(None), 0)), "Your test looks at the first word only: where are the others?"),
        (_first_word_moves, "Your test changes one word. Two others may still have changed places."),
    ],
    praise="Numbers that all differ, more than one word, head and feature: now no right shape can fool you.",
    hints=[
        "Make a small table whose numbers all differ, with torch.arange. Take more than one word, head, d_k.",
        "You know where each number belongs: exercise 8.1 asked for it. Which slice of q must heads[i] be?",
        "Compare every head with its slice, and return False at the first that differs.",
    ],
    solution="""
def my_test(split):
    n, num_heads, d_k = 4, 3, 2
    q = torch.arange(24).view(n, num_heads * d_k)
    heads = split(q, num_heads)  # (n, h·d_k) -> (h, n, d_k)
    for head in range(num_heads):
        own_columns = q[:, head * d_k : (head + 1) * d_k]
        if not torch.equal(heads[head], own_columns):
            return False
    return True
""",
)
