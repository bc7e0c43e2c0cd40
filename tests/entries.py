"""A file of kept entries, each a line that begins with "@", what else names it, and after ">" what is kept."""

import math
import re

NUMBER = re.compile(r"(?<![#\w])-?\d+\.?\d*")


def entries(file):
    """Return what a file keeps, by the name of each entry; there is nothing in a file that is not there yet."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    parts = re.split(r"^@ ", text, flags=re.MULTILINE)[1:]
    pairs = (part.partition("\n>")[::2] for part in parts)
    return {name: value.strip() for name, value in pairs}


def written(kept):
    return "\n".join(f"@ {name}\n> {value}\n" for name, value in kept.items())


def alike(before, now, **closeness):
    """Tell whether two texts differ at most in numbers, which are as close as ``math.isclose`` is told."""
    if NUMBER.sub("0", before) != NUMBER.sub("0", now):
        return False
    pairs = zip(NUMBER.findall(before), NUMBER.findall(now), strict=True)
    return all(math.isclose(float(a), float(b), **closeness) for a, b in pairs)
