"""What is wrong with a leak test that says the same of all attentions: probes that tell its slip."""

import torch

from mha_helpers.attention import attention_weights
from mha_helpers.exercises import TestExercise
from mha_helpers.exercises.compare import as_python
from mha_helpers.exercises.running import run
from mha_helpers.masks import causal_mask


def _without_nan(x):
    """Attend causally, with 0 for each NaN: no row that is not read spoils another."""
    x = x.float().nan_to_num()
    scores = x @ x.transpose(-2, -1) / x.shape[-1] ** 0.5
    return attention_weights(scores.masked_fill(~causal_mask(x.shape[-2]), -torch.inf)) @ x


def _to_the_last_digit(x):
    """Return each word as it is: nothing later is seen, and nothing is computed that could be rounded."""
    return x.clone()


def _without_any_word(x):
    """Return the same numbers whatever the words are: no row may move, not even that of the changed word."""
    return torch.ones_like(x, dtype=torch.float32)


# Probes of a test that says False of all, in this order: the first that it says True of shows the slip.
_SLIPS = [
    (_without_nan, "NaN spreads: 0 times NaN is NaN. Change the later words to other numbers."),
    (
        _to_the_last_digit,
        "Your test says False even of the right ones: it leaves no room for rounding. Which function does?",
    ),
    (
        _without_any_word,
        "Your test also compares rows that may change: that of the changed word, or a later one.",
    ),
]
_NO_COPY = (
    "All calls get the very same tensor: if y is x, a change of y changes x, and stays. What makes a copy?"
)


class LeakTest(TestExercise):
    """If all candidates are judged alike, say why where a probe shows it."""

    def _judge(self, answer):
        sentence = super()._judge(answer)
        if not sentence or " of all " not in sentence:
            return sentence
        if self._changes_what_it_compares(answer):
            return _NO_COPY
        false = "says False" in sentence
        return next((meant for probe, meant in _SLIPS if false and self._says(answer, probe)), sentence)

    @staticmethod
    def _says(test, probe):
        return as_python(run(test, (probe,)).value) is True

    @staticmethod
    def _changes_what_it_compares(test):
        """Tell whether all calls of a test get one tensor, with other numbers in it from time to time."""
        handed = []

        def attend(x):
            handed.append((x, x.detach().clone()))
            return x.detach().clone()

        run(test, (attend,))
        places = {(x.data_ptr(), x.shape) for x, _ in handed}
        return len(places) == 1 and not all(torch.equal(handed[0][1], then) for _, then in handed)
