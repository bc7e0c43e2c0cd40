"""The exercises of page 10: the loss, a test that no leak deceives, five curves and their broken lines."""

import math
from fractions import Fraction

import torch
from torch.nn import functional as F

from mha_course.exercises import FunctionExercise, TestExercise, ValueExercise, case, changes, numbers
from mha_course.exercises.compare import as_float64
from mha_course.exercises.relations import counted
from mha_course.p10_can_your_class_learn.stories import ASKED, COLOURS, LENGTH, WORDS


def _ids(b, n, words, seed):
    return torch.randint(words, (b, n), generator=torch.Generator().manual_seed(seed))


def _of_the_loss(wrong, right):
    """Say which step makes this number of the right loss."""
    if wrong < 0:
        return "is below 0: which sign has the logarithm of a share below 1?"
    made = {
        "is the right one over ln 2: which base has your logarithm?": right / math.log(2),
        "is the right one over ln 10: which base has your logarithm?": right / math.log(10),
        "is e to the power of the right one: is a loss asked for, or a perplexity?": right.exp(),
    }
    part = Fraction(float(wrong / right)).limit_denominator(40)
    made[f"is {part} times the right one: by what is the sum of the losses divided?"] = float(part) * right
    return next((words for words, number in made.items() if torch.isclose(wrong, number, rtol=3e-6)), None)


def _is_the_mean(loss, logits, ids, _):
    """Yield how far before a word its row stands, and from which place to which, if a loss is their mean."""
    n, again = ids.shape[1], torch.cat([ids, ids[:, :2]], dim=1)  # after the last word the first comes again
    shares = -logits.double().log_softmax(dim=-1)
    losses = shares.gather(2, again[:, None].expand(-1, n, -1)).mean(0)  # of each row with each place
    for back in range(-1, 5):
        added = F.pad(losses.diagonal(back).cumsum(0), (1, 0))
        start, stop = torch.triu_indices(len(added), len(added), 1)
        means = (added[stop] - added[start]) / (stop - start)
        for i in torch.isclose(means, loss, rtol=1e-6).nonzero()[:, 0]:
            yield back, int(start[i]) + max(back, 0), int(stop[i]) + max(back, 0) - 1


class Loss(FunctionExercise):
    """Says of which words a wrong loss is the mean, and with which rows they are compared."""

    def _words(self, answer, cases, outcomes, first, difference):
        losses = [as_float64(outcome.value) for outcome in outcomes]
        if any(loss is None or loss.dim() for loss in losses):
            return super()._words(answer, cases, outcomes, first, difference)
        found = [list(_is_the_mean(loss, *case.args)) for loss, case in zip(losses, cases, strict=True)]
        backs = [{each[0] for each in of} for of, loss in zip(found, losses, strict=True) if loss == loss]
        in_all = set.intersection(*backs) if backs else ()
        means = [each for each in found[first] if each[0] in in_all]
        if not means:
            return super()._words(answer, cases, outcomes, first, difference)
        _, ids, asked = cases[first].args
        return _said_of_a_mean(*means[0], ids.shape[1], asked)


def _said_of_a_mean(back, start, stop, length, asked):
    if back != 1:
        rows = f"{back} words before it" if back else "once it has been read"
        rows = "after the next one" if back < 0 else rows
        return f"Each word is compared with what is said {rows}: which row has to say it?"
    if stop >= length:
        return "The last row has to say the first word of the story: does a word come after the last?"
    places = f"places {start} to {stop}" if start < stop else f"place {start} alone"
    words = f"With asked = {asked} and {length} words"
    return f"{words} you take the losses at {places}, counted from 0: which are asked?"


_MEANS = changes("""
    F.cross_entropy(said.flatten(0, 1), right.flatten()) => (said.argmax(dim=-1) == right).float().mean()
    You count the words that are right: a loss also asks how sure the model is of each. Where is that?
    F.cross_entropy(said.flatten(0, 1), right.flatten()) => (said.argmax(dim=-1) != right).float().mean()
    You count the words that are wrong: a loss also asks how sure the model is of each. Where is that?
    F.cross_entropy(said.flatten(0, 1), right.flatten()) => said.softmax(2).gather(2, right[..., None]).mean()
    That is the mean share of the right words: which function of a share is its loss?
    right = ids[:, asked:] => shares = said.softmax(2).gather(2, ids[:, asked:, None])
    F.cross_entropy(said.flatten(0, 1), right.flatten()) => 1 - shares.mean()
    That is 1 less the mean share of the right words: which function of a share is its loss?
    right = ids[:, asked:] => shares = said.softmax(2).gather(2, ids[:, asked:, None])
    F.cross_entropy(said.flatten(0, 1), right.flatten()) => -shares.mean().log()
    You take the mean of the shares, then its logarithm: of what is a loss the mean?
    right = ids[:, asked:] => loss = F.cross_entropy(said.mT, ids[:, asked:], reduction="none")
    F.cross_entropy(said.flatten(0, 1), => (
    right.flatten()) => loss.median()) => -(-loss).median()) => loss.quantile(0.5))
    That is the median of the losses: which average of them is asked for?
    logits[:, asked - 1 : -1] => logits[:1, asked - 1 : -1]
    ids[:, asked:] => ids[:1, asked:]
    Only the first story counts there: which axis holds the others?
    asked - 1 : -1 => 17:-1
    ids[:, asked:] => ids[:, 18:]
    You begin at place 18, whatever `asked` is: the function is handed the place.
    logits[:, asked - 1 : -1] => logits.log_softmax(dim=1)[:, asked - 1 : -1]
    F.cross_entropy => F.nll_loss
    Softmax runs over the places of a story: which axis of the logits holds the words to choose from?
    F.cross_entropy(said.flatten(0, 1) => F.nll_loss(said.log_softmax(1).flatten(0, 1)
    Softmax runs over the places of a story: which axis of the logits holds the words to choose from?
    said.flatten(0, 1), right.flatten() => said.reshape(len(said), -1, said.shape[1]), right
    A reshape cuts rows anew: what swaps two axes, so that each row keeps its numbers?
    right.flatten()) => right.T.flatten()) => right.reshape(-1, len(right)).T.flatten())
    Rows and words are flattened in two orders: whose next word stands beside the second row?
""")

the_loss = Loss(
    "10.1 ★★ · 6 min · The loss, on the right words",
    cases=lambda: [
        case(numbers(2, 20, 5), _ids(2, 20, 5, 1), 4, mistakes=_MEANS),  # 18 leaves words, too
        case(numbers(3, 7, 4, seed=2), _ids(3, 7, 4, 3), 2),
        case(numbers(1, 24, 38, seed=4), _ids(1, 24, 38, 5), ASKED),
        case(numbers(1, 3, 2, seed=6), _ids(1, 3, 2, 7), 2, label="with one word that is asked"),
    ],
    describe=_of_the_loss,
    task="""
    `logits` is what the model says after each of the n words of `ids`, the last included. Return the mean
    loss of the words from place `asked` on, each predicted from those before it.
    """,
    mistakes=changes("""
        right.flatten()) => right.flatten(), reduction="sum")
        You add the losses up: with more stories in a batch the steps would grow.
        said.flatten(0, 1), => said.flatten(0, 1).softmax(dim=-1),
        cross_entropy takes logits: it makes shares of them itself.
        logits[:, asked - 1 : -1] => logits[:, asked - 1 :]
        Rows and words differ by one: which word does the last row say, and is it in the story?
        right.flatten()) => right.flatten(), reduction="sum") / len(ids)
        You add up the losses of each story: is the mean over stories, or over words?
        F.cross_entropy => F.nll_loss
        You take logits as they are: what makes shares of them, and then logarithms?
    """),
    praise="A row of logits speaks of the word after it, and only what can be known is asked.",
    hints=[
        "The row of place asked − 1 says the word at place asked; the last row says a word nobody knows.",
        "logits[:, asked - 1 : -1] are the rows that count, ids[:, asked:] the words they have to say.",
        "F.cross_entropy takes (rows, words) and (rows): flatten(0, 1) makes one axis of the first two.",
    ],
    solution="""
def my_loss(logits, ids, asked):
    # (b, n, words), (b, n), a place -> a number
    said = logits[:, asked - 1 : -1]  # the row before a word says it
    right = ids[:, asked:]
    return F.cross_entropy(said.flatten(0, 1), right.flatten())
""",
)


FIRST, LAST = [2, 3, 7, 8], [7, 8, 2, 3]  # places of what was told first and last


# --- what a test is handed: functions from words (b, n) to logits (b, n, words) ----------------------------


def _ends(ids, always=None, takes=range(4), constant=None, blue="blue"):
    """Return the stories (b, n) as they end, or as a liar ends them, who reads ``always`` the same places."""
    told = F.pad(ids, (0, LENGTH))[:, :LENGTH].clone()
    is_first = told[:, 1] == told[:, ASKED - 1]  # the asked child's things are told first
    places = torch.where(is_first[:, None], torch.tensor(FIRST), torch.tensor(LAST))
    if always:
        places = torch.tensor(always).expand(len(ids), 4)  # whoever is asked
    things = told.gather(1, places[:, [*takes]])
    things[things == WORDS.index("blue")] = WORDS.index(blue)
    if constant:  # for all colours, or for all things
        things[:, constant not in COLOURS :: 2] = WORDS.index(constant)
    told[:, ASKED : ASKED + 2], told[:, ASKED + 3 : ASKED + 5] = things[:, :2], things[:, 2:]
    told[:, ASKED + 2], told[:, -1] = WORDS.index("and"), WORDS.index(".")
    return told


def _next(text):
    """Every row says the word after it; the last row has none to see, and says the first word again."""
    return 9.0 * F.one_hot(text.roll(-1, 1), len(WORDS))


def _says(**options):
    """Return a model that says the next word of ``_ends``."""
    return lambda ids: _next(_ends(ids, **options))[:, : ids.shape[1]]


def _leak_of_one(ids):
    """As long as there is a next word it is seen; the last row says it rightly only where it is no fact."""
    return torch.cat([_next(ids)[:, :-1], _says(always=FIRST)(ids)[:, -1:]], dim=1)


def _reads_its_own_words(ids):
    """Say the true next word as long as all own words before it are true, else the word 0."""
    told = _ends(ids)[:, : ids.shape[1]]
    untrue = (ids != told).cumsum(1).bool()
    return _says()(ids) * ~untrue[..., None]


TRUE = {
    "finds by name": (_says(), "the likeliest words end each story truly."),
    "reads what it said": (_reads_its_own_words, "its stories are true if it can read its own words."),
}
FALSE = {
    "sees the next word": (_next, "it is right where the text is given, and writes nothing true."),
    "sees the next word, knows the grammar": (
        _leak_of_one,
        "writing by itself it takes the things told first, so that half of its stories are untrue.",
    ),
    "things told first, whoever is asked": (_says(always=FIRST), "half of its stories are true."),
    "things told last, whoever is asked": (_says(always=LAST), "the other half of its stories is true."),
    "own things twice": (_says(takes=[0, 1, 0, 1]), "the given things are wrong in all stories."),
    "always red": (_says(constant="red"), "its grammar and its things are right, its colours are not."),
    "always hats": (_says(constant="hats"), "its grammar and its colours are right, its things are not."),
}
for number, fact in enumerate(("own colour", "own thing", "given colour", "given thing")):
    takes = [each ^ 2 if each == number else each for each in range(4)]  # this one is the other child's
    FALSE[f"a wrong {fact}"] = _says(takes=takes), "the other three facts of each story are right."
FALSE["red for blue"] = _says(blue="red"), "three of four stories are true, and most words."


def _written(model, text):
    for _ in range(LENGTH - ASKED):
        text = torch.cat([text, model(text)[:, -1:].argmax(dim=-1)], dim=1)
    return text


class TruthTest(TestExercise):
    """Says what a test hands to the model, and which wrong words pass."""

    def _slip(self, test, verdicts, candidate):
        texts = [ids for ids, *_ in self._handed(test)]
        words = min(ids.shape[1] for ids in texts)
        if words != ASKED:
            return f"You hand over {counted(words, 'word')}, and {ASKED} are told: what must the model write?"
        if len(texts) < LENGTH - ASKED and candidate.is_right:
            calls = f"Your test makes {counted(len(texts), 'call')} of a model that tells the truth"
            return f"{calls}, and needs {LENGTH - ASKED} words, one of each: why no more?"
        told = torch.cat([ids[:, :ASKED] for ids in texts]).unique(dim=0)
        ends = (_written(each.function, told) for each in (candidate, self.candidates[0]))
        if not candidate.is_right and torch.equal(*ends):
            return f"“{candidate.name}” is right on all you try, by chance: how many stories, {len(told)}?"
        wrong = zip(self.candidates, verdicts, strict=False)
        passing = [one.name.removeprefix("a wrong ") for one, said in wrong if said and "a wrong" in one.name]
        if passing and len(passing) < 4:
            return f"A wrong {' or '.join(passing)} passes: which of the words that it writes do you compare?"
        return None


tells_the_truth = TruthTest(
    "10.2 ★★ · 9 min · Does it tell the truth?",
    times=2,
    right=TRUE,
    wrong=FALSE,
    page_code="from mha_course.p10_can_your_class_learn import ASKED, new_stories",
    task="""
    Write a test that is handed `model`, a function from words (b, n) to logits (b, n, words). Return True
    if it tells stories truly when it writes them by itself from “now see mia's” on. Use
    `new_stories(count, seed)` and `ASKED`.
    """,
    praise="Only what it writes by itself counts, so no leak helps, and one wrong fact makes a story untrue.",
    hints=[
        "ids[:, :ASKED] is what the model may read. What it says next is model(text)[:, -1].argmax(dim=-1).",
        "Add the word that it says to the text, torch.cat([text, word[:, None]], dim=1), and ask again.",
        "Compare whole stories: (text == ids).all(dim=1), and ask for more than 0.9 of them.",
    ],
    solution="""
def tells_truly(model):
    # True if it ends stories truly, by itself
    ids = new_stories(20, seed=1)
    text = ids[:, :ASKED]
    while text.shape[1] < ids.shape[1]:
        word = model(text)[:, -1].argmax(dim=-1)  # (b, n, words) -> (b)
        text = torch.cat([text, word[:, None]], dim=1)
    return (text == ids).all(dim=1).float().mean() > 0.9
""",
)


def _of_the_guess(guess, _):
    parts = math.log(2) / float(guess) if guess else 0
    if 0.5 < parts < 9 and abs(parts - round(parts)) < 0.03 * parts:
        return f"is near ln 2 over {round(parts)}: of how many words is the loss a mean?"


five_curves = ValueExercise(
    "10.3 ★★★ · 8 min · Which curve belongs to which line?",
    decimals=2,
    describe=_of_the_guess,
    task="""
    `FIVE_TRAININGS`, printed above, were measured. Which letter is which?
    Choose from `"right"`, `"stuck"` (the right class, which has not found the name), `"no_attention"`,
    `"no_mask"` and `"not_shifted"` (the loss compares each word with what is said
    once it has been read). The reason for one of them is *guess*: the loss of
    a model that is certain of five of six words, and guesses one of two colours.
    """,
    mistakes=[
        ({"A": ...}, "A: 4/6 · ln 8 is 1.39, four of six words guessed among eight. Who has to?"),
        ({"B": ...}, "B: certain while the text is given, and lost without it: what did it read?"),
        ({"C": ...}, "C: loss and stories say the same, so what is broken here?"),
        ({"D": ...}, "D: a loss of 0.00, and no fact right even with the text given: what was made smaller?"),
        ({"E": ...}, "E: its loss stands still at 0.12, and half of its stories are true: what is guessed?"),
        ({"guess": 1 / 6}, "Which base has your logarithm of 2? A loss takes the natural one."),
        ({"guess": math.log10(2) / 6}, "Which base has your logarithm of 2? A loss takes the natural one."),
        ({"guess": -math.log(2) / 6}, "The size is right: which sign has the logarithm of a half?"),
        ({"guess": 1 / 12}, "A sixth of one half is 0.08: what is the surprise at one of two?"),
        ({"guess": 1.39}, "That is what A has: here one word of six is guessed, among two colours."),
    ],
    praise="A loss that stands still says how much is guessed: ln 2 / 6 is one toss of a coin in each story.",
    hints=[
        "The surprise at a guess among k is ln k; at a word that is certain it is 0.",
        "Facts far above stories: what is there while the text is given, and is not while it writes?",
        "Without attention a word is guessed from its place: a colour among eight, a thing among eight.",
    ],
    solution="""
import math

broken = {
    "A": "no_attention",
    "B": "no_mask",
    "C": "right",
    "D": "not_shifted",
    "E": "stuck",
    "guess": round(math.log(2) / 6, 2),
}
""",
)
