"""The exercises of page 11: a layer of a real model, a fused projection, what a number allows one to say."""

from mha_helpers.exercises import FunctionExercise, ValueExercise, case, numbers

_THEIRS = {
    "w_q": "attention.self.query",
    "w_k": "attention.self.key",
    "w_v": "attention.self.value",
    "w_o": "attention.output.dense",
}


def _state(d_model, layers=5):
    """A state dict with the names of a BERT and random numbers."""
    sizes = dict.fromkeys(_THEIRS.values(), (d_model, d_model))
    sizes |= {"intermediate.dense": (4 * d_model, d_model), "output.dense": (d_model, 4 * d_model)}
    sizes |= {"attention.output.LayerNorm": (d_model,), "output.LayerNorm": (d_model,)}
    state = {}
    for layer in range(layers):
        for place, (name, shape) in enumerate(sizes.items()):
            seed = 2 * (len(sizes) * layer + place)
            state[f"encoder.layer.{layer}.{name}.weight"] = numbers(*shape, seed=seed)
            state[f"encoder.layer.{layer}.{name}.bias"] = numbers(shape[0], seed=seed + 1)
    return state


def _layer(state, layer, names=_THEIRS):
    return {
        f"{ours}.{kind}": state[f"encoder.layer.{layer}.{theirs}.{kind}"]
        for ours, theirs in names.items()
        for kind in ("weight", "bias")
    }


def _swapped(one, other):
    return {**_THEIRS, one: _THEIRS[other], other: _THEIRS[one]}


load_a_layer = FunctionExercise(
    "11.1",
    "Load a layer",
    stars=2,
    minutes=8,
    reference=_layer,
    cases=lambda: [case(_state(4), 1), case(_state(6), 2), case(_state(4), 0)],
    task="""
    `state` is the model's state dict, a dict from names to tensors, and `layer` counts from 0. Return a
    dict with the eight names that `MultiHeadAttention` uses, `w_q.weight`, `w_q.bias`, `w_k.weight` …
    `w_o.bias`, and the tensor that belongs to each. Model and class both keep a matrix as
    (out, in), so that nothing needs to be transposed.
    """,
    stub="""
def my_layer(state, layer):
    # a dict of eight tensors
    ...
""",
    mistakes=[
        (
            lambda state, layer: _layer(state, layer, _swapped("w_q", "w_k")),
            "Queries and keys are swapped: the shapes agree, so only the numbers can tell.",
        ),
        (
            lambda state, layer: _layer(state, layer, _swapped("w_k", "w_v")),
            "Keys and values are swapped: the shapes agree, so only the numbers can tell.",
        ),
        (
            lambda state, layer: _layer(state, layer, {**_THEIRS, "w_o": "output.dense"}),
            "That w_o ends the feed-forward network: what does the `dense` of the attention begin with?",
        ),
        (
            lambda state, layer: _layer(state, layer - 1),
            "You read the layer before: does `layer` count from 0 or from 1?",
        ),
        (
            lambda state, layer: _layer(state, layer + 1),
            "You read the layer after: `layer` counts from 0, and so do the names.",
        ),
        (
            lambda state, layer: {k: v for k, v in _layer(state, layer).items() if k.endswith("weight")},
            "You return four weights: where are their biases?",
        ),
        (
            lambda state, layer: _layer(state, 0),
            "You read layer 0, whatever `layer` is: where does the number stand in a name?",
        ),
        (
            lambda state, layer: _layer(state, 3),
            "You read layer 3, whatever `layer` is: where does the number stand in a name?",
        ),
    ],
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
    found = {}
    for ours, theirs in names.items():
        for kind in ("weight", "bias"):
            found[f"{ours}.{kind}"] = state[f"{start}.{theirs}.{kind}"]
    return found
""",
)


def _parts(weight):
    return tuple(part.T for part in weight.chunk(3, dim=1))


fused = FunctionExercise(
    "11.2",
    "GPT-2 keeps Q, K and V in one matrix",
    stars=2,
    minutes=8,
    reference=_parts,
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
        (
            lambda weight: tuple(_parts(weight)[i] for i in (1, 0, 2)),
            "You have the key's part where the query's belongs. In which order do they stand?",
        ),
        (
            lambda weight: _parts(weight)[::-1],
            "Your order is V, K, Q. The order in the matrix is the one of the heading.",
        ),
        (
            lambda weight: tuple(weight[:, i::3].T for i in range(3)),
            "You took every third column. The columns of one part stand side by side.",
        ),
        (
            lambda weight: weight.chunk(3, dim=0),
            "You cut the rows, which are the features of x. Q, K and V stand side by side, in the columns.",
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

what_it_says = ValueExercise(
    "11.3",
    "What may you say?",
    stars=1,
    minutes=3,
    right="b",
    task="""
    Head 1.3 gives “eats” → “cat” the weight 1.00 on our sentence. Which statement follows from that,
    without any other experiment? Answer with a letter, as in `"a"`.

    - **a** This head always looks at the subject of a verb.
    - **b** On this sentence, this head's output for “eats” is very nearly the value of “cat”.
    - **c** The model understands who eats.
    - **d** The model needs this head for sentences about eating.
    """,
    stub="conclusion = ...",
    mistakes=[
        ("a", "One sentence was measured. What would you need to see before you say “always”?"),
        (
            "c",
            "A weight says where values come from, not what for. Has anything tested grammar?",
        ),
        ("d", "The picture does not show what the model needs. Which experiment would?"),
    ],
    praise="A measurement, on this sentence, of where the values come from. The rest needs experiments.",
    hints=[
        "For each statement ask: which cell of this page measured that?",
        "“Always”, “understands” and “needs” each need an experiment of their own.",
    ],
    solution='conclusion = "b"  # what was measured, and no more',
)
