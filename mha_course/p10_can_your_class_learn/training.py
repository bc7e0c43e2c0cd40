"""A small model around an attention class, its training on stories, and how much of what it tells is true."""

import functools
import random

import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import OneCycleLR

from mha_course.exercises.engine import run_code
from mha_course.p09_concat_and_output.exercises import the_class
from mha_course.p10_can_your_class_learn.stories import ASKED, FACTS, KEPT_BACK, LENGTH, WORDS, new_stories
from mha_helpers.masks import causal_mask

D_MODEL, NUM_HEADS, LAYERS = 64, 4, 2
STEPS, BATCH = 500, 64
_UNCUT = {"(b, n, self.num_heads, self.d_k)": "(b, self.num_heads, n, self.d_k)"}
_UNCUT |= {f"{name}(x).view(cut).transpose(1, 2)": f"{name}(x).view(cut)" for name in ("w_q", "w_k", "w_v")}
BREAKS = {  # what is changed in the class of page 09
    "nothing": {},
    "no attention: output = values": {"weights @ v": "v"},
    "no mask": {"scores.masked_fill(~mask, -torch.inf)": "scores"},
    "softmax over the queries": {"dim=-1": "dim=-2"},
    "heads cut without transpose": _UNCUT,
    "no √d_k": {" / self.d_k**0.5": ""},
    "no positions": {},  # of the model, not of the class
    "no W_O": {"self.w_o(concat)": "concat"},
}


@functools.cache
def class_with(broken="nothing"):
    """Return the class of page 09, or that with one line broken; ``BREAKS`` has the names."""
    return run_code("MyAttention", the_class.solution_code, BREAKS[broken])


class Block(nn.Module):
    """Attention, then a network for each word; each is added to what goes past it. As on page 10."""

    def __init__(self, attention):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(D_MODEL), nn.LayerNorm(D_MODEL)
        self.attention = attention(D_MODEL, NUM_HEADS)
        wide = 4 * D_MODEL
        self.network = nn.Sequential(nn.Linear(D_MODEL, wide), nn.GELU(), nn.Linear(wide, D_MODEL))

    def forward(self, x, mask):
        output, weights = self.attention(self.norm_1(x), mask)
        x = x + output
        return x + self.network(self.norm_2(x)), weights


class StoryModel(nn.Module):
    """Shapes: words ``(b, n)`` -> logits of the word that follows each ``(b, n, words)``. As on page 10."""

    sizes = LAYERS, D_MODEL, NUM_HEADS

    def __init__(self, attention):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(len(WORDS), D_MODEL), nn.Embedding(LENGTH, D_MODEL)
        for table in (self.embedding, self.positions):
            nn.init.normal_(table.weight, std=0.1)
        self.blocks = nn.ModuleList(Block(attention) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(D_MODEL)

    def forward(self, ids):
        return self.with_weights(ids)[0]

    def with_weights(self, ids):
        """Return the logits, and the weights of each layer ``(b, h, n, n)``."""
        x, weights = self.embedding(ids) + self.positions.weight[: ids.shape[1]], []  # -> (b, n, d_model)
        for block in self.blocks:
            x, of_block = block(x, causal_mask(ids.shape[1]))
            weights.append(of_block)
        return self.norm(x) @ self.embedding.weight.T, weights  # (b, n, d_model) -> (b, n, words)

    def use(self, attention):
        """Put another class into each block: it gets the four layers as they are trained by now.

        Raises ``ValueError`` where the class does not have them.
        """
        for block in self.blocks:
            new = attention(D_MODEL, NUM_HEADS).float()
            for name in ("w_q", "w_k", "w_v", "w_o"):
                if not isinstance(getattr(new, name, None), nn.Linear):
                    raise ValueError(f"The class needs an nn.Linear {name}, as on page 09, to go on with it.")
                setattr(new, name, getattr(block.attention, name))
            block.attention = new
        return self


def new_model(attention, seed=0):
    """Return an untrained ``StoryModel``; the learner's own random numbers stay as they are."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return StoryModel(attention).float()


def optimisers_of(model):
    """Return Muon for the matrices and AdamW for the rest; where torch has no Muon, AdamW for everything."""
    matrices = [weight for weight in model.blocks.parameters() if weight.ndim == 2]
    if not hasattr(torch.optim, "Muon"):
        return [torch.optim.AdamW(model.parameters(), lr=0.003)]
    inside = {id(weight) for weight in matrices}
    rest = [weight for weight in model.parameters() if id(weight) not in inside]
    return [torch.optim.Muon(matrices, lr=0.02), torch.optim.AdamW(rest, lr=0.003)]


def loss_of(model, ids):
    """Return how surprised the model is by the words that are asked, mean of all. Shape: words ``(b, n)``."""
    said = model(ids[:, :-1])[:, ASKED - 1 :]  # each word is said by the row before it
    return F.cross_entropy(said.flatten(0, 1), ids[:, ASKED:].flatten())


def train(model, seed=0, optimisers=None):
    """Train in place; yield the loss of each step. No story of those that are kept back is used."""
    optimisers = optimisers or optimisers_of(model)
    options = {"total_steps": STEPS, "pct_start": 0.1, "anneal_strategy": "linear", "cycle_momentum": False}
    cycles = [OneCycleLR(each, each.param_groups[0]["lr"], **options) for each in optimisers]
    draw, kept_back = random.Random(seed), {tuple(story) for story in stories_kept_back(200).tolist()}
    for _ in range(STEPS):
        ids = new_stories(BATCH, draw)
        ids = ids[[tuple(story) not in kept_back for story in ids.tolist()]]
        loss = loss_of(model, ids)
        model.zero_grad()
        loss.backward()
        for optimiser, cycle in zip(optimisers, cycles, strict=True):
            optimiser.step()
            cycle.step()
        yield loss.item()


def stories_kept_back(count):
    """Return the first of the 200 stories that are kept back. Shape: -> ``(count, 24)``."""
    return new_stories(count, KEPT_BACK)


@torch.no_grad()
def written(model, ids):
    """Return stories ``(b, n)`` as the model ends them: always its likeliest word."""
    text = ids[:, :ASKED]
    while text.shape[1] < ids.shape[1]:
        text = torch.cat([text, model(text)[:, -1:].argmax(dim=-1)], dim=1)
    return text


@torch.no_grad()
def facts_right(model, ids):
    """Return the share of colours and things that are right, each with the true text before it given."""
    said = model(ids[:, :-1]).argmax(dim=-1)
    return (said[:, [at - 1 for at in FACTS]] == ids[:, FACTS]).float().mean().item()


@torch.no_grad()
def told_truly(model, ids):
    """Return the share of stories ``(b, n)`` that the model ends without a wrong word."""
    return (written(model, ids) == ids).all(dim=1).sum().item() / len(ids)
