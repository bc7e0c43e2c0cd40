"""The exercises of notebook 05: masks, and what goes wrong with them."""

import torch

from mha_helpers.attention import attention_weights, mask_scores
from mha_helpers.examples import golden_example
from mha_helpers.exercises import ChoiceExercise, FunctionExercise, Mistake, case, numbers, suspects
from mha_helpers.exercises.mistakes import CAUSAL_MASK, MASKING, NOTHING_LEFT, SOFTMAX, TO_ADD, pick
from mha_helpers.masks import causal_mask, padding_mask

causal = FunctionExercise(
    "5.1",
    "The causal mask",
    stars=1,
    minutes=3,
    variable="my_causal_mask",
    reference=causal_mask,
    cases=lambda: [case(3), case(1), case(6)],
    without=["mha_helpers.causal_mask"],
    mistakes=CAUSAL_MASK,
    praise="You decide who sees whom with one triangle of True.",
    hints=[
        "Begin with a table of True: torch.ones takes a shape and dtype=torch.bool.",
        "The past of row i are the columns 0 … i: on which side of the diagonal do they lie?",
        "A tensor has two methods that keep a triangle: triu keeps the upper one.",
    ],
    solution="""
def my_causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()
""",
)


def _real(lengths, n):
    return torch.arange(n) < lengths[:, None]  # (b, n)


padding = FunctionExercise(
    "5.2",
    "The padding mask",
    stars=2,
    minutes=5,
    variable="my_padding_mask",
    reference=padding_mask,
    # b = n in the second: there a mask of shape (b, n) would fit the scores by accident.
    cases=lambda: [
        case(torch.tensor([2, 3]), 4),
        case(torch.tensor([3, 1, 2]), 3),
        case(torch.tensor([5, 4, 1, 0]), 5),
    ],
    without=["mha_helpers.padding_mask"],
    mistakes=[
        Mistake(
            "padding on rows",
            lambda lengths, n: _real(lengths, n)[:, None, :, None],
            "The padding lies on the rows, so padded queries are hidden: which axis belongs to the keys?",
        ),
        Mistake(
            "polarity",
            lambda lengths, n: ~padding_mask(lengths, n),
            "True stands where there is padding: in this course, what does True mean?",
        ),
        Mistake(
            "polarity, one off",
            lambda lengths, n: (torch.arange(n) > lengths[:, None])[:, None, None, :],
            "True stands where there is padding: in this course, what does True mean?",
        ),
        Mistake(
            "0 and −∞, as −1e9",
            lambda lengths, n: torch.where(_real(lengths, n), 0.0, -1e9)[:, None, None, :],
            TO_ADD,
        ),
        Mistake(
            "two axes",
            _real,
            "The values are right, but (b, n) has no axis for heads and none for queries: where do they go?",
        ),
        Mistake(
            "three axes",
            lambda lengths, n: _real(lengths, n)[:, None],
            "(b, 1, n) is right for scores (b, n, n); scores of several heads have one axis more.",
        ),
        Mistake(
            "one too many",
            lambda lengths, n: (torch.arange(n) <= lengths[:, None])[:, None, None, :],
            "One token too many is real in each sentence: positions are counted from 0.",
        ),
        Mistake(
            "one too few",
            lambda lengths, n: (torch.arange(1, n + 1) < lengths[:, None])[:, None, None, :],
            "One real token is taken for padding in each sentence: positions are counted from 0.",
        ),
        Mistake(
            "padded in front",
            lambda lengths, n: (torch.arange(n) >= n - lengths[:, None])[:, None, None, :],
            "This is for sentences padded in front; here the real tokens stand first.",
        ),
        Mistake(
            "0 and −∞",
            lambda lengths, n: torch.where(_real(lengths, n), 0.0, -torch.inf)[:, None, None, :],
            TO_ADD,
        ),
        Mistake(
            "rows and columns",
            lambda lengths, n: _real(lengths, n)[:, None, None, :] & _real(lengths, n)[:, None, :, None],
            "The rows of padding are masked too, so they have no key left, where a plain softmax gives NaN:"
            " mask columns alone.",
        ),
    ],
    praise="Padding is hidden as a key, for all heads and queries at once.",
    hints=[
        "torch.arange(n) gives the positions 0 … n − 1. Which of them are real in a sentence of length 2?",
        "Positions have the shape (n), lengths (b): with lengths[:, None] the comparison gives (b, n).",
        "Indexing with None adds an axis of size 1. Two are missing, both before the axis of the keys.",
    ],
    solution="""
def my_padding_mask(lengths, n):
    positions = torch.arange(n)
    real = positions < lengths[:, None]  # (n) < (b, 1) -> (b, n)
    return real[:, None, None, :]  # (b, n) -> (b, 1, 1, n)
""",
)


def _golden_scaled():
    example = golden_example()
    q, k = example.x @ example.w_q[:, 2:4], example.x @ example.w_k[:, 2:4]
    return q @ k.T / example.d_k**0.5


def _weights_cases():
    large = numbers(4, 4, name="large scores")
    large[0, 3] = 200.0  # hidden by the causal mask
    large[3, 0] = 150.0  # visible
    low = numbers(4, 4, name="low scores") - 20_000.0
    low = low.masked_fill(~causal_mask(4), 0.0)  # hidden, and far above all that is visible
    return [
        case(_golden_scaled(), causal_mask(3)),
        case(numbers(2, 3, 4, 5), padding_mask([3, 5], 5)),
        case(numbers(2, 3, 5, 5), causal_mask(5) & padding_mask([2, 0], 5)),  # one sentence without a key
        case(numbers(2, 3, 5, 5), causal_mask(5) & (torch.arange(5) > 1)),  # the first two rows have no key
        case(large, causal_mask(4)),
        case(low, causal_mask(4)),
    ]


def _plain_softmax(scores):
    return torch.softmax(scores, dim=-1)


def _then(masking, softmax):
    return lambda scores, mask: softmax(masking(scores, mask))


def _then_cleared(masking):
    return lambda scores, mask: _plain_softmax(masking(scores, mask)).masked_fill(~mask, 0.0)


def _late(scores, mask):
    return _plain_softmax(scores) * mask


def _minus_100(scores, mask):
    return _plain_softmax(scores.masked_fill(~mask, -100.0))


def _renormalised(scores, mask):
    kept = _late(scores, mask)
    return kept / kept.sum(dim=-1, keepdim=True)


def _exp_by_hand(scores, mask):
    exponentials = mask_scores(scores, mask).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


_TOO_LARGE = (
    "e to the power of 150 is too large for float32, so that row is lost: torch.softmax does exp and the"
    " division without such numbers."
)

masked_weights = FunctionExercise(
    "5.3",
    "Mask, then softmax",
    stars=2,
    minutes=6,
    variable="my_masked_weights",
    reference=lambda scores, mask: attention_weights(mask_scores(scores, mask)),
    cases=_weights_cases,
    mistakes=[
        Mistake(
            "the visible weights set to 0",
            lambda scores, mask: _plain_softmax(mask_scores(scores, mask)).masked_fill(mask, 0.0),
            NOTHING_LEFT,
        ),
        *(
            Mistake(m.name, _then(m.wrong, attention_weights), m.sentence)
            for m in pick(MASKING, "mask left out", "mask polarity", "multiplied by the mask", "−1e9")
        ),
        *(
            Mistake(f"{m.name}, hidden weights 0", _then_cleared(m.wrong), m.sentence)
            for m in pick(MASKING, "+∞", "−∞ times False")
        ),
        *(
            Mistake(f"{m.name}, plain softmax", _then(m.wrong, _plain_softmax), m.sentence)
            for m in pick(MASKING, "mask polarity", "mask added", "+∞", "−∞ times False")
        ),
        Mistake(
            "mask polarity, −1e9",
            lambda scores, mask: _plain_softmax(scores.masked_fill(mask, -1e9)),
            pick(MASKING, "mask polarity")[0].sentence,
        ),
        Mistake(
            "mask polarity, −1e9 added",
            lambda scores, mask: _plain_softmax(scores + mask * -1e9),
            pick(MASKING, "mask polarity")[0].sentence,
        ),
        Mistake(
            "multiplied by the mask, 0 where hidden",
            lambda scores, mask: _plain_softmax(scores * mask) * mask,
            pick(MASKING, "multiplied by the mask")[0].sentence,
        ),
        Mistake(
            "−∞ after softmax",
            lambda scores, mask: _plain_softmax(scores).masked_fill(~mask, -torch.inf),
            "You write −∞ into the weights: softmax makes 0 of −∞, so on which side of it does −∞ belong?",
        ),
        *(
            Mistake(m.name, _then(mask_scores, m.wrong), m.sentence)
            for m in pick(
                SOFTMAX,
                "NaN in a fully masked row",
                "softmax over queries",
                "softmax over axis 0",
                "softmax over axis 1",
                "softmax over everything",
            )
        ),
        Mistake(
            "−100",
            lambda scores, mask: _minus_100(scores, mask) * mask.any(dim=-1, keepdim=True),
            "Your blocked score is a number: where all visible scores are lower still, hidden keys win.",
        ),
        Mistake(
            "−100, and nothing for rows without a key",
            _minus_100,
            "Your blocked score is a number: where all visible scores are lower still, hidden keys win.",
        ),
        Mistake(
            "−100, and 0 where hidden",
            lambda scores, mask: _minus_100(scores, mask) * mask,
            "Your blocked score is a number: where all visible scores are lower still, no weight is left for"
            " them.",
        ),
        Mistake(
            "masked after softmax",
            _late,
            "The rows no longer sum to 1: the mask is used only after softmax. Is there a step before it, and"
            " do you keep its result?",
        ),
        Mistake(
            "masked after softmax, renormalised",
            lambda scores, mask: _renormalised(scores, mask).nan_to_num(),
            "A very large hidden score pushes the visible weights to 0 before you divide: mask earlier.",
        ),
        Mistake(
            "masked after softmax, renormalised, 0/0",
            lambda scores, mask: _renormalised(scores, mask),
            "You divide by a row's sum, which can be 0: where no key is left, or one hidden score is huge.",
        ),
        Mistake(
            "masked after softmax, renormalised without keepdim",
            lambda scores, mask: _late(scores, mask) / _late(scores, mask).sum(dim=-1),
            "The sum of a row has lost its axis: keepdim=True keeps it. The mask belongs before softmax.",
        ),
        Mistake("exp by hand", lambda scores, mask: _exp_by_hand(scores, mask).nan_to_num(), _TOO_LARGE),
        Mistake(
            "exp by hand, 0 where hidden",
            lambda scores, mask: _exp_by_hand(scores, mask).masked_fill(~mask, 0.0),
            _TOO_LARGE,
        ),
        Mistake(
            "exp by hand, 0/0",
            _exp_by_hand,
            "You divide by a row's sum, which is 0 where no key is left, and e to the power of 150 is too"
            " large for float32: torch.softmax does without such numbers.",
        ),
        Mistake(
            "no softmax",
            mask_scores,
            "These are the masked scores: the step that makes weights of them is missing.",
        ),
    ],
    praise="Hidden keys get exactly 0, and no row becomes NaN.",
    hints=[
        "scores.masked_fill(cells, value) writes value where cells is True. Which cells are to be hidden?",
        "Take the softmax over the last axis. What does it give for a row of nothing but −∞?",
        "A hidden cell has weight 0 in every row, also in one that became NaN: write that in at the end.",
    ],
    solution="""
def my_masked_weights(scores, mask):
    masked = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(masked, dim=-1)  # over the keys
    return weights.masked_fill(~mask, 0.0)  # changes rows without a key alone: NaN becomes 0
""",
)


published = FunctionExercise(
    "5.4",
    "Find the error in a published example",
    stars=2,
    minutes=5,
    variable="fitting_mask",
    reference=lambda mask: mask[:, None],
    cases=lambda: [
        case(_real(torch.tensor([16, 16, 12, 8]), 16)[:, None]),  # (b, 1, n)
        case(_real(torch.tensor([3, 2, 1]), 3)[:, None] & causal_mask(3)),  # (b, n, n)
        case(_real(torch.tensor([5, 4]), 5)[:, None]),
    ],
    mistakes=[
        Mistake(
            "unchanged",
            lambda mask: mask,
            "Still three axes: broadcasting begins on the right, so the sentences meet the heads.",
        ),
        Mistake(
            "axis in front",
            lambda mask: mask[None],
            "An axis in front is what broadcasting adds by itself: the sentences still meet the heads.",
        ),
        Mistake(
            "axis before the keys",
            lambda mask: mask[:, :, None],
            "Right for (b, 1, n), wrong for (b, n, n): there, the queries now meet the heads.",
        ),
        Mistake(
            "axis at the end",
            lambda mask: mask[..., None],
            "The new axis stands at the end, where the keys belong.",
        ),
        Mistake(
            "polarity",
            lambda mask: ~mask[:, None],
            "The axis is right, but True and False have changed places: what does True mean in this course?",
        ),
        Mistake(
            "four copies",
            lambda mask: mask[:, None].repeat(1, 4, 1, 1),
            "Four copies fit four heads alone: which size of an axis fits any number?",
        ),
        Mistake(
            "first sentence for all",
            lambda mask: mask[:1, None],
            "Every sentence now gets the mask of the first.",
        ),
    ],
    praise="Every sentence has its own mask again, and all its heads share it.",
    hints=[
        "Write (4, 4, 16, 16), and below it (4, 1, 16), so that both end at the same place. What meets what?",
        "The scores have the axes (b, h, n, n). Which of them is missing in (b, 1, n), and in (b, n, n)?",
        "Indexing with None adds an axis of size 1 at that place: it means “the same for all”.",
    ],
    solution="""
def fitting_mask(mask):
    return mask[:, None]  # (b, 1, n) -> (b, 1, 1, n), and (b, n, n) -> (b, 1, n, n)
""",
)


# For the learner to try: x (n, d_model) -> (n, d_model).
layers = {"a": suspects.layer_a, "b": suspects.layer_b, "c": suspects.layer_c, "d": suspects.layer_d}

leak = ChoiceExercise(
    "5.5",
    "Who looks ahead?",
    stars=3,
    minutes=8,
    variable="leaking",
    answer=frozenset({"c", "d"}),
    also_right=[("c", "d"), ("d", "c"), "cd", "c, d"],
    wrong={
        frozenset(): "At least one of them leaks: change the last token, and compare all other outputs.",
        frozenset({"c"}): "c leaks. One more does, in longer sentences alone: try different lengths.",
        frozenset(
            {"d"}
        ): "d leaks. One more does, although its mask is right: does anything happen before it?",
        frozenset({"a", "c", "d"}): "c and d leak. a writes −1e9, which hides a key as well as −∞ does here.",
        frozenset(
            {"b", "c", "d"}
        ): "c and d leak. b moves by rounding alone, by 1e-7 or so, unless a hidden score"
        " is very large (“Two routes, one table”): allow 1e-6, as what_moves does, and change a token by 1.",
        frozenset(
            {"b", "c"}
        ): "c leaks. b moves by rounding alone, or after a change as large as 100. One more"
        " leaks, in longer sentences: allow 1e-6, and try different lengths.",
        frozenset(
            {"a", "b", "c", "d"}
        ): "Not all of them: a later output may move when an earlier token changes.",
    },
    otherwise="Watch what moves: for each layer, change token j alone and look at the outputs before j.",
    praise="You found both by what they do, one with a right mask and one that is right for short sentences.",
    hints=[
        "A layer leaks if output i moves when a token j > i changes. Adapt what_moves to layer(x).",
        "Only the cells above the diagonal tell of a leak: moves.triu(1).any().",
        "Try sentences of different lengths: a bug can begin at a certain token.",
    ],
    given="from mha_helpers.exercises import e05_causal_mask as exercises",
    solution="""
leaking = set()
for name, layer in exercises.layers.items():
    for length in range(2, 9):
        sentence = torch.sin(torch.arange(length * 6.0)).view(length, 6)
        for j in range(1, length):
            other = sentence.clone()
            other[j] = other[j] + 1
            earlier = (layer(other) - layer(sentence))[:j]  # the outputs before the changed token
            if earlier.abs().max() > 1e-6:
                leaking.add(name)
""",
)
