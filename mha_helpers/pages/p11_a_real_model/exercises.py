"""The exercises of page 11: a layer of a real model, a fused projection, one vector for each sentence."""

import torch
from torch.nn import functional as F

from mha_helpers.exercises import FunctionExercise, case, numbers
from mha_helpers.masks import padding_mask
from mha_helpers.models.real import sentence_vector
from mha_helpers.pages.p11_a_real_model.loading import Loading, layer_of, random_state

load_a_layer = Loading(
    "11.1 ★★ · 8 min · Load a layer",
    reference=layer_of,
    cases=lambda: [case(random_state(4), 1), case(random_state(6), 2), case(random_state(4), 0)],
    task="""
    `state` is the model's state dict, a dict from names to tensors, and `layer` counts from 0. Return a
    dict with the eight names that your class of page 09 uses, `w_q.weight`, `w_q.bias`, `w_k.weight` …
    `w_o.bias`, and the tensor that belongs to each. Model and class both keep a matrix as
    (out, in), so that nothing needs to be transposed.
    """,
    stub="""
def my_layer(state, layer):
    # a dict of eight tensors
    ...
""",
    praise="Eight tensors under other names: that is all it takes to put a trained layer into your class.",
    hints=[
        "Print the names first: in layer 4 they begin with encoder.layer.3.attention.",
        'An f-string builds a name: state[f"encoder.layer.{layer}.attention.self.query.weight"].',
        "W_O is attention.output.dense; output.dense without attention is the feed-forward network's.",
    ],
    solution="""
def my_layer(state, layer):
    start = f"encoder.layer.{layer}.attention"
    names = {"w_q": "self.query", "w_k": "self.key", "w_v": "self.value", "w_o": "output.dense"}
    tensors = {}
    for ours, theirs in names.items():
        for kind in ("weight", "bias"):
            tensors[f"{ours}.{kind}"] = state[f"{start}.{theirs}.{kind}"]
    return tensors
""",
)


# What is said of another cut, whether its parts are turned or not.
_OTHER_CUTS = {
    "You took every third column. The columns of one part stand side by side.": (
        lambda weight: [weight[:, i::3] for i in range(3)]
    ),
    "reshape cuts the numbers row by row, but the three stand side by side in each row.": (
        lambda weight: weight.reshape(3, len(weight), len(weight))
    ),
    "You cut the rows, which are the features of x. Q, K and V stand side by side, in the columns.": (
        lambda weight: weight.chunk(3)
    ),
}

fused = FunctionExercise(
    "11.2 ★★ · 8 min · GPT-2 keeps Q, K and V in one matrix",
    reference=lambda weight: tuple(part.T for part in weight.chunk(3, dim=1)),
    returns=("w_q", "w_k", "w_v"),
    cases=lambda: [case(numbers(6, 18)), case(numbers(4, 12, seed=1)), case(numbers(9, 27, seed=2))],
    task="""
    GPT-2 stores `weight`, (d_model, 3·d_model), as (in, out): x @ weight gives q, k and v side by side.
    Return three matrices as `Linear` keeps them, (out, in), in the order Q, K, V.
    """,
    stub="""
def my_parts(weight):
    # (d_model, 3·d_model) -> 3 of (d_model, d_model)
    ...
""",
    mistakes=[
        (
            lambda weight: weight.chunk(3, dim=1),
            "The three parts are right, but they are (in, out). A Linear keeps its weight as (out, in).",
        ),
        *(
            (lambda weight, cut=cut, turn=turn: tuple(map(turn, cut(weight))), sentence)
            for sentence, cut in _OTHER_CUTS.items()
            for turn in (torch.clone, torch.t)
        ),
    ],
    praise="The same three matrices in another layout, and one computation.",
    hints=[
        "x @ weight gives (n, 3·d_model): the first d_model columns are q, the next k, the last v.",
        "weight.chunk(3, dim=…) cuts into three equal parts. Along which axis?",
        "A Linear computes x @ weight.T, GPT-2 computes x @ weight.",
    ],
    solution="""
def my_parts(weight):
    # (d_model, 3·d_model) -> 3 of (d_model, d_model)
    q_part, k_part, v_part = weight.chunk(3, dim=1)
    return q_part.T, k_part.T, v_part.T  # (in, out) -> (out, in)
""",
)


def _average(hidden, real):
    real = real[..., None].float()  # (b, n) -> (b, n, 1)
    return (hidden * real).sum(dim=1) / real.sum(dim=1)


def _by(length):
    """Make an answer that divides each average by what it takes for a length."""
    return lambda hidden, real: _average(hidden, real) / length(_average(hidden, real))


_EACH = "Each token's vector has length 1 before the average: the task makes only the average that long."

_FIRST = "You take the first token only: the vector of a sentence is an average of all its real tokens."
_WITHOUT_PADDING = [
    (lambda hidden, mask: hidden[:, 0], _FIRST),
    (lambda hidden, mask: hidden * mask, "The mask meets the numbers of a token: which axis does it lack?"),
    (
        _by(lambda average: average.norm(dim=-1)),
        "A length or a count of each sentence, (b), meets the numbers of a vector: which axis is lost?",
    ),
    (
        _by(lambda average: average.square().sum(dim=-1, keepdim=True)),
        "You divide by the square of the length: which root is missing?",
    ),
]

one_vector = FunctionExercise(
    "11.3 ★★ · 6 min · One vector for each sentence",
    reference=sentence_vector,
    axes=("sentence", "number"),
    without=["sentence_vector"],
    cases=lambda: [
        case(numbers(2, 3, 4), torch.ones(2, 3).long(), label="without padding", mistakes=_WITHOUT_PADDING),
        case(numbers(3, 5, 6, seed=1), padding_mask([5, 2, 3], 5)[:, 0, 0].long(), label="with padding"),
    ],
    task="""
    `hidden` (b, n, d_model) holds the vectors that leave the model for a padded batch, `attention_mask`
    (b, n) a 1 for each real token and a 0 for padding. Return one vector for each sentence, the average of
    its real tokens, made length 1. Do without `sentence_vector`.
    """,
    stub="""
def my_vectors(hidden, attention_mask):
    # (b, n, d_model), (b, n) -> (b, d_model)
    ...
""",
    mistakes=[
        (
            lambda hidden, mask: F.normalize(hidden.mean(dim=1), dim=-1),
            "The average counts padding, too: the same sentence gets another vector in another batch.",
        ),
        (_average, "How long are these vectors? Each is asked for with length 1."),
        (lambda hidden, mask: F.normalize(hidden[:, 0], dim=-1), _FIRST),
        (lambda hidden, mask: F.normalize(_average(F.normalize(hidden, dim=-1), mask), dim=-1), _EACH),
        (lambda hidden, mask: _average(F.normalize(hidden, dim=-1), mask), _EACH),
        (
            lambda hidden, mask: F.normalize((hidden * mask[..., None]).amax(dim=1), dim=-1),
            "You take the largest of each number: the vector of a sentence is an average of its tokens.",
        ),
        (
            lambda hidden, mask: F.normalize((hidden * mask[..., None]).mean(dim=-1), dim=-1),
            "You average over the numbers of each token: along which axis do the tokens stand?",
        ),
        (
            _by(lambda average: average.sum(dim=-1, keepdim=True)),
            "The numbers of each vector add up to 1: is that its length?",
        ),
        (_by(torch.norm), "You divide the whole batch by one length: each sentence has a length of its own."),
        (
            _by(lambda average: average.norm(dim=0)),
            "You made the columns length 1: along which axis does the vector of one sentence lie?",
        ),
        (
            lambda hidden, mask: F.normalize(_average(hidden, 1 - mask), dim=-1),
            "You average the padding and leave the real tokens out: what does a 1 in the mask stand for?",
        ),
    ],
    praise="A sentence has the same vector alone and in any batch, as a search engine needs it.",
    hints=[
        "attention_mask[..., None] is (b, n, 1): multiplied with hidden it leaves zeros for padding.",
        "Divide the sum over the tokens by how many are real, not by n.",
        "The length is the root of the sum of squares: F.normalize, or vectors.norm(dim=-1, keepdim=True).",
    ],
    solution="""
def my_vectors(hidden, attention_mask):
    real = attention_mask[..., None]  # (b, n) -> (b, n, 1)
    average = (hidden * real).sum(dim=1) / real.sum(dim=1)  # (b, n, d_model) -> (b, d_model)
    return average / average.norm(dim=-1, keepdim=True)
""",
)
