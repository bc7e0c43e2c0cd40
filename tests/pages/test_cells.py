"""Heatmaps read back out of what is drawn: numbers, words, colours and places of cells are those of the state.

It knows nothing of kept drawings, so a picture that has always been wrong is seen, too.
"""

import re
from dataclasses import dataclass, replace
from xml.etree import ElementTree

import pytest
import torch

from mha_helpers import attention_view
from mha_helpers.golden import golden_example
from mha_helpers.masks import causal_mask
from mha_helpers.sentence import HAND_MADE_NAMES
from mha_helpers.style import COLOURS, HEAD_COLOURS, head_label, number
from tests.pages.drawings import explorers

SVG = "{http://www.w3.org/2000/svg}"
WEIGHTS = torch.softmax(torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(0)), dim=-1)
TOKENS = golden_example().tokens
QUERIES, KEYS = ["I", "like", "green", "tea"], ["ich", "mag", "den", "grünen", "Tee", "."]


@dataclass
class Expected:
    """What a heatmap has to show."""

    matrix: torch.Tensor
    rows: list
    columns: list = None  # those of the rows
    title: str = None  # None: a small one, whose name may be cut
    colour: str = COLOURS["positive"]
    axes: tuple = ("query", "key")
    deepest: float = 1.0  # the number that has the deepest colour
    frame: tuple = None  # (row, column)
    mask: torch.Tensor = None  # True = may attend


def of_heads(state):
    """All heads: the chosen one large where there are small ones beside it."""
    rows, names = state.get("tokens", TOKENS), state.get("names")
    heads = [Expected(w, rows, colour=HEAD_COLOURS[i]) for i, w in enumerate(state["weights"])]
    head, *cell = state["chosen"]
    return [replace(heads[head], title=head_label(head, names), frame=cell), *heads]


def of_example(state):
    names = golden_example().head_names
    heads = [replace(each, title=head_label(i, names)) for i, each in enumerate(of_heads(state)[1:])]
    heads[state["chosen"][0]].frame = state["chosen"][1:]
    return heads


def of_steps(state):
    (head, *cell), deepest = state["chosen"], float(state["scores"][0].abs().max())
    steps = {"scores": "score", "scaled": "scaled, masked", "weights": "weight"}
    maps = [
        Expected(state[name][head], state["tokens"], title=title, frame=cell) for name, title in steps.items()
    ]
    maps[0].deepest = maps[1].deepest = deepest
    maps[1].mask = maps[2].mask = state["mask"]
    maps[2].colour = HEAD_COLOURS[head]
    return maps


def of_own(state):
    return [replace(each, rows=QUERIES, columns=KEYS) for each in of_heads(state)]


def of_x(state):
    names = [
        [f"{axis} {i}" for i in range(n)]
        for axis, n in zip(("token", "feature"), state["x"].shape[1:], strict=True)
    ]
    maps = [
        Expected(x, *names, f"sentence {i}", axes=("", ""), deepest=1.8) for i, x in enumerate(state["x"])
    ]
    maps[state["chosen"][0]].frame = state["chosen"][1:]
    return maps


def of_projection(state):
    token, feature, column, role = (state[name] for name in ("token", "feature", "column", "matrix"))
    features, columns, style = (
        golden_example().features,
        ["no. 1", "no. 2"],
        {"deepest": 2.5, "colour": COLOURS[role]},
    )
    title = f"{state['name']}, head {state['head'] + 1}"
    return [
        Expected(state["x"], TOKENS, features, "x", axes=("", ""), deepest=2.5, frame=(token, feature)),
        Expected(state["w"], features, columns, title, axes=("", ""), frame=(feature, column), **style),
        Expected(state["result"], TOKENS, columns, "", axes=("", role), frame=(token, column), **style),
    ]


def of_scores(state):
    title = f"scores of {head_label(state['head'], HAND_MADE_NAMES)}"
    deepest = float(state["scores"].abs().max())
    return [Expected(state["scores"], state["tokens"], title=title, deepest=deepest, frame=state["chosen"])]


def of_first_sentence(state):
    return [
        Expected(
            state["weights"][0],
            list("abcdefghijklmnop"),
            title="weights, sentence 1",
            colour=HEAD_COLOURS[0],
            frame=state["chosen"],
        )
    ]


def of_mask(state):
    head, shared = (
        state["head"],
        {"rows": state["tokens"], "frame": (state["query"], state["key"]), "mask": state["mask"]},
    )
    mask = Expected(
        state["mask"].float(), title=f"mask: {state['name']}", colour=COLOURS["may attend"], **shared
    )
    title = head_label(head, HAND_MADE_NAMES)
    return [mask, Expected(state["weights"], title=title, colour=HEAD_COLOURS[head], **shared)]


def of_values(state):
    head, *cell = state["chosen"]
    title = head_label(head, golden_example().head_names)
    return [Expected(state["weights"], TOKENS, title=title, colour=HEAD_COLOURS[head], frame=cell)]


def of_trained(state):
    head = state["head"]
    title = f"head {head // 4 + 1}.{head % 4 + 1}"
    return [
        Expected(
            state["weights"][head],
            state["tokens"],
            title=title,
            colour=HEAD_COLOURS[head],
            mask=causal_mask(24),
        )
    ]


def of_language(state):
    (layer, head), deepest = state["chosen"], float(state["writes"].abs().max())
    layers, heads = ([str(i) for i in range(count)] for count in state["writes"].shape)
    weights = Expected(
        state["weights"][layer, head],
        state["tokens"],
        title=f"layer {layer}, head {head}",
        colour=HEAD_COLOURS[0],
    )
    writes = {
        "title": "what each writes",
        "axes": ("layer", "head"),
        "deepest": deepest,
        "frame": (layer, head),
    }
    return [weights, Expected(state["writes"], layers, heads, **writes)]


SMALL = {"sentence": "a cat saw a dog", "heads": 3, "d_k": 5, "head": 1, "query": 3}
STEPS = {"sentence": "cat eats the fish", "show": "one head, step by step", "mask": "causal", "query": 2}
PANELS = [  # an explorer, what is set, and what its heatmaps have to show
    ("cat_eats_fish_heads", {"head": 1, "query": 2}, of_example),
    ("attention_explorer", SMALL, of_heads),
    ("attention_explorer", STEPS, of_steps),
    ("own", {}, of_own),
    ("shapes_explorer", {"b": 3, "sentence": 1, "token": 2}, of_x),
    ("projection_explorer", {"matrix": "key", "head": 2, "token": 0, "feature": 3, "column": 1}, of_projection),
    ("scores_explorer", {"query": 3, "key": 0}, of_scores),
    ("scaling_explorer", {"query": 4, "key": 9}, of_first_sentence),
    ("mask_explorer", {"mask": "padding", "sentence": "cat eats [pad]", "head": 1, "query": 2, "key": 0}, of_mask),
    ("values_explorer", {"head": 1, "query": 2, "key": 0}, of_values),
    ("trained_explorer", {"head": 5, "step": 225}, of_trained),
    ("language_explorer", {"layer": 12, "head": 7, "sentence": "The cat eats"}, of_language),
]  # fmt: skip


def px(mark, *names):
    return [float(mark.get(name)) for name in names]


class Map:
    """One heatmap as it is drawn: its cells, and the words beside and above them."""

    def __init__(self, group):
        self.cells, self.texts = {}, list(group.iter(f"{SVG}text"))
        self.colour = next(mark.get("fill") for mark in group.iter(f"{SVG}g") if mark.get("fill"))
        self.frames = [rect for rect in group.iter(f"{SVG}rect") if rect.get("stroke") == COLOURS["lit"]]
        paths = "".join(path.get("d") for path in group.iter(f"{SVG}path"))
        self.hatched = re.findall(r"M([\d.]+) ([\d.]+)l", paths)
        for hit in group.iter(f"{SVG}g"):
            tip, rect = hit.find(f"{SVG}text[@class='tip']"), hit.find(f"{SVG}rect")
            if tip is not None and rect is not None and " → " in (tip.text or ""):
                _, row, column = map(int, hit.get("data-cell", "0,0,0").split(","))
                self.cells[row, column] = (*px(rect, "x", "y", "width", "height"), rect, tip.text)

    def title_and_axes(self):
        """The large words above, those that are turned at the left, and those over the columns."""
        bold = [text for text in self.texts if text.get("font-weight") == "700" and text.get("class") is None]
        title = "".join(text.text for text in bold if text.get("font-size") == "15")
        return [title, *(text.text or "" for text in bold if text.get("font-size") == "13")][:3]

    def words_at(self, left, top, right, bottom):
        """The texts whose middle lies in a box; a text that is turned begins where it is turned about."""
        inside = []
        for text in self.texts:
            if text.get("class") != "tip" and text.get("x"):
                x, y = px(text, "x", "y")
                if left <= x <= right and top <= y - 4 <= bottom:
                    inside.append(text.text)
        return inside


@pytest.fixture(params=PANELS, ids=[f"{name}-{maps.__name__}" for name, _, maps in PANELS])
def pairs(request):
    """Each drawn heatmap with what it has to show."""
    name, values, maps_of = request.param
    if name == "language_explorer":
        pytest.importorskip("gguf")
    panel = attention_view(WEIGHTS, QUERIES, KEYS) if name == "own" else explorers()[name]()
    panel.set(**values)
    root = ElementTree.fromstring(panel.svg())
    drawn = [Map(group) for group in root.iter(f"{SVG}g") if group.get("class") == "map"]
    expected = [replace(each, columns=each.columns or each.rows) for each in maps_of(panel.state())]
    return list(zip(drawn, expected, strict=True))


def test_a_cell_says_its_number_and_whose_it_is(pairs):
    for drawn, expected in pairs:
        assert len(drawn.cells) == expected.matrix.numel()
        for (row, column), (*_, tip) in drawn.cells.items():
            query, key, said = re.fullmatch(r"(.*) → (.*?): (.*)", tip).groups()
            assert (query, key) == (expected.rows[row], expected.columns[column])
            value = float(expected.matrix[row, column])
            hidden = expected.mask is not None and not expected.mask[row, column]
            assert ((said == "masked") == bool(hidden) and said != "may attend") or value == 1
            if said not in ("masked", "may attend"):
                number_said = float(re.match(r"−?\d+(\.\d+)?", said)[0].replace("−", "-"))
                assert number_said == pytest.approx(value, abs=0.051)


def test_cells_stand_in_rows_and_columns_and_their_colour_is_in_proportion_to_the_number(pairs):
    for drawn, expected in pairs:
        for (row, column), (x, y, width, height, rect, tip) in drawn.cells.items():
            first_x, first_y = drawn.cells[row, 0][0], drawn.cells[0, column][1]
            assert x == pytest.approx(first_x + column * width, abs=1.5)
            assert y == pytest.approx(first_y + row * height, abs=1.5)
            value = 0.0 if tip.endswith("masked") else float(expected.matrix[row, column])
            assert float(rect.get("fill-opacity")) == pytest.approx(
                min(abs(value) / expected.deepest, 1), abs=0.011
            )
            if value >= 0.01:
                assert rect.get("fill") or drawn.colour == expected.colour


def test_title_and_axes_say_what_is_shown(pairs):
    for drawn, expected in pairs:
        if expected.title is not None:
            assert drawn.title_and_axes() == [expected.title, *expected.axes]
    lefts = [drawn.cells[0, 0][0] for drawn, expected in pairs if expected.title is not None]
    assert lefts == sorted(lefts)


def test_what_is_written_in_a_cell_is_its_number_and_words_stand_at_their_rows(pairs):
    written = 0
    for drawn, expected in pairs:
        matrix, rows, columns = expected.matrix, expected.rows, expected.columns
        left, top = drawn.cells[0, 0][:2]
        for (row, column), (x, y, width, height, *_) in drawn.cells.items():
            for text in drawn.words_at(x, y, x + width, y + height):
                decimals = len(text.partition(".")[2])
                assert text in ("−∞", number(matrix[row, column], decimals, trim=False))
                written += 1
            beside = {*drawn.words_at(left - 90, y, left - 1, y + height)} & {*rows}
            assert column or not beside or rows[row] in beside
            above = {*drawn.words_at(x, top - 40, x + width, top - 1)} & {*columns}
            assert row or not above or columns[column] in above
    assert written or len(pairs[0][1].rows) > 4


def test_the_frame_is_round_the_chosen_cell_and_hatching_lies_on_hidden_ones(pairs):
    for drawn, expected in pairs:
        frames = [px(frame, "x", "y") for frame in drawn.frames]
        assert frames == [list(drawn.cells[tuple(cell)][:2]) for cell in [expected.frame] if cell]
        words = [text.text for text in drawn.texts if text.get("class") == "rest"]
        assert words == [drawn.cells[tuple(cell)][5] for cell in [expected.frame] if cell]
        hidden = [cell[:4] for cell in drawn.cells.values() if cell[5].endswith("masked")]
        corners = {(round(x), round(y + height)) for x, y, _, height in hidden}
        assert {(round(float(x)), round(float(y))) for x, y in drawn.hatched} == corners
