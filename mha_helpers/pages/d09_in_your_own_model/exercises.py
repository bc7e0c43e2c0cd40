"""The exercise of the deeper page on one's own model: cross-attention, who asks, who answers, which mask."""

import math

import torch

from mha_helpers.exercises import FunctionExercise, case, numbers


def _cross(
    asks=0,
    answers=1,
    hidden=lambda is_pad, scores: is_pad[:, None, :],
    fill=-math.inf,
    dim=-1,
    root=lambda d_k: d_k**0.5,
    share=torch.softmax,
    late=False,
    values=None,
):
    """Make the right steps, but for what is named: who asks (0 the target), who answers, what is hidden, …"""

    def answer(target, source, is_pad, w_q, w_k, w_v):
        asking, answering = (target, source)[asks], (target, source)[answers]
        valued = answering if values is None else (target, source)[values]
        scores = asking @ w_q @ (answering @ w_k).mT / root(w_q.shape[1])
        if hidden:
            scores = scores.masked_fill(hidden(is_pad, scores), fill)
        weights = share(scores, dim=dim)
        return (weights * ~is_pad[:, None, :] if late else weights) @ (valued @ w_v)

    return answer


def _future(is_pad, scores):
    return torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)


def _silenced(target, source, is_pad, *matrices):
    return _cross(hidden=None)(target, source.masked_fill(is_pad[..., None], 0.0), is_pad, *matrices)


def _case(n_target, n_source, lengths, d_k=4, **rest):
    lengths = torch.tensor(lengths)
    is_pad = torch.arange(n_source) >= lengths[:, None]
    tokens = numbers(len(lengths), n_target, 6), numbers(len(lengths), n_source, 6, seed=1)
    matrices = numbers(6, d_k, seed=2), numbers(6, d_k, seed=3), numbers(6, 8, seed=4)
    return case(*tokens, is_pad, *matrices, **rest)


_SOURCE_ASKS = "The source asks and the target answers: whose words want something here?"
_WITHOUT_PADDING = [
    (_cross(1, 0), "Your scores have a column for each target word: whose words does is_pad mark?"),
    (_cross(1, 0, lambda is_pad, _: is_pad[..., None]), _SOURCE_ASKS),
    (_cross(hidden=lambda is_pad, _: is_pad[..., None]), "Your mask lies along words that ask, not answer."),
    (_cross(hidden=lambda is_pad, _: is_pad), "Your mask has sentences where words ask: an axis is missing."),
    (lambda *inputs: _cross()(*inputs[:3], inputs[4], inputs[3], inputs[5]), "W_Q and W_K are exchanged."),
    (_cross(values=0), "Your values come from the target: who answers gives keys and values."),
    (_cross(root=lambda d_k: d_k**-0.5), "You multiply by √d_k: should the scores grow, or shrink?"),
    (_cross(root=lambda _: 8**0.5), "You divide by √d_v: do the values take part in a score?"),
    (_cross(root=lambda d_k: d_k), "You divide by d_k: how does the spread of a score grow with it?"),
    (_cross(share=lambda scores, dim: scores), "The softmax is missing: what should each row add up to?"),
]
_WITH_ANOTHER_WIDTH = [
    (_cross(root=lambda _: 2.0), "Your divisor is 2 whatever d_k is: how does the spread of a score grow?")
]
_WITH_PADDING = [(_silenced, "A word of zeros scores 0, and softmax still gives it weight: hide scores.")]

cross_attention = FunctionExercise(
    "D9.3 ★★ · 8 min · Who asks, who answers?",
    reference=_cross(),
    axes=("sentence", "word", "number"),
    cases=lambda: [
        _case(3, 5, [5, 5], label="without padding", mistakes=_WITHOUT_PADDING),
        _case(3, 5, [2, 4], label="with padding in the source", mistakes=_WITH_PADDING),
        _case(
            *(7, 3, [1, 3, 2]),
            d_k=5,
            label="with a target longer than the source, and d_k = 5",
            mistakes=_WITH_ANOTHER_WIDTH,
        ),
    ],
    task="""
    One head of a decoder reads the source: `target` (b, n_target, d_model) wants words from `source`
    (b, n_source, d_model). In `is_pad` (b, n_source) True = padding, as in PyTorch's
    `memory_key_padding_mask`. Return what each word of the target brings home.
    """,
    stub="""
def my_cross_attention(target, source, is_pad, w_q, w_k, w_v):
    # -> (b, n_target, d_v)
    ...
""",
    mistakes=[
        (_cross(1, 0, None), _SOURCE_ASKS),
        (_cross(0, 0, None), "The target asks itself, as in self-attention: who answers here?"),
        (_cross(1, 1), "The source asks itself, as in self-attention: who asks here?"),
        (
            _cross(hidden=lambda is_pad, _: ~is_pad[:, None, :]),
            "You hide the words and keep the padding: what does True mean in is_pad?",
        ),
        (_cross(hidden=None), "Padding of the source gets weight: which columns must be hidden?"),
        (_cross(hidden=_future), "Your mask is causal: is a later source word in the target's future?"),
        (
            _cross(hidden=lambda is_pad, scores: _future(is_pad, scores) | is_pad[:, None, :]),
            "Your mask is causal, too: is a later source word in the target's future?",
        ),
        (_cross(fill=0.0), "You hide with a score of 0: what does softmax make of it?"),
        (
            _cross(hidden=None, late=True),
            "You hide after softmax, or set the values of padding to 0: who gets the share that is lost?",
        ),
        (_cross(dim=1), "Your softmax runs over the words that ask: along which axis are those that answer?"),
        (_cross(root=lambda _: 1.0), "The division by √d_k is missing."),
        (_cross(root=lambda _: 6**0.5), "You divide by √d_model: how many features have a query and a key?"),
    ],
    praise="The target asks, the source answers, and of the source only the padding is hidden.",
    hints=[
        "Whoever asks gives the queries. Whoever answers gives keys and values.",
        "The scores are (b, n_target, n_source): give is_pad an axis of size 1 for the targets.",
        "Hide before softmax: masked_fill with −∞ where is_pad is True.",
    ],
    solution="""
def my_cross_attention(target, source, is_pad, w_q, w_k, w_v):
    q = target @ w_q  # (b, n_target, d_k)
    k, v = source @ w_k, source @ w_v  # (b, n_source, d_k), (b, n_source, d_v)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5  # (b, n_target, n_source)
    scores = scores.masked_fill(is_pad[:, None, :], -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v  # (b, n_target, n_source) @ (b, n_source, d_v) -> (b, n_target, d_v)
""",
)
