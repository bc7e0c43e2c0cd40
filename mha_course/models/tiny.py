"""The tiny trained model of deeper/10: its task, the model, the measures of its heads, its training.

The task: a block of random letters is written again and again, and the model must say which letter comes
next. ``tools/train_tiny_model.py`` made the files in ``checkpoints``.
"""

import functools
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from mha_helpers.attention import MultiHeadAttention
from mha_helpers.masks import causal_mask

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LENGTH = 24  # letters in a sequence
NUM_LAYERS, NUM_HEADS, D_MODEL = 2, 4, 32
HELD_OUT_DISTANCES = (8, 11, 14)  # never trained on
TRAINING_DISTANCES = tuple(k for k in range(6, 17) if k not in HELD_OUT_DISTANCES)
# What each of the shipped models was trained on; the last has a single layer, for comparison.
RUNS = {"varying": TRAINING_DISTANCES, "fixed": (12,), "one layer": TRAINING_DISTANCES}
BATCH, LEARNING_RATE, WEIGHT_DECAY = 64, 0.003, 1.0
CHECKPOINTS = Path(__file__).parent / "checkpoints"


def repeated_sequences(count, distances, seed):
    """Write ``count`` sequences in which a block of different letters repeats.

    The length of the block, which is the distance of the repeat, is drawn from ``distances`` for each
    sequence. ``seed`` is a number, or a ``torch.Generator`` that goes on where it stopped.

    Shapes: -> letters as numbers ``(count, 24)``, distances ``(count)``. Used in deeper/10.

    Raises ``ValueError`` for a distance outside 1 … 23 and for none.

    >>> letters, distance = repeated_sequences(1, [3], seed=0)
    >>> bool((letters[:, 3:] == letters[:, :-3]).all()), distance
    (True, tensor([3]))
    """
    distances = torch.tensor(list(distances))
    if not len(distances) or distances.min() < 1 or distances.max() >= LENGTH:
        raise ValueError(f"distances are whole numbers from 1 to {LENGTH - 1}, got {distances.tolist()}.")
    generator = seed if isinstance(seed, torch.Generator) else torch.Generator().manual_seed(seed)
    distance = distances[torch.randint(len(distances), (count,), generator=generator)]  # (count)
    order = torch.rand(count, len(LETTERS), generator=generator, dtype=torch.float32)
    block = order.argsort(dim=-1)  # letters in random order
    in_block = torch.arange(LENGTH) % distance[:, None]  # (n) and (count, 1) -> (count, n)
    return block.gather(1, in_block), distance


def as_numbers(text):
    """Turn letters into numbers from 0 to 25. Shape: a text of n letters -> ``(n)``. Used in deeper/10.

    Raises ``ValueError`` for other characters, and for fewer than 2 or more than 24 letters.

    >>> as_numbers("ABBA")
    tensor([0, 1, 1, 0])
    """
    letters = "".join(text.upper().split())
    strange = sorted(set(letters) - set(LETTERS))
    if strange:
        raise ValueError(f"the model knows the letters A to Z only, not {' '.join(strange)}.")
    if not 2 <= len(letters) <= LENGTH:
        raise ValueError(f"a sequence has 2 to {LENGTH} letters, got {len(letters)}.")
    return torch.tensor([LETTERS.index(letter) for letter in letters])


def as_text(numbers):
    """Turn numbers back into letters. Used in deeper/10.

    >>> as_text(torch.tensor([0, 1, 1, 0]))
    'ABBA'
    """
    return "".join(LETTERS[number] for number in numbers.tolist())


class TinyModel(nn.Module):
    """Two layers of attention between a table of letters and the logits of the next letter.

    No feed-forward layers, no normalisation, no biases: whatever it can do, attention does.
    Shapes: letters ``(b, n)`` -> logits ``(b, n, 26)`` and, for each layer, weights ``(b, h, n, n)``.
    Used in deeper/10, for at most 24 letters.
    Source: Elhage et al. (2021), "A Mathematical Framework for Transformer Circuits".
    """

    def __init__(self, num_layers=NUM_LAYERS):
        super().__init__()
        self.sizes = num_layers, D_MODEL, NUM_HEADS
        self.embedding = nn.Embedding(len(LETTERS), D_MODEL)
        self.positions = nn.Parameter(torch.randn(LENGTH, D_MODEL))
        layers = [MultiHeadAttention(D_MODEL, NUM_HEADS, bias=False) for _ in range(num_layers)]
        self.layers = nn.ModuleList(layers)
        self.guess = nn.Linear(D_MODEL, len(LETTERS), bias=False)

    def forward(self, letters):
        n = letters.shape[-1]
        x = self.embedding(letters) + self.positions[:n]  # (b, n) -> (b, n, d_model)
        weights = []
        for layer in self.layers:
            output, of_layer = layer(x, causal_mask(n))
            x = x + output  # the residual connection
            weights.append(of_layer)
        return self.guess(x), weights


def predictable(letters, distance):
    """Say where the next letter can be known: from the second copy of the block on.

    Shapes: letters ``(b, n)``, distance ``(b)`` -> bool ``(b, n - 1)``, one for each letter but the last.
    Used in deeper/10.

    >>> predictable(torch.tensor([[0, 1, 0, 1, 0]]), torch.tensor([2]))
    tensor([[False, False,  True,  True]])
    """
    return torch.arange(letters.shape[-1] - 1) >= distance[:, None]


def positions_after_copies(letters):
    """Say where each letter has to look: at the letters that followed its earlier copies.

    True at (i, j) where letter j − 1 equals letter i and j is not after i.
    Shapes: letters ``(…, n)`` -> bool ``(…, n, n)``. Used in deeper/10.

    >>> positions_after_copies(torch.tensor([0, 1, 2, 0])).int()
    tensor([[0, 0, 0, 0],
            [0, 0, 0, 0],
            [0, 0, 0, 0],
            [0, 1, 0, 0]], dtype=torch.int32)
    """
    n = letters.shape[-1]
    before = letters.roll(1, dims=-1)  # what stands before position j; position 0 has nothing before it
    after_a_copy = letters[..., :, None] == before[..., None, :]  # (…, n, 1), (…, 1, n) -> (…, n, n)
    return after_a_copy & causal_mask(n) & (torch.arange(n) > 0)


def lift(scores, letters, distance):
    """Return by how much scores lift the positions where a head of layer 1 has to look.

    For each query whose next letter can be known: the average score of the letters that followed its earlier
    copies, minus that of all other letters that the mask allows; then the average over these queries.
    Shapes: scores ``(b, n, n)``, letters ``(b, n)``, distance ``(b)`` -> a number. Used in deeper/10.

    >>> letters = torch.tensor([[0, 1, 0, 1]])  # from position 2 on the next letter can be known
    >>> scores = torch.tensor([[1.0, 5, 2, 0]]).repeat(4, 1)  # the right position is 1: a 0 stands before it
    >>> lift(scores[None], letters, torch.tensor([2]))
    3.5
    """
    right = positions_after_copies(letters)  # (b, n, n)
    parts = right, causal_mask(letters.shape[-1]) & ~right
    on_right, on_other = ((scores * part).sum(dim=-1) / part.sum(dim=-1) for part in parts)  # (b, n) each
    return (on_right - on_other)[:, :-1][predictable(letters, distance)].mean().item()


def share_right(logits, letters, distance):
    """Return the share of predictable letters with the largest logit, ``(b, n, 26)``. Used in deeper/10."""
    right = logits[:, :-1].argmax(dim=-1) == letters[:, 1:]  # (b, n, 26) -> (b, n - 1)
    return right[predictable(letters, distance)].float().mean().item()


def accuracy(model, letters, distance):
    """Return the share of predictable letters that the model's first guess gets right. Used in deeper/10."""
    with torch.no_grad():
        return share_right(model(letters)[0], letters, distance)


def head_scores(model, letters, distance):
    """Measure what each head does, as a weight from 0 to 1 averaged over queries and sequences.

    Returns a dict of ``(layers, h)``: "previous letter", and "after a copy": the weight on the letters that
    followed earlier copies, for the letters from the second block on. Used in deeper/10.
    """
    with torch.no_grad():
        _, weights = model(letters)
    weights = torch.stack(weights, dim=1)  # of (b, h, n, n) -> (b, layers, h, n, n)
    previous = weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(0, 3))
    right = positions_after_copies(letters)[:, None, None]  # (b, n, n) -> (b, 1, 1, n, n)
    on_right = (weights * right).sum(dim=-1)[..., :-1]  # -> (b, layers, h, n - 1)
    counted = predictable(letters, distance)[:, None, None]
    after = (on_right * counted).sum(dim=(0, 3)) / counted.sum()
    return {"previous letter": previous, "after a copy": after}


def new_tiny_model(seed, run="varying"):
    """Return the untrained ``TinyModel`` of a run; the learner's own random numbers stay as they are."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return TinyModel(1 if run == "one layer" else NUM_LAYERS)


def train_tiny_model(model, distances, steps, seed):
    """Train in place, and yield ``(step, accuracy on this batch)`` before each step and after the last.

    A caller that stops early keeps the model as it is trained by then. Used in deeper/10.
    """
    optimiser = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    generator = torch.Generator().manual_seed(seed)
    for step in range(steps + 1):
        letters, distance = repeated_sequences(BATCH, distances, generator)
        logits, _ = model(letters)
        yield step, share_right(logits, letters, distance)
        if step < steps:
            for group in optimiser.param_groups:  # smaller and smaller steps, down to none
                group["lr"] = LEARNING_RATE * (1 - step / steps)
            counted = predictable(letters, distance)
            loss = F.cross_entropy(logits[:, :-1][counted], letters[:, 1:][counted])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


def file_of(run):
    return CHECKPOINTS / f"{run.replace(' ', '_')}.pt"


@functools.cache
def checkpoints(run="varying"):
    """Return what is kept of a run: "steps" ``(c)``, and each parameter with an axis ``c`` in front."""
    return torch.load(file_of(run), weights_only=True, map_location="cpu")


def trained_model(run="varying", step=None):
    """Return a shipped model: run "varying", "fixed" or "one layer", at a step (default: the last).

    Used in deeper/10. Raises ``ValueError`` for a step at which none was kept, ``FileNotFoundError`` for
    another run.
    """
    kept = checkpoints(run)
    at = -1 if step is None else kept["steps"].tolist().index(step)
    model = new_tiny_model(0, run).float()  # whatever torch.set_default_dtype says
    model.load_state_dict({name: kept[name][at].float() for name in model.state_dict()})
    return model.eval().requires_grad_(False)
