#!/usr/bin/env bash
# ipywidgets 8.1.9: two linked sliders, one of 0 to 10, one of 0 to 5.
# Guess: linked values are equal; what the second cannot show is refused, or takes the first back with it.
# Seen: 8 on the first, 5 on the second, no error, with link and with dlink: the second cuts to its range (or, being an
# IntSlider, to a whole number), and its own message back is left out while the link is at work. The page shows two
# numbers for one quantity until either is moved again; the other way round, a number that both can show, all is well.
# Who meets it: whoever links “word to look at” of two sentences of unequal length, or a slider with a box of numbers.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile ipywidgets==8.1.9
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

from ipywidgets import FloatSlider, IntSlider, dlink, link

print("ipywidgets", version("ipywidgets"), "traitlets", version("traitlets"))

for join in (link, dlink):
    long, short = IntSlider(value=1, max=10), IntSlider(value=1, max=5)
    join((long, "value"), (short, "value"))
    seen = [(long.value, short.value)]
    for word in (8, 3):
        long.value = word
        seen.append((long.value, short.value))
    print(f"{join.__name__:16} first and second slider at 1, set to 8, set to 3: {seen}")
    assert seen == [(1, 1), (8, 5), (3, 3)]

long, short = IntSlider(value=8, max=10), IntSlider(value=1, max=5)
link((long, "value"), (short, "value"))
print("linked while the first stands at 8:", (long.value, short.value))
assert (long.value, short.value) == (8, 5)

share, whole = FloatSlider(value=0.0, max=1.0), IntSlider(value=0, max=5)
link((share, "value"), (whole, "value"))
share.value = 0.7
print("a FloatSlider at 0.7 linked to an IntSlider:", (share.value, whole.value))
assert (share.value, whole.value) == (0.7, 0)
PY
