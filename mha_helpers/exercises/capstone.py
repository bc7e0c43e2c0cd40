"""The capstone of notebook 09: wrong shapes, planted bugs, wrong transposes in the class, and the inputs."""

import itertools

import torch

from mha_helpers.attention import merge_heads
from mha_helpers.examples import golden_example
from mha_helpers.exercises import Mistake, case, numbers
from mha_helpers.exercises.mistakes import pick
from mha_helpers.exercises.whole_mistakes import (
    BLOCKED_BY_A_NUMBER,
    CLASS,
    attention_class,
    bugs_left,
    faulty_class,
    remaining_faults,
)
from mha_helpers.masks import causal_mask, padding_mask, sliding_window_mask


def _shapes(w_q, q, weights, heads, concat, w_o, output):
    return {
        "W_Q, all heads": w_q,
        "q, split": q,
        "weights": weights,
        "outputs of the heads": heads,
        "concat": concat,
        "W_O": w_o,
        "output": output,
    }


_Q, _WEIGHTS, _HEADS = (3, 12, 20, 16), (3, 12, 20, 20), (3, 12, 20, 4)

SHAPES = _shapes((96, 192), _Q, _WEIGHTS, _HEADS, (3, 20, 48), (48, 96), (3, 20, 96))

SHAPE_MISTAKES = [
    Mistake(
        "d_k taken as d_model ÷ h",
        _shapes((96, 96), (3, 12, 20, 8), _WEIGHTS, (3, 12, 20, 8), (3, 20, 96), (96, 96), (3, 20, 96)),
        "You work with 96 ÷ 12 = 8 numbers a head. Here d_k and d_v are given, and differ.",
    ),
    Mistake(
        "d_k taken as d_model",
        _shapes(
            (96, 1152),
            (3, 12, 20, 96),
            _WEIGHTS,
            (3, 12, 20, 96),
            (3, 20, 1152),
            (1152, 96),
            (3, 20, 96),
        ),
        "Your heads are 96 wide, which is d_model: how wide is a query, how wide is a value?",
    ),
    Mistake(
        "values as wide as keys",
        _shapes((96, 192), _Q, _WEIGHTS, _Q, (3, 20, 192), (192, 96), (3, 20, 96)),
        "Up to the weights all is right. What a head takes home is made of values: how wide are they?",
    ),
    Mistake(
        "W_O transposed",
        _shapes((96, 192), _Q, _WEIGHTS, _HEADS, (3, 20, 48), (96, 48), (3, 20, 96)),
        "Only W_O is turned over: in concat @ W_O the last axis of concat meets the rows of W_O. How many are"
        " there?",
    ),
    Mistake(
        "W_O square",
        _shapes((96, 192), _Q, _WEIGHTS, _HEADS, (3, 20, 48), (96, 96), (3, 20, 96)),
        "Only W_O is wrong: it is square when h · d_v = d_model, and here they differ.",
    ),
    Mistake(
        "W_Q square",
        _shapes((96, 96), _Q, _WEIGHTS, _HEADS, (3, 20, 48), (48, 96), (3, 20, 96)),
        "Only W_Q is wrong: it is square when h · d_k = d_model, and here they differ.",
    ),
    Mistake(
        "both matrices as nn.Linear stores them",
        _shapes((192, 96), _Q, _WEIGHTS, _HEADS, (3, 20, 48), (96, 48), (3, 20, 96)),
        "Both matrices are turned over, as nn.Linear stores them: in x @ W_Q, which axis meets that of x?",
    ),
    Mistake(
        "output as wide as concat",
        _shapes((96, 192), _Q, _WEIGHTS, _HEADS, (3, 20, 48), (48, 96), (3, 20, 48)),
        "Only the output is wrong: the next layer wants tokens as wide as x.",
    ),
    Mistake(
        "tokens and heads swapped",
        _shapes(
            (96, 192),
            (3, 20, 12, 16),
            (3, 20, 12, 12),
            (3, 20, 12, 4),
            (3, 20, 48),
            (48, 96),
            (3, 20, 96),
        ),
        "Your tokens stand before the heads, so heads would be compared with heads: swap the two axes.",
    ),
    Mistake(
        "W_Q of one head",
        _shapes((96, 16), _Q, _WEIGHTS, _HEADS, (3, 20, 48), (48, 96), (3, 20, 96)),
        "Only W_Q is wrong: this is the matrix of one head, and all of them are asked for.",
    ),
]


def hunt_cases():
    """All sizes differ (b 2, h 3, n 5, d_k 4). Every query has a key, whichever way a mask is read."""
    example = golden_example()
    x, build = numbers(2, 5, 12), {"d_model": 12, "num_heads": 3}
    return [
        case(example.x[None], build={"d_model": 6, "num_heads": 3}),
        case(x, build=build),
        case(x, sliding_window_mask(5, 1), build=build),
        case(x, padding_mask([4, 2], 5), build=build),
        case(300 * x, sliding_window_mask(5, 1), build=build),  # visible scores far below 0
    ]


BUGS = {
    "reshape without transpose": (
        "Change one token of x: q moves in rows of other tokens. Where do numbers change their owner?"
    ),
    "no scale": "The weights are sharper than they should be: print the scores, and compare with page 04.",
    "mask polarity": "Weight falls on the very keys that the mask should hide: what does True mean here?",
}

# What the repair of a bug may turn it into; the merge was right before.
REPAIRS = {
    "no scale": (
        "÷d_k",
        "×√d_k",
        "d_k taken as d_model",
        "÷√n_k",
        "÷√num_heads",
        "÷√2",
        "** 1/2 without brackets",
    ),
    "mask polarity": (
        "mask left out",
        "mask after softmax",
        "multiplied by the mask",
        "mask added",
        "padding on rows",
    ),
    "merge": ("heads merged without transpose",),
}


def _wrongly_repaired():
    """Each wrong repair, with each set of the other bugs still there."""
    for bug, repairs in REPAIRS.items():
        others = [name for name in BUGS if name != bug]
        sets = [left for count in range(len(others) + 1) for left in itertools.combinations(others, count)]
        for mistake, left in itertools.product(pick(CLASS, *repairs), sets):
            yield Mistake(
                ", ".join([mistake.name, *left]),
                faulty_class(*left, mistake.name),
                f"{bugs_left(1 + len(left))} {mistake.sentence}",
            )


# The class is written with torch and nn alone; whatever else the course offers goes through one of these.
STEPS = (
    "MultiHeadAttention",
    "split_heads",
    "merge_heads",
    "project_qkv",
    "attention_scores",
    "scale_scores",
    "mask_scores",
    "attention_weights",
    "weighted_values",
)


def class_cases():
    """As above, with causal masks, with a sentence that is all padding, and with one padded in front."""
    return [
        *hunt_cases(),
        case(numbers(2, 5, 12), causal_mask(5), build={"d_model": 12, "num_heads": 3}),
        case(numbers(3, 4, 8), padding_mask([4, 3, 0], 4), build={"d_model": 8, "num_heads": 2}),
        case(30 * numbers(2, 5, 12), causal_mask(5), build={"d_model": 12, "num_heads": 3}),
        case(numbers(2, 5, 12), _padded_in_front(), build={"d_model": 12, "num_heads": 3}),
    ]


def _padded_in_front():
    """A causal mask in which the first token of the second sentence is padding: a row without any key."""
    real = torch.tensor([[True, True, True, True, True], [False, True, True, True, True]])
    return causal_mask(5) & real[:, None, None, :]  # (n, n) & (b, 1, 1, n) -> (b, 1, n, n)


def _cut(x, num_heads):
    return x.unflatten(-1, (num_heads, -1))  # (b, n, d_model) -> (b, n, h, d_k)


def _swapped(x, num_heads):
    return _cut(x, num_heads).transpose(2, 3)  # (b, n, h, d_k) -> (b, n, d_k, h)


def _rows(heads):
    return heads.flatten(2)  # (b, n, …, …) -> (b, n, d_model)


def _tokens_first(heads):
    return heads.transpose(1, 2).reshape(len(heads), heads.shape[1], -1)


def _by_d_k(module, scores):
    return scores / module.d_k**0.5


_ONE_SWAP = "The split swaps the wrong two axes: tokens and heads have to change places, features stay last."
_NO_SWAP = "Heads still stand behind tokens, so each token compares its own heads: which move is missing?"
_MERGE = "The split is right; the merge swaps the wrong two axes: the heads have to go behind the tokens."

# With the wrong split the last axis is no longer d_k, so it matters which of the two the scale takes.
WRONG_AXES = [
    Mistake(name, attention_class(**parts), sentence)
    for name, sentence, parts in (
        ("transpose of the wrong axes", _ONE_SWAP, {"split": _swapped, "merge": _tokens_first}),
        (
            "transpose of the wrong axes, scaled by d_k",
            _ONE_SWAP,
            {"split": _swapped, "merge": _tokens_first, "scale": _by_d_k},
        ),
        (
            "transpose of the wrong axes, and the same two again",
            _ONE_SWAP,
            {"split": _swapped, "merge": lambda heads: _rows(heads.transpose(2, 3))},
        ),
        (
            "transpose of the wrong axes, the same two again, scaled by d_k",
            _ONE_SWAP,
            {"split": _swapped, "merge": lambda heads: _rows(heads.transpose(2, 3)), "scale": _by_d_k},
        ),
        ("transpose missing", _NO_SWAP, {"split": _cut, "merge": _rows}),
        ("transpose missing, but there in the merge", _NO_SWAP, {"split": _cut, "merge": _tokens_first}),
        (
            "merge: transpose of the wrong axes",
            _MERGE,
            {"merge": lambda heads: heads.transpose(2, 3).reshape(len(heads), heads.shape[2], -1)},
        ),
    )
]


def _partly_cut(names):
    """The projections of which some are cut as in ``Suspect``, for a class whose split is right."""

    def project(module, x):
        made = {name: getattr(module, f"w_{name}")(x) for name in "qkv"}
        for name in names:
            made[name] = merge_heads(made[name].view(len(x), module.num_heads, x.shape[1], -1))
        return tuple(made.values())

    return project


def _partly_repaired():
    """What is left when the cut of q, k and v is repaired in one or two of its three lines."""
    for names in ("q", "k", "v", "qk", "qv", "kv"):
        for left in ((), ("no scale",), ("mask polarity",), ("no scale", "mask polarity")):
            bugs = bugs_left(1 + len(left))
            yield Mistake(
                ", ".join([f"{bugs} The cut is half repaired", f"wrong in {names}", *left]),
                faulty_class(*left, project=_partly_cut(names)),
                f"{bugs} The cut is right in some of the three lines, not in all: compare q, k and v.",
            )


def _cut_with_a_wrong_move():
    """The cut is repaired; the move of the axes is missing, or swaps the wrong two.

    No bugs are counted: a class whose axes are wrong fails with a mask, whether or not it reads it rightly.
    """
    for split, wrong, sentence in ((_cut, "no move", _NO_SWAP), (_swapped, "the wrong move", _ONE_SWAP)):
        for left, scale in (((), {"scale": _by_d_k}), (("no scale",), {})):
            yield Mistake(
                ", ".join(["the cut repaired", wrong, *left]),
                faulty_class(*left, split=split, merge=_tokens_first, **scale),
                f"The cut is half repaired. {sentence}",
            )


def _old_view_then_swapped(x, num_heads):
    return x.view(len(x), num_heads, x.shape[1], -1).transpose(1, 2)


def _swapped_then_cut(x, num_heads):
    return x.mT.reshape(len(x), num_heads, x.shape[1], -1)


def _cut_at_the_wrong_time():
    """The transpose is there, behind the old view, or in front of the cut."""
    for name, parts, sentence in (
        (
            "old view, then swapped",
            {"split": _old_view_then_swapped, "merge": _tokens_first},
            "The view still cuts across tokens, and no transpose behind it mends that: what must view keep?",
        ),
        (
            "swapped, then cut",
            {"split": _swapped_then_cut},
            "You swap axes before the cut, so it goes across tokens: which of the two comes first?",
        ),
    ):
        for left, scale in (((), {"scale": _by_d_k}), (("no scale",), {})):
            for masking in ((), ("mask polarity",)):
                yield Mistake(
                    ", ".join(["the cut half repaired", name, *left, *masking]),
                    faulty_class(*left, *masking, **parts, **scale),
                    f"The cut is half repaired. {sentence}",
                )


def _scaled_late():
    for left in ((), ("reshape without transpose",)):
        yield Mistake(
            ", ".join(["scale after softmax", *left]),
            faulty_class(*left, "scale after softmax"),
            f"{bugs_left(1 + len(left))} {pick(CLASS, 'scale after softmax')[0].sentence}",
        )


HUNT_MISTAKES = [
    *_scaled_late(),
    *_cut_at_the_wrong_time(),
    *remaining_faults(BUGS),
    *_partly_repaired(),
    *_cut_with_a_wrong_move(),
    *_wrongly_repaired(),
]
CLASS_MISTAKES = [
    *CLASS,
    *(
        Mistake(m.name, attention_class(attend=m.wrong), m.sentence)
        for m in [
            *BLOCKED_BY_A_NUMBER,
        ]
    ),
    *WRONG_AXES,
]
