"""The exercises of page 09: a head to take out, the class from a blank cell, three bugs in a class."""

import inspect

from mha_helpers import attention
from mha_helpers.exercises import case, numbers
from mha_helpers.masks import causal_mask, padding_mask, sliding_window_mask
from mha_helpers.pages.p09_concat_and_output import attention_classes as classes
from mha_helpers.pages.p09_concat_and_output.attention_classes import mistakes_of
from mha_helpers.pages.p09_concat_and_output.judges import BugHunt, ModuleExercise
from mha_helpers.pages.p09_concat_and_output.pruning import LAST_HEAD, PRUNING_MISTAKES, Pruning, pruned

take_out = Pruning(
    "9.1 ★★ · 6 min · Take one head out",
    reference=pruned(),
    returns=("concat", "w_o"),
    cases=lambda: [
        case(numbers(3, 6), numbers(6, 5, seed=1), 3, 1, mistakes=LAST_HEAD),
        case(numbers(4, 12, seed=2), numbers(12, 9, seed=3), 4, 0),
        case(numbers(5, 8, seed=4), numbers(8, 3, seed=5), 2, 1),
    ],
    task="""
    To make a trained layer faster, people *prune* it: they take out heads that help little. Return concat
    and $W_O$ without one head, both **smaller** than before, so that their product is the sum of what the
    other heads write. `head` is counted from 0.
    """,
    stub="""
def my_pruned(concat, w_o, num_heads, head):
    # (n, h·d_v) and (h·d_v, d_model), each without its part of this head
    ...
""",
    mistakes=PRUNING_MISTAKES,
    praise="A head owns columns of concat and rows of W_O; real layers are pruned in this way.",
    hints=[
        "d_v = concat.shape[-1] // num_heads. At which number does this head begin, and where does it end?",
        "Those columns of concat meet rows of W_O. Which?",
        "torch.cat puts together what stands before the head and what stands behind it.",
    ],
    solution="""
def my_pruned(concat, w_o, num_heads, head):
    d_v = concat.shape[-1] // num_heads
    start, end = head * d_v, (head + 1) * d_v
    smaller = torch.cat([concat[:, :start], concat[:, end:]], dim=-1)
    return smaller, torch.cat([w_o[:start], w_o[end:]])
""",
)


def _input(sizes, *mask, n=5, **rest):
    d_model, num_heads = sizes
    x = numbers(3, n, d_model, seed=d_model)  # three sentences: not as many as there are values returned
    return case(x, *mask, build={"d_model": d_model, "num_heads": num_heads}, **rest)


_IN_FRONT = {"You put axes before the mask, which has them already.": {"~mask": "~mask[None, None]"}}
_FRONT = mistakes_of(_IN_FRONT)
_AXES = {"output": ("sentence", "word", "feature"), "weights": ("sentence", "head", "query", "key")}
_COURSE_STEPS = [
    name for name, step in vars(attention).items() if getattr(step, "__module__", "") == attention.__name__
]

the_class = ModuleExercise(
    "9.2 ★★★ · 15 min · The class, from a blank cell",
    reference=attention.MultiHeadAttention,
    axes=_AXES,
    without=[*_COURSE_STEPS, "forward", "multi_head_attention_forward"],
    cases=lambda: [
        _input((6, 1), label="with one head, without a mask", mistakes=mistakes_of(classes.BLANK_CELL)),
        _input((3, 3), n=4, label="with d_k = 1, without a mask"),
        _input((12, 3), label="with three heads, without a mask"),
        _input((8, 2), causal_mask(4), n=4, label="with a mask", mistakes=mistakes_of(classes.MASKS)),
        _input((6, 3), padding_mask([5, 3, 4], n=5), label="with a mask for each sentence", mistakes=_FRONT),
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
        # -> output (b, n, d_model), weights (b, h, n, n)
        ...
""",
    mistakes=mistakes_of(classes.STEPS | classes.PLANTED),
    praise="You have written multi-head attention, and it has the numbers of PyTorch's.",
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


_BY_WORDS = {  # beside a cut as it is handed out, so that this does not explain what is left: with n = 5 only
    "chunk(3, dim=1) cuts up the words: along which axis do q, k and v stand side by side?": {
        "chunk(3, dim=-1)": "chunk(3, dim=1)",
        "(b, n, self.num_heads, -1).transpose(1, 2)": "(b, self.num_heads, 5, -1)",
    }
}
_NEAR = sliding_window_mask(5, window=1)

three_bugs = BugHunt(
    "9.3 ★★ · 10 min · Three bugs in a colleague's class",
    reference=classes.attention_class(classes.Layers),
    axes=_AXES,
    cases=lambda: [
        _input(
            (6, 1),
            mistakes=mistakes_of(classes.SCORES | _BY_WORDS, classes.Layers),
            bug="One head, no mask: the weights are too sharp. What happens to the scores first?",
        ),
        _input((3, 3), n=4, bug="Three heads, no mask: change one word, and whose queries move in head 1?"),
        _input(
            (1, 1),
            _NEAR,
            mistakes=mistakes_of(classes.MASKS, classes.Layers),
            bug="The mask allows neighbours: who gets the weight, they or the others?",
        ),
        _input((12, 3), _NEAR),
    ],
    task="""
    A colleague's class builds on the `Layers` of this page. It runs and its shapes are right, but it has
    three bugs. Repair them in place; the check counts those you found.
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
    given=inspect.getsource(classes.Layers),
    mistakes=mistakes_of(classes.STEPS | classes.PARTLY, classes.Layers),
    praise="You found all three by what they do: no error message pointed at any of them.",
    hints=[
        "Go through the steps of the pages with a finger: which one is missing here?",
        "One bug is in how the heads are cut: which axis must stay whole in the first cut?",
        "One shows only with a mask: give it a causal mask and look at the first row of the weights.",
    ],
    solution=classes.REPAIRED,
)
