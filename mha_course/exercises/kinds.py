"""The three kinds of exercise: a value, a function, a test that the learner writes."""

import inspect
import re
import sys
import time
from collections import namedtuple

from mha_course.exercises.compare import among_others, as_python, called, difference, right_answer
from mha_course.exercises.engine import Exercise, candidates, run_code
from mha_course.exercises.relations import ROUNDED, Asked
from mha_course.exercises.running import Calls, copied, explain, page_variable, run, same_outcome

Candidate = namedtuple("Candidate", "name function fact is_right")  # what a test is handed


class ValueExercise(Exercise):
    """The answer is a number, text, set, list, tensor, or a tuple or dict of them.

    ``right``: it, unless it is what the solution computes. ``decimals``: how many are asked for.
    A text is one choice, a set several: those in the task, `"like"` `"this"`, or else those of the mistakes.
    A mistake for a dict may hold some of its entries only, ``({"output": (2, 6)}, "…")``, and ``...`` for
    anything that is wrong there; one for a set may be a single choice, ``("b", "…")``, said where it is
    missing or does not belong: whole sets come first.
    """

    def __init__(self, heading, *, right=None, decimals=None, **rest):
        super().__init__(heading, **rest)
        self.right = self.made_by(self.solution_code) if right is None else right
        offered = re.findall(r'`"(\w+)"`', self.task)
        if not offered:
            parts = [[*wrong.values()] if isinstance(wrong, dict) else [wrong] for wrong, _ in self.mistakes]
            offered = [single for several in parts for single in several if isinstance(single, str | int)]
        self.asked = Asked(decimals, choices=tuple(offered), describe=self.describe)

    def _stub_of_solution(self):
        """Return a `...` for the answer, or for each entry of a dict."""
        name = re.findall(r"^(\w+) = ", self.solution_code, re.MULTILINE)[-1]
        right = run_code(name, self.solution_code, {}, self.page_code)
        if not isinstance(right, dict):
            return f"{name} = ..."
        return "\n".join([f"{name} = {{", *(f'    "{entry}": ...,' for entry in right), "}"])

    def _judge(self, answer):
        right, sentence = right_answer(self.right, self.asked), difference(answer, self.right, self.asked)
        for wrong, words in self.mistakes if sentence else ():
            if right.is_mistake(answer, wrong):
                if ROUNDED in sentence:
                    return f"{sentence} If nothing was rounded: {words}"
                bad = right.wrong_entries(answer) if isinstance(self.right, dict) else ()
                good = [name for name in self.right if name not in bad] if bad else ()
                return among_others(good, words, [name for name in bad if name not in wrong])
        return sentence


def another_kind(exercise, answer, needed):
    """Say that an answer is not of the kind that the check takes."""
    words = f"Your answer is {called(answer)}; hand over {needed}: check({exercise.variable})."
    return f"{words} If you do, a line gives this name to something else."


class FunctionExercise(Exercise):
    """The answer is a function, tried on every input.

    The solution computes the right results. ``cases``: a function without arguments that returns a list of
    ``case(…)``, the plainest first. ``returns``: the names of the values if several are returned; ``axes``:
    what each axis of a result counts, ("head", "word", "number"), or in place of ``returns`` a dict of such.
    ``without``: functions that may not be called, also not by a helper. What torch can read counts as the
    tensor it means, except where task or stub say tensor, as for what the page goes on with, or a layer is
    written: gradients flow back there.
    """

    kind = "function"

    def __init__(self, heading, *, cases, returns=(), axes=(), without=(), **rest):
        super().__init__(heading, **rest)
        self.reference = self.made_by(self.solution_code)
        self.cases, self.without = cases, set(without)
        returns = tuple(axes) if isinstance(axes, dict) else tuple(returns)
        tensor = self.kind == "forward" or "tensor" in self.task + self.stub
        axes = axes or Asked.axes
        self.asked = Asked(None, returns, axes, of_function=True, tensor=tensor, describe=self.describe)

    def _run(self, answer, case):
        return run(answer, case.args)

    def _runs(self, answer, cases):
        return [self._run(answer, case) for case in cases]

    def _wrong_kind(self, answer):
        wrong = isinstance(answer, type) or not callable(answer)
        return another_kind(self, answer, "the function") if wrong else None

    def _judge(self, answer):
        if problem := self._wrong_kind(answer):
            return problem
        cases = self.cases()
        outcomes, rights = self._runs(answer, cases), self._runs(self.reference, cases)
        sentences = list(map(self._difference, outcomes, rights))
        if any(sentences):
            return self._failure(answer, cases, outcomes, sentences)
        if any(outcome.changed for outcome in outcomes):
            return f"The result is right, but your {self.kind} writes into its argument: others need it."
        broken = self._broken_rule(answer, cases, outcomes)
        return f"The result is right, but {broken}" if broken else None

    def _failure(self, answer, cases, outcomes, sentences):
        failing = [index for index, sentence in enumerate(sentences) if sentence]
        first = failing[0]
        another_type = same_outcome(outcomes[first], self._run(self.reference, cases[first]))
        named = None if another_type else self._mistake(answer, cases, outcomes, failing)
        named = named or self._words(answer, cases, outcomes, first, sentences[first])
        if (inspect.isfunction(answer) or isinstance(answer, type)) and (name := page_variable(answer)):
            what = "class" if isinstance(answer, type) else self.kind
            named += f" Your {what} reads “{name}” of the page, which is none of its arguments."
        also = f" Your {self.kind} also writes into its argument, which from there on holds other numbers."
        return named + also * outcomes[first].changed

    def _broken_rule(self, answer, cases, outcomes):
        """Say which rule of the task the way to a right result breaks."""
        for case in cases if self.without else ():
            with Calls() as calls:
                self._run(answer, case)
            if used := sorted(self.without & calls.names):
                name = "pow, which is **" if used[0].endswith("pow") else used[0]
                return f"your code uses {name}, and this task does without it."
        return None

    def _difference(self, outcome, right):
        if outcome.error:
            return explain(outcome.error, outcome.line)
        if outcome.value is None:
            return f"your {self.kind} returns None: does each way through it end in a `return`?"
        return difference(outcome.value, right.value, self.asked, "the result")

    def _mistake(self, answer, cases, outcomes, failing):
        """Return the sentence of the mistake that does the same, None if none does.

        It does the same on the first input that fails and on all that come out right; one that is not of
        this input alone, on half of all that fail, too. If several do, the one that does the same on most
        is meant.
        """
        first, alike = failing[0], {None: 0}
        own = cases[first].mistakes
        for index, (wrong, sentence) in enumerate((*own, *self.mistakes)):
            wrong = wrong if callable(wrong) else self.made_by(wrong)
            if same_outcome(outcomes[first], self._run(wrong, cases[first])):
                same = list(map(same_outcome, outcomes, self._runs(wrong, cases)))
                good = [same[i] for i in range(len(cases)) if i not in failing]
                if all(good) and (index < len(own) or 2 * (sum(same) - len(good)) >= len(failing)):
                    alike[sentence] = sum(same)
        return max(alike, key=alike.get)

    def _words(self, answer, cases, outcomes, first, difference):
        again = self._run(answer, cases[first])
        if not (again.error or outcomes[first].error or same_outcome(again, outcomes[first])):
            return f"Two calls with the same input differ: what in your {self.kind} is random, or kept?"
        label = cases[first].label
        sentence = f"{label}: {difference}" if label else difference
        return sentence[0].upper() + sentence[1:]


class TestExercise(Exercise):
    """The answer is a test: a function that is handed a candidate and returns True (right) or False.

    ``right`` and ``wrong``: the candidates, ``{"no mask": (function, "every word sees every other.")}``, each
    with what is true of it, said where it is misjudged; or, where they are changes of one ``code``, a text
    that ``candidates`` reads. They take inputs of all sizes. Each is tried ``times`` times, as chance may
    make a test waver; a test too slow for that should be faster. A test that says the same of all is told so,
    before any mistake is tried.
    """

    __test__ = False  # for pytest, which takes classes of this name for its own
    seconds = 1.5  # for all candidates together

    def __init__(self, heading, *, right, wrong, times=5, code="", **rest):
        super().__init__(heading, **rest)
        self.code, self.times = code, times
        right, wrong = (candidates(code, each) if code else each for each in (right, wrong))
        both = {**right, **wrong}
        self.candidates = [Candidate(name, *both[name], is_right=name in right) for name in both]

    def _judge(self, answer):
        if isinstance(answer, type) or not callable(answer):
            return another_kind(self, answer, "your test")
        verdicts = []
        for candidate in self.candidates:
            verdicts.append(self._verdict_on(answer, candidate, self.seconds / len(self.candidates)))
            if isinstance(verdicts[-1], str):
                return verdicts[-1]
        return self._misjudged(answer, verdicts) or self._accepts(answer)

    def _verdict_on(self, test, candidate, seconds):
        """Return True or False, or a sentence if the test says neither, or now this, now that."""
        start, values, calls = time.thread_time(), [], []

        def tried(function):  # a copy of the candidate: one of page 04 remembers what it met
            def handed(*args, **named):
                calls.append(args)
                return function(*args, **named)

            return test(handed)

        which = f"“{candidate.name}”, which is {'right' if candidate.is_right else 'wrong'}"
        while len(values) < self.times and (not values or time.thread_time() - start < seconds):
            loaded = len(sys.modules)
            outcome = run(tried, (candidate.function,))
            if len(sys.modules) > loaded:  # its first call of torch.func takes a second
                start = time.thread_time()
            if outcome.error:
                return f"Handed {which}, your test {explain(outcome.error, outcome.line).removeprefix('it ')}"
            values.append(as_python(outcome.value))
            if not isinstance(values[-1], bool):
                return f"Handed {which}, your test returns {called(outcome.value)}; True or False is needed."
        if not calls:
            return "Your test never calls the function it is handed."
        if len(values) == 1 and time.thread_time() - start > self.seconds / 4:
            return f"Your test is too slow for {len(self.candidates)} candidates: would smaller inputs do?"
        if len(set(values)) > 1:
            slip = None if candidate.is_right else self._slip(test, [True, False], candidate)
            room = "allow chance more room, or more numbers."
            fact = candidate.fact[0].upper() + candidate.fact[1:]
            repair = room if candidate.is_right else f"what lets it pass by chance? {fact}"
            return slip or f"Your test says now True, now False of {which}: {repair}"
        return values[0]

    def _handed(self, test, function=None):
        """Return what a test hands to a right candidate, or a function: the arguments as they were then."""
        handed, function = [], function or self.candidates[0].function

        def noted(*args, **named):
            arguments = inspect.signature(function).bind(*args, **named).args
            handed.append(copied(arguments))
            return function(*arguments)

        run(test, (noted,))
        return handed

    def _accepts(self, test):
        """Say so of a test that is right on all candidates and accepts one of the small faults."""
        start = time.thread_time()
        for function, sentence in self._small_faults(test):
            if self._says(test, function) is True:
                return sentence
            if time.thread_time() - start > self.seconds / 2:
                break
        return None

    def _small_faults(self, test):
        """Yield functions with a single number wrong, made for this test, each with what is said of it."""
        return ()

    def _misjudged(self, test, verdicts):
        pairs = zip(self.candidates, verdicts, strict=True)
        wrong = [candidate for candidate, verdict in pairs if verdict != candidate.is_right]
        if not wrong:
            return None
        for mistake, sentence in self.mistakes if len(set(verdicts)) > 1 else ():
            mistake = mistake if callable(mistake) else self.made_by(mistake)
            said = [self._says(mistake, candidate.function) for candidate in self.candidates]
            if said == verdicts:
                return sentence
        if len(wrong) == len(verdicts):
            return "Your test is upside down: it says True of every wrong one and False of every right one."
        if sentence := self._slip(test, verdicts, wrong[0]):
            return sentence
        if all(verdicts) and self._passes_zeros(test):
            return "Your test passes even what returns 0 in every place: what does it look at, how closely?"
        name, _, fact, is_right = wrong[0]
        count = f"{len(verdicts) - len(wrong)} of {len(verdicts)} are judged rightly."
        count = f"Your test says {verdicts[0]} of all {len(verdicts)}." if len(set(verdicts)) == 1 else count
        example = f"“{name}” is {'right, but does not pass' if is_right else 'wrong, but passes'}"
        return f"{count} {example}: {fact}"

    def _passes_zeros(self, test):
        right = self.candidates[0].function
        return self._says(test, lambda *args: 0 * right(*args)) is True

    def _says(self, test, function):
        return as_python(run(test, (function,)).value)

    def _slip(self, test, verdicts, candidate):
        """Say why a test misjudges, this candidate first, if the exercise can tell it; else return None."""
