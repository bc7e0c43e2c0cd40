"""The exercises of page 02: a matrix in a layer, a question of your own design, three matrices in one."""

import torch

from mha_course.exercises import AnswerError, FunctionExercise, ValueExercise, called, case, changes, numbers
from mha_helpers.golden import golden_example
from mha_helpers.style import vector


def _seeded(answer, w_q):
    torch.manual_seed(0)
    layer = answer(w_q)
    set_on_class = {"weight", "bias"} & vars(torch.nn.Linear).keys()  # all layers would have it
    for name in set_on_class:
        delattr(torch.nn.Linear, name)
    return layer


class LayerExercise(FunctionExercise):
    """The answer is a function that makes a layer of a matrix; the layer is tried on x."""

    def _run(self, answer, case):
        def applied(x, w_q):
            layer = _seeded(answer, w_q)
            if layer is torch.nn.Linear:
                raise AnswerError("nn.Linear without brackets is the class: for which sizes do you need one?")
            if not isinstance(layer, torch.nn.Linear):
                found = f"what your function returns is {called(layer)}"
                raise AnswerError(f"{found}; a torch.nn.Linear is needed.")
            if layer.bias is not None and layer.bias.any():
                raise AnswerError("your layer has a bias, and adds it: does x @ w_q add anything?")
            if torch.equal(layer.weight, _seeded(answer, w_q.flip(0, 1)).weight):
                raise AnswerError("your layer's weight does not follow w_q: which line puts w_q into it?")
            return layer(x)

        return super()._run(applied, case)


into_a_layer = LayerExercise(
    "2.1 ★ · 4 min · A paper's matrix in nn.Linear",
    axes=("token", "column"),
    cases=lambda: [
        case(numbers(3, 5), numbers(5, 5, seed=1), label="with a square matrix"),
        case(numbers(4, 6, seed=2), numbers(6, 2, seed=3), label="with a matrix (6, 2)"),
        case(numbers(2, 3, seed=4), numbers(3, 7, seed=5), label="with a matrix (3, 7)"),
        case(numbers(1, 2, seed=6), numbers(2, 1, seed=7), label="with one token and a matrix (2, 1)"),
    ],
    task="""
    A paper prints its $W_Q$, (d_model, d_k), and computes x @ w_q. Put it into PyTorch: return a
    `torch.nn.Linear` whose call, `layer(x)`, gives the same numbers, for a matrix of any shape.
    """,
    mistakes=changes("""
        copy_(w_q.T) => copy_(w_q)
        You copy the matrix as it is printed: what does a layer do to its weight before it multiplies?
        Linear(d_model, d_k => Linear(d_k, d_model
        copy_(w_q.T) => copy_(w_q)
        Your weight is (d_model, d_k), as it is printed: a layer multiplies by weight.T, so what shape fits?
        copy_(w_q.T) => copy_(w_q.reshape(d_k, d_model))
        reshape fixes the shape but scrambles the numbers: how do rows become columns?
    """),
    praise="Now the paper's matrix works in PyTorch, whose layers keep it as (d_out, d_in).",
    hints=[
        "nn.Linear(d_in, d_out) computes x @ weight.T, so what must its weight be?",
        "It also adds a bias, unless you say bias=False.",
        "with torch.no_grad(): layer.weight.copy_(…) writes numbers into it.",
    ],
    solution="""
def as_layer(w_q):
    # (d_model, d_k) -> an nn.Linear, so that layer(x) is x @ w_q
    d_model, d_k = w_q.shape
    layer = torch.nn.Linear(d_model, d_k, bias=False)
    with torch.no_grad():
        layer.weight.copy_(w_q.T)  # (d_model, d_k) -> (d_k, d_model)
    return layer
""",
)


def _asks(w_q, _):
    example = golden_example()
    for name, row in zip(example.features[3:], w_q[3:], strict=True):
        if row.any():
            reads = f"has {vector(row, 4)} as its row “{name}”, so the head reads this position"
            return f"{reads}: is it allowed to?"
    cat, eats, fish = example.x[:, :3].double() @ w_q[:3]
    for word, query in (("cat", cat), ("eats", eats)):
        if query.any():
            nothing = "nothing, (0, 0): which of its features do your rows read?"
            return f"lets “{word}” ask with {vector(query, 4)}, and it should ask {nothing}"
    why = "its feature “is eaten” is 1, so which numbers must that row of yours hold?"
    if fish[0] and not fish[1]:
        why = "in which of the two columns does its number belong?"
    return f"lets “fish” ask with {vector(fish, 4)}, and it should ask with (0, 1): {why}"


own_question = ValueExercise(
    "2.2 ★★ · 8 min · Design a question",
    describe=_asks,
    task="""
    Head 4 is yours. Whoever is eaten asks “what happens to me?”: let “fish” ask with the key that “eats”
    has in head 1, (0, 1). “cat” and “eats” must ask nothing, (0, 0). The head must work wherever the words
    stand, so it must not read positions. Fill in all six rows of $W_Q$.
    """,
    stub="""
my_w_q = [
    ...,  # acts: two numbers, as a list
    ...,  # happens
    ...,  # is eaten
    ...,  # 1st
    ...,  # 2nd
    ...,  # 3rd
]
""",
    praise="A row of W_Q says what one feature asks: of what words are, “is eaten” is what only “fish” has.",
    hints=[
        "Each row of W_Q says what one feature asks. Positions aside, which feature belongs to “fish” alone?",
        "All other rows are [0, 0], so that the other two words ask nothing.",
        "In x this feature of “fish” is 1, and 1 times your row must be (0, 1).",
    ],
    solution="""
my_w_q = [
    [0, 0],  # acts: cat and fish have it, and cat must ask nothing
    [0, 0],
    [0, 1],  # is eaten: of the three words only “fish” has it
    [0, 0],
    [0, 0],
    [0, 0],
]
""",
)

three_in_one = FunctionExercise(
    "2.3 ★★ · 7 min · Three matrices in one",
    cases=lambda: [
        case(numbers(7, 6), numbers(6, 9, seed=1), label="with one sentence of 7 tokens and d_k = 3"),
        case(numbers(9, 5, seed=2), numbers(5, 3, seed=3), label="with d_k = 1"),
        case(numbers(2, 3, 6, seed=4), numbers(6, 12, seed=5), label="with two sentences"),
        case(numbers(1, 4, 1, 5, seed=6), numbers(5, 9, seed=7), label="with two axes in front"),
    ],
    returns=("q", "k", "v"),
    axes=("sentence", "token", "column"),
    task="""
    GPT-2 keeps $W_Q$, $W_K$ and $W_V$ of all heads side by side; `w_qkv` (d_model, 3 · d_k) is one head's.
    Return its q, k and v for x (…, n, d_model), with any axes in front.
    """,
    mistakes=changes("""
        together.chunk(3, dim=-1) => (together[..., first::3] for first in range(3))
        You deal the columns out in turn: the matrices lie side by side, so which belong to W_Q?
        dim=-1 => dim=-2
        You cut between tokens: which axis holds the features?
        together.chunk(3, dim=-1) => (x @ part for part in w_qkv.chunk(3))
        You cut between the rows of w_qkv, one for each feature of x: where are its three matrices?
        return q, k, v => return q, q, q => return q, k, k
        You return one of the parts more than once: which columns belong to the keys, and to the values?
        return q, k, v => return q, k, x
        You return x for the values: which third of the columns belongs to them?
        return q, k, v => return q, k, together[..., q.shape[-1] :]
        Your values begin after the queries: which columns come between?
        together.chunk(3, dim=-1) => together.reshape(3, *x.shape[:-1], -1)
        A reshape reads row by row, so it mixes the three matrices: which axis is to be cut?
        together.chunk(3, => together[..., :6].chunk(3,
        You cut at the same columns for every d_k: how wide is a part when there are 3 · d_k?
        chunk(3, => tensor_split((x.shape[-1], 2 * x.shape[-1]),
        You cut after d_model columns: how many of the 3 · d_k columns belong to each part?
        chunk(3, dim=-1) => chunk(3, dim=1) => tensor_split((d := w_qkv.shape[-1] // 3, 2 * d), dim=1)
        You cut along axis 1, which holds the features only if there is no axis in front.
    """),
    praise="Each column is computed by itself, so one matrix does as well as three.",
    hints=[
        "Multiply first: the last axis of x @ w_qkv holds the numbers of q, then of k, then of v.",
        "d_k is a third of the last axis: w_qkv.shape[-1] // 3.",
        "A slice such as [..., :d_k] cuts the last axis, however many are in front; so does .chunk.",
    ],
    solution="""
def my_projections(x, w_qkv):
    # x (…, n, d_model), w_qkv (d_model, 3 · d_k) -> tensors q, k, v, each (…, n, d_k)
    together = x @ w_qkv  # (…, n, d_model) @ (d_model, 3 · d_k) -> (…, n, 3 · d_k)
    q, k, v = together.chunk(3, dim=-1)  # three of (…, n, d_k)
    return q, k, v
""",
)
