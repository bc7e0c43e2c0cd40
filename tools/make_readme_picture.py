"""Draw the picture at the top of README.md: the whole explorer with eight heads.

python tools/make_readme_picture.py
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "pictures" / "attention_explorer.png"
SENTENCE = "the old fisherman tells the children a story about the sea while the boats come home"


def main():
    sys.path.insert(0, str(ROOT))
    from mha_helpers import attention_explorer

    panel = attention_explorer(SENTENCE, d_k=8, heads=8, mask="causal")
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(panel.png())
    print(f"{PICTURE.relative_to(ROOT)}: {panel.description()}")


if __name__ == "__main__":
    main()
