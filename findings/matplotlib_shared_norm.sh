#!/usr/bin/env bash
# matplotlib 3.11.2: one Normalize() handed to the maps of several heads, so that one colour bar serves them all.
# Guess: its limits span all the maps; or each map drawn later widens them.
# Seen: the first map sets them, the others take them over: weights of 0.3, 0.6 and 1 in the second map are all drawn in
# the colour of the first map's 0.2, and the colour bar ends there, without arrows. The order of the maps decides. The
# same with LogNorm, CenteredNorm and pcolormesh. norm.autoscale(all numbers), before or after drawing, puts it right.
# Who meets it: whoever compares heads or layers side by side in one scale: a sharp head looks as even as a blunt one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile matplotlib==3.11.2 numpy==2.4.6
MPLBACKEND=agg "$folder/venv/bin/python" -I - <<'PY'
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import CenteredNorm, LogNorm, Normalize

matplotlib.use("agg")
print("matplotlib", matplotlib.__version__)
blunt = np.array([[0.2, 0.2, 0.2], [0.1, 0.15, 0.2]])
sharp = np.array([[0.3, 0.6, 1.0], [0.05, 0.1, 0.2]])


def colours(norm, maps, draw):
    """The limits after drawing, and how many colours the sharp map's numbers 0.3, 0.6 and 1 have."""
    figure, axes = plt.subplots(1, 2)
    images = [getattr(axis, draw)(numbers, norm=norm) for axis, numbers in zip(axes, maps, strict=True)]
    bar = figure.colorbar(images[0], ax=axes)
    figure.canvas.draw()
    image = next(image for image, numbers in zip(images, maps, strict=True) if numbers is sharp)
    different = len({tuple(image.to_rgba(number)) for number in (0.3, 0.6, 1.0)})
    plt.close(figure)
    return (float(norm.vmin), float(norm.vmax)), different, bar.extend


for draw in ("imshow", "pcolormesh"):
    for make in (Normalize, LogNorm, CenteredNorm):
        limits, different, extend = colours(make(), (blunt, sharp), draw)
        print(f"{draw:10} {make.__name__:12} blunt first: {limits}, colours of 0.3, 0.6 and 1: {different}, {extend}")
        assert limits[1] == 0.2 and different == 1 and extend == "neither"
        limits, different, _ = colours(make(), (sharp, blunt), draw)
        print(f"{draw:10} {make.__name__:12} sharp first: {limits}, colours of 0.3, 0.6 and 1: {different}")
        assert limits[1] == 1 and different == 3

norm = Normalize()
norm.autoscale(np.stack([blunt, sharp]))
limits, different, _ = colours(norm, (blunt, sharp), "imshow")
print("limits of all numbers, blunt first:", limits, "colours:", different)
assert limits == (0.05, 1.0) and different == 3
PY
