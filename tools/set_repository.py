"""Write the course's address on GitHub into its pages and the README, or take it out again.

    python -m tools.set_repository owner/name
    python -m tools.set_repository               # takes it out again

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
from tools.notebook import ROOT, all_pages, as_text, name_of, setup_cell

PLAYS, IN_COLAB = "Play with it in your browser", "Open in Colab"
BADGES = re.compile(rf"\n\n(?:\*\*\[{PLAYS}\]|\[!\[{IN_COLAB}\])[^\n]*")
COLAB = (
    f"[![{IN_COLAB}](https://colab.research.google.com/assets/colab-badge.svg)]"
    "(https://colab.research.google.com/github/{repository}/blob/main/{path})"
)
OF_PAGE = f"\n\n{COLAB} [Play with this page in your browser]({{played}}{{name}}.html)"
OF_README = (
    f"\n\n**[{PLAYS}]({{played}})**: nothing to install, the first slider moves at once.\n\n{COLAB} "
    "[![Open in Binder](https://mybinder.org/badge_logo.svg)]"
    "(https://mybinder.org/v2/gh/{repository}/main?urlpath=lab/tree/{path})"
)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", nargs="?", default="", help="owner/name on GitHub; none takes it out")
    repository = parser.parse_args(arguments).repository
    if repository and not re.fullmatch(r"[\w-]+/[\w.-]+", repository, re.ASCII):
        return f"{repository!r} is not of the form owner/name, as in octocat/attention-course"
    owner, _, course = repository.partition("/")
    played = f"https://{owner.lower()}.github.io/{course}/"

    def badges(form, path, name=""):
        address = {"repository": repository, "played": played, "path": path, "name": name}
        return form.format(**address) if repository else ""

    new = {}
    for path in all_pages():
        page = nbformat.read(path, as_version=4)
        opening, setup = page.cells[:2]
        setup.source = setup_cell(repository)
        shown = badges(OF_PAGE, path.relative_to(ROOT).as_posix(), name_of(path))
        opening.source = BADGES.sub("", opening.source) + shown
        new[path] = as_text(page)
    readme = ROOT / "README.md"
    text = BADGES.sub("", readme.read_text(encoding="utf-8"))
    new[readme] = text.replace("\n", f"{badges(OF_README, FIRST_PAGE)}\n", 1)
    changed = [path for path, text in new.items() if text != path.read_text(encoding="utf-8")]
    for path in changed:
        path.write_text(new[path], encoding="utf-8", newline="\n")
    print("Changed: " + ", ".join(path.name for path in changed) if changed else "Nothing to change.")
    if repository:
        print(f"On GitHub choose Settings → Pages → GitHub Actions; the pages will play at {played}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
