"""What goes wrong with attention: one list for 0.2, 0.3, 9.2, 9.3, D9.2 and D9.3.

What a learner's code returns is compared with what ``STEPS`` return if one or two of them are done in a known
wrong way, on the inputs of the exercise: a sentence is said only of code that does just that. NaN or ∞ alone
prove nothing. Of two mistakes at once that is named which alone explains the first input that fails, else the
later step. ``seen.py`` sees what no numbers tell.
"""

import functools
import itertools

import torch

from mha_course.exercises import Outcome, changes
from mha_course.exercises.relations import close

STEPS = """
def steps(x, source, mask, h, w_q, w_k, w_v, w_o):
    q, k, v = w_q(x), w_k(source), w_v(source)
    q, k, v = cut(q, h), cut(k, h), cut(v, h)
    scores = q @ k.mT
    scores = scores / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    heads = weights @ v
    concat = merge(heads, h)
    return w_o(concat), weights
"""
# Ways to cut into heads and to merge them; where there are none, h is None, a table stays as it is.
OF_HEADS = {
    "cut": lambda table, h: table.unflatten(-1, (h, -1)).transpose(-3, -2),
    "by_view": lambda table, h: table.reshape(len(table), h, table.shape[1], -1),
    "every_hth": lambda table, h: table.unflatten(-1, (-1, h)).movedim(-1, -3),
    "words_first": lambda table, h: table.unflatten(-1, (h, -1)),
    "viewed_words_first": lambda table, h: table.reshape(len(table), h, table.shape[1], -1).transpose(1, 2),
    "uncut": lambda table, h: table.unsqueeze(-3),
    "merge": lambda heads, h: heads.transpose(-3, -2).flatten(-2),
    "merged_by_view": lambda heads, h: heads.reshape(heads.shape[0], heads.shape[2], -1),
    "merged_by_transpose": lambda heads, h: heads.mT.reshape(heads.shape[0], heads.shape[2], -1),
    "merged_by_feature": lambda heads, h: heads.movedim(-3, -1).flatten(-2),
    "averaged": lambda heads, h: heads.mean(-3).repeat(1, 1, h),
}
_GIVEN = {
    "torch": torch,
    "later": lambda scores, mask=None: torch.ones(scores.shape[-2:]).triu(1).bool() & (mask is None),
    "swap": lambda table: table if 1 in table.shape[-2:] else table.mT,
}


def _where_there_are_heads(change, table, h):
    return table if h is None else change(table, h)


_GIVEN |= {name: functools.partial(_where_there_are_heads, change) for name, change in OF_HEADS.items()}

# A mistake: what it changes in the steps, in their order, then the sentence.
MISTAKES = changes("""
    w_k(source), w_v(source) => w_v(source), w_k(source)
    Keys and values are exchanged: which of the two meets the queries?
    w_k(source) => w_q(source)
    W_Q makes the keys: what is W_K for?
    w_q(x), w_k(source) => x, source
    Queries and keys are the words as they are: what do W_Q and W_K make of them?
    w_q(x) => w_k(x)
    W_K makes the queries: what is W_Q for?
    w_k(source) => w_v(source)
    W_V makes the keys: what is W_K for?
    w_v(source) => w_q(source)
    W_Q makes the values: what is W_V for?
    w_k(source) => w_q(source)
    w_v(source) => w_q(source)
    W_Q makes keys and values: what are W_K and W_V for?
    w_v(source) => source
    Your values are the words as they are: what does W_V make of them?
    w_q(x) => x
    The words ask as they are: what makes queries of them?
    w_q(x) => x @ w_q.weight.mT
    w_k(source) => source @ w_k.weight.mT
    w_v(source) => source @ w_v.weight.mT
    The biases are missing: what does calling the layer, self.w_q(x), add to the product?
    w_q(x) => x @ w_q.weight + w_q.bias
    w_k(source) => source @ w_k.weight + w_k.bias
    w_v(source) => source @ w_v.weight + w_v.bias
    `nn.Linear` keeps its matrix as (out, in), and you use it as (in, out): what does self.w_q(x) do for you?
    w_q(x) => x @ w_q.weight
    w_k(source) => source @ w_k.weight
    w_v(source) => source @ w_v.weight
    `nn.Linear` keeps its matrix as (out, in) and adds a bias: what does calling it, self.w_q(x), do for you?
    w_q(x), w_k(source) => w_k(source), w_q(x)
    The keys ask and the queries answer: whose rows must the scores have?
    w_q(x), w_k(source) => w_k(x), w_q(source)
    W_K makes the queries, and W_Q the keys: which of the two belongs to those who ask?
    cut( => by_view(
    merge( => merged_by_view(
    Cut and merge match, but a head mixes numbers from several words: which axis must stay whole?
    cut( => by_view(
    A head mixes numbers from several words: does your first cut leave the axis of the words alone?
    cut(k, h), cut(v, h) => by_view(k, h), by_view(v, h)
    Keys and values mix words, queries do not: are all three cut in one way?
    cut(v, h) => by_view(v, h)
    Your values mix words: is v cut in the way q and k are?
    cut( => every_hth(
    merge( => merged_by_feature( => merge(
    Your heads take every num_heads-th feature: a head owns features that lie side by side.
    cut( => words_first(
    merge(heads, h) => heads.flatten(-2) if h else heads
    Your scores compare heads, not words: which two axes must come last for q @ kᵀ?
    cut( => words_first( => viewed_words_first(
    merge(heads, h) => heads.transpose(1, 2).reshape(x.shape) if h else heads
    Your scores compare heads, not words: which two axes must come last for q @ kᵀ?
    cut( => uncut(
    w_o(concat), weights => w_o(concat), weights[:, 0]
    One head does it all, whatever num_heads is: are q, k and v cut when they attend?
    cut( => uncut(
    One head does it all, whatever num_heads is: are q, k and v cut when they attend?
    cut(q, h), cut(k, h), cut(v, h) => (cut(each, h and each.shape[-1]) for each in (q, k, v))
    You cut into d_model heads of one number each: how many heads are asked for?
    cut(q, h), cut(k, h), cut(v, h) => (cut(each, h and each.shape[-1] // h) for each in (q, k, v))
    You take num_heads for the width of a head: what does it count?
    cut(q, h), cut(k, h), cut(v, h) => (cut(each, h and each.shape[-1] // h) for each in (q, k, v))
    q.shape[-1] ** 0.5 => q.shape[1 if h else -1] ** 0.5
    You take num_heads for the width of a head: what does it count?
    scores / q.shape[-1] ** 0.5 => scores
    The weights are too sharp: one step between the scores and softmax is missing. Which?
    scores / q.shape[-1] ** 0.5 => scores if mask is None else scores / q.shape[-1] ** 0.5
    Without a mask your scores are not divided: which lines belong to the if?
    scores / q.shape[-1] ** 0.5 => scores if mask is not None else scores / q.shape[-1] ** 0.5
    With a mask your scores are not divided: which lines belong to the if?
    ** 0.5 => ** 1
    The scores are divided by d_k, not by its root: how does their spread grow with d_k?
    ** 0.5 => ** 2
    The scores are divided by the square of d_k: which power of d_k is its root?
    q.shape[-1] ** 0.5 => 8
    You divide by 8, whatever d_k is: which sizes do q and k have here?
    ** 0.5 => ** -0.5
    You multiply by √d_k: are the scores to grow, or to shrink?
    ** 0.5 => ** 1 / 2
    The scores are divided by 2 · d_k: if you wrote ** 1 / 2, where do brackets belong?
    q.shape[-1] ** 0.5 => (q.shape[-1] / 2)
    You divide by d_k / 2, which is √d_k only where d_k is 4: which power of d_k is its root?
    q.shape[-1] ** 0.5 => int(q.shape[-1] ** 0.5) => round(q.shape[-1] ** 0.5)
    You divide by √d_k rounded to a whole number: is each root a whole number?
    scores / q.shape[-1] => scores // q.shape[-1]
    Each divided score is a whole number: what does // leave of a quotient?
    q.shape[-1] ** 0.5 => x.shape[-1] ** 0.5
    You divide by √d_model: how many products does one score of one head add up?
    q.shape[-1] ** 0.5 => x.shape[-1]
    You divide by d_model: how many products does one score add up, and how does their spread grow?
    q.shape[-1] ** 0.5 => v.shape[-1] ** 0.5
    You divide by √d_v: do the values take part in a score?
    q.shape[-1] ** 0.5 => (h or 1) ** 0.5
    You divide by √num_heads: how many products does one score of one head add up?
    q.shape[-1] ** 0.5 => k.shape[-2] ** 0.5 => q.shape[-2] ** 0.5
    You divide by the root of a number of words: how many products does one score add up?
    q.shape[-1] ** 0.5 => q.shape[0] ** 0.5 => q.shape[1] ** 0.5
    You divide by the root of .shape[0] or .shape[1]: how many products does one score add up?
    scores.masked_fill(~mask, -torch.inf) => scores
    The mask changes nothing: words look where they may not. What does it hide, and which step uses that?
    masked_fill(~mask, -torch.inf) => masked_fill(mask, -torch.inf) => masked_fill(mask, -1e9)
    The mask is upside down: you hide what may be seen. Which of the two does True mean here?
    ~mask => ~swap(mask)
    The mask is transposed: which of its axes belongs to the words that ask?
    ~mask => ~mask[:1] => ~mask[..., :1, :]
    One row, or sentence, of the mask serves for all: on which of its axes are the others?
    -torch.inf => 1e9
    A hidden score becomes the highest: which score gives no weight?
    -torch.inf => 0 => 1e-9 => -1e-9
    A hidden score becomes 0, or nearly 0: which weight does softmax give to a score of 0?
    -torch.inf => -1 => -10 => 1
    A hidden score becomes a small number, so that softmax still gives it weight: which number leaves none?
    scores.masked_fill(~mask, -torch.inf) => (scores * mask).masked_fill(scores * mask == 0, -torch.inf)
    A score that is exactly 0 is hidden, although the mask allows it: what alone should say who is hidden?
    scores.masked_fill(~mask, -torch.inf) => scores + mask => scores + 1.0 * ~mask
    The mask moves a score by 1 alone, so that softmax still gives it weight: what leaves none?
    scores.masked_fill(~mask, -torch.inf) => scores - 10.0 * ~mask
    The mask lowers a score by 10 alone, so that softmax still gives it weight: what leaves none?
    ~mask, => ~mask | later(scores), => later(scores),
    You hide later words, whatever mask you are handed: which keys does it name?
    scores.masked_fill(~mask, -torch.inf) => scores
    torch.softmax(scores, dim=-1) => torch.softmax(scores, dim=-1) * (1 if mask is None else mask)
    Softmax shares out before anything is hidden: what do the weights of the words that are seen add up to?
    scores.masked_fill(~mask, -torch.inf) => scores
    weights @ v => weights @ (v * mask.mT if mask is not None and mask.shape[-2] == 1 else v)
    Softmax shares out before anything is hidden: what do the weights of the words that are seen add up to?
    scores / q.shape[-1] ** 0.5 => scores.masked_fill(later(scores, mask), -torch.inf) / q.shape[-1] ** 0.5
    Without a mask no word looks at a later one: which words may each see then?
    torch.softmax(scores, dim=-1) => scores
    Your weights are scores: which step turns each row into shares that add up to 1?
    dim=-1 => dim=-2
    Your weights add up to 1 for each key: on which axis are the keys of one query?
    dim=-1 => dim=1
    Your softmax runs over axis 1: counted from the end, which axis holds the keys of one query?
    dim=-1 => dim=0
    Your softmax runs over axis 0: counted from the end, which axis holds the keys of one query?
    torch.softmax(scores, dim=-1) => scores.exp() / scores.exp().sum()
    All weights together add up to 1: what must each row add up to?
    torch.softmax(scores, dim=-1) => torch.softmax(scores.flatten(-2), dim=-1).view(scores.shape)
    The weights of all words together add up to 1: what must each row add up to?
    torch.softmax(scores, dim=-1) => scores if mask is None else torch.softmax(scores, dim=-1)
    Without a mask your weights are scores: for which calls does your softmax run?
    torch.softmax(scores, dim=-1) => scores.exp()
    Your weights are powers of e, not yet divided: what must each row add up to?
    torch.softmax => torch.log_softmax
    Your weights are logarithms of shares: which function returns the shares themselves?
    torch.softmax(scores, dim=-1) => scores / scores.sum(dim=-1, keepdim=True)
    You divide scores by their sum: what does softmax make of a score first?
    torch.softmax(scores, dim=-1) => torch.sigmoid(scores)
    Each weight is computed separately: what do the weights of a row add up to?
    torch.softmax(scores, dim=-1) => torch.softmax(torch.softmax(scores, dim=-1), dim=-1)
    The weights come out too even: does softmax run twice?
    scores / q.shape[-1] ** 0.5 => torch.softmax(scores / q.shape[-1] ** 0.5, dim=-1)
    The weights come out too even: does softmax run twice?
    scores / q.shape[-1] ** 0.5 => scores
    torch.softmax(scores, dim=-1) => torch.softmax(scores, dim=-1) / x.shape[-1] ** 0.5
    You divide weights by √d_model, not scores: what must each row of weights add up to?
    scores / q.shape[-1] ** 0.5 => scores
    torch.softmax(scores, dim=-1) => torch.softmax(scores, dim=-1) / q.shape[-1] ** 0.5
    You divide weights by √d_k, not scores: what must each row of weights add up to?
    weights @ v => weights @ k
    Your weights mix the keys: what does a word collect?
    weights @ v => weights @ v.sum(-2, keepdim=True).expand(v.shape)
    Each word gets the sum of all values: which weight meets which value?
    weights @ v => weights.mT @ v
    The weights are transposed before they mix: whose row belongs to which word?
    weights @ v => scores
    You return the scores: which steps make weights of them, and outputs of these?
    weights @ v => weights
    You return the weights: what do they mix?
    merge( => merged_by_view(
    The heads are joined as they lie: each row of your concat holds numbers from several words.
    merge( => merged_by_transpose(
    A transpose of the heads swaps words and features: which two axes come side by side?
    merge( => merged_by_feature(
    Your concat takes one number of each head in turn: whose numbers lie side by side?
    merge( => averaged(
    You average the heads: how are they put side by side?
    merge(heads, h) => averaged(heads, h) * (h or 1)
    You add the heads up: how are they put side by side?
    weights @ v => weights.mean(-3, keepdim=True) @ v
    You average the weights over the heads: what does each head have of its own?
    merge(heads, h) => merge(heads.flip(-3), h)
    The heads are side by side, but the last one comes first.
    w_o(concat) => concat
    Do the heads mix? One of the layers does nothing yet.
    w_o(concat) => concat @ w_o.weight + w_o.bias => concat @ w_o.weight
    A Linear keeps its matrix as (out, in), and W_O is used as (in, out): what does calling self.w_o compute?
    w_o(concat) => concat @ w_o.weight.mT
    A bias is missing: what does calling self.w_o add?
    w_o(concat) => w_o(concat) + x
    x is added to the output: that is the step after this class.
    w_o(concat) => w_o(x)
    W_O is handed x: what should it mix?
    w_o(concat), weights => w_o(concat), weights.mean(1)
    You average the weights that you return over the heads: each head has weights of its own.
    w_o(concat), weights => w_o(concat), scores
    You return scores with the output: which step makes them weights?
""")


# What is no mistake by itself, and changes the numbers of one where all is hidden.
_HARMLESS = [({"-torch.inf": "-1e9"}, ""), ({"heads =": "weights = weights.nan_to_num()\n    heads ="}, "")]


@functools.cache
def pairs():
    """Return two mistakes at once as one, with each of them: those that change other words."""
    both = (*itertools.product(MISTAKES, _HARMLESS), *itertools.combinations(MISTAKES, 2))
    return [({**one[0], **other[0]}, one, other) for one, other in both if _go_together(one[0], other[0])]


def _go_together(one, other):
    texts = [*one, *other]
    return not any(a in b for a, b in itertools.permutations(texts, 2))


@functools.cache
def _steps(changed):
    code, names = STEPS, {**_GIVEN}
    for old, new in changed:
        assert old in code
        code = code.replace(old, new)
    exec(code, names)
    return names["steps"]


def outcome_of(change, parts):
    """Return what the steps come to if they are changed: output and weights, or the error."""
    try:
        return Outcome(_steps(tuple(change.items()))(**parts))
    except Exception as error:  # the steps do not take every input with every change
        return Outcome(error=error)


def proves(value, right):
    """Tell whether some numbers are finite and wrong, so that they can prove a mistake."""
    return value.shape != right.shape or not close(value[value.isfinite()], right[value.isfinite()]).all()
