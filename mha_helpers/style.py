"""Colours, colour maps and token labels: one place for every figure, table, explorer and slide.

The colours stay apart for the three kinds of colour blindness: query, key and value are from Okabe and
Ito (2008), the output's is darker than all three, the heads are from Paul Tol's "muted" scheme. The colour
maps grow steadily darker, so that they survive greyscale. tests/unit/test_palettes.py measures it.
"""

import functools
import html
import math
import unicodedata

COLOURS = {
    "query": "#0072B2",
    "key": "#D55E00",
    "value": "#009E73",
    "output": "#560D5A",
    "masked": "#8C8C8C",
    "may attend": "#BBD8EA",  # a cell of a mask that is True
    "lit": "#F0B400",  # the cell, row or column that is being talked about
    "ink": "#222222",
    "faint": "#D9D9D9",
}

HEAD_COLOURS = [
    "#332288",
    "#CC6677",
    "#117733",
    "#999933",
    "#AA4499",
    "#88CCEE",
    "#44AA99",
    "#882255",
    "#DDAA33",  # last, since it is near the colour of what is lit
]

WEIGHT_CMAP = "YlGnBu"  # 0 … 1, light to dark
SCORE_CMAP = "PuOr_r"  # diverging, 0 in the middle
VECTOR_CMAP = "BrBG"  # diverging, 0 in the middle: features of x, q, k, v and of outputs

MASKED_HATCH = "////"

CMAPS = {"weights": WEIGHT_CMAP, "scores": SCORE_CMAP, "vectors": VECTOR_CMAP}

FONT_SIZE = 12  # points; at 100 % readable from the back of a room
SCREEN_DPI = 96  # a figure of 9 inches is 864 pixels wide at 100 %
WHOLE_WIDTH = "calc(100% - 4px)"  # of a widget: ipywidgets leaves 2 pixels free on each side
SAVED_DPI = 144  # pixels that are stored: crisp on a projector, and still few


def head_colour(head):
    """Return the colour of head 0, 1, 2, …; after nine heads the colours start again.

    >>> head_colour(0) == head_colour(9)
    True
    """
    return HEAD_COLOURS[head % len(HEAD_COLOURS)]


def short(token, length=14):
    """Cut a long token, so that it fits beside a picture.

    >>> short("internationalisation")
    'international…'
    """
    return token if len(token) <= length else token[: length - 1] + "…"


def display_labels(tokens, what="Tokens"):
    """Return labels that matplotlib can draw with the installed fonts, and a legend in HTML.

    Where no font has a character (Chinese in Colab, emoji nearly everywhere), every token becomes
    its number, and the legend, which a browser draws with its own fonts, says which is which. The
    legend is "" where it is not needed; ``what`` is its first word. A dollar sign is escaped: two would
    start a formula.

    >>> display_labels(["cat", "eats", "fish"])
    (['cat', 'eats', 'fish'], '')
    """
    plain = [_printable(str(token)) for token in tokens]
    if all(drawable(token) for token in plain):
        return [short(token).replace("$", r"\$") for token in plain], ""
    labels = [str(number) for number in range(1, len(tokens) + 1)]
    entries = " · ".join(
        f"<b>{label}</b> {html.escape(token)}" for label, token in zip(labels, plain, strict=True)
    )
    return labels, f"<p>{what} by number: {entries}</p>"


def drawable_names(names, what):
    """Return names as they are, or, as ``display_labels`` does, their numbers and a legend in HTML."""
    labels, legend = display_labels(names, what)
    return (labels, legend) if legend else (list(names), "")


def drawable_text(text, instead=""):
    """Return a title or a name as it is, or ``instead`` where no installed font has a character of it.

    >>> drawable_text("head 1\\nwho acts"), drawable_text("\\uffff", "head 1")
    ('head 1\\nwho acts', 'head 1')
    """
    return text if all(drawable(line) for line in text.splitlines()) else instead


def number(value, decimals=2, trim=True):
    """Write one number as a person would: no ``-0``, a real minus sign, integers as integers.

    ``trim=False`` keeps the zeros at the end, so that the numbers of a column stand below each other.

    >>> number(-0.001), number(-2.0), number(0.5), number(0.5, trim=False), number(float("-inf"))
    ('0', '−2', '0.5', '0.50', '−∞')
    """
    value = float(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    value = round(value, decimals) + 0.0  # + 0.0 turns -0.0 into 0.0
    text = f"{value:.{decimals}f}"
    if trim and "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", "−")


def whole_numbers(values):
    """Say whether every finite number of a tensor is an integer, so that it can be written as one."""
    finite = values[values.isfinite()]
    return bool(((finite - finite.round()).abs() < 1e-5).all())  # 2.0000001 on one machine, 2 on another


def drawing():
    """Return a context in which matplotlib draws in the style of the course, whatever style a learner set."""
    import matplotlib.style

    settings = {
        "font.family": font_families(),
        "font.size": FONT_SIZE,
        "axes.unicode_minus": True,
        "hatch.linewidth": 0.8,
        "text.color": COLOURS["ink"],
        "axes.labelcolor": COLOURS["ink"],
        "xtick.color": COLOURS["ink"],
        "ytick.color": COLOURS["ink"],
        "text.usetex": False,
        "mathtext.fontset": "dejavusans",
    }
    # "default" first: the pictures measure their text, and a dark style or larger type would not fit it.
    return matplotlib.style.context(["default", settings])


def text_colour(colour):
    """Return the colour, darkened until text in it is readable on white (contrast at least 4.5).

    >>> text_colour("#332288")
    '#332288'
    >>> text_colour("#FFFFFF")
    '#747474'
    """
    while contrast(colour, "#FFFFFF") < 4.5:
        colour = "#" + "".join(f"{int(part * 0.96):02X}" for part in _parts(colour))
    return colour


def ink_on(ground):
    """Return white or the ink, whichever is easier to read on this ground.

    >>> ink_on("#081D58"), ink_on("#FFFFD9")
    ('#FFFFFF', '#222222')
    """
    return "#FFFFFF" if white_reads_better(_shares(ground)) else COLOURS["ink"]


def white_reads_better(grounds):
    """Say on which grounds white is easier to read than the ink. Shape: 0 … 1, (…, 3) -> bool (…)."""
    light, ink = _luminance(grounds), _luminance(_shares(COLOURS["ink"]))
    return 1.05 / (light + 0.05) > (light + 0.05) / (ink + 0.05)


def axis_looks(axes):
    """Return how the words on the rows and on the columns look: coloured where they are query and key."""
    if tuple(axes) != ("query", "key"):
        return {}, {}
    return tuple({"color": COLOURS[role], "weight": "bold"} for role in axes)


def contrast(colour, other):
    """Return how far two colours stand apart, from 1 to 21, as WCAG 2.2 counts it.

    >>> contrast("#000000", "#FFFFFF"), contrast("#FFFFFF", "#FFFFFF")
    (21.0, 1.0)
    """
    darker, lighter = sorted(float(_luminance(_shares(one))) for one in (colour, other))
    return (lighter + 0.05) / (darker + 0.05)


def font_families():
    """Return the font families to draw with: the default first, then installed ones with Chinese."""
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    chinese = [
        "Noto Sans CJK SC",
        "Noto Sans CJK JP",
        "Source Han Sans SC",
        "WenQuanYi Zen Hei",
        "WenQuanYi Micro Hei",
        "PingFang SC",
        "Hiragino Sans GB",
        "Microsoft YaHei",
        "SimHei",
        "Arial Unicode MS",
    ]
    return ["DejaVu Sans", *(name for name in chinese if name in installed)]


def drawable(text):
    """Say whether the installed fonts have every character of a text."""
    return all(ord(character) in _glyphs() for character in text)


def _parts(colour):
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


def _shares(colour):
    return [part / 255 for part in _parts(colour)]


def _luminance(shares):
    import numpy as np

    # WCAG 2.2, "relative luminance"; for many colours at once, fast enough to follow a slider.
    shares = np.asarray(shares)
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


def _printable(token):
    # A control character has no glyph in any font.
    return "".join(character for character in token if unicodedata.category(character)[0] != "C")


@functools.cache
def _glyphs():
    from matplotlib import font_manager

    code_points = set()
    for family in font_families():
        path = font_manager.findfont(family, fallback_to_default=True)
        code_points |= set(font_manager.get_font(path).get_charmap())
    return frozenset(code_points)
