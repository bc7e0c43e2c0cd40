"""The exercise of the deeper page on scaling: where a head stops responding."""

import torch

from mha_course.exercises import ValueExercise


def _response_there(d_k, wanted):
    """Say which response the match has at a wrong d_k; without the scale 5 is wanted, with it 22."""
    weight = torch.sigmoid(d_k if wanted == 5 else d_k**0.5)
    match = weight * (1 - weight)
    if d_k % 1:
        return "is no whole number: at which whole d_k is the response below 0.01 for the first time?"
    verdict = "not yet below 0.01" if match >= 0.01 else "but is this the first whole d_k below 0.01?"
    return f"is {d_k:g}, where the response is {match:.4g}, {verdict}"


still_head = ValueExercise(
    "D4.1 ★★ · 12 min · Where a head stops responding",
    task="""
    A query has learned to equal its key, so that this score is d_k; the score of the only other key is 0.
    The matching weight α responds to its score with α · (1 − α). What is the smallest whole d_k at which this
    response is below 0.01, without the scale and with it?
    """,
    describe=_response_there,
    praise="With the scale a confident head stops responding at d_k = 22, not at 5: later, but not never.",
    hints=[
        "Two keys, scores s and 0: torch.softmax(torch.tensor([s, 0.0]), dim=-1)[0] is α.",
        "Without the scale s is d_k. With it, s is d_k ÷ √d_k.",
        "Try d_k = 1, 2, 3, … in a loop, and stop at the first response below 0.01.",
    ],
    solution="""
still_from = {}
for name, power in [("no scale", 1.0), ("÷ √d_k", 0.5)]:
    d_k, response = 0, 1.0
    while response >= 0.01:
        d_k += 1
        weight = torch.softmax(torch.tensor([d_k**power, 0.0]), dim=-1)[0]
        response = weight * (1 - weight)
    still_from[name] = d_k
""",
)
