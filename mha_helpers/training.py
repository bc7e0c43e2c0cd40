"""The training loop of notebook 10, for the committed script and for the cell that trains live."""

import torch
from torch.nn import functional as F

from mha_helpers.trained import TinyModel, predictable, repeated_sequences

BATCH, LEARNING_RATE, WEIGHT_DECAY = 64, 0.003, 1.0


def new_model(seed):
    """Return an untrained ``TinyModel``; the learner's own random numbers stay as they are."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return TinyModel()


def train(model, distances, steps, seed):
    """Train in place, and yield ``(step, accuracy on this batch)`` before each step and after the last.

    Whoever stops asking for the next step has a model trained so far.
    """
    optimiser = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    generator = torch.Generator().manual_seed(seed)
    for step in range(steps + 1):
        letters, distance = repeated_sequences(BATCH, distances, generator)
        guesses, _ = model(letters)
        counted = predictable(letters, distance)
        guessed, right = guesses[:, :-1][counted], letters[:, 1:][counted]
        yield step, (guessed.argmax(dim=-1) == right).float().mean().item()
        if step < steps:
            for group in optimiser.param_groups:  # smaller and smaller steps, down to none
                group["lr"] = LEARNING_RATE * (1 - step / steps)
            loss = F.cross_entropy(guessed, right)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
