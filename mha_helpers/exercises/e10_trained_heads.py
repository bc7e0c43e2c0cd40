"""The exercises of page 10: where to look, the circuit by hand, a test that catches the shortcut."""

import torch

from mha_helpers.exercises import FunctionExercise, TestExercise, ValueExercise, case
from mha_helpers.models.tiny import predictable, repeated_sequences, trained_model

where_to_look = ValueExercise(
    "10.1",
    "Where must it look?",
    stars=1,
    minutes=3,
    right={1, 5},
    task="""
    The line is `K W M A K W M A K`, its places count from 0. The query is the last K, at place 8. Which
    places tell a head of layer 2 the next letter? Name all of them as a set, as in `{0, 1}`.
    """,
    stub="places = ...",
    mistakes=[
        ({0, 4}, "Those are the earlier copies themselves. They say K again; what came after them?"),
        ({1}, "Place 1 is right, and it is not the only one: how many earlier K are there?"),
        ({5}, "Place 5 is right: it comes after the nearest copy of K. Is there an earlier copy?"),
        ({1, 5, 9}, "Place 9 is what the model is to guess: is it in the line yet?"),
        ({4}, "Place 4 is an earlier K itself. What came after it, and is it the only one?"),
        ({8}, "Place 8 is the query itself. Where did K stand before, and what came after it?"),
        ({7}, "Place 7 is the letter before. What came after the earlier copies of K?"),
        ({3, 7}, "Those are the letters before each K. What came after the earlier copies?"),
        ({2, 6}, "Do your places count from 1, or do you go two steps further than each K?"),
        ({0, 4, 8}, "Those are all copies of K, the query among them. What came after the earlier ones?"),
    ],
    praise="The letter after each earlier copy is what comes next, and a head may look at any of them.",
    hints=[
        "The query is the K at place 8. At which earlier places is there a K?",
        "The model needs the letter that came after each of these, so one place further.",
    ],
    solution="places = {1, 5}  # K is at 0 and 4, and W comes after it at 1 and 5",
)


def _one_hot(*places):
    return torch.eye(6)[list(places)]  # (n, 6): a vector with a single 1 for each letter


def _before(letter):
    return torch.cat([torch.zeros_like(letter[:1]), letter[:-1]])


circuit_by_hand = FunctionExercise(
    "10.2",
    "The circuit by hand",
    stars=2,
    minutes=8,
    reference=lambda letter: letter @ _before(letter).T,
    cases=lambda: [
        case(_one_hot(0, 1, 2, 0), label="with the letters A B C A"),
        case(_one_hot(3, 0, 4, 1, 3, 0, 4), label="with the letters D A E B D A E"),
        case(_one_hot(2, 2, 5, 2, 1), label="with the letters C C F C B"),
    ],
    task="""
    Do without training what the proof found. `letter` is (n, 6): each row has a single 1, in the column
    of its letter. A perfect head 1.3 brings each place the letter before it, and zeros to place 0. A
    head of layer 2 takes the letter as query, and as key only what 1.3 wrote. Return its scores, (n, n),
    not scaled and without a mask.
    """,
    stub="""
def circuit_scores(letter):
    # (n, 6) -> (n, n)
    ...
""",
    mistakes=[
        (
            lambda letter: letter @ letter.T,
            "Your keys hold their own letter, so a letter finds its copies: what did head 1.3 write there?",
        ),
        (
            lambda letter: _before(letter) @ letter.T,
            "Your queries hold the letter before, your keys their own: for which side does head 1.3 write?",
        ),
        (
            lambda letter: _before(letter) @ _before(letter).T,
            "Your queries take from head 1.3 as well: does a query look for its own letter or another?",
        ),
        (
            lambda letter: letter @ letter.roll(1, dims=0).T,
            "Place 0 gets the last letter of the line: does any letter come before it?",
        ),
        (
            lambda letter: letter @ torch.cat([letter[1:], torch.zeros_like(letter[:1])]).T,
            "Your head 1.3 brings the letter after: which of its weights are 1, above or below the diagonal?",
        ),
        (
            lambda letter: letter @ (letter + _before(letter)).T,
            "Your keys hold their own letter too: the task takes only what head 1.3 wrote.",
        ),
        (
            lambda letter: letter @ torch.cat([letter[:1], letter[:-1]]).T,
            "Place 0 gets its own letter: nothing comes before it, so what does head 1.3 write there?",
        ),
        (
            lambda letter: (letter @ _before(letter).T).tril(),
            "The right scores, with those after the query set to 0: the task asks for them without a mask.",
        ),
    ],
    praise="A score of 1 wherever the letter before the key is the query's: layer 2 in one product.",
    hints=[
        "What does each place hold after head 1.3? Write it down for A B C A: nothing, A, B, C.",
        "Weights that are 1 right below the diagonal do that: torch.ones(n - 1).diag(-1) @ letter.",
        "Query times key, as on page 03: which of the two tensors is the query?",
    ],
    solution="""
def circuit_scores(letter):
    weights = torch.ones(len(letter) - 1).diag(-1)  # (n, n): head 1.3, the previous letter
    before = weights @ letter  # (n, n) @ (n, 6) -> (n, 6); place 0 gets zeros
    return letter @ before.T  # (n, 6) @ (6, n) -> (n, n)
""",
)


def _guesses_of(run):
    model = trained_model(run)
    return lambda letters: model(letters)[0].argmax(dim=-1)


def _by_the_rule(letters):
    """Say the letter after the earliest copy of each letter, or A where there is none."""
    found = letters[:, :, None] == letters[:, None, :].roll(1, dims=-1)
    found = found.tril() & (torch.arange(letters.shape[-1]) > 0)
    return letters.gather(1, found.int().argmax(dim=-1))


def _from(steps):
    return lambda letters: letters.roll(steps, dims=-1)


def _share_right(guess, distances):
    letters, distance = repeated_sequences(60, distances, seed=3)
    right = guess(letters)[:, :-1] == letters[:, 1:]
    return right[predictable(letters, distance)].float().mean()


def _share_of_all(guess):
    letters, _ = repeated_sequences(60, [7, 9], seed=3)
    return (guess(letters)[:, :-1] == letters[:, 1:]).float().mean()


catch_the_shortcut = TestExercise(
    "10.3",
    "Catch the shortcut",
    stars=3,
    minutes=10,
    times=2,
    candidates=[
        ("the model of many distances", _guesses_of("varying"), True),
        ("the rule itself, written as code", _by_the_rule, True),
        ("the model of distance 12", _guesses_of("fixed"), False),
        *(
            (
                f"always the letter {back} back",
                _from(back - 1),
                False,
                "It is right at a single distance: how many does a test need?",
            )
            for back in range(1, 24)
        ),
    ],
    given="from mha_helpers.models import predictable, repeated_sequences",
    task="""
    Write a test that is handed `guess`, a function from letters (b, n) to its guesses of what comes
    after each, (b, n). Return True if it compares letters, and False if it goes by places, whatever its
    distance is. Use `repeated_sequences(count, distances, seed)` and `predictable(letters, distance)`.
    """,
    stub="""
def compares_letters(guess):
    # True if it compares letters, False if it goes by places
    ...
""",
    mistakes=[
        (
            lambda guess: _share_right(guess, [12]) > 0.9,
            "You test at distance 12 only, where the shortcut is right: at which distances would it fail?",
        ),
        (
            lambda guess: bool(_share_of_all(guess) > 0.9),
            "You count the first block as well, which nobody can guess: what does `predictable` say?",
        ),
    ],
    praise="Two distances and a high mark: no rule that goes by places can have both.",
    hints=[
        "At its own distance a rule by places is right. What if the lines have two different distances?",
        "guess(letters)[:, :-1] are the guesses for letters[:, 1:]; only those that are predictable count.",
        "Compare, pick with [predictable(letters, distance)], take the mean, and ask for more than 0.9.",
    ],
    solution="""
def compares_letters(guess):
    letters, distance = repeated_sequences(100, [7, 9], seed=0)  # (b, n), (b)
    right = guess(letters)[:, :-1] == letters[:, 1:]  # (b, n - 1)
    return right[predictable(letters, distance)].float().mean() > 0.9
""",
)
