"""Two callables of other libraries side by side, for notebook deeper/09_other_libraries."""

import textwrap

import ipywidgets as widgets

from mha_course.d09_other_libraries.measured import REFUSALS, answer_of, measured, weights_of
from mha_helpers.panel import Explorer, Panel
from mha_helpers.probing import QUESTIONS

MET = {  # who meets a situation
    "bool mask": "whoever moves a mask from one library to another",
    "integer mask": "whoever hands over a tokenizer's attention_mask as it is",
    "float mask": "whoever multiplies masks instead of combining them by &",
    "additive mask": "whoever builds a mask of 0 and −∞, as most code of language models does",
    "scale": "whoever divides by √d_k themselves as well",
    "empty row": "a batch with an empty sentence, or padding on the left under a causal mask",
    "empty row, −∞": "the same, where masks are added",
    "empty row, lowest": "models that fill masks with torch.finfo(dtype).min",
    "empty row, float16": "the same models in half precision",
    "causal": "every language model",
    "more keys": "whoever writes with a cache of earlier keys",
    "mask and flag": "a language model with padding in its batch",
    "shared heads": "whoever loads a model with grouped queries, as nearly all of today’s are",
    "NaN in a value": "whoever leaves padding uninitialised, as with torch.empty",
    "large scores, bfloat16": "models with large scores, in training and after",
    "softmax, bfloat16": "long texts in half precision, where many small weights add up",
}


def title_of(name):
    """Return a name that fits above a heatmap: its start tells the library, its end how it is called."""
    return name if len(name) <= 46 else f"{name[:14]}…{name[-31:]}"


def libraries_explorer():
    """Return a ``Panel`` with what two libraries do in one situation.

    Used in notebook deeper/09_other_libraries. ``state()`` holds the weights of both as they were measured,
    ``(n_q, n_k)``, None for a refusal, and ``part``: the situations in which their answers differ.

    >>> panel = libraries_explorer()
    >>> panel.set(situation="more keys", right="mlx.nn.MultiHeadAttention")
    >>> panel.state()["weights"][1][0].tolist()
    [0.25, 0.25, 0.25, 0.25, 0.0]
    """
    return Panel(explorer=LibrariesExplorer())


class LibrariesExplorer(Explorer):
    title, height = "What two libraries do", 318
    asks = "a click on a heatmap leads to the next situation in which they part"

    def controls(self):
        names = list(measured())
        start = "nn.MultiheadAttention, weights asked for"
        return {
            "situation": widgets.Dropdown(options=list(QUESTIONS), value="empty row"),
            "left": widgets.Dropdown(options=names, value=names[0]),
            "right": widgets.Dropdown(options=names, value=start),
        }

    def compute(self, situation, left, right):
        part = [name for name in QUESTIONS if answer_of(left, name) != answer_of(right, name)]
        return {"weights": [weights_of(name, situation) for name in (left, right)], "part": part}

    def click(self, values, heatmap, row, column):
        part = [
            name
            for name in self.compute(**values)["part"]
            if {answer_of(values[side], name) for side in ("left", "right")} - REFUSALS  # a heatmap to click
        ]
        here = list(QUESTIONS).index(values["situation"])
        later = [name for name in part if list(QUESTIONS).index(name) > here]
        return {"situation": (later or part or [values["situation"]])[0]}

    def draw(self, drawing, state):
        for index, side in enumerate(("left", "right")):
            x, name, weights = 10 + 430 * index, state[side], state["weights"][index]
            drawing.text(x, 15, title_of(name), 14, bold=True)
            if weights is None:
                answer, said = measured()[name]["answers"][state["situation"]]
                words = f"{answer.capitalize()}: {said}"
                for number, line in enumerate(textwrap.wrap(words, 54)):
                    drawing.text(x, 60 + 22 * number, line, 13, colour="label")
                continue
            n_q, n_k = weights.shape
            rows = [f"query {i}" for i in range(1, n_q + 1)]
            columns = [f"key {i}" for i in range(1, n_k + 1)]
            drawing.heatmap((x, 18, 410, drawing.height - 18), weights, rows, columns, index=index)

    def words(self, state):
        question, both = QUESTIONS[state["situation"]][0], (state["left"], state["right"])
        answers = [answer_of(name, state["situation"]) for name in both]
        alike = "Both" if answers[0] == answers[1] else "Left"
        said = f"{alike}: {answers[0]}." if alike == "Both" else f"Left: {answers[0]}. Right: {answers[1]}."
        count = f"They part in {len(state['part'])} of {len(QUESTIONS)} situations."
        return [f"{question}. {said}", f"Who meets it: {MET[state['situation']]}.", count]
