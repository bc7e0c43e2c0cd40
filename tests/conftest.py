"""Lets the tests import the course's package and the maintainers' tools from the checkout."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT / "tools", ROOT):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
