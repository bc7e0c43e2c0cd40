"""What does one picture of the attention weights cost: kernel time, bytes sent, bytes stored?

    pip install -r benchmarks/requirements.txt
    python benchmarks/picture_cost.py            # the table
    python benchmarks/picture_cost.py --write    # also into README.md
    python benchmarks/picture_cost.py --quick    # 16 and 64 tokens alone

The same random weights of 8 heads go to the course's ``Panel``, to bertviz' ``head_view`` and to
circuitsvis' ``attention_heads``; they take turns. An update is what a moved slider asks for: the Panel
paints new pixels on its figure, the other two write their HTML anew, as they have no update. Bytes sent
are those of one update, bytes stored those of one cell in the saved notebook (for the course, a
``head_heatmaps`` picture with its words). The time the browser then needs is not counted. Of circuitsvis
it is the smaller form, whose script comes from the network; ``offline`` is the form that carries it.
A library that is not installed is left out, with a sentence.
"""

import argparse
import importlib
import json
import statistics
import sys
import time
from pathlib import Path

import ipywidgets as widgets
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.table import report  # noqa: E402
from mha_helpers.figures import head_heatmaps  # noqa: E402
from mha_helpers.head_grid import HeadGrid  # noqa: E402
from mha_helpers.panel import Panel  # noqa: E402

TOKENS = (16, 64, 128, 256, 512)
HEADS = 8
MOST_ROUNDS, FEWEST_ROUNDS = 7, 3
SECONDS = 15  # for each number of tokens, once the fewest rounds are done


def random_weights(n, seed):
    scores = torch.randn(HEADS, n, n, generator=torch.Generator().manual_seed(seed))
    return torch.softmax(2 * scores, dim=-1)


class Course:
    """The course's Panel for updates, its static picture for what is stored."""

    name = "this course"

    def __init__(self, n):
        self.tokens = [f"w{i}" for i in range(n)]
        self.weights = random_weights(n, 0)
        self.panel = Panel(
            {"step": widgets.IntSlider(0, 0, 10_000)},
            lambda step: {"weights": self.weights, "tokens": self.tokens},
            HeadGrid("weights"),
            lambda state: f"{HEADS} heads, {n} tokens.",
        )

    def update(self, weights):
        self.weights = weights
        self.panel.controls["step"].value += 1
        return len(self.panel.png()) + len(self.panel.description())

    def stored(self, weights):
        return written(head_heatmaps(weights, self.tokens)._repr_mimebundle_())

    def close(self):
        self.panel.close()


class Bertviz:
    name = "bertviz"

    def __init__(self, n):
        self.view = importlib.import_module("bertviz").head_view
        self.tokens = [f"w{i}" for i in range(n)]

    def html(self, weights):
        # One layer, one sentence: (1, h, n, n). It changes its list of tokens, so it gets a copy.
        return self.view([weights[None]], list(self.tokens), html_action="return").data

    def update(self, weights):
        return written({"text/html": self.html(weights)})

    stored = update

    def close(self):
        pass


class CircuitsVis(Bertviz):
    name = "circuitsvis"

    def __init__(self, n):
        self.view = importlib.import_module("circuitsvis.attention").attention_heads
        self.tokens = [f"w{i}" for i in range(n)]

    def html(self, weights):
        return self.view(attention=weights, tokens=self.tokens).cdn_src

    def offline(self, weights):
        return written({"text/html": self.view(attention=weights, tokens=self.tokens).local_src})


def written(data):
    """Return how many bytes a notebook file spends on this output."""
    return len(json.dumps(data).encode("utf-8"))


def installed():
    kinds = [Course]
    for kind in (Bertviz, CircuitsVis):
        try:
            importlib.import_module(kind.name)
        except ImportError as error:
            print(f"{kind.name} is left out, because it cannot be imported: {error}.")
        else:
            kinds.append(kind)
    return kinds


def measure(kinds, n):
    """Return ``{name: (seconds, bytes sent, bytes stored)}``, medians over the rounds."""
    peers = [kind(n) for kind in kinds]
    for peer in peers:
        peer.update(random_weights(n, 1))  # the first draws the figure or reads the scripts
    seconds = {peer.name: [] for peer in peers}
    sent = {peer.name: [] for peer in peers}
    begin = time.perf_counter()
    for turn in range(MOST_ROUNDS):
        if turn >= FEWEST_ROUNDS and time.perf_counter() - begin > SECONDS:
            break
        weights = random_weights(n, 2 + turn)
        for peer in peers[turn % len(peers) :] + peers[: turn % len(peers)]:
            start = time.perf_counter()
            count = peer.update(weights)
            seconds[peer.name].append(time.perf_counter() - start)
            sent[peer.name].append(count)
    stored = {peer.name: peer.stored(weights) for peer in peers}
    for peer in peers:
        if isinstance(peer, CircuitsVis):
            print(f"{n} tokens, circuitsvis offline: {size(peer.offline(weights))} in each cell.")
        peer.close()
    median = statistics.median
    return {name: (median(seconds[name]), median(sent[name]), stored[name]) for name in seconds}


def size(count):
    return f"{count / 1e6:.2f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    parser.add_argument("--quick", action="store_true", help="16 and 64 tokens alone")
    arguments = parser.parse_args()
    kinds = installed()
    rows = []
    for n in TOKENS[:2] if arguments.quick else TOKENS:
        results = measure(kinds, n)
        ours = results[Course.name]
        for name, (seconds, sent, stored) in results.items():
            ratios = "" if name == Course.name else f" ({seconds / ours[0]:.1f} ×)"
            larger = "" if name == Course.name else f" ({stored / ours[2]:.1f} ×)"
            cells = (f"{1000 * seconds:.0f} ms{ratios}", size(sent), size(stored) + larger)
            rows.append((n, name, *cells))
            print(*rows[-1], sep="  ", flush=True)  # the largest take a while
    print()
    report(
        "picture_cost",
        (f"tokens ({HEADS} heads)", "", "one update in the kernel", "sent", "stored in a cell"),
        rows,
        arguments.write,
    )


if __name__ == "__main__":
    main()
