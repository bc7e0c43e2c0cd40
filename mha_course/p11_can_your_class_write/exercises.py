"""The exercises of page 11: a layer for the class of page 09, five broken lines, a head that moves a name."""

import torch

from mha_course.exercises import FunctionExercise, ValueExercise, case, changes, compare, numbers


def _random_state(num_heads, key_heads, d_k):
    """Return a dict with the names of a GGUF file and random numbers, for twelve layers."""
    d_model, shared = num_heads * d_k, key_heads * d_k
    sizes = {"attn_q": (d_model, d_model), "attn_k": (shared, d_model), "attn_v": (shared, d_model)}
    sizes |= {"attn_output": (d_model, d_model), "attn_norm": (d_model,), "ffn_norm": (d_model,)}
    sizes |= {"ffn_gate": (3 * d_model, d_model), "ffn_down": (d_model, 3 * d_model)}
    state = {}
    for layer in range(12):
        for name, size in sizes.items():
            state[f"blk.{layer}.{name}.weight"] = numbers(*size, seed=len(state))
    return state


class Loading(FunctionExercise):
    """An exercise whose result is a dict of tensors out of a state dict, and of no others but biases of 0."""

    def _broken_rule(self, answer, cases, outcomes):
        for each, outcome in zip(cases, outcomes, strict=True):
            asked = self.reference(*each.args)
            biases = {name.replace("weight", "bias"): torch.zeros(len(asked[name])) for name in asked}
            new = {name: tensor for name, tensor in outcome.value.items() if name not in asked}
            if new and (new.keys() != biases.keys() or compare.difference(new, biases)):
                return f"there is “{next(iter(new))}”, too: `load_state_dict` refuses what is new."
        return None

    def _words(self, answer, cases, outcomes, first, difference):
        """Say of the first wrong tensor under which name it stands in the file."""
        (state, *rest), got = cases[first].args, outcomes[first].value
        rights = self.reference(state, *rest).items() if isinstance(got, dict) else ()
        wrong = [ours for ours, right in rights if ours in got and compare.difference(got[ours], right)]
        for name, tensor in state.items() if wrong else ():
            if not compare.difference(got[wrong[0]], tensor):
                if name == f"blk.{rest[0]}.attn_{wrong[0][2]}.weight":
                    return f"“{wrong[0]}” has the rows of the key heads alone: how many heads share each?"
                return f"For layer {rest[0]}, “{wrong[0]}” holds {name}: is that the tensor it needs?"
        return super()._words(answer, cases, outcomes, first, difference)


load_a_layer = Loading(
    "11.1 ★★ · 8 min · Load a layer",
    cases=lambda: [
        case(_random_state(4, 4, 5), 5, 4, label="with as many heads of keys as of queries"),
        case(_random_state(6, 2, 3), 1, 6, label="with three heads that share their keys"),
        case(_random_state(2, 1, 1), 0, 2, label="with one key head, and d_k = 1"),
    ],
    task="""
    Your class from page 09, made without biases, can hold the matrices of this model if each key head is
    written out for all heads that share it. `state` is the file's dict: layer 3 has
    `blk.3.attn_q.weight`, and likewise for `k`, `v` and `output`. Return a dict with `w_q.weight`,
    `w_k.weight`, `w_v.weight` and `w_o.weight`, each (d_model, d_model). File and class store (out, in).
    """,
    mistakes=changes("""
        .repeat_interleave(num_heads // len(heads), dim=0) => .repeat(num_heads // len(heads), 1, 1)
        The key heads are repeated in turn, 1, 2, 1, 2: heads that share one stand side by side.
        heads.repeat_interleave => heads.flatten(0, 1).unflatten(0, (-1, 1)).repeat_interleave
        // len(heads) => * d_k // (len(heads) * d_k)
        Each row is repeated by itself: how many rows belong to one head?
        num_heads // len(heads) => 3
        Each key head is written out three times, whatever the model: how many heads share one here?
    """),
    praise="The class of page 09 holds the matrices of a language model, with keys written out three times.",
    hints=[
        "The names differ only in the middle: blk.3.attn_q.weight, …attn_k…, …attn_v…, …attn_output….",
        "d_k = d_model // num_heads rows of w_k belong to one key head: unflatten(0, (-1, d_k)).",
        "repeat_interleave(3, dim=0) turns 1, 2 into 1, 1, 1, 2, 2, 2. Then flatten(0, 1).",
    ],
    solution="""
def my_layer(state, layer, num_heads):
    # a dict of four tensors, each (d_model, d_model)
    names = {"w_q": "attn_q", "w_k": "attn_k", "w_v": "attn_v", "w_o": "attn_output"}
    weights = {f"{ours}.weight": state[f"blk.{layer}.{theirs}.weight"] for ours, theirs in names.items()}
    d_k = len(weights["w_q.weight"]) // num_heads
    for name in ("w_k.weight", "w_v.weight"):
        heads = weights[name].unflatten(0, (-1, d_k))  # (key heads, d_k, d_model)
        weights[name] = heads.repeat_interleave(num_heads // len(heads), dim=0).flatten(0, 1)
    return weights
""",
)

broken_lines = ValueExercise(
    "11.2 ★★★ · 25 min · Which line is broken?",
    task="""
    `suspects` holds five classes, "A" to "E", each with one broken line that is not in the table above.
    Put them into the model, measure, and read. Or build one small layer, `suspects["A"](12, 3, 1)`,
    and change one word of a random x: which rows move? Choose from `"one_ahead"` (a word sees the next one),
    `"window"` (it sees the last four), `"no_first"` (it never sees the first), `"d_k"` (÷ d_k), `"keys_only"`
    (queries are not rotated), `"no_mask"`, `"no_w_o"`.
    """,
    page_code="from mha_course.p11_can_your_class_write.broken import suspects",
    mistakes=[
        ({"C": "no_w_o"}, "C: without W_O the output would stay the same with zeros in w_o. Does it?"),
        ({"D": "no_w_o"}, "D: without W_O the output would stay the same with zeros in w_o. Does it?"),
        ({"A": ...}, "A: change the last word of six. Which earlier rows move?"),
        ({"B": ...}, "B: change the third word of eight, then the sixth. Which of them moves the last row?"),
        ({"C": ...}, "C: no wrong row moves. Try each remaining fault: whose outputs are these?"),
        ({"D": ...}, "D: no wrong row moves. Try each remaining fault: whose outputs are these?"),
        ({"E": ...}, "E: change the first word of eight, then the second. Which of them moves later rows?"),
    ],
    praise="Change one thing, see what moves: that needs no trained model, and no error message.",
    hints=[
        "x = torch.randn(1, 8, 12); change x[0, 0] in a copy, and compare the two outputs row by row.",
        "In two of the five the right rows move: compare them with classes of your own.",
        "layer.load_state_dict(other.state_dict()) gives two layers the same weights.",
    ],
    solution="""
broken = {"A": "one_ahead", "B": "window", "C": "d_k", "D": "keys_only", "E": "no_first"}
""",
)


def _without_another(left, right):
    if not right.dim() and (abs(left - torch.tensor([0.725, 0.831, 0.873, 0.978])) < 0.006).any():
        return "is what another of the five leaves: is it measured without the head you name?"


moves_the_name = ValueExercise(
    "11.3 ★★ · 9 min · Which head moves the name?",
    right={"probability": (1, 5), "left": 0.65, "lead": (23, 3), "raises": (24, 4)},
    decimals=2,
    describe=_without_another,
    task="""
    “When Mary and John went to the store, John gave a drink to”: take the probability of “ Mary”, and its
    *lead*, its logit minus that of “ John”. Switch off the heads (1, 5), (20, 0), (23, 3), (24, 4) and
    (29, 1), layer and head counted from 0, one at a time, with `heads_off`. Which lowers the probability
    most, and what is left? Which lowers the lead most? And which raises both?
    """,
    stub="""
moved = {
    "probability": ...,  # the (layer, head) that lowers it most
    "left": ...,  # the probability without that head
    "lead": ...,  # the (layer, head) that lowers the lead most
    "raises": ...,  # (layer, head)
}
""",
    page_code="from mha_course.models import heads_off, load_language_model",
    mistakes=[
        ({"probability": (5, 1)}, "“probability”: layer comes first, then head."),
        ({"probability": (2, 6)}, "“probability”: layers and heads are counted from 0."),
        ({"probability": ...}, "“probability” is not that head: which of the five leaves the least?"),
        ({"left": 0.92}, "“left” is the probability with all heads: is yours taken inside the `with`?"),
        ({"left": 0.27}, "“left” asks how much is left, but you give how much is lost."),
        ({"left": 0.71}, "“left” is compared with the probability before: the task asks for it as it is."),
        ({"left": 3.94}, "“left” is a lead, between two logits: which step makes a probability?"),
        ({"lead": ...}, "“lead” is not that head: take the logit of “ Mary” minus that of “ John”."),
        ({"raises": ...}, "“raises” is not that head: is the name likelier without it than with all heads?"),
    ],
    praise="Two measures name two heads: a share depends on every other token, a lead on one. See deeper/11.",
    hints=[
        "ids = model.encode(sentence); the last row of model(ids) has the logits of the next word.",
        'model.encode(" Mary")[0] is the number of the name, with the space in front of it.',
        "with heads_off(model, (1, 5)): compute the row again inside; softmax gives the probability.",
    ],
    solution="""
model = load_language_model()
ids = model.encode("When Mary and John went to the store, John gave a drink to")
mary, john = model.encode(" Mary")[0], model.encode(" John")[0]
left, lead = {}, {}
for head in [(1, 5), (20, 0), (23, 3), (24, 4), (29, 1)]:
    with torch.no_grad(), heads_off(model, head):
        logits = model(ids)[-1]
    left[head] = logits.softmax(dim=-1)[mary].item()
    lead[head] = (logits[mary] - logits[john]).item()
lowest = min(left, key=left.get)
raises = max(left, key=left.get)
moved = {"probability": lowest, "left": left[lowest], "lead": min(lead, key=lead.get), "raises": raises}
""",
)
