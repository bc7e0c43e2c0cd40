"""The states of a Panel as text, which a played page carries and play.js unpacks.

A picture is a row of parts. Pictures with as many parts stand below each other, and each column is packed for
itself, as one letter a picture: what lies there is alike, so little is left of it.
"""

import base64
import json
import re
import zlib

import numpy as np

FIRST = 35  # the letter of the part that is met most often: what JSON would escape lies below
LABEL = re.compile(' aria-label="[^"]*"')  # the words of a picture, which are kept once
# Where a part ends and the next begins: round the numbers of a cell, and before other marks.
CUTS = [('fill-opacity="', ""), ("", '"/><text class="tip"'), (": ", "")]
CUTS += [("", "</text></g>"), ("", "<g "), ("", "<text x")]


def parts(svg):
    """Return a picture without its label, cut where pictures begin to differ.

    >>> parts('<svg aria-label="a: 1"><g x=""><rect fill-opacity="0.5"/></g>')
    ['<svg>', '<g x=""><rect fill-opacity="', '0.5"/></g>']
    """
    svg = LABEL.sub("", svg, count=1)
    for before, after in CUTS:
        svg = svg.replace(before + after, f"{before}\0{after}")
    return svg.split("\0")


def packed(made):
    shapes, drawn, states = {}, {}, {}
    for name, (ids, words, settings) in made.shown.items():
        rows = shapes.setdefault(len(ids), {})
        picture = len(ids), rows.setdefault(ids.tobytes(), len(rows))
        own = None if name == ",".join(map(str, settings)) else settings
        states[name] = drawn.setdefault((*picture, words, own), len(drawn))
    pictures = {n: np.frombuffer(b"".join(rows), np.int32).reshape(-1, n) for n, rows in shapes.items()}
    letters, order = lettered(pictures.values(), len(made.parts))
    every, numbered = list(made.parts), dict(enumerate(made.controls))
    content = {
        "start": made.start,
        "states": states,
        "drawn": list(drawn),
        "parts": [every[i] for i in order],
        "columns": {count: columns(letters[rows]) for count, rows in pictures.items()},
        "clicks": made.clicks,
        "decides": made.decides,
        "follows": [k for k, name in numbered.items() if name in made.follows],
        "few": [k for k, name in numbered.items() if made.offers_few(name)],
    }
    return deflated(content)


def lettered(pictures, count):
    """Return the letter of each part, its number in Unicode, and the parts in the order of their letters."""
    varying = np.concatenate([rows[:, (rows != rows[0]).any(axis=0)].ravel() for rows in pictures])
    met = np.bincount(varying, minlength=count)
    for rows in pictures:
        met[rows[0]] += 1
    order = np.argsort(-met, kind="stable")[: np.count_nonzero(met)]
    letters = np.zeros(count, dtype="<u4")
    letters[order] = FIRST + np.arange(len(order))
    return letters, order.tolist()


def columns(letters):
    """Return each column as text; where all its letters are alike, as this one."""
    texts = [column.tobytes().decode("utf-32-le") for column in letters.T]
    return [text[0] if text == text[0] * len(text) else text for text in texts]


def deflated(content):
    """Return content as text that a page carries: JSON, deflate, base64."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()
