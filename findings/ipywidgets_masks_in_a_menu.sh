#!/usr/bin/env bash
# ipywidgets 8.1.9: a Dropdown whose values are arrays.
# Guess: a menu of (label, value) pairs takes any values and knows them by identity or by their place.
# Seen: values are looked up with ==. A menu of two NumPy masks cannot be built: its own first value is "not
# found". And a menu of 1, True shows the label of 1 once True is chosen by value, since they are equal.
# Masks as lists, or keys of a dictionary as values, are the way.
# Who meets it: whoever builds an explorer with a menu of masks.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet ipywidgets==8.1.9 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import ipywidgets
import numpy as np
from traitlets import TraitError

print("ipywidgets", version("ipywidgets"))
causal, everything = np.tril(np.ones((3, 3))), np.ones((3, 3))
try:
    ipywidgets.Dropdown(options=[("causal", causal), ("no mask", everything)])
except TraitError as refusal:
    print("two masks:", refusal)
    assert "value not found" in str(refusal)
else:
    raise AssertionError("a menu of arrays was built")
menu = ipywidgets.Dropdown(options=[("causal", causal.tolist()), ("no mask", everything.tolist())])
menu.value = everything.tolist()
assert menu.label == "no mask"
heads = ipywidgets.Dropdown(options=[("one head", 1), ("all heads", True)])
heads.value = True
print("value True shows:", heads.label)
assert heads.label == "one head"
PY
