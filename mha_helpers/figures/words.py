"""What a person would say of a matrix: the text alternatives of the heatmaps.

Numbers are rounded to two decimals, so that the text is the same on every machine.
"""

from mha_helpers.style import number

OPENINGS = {"weights": "Attention weights", "scores": "Scores", "vectors": "Vectors"}
SPELT_OUT = 8  # up to so many rows and columns are described one by one
EQUAL = 1e-4  # which of two numbers that are equal up to rounding comes out larger differs between machines
STRIPE = 0.3  # the mean weight from which a diagonal of a larger picture is named


def describe(matrix, rows, columns, kind, allowed, axes, title=""):
    """Describe a (rows, columns) matrix. ``allowed`` is a bool matrix, True = may attend.

    ``axes`` are the words for one row and for one column, as ("query", "key").
    """
    describers = {"weights": _weights, "scores": _scores, "vectors": _vectors}
    opening = f"{title or OPENINGS[kind]}, {count(len(rows), axes[0])} × {count(len(columns), axes[1])}."
    return " ".join([opening, *describers[kind](matrix, rows, columns, allowed), *_masked(allowed)])


def _weights(matrix, rows, columns, allowed):
    if len(rows) <= SPELT_OUT:
        return ["; ".join(map(_attends, rows, matrix, allowed, [columns] * len(rows))) + "."]
    choose = allowed.sum(dim=-1) > 1  # a single key gets 1, whatever its query looks for
    where, of = "The", "a row"
    if choose.any() and not choose.all():
        where, of = "Of the rows with more than one key, the", "such a row"
        allowed = allowed & choose[:, None]
    seen = matrix.masked_fill(~allowed, -1).nan_to_num(nan=-1)
    if seen.max() < 0:
        return ["No query has a weight to read."]
    i, j = (seen > seen.max() - EQUAL).nonzero()[0].tolist()
    rows_seen = seen[allowed.any(dim=-1)] if allowed.any() else seen
    average = number(rows_seen.clamp(min=0).max(dim=-1).values.mean(), trim=False)
    return [
        f"{where} largest weight is {number(seen[i, j], trim=False)}: query {numbered(i, rows)} on key"
        f" {numbered(j, columns)}.",
        f"On average the largest weight of {of} is {average}.",
        *_stripes(matrix, allowed),
    ]


def _stripes(weights, allowed):
    """Name the one or two diagonals of a square matrix on which much of the weight lies."""
    n = len(weights)
    if weights.shape != (n, n):
        return []
    means = {}
    for ahead in range(1 - n, n):
        on = weights.diagonal(ahead)[allowed.diagonal(ahead)]
        # A dark column crosses every diagonal: one cell that holds most of it makes no stripe.
        if 4 * len(on) >= n and on.mean() >= STRIPE and 2 * on.max() < on.sum():
            means[ahead] = on.mean()
    strongest = sorted(means, key=means.get, reverse=True)[:2]
    if not strongest:
        return []
    stripes = [f"{number(means[ahead], trim=False)} on {_key_at(ahead)}" for ahead in strongest]
    return [f"Averages along a diagonal: {join(stripes)}."]


def _key_at(ahead):
    if ahead == 0:
        return "the query's own place"
    return f"the key {abs(ahead)} {'after' if ahead > 0 else 'before'} the query"


def _attends(row, weights, allowed, columns):
    if weights[allowed].isnan().any():
        return f"{row} has no weights (nan)"
    if not allowed.any() or not weights[allowed].any():
        return f"{row} attends to nothing"
    winners = largest(weights, allowed)
    weight = number(weights[winners[0]], trim=False)
    if len(winners) > 2 and len(winners) == int(allowed.sum()):
        return f"{row} attends equally to all {len(winners)} keys it may see ({weight} each)"
    if len(winners) > 1:
        return f"{row} attends most to {join([columns[j] for j in winners])} ({weight} each)"
    return f"{row} attends most to {columns[winners[0]]} ({weight})"


def _scores(matrix, rows, columns, allowed):
    sentences = []
    shown = matrix[allowed & matrix.isfinite()]
    if len(shown):
        sentences.append(f"The scores go from {number(shown.min())} to {number(shown.max())}.")
    if len(rows) <= SPELT_OUT:
        sentences.append("; ".join(map(_fits, rows, matrix, allowed, [columns] * len(rows))) + ".")
    return sentences


def _fits(row, scores, allowed, columns):
    if scores[allowed].isnan().any():
        return f"{row} has no scores (nan)"
    if not allowed.any():
        return f"{row} may attend to nothing"
    winners = largest(scores, allowed)
    return f"{row} scores highest with {join([columns[j] for j in winners])} ({number(scores[winners[0]])})"


def _vectors(matrix, rows, columns, allowed):
    if len(rows) <= SPELT_OUT and len(columns) <= SPELT_OUT:
        vectors = (
            f"{row}: {', '.join(number(value) for value in values)}"
            for row, values in zip(rows, matrix, strict=True)
        )
        numbered = columns == [str(place + 1) for place in range(len(columns))]
        names = [] if numbered else [f"Columns: {', '.join(columns)}."]
        return [*names, "; ".join(vectors) + "."]
    shown = matrix[matrix.isfinite()]
    return [f"The numbers go from {number(shown.min())} to {number(shown.max())}."] if len(shown) else []


def numbered(index, labels):
    own = str(index + 1)
    return own if labels[index] == own else f"{own} ({labels[index]})"


def count(amount, one):
    """Return "1 key", "2 keys", "2 queries".

    >>> count(2, "query")
    '2 queries'
    """
    many = f"{one[:-1]}ies" if one.endswith("y") and not one.endswith("ey") else f"{one}s"
    return f"{amount} {one if amount == 1 else many}"


def is_or_are(amount):
    return "is" if amount == 1 else "are"


def _masked(allowed):
    masked = int((~allowed).sum())
    return [f"Masked: {masked} of {allowed.numel()} cells."] if masked else []


def largest(values, allowed):
    """Return the places of the largest allowed value: of several, where they are equal up to rounding."""
    highest = values[allowed].max()
    equal = allowed & ((values == highest) | ((values - highest).abs() < EQUAL))
    return equal.nonzero().flatten().tolist()


def named(tokens, place, line="column"):
    """Return “cat”, or “the” in column 5 where the token stands more than once; a query stands in a row.

    >>> named(["the", "cat", "the"], 1), named(["the", "cat", "the"], 2)
    ('“cat”', '“the” in column 3')
    """
    again = list(tokens).count(tokens[place]) > 1
    return f"“{tokens[place]}”" + (f" in {line} {place + 1}" if again else "")


def join(names):
    """Return "cat", "cat and now", "cat, eats and now"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
