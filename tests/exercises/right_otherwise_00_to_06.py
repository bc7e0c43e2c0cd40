"""Pages 00 to 06: see ``right_otherwise.py``."""

RIGHT_OTHERWISE_00_TO_06 = {
    "0.1": [
        "fish_brings_home = (0.87, 1.30)",
        "fish_brings_home = {'x': [0.576 * 2 - 0.284, 2 * 0.576 - 0.14 + 0.284]}['x']",
    ],
    "1.1": ['same_rows = ["c", "a"]', 'same_rows = {"A", "C"}'],
    "1.2": [
        """
def tokens_to_x(ids, table, positions):
    return F.embedding(ids, table) + positions[torch.arange(ids.shape[-1])]
""",
        """
def tokens_to_x(token_ids, table, positions):
    rows = [table[token_ids[..., i]] + positions[i] for i in range(token_ids.shape[-1])]
    return torch.stack(rows, dim=-2)
""",
    ],
    "1.3": [
        'mix_up = {"shape": (7, 5, 5), "look at each other": {"sentences"}}',
        'mix_up = {"look at each other": "sentences", "shape": [7, 5, 5]}',
        'mix_up = {"shape": torch.zeros(7, 5, 5).shape, "look at each other": "Sentences"}',
    ],
    "2.1": [
        'moved = {"query": torch.tensor([0.0, 2.0]), "heads": [3]}',
        'moved = {"heads": {3.0}, "query": (example.w_q[1, 4:] + example.w_q[5, 4:]).numpy()}',
    ],
    "2.2": [
        "my_w_q = torch.zeros(6, 2)\nmy_w_q[2, 1] = 1 / 2",
        "my_w_q = [[0.0, 0.0], (0, 0), [0, 0.5], [0, 0], [0, 0], [0, 0]]",
    ],
    "2.3": [
        """
def my_projections(x, w_qkv):
    d_k = w_qkv.shape[-1] // 3
    return [x @ w_qkv[:, start : start + d_k] for start in (0, d_k, 2 * d_k)]
""",
        """
def my_projections(x, w_qkv):
    q, k, v = (x @ w_qkv).unflatten(-1, (3, -1)).unbind(-2)
    return q, k, v
""",
    ],
    "3.1": [
        'dog = {"finds it": ["eats"], "new row": [2, 1, 3], "new column": torch.tensor([2, 5, 1])}',
        'dog = {"new column": (2.0, 5.0, 1.0), "finds it": {"“eats”"}, "new row": torch.tensor([[2], [1], [3]])[:, 0]}',
    ],
    "3.2": [
        "def my_products(q, k):\n    return torch.einsum('...id,...jd->...ijd', q, k)",
        """
def my_products(query, key):
    rows = [query[..., i, :].unsqueeze(-2) * key for i in range(query.shape[-2])]
    return torch.stack(rows, dim=-3)
""",
    ],
    "3.3": [
        """
def my_matrices():
    w_q, w_k = torch.zeros(11, 6), torch.zeros(11, 6)
    w_q[5:] = 3 * torch.eye(6)
    w_k[6:, :5] = 3 * torch.eye(5)  # the key answers the place before it
    return w_q, w_k
""",
        """
def my_matrices():
    angles = torch.arange(6) * 0.7  # a clock: the query is one step ahead of the key
    w_k = F.pad(torch.stack([angles.sin(), angles.cos()], dim=1), (0, 0, 5, 0))
    w_q = F.pad(torch.stack([(angles + 0.7).sin(), (angles + 0.7).cos()], dim=1), (0, 0, 5, 0))
    return w_q, w_k
""",
    ],
    "4.1": [
        'grows_by = {"scaled": 0.01, "not scaled": 0}',
        'grows_by = {"not scaled": 1e-8, "scaled": 1 / (1 + math.exp(-2.1)) - 1 / (1 + math.exp(-2))}',
    ],
    "4.2": [
        'colleague = {"rows": "Flatter", "spread": 0.35}',
        'colleague = {"spread": torch.tensor(1 / 8).sqrt(), "rows": "flatter."}',
    ],
    "4.3": [
        """
def my_test(scale):
    for d_k in (2, 16, 128):
        q, k = torch.randn(800, d_k), torch.randn(800, d_k)
        if not 0.8 < scale((q * k).sum(dim=-1), d_k).std() < 1.2:
            return False
    return True
""",
        """
def my_test(scale):
    spreads = []
    for d_k in (2, 32, 512):
        scores = torch.einsum("qd,kd->qk", torch.randn(300, d_k), torch.randn(300, d_k))
        spreads.append(scale(scores, d_k).var().item())
    return all(abs(spread - 1) < 0.4 for spread in spreads)
""",
        """
def my_test(scale):
    scores = torch.randn(5, 5)
    return all(torch.allclose(scale(scores, d_k), scores / d_k**0.5) for d_k in range(1, 300, 7))
""",
    ],
    "5.1": [
        "my_row = [[0.670, 0, 0.330]]",
        "my_row = torch.tensor([math.sqrt(2), -math.inf, math.sqrt(0.5)]).softmax(0)",
        "my_row = (0.67, 0, 0.33)",
    ],
    "5.2": [
        """
def my_window_mask(n, window):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        mask[i, max(0, i - window) : i + 1] = True
    mask[:, 0] = True
    return mask
""",
        """
def my_window_mask(n, window):
    mask = causal_mask(n) & sliding_window_mask(n, window)
    mask[:, 0] = True
    return mask
""",
    ],
    "5.3": [
        """
def my_test(attend):
    x = torch.randn(6, 2)
    return all(torch.allclose(attend(x)[:j], attend(x[:j]), atol=1e-5) for j in range(1, 6))
""",
        """
def my_test(attend):
    x = torch.randn(5, 3, requires_grad=True)
    for i in range(5):
        (slope,) = torch.autograd.grad(attend(x)[i].sum(), x)
        if slope[i + 1 :].abs().sum() > 1e-6:
            return False
    return True
""",
    ],
    "6.1": [
        "my_weights = torch.tensor([1, 0, -math.inf, 1]).softmax(0)",
        "my_weights = [[0.4223, 0.1554, 0, 0.4223]][0]",
    ],
    "6.2": ["my_factor = 1.1", "my_factor = torch.tensor(9.0).sqrt().log()"],
    "6.3": [
        """
def my_softmax(scores):
    hidden = scores == -torch.inf
    scores = scores.masked_fill(hidden, -1e30)
    e = torch.exp(scores - scores.max(dim=-1, keepdim=True).values) * ~hidden
    return e / e.sum(-1, keepdim=True).clamp(min=1e-30)
""",
        """
def one_row(row):
    kept = [s for s in row if s != -math.inf]
    total = sum(math.exp(s - max(kept)) for s in kept)
    return [math.exp(s - max(kept)) / total if s != -math.inf else 0.0 for s in row]


def my_softmax(scores):
    rows = [one_row(row) for row in scores.reshape(-1, scores.shape[-1]).tolist()]
    return torch.tensor(rows).view(scores.shape)
""",
        """
class Softmax(nn.Module):  # built, it is called like a function
    def forward(self, scores):
        powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
        return (powers / powers.sum(dim=-1, keepdim=True)).nan_to_num()


my_softmax = Softmax()
""",
    ],
}
