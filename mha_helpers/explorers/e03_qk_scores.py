"""Notebook 03: the scores of every head, and the products behind one of them."""

import ipywidgets as widgets
import matplotlib
from matplotlib.collections import PolyCollection

from mha_helpers import style
from mha_helpers.attention import attention_scores, mask_scores
from mha_helpers.checks import check_choice, check_count
from mha_helpers.examples import head_projections, sentence_vectors
from mha_helpers.figures.cells import add_cells, corners, place_cells
from mha_helpers.figures.words import count, named
from mha_helpers.head_grid import HeadGrid
from mha_helpers.inspector import cell_sum
from mha_helpers.masks import causal_mask
from mha_helpers.panel import Panel
from mha_helpers.placement import text_width

D_MODEL = 32
LARGEST_D_K, MOST_HEADS = 8, 4  # more bars than 8 would be wider than one heatmap
MASKS = ("none", "causal")
SENTENCE = "the cat sat on the mat"
BELOW, AXIS, LONGEST_BAR = 240, 162, 52  # pixels: for all of it, down to the bars' axis, of a bar
LEFT, CELL_WIDTH, CELL_HEIGHT = 96, 46, 23
MARGIN, SENTENCE_POINTS, BOLD = 14, 11.5, 1.15  # bold letters are about so much wider


def scores_explorer(d_k=4, heads=3, mask="none", sentence=SENTENCE):
    """Return a ``Panel`` with the scores of every head, and the products behind one score as bars.

    Controls: d_k, heads, mask (none or causal), head, query and key (the score that is taken apart).
    Used in notebook 03. The projections are untrained.

    ``state()`` holds q and k ``(h, n, d_k)``, scores and masked ``(h, n, n)``, products ``(d_k)`` and
    mask ``(n, n)`` or None.

    Raises ``ValueError`` for a mask that there is not, ``TypeError`` or ``ValueError`` for a number that its
    slider does not have.

    >>> panel = scores_explorer(d_k=4)
    >>> state = panel.state()
    >>> state["scores"].shape, state["products"].shape
    (torch.Size([3, 6, 6]), torch.Size([4]))
    """
    check_count("d_k", d_k, largest=LARGEST_D_K)
    check_count("heads", heads, largest=MOST_HEADS)
    check_choice("mask", mask, MASKS)
    tokens, x = sentence_vectors(sentence, D_MODEL)
    places = [(f"{place + 1} {style.short(token)}", place) for place, token in enumerate(tokens)]
    controls = {
        "d_k": widgets.IntSlider(d_k, 1, LARGEST_D_K, description="d_k"),
        "heads": widgets.IntSlider(heads, 1, MOST_HEADS, description="heads"),
        "mask": widgets.Dropdown(options=MASKS, value=mask, description="mask"),
        "head": widgets.IntSlider(1, 1, heads, description="look at: head"),
        "query": widgets.SelectionSlider(options=places, value=min(2, len(tokens) - 1), description="query"),
        "key": widgets.SelectionSlider(options=places, value=len(tokens) - 1, description="key"),
    }

    def compute(d_k, heads, mask, head, query, key):
        w_q, w_k, _ = head_projections(D_MODEL, heads, d_k)
        q, k = x @ w_q, x @ w_k  # (n, d_model) @ (h, d_model, d_k) -> (h, n, d_k)
        scores = attention_scores(q, k)
        allowed = causal_mask(len(tokens)) if mask == "causal" else None
        head = min(head, heads) - 1
        return {
            "tokens": tokens,
            "q": q,
            "k": k,
            "scores": scores,
            "mask": allowed,
            "masked": scores if allowed is None else mask_scores(scores, allowed),
            "products": q[head, query] * k[head, key],
            "selected": (query, key),
            "selected_head": head,
        }

    return Panel(
        controls,
        compute,
        ScoresPicture(),
        describe,
        title="Scores: every query with every key. The projections are untrained.",
        rows=[["d_k", "heads", "mask"], ["head", "query", "key"]],
        adjust=adjust,
    )


def adjust(controls, values):
    """Offer only the heads there are."""
    controls["head"].max = values["heads"]


class ScoresPicture(HeadGrid):
    """Heatmaps of the scores; below them the query, the key and their products, feature by feature."""

    def __init__(self):
        super().__init__("scores", kind="scores", below=BELOW)

    def least_width(self, state):
        longest = text_width(tuple(_labels(state)), SENTENCE_POINTS)
        words = text_width((_sentence(MOST_HEADS, "", "", "−00.00"),), SENTENCE_POINTS)
        return MARGIN + max(LEFT + LARGEST_D_K * CELL_WIDTH, MARGIN + round(BOLD * (words + 2 * longest)))

    def draw(self, state):
        figure, artists = super().draw(state)
        width, height = (round(size * style.SCREEN_DPI) for size in figure.get_size_inches())
        with style.drawing():
            ax = figure.add_axes((0, 0, 1, BELOW / height))
            ax.set(xlim=(0, width), ylim=(BELOW, 0))
            ax.axis("off")
            bars = PolyCollection([], edgecolors=style.COLOURS["ink"], linewidths=0.8)
            ax.add_collection(bars, autolim=False)
            boxes, words = add_cells(ax)
            sentence = ax.text(
                MARGIN, 16, "", fontsize=SENTENCE_POINTS, weight="bold", va="center", parse_math=False
            )
            (axis,) = ax.plot([], [], color=style.COLOURS["ink"])
        return figure, {**artists, "bars": [bars, boxes, words, sentence, axis]}

    def update(self, artists, state):
        super().update(artists, state)
        bars, boxes, words, sentence, axis = artists["bars"]
        head, (query, key) = state["selected_head"], state["selected"]
        labels = _labels(state)
        asks, answers = labels[query], labels[key]
        products = state["products"].tolist()
        axis.set_data([LEFT, LEFT + len(products) * CELL_WIDTH], [AXIS, AXIS])
        score = style.number(sum(products), 2)
        sentence.set_text(_sentence(head + 1, asks, answers, score))
        rows = (("query", state["q"][head, query]), ("key", state["k"][head, key]))
        cells, names = [], []
        for row, (kind, vector) in enumerate(rows):
            top = 34 + row * CELL_HEIGHT
            names.append((kind, LEFT - 8, top + CELL_HEIGHT / 2))
            for d, value in enumerate(vector.tolist()):
                cells.append(
                    (style.number(value, 1, trim=False), style.COLOURS[kind], LEFT + d * CELL_WIDTH, top)
                )
        names.append(("product", LEFT - 8, AXIS))
        # One scale for a head: a length means the same whatever query and key are chosen.
        every_product = state["q"][head][:, None] * state["k"][head][None]  # (n, n, d_k)
        longest = every_product.abs().max().item() or 1.0
        shapes = []
        for d, product in enumerate(products):
            length = LONGEST_BAR * product / longest
            left = LEFT + d * CELL_WIDTH
            shapes.append(corners(left + 8, AXIS, CELL_WIDTH - 16, -length))
            above = -11 if product >= 0 else 11
            names.append((style.number(product, 2), left + CELL_WIDTH / 2, AXIS - length + above, "centre"))
        bars.set_verts(shapes)
        place_cells(boxes, words, cells, CELL_WIDTH, CELL_HEIGHT, names)
        colours = matplotlib.colormaps[style.SCORE_CMAP]  # as in the heatmaps above: what raises the score
        bars.set_facecolor([colours(0.8 if product >= 0 else 0.2) for product in products])


def _labels(state):
    """Return the tokens as they are written in the sentence: by number where no font has the characters."""
    labels, _ = style.display_labels(list(state["tokens"]))
    return [label.replace(r"\$", "$") for label in labels]  # this text is never read as a formula


def _sentence(head, asks, answers, score):
    return f"head {head}: “{asks}” asks, “{answers}” answers: score {score}"


def describe(state):
    """Say what a person would say of the picture."""
    head, (query, key) = state["selected_head"], state["selected"]
    tokens = state["tokens"]
    best = int(state["masked"][head, query].argmax())
    score = state["scores"][head, query, key].item()
    total = cell_sum(state["q"][head, query], state["k"][head, key], decimals=2)
    hidden, masked = "", ""
    if state["mask"] is not None:
        cells = count(state["mask"].numel(), "cell")
        hidden = f" Causal mask: in each head {int((~state['mask']).sum())} of {cells} masked."
        masked = "" if state["mask"][query, key] else " This cell is masked."
    shown = state["masked"][state["masked"].isfinite()]
    lowest, highest = style.number(shown.min()), style.number(shown.max())
    return (
        f"Scores of {count(len(state['scores']), 'head')}, {count(len(tokens), 'token')}, from {lowest} to"
        f" {highest}.{hidden} Head {head + 1}: {named(tokens, query, 'row')} asks,"
        f" {named(tokens, key)} answers with score {style.number(score)}: {total}.{masked}"
        f" The best fit in this row is {named(tokens, best)}."
    )
