#!/usr/bin/env bash
# seaborn 0.13.2 (matplotlib 3.11.2): heatmap of causal scores, where a hidden key is -inf.
# Guess: -inf is left white as NaN is, or gets the darkest colour; the other colours span the other scores.
# Seen: the bar ends at -0.1 and 0.1, whatever the scores are: all above are one colour, all below another, without a
# warning. The hidden cells stay white, so the picture looks right. matplotlib's imshow spans the
# finite scores; so does seaborn when -inf is replaced by NaN.
# Who meets it: whoever draws scores after masking and before softmax.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet seaborn==0.13.2 matplotlib==3.11.2 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import warnings
from importlib.metadata import version

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import seaborn

print("seaborn", version("seaborn"), "matplotlib", version("matplotlib"), "numpy", np.__version__)
warnings.simplefilter("error")
scores = np.array([[1.0, -np.inf, -np.inf], [5.0, 2.0, -np.inf], [-4.0, 0.5, 3.0]])
ways = {
    "seaborn": lambda ax: seaborn.heatmap(scores, ax=ax).collections[0],
    "seaborn, NaN": lambda ax: seaborn.heatmap(np.where(np.isinf(scores), np.nan, scores), ax=ax).collections[0],
    "imshow": lambda ax: ax.imshow(scores),
}
for name, draw in ways.items():
    figure, ax = plt.subplots()
    picture = draw(ax)
    figure.canvas.draw()
    ends = tuple(float(end) for end in picture.get_clim())
    visible = picture.to_rgba(scores[np.isfinite(scores)])
    colours = len(np.unique(visible, axis=0))
    print(f"{name}: colours from {ends[0]} to {ends[1]}; 6 different scores in {colours} colours")
    plt.close(figure)
    if name == "seaborn":
        assert ends == (-0.1, 0.1) and colours == 2
    else:
        assert ends == (-4.0, 5.0) and colours == 6
PY
