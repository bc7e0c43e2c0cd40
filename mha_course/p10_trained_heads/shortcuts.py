"""What the test of exercise 10.3 is handed: who compares letters, rules by position."""

import torch

from mha_course.models.tiny import LENGTH, positions_after_copies, trained_model


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
    "the letter after the latest copy": (
        _latest_copy,
        "it guesses all that can be predicted, and nothing else can be.",
    ),
    "the model of many distances": (
        _guesses_of("varying"),
        "it compares letters, and guesses nearly all that can be predicted, at distances from 1 to 22.",
    ),
}
NOT_COMPARING = {
    "the model of distance 12": (
        _guesses_of("fixed"),
        "on random letters it guesses, from position 12 on, the letter 12 before the next one.",
    )
}
NOT_COMPARING |= {f"always the letter {back} back": _by_position([back]) for back in range(1, LENGTH)}
for back in range(1, LENGTH // 2):
    name = f"the letter {back} back, {2 * back} back as soon as the line is so long, and so on"
    NOT_COMPARING[name] = _by_position([back * 2**times for times in range(5)])
