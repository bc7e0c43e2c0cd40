"""Make the handout: one page A4 with the whole computation, the mask conventions and five usual bugs.

    python tools/make_handout.py            # dist/handout/handout.pdf and handout.png

Every number and shape on it is computed from "cat eats fish". It says nothing by colour alone, so that a
black-and-white printer loses nothing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from in_a_sentence import in_a_sentence

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402

from mha_helpers import causal_mask, golden_example, padding_mask, style  # noqa: E402

WIDTH, HEIGHT = 210, 297  # millimetres
LEFT, RIGHT = 13, 197
DPI = 150
STEPS = (
    # page, step, code, axes, field of the trace
    ("01", "tokens and positions", "x = words + positions", "(b, n, d_model)", "x"),
    ("02", "project", "q = x @ W_Q,  k = x @ W_K,  v = x @ W_V", "(b, n, h·d_k)", "x"),
    ("08", "split into heads", "q.view(b, n, h, d_k).transpose(1, 2)", "(b, h, n, d_k)", "q"),
    ("03", "scores", "q @ k.transpose(-2, -1)", "(b, h, n, n)", "scores"),
    ("04", "scale", "scores / d_k ** 0.5", "(b, h, n, n)", "scaled"),
    ("05", "mask", "scores.masked_fill(~mask, -inf)", "(b, h, n, n)", "masked"),
    ("06", "weights", "softmax(scores, dim=-1): every row sums to 1", "(b, h, n, n)", "weights"),
    ("07", "weighted values", "weights @ v", "(b, h, n, d_v)", "heads"),
    ("09", "concat", "heads.transpose(1, 2).reshape(b, n, h * d_v)", "(b, n, h·d_v)", "concat"),
    ("09", "mix", "concat @ W_O", "(b, n, d_model)", "output"),
)
SYMBOLS = (
    "b sentences · n tokens · h heads · d_model features a token · d_k numbers a query or key · d_v a value",
    "Usually d_k = d_v = d_model ÷ h. Parameters: 4 · d_model² and 4 · d_model biases, for any h.",
    "Weights to keep: h · n² for each sentence. Rows are queries, columns are keys.",
)
CONVENTIONS = (
    ("where", "True means", "row without any key"),
    ("this course, F.scaled_dot_product_attention", "may attend", "zeros"),
    (
        "nn.MultiheadAttention (attn_mask, key_padding_mask)",
        "may NOT attend",
        "NaN; with need_weights=False zeros",
    ),
    ("torch.softmax of a row of −∞", "–", "NaN"),
)
BUGS = (
    (
        "view without transpose",
        "right shape, heads scrambled",
        "change one token: its row moves in every head, no other",
    ),
    (
        "mask the wrong way round",
        "a wonderful loss, or NaN",
        "first token under a causal mask: weight 1 on itself",
    ),
    (
        "÷ d_k, no scale, ÷ √d_model",
        "too flat or too sharp",
        "spread of scaled random scores: near 1 for every d_k",
    ),
    ("softmax over the wrong axis", "right shape, sums wrong", "without a mask, weights.sum(dim=-1) is 1"),
    (
        "padding hidden in rows",
        "padding is still attended to",
        "columns of padding are exactly 0: mask (b, 1, 1, n)",
    ),
)


class Page:
    """A page in millimetres, y downwards. The place of each text is kept, so that a test can see overlaps."""

    def __init__(self):
        self.figure = Figure(figsize=(WIDTH / 25.4, HEIGHT / 25.4), dpi=DPI, facecolor="white")
        FigureCanvasAgg(self.figure)
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
        self.axes.axis("off")

    def text(self, x, y, words, size=9, **look):
        look = {"va": "center", "color": "black", **look}
        return self.axes.text(x, y, words, fontsize=size, **look)

    def heading(self, y, words):
        self.axes.plot([LEFT, RIGHT], [y + 4.2] * 2, color="black", linewidth=0.8)
        self.text(LEFT, y, words, 11.5, weight="bold")

    def rows(self, y, columns, table, step=5.6, size=8.6, header=False, mono=()):
        """A table; `columns` are the left edges. Returns where it ends."""
        for i, row in enumerate(table):
            for j, (x, words) in enumerate(zip(columns, row, strict=True)):
                bold = "bold" if (header and i == 0) or (not header and j == 0) else "normal"
                look = {"family": "DejaVu Sans Mono"} if j in mono else {}
                self.text(x, y, words, size - 0.6 * (j in mono), weight=bold, **look)
            y += step
        return y

    def cell(self, x, y, width, height, shade, words="", hatch=None):
        """One cell; `shade` from 0, white, to 1, black."""
        look = {"facecolor": str(1 - 0.62 * shade), "edgecolor": "black", "linewidth": 0.5, "hatch": hatch}
        self.axes.add_patch(Rectangle((x, y), width, height, **look))
        ink = "white" if shade > 0.8 else "black"
        self.text(x + width / 2, y + height / 2, words, 8.4, ha="center", color=ink)


def shape(tensor: torch.Tensor) -> str:
    return "(" + ", ".join(str(size) for size in tensor.shape) + ")"


def draw_weights(page: Page, top: float, example, weights: torch.Tensor) -> None:
    """The three heads of "cat eats fish" with their numbers, rows and columns named."""
    for head in range(example.num_heads):
        left = LEFT + 14 + 62 * head
        page.text(
            left + 18, top, f"head {head + 1}: {example.head_names[head]}", 9, ha="center", weight="bold"
        )
        for i, token in enumerate(example.tokens):
            page.text(
                left - 2, top + 6.5 + 6 * i, token, 8.4, ha="right", weight="bold" if i == 1 else "normal"
            )
            page.text(left + 6 + 12 * i, top + 23.6, token, 8.4, ha="center")
            for j in range(len(example.tokens)):
                value = float(weights[head, i, j])
                page.cell(left + 12 * j, top + 3.5 + 6 * i, 12, 6, value, style.number(value, 2, trim=False))


def draw_mask(page: Page, left: float, top: float, title: str, mask: torch.Tensor) -> None:
    """A mask as a small grid: white may attend, hatched may not."""
    page.text(left, top, title, 8.4, weight="bold")
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            page.cell(left + 6 * j, top + 3 + 5 * i, 6, 5, 0, hatch=None if mask[i, j] else "/////")


def handout() -> Page:
    """Draw the page."""
    example = golden_example()
    with torch.no_grad():
        trace = example.attention().trace(example.x)
    page = Page()
    page.text(LEFT, 15, "Multi-head attention on one page", 18, weight="bold")
    page.text(
        LEFT,
        25,
        r"$\mathrm{MultiHead}(x) = \mathrm{Concat}(\mathrm{head}_1, …, \mathrm{head}_h)\, W_O"
        r"\qquad \mathrm{head}_i = \mathrm{softmax}(Q_i K_i^T / \sqrt{d_k})\; V_i$",
        11.5,
    )
    page.heading(36, "The steps, with their shapes")
    columns = (LEFT, LEFT + 9, LEFT + 49, LEFT + 128, LEFT + 160)
    page.rows(44, columns, [("page", "", "code", "shape", "“cat eats fish”")], size=8)
    table = [
        (
            number,
            name,
            code,
            axes,
            shape(getattr(trace, field).squeeze(0) if field == "x" else getattr(trace, field)),
        )
        for number, name, code, axes, field in STEPS
    ]
    end = page.rows(49.8, columns, table, mono=(2, 3, 4))
    for i, words in enumerate(SYMBOLS):
        page.text(LEFT, end + 1.5 + 4.6 * i, words, 8)

    top = end + 19
    page.heading(top, "The weights of “cat eats fish”: rows are queries, columns are keys")
    draw_weights(page, top + 10, example, trace.weights.reshape(3, 3, 3))
    story = (
        "“eats” asks three questions: head 1 answers “cat”, head 2 “fish”, head 3 “cat”, the word before it."
    )
    page.text(LEFT, top + 39, story, 8.4)

    top += 48
    page.heading(top, "Masks: what True means")
    page.rows(top + 9, (LEFT, LEFT + 86, LEFT + 120), CONVENTIONS, header=True)
    draw_mask(page, LEFT, top + 35, "causal: (n, n)", causal_mask(4))
    draw_mask(page, LEFT + 40, top + 35, "padding: (b, 1, 1, n)", padding_mask([3], n=4)[0, 0].expand(4, 4))
    both = causal_mask(4) & padding_mask([3], n=4)[0, 0]
    draw_mask(page, LEFT + 84, top + 35, "both: causal & padding", both)
    page.text(
        LEFT + 128, top + 48,
        "white: True, may attend\nhatched: False, gets −∞\nbefore softmax\n\n"
        "In float16 there is no −1e9:\nuse −∞.",
        8.4, linespacing=1.35,
    )  # fmt: skip

    top += 68
    page.heading(top, "Five usual bugs: none raises an error")
    table = [("bug", "what you see", "the test that finds it"), *BUGS]
    page.rows(top + 9, (LEFT, LEFT + 53, LEFT + 102), table, header=True, size=8.2)
    page.text(
        LEFT, HEIGHT - 9,
        "Vaswani et al. (2017), “Attention Is All You Need”, section 3.2. The numbers on the left are the"
        " pages of the course. Text: CC BY 4.0.", 7.4,
    )  # fmt: skip
    return page


@in_a_sentence
def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=ROOT / "dist" / "handout", help="default: dist/handout")
    options = parser.parse_args(arguments)
    options.to.mkdir(parents=True, exist_ok=True)
    with style.drawing():
        figure = handout().figure
        figure.savefig(options.to / "handout.pdf")
        figure.savefig(options.to / "handout.png", dpi=DPI)
    print(f"One page A4: {options.to / 'handout.pdf'}, and handout.png beside it.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
