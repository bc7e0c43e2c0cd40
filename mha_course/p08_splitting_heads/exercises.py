"""The exercises of page 08: which number goes where, a cut from slices, a test that catches a scramble."""

import torch

from mha_course.exercises import FunctionExercise, TestExercise, ValueExercise, case, changes, numbers
from mha_course.exercises.relations import counted
from mha_course.exercises.running import run, same_outcome
from mha_helpers import golden_example, split_heads


def _held_there(indices, right):
    if len(indices) == 3 and (indices == indices.round()).all():
        head, word, number = map(int, indices)
        if not (0 <= head < 3 and 0 <= word < 6 and 0 <= number < 4):
            return "does not exist: there are 3 heads, 6 words and 4 numbers, counted from 0"
        after_transpose, view_only = (word, 4 * head + number), divmod(24 * head + 4 * word + number, 12)
        row, column = after_transpose if right[0] == 2 else view_only
        return f"is where q[{row}, {column}] stands, not q[1, 9]"


where_it_goes = ValueExercise(
    "8.1 ★ · 5 min · Where does this number go?",
    task="""
    `q` has 6 words and 12 columns, cut into 3 heads of 4. Answers are Python indices, counted from 0.

    - **columns**: which columns of `q` does `q_heads[1]` hold?
    - **after transpose**: at which three indices of `q_heads` is the number `q[1, 9]`?
    - **view only**: at which of `q.view(3, 6, 4)`?
    """,
    stub="""
indices = {
    "columns": ...,  # a list
    "after transpose": ...,  # (head, word, number)
    "view only": ...,  # (head, word, number)
}
""",
    describe=_held_there,
    mistakes=[
        ({"columns": [0, 1, 2, 3]}, "“columns” are those of the first head: `q_heads[1]` is the next one."),
        ({"columns": [5, 6, 7, 8]}, "“columns” are off by one: Python counts columns from 0."),
        ({"columns": [4, 5, 6, 7, 8]}, "“columns” has one too many: is the stop of a slice inside it?"),
        ({"columns": [4, 8]}, "“columns” are the start and the stop: which columns lie between?"),
        ({"columns": [3, 4, 5]}, "“columns” are three: how many of 12 columns has each of 3 heads?"),
        ({"columns": [1, 4, 7, 10]}, "“columns” are apart: are a head's columns neighbours?"),
        ({"after transpose": (0, 5, 1)}, "“after transpose” is where `view(3, 6, 4)` alone puts it."),
        ({"after transpose": (1, 2, 1)}, "“after transpose” is where `view` puts it: which step comes next?"),
        ({"view only": (2, 1, 1)}, "“view only” is where `transpose` puts it: what comes before it in q?"),
    ],
    praise="21 numbers come before it in memory, so the wrong way calls it a number of the sixth word.",
    hints=[
        "Head 0 owns the first four columns, the next head the next four.",
        "Column 9: which head owns it, and which of its four columns is it? The word stays the same.",
        "`view` fills (3, 6, 4) in the order in which q is read. 12 + 9 numbers come before q[1, 9];"
        " a head takes 6 · 4 of them, and a row of a head takes 4.",
    ],
    solution="""
indices = {
    "columns": [4, 5, 6, 7],
    "after transpose": (9 // 4, 1, 9 % 4),  # column 9 = 2 · 4 + 1
    "view only": (21 // 24, 21 // 4, 21 % 4),  # 21 numbers before it; a head holds 24, a row 4
}
""",
)

cut_from_slices = FunctionExercise(
    "8.2 ★★ · 9 min · The cut without view",
    cases=lambda: [
        case(numbers(2, 5, 12), 4, label="with two sentences of five words"),
        case(numbers(3, 4, 10), 2, label="with two heads"),
        case((golden_example().x @ golden_example().w_q)[None], 3, label="with “cat eats fish”"),
        case(numbers(4, 3, 6), 1, label="with one head"),
        case(numbers(1, 1, 2), 2, label="with one word and d_k = 1"),
    ],
    without=(  # the relatives of view
        *("view", "reshape", "unflatten", "transpose", "permute", "swapaxes", "swapdims", "movedim"),
        *("moveaxis", "as_strided", "view_as", "reshape_as", "unfold", "einsum", "split_heads"),
        *("mT", "mH", "T", "H", "t", "adjoint"),
    ),
    axes=("sentence", "head", "word", "number"),
    task="""
    A colleague does not trust `view` and `transpose`. Write the cut for a batch, (b, n, h·d_k) →
    (b, h, n, d_k), without them or their relatives, from slices such as `q[..., 2:4]`, columns 2 and 3
    of every word.
    """,
    mistakes=changes("""
        start = head * d_k => start = head => start = head * num_heads
        Your heads overlap, or leave a gap: at which column does head i begin?
        q.shape[-1] // num_heads => 2
        Your heads are two columns wide, like the slice in the task: how wide are they for any q?
        start = head * d_k => start = head * num_heads
        start + d_k => start + num_heads
        You take num_heads for the width of a head: what does it count?
        start + d_k => start + d_k - 1
        The last column of every head is missing: is the stop of a slice inside it?
        start : start + d_k => head::num_heads
        Your heads take every num_heads-th column: a head owns columns that lie side by side.
        d_k = q.shape[-1] // num_heads => d_k, num_heads = num_heads, q.shape[-1] // num_heads
        You have d_k heads of num_heads columns: which of the two counts the heads?
        q[..., start : start + d_k] => q[:, start : start + d_k]
        You cut words: in q[:, start:stop] which axis is cut?
        torch.stack(slices, dim=1) => torch.cat(slices, dim=-1)
        The slices are side by side again, as they were in q: they need an axis of their own.
        torch.stack(slices, dim=1) => q.reshape(len(q), num_heads, q.shape[1], d_k)
        reshape alone cuts through the words: whose numbers has the first row of your first head?
        torch.stack => torch.cat
        Your heads are stacked along the axis of words: they need an axis of their own.
    """),
    praise="Slices and a new axis do what view and transpose do: each word keeps its row in every head.",
    hints=[
        "How wide is a head, and at which column does head i begin?",
        "The three dots stand for all axes in front: q[..., start:stop] cuts columns only.",
        "Collect the slices in a list. torch.stack(slices, dim=…) makes the new axis: where does h belong?",
    ],
    solution="""
def my_cut(q, num_heads):
    # (b, n, h·d_k) -> (b, h, n, d_k)
    d_k = q.shape[-1] // num_heads
    slices = []
    for head in range(num_heads):
        start = head * d_k
        slices.append(q[..., start : start + d_k])  # (b, n, d_k)
    return torch.stack(slices, dim=1)  # h of (b, n, d_k) -> (b, h, n, d_k)
""",
)


class ScrambleTest(TestExercise):
    """Says whether its input could tell splits apart, and which number a test does not look at."""

    def _small_faults(self, test):
        """Two axes are one, or one number is that of the next word, each in turn."""
        words = "A split passes your test that returns two axes, not three: do you look at the shape?"
        yield lambda q, num_heads: split_heads(q, num_heads).flatten(1), words
        handed = self._handed(test)
        shapes = {q.shape for q, _ in handed}
        met = [torch.stack([q.flatten() for q, _ in handed if q.shape == shape]) for shape in shapes]
        counts = [(each.unique(dim=1).shape[1], each.shape[1]) for each in met]  # by each place
        if all(2 * different < count for different, count in counts):
            different, count = counts[0]
            numbers = f"{count} numbers of your q only {different} are different"
            yield split_heads, f"Of the {numbers}: could you see two equal ones change places?"
        shape = split_heads(*handed[0]).shape
        for number in range(min(shape.numel(), 200)):

            def split(q, num_heads, number=number):
                heads = split_heads(q, num_heads)
                flat, wrong = heads.flatten(), number % heads.numel()
                flat[wrong] = heads.flatten()[(wrong + heads.shape[-1]) % heads.numel()]
                if torch.equal(flat.view_as(heads), heads):
                    raise ValueError("nothing has changed")
                return flat.view_as(heads)

            head, word, _ = (index + 1 for index in torch.unravel_index(torch.tensor(number), shape))
            one = f"one number of word {word} in head {head} belongs to another word"
            yield split, f"A split passes your test in which {one}: do you compare all of them?"

    def _slip(self, test, verdicts, candidate):
        handed = self._handed(test)
        if not any(verdicts) and len(handed) == 1:
            sizes = f"a q {tuple(handed[0][0].shape)} and num_heads = {handed[0][1]}"
            return f"Your test hands over {sizes}, and says False of the right cut, too: what does it expect?"
        if all(verdicts) and all(len(q.unique()) == 1 for q, _ in handed):
            return "All numbers of your q are the same: could you see two of them change places?"
        pairs = ([run(split, args) for split in (candidate.function, split_heads)] for args in handed)
        if not candidate.is_right and all(same_outcome(*pair) for pair in pairs):
            (q, heads), *_ = handed
            tried = f"{counted(len(q), 'word')} and {counted(heads, 'head')}"
            return f"“{candidate.name}” is right on all you try, such as {tried}: {candidate.fact}"


scramble_test = ScrambleTest(
    "8.3 ★★ · 10 min · Write the test that catches a scramble",
    times=2,
    code="""
def split(q, num_heads):
    if q.dim() != 2:
        raise ValueError(f"q is (n, h·d_k); this one is {tuple(q.shape)}")
    n, h, d_k = len(q), num_heads, q.shape[-1] // num_heads
    heads = q.reshape(n, h, d_k).transpose(0, 1)
    return heads
""",
    right="""
    view, then transpose: it is the cut of this page.
    q.reshape(n, h, d_k).transpose(0, 1) => torch.stack(q.chunk(h, dim=-1))
    slices, stacked: it has the same numbers, in memory of its own.
    """,
    wrong="""
    (n, h, d_k).transpose(0, 1) => (h, n, d_k)
    view only: its shape and its numbers as a whole are right, but its heads mix numbers of several words.
    q.reshape(n, h, d_k).transpose(0, 1) => q.mT.reshape(h, n, d_k)
    transpose, then view: its heads hold their own numbers, in wrong positions unless d_k or n is 1.
    (n, h, d_k).transpose(0, 1) => (h, d_k, n).mT
    view (h, d_k, n), then transpose: its heads hold numbers from several words.
    (n, h, d_k).transpose(0, 1) => (h, n, d_k).transpose(0, 1).reshape(h, n, d_k)
    view (h, n, d_k), then transpose: it is right only with as many words as heads, or with one of either.
    q.reshape(n, h, d_k).transpose(0, 1) => torch.stack(q.chunk(d_k, dim=-1)).reshape(h, n, d_k)
    d_k heads of h numbers: it is right only where d_k is the number of heads, or one of the two is 1.
    return heads => return heads.flip(1)
    words in reverse order: each row of a head is right, and the last comes first.
    return heads => return heads.flip(-1)
    numbers of each head in reverse order: each row of a head has its own numbers, the last first.
    return heads => return heads.flip(0)
    heads in reverse order: each head is right, the last first, so the middle one stays in its place.
    """,
    task="""
    Somebody hands you a function `split(q, num_heads)`, (n, h·d_k) → (h, n, d_k). Choose an input, call it,
    and return `True` if every number is where it belongs, else `False`. The check hands your test
    many such functions, two of which are right.
    """,
    mistakes=changes("""
        (heads[head], own_columns) => (heads[head].sum(), own_columns.sum())
        Wrong splits pass if they give each head its own numbers: do you check where each number stands?
        q[:, head * d_k : (head + 1) * d_k] => q.view(num_heads, n, d_k)[head]
        Your test accepts what `view` alone gives: which numbers does each of its heads hold?
    """),
    praise="Numbers that all differ, and three sizes above 1 that differ: no shape hides a wrong split then.",
    hints=[
        "Make a small table whose numbers all differ, with torch.arange. Make no axis size 1.",
        "You know where each number belongs: exercise 8.1 asked for it. Which slice of q must heads[i] be?",
        "Compare every head with its slice, and return False at the first that differs.",
    ],
    solution="""
def my_test(split):
    # split(q, num_heads) -> (h, n, d_k)
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
