"""The exercises of page 09: a head to take out, the class from a blank cell, three bugs in a class."""

import mha_helpers
from mha_course.exercises import case, changes, numbers
from mha_course.p09_concat_and_output.judges import BugHunt, ModuleExercise, Pruning, batch
from mha_helpers.masks import causal_mask, padding_mask, sliding_window_mask

take_out = Pruning(
    "9.1 ★★ · 8 min · Take one head out",
    returns=("concat", "w_o"),
    cases=lambda: [
        case(numbers(3, 6), numbers(6, 5, seed=1), 3, 1),
        case(numbers(4, 12, seed=2), numbers(12, 9, seed=3), 4, 0),
        case(numbers(5, 10, seed=4), numbers(10, 3, seed=5), 5, 4),
        case(numbers(1, 2, seed=6), numbers(2, 1, seed=7), 2, 0, label="with one word and d_v = 1"),
    ],
    task="""
    To make a trained layer faster, people *prune* it: they take out heads that help little. Return concat
    and $W_O$ without one head, both **smaller** than before, so that their product is the sum of what the
    other heads write. `head` is counted from 0.
    """,
    mistakes=changes("""
        head * d_v, (head + 1) * d_v => (head - 1) * d_v, head * d_v
        The wrong head is gone, the one before: does your count begin at 0 or at 1?
        head * d_v, (head + 1) * d_v => head * d_v, (head + 1) * d_v + 1
        One column too many is gone: is the stop of a slice inside it?
        head * d_v, (head + 1) * d_v => len(w_o) - d_v, len(w_o)
        The last head is gone: is it the one asked for?
        [concat[:, :start], concat[:, end:]] => [concat[:, start:end]]
        [w_o[:start], w_o[end:]] => [w_o[start:end]]
        You keep this head and take out all the others.
        [concat[:, :start], concat[:, end:]] => [concat[:, torch.arange(len(w_o)) % num_heads != head]]
        [w_o[:start], w_o[end:]] => [w_o[torch.arange(len(w_o)) % num_heads != head]]
        You take out every num_heads-th number: which numbers of concat does one head have, and where?
        concat[:, :start], concat => concat[:, :start], concat[:, start:end] * 0, concat
        w_o[:start], w_o => w_o[:start], w_o[start:end] * 0, w_o
        The head is silent, but nothing has become smaller: zeros are still multiplied.
        torch.cat([w_o[:start], w_o[end:]]) => w_o
        concat has become narrower, but W_O has not: which of its rows did the missing numbers meet?
        torch.cat([w_o[:start], w_o[end:]]) => torch.cat([w_o[:, :start], w_o[:, end:]], dim=-1)
        You take columns out of both: which axis of W_O is as long as concat is wide?
        concat.shape[-1] => w_o.shape[1]
        Your d_v comes from d_model: which width is shared out among the heads here?
        [concat[:, :start], concat[:, end:]] => [concat[:, :start]]
        [w_o[:start], w_o[end:]] => [w_o[:start]]
        All heads after the one asked for are gone, too: where do they begin?
        concat.shape[-1] // num_heads => 1
        You take out a single number: how many does one head have?
    """),
    praise="A head owns columns of concat and rows of W_O; real layers are pruned in this way.",
    hints=[
        "d_v = concat.shape[-1] // num_heads. At which number does this head begin, and where does it end?",
        "Those columns of concat meet rows of W_O. Which?",
        "torch.cat puts together what comes before the head and what comes after it.",
    ],
    solution="""
def my_pruned(concat, w_o, num_heads, head):
    # (n, h·d_v) and (h·d_v, d_model), each without its part of this head
    d_v = concat.shape[-1] // num_heads
    start, end = head * d_v, (head + 1) * d_v
    smaller = torch.cat([concat[:, :start], concat[:, end:]], dim=-1)
    return smaller, torch.cat([w_o[:start], w_o[end:]])
""",
)

_AXES = {"output": ("sentence", "word", "feature"), "weights": ("sentence", "head", "query", "key")}

the_class = ModuleExercise(
    "9.2 ★★★ · 22 min · The class, from a blank cell",
    axes=_AXES,
    without=[*mha_helpers.__all__, "forward", "multi_head_attention_forward"],
    cases=lambda: [
        batch((6, 1), label="with one head, without a mask"),
        batch((3, 3), n=4, label="with d_k = 1, without a mask"),
        batch((12, 3), label="with three heads, without a mask"),
        batch((8, 2), causal_mask(4), n=4, label="with a mask"),
        batch((4, 2), causal_mask(4), n=4, label="with a mask, and scores of 0"),
        batch((6, 3), padding_mask([5, 3, 4], n=5).flip(-1), label="with a mask for each sentence"),
        batch((8, 2), b=1, label="with one sentence"),
        batch((1, 1), n=1, b=1, label="with one word, and d_model = 1"),
    ],
    task="""
    Close the pages and write every step of multi-head attention, with torch and nn only. Make four
    `nn.Linear` layers with bias, `w_q`, `w_k`, `w_v` and `w_o`; x is (b, n, d_model); True in the mask
    means “may attend”.
    """,
    stub="""
class MyAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        ...

    def forward(self, x, mask=None):
        # -> tensors: output (b, n, d_model), weights (b, h, n, n)
        ...
""",
    praise="You have written multi-head attention, and PyTorch's gives these numbers, too.",
    hints=[
        "One line a step: self.w_q(x) projects; split, scores, scale, mask, softmax, values, merge, W_O.",
        "Split: (b, n, d_model) -> (b, n, h, d_k) with view, then transpose(1, 2) -> (b, h, n, d_k).",
        "Merge is the way back: transpose(1, 2) -> (b, n, h, d_v), then reshape(b, n, d_model).",
    ],
    solution="""
class MyAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_k = num_heads, d_model // num_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, n, d_model = x.shape
        cut = (b, n, self.num_heads, self.d_k)
        q = self.w_q(x).view(cut).transpose(1, 2)  # (b, n, d_model) -> (b, h, n, d_k)
        k = self.w_k(x).view(cut).transpose(1, 2)
        v = self.w_v(x).view(cut).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / self.d_k**0.5  # -> (b, h, n, n)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        heads = weights @ v  # -> (b, h, n, d_v)
        concat = heads.transpose(1, 2).reshape(b, n, d_model)
        return self.w_o(concat), weights
""",
)

_NEAR = sliding_window_mask(5, window=1)

three_bugs = BugHunt(
    "9.3 ★★ · 10 min · Three bugs in a colleague's class",
    axes=_AXES,
    cases=lambda: [
        batch((6, 1), bug="One head, no mask: the weights are too sharp. What happens to the scores first?"),
        batch((3, 3), n=4, bug="Three heads, no mask: change one word, and whose queries move in head 1?"),
        batch((1, 1), _NEAR, bug="The mask allows neighbours: who gets the weight, they or the others?"),
        batch((12, 3), padding_mask([4, 2], n=4) & causal_mask(4), n=4, b=2),
        batch((2, 2), n=1, b=1, label="with one word"),
    ],
    task="""
    A colleague's class builds on the `Layers` of this page. It runs and its shapes are right, but it has
    three bugs. Fix them in place; the check counts how many you have found.
    """,
    stub="""
class Suspect(Layers):
    def forward(self, x, mask=None):  # True in the mask = may attend
        b, n, d_model = x.shape
        parts = self.w_qkv(x).chunk(3, dim=-1)  # 3 of (b, n, d_model)
        q, k, v = [part.reshape(b, self.num_heads, n, -1) for part in parts]
        scores = q @ k.transpose(-2, -1)
        if mask is not None:
            scores = scores.masked_fill(mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        concat = (weights @ v).transpose(1, 2).reshape(b, n, d_model)
        return self.w_o(concat), weights
""",
    page_code="""
class Layers(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.w_qkv = nn.Linear(d_model, 3 * d_model)  # W_Q, W_K and W_V side by side
        self.w_o = nn.Linear(d_model, d_model)
""",
    praise="You found all three by what they do: no error message pointed at any of them.",
    hints=[
        "Tick off the steps of the pages: which one is missing here?",
        "One bug is in how the heads are cut: which axis must stay whole in the first cut?",
        "One shows only with a mask: give it a causal mask and look at the first row of the weights.",
    ],
    solution="""
class Suspect(Layers):
    def forward(self, x, mask=None):
        b, n, d_model = x.shape
        parts = self.w_qkv(x).chunk(3, dim=-1)  # 3 of (b, n, d_model)
        # words keep their axis while the features are cut; then the heads come forward
        q, k, v = [part.reshape(b, n, self.num_heads, -1).transpose(1, 2) for part in parts]
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5  # the scale was missing
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)  # −∞ where the mask is False
        weights = torch.softmax(scores, dim=-1)
        concat = (weights @ v).transpose(1, 2).reshape(b, n, d_model)
        return self.w_o(concat), weights
""",
)
