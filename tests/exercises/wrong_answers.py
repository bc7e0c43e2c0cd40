"""Wrong answers of learners, written as the right ones are: one for each kind of fault that a check once had."""

# The key is the number of the exercise, and what the check must say.
WRONG_ANSWERS = {
    # axes of size 1 in front, and more axes than the page has
    ("1.2", "lacks one axis, axis 0 of size 1"): {"table[token_ids]": "table[token_ids].squeeze()"},
    ("2.3", "With two axes in front"): {"dim=-1": "dim=min(x.dim() - 1, 2)"},
    ("3.2", "two axes in front: the result lacks one axis"): {"asks * answers": "(asks * answers).squeeze()"},
    ("6.3", "one table in a batch: the result lacks one axis"): {"nan_to_num()": "nan_to_num().squeeze()"},
    # “all scores are 0” where they only tie; rows of the words that are small, not 0
    ("3.3", "(11, 6); a float tensor (11, 6)"): {"    return w_q, w_k": "    return w_q.long(), w_k.long()"},
    ("3.3", "has no single highest score"): {"position + 1] = 1": "position + 1] = -1"},
    ("3.3", "Rows 0 to 4 of your w_q and w_k are not 0"): {"return w_q, w_k": "return w_q + 0.2, w_k + 0.2"},
    # a shape that works, but is not the one asked for; NaN where no key wins; a design that works by itself
    ("3.3", "shape (11, 7); a float tensor (11, 6)"): {"return w_q, w_k": "return F.pad(w_q, (0, 1)), w_k"},
    ("3.3", "Rows 0 to 4 of your w_q are not 0"): {"return w_q": "return w_q / w_q.sum(-1, keepdim=True)"},
    ("3.3", "your w_k is `...`; a float tensor (11, 6)"): {"return w_q, w_k": "return w_q, ..."},
    ("3.3", "word 2 of the sentence has no score but 0"): {"if position < 5": "if position < 1"},
    # it works wherever the words stand, but reads the places, which cancel
    ("2.2", "has (0, 2) as its row “1st”, so"): "my_w_q = [[0, -1], [0, -2], [0, 0], [0, 2], [0, 2], [0, 2]]",
    (
        "2.2",
        "has (0, −2) as its row “1st”, so",
    ): "my_w_q = [[0, 1], [0, 2], [0, 1], [0, -2], [0, -2], [0, -2]]",
    ("2.2", "feature 2 make of your row “what is eaten”"): "my_w_q = [[0, 0]] * 2 + [[0, 1]] + [[0, 0]] * 3",
    # the first wrong step is named, not what follows from it
    ("3.1", "wrong score of (2, 0) with (1, −3)"): (
        "dog = {'new column': [0, -1, -1], 'new row': [4, 3, 5], 'finds it': set()}"
    ),
    # one hidden key, and what becomes of its row
    ("6.3", "You put 0 in place of −∞"): {"scores.amax": "(scores := scores.nan_to_num(neginf=0.0)).amax"},
    ("6.3", "does a 0 or NaN come over the whole row"): {
        "sum(dim=-1, keepdim=True))": "sum(dim=-1, keepdim=True) / ~(scores == -math.inf).any(-1, keepdim=True))",
        "nan_to_num()": "nan_to_num(posinf=0.0)",
    },
    # a text that is none of those offered
    ("4.2", "is none of “flatter”, “sharper”"): 'colleague = {"spread": 0.354, "rows": "smaller"}',
    ("4.3", "Handed a right scale, your test tries d_k = 16 only"): {"[8, 256]": "[16, 16]"},
    ("4.3", "Your test tries square numbers only, such as d_k = 1"): {"[8, 256]": "[1, 4, 16, 64, 256]"},
    ("4.3", "“÷√d_k, at most ÷4” is wrong, but passes"): {"[8, 256]": "[1, 2, 4, 8]"},
    ("4.3", "An assert stops the code"): {"if not 0.8": "assert 0.8", ":\n            return False": ""},
    # a number that two ways lead to, and one that seems rounded only
    ("4.2", "“spread” is 64/512, or √8/√512"): "colleague = {'spread': 8**0.5 / 512**0.5, 'rows': 'flatter'}",
    ("4.1", "fits new over old − 1"): "grows_by = {'scaled': 0.011, 'not scaled': 0.0}",
    # nearer to the right row than to that of a mistake
    ("5.1", "is close, but not right: was something rounded on the way"): "my_row = [0.669, 0, 0.330]",
    # a mistake that fits one size only; a wide window; one word
    ("5.2", "shows words too far away (row 4, column 2)"): {"back <= window": "back <= 2"},
    ("5.2", "hides words of the window (row 6, column 2)"): {"back <= window": "back <= min(window, 3)"},
    ("5.2", "its shape is () instead of (1, 1)"): {"0) &": "0).squeeze() &", "first)": "first).squeeze()"},
    ("5.3", "“causal mask, a feature of the next word added first”"): {"[j] = torch.randn(4)": "[j, 0] += 1"},
    ("5.3", "“a leak that leaves the mean of each output” is"): {")[:j]": ")[:j].sum(-1)"},
    # a test that says the same of all: what it does wrong
    ("5.3", "compares rows that may change"): {"[:j], attend(changed)[:j]": ", attend(changed)"},
    ("5.3", "leaves no room for rounding"): {
        "not torch.allclose(attend(x)[:j], attend(changed)[:j], atol=1e-6)": (
            "j and not torch.equal(attend(x)[:j].double(), attend(x[:j].double()))"
        )
    },
    ("5.3", "says False even where no output changes"): {"if not": "if"},
    ("5.3", "NaN spreads"): {"torch.randn(4)": "torch.nan"},
    ("5.3", "What makes a copy?"): {"x.clone()": "x[:]"},
    ("5.3", "leaves these of 5 words as they are: 3, 4, 5"): {
        "range(5)": "range(1, 5)",
        "if not": "if",
        "return False": "return True",
        "return True\n    return True": "return True\n    return False",
    },
    # a slice that starts before the first word
    ("5.2", "a slice that starts below 0 counts from the end"): """
def my_window_mask(n, window):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        mask[i, i - window : i + 1] = True
    mask[:, 0] = True
    return mask
""",
    # a wrong number that is rounded
    ("6.2", "the larger weight 0.100, not 0.900"): "my_factor = -1.10",
    ("6.2", "is close, but not right"): "my_factor = 1.094",
    # a wrong number or a wrong test, and what follows from it
    ("4.1", "if the scaled score moves by 1.3"): "grows_by = {'scaled': 0.084, 'not scaled': 0.0}",
    ("4.2", "fits a divisor of 0.357 times"): "colleague = {'spread': 2.8, 'rows': 'flatter'}",
    ("4.3", "both right scales, and True of “no scale” and"): {"0.8 <": "1.2 <", "std() < 1.25": "std()"},
    ("4.3", "and your test says False: what does it measure"): {"0.8 <": "1 ==", "< 1.25": ""},
    ("5.3", "how loose is its limit"): {"atol=1e-6": "atol=9"},
    ("5.3", "changes its words by 0 at most"): {"[j] = torch.randn(4)": "[j] *= 1"},
    # a tuple where one tensor is asked for; a call that is made, and not used
    ("7.2", "a tuple of 2; one tensor is needed."): {"one_for_each_word)": "one_for_each_word), None"},
    ("7.2", "your code calls softmax"): {
        "one_for_each_word)": "one_for_each_word)\n    return torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, dim=-1)",
        "return torch.nn": "torch.nn",
    },
    # a permute under another name; tests of what a head holds, not of places
    ("8.2", "calls einsum"): {"stack(slices, dim=1)": "einsum('bnhd->bhnd', torch.stack(slices, dim=2))"},
    ("8.3", "the place of each?"): {"(heads[head], own_columns)": "(heads[head].sum(), own_columns.sum())"},
    ("8.3", "All numbers of your q are the same"): {"torch.arange(24)": "torch.ones(24)"},
    ("8.3", "True of all 15. “view only” is wrong, but passes: its shape is right"): {
        "(heads[head], own_columns)": "(heads[head] * 0, own_columns * 0)"
    },
    ("8.3", "a tensor of shape (1, 4, 6)"): {"split(q, num_heads)": "split(q[None], num_heads)[0]"},
    ("9.1", "right values, but it is a NumPy array"): {"return smaller": "return smaller.numpy()"},
    # a causal mask where there is none; +∞ in place of −∞
    ("9.2", "what does mask=None mean?"): {
        "b, n, d_model = x.shape": "b, n, d_model = x.shape\n        mask = causal_mask(n) if mask is None else mask"
    },
    ("9.3", "Forbidden scores become the highest, or +∞"): {"~mask, -torch.inf": "~mask, torch.inf"},
    # arguments in another order than that of the stub
    ("9.2", "has shape (1, 1) instead of (6, 6)"): {
        "(self, d_model, num_heads)": "(self, num_heads, d_model)"
    },
    ("9.2", "nn.Module takes no arguments"): {"super().__init__()": "super().__init__(d_model, num_heads)"},
    ("9.2", "A whole number is needed there"): {"d_model // num_heads": "d_model / num_heads"},
    ("9.2", "A layer is no matrix"): {"self.w_q(x)": "(x @ self.w_q)"},
    # a class that cannot be tried, or that is not one's own
    ("9.2", "is a module already built; hand over the class"): "MyAttention = nn.Linear(2, 2)",
    ("9.2", "int is a class, but no nn.Module"): "MyAttention = int",
    ("9.2", "inherit from nn.Module only"): "class MyAttention(MultiHeadAttention): ...",
    ("9.2", "how many go in and out"): {"w_k = nn.Linear(d_model, d": "w_k = nn.Linear(d_model, 2 * d"},
    ("9.2", "self.w_k.weight is missing; your layers are self.w_q, self.keys"): {"self.w_k": "self.keys"},
    ("9.2", "no gradient reaches all of self.w_q, self.w_k: "): {"dim=-1)": "dim=-1).detach()"},
    ("9.2", "self.w_q, self.w_k, self.w_v, self.w_o: "): {"(concat)": "(concat).detach()"},
    ("9.3", "2 of 3 bugs found. One head, no mask: the weights are too"): {" / q.shape[-1] ** 0.5": ""},
    ("9.3", "so that the bugs cannot be counted yet. It raises"): {"d_model = x.shape": "d_model = x"},
    ("9.3", "2 of 3 bugs found. The mask allows neighbours"): {"~mask": "mask"},
    ("9.3", "At least 1 of 3 bugs found, and something else is wrong. “output”"): {
        "weights @ v)": "weights @ v * (1 if d_model == 1 else 2))",
        "dim=-1)\n": "dim=-1) * (1 if d_model == 1 else 2)\n",
    },
    # a cut that is left as it was, and a merge made to fit it; weights that learn nothing
    ("9.3", "2 of 3 bugs found. Cut and merge fit each other"): {
        "(b, n, self.num_heads, -1).transpose(1, 2)": "(b, self.num_heads, n, -1)",
        "v).transpose(1, 2)": "v)",
    },
    ("9.3", "3 of 3 bugs found, but something else is wrong. You divide the scores by d_k"): {
        "** 0.5": "** 1"
    },
    ("9.3", "no gradient reaches all of self.w_qkv: "): {"scores, dim=-1)": "scores, dim=-1).detach()"},
    ("10.3", "and nothing else can be"): {"[predictable(letters, distance)]": ""},
    # the cause of an error
    ("10.3", "A mask must be as long as what it picks from"): {"[:, :-1] == letters[:, 1:]": " == letters"},
    # what a wrong number or a test comes to, where no mistake is listed
    ("7.2", "is 0 everywhere"): {"torch.eye(k.shape[-2])": "torch.zeros(k.shape[-2], k.shape[-2])"},
    ("12.1", "Outputs of 1, 3, 3, … pass your test"): {
        "torch.allclose": "torch.any(torch.isclose",
        "-5)": "-5))",
    },
    ("12.1", "Your test says False where all outputs are 1"): {
        "attend(q, k, v), v": "attend(q, k, v).sum(0), v[0]"
    },
    ("10.3", "how much must be right, at how many distances?"): {"> 0.": "> 0.02 * 0."},
    ("10.2", "a key of position 1 that holds none of the three"): {"diag(-1)": "diag(-1).matrix_power(2)"},
    ("8.1", "“view only” is the place of q[1, 3]"): {"21 // 4, 21 % 4": "15 // 4, 15 % 4"},
    ("7.3", "“output” is 0.667 · the old output + 0.333 · the value"): {
        "return (total * output + power * value) / new_total": "return output + power / total * (value - output)"
    },
    ("11.3", "has a first vector of length"): {"norm(dim": "norm(p=1, dim"},
    ("D9.1", "“FFN” is 3 · one matrix for each of 100 words"): {"2 * 100": "3 * 100"},
    # tests that look at less than every number, or with limits too loose to tell
    ("12.1", "Outputs of 0 pass: how far from 1"): {
        "torch.allclose(attend(q, k, v), v, atol=1e-5)": "attend(q, k, v).shape == v.shape"
    },
    ("12.1", "“features shifted up and down”"): {"k, v), v": "k, v).sum(-1), v.sum(-1)"},
    ("12.1", "“half of everything” is wrong, but passes"): {
        "(5, 4)": "(9, 4)",
        "torch.allclose(attend(q, k, v), v, atol=1e-5)": "0.4 <= attend(q, k, v).min() <= attend(q, k, v).max() <= 1.01",
    },
    ("12.1", "“all but the last row doubled”"): {"k, v), v": "k, v)[-1], v[-1]"},
    ("12.1", "A test with a single token"): {"(5, 4)": "(1, 4)"},
    ("12.1", "how loose is your limit?"): {"torch.randn(5, 4)": "0.01 * torch.randn(5, 4)", "1e-5": "0.05"},
    ("12.1", "v must have shape (…, n_k, d_v)"): {"torch.ones(5, 4)": "torch.ones(5)"},
    # a number that two mistakes give; another limit; a divisor that fits one d_k only
    ("D4.1", "below 0.1: which limit"): 'still_from = {"no scale": 3, "÷ √d_k": 5}',
    ("D9.1", "or counted for one word"): 'block = {"FFN": 209715200, "equal at n": 1026}',
    ("D9.2", "Your divisor is 2 whatever d_k is"): {"q.shape[-1] ** 0.5": "2"},
    ("D9.3", "Your divisor is 2 whatever d_k is"): {"/ q.shape[-1] ** 0.5": "* 0.5"},
    ("D9.3", "The softmax is missing"): {"torch.softmax(scores, dim=-1)": "scores"},
    # ways to a right result that the task rules out
    ("D9.2", "calls scaled_dot_product_attention"): {
        "v):": "v):\n    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)"
    },
    ("D9.2", "indexing makes a copy"): """
def my_grouped(q, k, v):
    owner = torch.arange(q.shape[1]) // (q.shape[1] // k.shape[1])
    return torch.softmax(q @ k[:, owner].mT / q.shape[-1] ** 0.5, dim=-1) @ v[:, owner]
""",
    ("D9.2", "reshape makes a copy"): {
        "q = q.unflatten(1, (kv_heads, -1))": "every, h = (-1, -1, q.shape[1] // kv_heads, -1, -1), q.shape[1]",
        "[:, :, None]": "[:, :, None].expand(every).reshape(len(q), h, k.shape[2], -1)",
        ".flatten(1, 2)": "",
    },
    ("D9.3", "or set the values of padding to 0"): {
        "masked_fill(is_pad[:, None, :], -math.inf)": "clone()",
        "weights @ v": "weights @ (v * ~is_pad[:, :, None])",
    },
}
