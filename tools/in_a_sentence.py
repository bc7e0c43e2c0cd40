"""Trouble with a file or folder, said in a sentence instead of a traceback, whatever letters there are."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable

from failures import show_every_letter

Main = Callable[[list[str] | None], int]


def in_a_sentence(main: Main) -> Main:
    """The command's `main`, which prints what the system says of a file and returns 1."""

    @functools.wraps(main)
    def told(arguments: list[str] | None = None) -> int:
        show_every_letter()
        try:
            return main(arguments)
        except OSError as error:
            print(error, file=sys.stderr)
            return 1

    return told
