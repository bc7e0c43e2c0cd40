"""The exercise of the deeper page on one's own model: cross-attention, who asks, who answers, which mask."""

import torch

from mha_course.exercises import case, changes, numbers
from mha_course.p09_concat_and_output.seen import AttentionExercise, steps_of

_WITHOUT_PADDING = """
    (target, source, => (source, target,
    Your scores have a column for each target word: whose words does is_pad mark?
    (target, source, => (source, target,
    is_pad[:, None, :] => is_pad[..., None] => torch.tensor(False)
    The source asks and the target answers: whose words are to collect something here?
    [:, None, :] => [..., None]
    Your mask covers words that ask, not answer.
    is_pad[:, None, :] => is_pad
    Your mask puts sentences where queries belong: an axis is missing.
    source @ w_v => target @ w_v
    Your values come from the target: whoever answers gives keys and values.
"""


def _case(n_target, source, label, sizes=(6, 4, 8), mistakes=""):
    """Return an input; ``source`` shows its sentences, a point for each padding."""
    is_pad = torch.tensor([[word == "." for word in sentence] for sentence in source.split()])
    d_model, d_k, d_v = sizes
    tokens = numbers(len(is_pad), n_target, d_model), numbers(*is_pad.shape, d_model, seed=1)
    matrices = (numbers(d_model, size, seed=seed) for size, seed in ((d_k, 2), (d_k, 3), (d_v, 4)))
    return case(*tokens, is_pad, *matrices, label=label, mistakes=changes(mistakes))


def _of_some_scores():
    """Word 2 of the target scores words near −60 and padding near 80; one word of the source scores 0."""
    some = _case(3, "ab... abcd.", "with padding, and scores of 0, of −60 and, hidden, of 80")
    target, source, is_pad, w_q, w_k, _ = some.args
    for w in (w_q, w_k):  # the last features alone meet there
        w[-1], w[:, -1], w[-1, -1] = 0, 0, 1
    target[:, 1, -1], source[..., -1], source[1, 0] = -120, torch.where(is_pad, -4 / 3, 1.0), 0  # d_k is 4
    return some


class CrossAttention(AttentionExercise):
    """An answer that is handed two texts, and the padding of the second."""

    mask_at = 2

    def _parts(self, case):
        target, source, is_pad, w_q, w_k, w_v = case.args
        made = {"w_q": lambda x: x @ w_q, "w_k": lambda x: x @ w_k, "w_v": lambda x: x @ w_v}
        return steps_of(None, None, None, ~is_pad[:, None, :]) | {"x": target, "source": source} | made


cross_attention = CrossAttention(
    "D9.3 ★★ · 10 min · Who asks, who answers?",
    axes=("sentence", "word", "number"),
    cases=lambda: [
        _case(3, "abcde abcde", "without padding", mistakes=_WITHOUT_PADDING),
        _case(3, "ab... abcd. a....", "with padding in the source, and d_k = 9", (11, 9, 7)),
        _of_some_scores(),
        _case(7, "a.. abc ab.", "with a target longer than the source, and d_k = 5", (9, 5, 6)),
        _case(2, "..ab .a.b a.b.", "with padding in front and in the middle", (10, 7, 3)),
        _case(3, "ab.c", "with one sentence", (5, 11, 9)),
        _case(1, "a", "with one word on each side, and d_v = 1", (6, 1, 1)),
    ],
    task="""
    One head of a decoder reads the source: `target` (b, n_target, d_model) wants words from `source`
    (b, n_source, d_model). In `is_pad` (b, n_source) True = padding, as in PyTorch's
    `memory_key_padding_mask`. Return what each word of the target collects.
    """,
    mistakes=changes("""
        source @ => target @
        scores.masked_fill(is_pad[:, None, :], -math.inf) => scores
        The target asks itself, as in self-attention: who answers here?
        target @ => source @
        The source asks itself, as in self-attention: who asks here?
        scores.masked_fill(is_pad[:, None, :], -math.inf) => scores
        source @ => (source * ~is_pad[..., None]) @
        A zeroed word scores 0, and softmax still gives it weight: hide scores.
        is_pad[:, None, :] => is_pad.sort(dim=-1)[0][:, None, :]
        You hide as many words as are padding, but the last ones: where does is_pad have its True?
    """),
    praise="The target asks, the source answers, and only the padding of the source is hidden.",
    hints=[
        "Whoever asks gives the queries. Whoever answers gives keys and values.",
        "The scores are (b, n_target, n_source): give is_pad an axis of size 1 for the targets.",
        "Hide before softmax: masked_fill with −∞ where is_pad is True.",
    ],
    solution="""
def my_cross_attention(target, source, is_pad, w_q, w_k, w_v):
    # -> (b, n_target, d_v)
    q = target @ w_q  # (b, n_target, d_k)
    k, v = source @ w_k, source @ w_v  # (b, n_source, d_k), (b, n_source, d_v)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5  # (b, n_target, n_source)
    scores = scores.masked_fill(is_pad[:, None, :], -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v  # (b, n_target, n_source) @ (b, n_source, d_v) -> (b, n_target, d_v)
""",
)
