#!/usr/bin/env python3
"""The two commands of this course. They need nothing but Python 3.10 or newer.

    python3 course.py lab     open the course in JupyterLab
    python3 course.py test    check that everything in it still works

The first time, each makes the folder .venv with all that the course needs; after that they start at once.
`python3 course.py --help` lists the rest. What they do is in tools/commands.py.
"""

# This file must be understood by every Python back to 2.7, or an old one could not say what is wrong.
import os
import sys

if sys.version_info < (3, 10):  # noqa: UP036
    sys.exit(
        "This course needs Python 3.10 or newer, and this is Python %d.%d: get a newer one from"  # noqa: UP031
        " https://www.python.org/downloads/ and run this command with it." % sys.version_info[:2]
    )

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from tools.commands import main

    sys.exit(main())
