"""The exercises of page 07: what no mix can reach, weights made visible, one more word for a mix."""

import torch

from mha_course.exercises import Calls, FunctionExercise, ValueExercise, case, changes, numbers

out_of_reach = ValueExercise(
    "7.1 ★ · 4 min · What no query can collect",
    task="""
    Four words have the values (0, 0), (4, 0), (0, 4) and (1, 1). No mask hides a word, so softmax, on
    paper, gives each a share above 0. Which of these points can then be the output of **no** query?

    **a** (1, 2.5) · **b** (2.5, 2.5) · **c** (2, 2) · **d** (1, 1) · **e** (4, 0)
    """,
    stub='my_points = ...  # a set of letters, such as {"a", "b"}',
    mistakes=[
        ({"a", "d"}, "Those are the points that a query can reach: the task asks for the others."),
        ("d", "(1, 1) lies inside the triangle: can the three corners be mixed so that they balance there?"),
        ("a", "Point a: draw the triangle. Does its long edge pass above (1, 2.5), or below?"),
        ("b", "Point b: draw the triangle. Is it enough that both numbers lie between 0 and 4?"),
        ("c", "Point c lies on an edge: what weights would words not at its ends get?"),
        ("e", "Point e is a corner: what weights would the other three words need?"),
    ],
    praise="With every weight above 0 an output lies inside the hull, not on its edge; (1, 1) is inside.",
    hints=[
        "Draw the four values and join the outer three. Where does (1, 1) lie?",
        "The long edge holds the points whose two numbers add up to 4.",
        "A point on an edge is a mix of its two ends only. What weight do the other words have then?",
    ],
    solution="""
my_points = {"b", "c", "e"}  # outside; on the edge, which needs two weights of 0; a corner, which needs three
""",
)


class ByItsCall(FunctionExercise):
    """A right result is not enough: it must come out of PyTorch's function."""

    def _broken_rule(self, answer, cases, outcomes):
        with Calls() as calls:
            self._run(answer, cases[0])
        if "scaled_dot_product_attention" not in calls.names:
            return "your code never calls F.scaled_dot_product_attention."
        return super()._broken_rule(answer, cases, outcomes)


hidden_weights = ByItsCall(
    "7.2 ★★ · 7 min · Make hidden weights visible",
    without=("softmax", "softmin", "exp", "pow", "rpow"),  # rpow is math.e ** scores
    axes=("sentence", "head", "query", "key"),
    describe=lambda weights, _: None if weights.any() else "is 0 everywhere, as a mix of zeros is",
    cases=lambda: [
        case(numbers(1, 3, 4), numbers(1, 5, 4, seed=1), label="with one head"),
        case(numbers(2, 3, 4, 6), numbers(2, 3, 7, 6, seed=1), label="with a batch and heads in front"),
        case(numbers(3, 4), numbers(2, 4, seed=1), label="without any axis in front"),
        case(numbers(1, 1), numbers(1, 1, seed=1), label="with one query and one key"),
    ],
    task="""
    PyTorch’s `F.scaled_dot_product_attention(q, k, v)` returns its output and keeps its weights to
    itself. But you choose v! Return the weights for q (…, n_q, d_k) and k (…, n_k, d_k) by calling it
    with values of your own, without computing a score or a softmax yourself.
    """,
    mistakes=changes("""
        torch.eye(k.shape[-2]) => torch.ones(k.shape[-2], k.shape[-2]) => torch.ones(k.shape[-2:])
        With ones you see only that the weights add up to 1: which values tell the words apart?
        one_for_each_word) => k)
        You mix the keys: which values would leave each weight in a column of its own?
        torch.eye(k.shape[-2]) => torch.arange(0.0, k.shape[-2])[:, None]
        One number per word gives one sum per query: how many numbers keep all the weights apart?
        one_for_each_word) => one_for_each_word, is_causal=True)
        A causal mask hides words that these queries may see.
        my_weights(q, k) => my_weights(k, q)
        Your keys ask and your queries answer: whose rows should the result have?
    """),
    praise="Values that tell words apart turn outputs into weights, of any kernel that takes values so wide.",
    hints=[
        "An output is weight 1 · value 1 + weight 2 · value 2 + …: which values let you read off weight 1?",
        "Give the first word (1, 0, 0, …), the second (0, 1, 0, …), and so on: torch.eye makes that table.",
        "There is one such table for each head: .expand(*k.shape[:-1], -1) repeats it.",
    ],
    solution="""
def my_weights(q, k):
    # (…, n_q, d_k), (…, n_k, d_k) -> (…, n_q, n_k)
    one_for_each_word = torch.eye(k.shape[-2]).expand(*k.shape[:-1], -1)  # (…, n_k, n_k)
    return torch.nn.functional.scaled_dot_product_attention(q, k, one_for_each_word)
""",
)


def _parts_of(output, _):
    """Say what a wrong output takes of each for the first input, (2, 0, 1) and (0, 4, 1)."""
    if output.shape == (3,) and abs(output[0] / 2 + output[1] / 4 - output[2]) < 1e-4:
        old, new = output[:2] / torch.tensor([2.0, 4.0])
        mix = f"is {old:.3g} · the old output + {new:.3g} · the value".replace("+ -", "− ").replace("-", "−")
        shares = "where the powers are 3 and 1: to what do the two shares add up, and which belongs to whom?"
        return f"{mix}, {shares}"


one_more_word = FunctionExercise(
    "7.3 ★★★ · 11 min · One more word",
    returns=("output", "total"),
    describe=_parts_of,
    cases=lambda: [
        case(torch.tensor([2.0, 0, 1]), torch.tensor(3.0), torch.tensor(0.0), torch.tensor([0, 4.0, 1])),
        case(numbers(5), torch.tensor(2.5), torch.tensor(-1.2), numbers(5, seed=1)),
        case(numbers(3), torch.tensor(0.4), torch.tensor(1.7), numbers(3, seed=1)),
        case(numbers(1), torch.tensor(2.5), torch.tensor(-1.2), numbers(1, seed=1), label="with d_v = 1"),
    ],
    task="""
    A model has mixed the values of every word so far. It has kept only two things: the `output`, and `total`,
    the sum of e to the power of their scores. Now one more word arrives, with its `score` and its `value`
    (d_v). Return the new output and the new total, as if softmax had seen all words at once. Leave what you
    are handed as it is.
    """,
    mistakes=changes("""
        power = score.exp() => power = (score / len(value) ** 0.5).exp()
        You divide the score by √d_v: do values take part in a score?
        power = score.exp() => power = 2**score
        You raise 2 to the power of the score: which number does softmax raise?
        power = score.exp() => power = score
        You weight by the score itself: what does softmax make of a score first?
        , new_total => , total
        The output is right; does the total still include all words?
        , new_total => , total + score
        The output is right; the total is a sum of powers, not of scores.
    """),
    praise="All earlier weights shrink by one factor. FlashAttention takes away the largest score, too.",
    hints=[
        "total · output is the sum of power · value over all words so far, before it was divided.",
        "Add the new word to this sum: e to the power of its score, times its value.",
        "Then divide by the new total, which has grown by e to the power of the new score.",
    ],
    solution="""
def my_update(output, total, score, value):
    # (d_v), one number, one number, (d_v) -> the new output (d_v), the new total
    power = score.exp()
    new_total = total + power
    return (total * output + power * value) / new_total, new_total
""",
)
