"""Training to watch: a bar, the accuracy as a curve, the time left. Used in notebook 10."""

import io
import re
import time

import ipywidgets as widgets
import torch
from IPython.display import display

from mha_helpers import style
from mha_helpers.checks import check_count
from mha_helpers.figures.picture import new_figure
from mha_helpers.trained import HELD_OUT_DISTANCES, RUNS, accuracy, checked_distances, repeated_sequences
from mha_helpers.training import new_model, train

WIDTH, HEIGHT = 560, 230  # pixels
REDRAW = 0.5  # seconds


def train_live(distances=RUNS["varying"], steps=1000, seed=1):
    """Train a new ``TinyModel`` while you watch, and return it.

    Interrupt the cell whenever you like: the model is returned as far as it got. With the default
    arguments you repeat the training of the shipped model, seed and all.

    Raises ``ValueError`` if steps is below 1, and what ``repeated_sequences`` raises for its distances.
    """
    check_count("steps", steps)
    distances = checked_distances(distances)  # before anything is shown, and many times to be read
    model, view = new_model(seed), TrainingView(steps)
    test = repeated_sequences(96, HELD_OUT_DISTANCES, seed=99)
    display(view)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # tensors this small wait longer for a second core than it helps
    step = 0
    try:
        for step, on_batch in train(model, distances, steps, seed):
            if view.is_due(step):
                view.show(step, on_batch, accuracy(model, *test))
    except KeyboardInterrupt:
        view.stop(step)
    finally:
        torch.set_num_threads(threads)
    return model.eval()


class TrainingView(widgets.VBox):
    """A progress bar, a line of words and a curve, for a training of ``steps`` steps."""

    _ipython_display_ = None  # see Panel: ipywidgets 7 would keep the constant repr out

    def __init__(self, steps):
        self._steps, self._started, self._shown = steps, time.monotonic(), None
        self.points = []  # (step, accuracy on the last batch, accuracy on held-out distances)
        self.bar = widgets.IntProgress(0, 0, steps, layout=widgets.Layout(width=f"{WIDTH}px"))
        self.words = widgets.HTML("starting")
        self.image = widgets.Image(
            format="png", layout=widgets.Layout(width="max-content", max_width=style.WHOLE_WIDTH)
        )
        with style.drawing():
            self._draw()
        super().__init__([self.bar, self.words, self.image])

    def __repr__(self):
        return "Training"

    def is_due(self, step):
        """Say whether it is time to show something: twice a second, and at both ends."""
        soon = self._shown is not None and time.monotonic() - self._shown < REDRAW
        return step in (0, self._steps) or not soon

    def show(self, step, on_batch, held_out):
        self.points.append((step, on_batch, held_out))
        self.bar.value = step
        elapsed = time.monotonic() - self._started
        left = f"about {elapsed / step * (self._steps - step):.0f} s left" if step else "starting"
        self.words.value = (
            f"Step {step} of {self._steps}, {left}. Next letter right: {on_batch:.0%} of this batch,"
            f" {held_out:.0%} on held-out distances."
        )
        if step == self._steps:
            self.bar.bar_style = "success"
            self.words.value = self.words.value.replace("about 0 s left", f"done in {elapsed:.0f} s")
        self._redraw()
        self._shown = time.monotonic()

    def stop(self, step):
        """Say that the learner stopped it, after so many steps."""
        self.bar.value, self.bar.bar_style = step, "warning"
        shown = re.sub(r", (starting|about \d+ s left)", "", self.words.value) if self.points else ""
        stopped = f"Stopped after step {step}: the model keeps what it learned so far."
        self.words.value = f"{shown} {stopped}".strip()

    def _draw(self):
        self._figure = new_figure(WIDTH, HEIGHT)
        ax = self._figure.add_axes((0.09, 0.22, 0.88, 0.72))
        ax.set(xlim=(0, self._steps), ylim=(-0.03, 1.03), xlabel="training step")
        ax.spines[["top", "right"]].set_visible(False)
        colour = style.COLOURS["output"]
        self._lines = [
            ax.plot([], [], "-", color=style.COLOURS["masked"], linewidth=1, label="this batch")[0],
            ax.plot([], [], "-", color=colour, linewidth=2, label="held-out distances")[0],
        ]
        ax.legend(loc="lower right", frameon=False, fontsize=10, title="next letter right", title_fontsize=10)

    def _redraw(self):
        steps, *values = zip(*self.points, strict=True)
        for line, numbers in zip(self._lines, values, strict=True):
            line.set_data(steps, numbers)
        file = io.BytesIO()
        with style.drawing():
            self._figure.savefig(file, format="png", facecolor="white")
        self.image.value = file.getvalue()
