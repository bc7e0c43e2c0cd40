"""What a learner sees of an exercise: the line that ``check`` prints, the hints one by one, the solution."""

import os
from dataclasses import dataclass

import __main__

WITHOUT_CELLS = "Here there is no cell to write in: open this page in JupyterLab to do it."
NOT_ATTEMPTED, NOT_YET, CORRECT = "not attempted yet", "not yet", "correct"


@dataclass(frozen=True)
class Verdict:
    """What ``check`` prints after the number; it is true if the answer is correct."""

    status: str
    sentence: str

    def __bool__(self):
        return self.status == CORRECT

    def require(self):
        """Raise ``AssertionError`` with the sentence unless the answer is correct."""
        if not self:
            raise AssertionError(f"{self.status}: {self.sentence}")

    def _ipython_display_(self):
        """Show nothing where a cell ends in it, because ``check`` has printed the words."""

    def _mime_(self):  # the same for marimo
        return "text/html", ""


class Shown:
    """The half of an exercise that prints; ``engine.py`` judges."""

    _hints_shown, _checked = 0, ...

    def check(self, answer=...):
        """Print one line: correct, not yet with the reason, or not attempted yet; return the ``Verdict``."""
        self._checked, verdict = answer, self.verdict(answer)
        # So Voilà tells its kernels.
        without_cells = os.environ.get("SERVER_SOFTWARE", "").startswith("voila")
        sentence = WITHOUT_CELLS if without_cells and not verdict else verdict.sentence
        print(f"Exercise {self.number}: {verdict.status}. {sentence}")
        return verdict

    def or_ours(self):
        """Return the learner's answer if it is right, else the solution; say with which the page goes on."""
        answer = self._checked  # under its name there may be ours, of the last run; marimo renames it
        if answer is ...:
            answer = getattr(__main__, self.variable, ...)  # none, where a slip of the pen stops its cell
        status = self.verdict(answer).status
        if status == CORRECT:
            print("The page goes on with yours.")
            return answer
        yours = "You have not written yours" if status == NOT_ATTEMPTED else "Yours is not right"
        print(yours, "yet, so the page goes on with ours; come back to it at any time.")
        return self.made_by(self.solution_code)

    def hint(self):
        """Print the next hint; after the last, all of them."""
        if self._hints_shown == len(self.hints):
            print(f"Exercise {self.number}: there are no more hints. .solution() shows the code.")
        first = self._hints_shown % len(self.hints)
        self._hints_shown = min(self._hints_shown + 1, len(self.hints))
        for index in range(first, self._hints_shown):
            print(f"Exercise {self.number}, hint {index + 1} of {len(self.hints)}: {self.hints[index]}")

    def solution(self):
        """Print the code of one solution."""
        print(self.solution_code)
