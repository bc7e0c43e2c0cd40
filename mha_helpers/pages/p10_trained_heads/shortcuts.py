"""What the test of exercise 10.3 is handed: who compares letters, rules by position; tests that miss them."""

from functools import partial

import torch

from mha_helpers.exercises.compare import kind_of
from mha_helpers.exercises.running import AnswerError
from mha_helpers.models.tiny import (
    LENGTH,
    positions_after_copies,
    predictable,
    repeated_sequences,
    trained_model,
)


def _guesses_of(run):
    model = trained_model(run)
    return lambda letters: model(letters)[0].argmax(dim=-1)


def _after_a_copy(letters, latest):
    n = letters.shape[-1]
    rank = torch.arange(n) if latest else n - torch.arange(n)
    return letters.gather(1, (positions_after_copies(letters) * rank).argmax(dim=-1))


def _by_position(letters, distances):
    """Guess the letter as far before the next one as the largest distance that fits into the line so far."""
    following = torch.arange(1, letters.shape[-1] + 1)  # the position that is guessed
    back = torch.stack([distance * (following >= distance) for distance in distances]).amax(dim=0)
    return letters[:, (following - back) * (back > 0)]


_RULES = {f"always the letter {back} back": [back] for back in range(1, LENGTH)}
for back in range(1, LENGTH // 2):
    name = f"the letter {back} back, {2 * back} back as soon as the line is so long, and so on"
    _RULES[name] = [back * 2**times for times in range(5)]

_NEARLY_ALL = "it compares letters, and guesses nearly all that can be predicted, at distances from 1 to 22."
_BY_12 = "on random letters it guesses, from position 12 on, the letter 12 before the next one."
_COMPARES = "it compares letters, and guesses all that can be predicted."
_BY_POSITION = "it never compares letters, and is right only where the distance divides its own."


def guess(letters):
    """Return what a test hands over, or stop it if the task promises something else."""
    if not isinstance(letters, torch.Tensor) or letters.dim() != 2:
        raise AnswerError(f"hands over {kind_of(letters)}: guess takes letters of shape (b, n)")
    if letters.is_floating_point():
        raise AnswerError(f"hands over letters as {letters.dtype}: they are whole numbers")
    return (letters,)


def _by_hits(judge, guesses=slice(None, -1), wanted=slice(1, None)):
    """Make a test of what ``judge`` says of the hits where a letter can be predicted."""
    letters, distance = repeated_sequences(40, [8, 11, 14], seed=0)
    counted = predictable(letters, distance)
    return lambda guess: bool(judge((guess(letters)[:, guesses] == letters[:, wanted])[counted].float()))


def _looks_12_back(guess):
    letters = torch.randint(26, (100, LENGTH))
    return bool((guess(letters)[:, 12:-1] == letters[:, 1 : LENGTH - 12]).float().mean() < 0.5)


_OTHER_PLACE = "Those that compare letters fail, and a rule passes: with which letter is each guess compared?"

COMPARING = {
    "the model of many distances": (_guesses_of("varying"), _NEARLY_ALL),
    "the letter after the earliest copy": (partial(_after_a_copy, latest=False), _COMPARES),
    "the letter after the latest copy": (partial(_after_a_copy, latest=True), _COMPARES),
}
NOT_COMPARING = {"the model of distance 12": (_guesses_of("fixed"), _BY_12)}
NOT_COMPARING |= {
    name: (partial(_by_position, distances=back), _BY_POSITION) for name, back in _RULES.items()
}

SHORTCUT_MISTAKES = [
    (
        _looks_12_back,
        "A test that looks for one distance, 12, judges like this: may a rule have another one?",
    ),
    (
        _by_hits(torch.any),
        "A test that asks for a single right guess judges like this: how often is chance right?",
    ),
    (_by_hits(lambda hits: hits.mean() > 0.9, wanted=slice(None, -1)), _OTHER_PLACE),
    (_by_hits(lambda hits: hits.mean() > 0.9, slice(1, None), slice(None, -1)), _OTHER_PLACE),
]
