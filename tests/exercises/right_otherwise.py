"""Right answers written in another way than the solution, two for each exercise.

The key is the number of the exercise, each entry code that makes the answer under the stub's name. It runs
after the exercise's ``given``, with torch, math, nn, F and the names of ``mha_helpers`` at hand. Choose what
learners do: a loop for a sum, einsum for @, a list for a tensor, other names, more decimals.
"""

from right_otherwise_00_to_06 import RIGHT_OTHERWISE_00_TO_06

RIGHT_OTHERWISE = RIGHT_OTHERWISE_00_TO_06 | {
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
        'indices = {"columns": [*range(4, 8)], "after transpose": [2, 1, 1], "view only": torch.tensor([0, 5, 1])}',
        """
owner = torch.arange(72).view(6, 12)
right, wrong = owner.view(6, 3, 4).transpose(0, 1), owner.view(3, 6, 4)
indices = {"columns": right[1, 0]}
indices |= {"after transpose": (right == 21).nonzero()[0], "view only": (wrong == 21).nonzero()[0]}
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
    "12.1": [
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
    "12.2": [
        'my_verdicts = {"F": "Scale", "E": "heads", "D": "softmax", "C": "healthy.", "B": "mask", "A": "values"}',
        'my_verdicts = dict(zip("ABCDEF", ["values", "mask", "healthy", "softmax", "heads", "scale"]))',
    ],
    "D4.1": [
        'still_from = {"÷ √d_k": 22.0, "no scale": torch.tensor(5)}',
        """
high = 0.5 + math.sqrt(0.25 - 0.01)  # high · (1 − high) = 0.01
gap = math.log(high / (1 - high))
still_from = {"no scale": math.ceil(gap), "÷ √d_k": math.ceil(gap**2)}
""",
    ],
    "D5.1": [
        """
def my_mask(lengths, n):
    return padding_mask(lengths, n).flip(-1)
""",
        """
def my_mask(lengths, n):
    mask = torch.zeros(len(lengths), 1, 1, n, dtype=torch.bool)
    for sentence, length in enumerate(lengths.tolist()):
        mask[sentence, 0, 0, n - length :] = True
    return mask
""",
    ],
    "D9.1": [
        'block = {"equal at n": 3072, "FFN": 209_715_200}',
        'block = {"FFN": torch.tensor(2.0) * 100 * 512 * 2048, "equal at n": 3072.0}',
    ],
    "D9.2": [
        """
def my_grouped(q, k, v):
    b, h, n, d_k = q.shape
    q = q.reshape(b, k.shape[1], h // k.shape[1], n, d_k)
    scores = torch.einsum("bgrqd,bgkd->bgrqk", q, k) / math.sqrt(d_k)
    return torch.einsum("bgrqk,bgkd->bgrqd", scores.softmax(-1), v).reshape(b, h, n, -1)
""",
        """
def my_grouped(q, k, v):
    group = q.shape[1] // k.shape[1]
    output = torch.empty(*q.shape[:3], v.shape[-1])
    for head in range(q.shape[1]):
        weights = torch.softmax(q[:, head] @ k[:, head // group].mT / q.shape[-1] ** 0.5, dim=-1)
        output[:, head] = weights @ v[:, head // group]
    return output
""",
    ],
    "D9.3": [
        """
def my_cross_attention(target, source, is_pad, w_q, w_k, w_v):
    q, k, v = target @ w_q, source @ w_k, source @ w_v
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~is_pad[:, None, :])
""",
        """
def my_cross_attention(target, source, is_pad, w_q, w_k, w_v):
    bias = torch.zeros(is_pad.shape).masked_fill(is_pad, -1e9).unsqueeze(1)
    scores = torch.einsum("bqd,bkd->bqk", target @ w_q, source @ w_k) * w_q.shape[1] ** -0.5
    return (scores + bias).softmax(-1) @ (source @ w_v)
""",
    ],
    "D12.1": ["my_a = 2.94", "my_a = torch.tensor(8.0).log() * 2**0.5"],
    "10.1": [
        """
def my_direct_path(parts, w_guess, letters):
    return torch.einsum("pnd,nd->pn", parts, w_guess[letters])
""",
        """
def my_direct_path(parts, w_guess, letters):
    logits = parts @ w_guess.T
    return torch.stack([logits[:, i, letter] for i, letter in enumerate(letters)], dim=1)
""",
    ],
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
        theirs, _, kind = name.removeprefix(f"encoder.layer.{layer}.attention.").rpartition(".")
        if theirs in ours:
            found[f"{ours[theirs]}.{kind}"] = tensor.clone()
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
    "11.3": [
        """
def my_vectors(hidden, attention_mask):
    vectors = []
    for tokens, real in zip(hidden, attention_mask):
        average = tokens[real.bool()].mean(dim=0)
        vectors.append(average / average.square().sum().sqrt())
    return torch.stack(vectors)
""",
        """
def my_vectors(hidden, attention_mask):
    total = torch.einsum("bnd,bn->bd", hidden, attention_mask.float())
    return F.normalize(total, dim=-1)
""",
    ],
}
