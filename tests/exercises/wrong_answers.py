"""Wrong answers that learners give, one for each kind of fault that a check once had, and what it must say.

Each is ``(number, code, words)``: the code makes the answer under the stub's name, as in ``right_otherwise.py``.
"""

WRONG_ANSWERS = [
    # a choice inside a dict has its sentence, as one of a set has
    (
        "3.1",
        'dog = {"new column": [2, 5, 1], "new row": [2, 1, 3], "finds it": {"eats", "dog"}}',
        "the three words of the old sentence",
    ),
    ("2.1", 'moved = {"heads": {1, 3}, "query": [0, 2]}', "“heads” has head 1"),
    # a text that is none of those offered
    ("4.2", 'colleague = {"spread": 0.354, "rows": "smaller"}', "is none of “flatter”, “sharper”"),
    # “all scores are 0” where they only tie
    (
        "3.3",
        """
def my_matrices():
    w_q, w_k = torch.zeros(11, 6), torch.zeros(11, 6)
    w_k[5:] = torch.eye(6)
    w_q[5:] = -torch.eye(6).roll(1, dims=1)
    return w_q, w_k
""",
        "has no single highest score",
    ),
    # a mistake that fits one size only
    (
        "5.2",
        """
def my_window_mask(n, window):
    back = torch.arange(n)[:, None] - torch.arange(n)
    return (back >= 0) & ((back <= 2) | (torch.arange(n) == 0))
""",
        "has True in the fourth row, second column",
    ),
    # a test that changes one feature only
    (
        "5.3",
        """
def my_test(attend):
    x = torch.randn(6, 4)
    for j in range(1, 6):
        changed = x.clone()
        changed[j, 0] += 1
        if not torch.allclose(attend(x)[:j], attend(changed)[:j], atol=1e-5):
            return False
    return True
""",
        "“causal mask, a feature of the next word added first” is wrong, but passes",
    ),
    # axes of size 1 in front, and more axes than the page has
    (
        "1.2",
        """
def tokens_to_x(token_ids, table, positions):
    return (table[token_ids] + positions[: token_ids.shape[-1]]).squeeze()
""",
        "lacks one axis, axis 0 of size 1",
    ),
    (
        "2.3",
        """
def my_projections(x, w_qkv):
    together = x @ w_qkv
    if together.dim() == 2:
        return together.chunk(3, dim=1)
    return together.chunk(3, dim=2)
""",
        "With two axes in front",
    ),
    (
        "3.2",
        "def my_products(q, k):\n    return (q.unsqueeze(-2) * k.unsqueeze(-3)).squeeze()",
        "With two axes in front: the result lacks one axis",
    ),
    (
        "6.3",
        """
def my_softmax(scores):
    largest = scores.amax(dim=-1, keepdim=True)
    powers = (scores - largest).exp()
    return (powers / powers.sum(dim=-1, keepdim=True)).nan_to_num().squeeze()
""",
        "With one table in a batch: the result lacks one axis",
    ),
    # rows of the words that are small, not 0
    (
        "3.3",
        """
def my_matrices():
    w_q, w_k = torch.zeros(11, 6), torch.zeros(11, 6)
    w_q[:5, :5] = w_k[:5, :5] = 0.2 * torch.eye(5)
    w_k[5:] = torch.eye(6)
    w_q[5:10, 1:] = torch.eye(5)
    return w_q, w_k
""",
        "With five words of large numbers: word",
    ),
    # a wide window
    (
        "5.2",
        """
def my_window_mask(n, window):
    back = torch.arange(n)[:, None] - torch.arange(n)
    return (back >= 0) & ((back <= min(window, 3)) | (torch.arange(n) == 0))
""",
        "has False in the sixth row, second column",
    ),
    (
        "5.2",
        """
def my_window_mask(n, window):
    back = torch.arange(n)[:, None] - torch.arange(n)
    return ((back >= 0) & ((back <= window) | (torch.arange(n) == 0))).squeeze()
""",
        "in another shape: its shape is () instead of (1, 1)",
    ),
    # PyTorch's function in place of the steps, which the task rules out
    (
        "D9.2",
        """
def my_grouped(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
""",
        "calls scaled_dot_product_attention",
    ),
    # a tuple where one tensor is asked for
    (
        "7.2",
        """
def my_weights(q, k):
    return F.scaled_dot_product_attention(q, k, torch.eye(k.shape[-2]).expand(*k.shape[:-1], -1)), None
""",
        "the result is a tuple of 2; one tensor is needed.",
    ),
    (
        "10.2",
        "def circuit_scores(letter):\n    return letter @ letter.T, letter",
        "the result is a tuple of 2; one tensor is needed.",
    ),
    ("6.1", "my_weights = [0.422, 0.155, None, 0.422]", "a list with None in it; 4 numbers are needed"),
    # a cut that is left as it was, and a merge made to fit it
    (
        "9.3",
        """
class Suspect(Layers):
    def forward(self, x, mask=None):
        b, n, d_model = x.shape
        q, k, v = [part.reshape(b, self.num_heads, n, -1) for part in self.w_qkv(x).chunk(3, dim=-1)]
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.w_o((weights @ v).reshape(b, n, d_model)), weights
""",
        "2 of 3 bugs found. Cut and merge fit each other",
    ),
    (
        "9.2",
        """
class MyAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask=None):
        q, k, v = (f(x).unflatten(-1, (-1, self.h)).permute(0, 3, 1, 2) for f in (self.w_q, self.w_k, self.w_v))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(-1)
        return self.w_o((weights @ v).permute(0, 2, 3, 1).flatten(2)), weights
""",
        "every num_heads-th feature",
    ),
    (
        "9.3",
        """
class Suspect(Layers):
    def forward(self, x, mask=None):
        b, n, d_model = x.shape
        q, k, v = [part.reshape(b, n, self.num_heads, -1).transpose(1, 2) for part in self.w_qkv(x).chunk(3, -1)]
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf), dim=-1)
        return self.w_o((weights @ v).transpose(1, 2).reshape(b, n, d_model)), weights
""",
        "3 of 3 bugs found, but something new is wrong. No word looks at a later one",
    ),
    # weights that are even enough to hide a wrong axis
    (
        "12.1",
        """
def my_test(attend):
    q, k = 0.01 * torch.randn(2, 6, 4)
    return torch.allclose(attend(q, k, torch.ones(6, 4)), torch.ones(6, 4), atol=0.05)
""",
        "how loose is your limit?",
    ),
    (
        "12.2",
        "my_verdicts = dict(zip('abcdef', ['mask', 'scale', 'softmax', 'values', 'heads', 'healthy']))",
        "lacks the entry “A”, “B”, “C”, “D”, …; it has “a”, “b”",
    ),
    # the cause of an error
    (
        "10.3",
        """
def compares_letters(guess):
    letters, distance = repeated_sequences(64, [5, 7, 9], seed=0)
    return bool((guess(letters) == letters)[predictable(letters, distance)].float().mean() > 0.7)
""",
        "A mask must be as long as what it picks from",
    ),
    (
        "D9.3",
        """
def my_cross_attention(target, source, is_pad, w_q, w_k, w_v):
    scores = target @ w_q @ (source @ w_k).mT / w_q.shape[-1] ** 0.5
    return scores.softmax(-1) @ (source @ w_v * ~is_pad[:, :, None])
""",
        "or set the values of padding to 0",
    ),
    # numbers that have a reason of their own
    ("4.1", 'grows_by = {"scaled": 1.011, "not scaled": 1.0}', "A number above 1 is no weight"),
    ("5.1", "my_row = [0.669, 0, 0.330]", "is close, but not right: was something rounded on the way"),
    ("5.1", "my_row = [0.667, 0, 0.333]", "You share in the ratio of the scores"),
    ("5.1", "my_row = [0.670, 0.004, 0.330]", "has 0.004 as its second number, which is too large"),
    ("6.2", "my_factor = -1.10", "The sign is wrong"),
    ("6.2", "my_factor = 0.9", "is the weight that is wanted"),
    (
        "8.1",
        'indices = {"columns": [4, 5, 6, 7], "after transpose": (3, 2, 2), "view only": (0, 5, 1)}',
        "counts from 1",
    ),
]
