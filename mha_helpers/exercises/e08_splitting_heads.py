"""Exercises of notebook 08: splitting heads."""

import torch

from mha_helpers.attention import split_heads
from mha_helpers.examples import golden_example
from mha_helpers.exercises import ChoiceExercise, FunctionExercise, Mistake, ValueExercise, case, numbers
from mha_helpers.exercises.splits import SPLITS
from mha_helpers.exercises.whole_mistakes import SPLITTING


def _widths(a, b_head, b, c):
    return {"A, all heads": a, "B, one head": b_head, "B, all heads": b, "C, all heads": c}


width_of_a_head = ValueExercise(
    "8.1",
    "Per head, or in total?",
    stars=1,
    minutes=3,
    variable="widths",
    answer=_widths(768, 64, 768, 9216),
    mistakes=[
        Mistake(
            "d_out of B taken per head",
            _widths(768, 768, 9216, 9216),
            "In B, d_out is cut into heads: is 768 what one head gets, or what all get together?",
        ),
        Mistake(
            "B not cut",
            _widths(768, 768, 768, 9216),
            "Only one head of B is wrong: B has one module, and its 768 numbers are cut into 12 heads.",
        ),
        Mistake(
            "B made twelve times",
            _widths(768, 64, 9216, 9216),
            "Only B in total is wrong: how many modules has B, and what does one give out?",
        ),
        Mistake(
            "d_out of C taken in total",
            _widths(768, 64, 768, 768),
            "In C nothing is cut: each of the 12 modules gives out d_out numbers of its own.",
        ),
        Mistake(
            "heads of A not set side by side",
            _widths(64, 64, 768, 768),
            "A and C: one module gives d_out numbers, and there are 12 modules side by side.",
        ),
        Mistake(
            "modules of A and C counted once",
            _widths(64, 64, 768, 9216),
            "A: 64 is one module; how many numbers do 12 of them give side by side?",
        ),
    ],
    praise="In some code d_out counts one head, in other code all heads: the number of modules tells which.",
    hints=(
        "Ask of each: how many modules are there, and is what one of them gives out cut afterwards?",
        "A and C: 12 modules, nothing is cut. B: one module, and its d_out is shared out among 12 heads.",
    ),
    solution="""
widths = {
    "A, all heads": 12 * 64,
    "B, one head": 768 // 12,
    "B, all heads": 768,
    "C, all heads": 12 * 768,
}
""",
)


def _shapes(q, viewed, cut, weights, outputs):
    return {"q": q, "viewed": viewed, "cut": cut, "weights": weights, "outputs": outputs}


shapes_along_the_way = ValueExercise(
    "8.2",
    "Five shapes",
    stars=1,
    minutes=4,
    variable="shapes",
    answer=_shapes((2, 10, 256), (2, 10, 8, 32), (2, 8, 10, 32), (2, 8, 10, 10), (2, 8, 10, 32)),
    mistakes=[
        Mistake(
            "d_k taken as d_model",
            _shapes((2, 10, 256), (2, 10, 8, 256), (2, 8, 10, 256), (2, 8, 10, 10), (2, 8, 10, 256)),
            "Your heads have 256 numbers each: that is d_model, and it is shared out among 8 heads.",
        ),
        Mistake(
            "no transpose",
            _shapes((2, 10, 256), (2, 10, 8, 32), (2, 10, 8, 32), (2, 10, 8, 8), (2, 10, 8, 32)),
            "Without the transpose, scores compare heads with heads inside a token: which two axes must"
            " stand last?",
        ),
        Mistake(
            "heads seen as h instead of their width",
            _shapes((2, 10, 256), (2, 10, 32, 8), (2, 32, 10, 8), (2, 32, 10, 10), (2, 32, 10, 8)),
            "You have 32 heads of 8: which of the two is the number of heads, and which is d_k?",
        ),
        Mistake(
            "features compared with features",
            _shapes((2, 10, 256), (2, 10, 8, 32), (2, 8, 10, 32), (2, 8, 32, 32), (2, 8, 10, 32)),
            "Weights say how much each token takes from each token: 32 is a number of features.",
        ),
        Mistake(
            "one set of weights for all heads",
            _shapes((2, 10, 256), (2, 10, 8, 32), (2, 8, 10, 32), (2, 10, 10), (2, 8, 10, 32)),
            "Your weights have no axis for heads: every head has its own.",
        ),
        Mistake(
            "the heads already merged",
            _shapes((2, 10, 256), (2, 10, 8, 32), (2, 8, 10, 32), (2, 8, 10, 10), (2, 10, 256)),
            "Your outputs are merged already, which is for the next page: here each head has its own.",
        ),
    ],
    praise="All heads run in one go because every axis in front of the last two is a batch.",
    hints=(
        "Start with d_k, which is d_model ÷ heads.",
        "The view only splits the last axis in two; transpose(1, 2) swaps tokens and heads.",
        "Weights: for each sentence and each head, queries by keys.",
    ),
    solution="""
shapes = {
    "q": (2, 10, 256),
    "viewed": (2, 10, 8, 32),
    "cut": (2, 8, 10, 32),
    "weights": (2, 8, 10, 10),
    "outputs": (2, 8, 10, 32),
}
""",
)


def _cut(x, num_heads):
    return x.unflatten(-1, (num_heads, -1))  # (b, n, d_model) -> (b, n, h, d_k)


def _split_cases():
    example = golden_example()
    return [
        case((example.x @ example.w_q)[None], 3),
        case(numbers(2, 5, 12), 3),
        case(numbers(3, 4, 8), 4),
        case(numbers(4, 3, 6), 1),
    ]


cut_into_heads = FunctionExercise(
    "8.3",
    "Write split_heads",
    stars=2,
    minutes=6,
    variable="my_split_heads",
    reference=lambda q, num_heads: split_heads(q, num_heads),  # the name that the learner sees
    cases=_split_cases,
    without=["mha_helpers.split_heads"],
    mistakes=[
        *SPLITTING,
        Mistake(
            "transpose too early",
            lambda x, num_heads: x.mT.reshape(len(x), num_heads, x.shape[1], -1),
            "Each head has its own numbers, but mixed between tokens: cut the columns before you swap axes.",
        ),
        Mistake(
            "transpose of batch and tokens",
            lambda x, num_heads: _cut(x, num_heads).transpose(0, 1),
            "You swapped the batch with the tokens: which two axes have to change places?",
        ),
        Mistake(
            "heads before the batch",
            lambda x, num_heads: _cut(x, num_heads).permute(2, 0, 1, 3),
            "The heads stand in front of the batch, (h, b, n, d_k): the batch stays first.",
        ),
        Mistake(
            "batch and heads in one axis",
            lambda x, num_heads: split_heads(x, num_heads).flatten(0, 1),
            "Sentences and heads share one axis here: four axes are asked for, (b, h, n, d_k).",
        ),
        Mistake(
            "heads that overlap",
            lambda x, num_heads: torch.stack(
                [x[..., i : i + x.shape[-1] // num_heads] for i in range(num_heads)], dim=1
            ),
            "Your heads overlap: head i begins at column i. Where does it begin if each is d_k wide?",
        ),
        Mistake(
            "num_heads taken as d_k",
            lambda x, num_heads: _cut(x, x.shape[-1] // num_heads).transpose(1, 2),
            "You have d_k heads of num_heads numbers: swap the two roles.",
        ),
    ],
    praise="Every number is in its place, also where heads and tokens are equally many.",
    hints=(
        "Take the three sizes from q.shape, and work out d_k.",
        "First split the last axis in two: (b, n, d_model) becomes (b, n, h, d_k). Tokens do not move.",
        "Now tokens are axis 1 and heads are axis 2, and they have to change places.",
    ),
    solution="""
def my_split_heads(q, num_heads):
    b, n, d_model = q.shape
    d_k = d_model // num_heads
    cut = q.view(b, n, num_heads, d_k)  # (b, n, d_model) -> (b, n, h, d_k)
    return cut.transpose(1, 2)  # (b, n, h, d_k) -> (b, h, n, d_k)
""",
)


def _corrected(one_head, parameters):
    return {"output of one head": one_head, "parameters": parameters}


two_published_errors = ValueExercise(
    "8.4",
    "Two errors in published examples",
    stars=2,
    minutes=4,
    variable="corrected",
    answer=_corrected((4, 16, 128), 64),
    mistakes=[
        Mistake(
            "all heads for one, W_O left out",
            _corrected((4, 16, 512), 48),
            "Both are the published errors: what is d_k here, and which matrix has the formula forgotten?",
        ),
        Mistake(
            "all heads for one",
            _corrected((4, 16, 512), 64),
            "The parameters are right. 512 is the width of all four heads side by side: how wide is one?",
        ),
        Mistake(
            "W_O left out",
            _corrected((4, 16, 128), 48),
            "The shape is right. 48 = 3 · d_model² is what makes q, k and v: which matrix is missing?",
        ),
        Mistake(
            "one head without W_O",
            _corrected((4, 16, 128), 24),
            "The shape is right. 24 are the three matrices of one head: how many heads, and what comes last?",
        ),
        Mistake(
            "one head with W_O",
            _corrected((4, 16, 128), 40),
            "The shape is right. 40 has W_O and the matrices of one head: how many heads are there?",
        ),
        Mistake(
            "square matrices in each head",
            _corrected((4, 16, 128), 112),
            "The shape is right. 112 takes (4, 4) for each matrix of a head: how wide is one head?",
        ),
        Mistake(
            "W_O counted for each head",
            _corrected((4, 16, 128), 80),
            "The shape is right. 80 is 16 too many: biases, which are not there, or W_O for each head?",
        ),
    ],
    praise="One head is d_k wide, and W_O belongs to the count: 4 · d_model², whatever the number of heads.",
    hints=(
        "Flow chart: the four heads share the 512 columns. How many does one get?",
        "Parameters: three matrices (4, 2) a head, two heads, and W_O (4, 4).",
    ),
    solution="""
corrected = {
    "output of one head": (4, 16, 512 // 4),
    "parameters": 2 * 3 * (4 * 2) + 4 * 4,
}
""",
)


def _compares_all(n, num_heads, d_k):
    def test(split):
        x = torch.arange(float(n * num_heads * d_k)).view(n, num_heads * d_k)
        return torch.equal(split(x, num_heads), split_heads(x, num_heads))

    return test


def _changes_one_token(n, token):
    def test(split):
        x = torch.arange(n * 6.0).view(n, 6)
        changed = x.clone()
        changed[token] += 1
        moved = (split(x, 3) != split(changed, 3)).any(dim=-1)  # (h, n, d_k) -> (h, n)
        return bool((moved == (torch.arange(n) == token)).all())

    return test


def _one_number(place):
    return lambda split: torch.equal(split(_TAGS, 3)[..., place], split_heads(_TAGS, 3)[..., place])


_right_test = _compares_all(4, 3, 2)
_TAGS = torch.arange(24.0).view(4, 6)


catch_the_scramble = FunctionExercise(
    "8.5",
    "Write the test that catches it",
    stars=3,
    minutes=8,
    variable="keeps_tokens_apart",
    reference=_right_test,
    cases=lambda: [case(split) for split in SPLITS],
    mistakes=[
        Mistake(
            "always True",
            lambda split: split(torch.zeros(4, 6), 3).shape == (3, 4, 2),
            "Your test lets every split pass: look at numbers, not at the shape, and at numbers that differ,"
            " with more than one head and more than one token.",
        ),
        Mistake(
            "one head",
            _compares_all(4, 1, 6),
            "Your test cuts into one head, where view alone is right: take two or more.",
        ),
        Mistake(
            "one number a head",
            _compares_all(4, 3, 1),
            "Your test tries heads of one number, where one of the scrambles does not show: take a d_k of 2"
            " or more.",
        ),
        Mistake(
            "upside down",
            lambda split: not _right_test(split),
            "True and False are the wrong way round: True means that the tokens stay apart.",
        ),
        *(
            Mistake(
                f"head {head} alone",
                lambda split, head=head: torch.equal(split(_TAGS, 3)[head], split_heads(_TAGS, 3)[head]),
                f"Your test looks at head {head + 1} alone, and another may be scrambled: compare them all.",
            )
            for head in range(3)
        ),
        *(
            Mistake(
                f"one token changed alone, token {token} of {n}",
                _changes_one_token(n, token),
                "Your test takes one token alone. A split that swaps two others passes: take each in turn.",
            )
            for n in (3, 4, 5, 6)
            for token in range(n)
        ),
        Mistake(
            "compared with view alone",
            lambda split: torch.equal(split(_TAGS, 3), _TAGS.view(3, 4, 2)),
            "Your test says True for view alone and False for the right splits: does your own reshape move"
            " tokens?",
        ),
        Mistake(
            "last number of each head",
            _one_number(-1),
            "One split slips through: the first number of each head comes a token late. Do you look at every"
            " number?",
        ),
        Mistake(
            "first number of each head",
            _one_number(0),
            "One split slips through: the last number of each head comes a token late. Do you look at every"
            " number, and at the rows that should stay?",
        ),
        Mistake(
            "looks at one corner",
            lambda split: torch.equal(split(_TAGS, 3)[0, 0], _TAGS[0, :2]),
            "Your test looks at one corner, which a scramble may leave alone: compare all heads and tokens.",
        ),
        Mistake(
            "turns down everything",
            lambda split: False,
            "Your test says False for every split, for the right ones too.",
        ),
    ],
    praise="With this test in place, no right shape can fool you again.",
    hints=(
        "Make a small matrix whose numbers all differ, with torch.arange. Take 4 tokens and 3 heads.",
        "You know where each number must go: head i, token t, place d holds row t, column i · d_k + d.",
        "Either compare every cell with that rule, or change row after row, and see which rows move.",
    ),
    solution="""
def keeps_tokens_apart(split):
    n, num_heads, d_k = 4, 3, 2
    matrix = torch.arange(24.0).view(n, num_heads * d_k)
    heads = split(matrix, num_heads)  # (n, d_model) -> (h, n, d_k)
    for h in range(num_heads):
        for t in range(n):
            own_columns = matrix[t, h * d_k : (h + 1) * d_k]
            if not torch.equal(heads[h, t], own_columns):
                return False
    return True
""",
)

what_heads_are = ChoiceExercise(
    "8.6",
    "What may you say of heads?",
    stars=1,
    minutes=3,
    variable="true_sentences",
    answer=frozenset({"b", "d"}),
    also_right=[("b", "d"), ("d", "b"), "bd", "db", "b, d"],
    wrong={
        frozenset(): "Two of the four follow from how heads are computed.",
        frozenset({"b"}): "b is true. One more is: does a head ever see what another one computes?",
        frozenset({"d"}): "d is true. One more is: look again at the smallest angle of heads 1 and 2.",
        frozenset({"b", "c"}): "b is true. For c: who gives a task to a head of random numbers?",
        frozenset({"a", "d"}): "d is true. For a, look again at the smallest angle of heads 1 and 2.",
        frozenset({"a", "b", "d"}): "a and b contradict each other: look again at the angles measured above.",
        frozenset({"b", "c", "d"}): "b and d are true. In the golden example c holds because it was built so:"
        " who gives a task to a head that starts from random numbers?",
        frozenset({"c", "d"}): "d is true. For c: who gives a task to a head of random numbers?",
        frozenset({"a", "b", "c", "d"}): "Not all: a and b contradict each other.",
    },
    otherwise="Take the sentences one by one: which does the formula promise, for any numbers?",
    praise="Nothing in the formula keeps heads at right angles, and nothing gives a head its task.",
    hints=(
        "The angles were measured above: 0° for heads 1 and 2 of the example, 90° for heads 1 and 3.",
        "The names of the three heads come from how the example was built. Random numbers have no names.",
        "Scores, softmax and weighted sum work on the last two axes, for each head alone.",
    ),
    solution="""
true_sentences = {"b", "d"}
""",
)
