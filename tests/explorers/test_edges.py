"""No explorer's picture loses a letter at its edge: the outermost pixels are white."""

import io

import numpy as np
import pytest
from PIL import Image

import mha_helpers

EXPLORERS = sorted(
    name
    for name in mha_helpers.__all__
    if name.endswith("_explorer") and name != "real_model_explorer"  # it needs a model
)


@pytest.mark.parametrize("name", EXPLORERS)
def test_nothing_is_cut_at_the_edge_of_the_picture(name):
    panel = getattr(mha_helpers, name)()
    try:
        image = np.asarray(Image.open(io.BytesIO(panel.png())).convert("RGB"))
        edges = {"top": image[0], "bottom": image[-1], "left": image[:, 0], "right": image[:, -1]}
        assert not [side for side, pixels in edges.items() if (pixels <= 240).any()]
    finally:
        panel.close()
