"""Exercise 0.1 as two fields of a web page, whose answer the browser judges with the check's own sentences.

``played_exercise.js`` looks an answer up among those that were asked of the check here; what a check says of
any other wrong number is told by a few examples, whose numbers it replaces.
"""

import itertools
import json

import torch

from mha_course.p00_start_here.exercises import SHARES, WAYS, fish_gets

FAR = 77  # a number that is far from the right ones, to be replaced in a sentence
OPENING = f"""<h2 id="exercise">{fish_gets.heading}</h2><p>In head 1 of “cat eats fish” the row of “fish” is
0.576, 0.140,
0.284. “cat” offers (2, 2), “eats” (0, −1), “fish” itself (−1, 1). Which two numbers does “fish” get, to two
decimals?</p>"""
FIELD = '<label>{} <input inputmode="decimal" autocomplete="off" size="8"></label>'
HINT = "<details><summary>Hint {}</summary>{}</details>"


def exercise_html(opening=""):
    """Return the exercise, behind its ``opening``, with all that the browser needs to judge it."""
    fields = f"{FIELD.format('first')}{FIELD.format('second')}<button>check</button>"
    hints = "".join(HINT.format(i, hint) for i, hint in enumerate(fish_gets.hints, start=1))
    carried = json.dumps(given(), ensure_ascii=False)
    return (
        f'<form class="judged">{opening}<div class="controls">{fields}</div><p role="status"></p>{hints}'
        f'<script type="text/plain">{carried}</script></form>\n'
    )


def given():
    """Return the right numbers, what is said of pairs of numbers, and of others by where they lie."""
    right = [round(value, 6) for value in fish_gets.right.tolist()]
    near = itertools.product(*([round(value, 2) + step / 100 for step in range(-3, 4)] for value in right))
    shares = itertools.product(*(column.unique().tolist() for column in (WAYS @ SHARES).T))
    named = [torch.as_tensor(wrong).mul(1.0) for wrong, _ in fish_gets.mistakes]
    named = [each.tolist() for wrong in named for each in (wrong, wrong.round(decimals=1), wrong.round())]
    named = [each for each in named if len(each) == 2]
    pairs = [right, *named, right[::-1], [100 * value for value in right], [0.9, 1.3], *near, *shares]
    first_at, second_at = ({"below": -FAR, "right": value, "above": FAR} for value in right)
    others = {
        f"{first} {second}": said([first_at[first], second_at[second]])
        for first, second in itertools.product(first_at, repeat=2)
    }
    return {
        "right": right,
        "said": [[*pair, said(pair)] for pair in pairs],
        "others": others,
        "times": said([5 * value for value in right]),
    }


def said(pair):
    verdict = fish_gets.verdict(pair)
    return f"{verdict.status.capitalize()}. {verdict.sentence}"
