"""What each head adds to the output of one token, as bars in HTML, below the arithmetic of the explorer."""

import html
import math

from mha_helpers import style
from mha_helpers.checks import check_tensors

BAR_WIDTH = 220  # pixels of the longest bar
LONGEST = 16  # the length that fills it with one head; with h heads each adds about 1/√h of that


def contribution_bars_html(contributions, token, heads_on):
    """Show the length of each head's contribution to the output of one token, and of their sum.

    ``contributions[i]`` is row of head i times its block of W_O, so that their sum is the output.

    Shape: contributions ``(h, d_model)``, heads_on a bool for each head. Returns HTML.

    >>> import torch
    >>> print(contribution_bars_html(torch.tensor([[3.0, 4.0]]), "cat", [True])[-29:])
    <span>5.00</span></div></div>
    """
    check_tensors(contributions=contributions)
    heads = len(contributions)
    lengths = contributions.norm(dim=-1).tolist()
    full = LONGEST / math.sqrt(heads)
    cut = f" A bar is full from {style.number(full)} on." if max(lengths) > full else ""
    rows = []
    for head, length in enumerate(lengths):
        width = round(BAR_WIDTH * min(length / full, 1))
        said = style.number(length, 2, trim=False) if heads_on[head] else "off"
        rows.append(
            '<div style="display: flex; align-items: center; gap: 8px; width: 350px">'
            f'<span style="width: 58px">head {head + 1}</span>'
            f'<span style="width: {width}px; height: 12px; background: {style.head_colour(head)}"></span>'
            f"<span>{said}</span></div>"
        )
    total = style.number(contributions.sum(dim=0).norm(), 2, trim=False)
    token = html.escape(style.short(token))
    return (
        f"<p><b>What each head adds to the output of “{token}”:</b> its row times its block of W<sub>O</sub>,"
        f" shown by length. The sum of all has length {total}: arrows in different directions do not add"
        f" their lengths.{cut}</p>"
        f'<div style="display: flex; flex-wrap: wrap; gap: 1px 24px; max-width: 740px;'
        f' margin-bottom: 12px">{"".join(rows)}</div>'
    )
