"""The exercises of notebook 10: where to look, two measurements of a head, what switching off shows."""

import torch

from mha_helpers.attention import merge_heads
from mha_helpers.exercises.framework import Mistake
from mha_helpers.exercises.functions import FunctionExercise
from mha_helpers.exercises.mistakes import pick
from mha_helpers.exercises.running import case, numbers
from mha_helpers.exercises.values import ChoiceExercise

where_to_look = ChoiceExercise(
    "10.1",
    "Where must it look?",
    stars=1,
    minutes=3,
    variable="places",
    answer=frozenset({1, 5}),
    wrong={
        frozenset({0, 4}): "Those are the earlier copies themselves. They say K again; what came after them?",
        frozenset({1}): "Place 1 is right, and it is not the only one: how many earlier K are there?",
        frozenset({5}): "Place 5 is right: it comes after the nearest copy of K. Is there an earlier copy?",
        frozenset({1, 5, 9}): "Place 9 is what the model is to guess: it is not in the line yet.",
        frozenset({7}): "Place 7 is the letter before. What came after the earlier copies of K?",
        frozenset({3, 7}): "Those are the letters before each K. What came after the earlier copies?",
        frozenset({2, 6}): "That counts from 1. Python counts places from 0.",
        frozenset(
            {0, 4, 8}
        ): "Those are all copies of K, the query among them. What came after the earlier ones?",
    },
    otherwise="Find the earlier copies of the query's letter first. The letter after each is what to copy.",
    praise="One place after each earlier copy: the letter there is what comes next.",
    hints=[
        "The query is the K at place 8. At which earlier places does a K stand?",
        "The model needs the letter that came after each of these, so one place further.",
    ],
    solution="""
places = {1, 5}  # K stands at 0 and 4; W comes after it at 1 and 5
""",
)


def _weights(*shape, name):
    scores = 2 * numbers(*shape, name=name)
    n = shape[-1]
    return torch.softmax(scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf), dim=-1)


def _previous(weights):
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=-1)


def _wrapped_around(weights):
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).sum(dim=-1) + weights[..., 0, -1]


previous_letter_score = FunctionExercise(
    "10.2",
    "Score a head: the previous letter",
    stars=2,
    minutes=6,
    variable="my_previous_score",
    reference=_previous,
    cases=lambda: [
        case(_weights(4, 24, 24, name="heads")),
        case(_weights(3, 5, 5, name="few")),
        case(_weights(2, 3, 7, 7, name="batch")),
        # Without a mask key −1, which a loop reads for query 0, weighs something.
        case(torch.softmax(numbers(2, 5, 5, name="no mask"), dim=-1)),
    ],
    mistakes=[
        *(
            Mistake(
                f"wrapped around, divided by n − {less}",
                lambda weights, less=less: _wrapped_around(weights) / (weights.shape[-1] - less),
                "At query 0 you read key −1, which is the last one: the first letter has no previous one.",
            )
            for less in (0, 1)
        ),
        Mistake(
            "main diagonal",
            lambda weights: weights.diagonal(dim1=-2, dim2=-1).mean(dim=-1),
            "That is the weight of each letter on itself. The previous letter is one column to the left.",
        ),
        Mistake(
            "main diagonal without its first",
            lambda weights: weights.diagonal(dim1=-2, dim2=-1)[..., 1:].mean(dim=-1),
            "That is the weight of each letter on itself, without the first. Which column is to the left?",
        ),
        Mistake(
            "next letter",
            lambda weights: weights.diagonal(offset=1, dim1=-2, dim2=-1).mean(dim=-1),
            "That is the weight on the next letter, which the mask keeps at 0. Rows are queries: on which"
            " side of the diagonal is the past?",
        ),
        Mistake(
            "two back",
            lambda weights: weights.diagonal(offset=-2, dim1=-2, dim2=-1).mean(dim=-1),
            "That is the weight two letters back. How far from the diagonal is the previous letter?",
        ),
        Mistake(
            "divided by n",
            lambda weights: weights.diagonal(offset=-1, dim1=-2, dim2=-1).sum(dim=-1) / weights.shape[-1],
            "You divide by n. The first letter has no previous one: how many queries are left?",
        ),
        Mistake(
            "sum",
            lambda weights: weights.diagonal(offset=-1, dim1=-2, dim2=-1).sum(dim=-1),
            "That is the sum over the queries. The score is their average, a number from 0 to 1.",
        ),
        Mistake(
            "without the average",
            lambda weights: weights.diagonal(offset=-1, dim1=-2, dim2=-1),
            "Those are the right weights, one for each query. One step is left: one number for each head.",
        ),
        Mistake(
            "all heads together",
            lambda weights: weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(),
            "That is one number for all heads together. Average over the queries alone.",
        ),
        Mistake(
            "diagonal of the first two axes",
            lambda weights: weights.diagonal(offset=-1).mean(dim=-1),
            "Without dim1=-2, dim2=-1 the diagonal runs through the first two axes, heads and queries.",
        ),
        Mistake(
            "share of queries whose largest weight it is",
            lambda weights: (
                (weights.argmax(dim=-1)[..., 1:] == torch.arange(weights.shape[-1] - 1)).float().mean(dim=-1)
            ),
            "You count how often the previous letter gets most. The score is how much weight it gets.",
        ),
    ],
    praise="A picture became a number, so 8 heads, or 800, can be compared.",
    hints=[
        "For query i the previous letter is key i − 1. These cells lie right below the diagonal.",
        "weights.diagonal(offset=…, dim1=-2, dim2=-1) takes them out; a negative offset lies below.",
        "The result has one weight for each query but the first: average over the last axis.",
    ],
    solution="""
def my_previous_score(weights):
    below = weights.diagonal(offset=-1, dim1=-2, dim2=-1)  # (…, h, n, n) -> (…, h, n - 1)
    return below.mean(dim=-1)  # (…, h, n - 1) -> (…, h)
""",
)


def _off(heads, head):
    kept = heads.clone()
    kept[..., head, :, :] = 0
    return kept


def _without(heads, w_o, head):
    return merge_heads(_off(heads, head)) @ w_o


def _with_columns_off(heads, w_o, head):
    size = heads.shape[-1]
    kept = w_o.clone()
    kept[:, head * size : (head + 1) * size] = 0
    return merge_heads(heads) @ kept


def _interleaved(heads, w_o, head):
    concat = merge_heads(heads).clone()
    concat[..., head :: heads.shape[-3]] = 0
    return concat @ w_o


def _one_column(heads, w_o, head):
    concat = merge_heads(heads).clone()
    concat[..., head] = 0
    return concat @ w_o


def _one_token(heads, w_o, head):
    kept = heads.clone()
    kept[..., head, :] = 0
    return merge_heads(kept) @ w_o


def _one_sentence(heads, w_o, head):
    kept = heads.clone()
    kept[head] = 0
    return merge_heads(kept) @ w_o


def _off_from(heads, first, width):
    concat = merge_heads(heads).clone()
    concat[..., first : first + width] = 0
    return concat


def _one_number(heads, w_o, head):
    kept = heads.clone()
    kept[..., head] = 0
    return merge_heads(kept) @ w_o


def _counted_from_1(heads, w_o, head):
    return _without(heads, w_o, head - 1)


def _merged_without_transpose(heads, w_o, head):
    b, h, n, d_v = heads.shape
    return _off(heads, head).reshape(b, n, h * d_v) @ w_o


def _averaged(heads, w_o, head):
    kept = heads.clone()
    kept[..., head, :, :] = heads[..., head, :, :].mean(dim=-2, keepdim=True)
    return merge_heads(kept) @ w_o


def _rescaled(heads, w_o, head):
    return _without(heads, w_o, head) * heads.shape[-3] / (heads.shape[-3] - 1)


def _only(heads, w_o, head):
    return merge_heads(heads) @ w_o - _without(heads, w_o, head)


switch_off = FunctionExercise(
    "10.3",
    "Switch one head off",
    stars=2,
    minutes=6,
    variable="without_head",
    reference=_without,
    cases=lambda: [
        case(numbers(1, 4, 24, 8, name="heads"), numbers(32, 32, name="w_o"), 2),
        case(numbers(2, 3, 5, 4, name="heads"), numbers(12, 7, name="w_o"), 1),
        case(numbers(3, 3, 6, 2, name="heads"), numbers(6, 5, name="w_o"), 0),
    ],
    mistakes=[
        Mistake(
            "nothing switched off",
            lambda heads, w_o, head: merge_heads(heads) @ w_o,
            "That is the output with all heads on: what has become of `head`?",
        ),
        Mistake(
            "only this head",
            _only,
            "That is what this head adds, alone. Switched off means: everything but that.",
        ),
        Mistake(
            "columns of w_o",
            _with_columns_off,
            "You set features of the output to 0, or columns of w_o, but all heads write into a feature. What"
            " of w_o belongs to one head alone?",
        ),
        Mistake(
            "every h-th feature",
            _interleaved,
            "You set every h-th feature to 0. The features of one head stand side by side.",
        ),
        Mistake(
            "one feature",
            _one_column,
            "You set one feature to 0. A head has d_v of them.",
        ),
        Mistake(
            "one token",
            _one_token,
            "You set a token to 0, in every head. The axes of heads are (b, h, n, d_v): which one is h?",
        ),
        Mistake(
            "one number of each head",
            _one_number,
            "You set one number of every head to 0. The axes of heads are (b, h, n, d_v): which one is h?",
        ),
        Mistake(
            "a sentence",
            _one_sentence,
            "You set a whole sentence to 0. The axes of heads are (b, h, n, d_v): which one is h?",
        ),
        Mistake(
            "taken out",
            lambda heads, w_o, head: merge_heads(heads[:, torch.arange(heads.shape[1]) != head]) @ w_o,
            "You take the head out, so W_O has rows too many: what can a head write that adds nothing?",
        ),
        Mistake(
            "as many features as heads",
            lambda heads, w_o, head: _off_from(heads, head * heads.shape[1], heads.shape[1]) @ w_o,
            "You set as many features to 0 as there are heads: how wide is one head?",
        ),
        Mistake(
            "a block that begins at head",
            lambda heads, w_o, head: _off_from(heads, head, heads.shape[-1]) @ w_o,
            "Your block is as wide as a head, and begins at feature `head`: where does that head begin?",
        ),
        Mistake(
            "W_O transposed",
            lambda heads, w_o, head: merge_heads(_off(heads, head)) @ w_o.T,
            "W_O is turned over: it comes as in the formula, (h·d_v, d_model). What meets its rows?",
        ),
        Mistake(
            "counted from 1",
            _counted_from_1,
            "You switch off the head before it: head counts from 0.",
        ),
        Mistake(
            "merged without transpose",
            _merged_without_transpose,
            "The right head is off, but tokens are scrambled: which step comes before the merge?",
        ),
        Mistake(
            "W_O left out",
            lambda heads, w_o, head: merge_heads(_off(heads, head)),
            "That is the concatenation, with the right head off: W_O is missing.",
        ),
        Mistake(
            "average in its place",
            _averaged,
            "You put the head's average in its place, another way to switch off. Here it writes zeros.",
        ),
        Mistake(
            "others made larger",
            _rescaled,
            "The others became larger to make up for it, as in dropout. Here they stay as they are.",
        ),
    ],
    praise="Zeros in one block, then W_O as ever: the class itself needs no change.",
    hints=[
        "Make a copy, kept = heads.clone(), so that the caller's tensor stays as it is.",
        "The axis of the heads is the third from the end: kept[..., head, :, :].",
        "Then merge as on page 09: merge_heads(kept) @ w_o.",
    ],
    solution="""
from mha_helpers import merge_heads

def without_head(heads, w_o, head):
    kept = heads.clone()
    kept[..., head, :, :] = 0  # this head writes nothing
    return merge_heads(kept) @ w_o  # (b, h, n, d_v) -> (b, n, h·d_v) -> (b, n, d_model)
""",
)

what_it_shows = ChoiceExercise(
    "10.4",
    "What does switching off show?",
    stars=1,
    minutes=3,
    variable="conclusion",
    answer="c",
    wrong={
        "a": "With all four off, accuracy falls. Heads that do nothing would not matter.",
        "b": "Each of these heads was switched off alone, and accuracy stayed. So none is needed by itself.",
        "d": "The test used one task and its own sequences. What do they say about any other text?",
    },
    otherwise="Answer with one letter: a, b, c or d.",
    praise="Off without loss means: not needed here while the others are on. It does not mean: does nothing.",
    hints=[
        "Compare two runs: each head off alone, and all four off together.",
        "If one head were idle, which of the two runs could tell? If two heads do the same, what do you see?",
    ],
    solution="""
conclusion = "c"  # one can stand in for another, on these sequences
""",
)


def _places_after_copies(letters):
    before = letters.roll(1, dims=-1)
    found = letters[:, None] == before[None, :]
    n = len(letters)
    return found & torch.ones(n, n).tril().bool() & (torch.arange(n) > 0)


def _after_copies(weights, letters):
    return (weights * _places_after_copies(letters)).sum(dim=-1)


def _earliest(weights, letters):
    first = _places_after_copies(letters).float()
    return (weights * (first.cumsum(dim=-1) == 1) * first).sum(dim=-1)


def _after_any_copy(weights, letters):
    found = (letters[:, None] == letters.roll(1, dims=-1)) & (torch.arange(len(letters)) > 0)
    return (weights * found).sum(dim=-1)


def _after_itself_as_well(weights, letters):
    places = torch.arange(len(letters))
    return _after_copies(weights, letters) + (weights * (places == places[:, None] + 1)).sum(dim=-1)


def _up_to_the_query(mistake):
    """The same mistake by somebody who has left out what comes after the query."""
    return Mistake(
        f"{mistake.name}, up to the query",
        lambda weights, letters: mistake.wrong(weights.tril(), letters),
        mistake.sentence,
    )


def _from_place_1(mistake):
    """The same mistake by somebody who has left out place 0, which no letter stands before."""
    return Mistake(
        f"{mistake.name}, from place 1",
        lambda weights, letters: mistake.wrong(weights * (torch.arange(len(letters)) > 0), letters),
        mistake.sentence,
    )


def _copies(letters):
    n = len(letters)
    return (letters[:, None] == letters[None, :]) & torch.ones(n, n).tril(-1).bool()


def _copy_cases():
    texts = ([10, 22, 12, 0, 10, 22, 12, 0, 10], [3, 3, 1, 3, 0, 1], [0, 1, 2, 3], [5, 4, 5, 5, 4])
    open_weights = torch.softmax(numbers(2, 5, 5, name="no mask"), dim=-1)
    masked = [_weights(3, len(text), len(text), name=f"copies {text}") for text in texts]
    return [
        *(case(weights, torch.tensor(text)) for weights, text in zip(masked, texts, strict=True)),
        case(open_weights, torch.tensor([2, 2, 1, 2, 1])),  # the future weighs something here
    ]


_BESIDE_THE_COPIES = [
    Mistake(
        "copies and the letter itself",
        lambda weights, letters: (weights * (letters[:, None] == letters)).sum(dim=-1),
        "That is the weight on all equal letters. The letter to copy stands one place after each.",
    ),
    Mistake(
        "wrapped around",
        lambda weights, letters: (weights * (letters[:, None] == letters.roll(1))).sum(dim=-1),
        "At place 0 you read letters[-1], the last letter (roll does the same): leave place 0 out.",
    ),
    Mistake(
        "the letter before a copy",
        lambda weights, letters: (weights * (letters[:, None] == letters.roll(-1))).sum(dim=-1),
        "You look one place before the copies. Which way does roll(-1) shift?",
    ),
]

_COPIES_THEMSELVES = Mistake(
    "the copies themselves",
    lambda weights, letters: (weights * _copies(letters)).sum(dim=-1),
    "That is the weight on the earlier copies. The letter to copy stands one place further.",
)
_NOT_PLACE_0 = ("copies and the letter itself", "the letter before a copy")

weight_after_copies = FunctionExercise(
    "10.5",
    "Score a head: after an earlier copy",
    stars=3,
    minutes=10,
    variable="my_copy_score",
    reference=_after_copies,
    cases=_copy_cases,
    mistakes=[
        _COPIES_THEMSELVES,
        _from_place_1(_COPIES_THEMSELVES),
        *_BESIDE_THE_COPIES,
        *map(_up_to_the_query, _BESIDE_THE_COPIES),
        *map(_from_place_1, pick(_BESIDE_THE_COPIES, *_NOT_PLACE_0)),
        *map(_up_to_the_query, map(_from_place_1, pick(_BESIDE_THE_COPIES, *_NOT_PLACE_0))),
        Mistake(
            "places after the query",
            _after_any_copy,
            "You count places after the query as well: only those up to the query count.",
        ),
        Mistake(
            "the query taken for a copy",
            _after_itself_as_well,
            "You take the query for a copy of itself, and read the place after it. Only earlier copies"
            " count.",
        ),
        Mistake(
            "wrapped around, before the query",
            lambda weights, letters: _BESIDE_THE_COPIES[1].wrong(weights.tril(-1), letters),
            _BESIDE_THE_COPIES[1].sentence,
        ),
        Mistake(
            "earliest copy only",
            _earliest,
            "Only the earliest copy counts in yours: the weights after all of them are to be added.",
        ),
        Mistake(
            "rows and columns swapped",
            lambda weights, letters: _after_copies(weights.mT, letters),
            "You read weights[:, j, i]: rows are queries, so which index comes first?",
        ),
        Mistake(
            "added up by key",
            lambda weights, letters: (weights * _places_after_copies(letters)).sum(dim=-2),
            "You add up for each key. One number for each query is asked for: which axis holds the keys?",
        ),
        Mistake(
            "mean over the copies",
            lambda weights, letters: (
                _after_copies(weights, letters) / _places_after_copies(letters).sum(dim=-1).clamp(min=1)
            ),
            "You divide by the number of copies: the weight on all these places is asked for, not its mean.",
        ),
        Mistake(
            "nearest copy only",
            lambda weights, letters: _nearest(weights, letters),
            "Only the nearest earlier copy counts in yours: the weights after all of them are to be added.",
        ),
        Mistake(
            "not the letter before itself",
            lambda weights, letters: (
                weights
                * (
                    (letters[:, None] == letters.roll(1))
                    & torch.ones(len(letters), len(letters)).tril(-1).bool()
                )
                * (torch.arange(len(letters)) > 0)
            ).sum(dim=-1),
            "In “AA” the second A is itself the letter after a copy of A: j = i counts as well.",
        ),
    ],
    praise="That is the score by which this page found its heads, for every query of every head.",
    hints=[
        "Two loops: for each query i, and each j from 1 to i, ask whether letters[j - 1] equals letters[i].",
        "Where it does, add weights[:, i, j]: all heads at once.",
        "Without loops: compare letters with letters.roll(1), keep j ≤ i and j > 0, multiply, sum over keys.",
    ],
    solution="""
def my_copy_score(weights, letters):
    score = torch.zeros(weights.shape[:2])  # (h, n)
    for i in range(len(letters)):
        for j in range(1, i + 1):
            if letters[j - 1] == letters[i]:
                score[:, i] += weights[:, i, j]
    return score
""",
)


def _nearest(weights, letters):
    score = torch.zeros(weights.shape[:2])
    for i in range(len(letters)):
        for j in range(i, 0, -1):
            if letters[j - 1] == letters[i]:
                score[:, i] = weights[:, i, j]
                break
    return score
