"""The exercises of page 01: what order is made of, from token numbers to x, axes in the wrong place."""

import torch

from mha_course.exercises import FunctionExercise, ValueExercise, case, changes, numbers

_SAME_WORDS = "has the same words in another order: which of its rows would differ without positions?"

without_positions = ValueExercise(
    "1.1 ★ · 3 min · What can be told apart without positions?",
    task="""
    A model adds no positions: x comes from the word table alone. For which of these pairs does it
    get **the same rows**, perhaps in another order? Answer with a set of letters, such as `{"b", "d"}`.

    - **a** “dog bites man” and “man bites dog”
    - **b** “cat eats fish” and “cat eats cat”
    - **c** “not good but cheap” and “cheap but not good”
    - **d** “the cat” and “cat”
    """,
    mistakes=[
        ({"b", "d"}, "These pairs can be told apart: which pairs does the task ask for?"),
        ("b", "In pair b one sentence has the row of “cat” twice: does the other?"),
        ("d", "In pair d one sentence has one more row. Can two rows be the same as one?"),
        ("a", f"Pair a {_SAME_WORDS}"),
        ("c", f"Pair c {_SAME_WORDS}"),
    ],
    praise="Without positions, and without a mask such as page 05's, a sentence is a bag of words.",
    hints=[
        "Each word gives one row, and the row depends on the word only. Write them down.",
        "Sentences with the same word counts give the same rows.",
    ],
    solution='same_rows = {"a", "c"}',
)

_TABLES = numbers(5, 4), numbers(7, 4, seed=1)
_ONE, _FOUR = torch.tensor([3, 0, 3]), torch.tensor([[4, 1], [0, 2], [1, 1], [2, 0]])  # sentences
_TWO_AXES = torch.tensor([[[3, 0, 2, 4], [1, 1, 0, 3]]])  # as long as the table of positions
_OF_ONE = changes("""
    positions[:n] => positions[-n:] => positions[:n].flip(0)
    You take positions from the end: with which of them does a sentence begin?
    table[token_ids] + positions[:n] => torch.cat([table[token_ids], positions[:n]], -1)
    Word and position lie side by side: how many numbers should a row have, and how do two become one?
    ] + => ] * => ] - => ] + positions[:n] +
    You multiply the two, subtract one, or add it twice: how does the page join them?
""")

tokens_to_x = FunctionExercise(
    "1.2 ★★ · 7 min · From token numbers to x",
    cases=lambda: [
        case(_ONE, *_TABLES, label="with more positions in the table than tokens", mistakes=_OF_ONE),
        case(_FOUR, *_TABLES, label="with four sentences of two tokens"),
        case(_TWO_AXES, numbers(6, 3), numbers(4, 3, seed=1), label="with two axes in front"),
        case(torch.tensor([[2]]), numbers(5, 1), numbers(7, 1, seed=1), label="with one token, d_model = 1"),
    ],
    task="""
    In a real model every token has a number, and `table` has one row for each number. Write the step from
    token numbers `(…, n)` to x `(…, n, d_model)`; the dots stand for any axes in front, or none. A tensor of
    numbers picks rows as the list in `words[[2, 1, 0]]` does. `positions` has a row for each position, and
    usually more rows than your sentence needs.
    """,
    axes=("sentence", "token", "feature"),
    mistakes=changes("""
        positions[:n] => positions[token_ids]
        You look up the positions by the number of the word. What says where a word stands?
        table[token_ids] => table[:n]
        You take the first rows of `table`: which rows do the token numbers name?
        positions[:n] => positions
        You take all rows of `positions`: how many does a sentence need?
        positions[:n] => positions[1 : n + 1]
        Every position is one too late: which one comes first?
        positions[:n] => positions[0]
        All tokens get row 0: which row belongs to the second token?
        shape[-1] => shape[0]
        You take as many positions as there are sentences: which axis counts the tokens of one?
        shape[-1] => shape[0]
        positions[:n] => positions[:n].reshape(-1, *[1] * (token_ids.dim() - 1), table.shape[1])
        All tokens of a sentence get one position, that of the sentence: which axis counts the tokens?
        + positions[:n] => + 0
        The words are right. Where are their positions?
        table[token_ids] + => table[token_ids] * table.shape[-1] ** 0.5 +
        You multiply by √d_model, as some models do: does this page?
        table[token_ids] + positions[:n] => table.T[token_ids]
        You transpose `table`: does a token have a row of it, or a column?
        table[token_ids] => table[token_ids - 1]
        You count from 1: which row has the number 0?
    """),
    praise="The way from token numbers to x. In papers table[token_ids] is the embedding of the tokens.",
    hints=[
        "A table indexed by a tensor of numbers gives one row for each number: table[token_ids].",
        "A sentence of n tokens uses the first n positions. The number of tokens is token_ids.shape[-1].",
    ],
    solution="""
def tokens_to_x(token_ids, table, positions):
    # tensors: (…, n) -> (…, n, d_model)
    n = token_ids.shape[-1]
    return table[token_ids] + positions[:n]  # (..., n, d_model) + (n, d_model) -> (..., n, d_model)
""",
)

axes_mixed_up = ValueExercise(
    "1.3 ★★ · 5 min · Who looks at whom?",
    describe=lambda shape, _: "holds {:g} tables of {:g} × {:g}: how many, of what by what?".format(*shape),
    task="""
    A colleague has 5 sentences of 7 tokens, d_model = 64, and forgets `batch_first=True`, as above. What
    shape are her weights? And what looks at what: do `"tokens"`, `"sentences"`, `"heads"` or `"features"`
    look at each other?
    """,
    mistakes=[
        ({"shape": (5, 7, 7)}, "“shape” is what she should have got. Which axis does her module take for n?"),
        ({"shape": (5, 5)}, "“shape” is that of one table: how many are there, one for each of what?"),
        ({"shape": (5, 7, 64)}, "“shape” is that of her x: what do rows and columns of weights stand for?"),
        ({"shape": (7, 8, 5, 5)}, "“shape” has an axis for heads, but the module averages their weights."),
        ({"look at each other": "tokens"}, "“tokens” should, but don't: which size appears twice?"),
        ({"look at each other": "heads"}, "“heads” have been averaged away by the module."),
        ({"look at each other": "features"}, "“features” are added up in each score. What are there 5 of?"),
    ],
    praise="The third words of all sentences have looked at each other, and nothing raised an error.",
    hints=[
        "Without batch_first the module reads the first axis as tokens and the second as sentences.",
        "It makes one table for each “sentence” it sees, and the table's rows and columns are its “tokens”.",
    ],
    solution="""
mix_up = {
    "shape": (7, 5, 5),  # for each of the 7 positions, 5 sentences look at 5 sentences
    "look at each other": "sentences",
}
""",
)
