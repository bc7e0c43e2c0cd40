"""The exercises of deeper/10: the direct path, the circuit by hand, a test that catches the shortcut."""

import itertools

import torch

from mha_course.exercises import FunctionExercise, TestExercise, case, changes, numbers
from mha_course.models.tiny import LENGTH, positions_after_copies, trained_model

direct_path = FunctionExercise(
    "D10.1 ★★ · 9 min · Straight to the logits",
    axes=("part", "position"),
    cases=lambda: [
        case(numbers(2, 3, 4), numbers(26, 4, seed=1), torch.tensor([7, 0, 25])),
        case(numbers(6, 5, 8, seed=2), numbers(26, 8, seed=3), torch.tensor([3, 11, 3, 20, 2])),
        case(numbers(4, 7, 3, seed=4), numbers(26, 3, seed=5), torch.tensor([1, 2, 3, 1, 2, 3, 1])),
        case(numbers(1, 1, 1, seed=6), numbers(26, 1, seed=7), torch.tensor([4]), label="with one of each"),
    ],
    task="""
    Each part of x also goes straight to the logits, on its *direct path*. The logits of x are
    `x @ w_guess.T`, so `w_guess` has a row for each of the 26 letters. `letters` holds the number of the
    letter that comes next at each position. Return what each part adds to the logit of that letter.
    """,
    mistakes=changes("""
        (parts * rows).sum(dim=-1) => parts @ w_guess.T
        You return all 26 logits of each part: at each position one of them is asked for.
        dim=-1 => dim=(0, -1)
        The parts are added up, so this is the logit itself: how much did each part add to it?
        (parts * rows).sum(dim=-1) => parts * rows
        These products are not yet added up: a logit is a sum over d_model.
        (parts * rows).sum(dim=-1) => (parts @ w_guess.T)[..., letters]
        Every position gets the letters of all positions: only its own next letter counts there.
        (parts * rows).sum(dim=-1) => (parts @ w_guess.T).amax(dim=-1)
        You take the largest logit of each part: is it always that of the next letter?
        (parts * rows).sum(dim=-1) => (parts @ w_guess.T).softmax(dim=-1)[:, range(len(letters)), letters]
        A softmax of one part is not its share of anything: which numbers of the parts add up?
        (parts * rows).sum(dim=-1) => (parts @ w_guess.T).argmax(dim=-1)
        You return the number of a letter: the task asks what each part adds to a logit.
        w_guess[letters] => w_guess[letters[0]]
        Every position gets the first of the letters: each has a next letter of its own.
        (parts * rows).sum(dim=-1) => parts @ w_guess[:, letters]
        `letters` picks features there, of which there are d_model: what does w_guess hold for each letter?
        w_guess[letters] => w_guess[letters.roll(-1)] => w_guess[letters.roll(1)]
        You shift the letters: which letter does `letters` already hold at each position?
        dim=-1) => dim=-2)
        You add up over the positions: which axis holds the products of one dot product?
    """),
    praise="A logit is a sum as well, so it splits by who wrote it: *direct logit attribution*.",
    hints=[
        "w_guess[letters] is (n, d_model): at each position the row of the letter that comes next.",
        "A dot product is a product, number by number, then a sum over the last axis.",
    ],
    solution="""
def my_direct_path(parts, w_guess, letters):
    # (p, n, d_model), (26, d_model), (n) -> (p, n)
    rows = w_guess[letters]  # (26, d_model) -> (n, d_model)
    return (parts * rows).sum(dim=-1)  # (p, n, d_model) -> (p, n)
""",
)


def _held(scores, right):
    """Say what the keys hold if the queries A B C A have such scores."""
    if scores.shape == (4, 4) and torch.equal(scores[0], scores[3]) and (scores == scores.bool()).all():
        held = [itertools.compress("ABC", scores[:3, position]) for position in range(4)]
        held = ", ".join(" and ".join(letters) or "nothing" for letters in held)
        return f"has the scores of keys that hold {held}: which letter comes before each position, if any?"


circuit_by_hand = FunctionExercise(
    "D10.2 ★★ · 11 min · The circuit by hand",
    cases=lambda: [
        case(torch.eye(6)[[0, 1, 2, 0]], label="with the letters A B C A"),
        case(torch.eye(6)[[3, 0, 4, 1, 3, 0, 4]], label="with the letters D A E B D A E"),
        case(torch.eye(6)[[2, 2, 5, 2, 1]], label="with the letters C C F C B"),
        case(torch.eye(6)[[4]], label="with a single letter"),
    ],
    task="""
    `letter` is (n, 6): each row has a single 1, in the column of its letter. A perfect head 0.2 brings each
    position the letter before it, and zeros to position 0. A head of layer 1 takes the letter as query, and
    as key only what 0.2 wrote. Return its scores (n, n), unscaled and without a mask.
    """,
    describe=_held,
    mistakes=changes("""
        letter @ before.T => before @ before.T => (letter + before) @ before.T
        Your queries read head 0.2, as your keys do: does a query look for its own letter or another?
        letter @ before.T => letter.T @ before
        Your table has a row for each of six letters: a score belongs to a pair of what?
        letter @ before.T => (letter @ before.T).tril()
        The right scores behind a causal mask: the task asks for them without one.
        letter @ before.T => mask_scores(letter @ before.T, causal_mask(len(letter)))
        The right scores behind a causal mask: the task asks for them without one.
    """),
    praise="A score of 1 wherever the letter before the key is the query's: layer 1 in one product.",
    hints=[
        "What does each position hold after head 0.2? Write it down for A B C A: nothing, A, B, C.",
        "Weights that are 1 right below the diagonal do that: torch.ones(n - 1).diag(-1) @ letter.",
        "Query times key, as on page 03: which of the two tensors is the query?",
    ],
    solution="""
def circuit_scores(letter):
    # (n, 6) -> (n, n)
    weights = torch.ones(len(letter) - 1).diag(-1)  # (n, n): head 0.2, the previous letter
    before = weights @ letter  # (n, n) @ (n, 6) -> (n, 6); position 0 gets zeros
    return letter @ before.T  # (n, 6) @ (6, n) -> (n, n)
""",
)


# What a test is handed: who compares letters, rules by position.
def _guesses_of(run):
    model = trained_model(run)
    return lambda letters: model(letters)[0].argmax(dim=-1)


def _latest_copy(letters):
    copies = positions_after_copies(letters) * torch.arange(letters.shape[-1])
    return letters.gather(1, copies.argmax(dim=-1))


def _by_position(distances):
    """Guess the letter as far before the next one as the largest distance that fits into the line so far."""

    def guesses(letters):
        guessed = range(1, letters.shape[-1] + 1)  # the next position; where no distance fits, letter 0 does
        return letters[:, [i - max((back for back in distances if back <= i), default=i) for i in guessed]]

    return guesses, "it never compares letters, and is right only where the distance divides its own."


COMPARING = {
    "the letter after the latest copy": (_latest_copy, "it is right wherever the letter has come before."),
    "the model of many distances": (_guesses_of("varying"), "it compares letters, and errs now and then."),
}
BY_CHANCE = "it is right by chance alone, about once in 26 guesses."
NOT_COMPARING = {
    "the model of distance 12": (_guesses_of("fixed"), "it guesses the letter 12 before the next one."),
    "the same letter throughout": (lambda letters: torch.full_like(letters, 3), BY_CHANCE),
    "letters drawn at random": (lambda letters: torch.randint_like(letters, 26), BY_CHANCE),
}
NOT_COMPARING |= {f"always the letter {back} back": _by_position([back]) for back in range(1, LENGTH)}
for factor, back in itertools.product((2, 3, 5), range(1, LENGTH // 2)):
    if factor * back < LENGTH:  # right throughout if a test has these two distances, say 4 and 12
        name = f"the letter {back} back, {factor * back} back as soon as the line is so long, and so on"
        NOT_COMPARING[name] = _by_position([back, *(factor * back * 2**times for times in range(4))])


def _repeat_of(line):
    return next((back for back in range(1, len(line)) if torch.equal(line[back:], line[:-back])), None)


class ShortcutTest(TestExercise):
    """Says which rules pass, and at which distances the lines repeat that the test hands over."""

    def _slip(self, test, verdicts, candidate):
        passing = itertools.compress(self.candidates, verdicts)  # at most the first if the test wavers
        rules = [each for each in passing if each.name.startswith("always")]
        if not rules or (candidate.is_right and len(rules) == 1):
            return None
        lines = [line for (letters,) in self._handed(test, rules[-1].function) for line in letters]
        repeats = [_repeat_of(line) for line in lines]
        every = str(sorted({*repeats} - {None}))[1:-1]
        seen = f"Your test hands over lines that repeat every {every} letters, and"
        if none := repeats.count(None):
            lines = "The" if none == len(repeats) else f"{none} of the {len(repeats)}"
            seen = f"{lines} lines of your test do not repeat, and it"
        return f"{seen} lets “{rules[-1].name}” pass: how many guesses are right there, and how many must be?"


catch_the_shortcut = ShortcutTest(
    "D10.3 ★★★ · 14 min · Catch the shortcut",
    times=2,
    right=COMPARING,
    wrong=NOT_COMPARING,
    mistakes=changes("""
        == letters[:, 1:] => == letters[:, :-1]
        Functions comparing letters fail, and a rule passes: with which letter is each guess compared?
    """),
    page_code="from mha_course.models import predictable, repeated_sequences",
    task="""
    Write a test that is handed `guess`, a function from letters (b, n) to guesses of what comes
    after each, (b, n). Return True if it compares letters, False if it goes by position, whatever its
    distance. Use `repeated_sequences(count, distances, seed)` and `predictable(letters, distance)`.
    """,
    praise="At distances without a common multiple below 24 no positional rule is right throughout.",
    hints=[
        "At its own distance a rule by position is right. What if the lines have two different distances?",
        "guess(letters)[:, :-1] are the guesses for letters[:, 1:]; only those that are predictable count.",
        "Compare, pick with [predictable(letters, distance)], take the mean, and ask for more than 0.9.",
    ],
    solution="""
def compares_letters(guess):
    # True if it compares letters, False if it goes by position
    letters, distance = repeated_sequences(100, [7, 9], seed=0)  # (b, n), (b)
    right = guess(letters)[:, :-1] == letters[:, 1:]  # (b, n - 1)
    return right[predictable(letters, distance)].float().mean() > 0.9
""",
)
