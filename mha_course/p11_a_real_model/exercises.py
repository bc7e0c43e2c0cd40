"""The exercises of page 11: a layer of a real model, a fused projection, one vector for each sentence."""

import torch

from mha_course.exercises import FunctionExercise, case, changes, numbers
from mha_course.p11_a_real_model.loading import Loading, random_state
from mha_helpers.masks import padding_mask

load_a_layer = Loading(
    "11.1 ★★ · 8 min · Load a layer",
    cases=lambda: [case(random_state(4), 1), case(random_state(6), 2), case(random_state(4), 0)],
    task="""
    `state` is the model's state dict, a dict from names to tensors, and `layer` counts from 0. Return a
    dict with the eight names that your class of page 09 uses, `w_q.weight`, `w_q.bias`, `w_k.weight` …
    `w_o.bias`, and the tensor that belongs to each. Model and class both keep a matrix as
    (out, in), so that nothing needs to be transposed.
    """,
    praise="Eight tensors under other names: that is all it takes to put a trained layer into your class.",
    hints=[
        "Print the names first: in layer 4 they begin with encoder.layer.3.attention.",
        'An f-string builds a name: state[f"encoder.layer.{layer}.attention.self.query.weight"].',
        "W_O is attention.output.dense; output.dense without attention is the feed-forward network's.",
    ],
    solution="""
def my_layer(state, layer):
    # a dict of eight tensors
    start = f"encoder.layer.{layer}.attention"
    names = {"w_q": "self.query", "w_k": "self.key", "w_v": "self.value", "w_o": "output.dense"}
    tensors = {}
    for ours, theirs in names.items():
        for kind in ("weight", "bias"):
            tensors[f"{ours}.{kind}"] = state[f"{start}.{theirs}.{kind}"]
    return tensors
""",
)


fused = FunctionExercise(
    "11.2 ★★ · 8 min · GPT-2 keeps Q, K and V in one matrix",
    returns=("w_q", "w_k", "w_v"),
    cases=lambda: [case(numbers(6, 18)), case(numbers(4, 12, seed=1)), case(numbers(9, 27, seed=2))],
    task="""
    GPT-2 stores `weight`, (d_model, 3·d_model), as (in, out): x @ weight gives q, k and v side by side.
    Return three matrices as `Linear` keeps them, (out, in), in the order Q, K, V.
    """,
    mistakes=changes("""
        q_part.T, k_part.T, v_part.T => q_part, k_part, v_part
        The three parts are right, but they are (in, out). A Linear keeps its weight as (out, in).
        k_part.T, v_part.T => q_part.T, q_part.T
        All three are Q: which columns hold K and V?
        weight.chunk(3, dim=1) => [weight[:, i::3] for i in range(3)]
        q_part.T, k_part.T, v_part.T => q_part.T, k_part.T, v_part.T => q_part, k_part, v_part
        You took every third column. The columns of one part stand side by side.
        weight.chunk(3, dim=1) => weight.reshape(3, len(weight), len(weight))
        q_part.T, k_part.T, v_part.T => q_part.T, k_part.T, v_part.T => q_part, k_part, v_part
        reshape cuts the numbers row by row, but the three stand side by side in each row.
        weight.chunk(3, dim=1) => weight.chunk(3)
        q_part.T, k_part.T, v_part.T => q_part.T, k_part.T, v_part.T => q_part, k_part, v_part
        You cut the rows, which are the features of x. Q, K and V stand side by side, in the columns.
    """),
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


def _length(vectors, _):
    length = vectors[0].norm()
    return f"has a first vector of length {length:.3g}; 1 is needed" if abs(length - 1) > 1e-3 else None


_WITHOUT_PADDING = changes("""
    hidden * real => F.normalize(hidden, dim=-1) * real
    average / average.norm(dim=-1, keepdim=True) => average
    Each token's vector has length 1 before the average: the task makes only the average that long.
""")

one_vector = FunctionExercise(
    "11.3 ★★ · 6 min · One vector for each sentence",
    axes=("sentence", "number"),
    says=_length,
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
    mistakes=changes("""
        (hidden * real).sum(dim=1) / real.sum(dim=1) => hidden.mean(dim=1)
        The average counts padding, too: the same sentence gets another vector in another batch.
        attention_mask[..., None] => 1 - attention_mask[..., None]
        You average the padding and leave the real tokens out: what does a 1 in the mask stand for?
        (hidden * real).sum(dim=1) / real.sum(dim=1) => hidden[:, 0]
        You take the first token only: the vector of a sentence is an average of all its real tokens.
        hidden * real => F.normalize(hidden, dim=-1) * real
        Each token's vector has length 1 before the average: the task makes only the average that long.
        (hidden * real).sum(dim=1) / real.sum(dim=1) => (hidden * real).amax(dim=1)
        You take the largest of each number: the vector of a sentence is an average of its tokens.
        (hidden * real).sum(dim=1) / real.sum(dim=1) => (hidden * real).mean(dim=-1)
        You average over the numbers of each token: along which axis do the tokens stand?
        average.norm(dim=-1, keepdim=True) => average.sum(dim=-1, keepdim=True)
        The numbers of each vector add up to 1: is that its length?
        average.norm(dim=-1, keepdim=True) => average.norm()
        You divide the whole batch by one length: each sentence has a length of its own.
        average.norm(dim=-1, keepdim=True) => average.norm(dim=0)
        You made the columns length 1: along which axis does the vector of one sentence lie?
        average / average.norm(dim=-1, keepdim=True) => hidden * attention_mask
        The mask meets the numbers of a token: which axis does it lack?
        average.norm(dim=-1, keepdim=True) => average.norm(dim=-1)
        A length or a count of each sentence, (b), meets the numbers of a vector: which axis is lost?
        average.norm(dim=-1, keepdim=True) => average.square().sum(dim=-1, keepdim=True)
        You divide by the square of the length: which root is missing?
    """),
    praise="A sentence has the same vector alone and in any batch, as a search engine needs it.",
    hints=[
        "attention_mask[..., None] is (b, n, 1): multiplied with hidden it leaves zeros for padding.",
        "Divide the sum over the tokens by how many are real, not by n.",
        "The length is the root of the sum of squares: F.normalize, or vectors.norm(dim=-1, keepdim=True).",
    ],
    solution="""
def my_vectors(hidden, attention_mask):
    # (b, n, d_model), (b, n) -> (b, d_model)
    real = attention_mask[..., None]  # (b, n) -> (b, n, 1)
    average = (hidden * real).sum(dim=1) / real.sum(dim=1)  # (b, n, d_model) -> (b, d_model)
    return average / average.norm(dim=-1, keepdim=True)
""",
)
