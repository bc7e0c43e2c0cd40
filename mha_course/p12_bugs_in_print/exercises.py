"""The exercises of page 12: a test to write, and the verdicts of the line-up."""

import itertools

import torch

from mha_course.exercises import TestExercise, ValueExercise, changes
from mha_course.p12_bugs_in_print.explorer import EXPERIMENTS, SUSPECTS, tells_apart


def _head_with(changed, others=1.0):
    """Return a head whose outputs are all ``others`` but for those changed, by their index when flat."""

    def attend(q, k, v):
        outputs = torch.full((*q.shape[:-1], v.shape[-1]), others)
        for index, number in changed.items():
            outputs.view(-1)[index] = number
        return outputs

    return attend


_WRONG_OUTPUTS = [
    (_head_with({}, 0.0), "Outputs of 0 pass: with what is each compared, and how closely?"),
    (_head_with({}, 1.05), "Outputs of 1.05 pass: with what is each compared, and how closely?"),
    (_head_with({}, -1.0), "Outputs of −1 pass: what of each number does your test compare with 1?"),
    (_head_with({}, float("nan")), "Outputs of NaN pass: is NaN ever greater, or smaller, than a number?"),
]


class OnesTest(TestExercise):
    """Says which outputs a test misjudges."""

    def _judge(self, answer):
        return super()._judge(answer) or self._not_ones(answer)

    def _slip(self, test, verdicts, candidate):
        says = self._says(test, _head_with({}))
        if says is False and candidate.is_right and verdicts[0]:
            return "It demands PyTorch's scores: must a head score like that to mix correctly?"
        if says is False and all(self._ones(test, part=2)):
            return "Your test says False where all outputs are 1: what should a mix of ones be?"
        if not candidate.is_right and all(self._ones(test, part=1)):
            return "Your keys are ones, too: are values mixed, or keys?"
        if not candidate.is_right and all(q.shape[-2] * k.shape[-2] == 1 for q, k, _ in self._handed(test)):
            return "Your test hands over a single token: what can its weights be?"
        return self._not_ones(test) or self._accepts(test)

    def _ones(self, test, part):
        """Tell for each call whether a test hands over ones only as its q, k or v."""
        return [torch.is_tensor(each[part]) and bool((each[part] == 1).all()) for each in self._handed(test)]

    def _not_ones(self, test):
        """Say so if a test never hands over values of 1 only."""
        ones = self._ones(test, part=2)
        return None if any(ones) or not ones else "Your values are not 1: what should every token give?"

    def _small_faults(self, test):
        """After the wrong outputs of the list, all are 1 but for a single 2, each in turn."""
        yield from _WRONG_OUTPUTS
        shapes = [torch.Size((*q.shape[:-1], v.shape[-1])) for q, _, v in self._handed(test)]
        smallest = min(shapes, key=torch.Size.numel)
        for number in range(min(smallest.numel(), 200)):
            row = number // smallest[-1] % smallest[-2] + 1
            words = f"Outputs of 1 pass your test although a number of row {row} is 2: is each one looked at?"
            yield _head_with({number: 2.0}), words


test_with_ones = OnesTest(
    "12.1 ★★ · 10 min · A test that needs no reference",
    code="""
def attend(q, k, v):
    scores = attention_scores(q, k)
    weights = torch.softmax(scores, dim=-1)  # without a scale, which no mix needs
    return weighted_values(weights, v)
""",
    right="""
    = attention_scores(q, k) => = attention_scores(q, k) / q.shape[-1] ** 0.5
    a healthy head: ones give 1, up to rounding.
    = attention_scores(q, k) => = -torch.cdist(q, k)
    a head that scores by distance: it mixes, too.
    """,
    wrong="""
    weights, v => weights, F.pad(k, (0, v.shape[-1] - k.shape[-1]))
    keys in place of values: it mixes the keys, whatever the values are.
    scores, dim=-1 => scores, dim=-2
    softmax over the queries: its weights add up to 1 for each key.
    weights, v => torch.cat([weights[..., :-1, :], 2 * weights[..., -1:, :]], -2), v
    last row doubled: only its last output is wrong.
    weights, v => weights, v / 2
    half of everything: its weights add up to 1/2.
    weights, v => torch.cat([2 * weights[..., :-1, :], weights[..., -1:, :]], -2), v
    all but the last row doubled: its last output alone is right, so a single query does not show it.
    return => return F.pad(torch.tensor([1.0, -1.0]), (0, v.shape[-1] - 2)) +
    features shifted up and down: its outputs are wrong, and only the sum of each one's features is right.
    return => return F.pad(torch.tensor([1.0, -1.0]), (0, q.shape[-2] - 2))[:, None] +
    rows shifted up and down: two of its rows are wrong, and only the sum over all queries is right.
    weights, v => weights, torch.cat([v[..., 1:], k[..., :1]], -1)
    last feature of the keys: its last feature mixes keys.
    torch.softmax(scores, dim=-1) => (scores - scores.amax(-1, keepdim=True)).exp()
    softmax without its sum: its weights add up to 1 where one key takes all: a single one, or by huge scores.
    torch.softmax(scores, dim=-1) => scores.exp() / k.shape[-2]
    e to the scores, divided by the number of keys: its weights add up to 1 where all scores are nearly 0.
    torch.softmax(scores, dim=-1) => scores.exp() / scores[..., :1, :].exp().sum(-1, keepdim=True)
    the first row's sum for all rows: equal queries make rows that add up to 1.
    """,
    task="""
    A head may score as it likes, by products or by distances, but it must *mix*: each output is an average of
    the values. Write a test that is handed one head without a mask, `attend(q, k, v)`, and returns True only
    if the weights of the values add up to 1 for each query; ones cannot show more. Make q, k and v yourself,
    with the same number of features in q and k, and let every token give 1.
    """,
    mistakes=changes("""
        torch.randn(5, 4) => torch.zeros(5, 4)
        A wrong axis passes: are your weights uneven, your tolerance tight, each output looked at by itself?
    """),
    praise="The average of ones is 1, whatever the scores: eleven bugs fail, and no reference is needed.",
    hints=[
        "v = torch.ones(…), and q and k random, different from each other.",
        "torch.allclose(output, v, atol=1e-5) looks at each number and leaves room for rounding.",
    ],
    solution="""
def my_test(attend):
    # return True if each output of attend(q, k, v) is an average, else False
    q, k, v = torch.randn(5, 4), torch.randn(5, 4), torch.ones(5, 4)
    return torch.allclose(attend(q, k, v), v, atol=1e-5)
""",
)


class LineUp(ValueExercise):
    """A wrong verdict is answered by an experiment that speaks against it, never by which ones are right."""

    def _judge(self, answer):
        sentence = super()._judge(answer)
        if sentence is None or not isinstance(answer, dict) or SUSPECTS.keys() - answer:
            return sentence
        claims = {name: str(answer[name]).strip(" .'\"“”").lower() for name in SUSPECTS}
        for name, claim in claims.items():
            if claim not in SUSPECTS.values():
                return f"{name} has none of the task's six words: give every suspect one of them."
            if list(claims.values()).count(claim) > 1:
                return f"“{claim}” appears more than once: each word is needed exactly once."
        for name, experiment in itertools.product(claims, EXPERIMENTS):
            if tells_apart(experiment, claims[name], SUSPECTS[name]):
                verdict = "healthy" if claims[name] == "healthy" else f"guilty in its {claims[name]}"
                return f"Your list makes {name} {verdict}: is that what “{experiment}” shows?"


line_up = LineUp(
    "12.2 ★★★ · 20 min · Name the bug of each suspect",
    task="""
    For each suspect write where its bug is: "mask", "scale", "softmax", "values", "heads", or
    "healthy". Each word is needed once. A wrong list gets you an experiment to look at again.
    """,
    stub='my_verdicts = {"A": ..., "B": ..., "C": ..., "D": ..., "E": ..., "F": ...}',
    praise="Six suspects, five experiments, no line of code: you can debug somebody else's attention.",
    hints=[
        "One experiment clears the healthy one at once.",
        "Shuffling accuses only the heads; a growing d_k, only the scale.",
        "Two fail when every word gives 1; the last word tells these two apart.",
    ],
    solution="""
my_verdicts = {"A": "values", "B": "mask", "C": "healthy", "D": "softmax", "E": "heads", "F": "scale"}
""",
)
