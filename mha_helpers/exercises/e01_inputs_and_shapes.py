"""The exercises of notebook 01: shapes, look-up and positions, bytes, a batch in the wrong order."""

import torch

from mha_helpers.exercises.framework import Mistake
from mha_helpers.exercises.functions import FunctionExercise
from mha_helpers.exercises.running import case, numbers
from mha_helpers.exercises.values import ChoiceExercise, ValueExercise

shape_of_a_batch = ValueExercise(
    "1.1",
    "The shape of a batch",
    stars=1,
    minutes=2,
    variable="shape",
    answer=(8, 20, 64),
    mistakes=[
        Mistake(
            "tokens before sentences",
            (20, 8, 64),
            "These are the right three numbers, with tokens before sentences. Which axis comes first here?",
        ),
        Mistake(
            "features before tokens",
            (8, 64, 20),
            "These are the right three numbers, with features before tokens. One token is one row: what does"
            " the last axis count?",
        ),
        Mistake(
            "features first",
            (64, 8, 20),
            "These are the right three numbers, with features first. Read the shape from outside in:"
            " which sentence, which token, which feature.",
        ),
        Mistake(
            "one long sentence",
            (160, 64),
            "That puts all sentences into one. How does attention then know where a sentence ends?",
        ),
        Mistake("one sentence", (20, 64), "That is one sentence. The batch has an axis of its own."),
    ],
    praise="Sentences, tokens, features: this order holds through the whole course.",
    hints=[
        "The axes are (b, n, d_model): sentences, tokens, numbers for each token.",
        "Write the three numbers of the text in that order, in brackets.",
    ],
    solution="""
shape = (8, 20, 64)  # (b, n, d_model)
""",
)


def _tokens_to_x(token_ids, table, positions):
    return table[token_ids] + positions[: token_ids.shape[-1]]


def _no_positions(token_ids, table, positions):
    return table[token_ids]


def _position_by_id(token_ids, table, positions):
    return table[token_ids] + positions[token_ids % len(positions)]


def _first_position_only(token_ids, table, positions):
    return table[token_ids] + positions[0]


def _last_positions(token_ids, table, positions):
    return table[token_ids] + positions[-token_ids.shape[-1] :]


def _multiplied(token_ids, table, positions):
    return table[token_ids] * positions[: token_ids.shape[-1]]


def _concatenated(token_ids, table, positions):
    words = table[token_ids]
    return torch.cat([words, positions[: token_ids.shape[-1]].expand_as(words)], dim=-1)


def _loop_over_the_first_axis(token_ids, table, positions):
    return torch.stack([table[word] + positions[place] for place, word in enumerate(token_ids)])


def _rows_in_order(token_ids, table, positions):
    n = token_ids.shape[-1]
    return (table[:n] + positions[:n]).expand(*token_ids.shape, -1)


def _cases():
    return [
        case(
            torch.tensor([0, 1, 2]),
            torch.tensor([[2.0, 0, 0], [0, 1, 0], [1, 0, 2]]),
            numbers(5, 3, name="positions"),
        ),
        case(
            torch.tensor([4, 4, 1, 0]),
            numbers(7, 6),
            numbers(9, 6, name="positions"),
        ),
        case(
            torch.tensor([[3, 1, 6, 6, 0], [5, 5, 2, 0, 1]]),
            numbers(7, 4),
            numbers(8, 4, name="positions"),
        ),
        case(torch.tensor([[[1, 0, 4], [2, 2, 3]]]), numbers(5, 4), numbers(6, 4, name="positions")),
    ]


tokens_to_x = FunctionExercise(
    "1.2",
    "From token numbers to x",
    stars=2,
    minutes=5,
    variable="tokens_to_x",
    reference=_tokens_to_x,
    cases=_cases,
    mistakes=[
        Mistake(
            "no positions",
            _no_positions,
            "These are the word vectors alone. Without positions, the same word looks the same everywhere.",
        ),
        Mistake(
            "position by word",
            _position_by_id,
            "The positions are picked by the number of the word. A position belongs to a place in the"
            " sentence, whichever word stands there.",
        ),
        Mistake(
            "first position only",
            _first_position_only,
            "Every token got the position of the first place. The second token needs the second row.",
        ),
        Mistake(
            "last positions",
            _last_positions,
            "These are the last rows of positions. A short sentence starts at the first place.",
        ),
        Mistake(
            "loop over the first axis",
            _loop_over_the_first_axis,
            "Your loop goes over the first axis. With several sentences that axis counts sentences; places"
            " are on the last one.",
        ),
        Mistake(
            "as many places as sentences",
            lambda token_ids, table, positions: table[token_ids] + positions[: len(token_ids)],
            "len(token_ids) and shape[0] count the first axis: with several sentences, that is sentences.",
        ),
        Mistake(
            "words times √d_model",
            lambda token_ids, table, positions: (
                table[token_ids] * table.shape[-1] ** 0.5 + positions[: token_ids.shape[-1]]
            ),
            "The words are multiplied by √d_model, as the paper does as well: here they are added as they"
            " are.",
        ),
        Mistake(
            "counted from 1",
            lambda token_ids, table, positions: table[token_ids] + positions[1 : token_ids.shape[-1] + 1],
            "The first token got the second row of positions: from which number are rows counted?",
        ),
        Mistake(
            "number of the place",
            lambda token_ids, table, positions: table[token_ids] + torch.arange(token_ids.shape[-1])[:, None],
            "You add the number of the place itself: positions holds a row of d_model numbers for each"
            " place.",
        ),
        Mistake(
            "multiplied", _multiplied, "Words and positions are multiplied here. They are meant to be added."
        ),
        Mistake(
            "concatenated",
            _concatenated,
            "Words and positions stand side by side here, so d_model doubled. They are meant to be added.",
        ),
        Mistake(
            "rows in order",
            _rows_in_order,
            "These are the first rows of the table, whatever the sentence says. Pick the rows by token_ids.",
        ),
    ],
    praise="This is the input of the paper's Transformer: one row for each token, plus one for each place.",
    hints=[
        "A tensor can be indexed with a tensor of whole numbers: it picks a row for each of them.",
        "The rows you picked have shape (…, n, d_model). How many rows of positions fit them?",
        "n is the size of the last axis of token_ids. Take that many rows of positions from the top.",
    ],
    solution="""
def tokens_to_x(token_ids, table, positions):
    n = token_ids.shape[-1]
    words = table[token_ids]  # (..., n) -> (..., n, d_model)
    return words + positions[:n]  # (..., n, d_model) + (n, d_model) -> (..., n, d_model)
""",
)

bytes_of_a_batch = ValueExercise(
    "1.3",
    "How many bytes",
    stars=2,
    minutes=3,
    variable="number_of_bytes",
    answer=32 * 100 * 512 * 2,
    mistakes=[
        Mistake(
            "numbers, not bytes", 32 * 100 * 512, "That counts the numbers. Each of them takes some bytes."
        ),
        Mistake("float32", 32 * 100 * 512 * 4, "That is right for float32. How many bits has a float16?"),
        Mistake("bits", 32 * 100 * 512 * 16, "That counts bits. How many bits are in one byte?"),
        Mistake(
            "kB of 1000",
            32 * 100 * 512 * 2 / 1000,
            "That is in kB. The question asks for bytes, all of them.",
        ),
        Mistake(
            "kB, of 1024",
            32 * 100 * 512 * 2 / 1024,
            "That is in kB of 1024 bytes. The question asks for bytes.",
        ),
        Mistake(
            "bits to bytes the wrong way",
            32 * 100 * 512 * 16 * 8,
            "You multiply bits by 8: which is more, the number of bits or of bytes?",
        ),
        Mistake("one sentence", 100 * 512 * 2, "That is one sentence. The batch holds 32."),
        Mistake(
            "added",
            (32 + 100 + 512) * 2,
            "That adds the sizes of the axes. A block holds length times width times height numbers.",
        ),
    ],
    praise="A batch of this size is about 3 MB: small. Page 03 shows what grows much faster.",
    hints=[
        "First count the numbers: multiply the three sizes.",
        "A float16 has 16 bits. 8 bits make one byte.",
    ],
    solution="""
number_of_bytes = 32 * 100 * 512 * 2  # float16: 2 bytes for each number
""",
)

axes_mixed_up = ChoiceExercise(
    "1.4",
    "Who attends to whom?",
    stars=3,
    minutes=5,
    variable="answer",
    answer="c",
    wrong={
        "a": "Read the weights again: there are 16 tables of 4 × 4. A sentence has 16 tokens, so what are"
        " the 4?",
        "b": "Heads would stand on the axis before the last two, and they are averaged here. Each table has"
        " 4 rows and 4 columns: what do they stand for?",
        "d": "A module cannot know what your axes mean: it read them in its own order, without an error.",
    },
    otherwise="Answer with one of the letters 'a', 'b', 'c' or 'd'.",
    praise="The module took the 4 sentences for 4 tokens. No shape of the output tells; the shape of the"
    " weights does.",
    hints=[
        "The weights have shape (16, 4, 4). The last two axes are always queries and keys.",
        "So 4 things attend to 4 things. Which 4 things are there in x of shape (4, 16, 512)?",
    ],
    solution="""
answer = "c"  # (16, 4, 4): the 4 sentences attend to each other, at each of the 16 places
""",
)
