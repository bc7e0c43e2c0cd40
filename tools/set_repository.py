"""Write the course's address on GitHub into its pages and the README, or take it out again.

    python -m tools.set_repository owner/name
    python -m tools.set_repository owner/name --branch trunk
    python -m tools.set_repository --clear

With an address the set-up cell installs the helpers in Colab. Every page has below its opening lines a Colab
badge and a link to the page that plays without a kernel; the README has below its title a link to all of
these, a Colab and a Binder badge. `.github/workflows/pages.yml` publishes them. Running it twice changes
nothing.
"""

import argparse
import re
import sys

import nbformat

from course import FIRST_PAGE
from tools.notebook import ROOT, all_pages, as_text, is_setup_cell, name_of, setup_cell

PLAYS, IN_COLAB = "Play with it in your browser", "Open in Colab"
BADGES = re.compile(rf"\n\n(?:\*\*\[{PLAYS}\]|\[!\[{IN_COLAB}\])[^\n]*")


def colab_badge(repository, branch, path):
    image = "https://colab.research.google.com/assets/colab-badge.svg"
    page = f"https://colab.research.google.com/github/{repository}/blob/{branch}/{path}"
    return f"[![{IN_COLAB}]({image})]({page})"


def played_at(repository, page=""):
    """Return where GitHub Pages shows a page, or the list of them."""
    owner, name = repository.split("/")
    return f"https://{owner.lower()}.github.io/{name}/{page}"


def page_with_address(path, repository, branch):
    """Return the text of a page with the address in its set-up cell and its badge; "" takes both out."""
    page = nbformat.read(path, as_version=4)
    opening, setup = page.cells[:2]
    if is_setup_cell(setup.source):
        setup.source = setup_cell(repository)
    opening.source = BADGES.sub("", opening.source)
    if repository:
        colab = colab_badge(repository, branch, path.relative_to(ROOT).as_posix())
        played = played_at(repository, f"{name_of(path)}.html")
        opening.source += f"\n\n{colab} [Play with this page in your browser]({played})"
    return as_text(page)


def readme_with_badges(text, repository, branch):
    text = BADGES.sub("", text)
    if not repository:
        return text
    title, rest = text.split("\n", 1)
    played = f"**[{PLAYS}]({played_at(repository)})**: nothing to install, the first slider moves at once."
    colab = colab_badge(repository, branch, FIRST_PAGE)
    binder = f"https://mybinder.org/v2/gh/{repository}/{branch}?urlpath=lab/tree/{FIRST_PAGE}"
    binder = f"[![Open in Binder](https://mybinder.org/badge_logo.svg)]({binder})"
    return f"{title}\n\n{played}\n\n{colab} {binder}\n{rest}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("repository", nargs="?", default="", help="owner/name on GitHub")
    what.add_argument("--clear", action="store_true", help="take address and badges out")
    parser.add_argument("--branch", default="main", help="the branch that the badges open (default: main)")
    options = parser.parse_args(arguments)
    repository = options.repository
    if repository and not re.fullmatch(r"[\w-]+/[\w.-]+", repository, re.ASCII):
        return f"{repository!r} is not of the form owner/name, as in octocat/attention-course"
    readme = ROOT / "README.md"
    new = {path: page_with_address(path, repository, options.branch) for path in all_pages()}
    new[readme] = readme_with_badges(readme.read_text(encoding="utf-8"), repository, options.branch)
    changed = [path for path, text in new.items() if text != path.read_text(encoding="utf-8")]
    for path in changed:
        path.write_text(new[path], encoding="utf-8", newline="\n")
    print("Changed: " + ", ".join(path.name for path in changed) if changed else "Nothing to change.")
    if repository and changed:
        print("Push it, and choose on GitHub: Settings → Pages → GitHub Actions. The pages will play at")
        print(played_at(repository))
    return 0


if __name__ == "__main__":
    sys.exit(main())
