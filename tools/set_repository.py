"""Write the course's address on GitHub into its pages and the README, or take it out again.

    python tools/set_repository.py owner/name
    python tools/set_repository.py owner/name --branch trunk
    python tools/set_repository.py --clear

With an address the set-up cell installs the helpers in Colab, every page has a Colab badge below its opening
lines, and the README has a Colab and a Binder badge below its title. Running it twice changes nothing.
"""

import argparse
import re
import sys

import nbformat
from refresh import ROOT, all_pages, as_text, is_setup_cell, setup_cell

BADGES = re.compile(r"\n\n\[!\[Open in Colab\][^\n]*")


def colab_badge(repository, branch, path):
    image = "https://colab.research.google.com/assets/colab-badge.svg"
    page = f"https://colab.research.google.com/github/{repository}/blob/{branch}/{path}"
    return f"[![Open in Colab]({image})]({page})"


def binder_badge(repository, branch):
    page = f"{repository}/{branch}?urlpath=lab/tree/notebooks/00_start_here.ipynb"
    return f"[![Open in Binder](https://mybinder.org/badge_logo.svg)](https://mybinder.org/v2/gh/{page})"


def page_with_address(path, repository, branch):
    """Return the text of a page with the address in its set-up cell and its badge; "" takes both out."""
    page = nbformat.read(path, as_version=4)
    for cell in page.cells:
        if is_setup_cell(cell.source):
            cell.source = setup_cell(repository)
    opening = page.cells[0]
    opening.source = BADGES.sub("", opening.source)
    if repository:
        opening.source += "\n\n" + colab_badge(repository, branch, path.relative_to(ROOT).as_posix())
    return as_text(page)


def readme_with_badges(text, repository, branch):
    text = BADGES.sub("", text)
    if not repository:
        return text
    title, rest = text.split("\n", 1)
    start = colab_badge(repository, branch, "notebooks/00_start_here.ipynb")
    return f"{title}\n\n{start} {binder_badge(repository, branch)}\n{rest}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("repository", nargs="?", help="owner/name on GitHub")
    what.add_argument("--clear", action="store_true", help="take address and badges out")
    parser.add_argument("--branch", default="main", help="the branch that the badges open (default: main)")
    options = parser.parse_args(arguments)
    repository = options.repository or ""
    if repository and not re.fullmatch(r"[\w-]+/[\w.-]+", repository, re.ASCII):
        return f"{repository!r} is not of the form owner/name, as in octocat/attention-course"
    readme = ROOT / "README.md"
    new = {path: page_with_address(path, repository, options.branch) for path in all_pages()}
    new[readme] = readme_with_badges(readme.read_text(encoding="utf-8"), repository, options.branch)
    changed = [path for path, text in new.items() if text != path.read_text(encoding="utf-8")]
    for path in changed:
        path.write_text(new[path], encoding="utf-8", newline="\n")
    print("Changed: " + ", ".join(path.name for path in changed) if changed else "Nothing to change.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
