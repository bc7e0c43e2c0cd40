"""What mutmut, which ``tools/mutate.py`` runs, needs of the tests, and what its list of survivors may hold."""

import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import mutate

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


LISTED_PLACES = sorted(
    set(re.findall(r"^- `([^`]+)`: `.+`$", mutate.LISTED.read_text("utf-8"), re.MULTILINE))
)


@pytest.mark.parametrize("place", LISTED_PLACES)
def test_what_the_list_names_is_there(place):
    assert callable(pkgutil.resolve_name(f"mha_helpers.{place}"))


def test_the_list_has_no_line_that_the_tool_would_not_read():
    lines = [line for line in mutate.LISTED.read_text("utf-8").splitlines() if line.startswith("- ")]
    assert len(lines) == len(set(lines)) > 100
    assert not [line for line in lines if not re.fullmatch(r"- `[\w.]+`: `.+`", line)]


def test_an_entry_whose_mutant_does_not_survive_is_named():
    kept, gone, other = "- `masks.one`: `a`", "- `masks.two`: `b`", "- `masks_of.one`: `a`"
    listed = ["Masks.", kept, gone, other]
    assert mutate.outdated({kept}, ["masks", "attention"], listed) == [gone]
    assert mutate.outdated({kept, gone}, ["masks"], listed) == []
    assert mutate.outdated({kept}, ["attention"], listed) == []
