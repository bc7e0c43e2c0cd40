"""Right answers written in another way than the solution, two for each exercise.

The key is the number of the exercise, each entry code that makes the answer under the stub's name. It runs
after the exercise's ``given``, with torch, math, nn, F and the names of ``mha_helpers`` at hand. Choose what
learners do: a loop for a sum, einsum for @, a list for a tensor, other names, more decimals.
"""

RIGHT_OTHERWISE = {
    "0.1": ["number_of_weights = 81.0", "number_of_weights = torch.ones(9, 9).sum()"],
    "4.1": ["my_row = (3, 1, -2, 0.5)", "my_row = torch.tensor([12, 4, -8, 2]) / 16**0.5"],
    "4.2": [
        'colleague = {"rows": "Flatter", "spread": 0.35}',
        'colleague = {"spread": torch.tensor(1 / 8).sqrt(), "rows": "flatter."}',
    ],
    "4.3": [
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
    ],
    "12.1": ["my_a = 2.94", "my_a = torch.tensor(8.0).log() * 2**0.5"],
    "12.2": [
        'my_factors = {"first": 100, "second": 0.333}',
        'my_factors = {"second": (64 / 576) ** 0.5, "first": torch.tensor(100.0)}',
    ],
    "12.3": [
        """
def my_masked(scores, allowed):
    return torch.where(allowed, scores, -math.inf)
""",
        """
def my_masked(scores, allowed):
    return scores + torch.zeros(allowed.shape).masked_fill(allowed.logical_not(), float("-inf"))
""",
    ],
    "12.4": ["my_largest = 0.28", "my_largest = F.one_hot(torch.tensor(0), 8).float().softmax(0).max()"],
    "12.5": [
        """
def my_test(attend):
    q, k = torch.arange(12.0).view(4, 3).sin(), torch.arange(12.0).view(4, 3).cos()
    output = attend(q, k, torch.ones(4, 1))
    return all(abs(number.item() - 1) < 1e-4 for number in output.flatten())
""",
        """
def my_test(attend):
    output = attend(torch.randn(6, 4), torch.randn(6, 4), torch.ones(6, 4))
    return (output - 1).abs().max() < 0.001
""",
    ],
    "12.6": [
        'my_verdicts = {"F": "Scale", "E": "heads", "D": "softmax", "C": "healthy.", "B": "mask", "A": "values"}',
        'my_verdicts = dict(zip("ABCDEF", ["values", "mask", "healthy", "softmax", "heads", "scale"]))',
    ],
}
