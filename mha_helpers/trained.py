"""The tiny trained model of notebook 10: its task, the model, the scores of its heads, its checkpoints.

The task: a block of random letters is written again and again, and the model must say which letter
comes next. The model is two layers of the course's own ``MultiHeadAttention`` and nothing else.
``tools/train_tiny_model.py`` made the checkpoints.
"""

import copy
import functools
from collections.abc import Iterable
from pathlib import Path

import torch
from torch import nn

from mha_helpers.attention import MultiHeadAttention, merge_heads
from mha_helpers.checks import check_count, check_tensors
from mha_helpers.masks import causal_mask

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LENGTH = 24  # letters in a sequence
NUM_LAYERS, NUM_HEADS, D_MODEL = 2, 4, 32
HELD_OUT_DISTANCES = (8, 11, 14)  # never trained on
TRAINING_DISTANCES = tuple(k for k in range(6, 17) if k not in HELD_OUT_DISTANCES)
FIXED_DISTANCE = 12
RUNS = {"varying": TRAINING_DISTANCES, "fixed": (FIXED_DISTANCE,)}  # what the shipped models trained on
_FOLDER = Path(__file__).parent / "checkpoints"


def repeated_sequences(count, distances, seed):
    """Write ``count`` sequences in which a block of different letters repeats.

    The length of the block, which is the distance of the repeat, is drawn from ``distances`` for each
    sequence. ``seed`` is a number, or a ``torch.Generator`` that goes on where it stopped.

    Shapes: -> letters as numbers ``(count, n)`` with n = 24, distances ``(count)``. Used in notebook 10.

    Raises ``TypeError`` for no list, and for a distance that is no whole number, ``ValueError`` for one
    outside 1 … 23 and for none.

    >>> letters, distance = repeated_sequences(1, [3], seed=0)
    >>> bool((letters[:, 3:] == letters[:, :-3]).all()), distance
    (True, tensor([3]))
    """
    check_count("count", count)
    distances = checked_distances(distances)
    generator = seed if isinstance(seed, torch.Generator) else torch.Generator().manual_seed(seed)
    drawn = torch.randint(len(distances), (count,), generator=generator)
    distance = torch.tensor(distances)[drawn]  # (count)
    order = torch.rand(count, len(LETTERS), generator=generator, dtype=torch.float32)
    block = order.argsort(dim=-1)  # letters in random order
    place = torch.arange(LENGTH) % distance[:, None]  # (n) and (count, 1) -> (count, n)
    return block.gather(1, place), distance


def checked_distances(distances):
    """Return distances as a list. Raises what ``repeated_sequences`` raises.

    >>> checked_distances(range(6, 9))
    [6, 7, 8]
    """
    if isinstance(distances, str) or not isinstance(distances, Iterable):
        advice = f" Try [{distances}]." if isinstance(distances, int) else ""
        raise TypeError(f"distances must be a list of whole numbers, got {distances!r}.{advice}")
    distances = list(distances)
    for distance in distances:
        check_count("a distance", distance, largest=LENGTH - 1)
    if not distances:
        raise ValueError(f"distances is empty: name at least one from 1 to {LENGTH - 1}.")
    return distances


def as_numbers(text):
    """Turn letters into numbers from 0 to 25. Shape: a text of n letters -> ``(n)``.

    Raises ``TypeError`` for anything but a text, ``ValueError`` for other characters, and for fewer than 2
    or more than 24 letters.

    >>> as_numbers("ABBA")
    tensor([0, 1, 1, 0])
    """
    if not isinstance(text, str):
        raise TypeError(f'text must be letters, such as "ABBA", got {text!r}.')
    letters = "".join(text.upper().split())
    strange = sorted(set(letters) - set(LETTERS))
    if strange:
        raise ValueError(f"the model knows the letters A to Z only, not {' '.join(strange)}.")
    if not 2 <= len(letters) <= LENGTH:
        raise ValueError(f"a sequence has 2 to {LENGTH} letters, got {len(letters)}.")
    return torch.tensor([LETTERS.index(letter) for letter in letters])


def as_text(numbers):
    """Turn numbers back into letters.

    >>> as_text(torch.tensor([0, 1, 1, 0]))
    'ABBA'
    """
    return "".join(LETTERS[number] for number in numbers.tolist())


class TinyModel(nn.Module):
    """Two layers of attention between a table of letters and a guess at the next letter.

    No feed-forward layers, no normalisation, no biases: whatever it can do, attention does.
    Shapes: letters ``(b, n)`` -> guesses ``(b, n, 26)`` and, for each layer, weights ``(b, h, n, n)``.
    Raises ``ValueError`` for more than 24 letters.
    Used in notebook 10. Source: Elhage et al. (2021), "A Mathematical Framework for Transformer
    Circuits", two-layer attention-only models.
    """

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(len(LETTERS), D_MODEL)
        self.positions = nn.Parameter(torch.randn(LENGTH, D_MODEL))
        layers = [MultiHeadAttention(D_MODEL, NUM_HEADS, bias=False) for _ in range(NUM_LAYERS)]
        self.layers = nn.ModuleList(layers)
        self.guess = nn.Linear(D_MODEL, len(LETTERS), bias=False)

    def forward(self, letters, heads_on=None):
        """Return ``(guesses, weights of each layer)``.

        ``heads_on``: bool ``(layers, h)``; a head that is off writes zeros in place of its output.
        """
        n = letters.shape[-1]
        if n > LENGTH:
            raise ValueError(f"the model has positions for {LENGTH} letters, got {n}: leave some out.")
        mask = causal_mask(n)
        x = self.embedding(letters) + self.positions[:n]  # (b, n) -> (b, n, d_model)
        weights = []
        for number, layer in enumerate(self.layers):
            if heads_on is None or heads_on[number].all():
                output, layer_weights = layer(x, mask)
            else:
                steps = layer.trace(x, mask)
                kept = steps.heads * heads_on[number][:, None, None]  # (b, h, n, d_k) · (h, 1, 1)
                output, layer_weights = layer.w_o(merge_heads(kept)), steps.weights
            x = x + output
            weights.append(layer_weights)
        return self.guess(x), weights


def predictable(letters, distance):
    """Say where the next letter can be known: from the second copy of the block on.

    Shapes: letters ``(b, n)``, distance ``(b)`` -> bool ``(b, n - 1)``, one for each letter but the last.

    >>> predictable(torch.tensor([[0, 1, 0, 1, 0]]), torch.tensor([2]))
    tensor([[False, False,  True,  True]])
    """
    return torch.arange(letters.shape[-1] - 1) >= distance[:, None]


def places_after_copies(letters):
    """Say where each letter has to look: at the letters that followed its earlier copies.

    True at (i, j) where letter j − 1 equals letter i and j is not after i.
    Shapes: letters ``(…, n)`` -> bool ``(…, n, n)``.

    >>> places_after_copies(torch.tensor([0, 1, 2, 0])).int()
    tensor([[0, 0, 0, 0],
            [0, 0, 0, 0],
            [0, 0, 0, 0],
            [0, 1, 0, 0]], dtype=torch.int32)
    """
    check_tensors(letters=letters)
    before = letters.roll(1, dims=-1)  # what stands before place j; place 0 has nothing before it
    found = letters[..., :, None] == before[..., None, :]  # (…, n, 1), (…, 1, n) -> (…, n, n)
    n = letters.shape[-1]
    return found & causal_mask(n) & (torch.arange(n) > 0)


def accuracy(model, letters, distance, heads_on=None):
    """Return the share of predictable letters that the model's first guess gets right."""
    with torch.no_grad():
        guesses, _ = model(letters, heads_on)
    right = guesses[:, :-1].argmax(dim=-1) == letters[:, 1:]  # (b, n, 26) -> (b, n - 1)
    return right[predictable(letters, distance)].float().mean().item()


def head_scores(model, letters, distance, heads_on=None):
    """Measure what each head does, as a weight from 0 to 1 averaged over queries and sequences.

    ``heads_on`` is bool ``(layers, h)``, False for a head that writes zeros (default: all on).
    Returns a dict of ``(layers, h)``: "previous" (weight on the token before) and "after a copy"
    (weight on the places after earlier copies, for the letters from the second block on).
    """
    with torch.no_grad():
        _, weights = model(letters, heads_on)
    weights = torch.stack(weights, dim=1)  # of (b, h, n, n) -> (b, layers, h, n, n)
    previous = weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(0, 3))
    right = places_after_copies(letters)[:, None, None]  # (b, n, n) -> (b, 1, 1, n, n)
    found = (weights * right).sum(dim=-1)[..., :-1]  # -> (b, layers, h, n - 1)
    counted = predictable(letters, distance)[:, None, None].expand_as(found)
    after = (found * counted).sum(dim=(0, 3)) / counted.sum(dim=(0, 3))
    return {"previous": previous, "after a copy": after}


def load_checkpoint(path, step=None):
    """Load a model from a file of checkpoints, as it was after ``step`` steps (default: the last).

    A file holds plain tensors: "steps" ``(c)``, and each parameter with an axis ``c`` in front.
    Raises ``ValueError`` for a step that was not kept.
    """
    kept = torch.load(path, weights_only=True, map_location="cpu")
    steps = kept["steps"].tolist()
    step = steps[-1] if step is None else step
    if step not in steps:
        raise ValueError(f"{Path(path).name} was kept after {', '.join(map(str, steps))} steps; got {step}.")
    with torch.random.fork_rng(devices=[]):  # the learner's own random numbers stay as they are
        model = TinyModel().float()  # whatever torch.set_default_dtype says
    weights = {name: kept[name][steps.index(step)].float() for name in model.state_dict()}
    model.load_state_dict(weights)
    return model.eval().requires_grad_(False)


@functools.cache
def checkpoint_steps(run="varying"):
    """Return the training steps after which a shipped model was kept, as a tuple; the last is the end.

    >>> checkpoint_steps()[0]
    0
    """
    return tuple(torch.load(_file_of(run), weights_only=True)["steps"].tolist())


def trained_model(run="varying", step=None):
    """Return a shipped model: run "varying" or "fixed", after ``step`` steps (default: the last).

    It is a model of your own: to change it changes no other.
    Raises ``ValueError`` for a run or a step that is not shipped.
    """
    return copy.deepcopy(shipped_model(run, checkpoint_steps(run)[-1] if step is None else step))


@functools.cache
def shipped_model(run, step):
    """Return the one model of this run and step that the pictures share. Do not change it."""
    return load_checkpoint(_file_of(run), step)


def _file_of(run):
    if run not in RUNS:
        raise ValueError(f"run must be one of {', '.join(RUNS)}; got {run!r}.")
    return _FOLDER / f"{run}.pt"
