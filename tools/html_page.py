"""The frame of a page for a browser, which the reading copy and the papers share."""

from __future__ import annotations

import html

FRAME = """\
<!DOCTYPE html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{head}
</head>
<body>
{body}
</body>
</html>
"""


def html_page(title: str, head: str, body: str) -> str:
    """A whole page. `title` is plain text; `head` (styles) and `body` are HTML already."""
    return FRAME.format(title=html.escape(title), head=head, body=body)
