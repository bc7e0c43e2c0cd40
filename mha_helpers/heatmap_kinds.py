"""The kinds of heatmap: what its numbers mean decides colours, scale and words, live and static."""

from mha_helpers.style import COLOURS, colour_of, number


class Weights:
    """0 to 1, the deeper the more, in the colour of the head. The other kinds change what is theirs."""

    name, axes = "weights", ("query", "key")
    is_written = True  # numbers stand in cells
    trim = False  # they have no zeros at the end
    longest = ("masked", ": its weights add up to 1")  # of a cell's words, and of a row's behind its name

    def colour(self, head):
        return f"head {head + 1}"

    def hues(self, colour):
        """Return the hue of numbers below 0, where there can be any, and that of those above."""
        return [colour_of(colour)]

    def scale(self, values):
        """Return the numbers at both ends of the scale of colours."""
        return 0, 1

    def cell_words(self, value, decimals=2):
        return number(value, decimals, self.trim)

    def row_words(self, values, seen):
        """Say what is seen of the values of a row."""
        return f": its weights add up to {number(sum(seen))}"


class Scores(Weights):
    """Two hues, nothing at 0; beside the colour of queries, keys or values negative numbers are grey."""

    name, trim, longest = "scores", True, ("−1.67", ": −1.67 to −1.67")

    def colour(self, head):
        return None

    def hues(self, colour):
        if colour:
            return [COLOURS["below"], colour_of(colour)]
        return [COLOURS["negative"], COLOURS["positive"]]

    def scale(self, values):
        end = max(map(abs, values), default=0) or 1
        return -end, end

    def row_words(self, values, seen):
        return f": {number(min(seen, default=0))} to {number(max(seen, default=0))}"


class Vectors(Scores):
    name, axes = "vectors", ("", "")


class Mask(Weights):
    """True is filled."""

    name, is_written, longest = "mask", False, ("may attend", " may look at 64 of 64")

    def colour(self, head):
        return "may attend"

    def cell_words(self, value, decimals=2):
        return "may attend" if value else "masked"

    def row_words(self, values, seen):
        return f" may look at {sum(map(bool, values))} of {len(values)}"


KINDS = {kind.name: kind for kind in (Weights(), Scores(), Vectors(), Mask())}


def kind_of(name):
    """Return the kind of this name; raises ``ValueError`` for another."""
    if name not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {name!r}.")
    return KINDS[name]
