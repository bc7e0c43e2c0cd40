"""The exercise of the deeper page on scaling: where a head stops answering."""

from mha_helpers.exercises import ValueExercise

_MISTAKES = [
    ({"no scale": 4.585}, "“no scale”, 4.585, is the score that is needed: which whole d_k has it first?"),
    ({"no scale": 3}, "“no scale”: at 3 the answer falls below 0.1: which limit has the task?"),
    ({"no scale": 22, "÷ √d_k": 5}, "Both numbers belong to the other entry: which scores are larger?"),
    ({"÷ √d_k": 21}, "“÷ √d_k”: at 21 the answer is just above 0.01: which whole d_k is the first below it?"),
    ({"no scale": 4}, "“no scale”: at 4 the answer is still above 0.01; print it there and beside it."),
    ({"÷ √d_k": 5}, "“÷ √d_k”: where d_k is 5, the score is √5 only: is the answer below 0.01 there?"),
    ({"÷ √d_k": 3}, "“÷ √d_k”: you take the root of the score; it is itself the root of d_k."),
    ({"no scale": 22}, "“no scale”: no root is taken there, so the score of the match is d_k itself."),
    ({"no scale": 7}, "“no scale”: at 7 the answer falls below 0.001: which limit has the task?"),
    ({"no scale": 6}, "“no scale”: at 6 the answer is below 0.01, but not for the first time."),
    ({"÷ √d_k": 23}, "“÷ √d_k”: at 23 the answer is below 0.01, but not for the first time."),
    ({"÷ √d_k": 25}, "“÷ √d_k” is the square of 5, a score that was rounded up: try whole d_k instead."),
]

still_head = ValueExercise(
    "D4.1 ★★ · 6 min · Where a head falls still",
    right={"no scale": 5, "÷ √d_k": 22},
    task="""
    A query has learned to equal its key, so that this score is d_k; the score of the only other key is 0.
    The matching weight α answers its score with α · (1 − α). From which whole d_k on is the answer below
    0.01, without the scale and with it?
    """,
    stub="""
still_from = {
    "no scale": ...,
    "÷ √d_k": ...,
}
""",
    mistakes=_MISTAKES,
    praise="The scale moves the place where a head that knows falls still from 5 to 22: later, not never.",
    hints=[
        "Two keys, scores s and 0: torch.softmax(torch.tensor([s, 0.0]), dim=-1)[0] is α.",
        "Without the scale s is d_k. With it, s is d_k ÷ √d_k.",
        "Try d_k = 1, 2, 3, … in a loop, and stop at the first answer below 0.01.",
    ],
    solution="""
still_from = {}
for name, power in [("no scale", 1.0), ("÷ √d_k", 0.5)]:
    d_k = 1
    while True:
        weight = torch.softmax(torch.tensor([d_k**power, 0.0]), dim=-1)[0]
        if weight * (1 - weight) < 0.01:
            break
        d_k += 1
    still_from[name] = d_k
""",
)
