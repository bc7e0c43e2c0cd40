"""The three named heads of "cat eats fish", to be pointed at: the first picture of the course, on page 00."""

from mha_helpers.golden import golden_example
from mha_helpers.panel import Explorer, IndexMenu, Panel
from mha_helpers.style import head_label, number

EXAMPLE = golden_example()
TRACE = EXAMPLE.trace()


def cat_eats_fish_heads():
    """Return a ``Panel`` with the weights of the golden example. Used in notebook 00.

    ``state()`` holds the weights ``(h, n, n)`` and the chosen cell.

    >>> panel = cat_eats_fish_heads()
    >>> panel.click(0, 1, 0)
    >>> panel.description().splitlines()[0]
    'Head 1: who acts. “eats” gives “cat” 0.919 of its attention, “eats” 0.027, “fish” 0.054.'
    """
    return Panel(explorer=ThreeHeadsExplorer())


class ThreeHeadsExplorer(Explorer):
    title, height = "Three heads look at “cat eats fish”", 310
    more = ("head", "query", "key")

    def controls(self):
        return {
            "head": IndexMenu("head", names=EXAMPLE.head_names),
            "query": IndexMenu("query", start=1, names=EXAMPLE.tokens),
            "key": IndexMenu("key", names=EXAMPLE.tokens),
        }

    def compute(self, head, query, key):
        return {"weights": TRACE.weights, "chosen": (head, query, key)}

    def draw(self, drawing, state):
        tokens, (head, row, column) = EXAMPLE.tokens, state["chosen"]
        for i, weights in enumerate(state["weights"]):
            cell, title = (row, column if i == head else None), head_label(i, EXAMPLE.head_names)
            drawing.heatmap((i * 288, 0, 280, 310), weights, tokens, tokens, cell, title=title, index=i)

    def words(self, state):
        head, row, _ = state["chosen"]
        pairs = zip(EXAMPLE.tokens, state["weights"][head, row], strict=True)
        first, *others = (f"“{token}” {number(weight, 3)}" for token, weight in pairs)
        name = head_label(head, EXAMPLE.head_names).capitalize()
        return [
            f"{name}. “{EXAMPLE.tokens[row]}” gives {first} of its attention, {', '.join(others)}.",
            "A row shows where one word looks; its three weights add up to 1.",
        ]
