"""The states of a Panel as text, which a played page carries and play.js unpacks."""

import base64
import json
import zlib

import numpy as np


def packed(made):
    """Return all ``States`` as text: JSON, deflate, base64."""
    used, first = np.unique(np.concatenate([ids for ids, _, _ in made.shown.values()]), return_index=True)
    order = used[first.argsort()]  # those that are used, in the order of their use
    number = np.zeros(len(made.marks), dtype=np.int32)
    number[order] = np.arange(len(order))
    drawn, states, marks = {}, {}, list(made.marks)  # what several names show is packed once
    for name, (ids, words, settings) in made.shown.items():
        states[name] = drawn.setdefault((runs(number[ids]), words, settings), len(drawn))
    content = {"start": made.start, "ends": made.ends, "states": states, "drawn": list(drawn)}
    content |= {"marks": [marks[i] for i in order], "clicks": made.clicks, "decides": made.decides}
    numbered = dict(enumerate(made.live))
    content["follows"] = [k for k, name in numbered.items() if name in made.follows]
    content["few"] = [k for k, name in numbered.items() if made.offers_few(name)]
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def runs(ids):
    """Return numbers as runs, (gap, count, …): how far each begins behind the end of the one before.

    >>> runs(np.array([4, 5, 6, 0, 1]))
    (4, 3, -7, 2)
    """
    starts = np.flatnonzero(np.diff(ids, prepend=ids[0] - 2) != 1)
    counts = np.diff(starts, append=len(ids))
    gaps = ids[starts] - np.concatenate([[0], (ids[starts] + counts)[:-1]])
    return tuple(np.stack([gaps, counts], axis=1).ravel().tolist())
