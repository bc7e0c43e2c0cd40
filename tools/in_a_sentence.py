"""Trouble with a file or folder, said in a sentence instead of a traceback, whatever letters there are."""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Callable

Main = Callable[[list[str] | None], int]


def in_a_sentence(main: Main) -> Main:
    """The command's `main`, which prints what the system says of a file and returns 1.

    A letter that the screen, file or pipe does not know, as "→" where Windows writes cp1252, becomes "?".
    """

    @functools.wraps(main)
    def told(arguments: list[str] | None = None) -> int:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        try:
            return main(arguments)
        except OSError as error:
            print(error, file=sys.stderr)
            return 1

    return told
