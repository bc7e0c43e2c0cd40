"""What goes wrong in a class of attention, told as changes that fit the solutions of 9.2 and of 9.3.

Where the heads are transposed once more, the transpose of the merge is undone.
"""

from mha_course.exercises import changes

# What shows with or without a mask.
STEPS = changes("""
    scores, dim=-1 => scores, dim=-2
    The weights add up to 1 for each key: on which axis are a query's keys?
    scores, dim=-1 => scores, dim=1
    softmax(dim=1) compares heads with one another: on which axis are the keys?
    (b, n, self.num_heads => (b, self.num_heads, n
    transpose(1, 2) => contiguous()
    Cut and merge match, but a head mixes numbers from several words.
    weights @ v => (weights @ v).transpose(1, 2)
    The weights are right, the output is not: whose numbers are in one row of your concat?
    transpose(1, 2) => contiguous()
    weights @ v => (weights @ v).transpose(1, 2)
    Your scores compare heads, not words: which two axes must come last for q @ kᵀ?
    (scores => (scores / self.num_heads**0.5
    You divide by √d_model: how many products does one score of one head add up?
    0.5 => 1
    You divide the scores by d_k: how does their spread grow with d_k?
    0.5 => -0.5
    Scaling makes the scores grow: should they be multiplied by √d_k, or divided?
    weights @ v => weights @ k
    The weights are right, but they mix the keys: what does a word collect?
""")

# What can be told with one head and without a mask.
ONE_HEAD = changes("""
    torch.softmax(scores, dim=-1) => scores
    Your weights are scores: which step turns them into shares that add up to 1?
    (scores => (scores if mask is not None else scores.masked_fill(~causal_mask(n), -torch.inf)
    Without a mask no word looks at a later one: what does mask=None mean?
    scores, dim=-1) => scores * q.shape[-1] ** 0.5, dim=-1) / q.shape[-1] ** 0.5
    You divide weights by √d_k, not scores: what must each row of weights add up to?
    (scores => (scores * (q.shape[-1] / n) ** 0.5
    You divide by √n, the root of the number of words: what does one score add up?
    (scores => (scores * (q.shape[-1] / self.num_heads) ** 0.5
    You divide by √num_heads: how many products does one score of one head add up?
    (concat) => (concat) + x
    The weights are right, but x is added to the output: that is the step after this class.
""")

LAST_LINES = changes("""
    q @ k.transpose => k @ q.transpose
    The keys ask and the queries answer: whose rows must the scores have?
    (scores => (-scores
    The sign of the scores is flipped: which keys should get the most?
    scores, dim=-1) => torch.softmax(scores, dim=-1), dim=-1)
    The weights come out too even: does softmax run twice?
    weights @ v => weights.mT @ v
    The weights are right, but transposed before they mix: whose row belongs to which word?
    self.w_o(concat) => concat
    The heads are side by side, but do they mix? One of the layers does nothing yet.
    self.w_o(concat) => concat @ self.w_o.weight + self.w_o.bias => concat @ self.w_o.weight
    The weights are right. A Linear keeps its matrix as (out, in): what does calling it compute?
    self.w_o(concat) => concat @ self.w_o.weight.T
    The weights are right. A bias is missing: what does calling self.w_o add?
    self.w_o(concat) => self.w_o(self.w_o(concat))
    The weights are right, but W_O is used twice.
    self.w_o(concat), weights => self.w_o(concat), scores
    The output is right, but you return scores with it: which step makes them weights?
""")

MASKS = changes("""
    .masked_fill(~mask, -torch.inf) => [:]
    scores, dim=-1) => scores, dim=-1) * (1 if mask is None else mask)
    The mask comes after softmax: what do the rows of weights add up to?
    .masked_fill(~mask, -torch.inf) => + mask
    The mask is added, so True adds 1 to a score: what hides a word?
    -torch.inf => 0
    A forbidden score becomes 0, or nearly 0: which weight does softmax give to a score of 0?
    .masked_fill(~mask, -torch.inf) => [:]
    The mask changes nothing: words look where they may not. Which step uses it, and which uses the result?
    -torch.inf => torch.inf
    Forbidden scores become the highest, or +∞: which score gives no weight?
""")
