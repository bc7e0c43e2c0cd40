"""What mutmut, which ``tools/mutate.py`` runs, needs of the tests."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

COLLECT_TWICE = """
import sys
import pytest

class Names:
    def pytest_collection_modifyitems(self, items):
        self.names = {item.nodeid for item in items}

twice = []
for _ in range(2):
    names = Names()
    assert pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", *sys.argv[1:]], plugins=[names]) == 0
    twice.append(names.names)
print("other names:", sorted(twice[0] ^ twice[1]))
"""


def test_the_tests_keep_their_names_when_they_are_collected_again():
    """mutmut collects the tests more than once in one process; ``ids=`` makes other names of ÷ and √ then."""
    folders = ["tests/exercises", "tests/unit", "tests/explorers"]
    done = subprocess.run(
        [sys.executable, "-c", COLLECT_TWICE, *folders],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "other names: []"
