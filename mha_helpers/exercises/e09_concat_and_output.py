"""Exercises of notebook 09: merging heads, W_O, and the capstone (shapes, three planted bugs, the class)."""

import torch

from mha_helpers.attention import MultiHeadAttention, merge_heads
from mha_helpers.examples import golden_example
from mha_helpers.exercises import (
    FunctionExercise,
    Mistake,
    ModuleExercise,
    ValueExercise,
    case,
    numbers,
)
from mha_helpers.exercises.capstone import (
    CLASS_MISTAKES,
    HUNT_MISTAKES,
    SHAPE_MISTAKES,
    SHAPES,
    STEPS,
    class_cases,
    hunt_cases,
)
from mha_helpers.exercises.whole_mistakes import MERGING


def _places(per_head, width, head, place):
    return {
        "numbers of one head": per_head,
        "numbers of the concatenation": width,
        "head of the fifth": head,
        "place in that head": place,
    }


six_indices = ValueExercise(
    "9.1",
    "Find the error in a published example",
    stars=1,
    minutes=3,
    variable="corrected",
    answer=_places(2, 6, 3, 1),
    mistakes=[
        Mistake(
            "as published",
            _places(6, 6, 1, 5),
            "That is the published reading: a head with d_v = 2 has no fifth number. Who stands third?",
        ),
        Mistake(
            "every head as wide as the concatenation",
            _places(6, 18, 1, 5),
            "Three heads of 6 would give 18 numbers, and x has 6: how many does each head have here?",
        ),
        Mistake(
            "counted from 0",
            _places(2, 6, 2, 0),
            "The heads and numbers of the article are counted from 1: head_1[1] is the first.",
        ),
        Mistake(
            "heads counted from 0",
            _places(2, 6, 2, 1),
            "All is right but the head: you count heads from 0, and the article from 1.",
        ),
        Mistake(
            "places counted from 0",
            _places(2, 6, 3, 0),
            "All is right but the place: you count it from 0, and the article from 1.",
        ),
        Mistake(
            "fifth number as published",
            _places(2, 6, 1, 5),
            "Head 1 has two numbers by your own count, so it has no fifth: who stands third?",
        ),
        Mistake(
            "h and d_v swapped",
            _places(3, 6, 2, 2),
            "You have two heads of three numbers: which of the two sizes is d_v?",
        ),
        Mistake(
            "numbers interleaved",
            _places(2, 6, 2, 2),
            "That is the fourth number. Or do you take one number of each head in turn? All numbers of"
            " head 1 come first.",
        ),
        Mistake(
            "heads from the last to the first",
            _places(2, 6, 1, 1),
            "You begin with the last head: head 1 stands first.",
        ),
    ],
    praise="One head gives d_v numbers, and only side by side are there h · d_v.",
    hints=(
        "One head gives d_v numbers for a token. How many heads stand side by side?",
        "Write the row out: head_1[1], head_1[2], head_2[1], and so on. Count to five.",
    ),
    solution="""
corrected = {
    "numbers of one head": 2,
    "numbers of the concatenation": 3 * 2,
    "head of the fifth": 3,  # head_1[1], head_1[2], head_2[1], head_2[2], head_3[1], head_3[2]
    "place in that head": 1,
}
""",
)


def _merge_cases():
    example = golden_example()
    heads = example.attention().trace(example.x[None]).heads.detach()
    return [case(heads), case(numbers(2, 3, 5, 4)), case(numbers(3, 4, 2, 2)), case(numbers(4, 1, 3, 6))]


merge_the_heads = FunctionExercise(
    "9.2",
    "Write merge_heads",
    stars=2,
    minutes=4,
    variable="my_merge_heads",
    reference=lambda heads: merge_heads(heads),  # the name that the learner sees
    cases=_merge_cases,
    without=["mha_helpers.merge_heads", "my_merge"],
    mistakes=[
        *MERGING,
        Mistake(
            "transpose of the wrong axes: the last two",
            lambda heads: heads.transpose(2, 3).reshape(heads.shape[0], heads.shape[2], -1),
            "Tokens and numbers change places; the axis that must move is the one of the heads.",
        ),
        Mistake(
            "transpose of the wrong axes: batch and heads",
            lambda heads: heads.transpose(0, 1).reshape(heads.shape[0], heads.shape[2], -1),
            "The heads change places with the sentences: each token must stay in its own sentence.",
        ),
        Mistake(
            "tokens merged with their numbers",
            lambda heads: heads.flatten(2),
            "Tokens and their numbers became one axis: tokens keep an axis of their own. What joins what?",
        ),
        Mistake(
            "joined along the batch",
            lambda heads: torch.cat(list(heads), dim=-1),
            "Your loop goes over the first axis, and joins sentences: on which axis are the heads?",
        ),
        Mistake(
            "sizes read in another order",
            lambda heads: heads.transpose(1, 2).reshape(heads.shape[0], heads.shape[1], -1),
            "The swap is right. Then you take the second size of heads for n: what does it count"
            " in (b, h, n, d_v)?",
        ),
        Mistake(
            "merged into one axis with the tokens",
            lambda heads: heads.flatten(1, 2),
            "Heads and tokens became one axis: it is the heads and their numbers that belong together.",
        ),
    ],
    praise="Every token has its own row again, head after head, and splitting it gives the heads back.",
    hints=(
        "Go backwards through the split: which of its two moves came last?",
        "First bring the heads back behind the tokens: (b, h, n, d_v) becomes (b, n, h, d_v).",
        "Then make the last two axes one. After a transpose, view refuses; reshape copies.",
    ),
    solution="""
def my_merge_heads(heads):
    b, h, n, d_v = heads.shape
    tokens_first = heads.transpose(1, 2)  # (b, h, n, d_v) -> (b, n, h, d_v)
    return tokens_first.reshape(b, n, h * d_v)  # (b, n, h, d_v) -> (b, n, h·d_v)
""",
)


def _averaging(num_heads, d_v):
    return torch.eye(d_v).repeat(num_heads, 1) / num_heads


averaging_w_o = FunctionExercise(
    "9.3",
    "A W_O that takes the mean of the heads",
    stars=2,
    minutes=5,
    variable="my_averaging_w_o",
    reference=_averaging,
    cases=lambda: [case(3, 2), case(2, 3), case(4, 4), case(1, 5)],
    mistakes=[
        Mistake(
            "sum in place of the mean",
            lambda num_heads, d_v: torch.eye(d_v).repeat(num_heads, 1),
            "This adds the heads up: what turns a sum of num_heads parts into their mean?",
        ),
        Mistake(
            "rows dealt out like cards",
            lambda num_heads, d_v: torch.eye(d_v).repeat_interleave(num_heads, dim=0) / num_heads,
            "Your rows go number by number. In the concatenation all numbers of a head stand together.",
        ),
        Mistake(
            "transposed",
            lambda num_heads, d_v: _averaging(num_heads, d_v).T,
            "Your matrix lies on its side: it needs a row for each number of the concatenation.",
        ),
        Mistake(
            "numbers mixed too",
            lambda num_heads, d_v: torch.ones(num_heads * d_v, d_v) / num_heads,
            "Every output takes all numbers of all heads: output 1 should take number 1 of each head alone.",
        ),
        *(
            Mistake(
                f"numbers mixed too, {name}",
                lambda num_heads, d_v, number=number: torch.full(
                    (num_heads * d_v, d_v), number(num_heads, d_v)
                ),
                "Every output takes all numbers: output 1 should take number 1 of each head alone.",
            )
            for name, number in (
                ("divided by all", lambda num_heads, d_v: 1 / (num_heads * d_v)),
                ("divided by d_v", lambda num_heads, d_v: 1 / d_v),
                ("not divided", lambda num_heads, d_v: 1.0),
            )
        ),
        Mistake(
            "only the first head, divided",
            lambda num_heads, d_v: torch.eye(num_heads * d_v, d_v) / num_heads,
            "Only head 1 comes through: every head needs a block of its own.",
        ),
        Mistake(
            "nothing is mixed, divided",
            lambda num_heads, d_v: torch.eye(num_heads * d_v) / num_heads,
            "This hands on the concatenation as it is: the mean has d_v numbers, so that many columns.",
        ),
        Mistake(
            "block as wide as there are heads",
            lambda num_heads, d_v: torch.eye(num_heads).repeat(d_v, 1) / num_heads,
            "Your blocks are as wide as there are heads: how wide is a head, and how many blocks?",
        ),
        Mistake(
            "divided by d_v",
            lambda num_heads, d_v: torch.eye(d_v).repeat(num_heads, 1) / d_v,
            "You divide by the width of a head: a mean divides by how many there are.",
        ),
        Mistake(
            "only the first head",
            lambda num_heads, d_v: torch.eye(num_heads * d_v, d_v),
            "Only head 1 comes through: every head needs a block of its own.",
        ),
        Mistake(
            "nothing is mixed",
            lambda num_heads, d_v: torch.eye(num_heads * d_v),
            "This hands on the concatenation as it is: the mean has d_v numbers, so that many columns.",
        ),
    ],
    praise="The mean is one W_O of many, with the same block for every head; training finds others.",
    hints=(
        "How many rows must it have, how many columns? A row belongs to a number of the concatenation.",
        "Head i owns d_v rows. Which (d_v, d_v) matrix hands its numbers on unchanged?",
        "Put the blocks of all heads one below the other with torch.cat; then think of the mean.",
    ),
    solution="""
def my_averaging_w_o(num_heads, d_v):
    block = torch.eye(d_v) / num_heads  # hands the numbers of one head on, 1/h of each
    return torch.cat([block] * num_heads)  # h of (d_v, d_v) -> (h·d_v, d_v)
""",
)


new_configuration = ValueExercise(
    "9.4",
    "Shapes of a new configuration",
    stars=1,
    minutes=4,
    variable="shapes",
    answer=SHAPES,
    mistakes=SHAPE_MISTAKES,
    praise="W_O makes d_model numbers of h · d_v, however many they are: that is why d_k and d_v are free.",
    hints=(
        "W_Q makes all queries at once: h · d_k columns. Splitting gives (b, h, n, d_k).",
        "d_k disappears in the dot product; from then on d_v counts.",
        "W_O turns h · d_v numbers into d_model.",
    ),
    solution="""
shapes = {
    "W_Q, all heads": (96, 12 * 16),
    "q, split": (3, 12, 20, 16),
    "weights": (3, 12, 20, 20),
    "outputs of the heads": (3, 12, 20, 4),
    "concat": (3, 20, 12 * 4),
    "W_O": (12 * 4, 96),
    "output": (3, 20, 96),
}
""",
)


three_bugs = ModuleExercise(
    "9.5",
    "Three planted bugs",
    stars=3,
    minutes=10,
    variable="repaired",
    reference=MultiHeadAttention,
    cases=hunt_cases,
    without=[f"mha_helpers.{step}" for step in STEPS],  # the class of the course is no repair
    returns=("output", "weights"),
    mistakes=HUNT_MISTAKES,
    praise="You found all three by what they do: no error message pointed at any of them.",
    hints=(
        "Set MultiHeadAttention of the course beside it, with the same weights, and compare step by step.",
        "One bug shows without a mask and in one head: look at the weights. One shows with a mask alone.",
        "The third shows when you change one token and see which rows of q move: look at how q is made.",
    ),
    solution="""
class Repaired(Suspect):
    def forward(self, x, mask=None):
        b, n, d_model = x.shape
        # first cut, then move the axis: (b, n, d_model) -> (b, n, h, d_k) -> (b, h, n, d_k)
        q = self.w_q(x).view(b, n, self.num_heads, self.d_k).transpose(1, 2)
        k = self.w_k(x).view(b, n, self.num_heads, self.d_k).transpose(1, 2)
        v = self.w_v(x).view(b, n, self.num_heads, self.d_k).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / self.d_k**0.5  # the scale was missing
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)  # hide where the mask is False
        weights = torch.softmax(scores, dim=-1)
        concat = (weights @ v).transpose(1, 2).reshape(b, n, d_model)
        return self.w_o(concat), weights


repaired = Repaired
""",
    given="""
class Suspect(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_k = num_heads, d_model // num_heads
        self.w_q, self.w_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.w_v, self.w_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
""",
)


three_bugs.stub_words = "Repair Suspect and run its cell, then put its name in place of the `...`."

the_class = ModuleExercise(
    "9.6",
    "The class, from a blank cell",
    stars=3,
    minutes=15,
    variable="BlankAttention",
    reference=MultiHeadAttention,
    cases=class_cases,
    without=["torch.scaled_dot_product_attention", *(f"mha_helpers.{step}" for step in STEPS)],
    returns=("output", "weights"),
    mistakes=CLASS_MISTAKES,
    praise="This is multi-head attention, written by you. It takes PyTorch's weights and gives its numbers.",
    hints=(
        "Four nn.Linear(d_model, d_model), named w_q, w_k, w_v and w_o; keep num_heads and d_k as well.",
        "In forward: project, split, scores, scale, mask, softmax, times v, merge, project out.",
        "Write the shape behind each line: (b, h, n, d_k) after the split, (b, n, h·d_v) after the merge.",
        "A row without any key is NaN after softmax: where the mask is False, write 0, before you multiply"
        " by v.",
    ),
    solution="""
class BlankAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def split(self, x):
        b, n, d_model = x.shape
        return x.view(b, n, self.num_heads, self.d_k).transpose(1, 2)  # -> (b, h, n, d_k)

    def forward(self, x, mask=None):
        b, n, d_model = x.shape
        q, k, v = self.split(self.w_q(x)), self.split(self.w_k(x)), self.split(self.w_v(x))
        scores = q @ k.transpose(-2, -1) / self.d_k**0.5  # (b, h, n, d_k) -> (b, h, n, n)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)  # a row without a key: zeros, not NaN
        heads = weights @ v  # (b, h, n, n) @ (b, h, n, d_v) -> (b, h, n, d_v)
        concat = heads.transpose(1, 2).reshape(b, n, d_model)  # (b, h, n, d_v) -> (b, n, h·d_v)
        return self.w_o(concat), weights
""",
)
