"""Lets these tests use what the tests of other pages use, and none reach for the network."""

import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported: the weights come from a package
for folder in ("notebooks", "teaching"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / folder))
