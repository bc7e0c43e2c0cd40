"""Right answers written in another way than the solution, two for each exercise.

The key is the number of the exercise, each entry code that makes the answer under the stub's name. It runs
after the exercise's ``given``, with torch, math, nn, F and the names of ``mha_helpers`` at hand. Choose what
learners do: a loop for a sum, einsum for @, a list for a tensor, other names, more decimals.
"""

RIGHT_OTHERWISE = {
    "0.1": ["number_of_weights = 81.0", "number_of_weights = torch.ones(9, 9).sum()"],
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
        'mix_up = {"look at each other": "sentences", "shape": [7, 5, 5]}',
        'mix_up = {"shape": torch.zeros(7, 5, 5).shape, "look at each other": "Sentences"}',
    ],
    "2.1": [
        'moved = {"query": torch.tensor([1.0, -1.0]), "heads": [3]}',
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
        'dog = {"finds it": ["eats"], "scores": torch.tensor([2, 5, 1])}',
        'dog = {"scores": (2.0, 5.0, 1.0), "finds it": {"“eats”"}}',
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
    "7.1": ['my_points = ["e", "c", "b"]', 'my_points = {"B", "C", "E"}'],
    "7.2": [
        """
def my_weights(q, k):
    v = torch.zeros(*k.shape[:-1], k.shape[-2])
    for j in range(k.shape[-2]):
        v[..., j, j] = 1
    return F.scaled_dot_product_attention(q, k, v)
""",
        """
def my_weights(query, key):
    n = key.shape[-2]
    v = 3 * torch.eye(n) + torch.zeros(key.shape[:-1] + (n,))
    return torch.nn.functional.scaled_dot_product_attention(query, key, v, attn_mask=None) / 3
""",
    ],
    "7.3": [
        """
def my_update(output, total, score, value):
    share = math.exp(score) / (total + math.exp(score))
    return (1 - share) * output + share * value, total + math.exp(score)
""",
        """
def my_update(output, total, score, value):
    weights = torch.softmax(torch.stack([total.log(), score]), dim=0)
    return weights @ torch.stack([output, value]), torch.logaddexp(total.log(), score).exp()
""",
    ],
    "8.1": [
        'places = {"columns": [*range(4, 8)], "place": [2, 1, 1], "view only": torch.tensor([0, 5, 1])}',
        """
owner = torch.arange(72).view(6, 12)
right, wrong = owner.view(6, 3, 4).transpose(0, 1), owner.view(3, 6, 4)
places = {"columns": right[1, 0]}
places |= {"place": (right == 21).nonzero()[0], "view only": (wrong == 21).nonzero()[0]}
""",
    ],
    "8.2": [
        "def my_cut(q, num_heads):\n    return torch.stack(q.chunk(num_heads, dim=-1), dim=-3)",
        """
def my_cut(q, num_heads):
    b, n, d_model = q.shape
    heads = torch.zeros(b, num_heads, n, d_model // num_heads)
    for column in range(d_model):
        heads[:, column // heads.shape[-1], :, column % heads.shape[-1]] = q[:, :, column]
    return heads
""",
    ],
    "8.3": [
        """
def my_test(split):
    q = torch.randn(5, 12)
    return torch.equal(split(q, 4), q.view(5, 4, 3).transpose(0, 1))
""",
        """
def my_test(split):
    q = torch.arange(60).view(5, 12)
    heads = split(q, 3)
    return all(heads[i, t].tolist() == q[t, 4 * i : 4 * i + 4].tolist() for i in range(3) for t in range(5))
""",
    ],
    "9.1": [
        """
def my_pruned(concat, w_o, num_heads, head):
    kept = [i for i in range(num_heads) if i != head]
    columns = concat.unflatten(-1, (num_heads, -1))[:, kept].flatten(1)
    return [columns, w_o.unflatten(0, (num_heads, -1))[kept].flatten(0, 1)]
""",
        """
def my_pruned(concat, w_o, num_heads, head):
    owner = torch.arange(len(w_o)) * num_heads // len(w_o)
    return concat[..., owner != head], w_o[owner != head]
""",
    ],
    "9.2": [
        """
class MyAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask=None):
        q, k, v = (w(x).unflatten(-1, (self.h, -1)).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
        hidden = torch.zeros_like(scores) if mask is None else torch.where(mask, 0.0, -math.inf)
        weights = F.softmax(scores + hidden, dim=3)
        return self.w_o(torch.einsum("bhij,bhjd->bihd", weights, v).flatten(2)), weights
""",
        """
class MyAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        nn.Module.__init__(self)
        self.size = d_model // num_heads
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, x, mask=None):
        heads, rows = [], []
        for i, (q, k, v) in enumerate(zip(*(w(x).split(self.size, -1) for w in (self.w_q, self.w_k, self.w_v)))):
            scores = q @ k.mT / math.sqrt(self.size)
            if mask is not None:
                may = mask if mask.dim() == 2 else mask[:, 0]
                scores[(~may).expand(scores.shape)] = -1e9
            rows.append(scores.softmax(-1))
            heads.append(rows[-1] @ v)
        return self.w_o(torch.cat(heads, -1)), torch.stack(rows, 1)
""",
    ],
    "9.3": [
        """
class Suspect(Layers):
    def forward(self, x, mask=None):
        b, n, d_model = x.shape
        qkv = self.w_qkv(x).view(b, n, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        scores = q @ k.mT / math.sqrt(d_model // self.num_heads)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = scores.softmax(-1)
        return self.w_o((weights @ v).permute(0, 2, 1, 3).reshape(b, n, -1)), weights
""",
        """
class Suspect(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_k = num_heads, d_model // num_heads
        self.w_qkv = nn.Linear(d_model, 3 * d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, n, d_model = x.shape
        q, k, v = [part.reshape(b, n, self.num_heads, self.d_k).transpose(1, 2) for part in self.w_qkv(x).chunk(3, -1)]
        q = q / self.d_k**0.5
        scores = q @ k.transpose(2, 3)
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(-2)), weights
""",
    ],
    "12.1": ["my_a = 2.94", "my_a = torch.tensor(8.0).log() * 2**0.5"],
    "12.2": [
        'my_numbers = {"too large": 100, "divide each by": 3}',
        'my_numbers = {"divide each by": torch.tensor(9.0).sqrt(), "too large": torch.tensor(100.0)}',
    ],
    "12.3": [
        """
def my_masks(hidden, num_heads):
    return torch.stack([sentence for sentence in hidden for _ in range(num_heads)])
""",
        """
def my_masks(hidden, num_heads):
    b, n_q, n_k = hidden.shape
    return hidden.unsqueeze(1).repeat(1, num_heads, 1, 1).reshape(b * num_heads, n_q, n_k)
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
    "10.1": ["places = [5, 1]", "places = {i + 1 for i, letter in enumerate('KWMAKWMA') if letter == 'K'}"],
    "10.2": [
        """
def circuit_scores(letter):
    before = letter.roll(1, dims=0)
    before[0] = 0
    return torch.einsum("id,jd->ij", letter, before)
""",
        """
def circuit_scores(letter):
    scores = torch.zeros(len(letter), len(letter))
    for i in range(len(letter)):
        for j in range(1, len(letter)):
            scores[i, j] = letter[i] @ letter[j - 1]
    return scores
""",
    ],
    "10.3": [
        """
def compares_letters(guess):
    for distance in (6, 10):
        letters, distances = repeated_sequences(50, [distance], seed=1)
        right = (guess(letters)[:, :-1] == letters[:, 1:])[:, distance:]
        if right.float().mean() < 0.95:
            return False
    return True
""",
        """
def compares_letters(guess):
    letters, distance = repeated_sequences(80, range(6, 17), seed=5)
    counted = predictable(letters, distance)
    return ((guess(letters)[:, :-1] == letters[:, 1:]) & counted).sum() / counted.sum() >= 0.9
""",
    ],
    "11.1": [
        """
def my_layer(state, layer):
    a = f"encoder.layer.{layer}.attention."
    found = {}
    for kind in ["weight", "bias"]:
        found["w_q." + kind] = state[a + "self.query." + kind]
        found["w_k." + kind] = state[a + "self.key." + kind]
        found["w_v." + kind] = state[a + "self.value." + kind]
        found["w_o." + kind] = state[a + "output.dense." + kind]
    return found
""",
        """
def my_layer(state, layer):
    ours = {"self.query": "w_q", "self.key": "w_k", "self.value": "w_v", "output.dense": "w_o"}
    found = {}
    for name, tensor in state.items():
        place, _, kind = name.removeprefix(f"encoder.layer.{layer}.attention.").rpartition(".")
        if place in ours:
            found[f"{ours[place]}.{kind}"] = tensor.clone()
    return found
""",
    ],
    "11.2": [
        "def my_parts(weight):\n    return weight.T.chunk(3, dim=0)",
        """
def my_parts(weight):
    d = weight.shape[0]
    return weight[:, :d].T, weight[:, d : 2 * d].T, weight[:, 2 * d :].T
""",
    ],
    "11.3": ['conclusion = "B"', "conclusion = 'b.'"],
}
