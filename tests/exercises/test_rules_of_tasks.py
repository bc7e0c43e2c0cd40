"""Rules that a page's own judge keeps: what a call brings, copies, gradients, what a test hands over."""

import pytest
from test_every_exercise import EXERCISES, made_by

from mha_helpers.exercises.engine import CORRECT

BY_NUMBER = {parameter.values[0].number: parameter.values[0] for parameter in EXERCISES}

CALLED_AND_THROWN_AWAY = """
def my_weights(q, k):
    F.scaled_dot_product_attention(q, k, k)
    return torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, dim=-1)
"""
COPIED_BY_INDEX = """
def my_grouped(q, k, v):
    owner = torch.arange(q.shape[1]) // (q.shape[1] // k.shape[1])
    return torch.softmax(q @ k[:, owner].mT / q.shape[-1] ** 0.5, dim=-1) @ v[:, owner]
"""
COPIED_BY_RESHAPE = """
def my_grouped(q, k, v):
    b, h, n_k = q.shape[0], q.shape[1], k.shape[2]
    k, v = (part[:, :, None].expand(-1, -1, h // k.shape[1], -1, -1) for part in (k, v))
    scores = q @ k.reshape(b, h, n_k, -1).mT / q.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ v.reshape(b, h, n_k, -1)
"""
LAST_ROW_ONLY = """
def my_test(attend):
    q, k, v = torch.randn(5, 4), torch.randn(5, 4), torch.ones(5, 4)
    return torch.allclose(attend(q, k, v)[-1], torch.ones(4), atol=1e-5)
"""
SHAPE_ONLY = """
def my_test(attend):
    return attend(*torch.randn(3, 5, 4)).shape == (5, 4)
"""
SUM_OF_FEATURES = """
def my_test(attend):
    output = attend(*torch.randn(2, 5, 4), torch.ones(5, 4))
    return torch.allclose(output.sum(-1), 4 * torch.ones(5), atol=1e-4)
"""
BETWEEN_0_AND_1 = """
def my_test(attend):
    output = attend(*torch.randn(2, 9, 4), torch.ones(9, 4))
    return bool((output >= 0).all() and (output <= 1.01).all())
"""
ONE_TOKEN = """
def my_test(attend):
    q, k, v = torch.randn(1, 4), torch.randn(1, 4), torch.ones(1, 4)
    return torch.allclose(attend(q, k, v), v, atol=1e-5)
"""
BATCH_OF_HEADS = """
def my_test(attend):
    return torch.allclose(attend(*torch.randn(2, 2, 5, 4), torch.ones(2, 5, 4)), torch.ones(2, 5, 4))
"""
BATCH_TO_SPLIT = """
def my_test(split):
    q = torch.arange(30.0).view(1, 5, 6)
    return torch.equal(split(q, 3), q.view(1, 5, 3, 2).transpose(1, 2))
"""
NUMPY = """
def my_pruned(concat, w_o, num_heads, head):
    keep = [i for i in range(len(w_o)) if i // (len(w_o) // num_heads) != head]
    return concat.numpy()[:, keep], w_o.numpy()[keep]
"""
COURSE = BY_NUMBER["9.2"].solution_code
ATTENDING = "weights = torch.softmax(scores, dim=-1)"


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        ("7.2", CALLED_AND_THROWN_AWAY, "does not come out of that call"),
        ("8.3", BATCH_TO_SPLIT, "your test hands over a tensor of shape (1, 5, 6): q is"),
        ("9.1", NUMPY, "“concat” has the right values, but it is a NumPy array"),
        (
            "9.2",
            COURSE.replace(ATTENDING, f"{ATTENDING}.detach()"),
            "no gradient reaches self.w_q, self.w_k: ",
        ),
        ("9.2", COURSE.replace("(concat), weights", "(concat)"), "2 values are needed: output, weights"),
        (
            "9.3",
            BY_NUMBER["9.3"].solution_code.replace(ATTENDING, f"{ATTENDING}.detach()"),
            "no gradient reaches a part of self.w_qkv: ",
        ),
        ("12.1", SHAPE_ONLY, "says True of all 13. “keys in place of values” is wrong, but passes"),
        ("12.1", SUM_OF_FEATURES, "“features shifted up and down” is wrong, but passes"),
        ("12.1", BETWEEN_0_AND_1, "“half of everything” is wrong, but passes"),
        ("12.1", LAST_ROW_ONLY, "“all but the last row doubled” is wrong, but passes"),
        ("12.1", ONE_TOKEN, "how loose is your limit"),
        ("12.1", BATCH_OF_HEADS, "your test hands over a tensor of shape (2, 5, 4) for q"),
        ("D9.2", COPIED_BY_INDEX, "indexing makes a copy"),
        ("D9.2", COPIED_BY_RESHAPE, "reshape makes a copy"),
    ],
)
def test_a_rule_that_is_not_kept_is_named(number, code, words):
    verdict = BY_NUMBER[number].verdict(made_by(BY_NUMBER[number], code))
    assert verdict.status != CORRECT and words in verdict.sentence


ONE_SIZE_TWICE = """
def my_test(scale):
    scores = torch.randn(4, 4)
    return all(torch.allclose(scale(scores, 16), scores / 4) for _ in range(2))
"""


def test_a_candidate_that_remembers_its_calls_is_new_for_each_check():
    exercise = BY_NUMBER["4.3"]
    assert exercise.verdict(made_by(exercise, exercise.solution_code)).status == CORRECT  # it meets d_k = 4
    verdict = exercise.verdict(made_by(exercise, ONE_SIZE_TWICE))
    assert "“÷ the root of the first d_k that it meets” is wrong, but passes" in verdict.sentence


VALUES_UNDONE = """
def my_weights(q, k):
    basis = torch.randn(k.shape[-2], k.shape[-2]) + 5 * torch.eye(k.shape[-2])
    v = basis.expand(*k.shape[:-1], -1)
    return F.scaled_dot_product_attention(q, k, v) @ torch.linalg.inv(basis)
"""
ONE_KEY_HEAD_AT_A_TIME = """
def my_grouped(q, k, v):
    parts = zip(q.chunk(k.shape[1], dim=1), k.split(1, dim=1), v.split(1, dim=1))
    return torch.cat([torch.softmax(a @ b.mT / a.shape[-1] ** 0.5, dim=-1) @ c for a, b, c in parts], dim=1)
"""
OTHER_ARGUMENTS = COURSE.replace("d_model, num_heads):", "width, heads):").replace(
    "self.num_heads, self.d_k = num_heads, d_model // num_heads",
    "d_model, self.num_heads, self.d_k, self.softmax = width, heads, width // heads, nn.Softmax(dim=-1)",
)


@pytest.mark.parametrize(
    ("number", "code"),
    [("7.2", VALUES_UNDONE), ("9.2", OTHER_ARGUMENTS), ("D9.2", ONE_KEY_HEAD_AT_A_TIME)],
)
def test_every_way_that_keeps_the_rules_is_right(number, code):
    verdict = BY_NUMBER[number].verdict(made_by(BY_NUMBER[number], code))
    assert verdict.status == CORRECT, verdict.sentence
