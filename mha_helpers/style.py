"""Colours and the writing of numbers and names: one place for every table, picture and explorer."""

import functools
import math
import re

# Query, key and value from Okabe and Ito (2008): they stay apart for the three kinds of colour blindness.
COLOURS = {
    "query": "#0072B2",
    "key": "#C75000",
    "value": "#008A63",
    "output": "#7B2D80",
    "positive": "#5B3FA8",  # scores and vectors above 0
    "negative": "#B35806",  # and below
    "below": "#5F5F5F",  # numbers below 0 where those above have the colour of a role
    "masked": "#8C8C8C",
    "may attend": "#0072B2",
    "lit": "#E8A200",  # the cell, row or column that is being talked about
    "ink": "#222222",
    "number": "#000000",  # in a pale cell; those in others are white
    "faint": "#B8B8B8",
    "label": "#747474",  # words on a ground that may be white or black: readable on both
}

# Each is dark enough for white numbers on it and light enough to be seen on a black page.
HEAD_COLOURS = ("#3568B5", "#C4433A", "#2E8540", "#9A4FB0", "#B8651B", "#0E8288", "#C03A78", "#7A5C3E")


@functools.cache
def colour_of(name):
    """Return the "#rrggbb" of a key of ``COLOURS``, of "head 1", "head 2" …, or of a colour itself.

    After eight heads the colours start again. Raises ``ValueError`` for another name.

    >>> colour_of("head 9") == colour_of("head 1"), colour_of("#123456")
    (True, '#123456')
    """
    colour = COLOURS.get(name, name)
    if name.startswith("head "):
        colour = HEAD_COLOURS[(int(name[5:]) - 1) % len(HEAD_COLOURS)]
    if not re.fullmatch("#[0-9a-fA-F]{6}", colour):
        raise ValueError(f"colour must be “#rrggbb” or one of {', '.join(COLOURS)}; got {name!r}.")
    return colour


@functools.cache
def tint(colour, opacity):
    """Return red, green and blue, 0 to 1, of a colour that lies so opaque on white.

    >>> tint("#FF0000", 0.5)
    (1.0, 0.5, 0.5)
    """
    return tuple(1 - opacity * (1 - part / 255) for part in bytes.fromhex(colour_of(colour)[1:]))


@functools.cache
def ink_on(colour):
    """Return black or white, whichever has more contrast on (red, green, blue), each 0 to 1.

    Source: WCAG 2.2, relative luminance.

    >>> ink_on((1, 1, 1)), ink_on(tint("query", 1)), ink_on(tint("query", 0.8))
    ('black', 'white', 'black')
    """
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)
    red, green, blue = linear
    return "white" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179 else "black"


def head_label(head, names=None):
    """Return the label of a head, counted from 1, with its name where it has one.

    >>> head_label(0, ["who acts"]), head_label(1)
    ('head 1: who acts', 'head 2')
    """
    name = names[head] if names and head < len(names) else ""
    return f"head {head + 1}: {name}" if name else f"head {head + 1}"


def short(token, length=14):
    """Cut a long token, so that it fits beside a picture; a capital takes the room of one letter and a half.

    >>> short("internationalisation"), short("INTERNATIONAL")
    ('international…', 'INTERNAT…')
    """
    room = 0
    for i, letter in enumerate(token):
        room += 1.5 if letter.isupper() else 1
        if room > length:
            return token[: i - 1] + "…"
    return token


def number(value, decimals=2, trim=True):
    """Write one number as a person would: no ``-0``, a real minus sign, integers as integers.

    ``trim=False`` keeps the zeros at the end, so that the numbers of a column stand below each other.

    >>> number(-0.001), number(-2.0), number(0.5), number(0.5, trim=False), number(float("-inf"))
    ('0', '−2', '0.5', '0.50', '−∞')
    """
    value = float(value)
    if not math.isfinite(value):
        return str(value).replace("-", "−").replace("inf", "∞")
    text = f"{round(value, decimals) + 0.0:.{decimals}f}"  # + 0.0 turns -0.0 into 0.0
    if trim and "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", "−")


def vector(values, decimals=2):
    """Write the numbers of a vector in brackets.

    >>> vector([-1.0, 0.5])
    '(−1, 0.5)'
    """
    return f"({', '.join(number(value, decimals) for value in values)})"
