"""The exercise of the deeper page on today's models: grouped heads without writing copies out."""

import torch
from torch.overrides import TorchFunctionMode

from mha_course.exercises import case, changes, numbers
from mha_course.p09_concat_and_output.seen import AttentionExercise, steps_of


def _case(h, kv_heads, n=5, d_k=4, d_v=3, b=2, **rest):
    sizes = [(h, n, d_k), (kv_heads, n, d_k), (kv_heads, n, d_v)]  # q, k and v, which is narrower
    return case(*(numbers(b, *size, seed=seed) for seed, size in enumerate(sizes)), **rest)


class _Copies(TorchFunctionMode):
    """Notes which function of torch made a tensor of such a size from one that requires a gradient.

    A view does not count: it keeps the smaller storage that it looks at.
    """

    def __init__(self, size):
        super().__init__()
        self.size, self.made_by = size, None

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        learned = isinstance(result, torch.Tensor) and result.requires_grad
        if learned and result.numel() == self.size and result.untyped_storage().nbytes() >= result.nbytes:
            self.made_by = self.made_by or func.__name__.replace("__getitem__", "indexing")
        return result


class WithoutCopies(AttentionExercise):
    """An answer that is handed queries, and keys and values of fewer heads."""

    def _parts(self, case):
        q, *shared = case.args
        return steps_of(q, *(each.repeat_interleave(len(q[0]) // len(each[0]), 1) for each in shared), None)

    def _broken_rule(self, answer, cases, outcomes):
        q, k, v = cases[0].args
        with _Copies(q.numel()) as copies:  # of k, as large as q: a copy of v would be as large as the output
            try:
                answer(q.clone(), k.clone().requires_grad_(), v.clone())
            except RuntimeError:
                return "your code takes the keys out of torch, where copies cannot be seen: stay in torch."
        if copies.made_by:
            return f"{copies.made_by} writes out a copy of the keys for every query head."
        return super()._broken_rule(answer, cases, outcomes)


without_copies = WithoutCopies(
    "D9.2 ★★ · 12 min · Grouped heads by broadcasting",
    axes=("sentence", "head", "word", "number"),
    cases=lambda: [
        _case(6, 2, label="with six query heads and two of keys"),
        _case(6, 3, label="with six query heads and three of keys"),
        _case(4, 1, n=3, d_k=11, d_v=5, label="with one key head, and d_k = 11"),
        _case(3, 3, label="with as many heads of keys as of queries"),
        _case(6, 2, b=1, label="with one sentence"),
        _case(1, 1, n=1, d_k=1, d_v=1, b=1, label="with one head, one word, d_k = 1"),
    ],
    without=["repeat_interleave", "scaled_dot_product_attention"],
    task="""
    `repeat_interleave` writes each key out again. Do without it, and without
    `scaled_dot_product_attention`, PyTorch's or the course's: cut the axis of the query heads in two,
    (b, h, n, d_k) → (b, h_kv, group, n, d_k), and let the keys of a group broadcast. No mask; return a
    tensor (b, h, n, d_v).
    """,
    mistakes=changes("""
        (kv_heads, -1) => (-1, kv_heads)
        k[:, :, None], v[:, :, None] => k[:, None], v[:, None]
        Neighbouring query heads read different keys: which comes first, h_kv or the group?
        k[:, :, None], v[:, :, None] => k[:, None], v[:, None]
        Key or value heads line up with q's groups: where do they lack an axis?
        weights @ v => (weights @ v).transpose(1, 2)
        Your heads come out in another order: which of the two axes of heads counts the groups?
    """),
    praise="`matmul` itself copies keys to broadcast them; queries of a group as rows of one head need none.",
    hints=[
        "q.unflatten(1, (h_kv, group)) cuts axis 1 in two; neighbours stay in one group.",
        "k[:, :, None] has an axis of size 1 where q has the group.",
        "At the end .flatten(1, 2) puts the groups back in a row.",
    ],
    solution="""
def my_grouped(q, k, v):
    # (b, h, n, d_k), (b, h_kv, n, d_k), (b, h_kv, n, d_v) -> (b, h, n, d_v)
    kv_heads = k.shape[1]
    q = q.unflatten(1, (kv_heads, -1))  # (b, h, n, d_k) -> (b, h_kv, group, n, d_k)
    k, v = k[:, :, None], v[:, :, None]  # (b, h_kv, 1, n, d_k)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return (weights @ v).flatten(1, 2)  # (b, h_kv, group, n, d_v) -> (b, h, n, d_v)
""",
)
