"""Classes of attention for the exercises of page 09: the right one, and those with one mistake each."""

import torch
from torch import nn

from mha_helpers.attention import MultiHeadAttention


class Layers(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.w_qkv = nn.Linear(d_model, 3 * d_model)  # W_Q, W_K and W_V side by side
        self.w_o = nn.Linear(d_model, d_model)  # a matrix, and a bias: one number added to each column


REPAIRED = """
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
"""


def attention_class(base, changes=()):
    """Run the code above on layers of another base, with each text in ``changes`` put in place of another."""
    code = REPAIRED
    if base is not Layers:
        code = code.replace("self.w_qkv(x).chunk(3, dim=-1)", "self.w_q(x), self.w_k(x), self.w_v(x)")
    for old, new in dict(changes).items():
        code = code.replace(old, new)
    names = {"torch": torch, "Layers": base, "__name__": __name__}
    exec(code, names)
    return names["Suspect"]


def mistakes_of(changed, base=MultiHeadAttention):
    """Return the mistakes of a dict from what is said of one to the changes that make it."""
    return [(attention_class(base, changes), sentence) for sentence, changes in changed.items()]


# What stands in the code above.
_CUT, _MERGE = "(b, n, self.num_heads, -1).transpose(1, 2)", "v).transpose(1, 2)"
_ROOT, _FILL, _AXIS = " / q.shape[-1] ** 0.5", ".masked_fill(~mask, -torch.inf)", "scores, dim=-1)"
_UNCUT = {_CUT: "(b, self.num_heads, n, -1)"}  # as the class of exercise 9.3 is handed out

# What goes wrong in either class, also without a mask.
STEPS = {
    "The weights add up to 1 for each key: on which axis are a query's keys?": {_AXIS: "scores, dim=-2)"},
    "softmax(dim=1) compares heads with one another: on which axis are the keys?": {_AXIS: "scores, dim=1)"},
    "Cut and merge fit each other, but a head mixes numbers of several words.": {**_UNCUT, _MERGE: "v)"},
    "The weights are right, the output is not: whose numbers are in one row of your concat?": {_MERGE: "v)"},
    "A head takes every num_heads-th feature: its features lie side by side.": {
        _CUT: "(b, n, -1, self.num_heads).permute(0, 3, 1, 2)",
        _MERGE: "v).permute(0, 2, 3, 1)",
    },
    "Each word's heads meet one another: which two axes are left for the products q @ kᵀ?": {
        _CUT: "(b, n, self.num_heads, -1)"
    },
    "You divide by √d_model: how many products does one score of one head add up?": {
        _ROOT: " / d_model**0.5"
    },
    "You divide the scores by d_k: how does their spread grow with d_k?": {_ROOT: " / q.shape[-1]"},
    "The scores grow in the scale: should they be multiplied by √d_k, or divided?": {"/ q.s": "* q.s"},
    "The weights are right, but they mix the keys: what does a word bring home?": {"s @ v": "s @ k"},
}

# What can be told with one head and without a mask.
SCORES = {
    "Your weights are scores: which step makes shares that add up to 1 of them?": {
        "torch.softmax(scores, dim=-1)": "scores"
    },
    "No word looks at a later one, whatever the mask says: who decides that?": {
        "softmax(scores": "softmax(scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf)"
    },
    "Without a mask no word looks at a later one: what does mask=None mean?": {
        "x.shape\n": "x.shape\n        mask = torch.ones(n, n).tril().bool() if mask is None else mask\n"
    },
    "Each word's numbers meet one another: which two axes are left for the products q @ kᵀ?": {
        _CUT: "(b, n, self.num_heads, -1).transpose(2, 3)"
    },
    "You divide weights by √d_k, not scores: what must each row of weights add up to?": {
        _ROOT: "",
        _AXIS: _AXIS + _ROOT,
    },
    "You divide by √n, the root of the number of words: what does one score add up?": {_ROOT: " / n**0.5"},
    "You divide by √num_heads: how many products does one score of one head add up?": {
        _ROOT: " / self.num_heads**0.5"
    },
    "Keys and values have changed places: which of the two do the queries meet?": {
        "q @ k": "q @ v",
        "s @ v": "s @ k",
    },
    "The weights are right, but turned on their side before they meet the values.": {"s @ v": "s.mT @ v"},
    "The weights are right, and x is added to the output: that is the step after this class.": {
        "self.w_o(concat)": "self.w_o(concat) + x"
    },
}

# The same where the class is written from a blank cell.
BLANK_CELL = SCORES | {
    "The weights are too sharp: what happens to the scores first?": {_ROOT: ""},
    "You multiply by the weights yourself, without biases: what more does a layer do when called?": {
        f"self.w_{part}(x)": f"x @ self.w_{part}.weight" for part in "qkv"
    },
    "Queries, keys and values come from one layer: what are the other two for?": {
        "self.w_k(x), self.w_v(x)": "self.w_q(x), self.w_q(x)"
    },
    "Three heads work where one is asked for: which argument says how many?": {"self.num_heads": "3"},
    "The biases are left out: what more does a layer do when called than x @ weight.T?": {
        f"self.w_{part}(x)": f"x @ self.w_{part}.weight.T" for part in "qkv"
    },
    "The weights are right, but they mix x itself: which projection is left out?": {
        "s @ v": "s @ x.reshape(b, n, self.num_heads, -1).transpose(1, 2)"
    },
    "The queries meet themselves: which of the three projections answers them?": {
        "k.transpose": "q.transpose"
    },
    "The keys ask and the queries answer: whose rows must the scores have?": {
        "q @ k.transpose": "k @ q.transpose"
    },
    "The heads are side by side, but do they mix? One of the layers does nothing yet.": {
        "self.w_o(concat)": "concat"
    },
}

# Bugs of the class in exercise 9.3, which does not name them.
PLANTED = {
    "A head mixes numbers of several words: does your first cut leave the axis of the words alone?": _UNCUT,
    "Words look exactly where they may not: does masked_fill write −∞ at True or at False?": {
        "~mask": "mask"
    },
}

# One of q, k and v is still cut as the class is handed out.
_LINE = "for part in parts]\n"
PARTLY = {
    f"Is {name} cut as the other two are, so that each head of it keeps its words whole?": {
        _LINE: f"{_LINE}        {name} = parts[{index}].reshape(b, self.num_heads, n, -1)\n"
    }
    for index, name in ((0, "q"), (2, "v"))  # k is likely to be seen with q
}

MASKS = {
    "The mask comes after softmax: what do the rows of weights add up to?": {
        "scores = scores.masked_fill(~mask, -torch.inf)": "pass",
        "concat =": "weights = weights if mask is None else weights * mask\n        concat =",
    },
    "The mask is added, so True adds 1 to a score: what takes a word out?": {_FILL: " + mask"},
    "A forbidden score becomes 0, or nearly 0: which weight does softmax give to a score of 0?": {
        "-torch.inf": "0"
    },
    "The mask changes nothing: words look where they may not. Which step uses it?": {_FILL: ""},
    "Forbidden scores become the highest: which score gives no weight?": {"-torch.inf": "1e9"},
    "Forbidden scores become the highest, or +∞: which score gives no weight?": {"-torch.inf": "torch.inf"},
}
