"""Right answers of learners to every exercise, written in another way than the solution.

Each is code that makes the answer under the stub's name, or what is changed in the solution, ``{old: new}``. It runs
after the exercise's ``given``, with torch, math, nn, F and the names of ``mha_helpers`` at hand. Choose what learners
do: a loop for a sum, einsum for @, a list for a tensor, other names, more decimals.
"""

# The key begins with the number of the exercise.
RIGHT_OTHERWISE = {
    "0.1": "fish_brings_home = (0.87, 1.30)",
    "1.1": 'same_rows = {"A", "C"}',
    "1.2": "tokens_to_x = lambda ids, table, places: F.embedding(ids, table) + places[torch.arange(ids.shape[-1])]",
    "1.3": 'mix_up = {"shape": torch.zeros(7, 5, 5).shape, "look at each other": "Sentences"}',
    "2.1": 'moved = {"heads": {3.0}, "query": (example.w_q[1, 4:] + example.w_q[5, 4:]).numpy()}',
    "2.2": "my_w_q = [[0.0, 0.0], (0, 0), [0, 0.5], [0, 0], [0, 0], [0, 0]]",
    "2.3": """
def my_projections(x, w_qkv):
    d_k = w_qkv.shape[-1] // 3
    return [x @ w_qkv[:, start : start + d_k] for start in (0, d_k, 2 * d_k)]
""",
    "3.1": 'dog = {"new column": (2.0, 5.0, 1.0), "finds it": {"“eats”"}, "new row": torch.tensor([[2], [1], [3]])[:, 0]}',
    "3.2": "my_products = lambda asks, answers: torch.einsum('...id,...jd->...ijd', asks, answers)",
    "3.3": """
def my_matrices():
    angles = torch.arange(6) * 0.7  # a clock: the query is one step ahead of the key
    w_k = F.pad(torch.stack([angles.sin(), angles.cos()], dim=1), (0, 4, 5, 0))
    w_q = F.pad(torch.stack([(angles + 0.7).sin(), (angles + 0.7).cos()], dim=1), (0, 4, 5, 0))
    return w_q, w_k
""",
    "4.1": 'grows_by = {"scaled": 0.01, "not scaled": 0}',
    "4.2": 'colleague = {"spread": torch.tensor(1 / 8).sqrt(), "rows": "flatter."}',
    "4.3": """
def my_test(scale):
    scores = torch.randn(5, 5)
    return all(torch.allclose(scale(scores, d_k), scores / d_k**0.5) for d_k in range(1, 300, 7))
""",
    "5.1": "my_row = torch.tensor([math.sqrt(2), -math.inf, math.sqrt(0.5)]).softmax(0)",
    "5.2": """
def my_window_mask(n, window):
    mask = causal_mask(n) & sliding_window_mask(n, window)
    mask[:, 0] = True
    return mask
""",
    "5.3": """
def my_test(attend):
    x = torch.randn(5, 3, requires_grad=True)
    for i in range(5):
        (slope,) = torch.autograd.grad((attend(x)[i] * torch.randn(3)).sum(), x)
        if slope[i + 1 :].abs().sum() > 1e-6:
            return False
    return True
""",
    "5.3 by its words": """
def my_test(attend):
    x = torch.randn(6, 2)
    return all(torch.allclose(attend(x)[:j], attend(x[:j]), atol=1e-5) for j in range(1, 6))
""",
    "6.1": "my_weights = torch.tensor([1, 0, -math.inf, 1]).softmax(0)",
    "6.2": "my_factor = 1.1",
    "6.3": """
class Softmax(nn.Module):  # built, it is called like a function
    def forward(self, scores):
        powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
        return (powers / powers.sum(dim=-1, keepdim=True)).nan_to_num()


my_softmax = Softmax()
""",
    "6.3 by log-sum-exp": "my_softmax = lambda s: (s - s.logsumexp(dim=-1, keepdim=True)).exp().nan_to_num()",
    "7.1": 'my_points = ["e", "c", "b"]',
    "7.2": """
def my_weights(q, k):
    basis = torch.randn(k.shape[-2], k.shape[-2]) + 5 * torch.eye(k.shape[-2])
    v = basis.expand(*k.shape[:-1], -1)
    return F.scaled_dot_product_attention(q, k, v) @ torch.linalg.inv(basis)
""",
    "7.2 in float64": {
        "torch.eye(k.shape[-2])": "torch.eye(k.shape[-2]).double()",
        "(q, k,": "(q.double(), k.double(),",
    },
    "7.3": """
def my_update(output, total, score, value):
    share = math.exp(score) / (total + math.exp(score))
    return (1 - share) * output + share * value, total + math.exp(score)
""",
    "8.1": 'indices = {"columns": [*range(4, 8)], "after transpose": [2, 1, 1], "view only": torch.tensor([0, 5, 1])}',
    "8.2": "my_cut = lambda q, heads: torch.stack(q.chunk(heads, dim=-1), dim=-3)",
    "8.3": """
q = torch.randn(5, 12)
my_test = lambda split: torch.equal(split(q, 4), q.view(5, 4, 3).transpose(0, 1))
""",
    "9.1": """
def my_pruned(concat, w_o, num_heads, head):
    kept = [i for i in range(num_heads) if i != head]
    columns = concat.unflatten(-1, (num_heads, -1))[:, kept].flatten(1)
    return [columns, w_o.unflatten(0, (num_heads, -1))[kept].flatten(0, 1)]
""",
    "9.2": {
        "d_model, num_heads):": "width, h):\n        d_model, num_heads = width, h",
        "q @ k.transpose(-2, -1) / self.d_k**0.5": "torch.einsum('bhid,bhjd->bhij', q, k) * self.d_k**-0.5",
        "scores.masked_fill(~mask, -torch.inf)": "scores + torch.where(mask, 0.0, -math.inf)",
        "heads.transpose(1, 2).reshape(b, n, d_model)": "torch.cat(heads.unbind(1), dim=-1)",
    },
    "9.3": {
        "(b, n, self.num_heads, -1).transpose(1, 2)": "(b, n, self.num_heads, -1).permute(0, 2, 1, 3)",
        "masked_fill(~mask, -torch.inf)": "masked_fill(mask == 0, -1e9)",
    },
    "10.1": "my_direct_path = lambda parts, guess, read: torch.einsum('pnd,nd->pn', parts, guess[read])",
    "10.2": """
def circuit_scores(letter):
    before = letter.roll(1, dims=0)
    before[0] = 0
    return torch.einsum("id,jd->ij", letter, before)
""",
    "10.3": {"[7, 9]": "range(6, 17)", ".float().mean() >": ".double().mean() >="},
    "11.1": """
def my_layer(state, layer):
    ours = {"self.query": "w_q", "self.key": "w_k", "self.value": "w_v", "output.dense": "w_o"}
    found = {}
    for name, tensor in state.items():
        theirs, _, kind = name.removeprefix(f"encoder.layer.{layer}.attention.").rpartition(".")
        if theirs in ours:
            found[f"{ours[theirs]}.{kind}"] = tensor.clone()
    return found
""",
    "11.2": "my_parts = lambda weight: weight.T.chunk(3, dim=0)",
    "11.3": "my_vectors = lambda x, mask: F.normalize(torch.einsum('bnd,bn->bd', x, mask.float()), dim=-1)",
    "12.1": """
def my_test(attend):
    output = attend(torch.randn(6, 4), torch.randn(6, 4), torch.ones(6, 7))
    return (output - 1).abs().max() < 0.001
""",
    "12.1 of a batch": {"(5, 4)": "(2, 5, 4)"},
    "12.2": 'my_verdicts = {"F": "Scale", "E": "heads", "D": "softmax", "C": "healthy.", "B": "mask", "A": "values"}',
    "D4.1": 'still_from = {"÷ √d_k": 22.0, "no scale": torch.tensor(5)}',
    "D5.1": "my_mask = lambda lengths, n: padding_mask(lengths, n).flip(-1)",
    "D9.1": 'block = {"FFN": torch.tensor(2.0) * 100 * 512 * 2048, "equal at n": 3072.0}',
    "D9.2": """
def my_grouped(q, k, v):
    parts = zip(q.chunk(k.shape[1], dim=1), k.split(1, dim=1), v.split(1, dim=1))
    return torch.cat([torch.softmax(a @ b.mT / a.shape[-1] ** 0.5, dim=-1) @ c for a, b, c in parts], dim=1)
""",
    "D9.3": """
def my_cross_attention(target, source, is_pad, w_q, w_k, w_v):
    q, k, v = target @ w_q, source @ w_k, source @ w_v
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~is_pad[:, None, :])
""",
    "D12.1": "my_a = torch.tensor(8.0).log() * 2**0.5",
}
