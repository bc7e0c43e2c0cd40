#!/usr/bin/env bash
# vit-pytorch 1.26.14: a ViT built for 32 × 32 pixels gets a smaller image, or one of another shape.
# Guess: refused, as the size was fixed when it was built; or the table of positions is cut or stretched as a picture.
# Seen: the image is taken, without a word. Its patches get the first rows of the table in reading order: in an image of
# 16 × 16 the 16 patches (4 × 4) get the places of the first two rows of 8, so the second row of the image stands where
# the right half of the first row was. 64 × 16 and 16 × 64, too: as many patches, in another grid.
# Who meets it: whoever feeds images of another size than the model was made for, or forgets to resize one of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile torch==2.13.0 numpy==2.4.6 einops==0.8.2
"$folder/venv/bin/pip" install --quiet --no-compile --no-deps vit-pytorch==1.26.14
"$folder/venv/bin/python" -I - <<'PY'
import importlib.util
import sysconfig
from importlib.metadata import version

import torch

# Other models of the package import torchvision; the file of this one is read alone.
spec = importlib.util.spec_from_file_location("vit", sysconfig.get_path("purelib") + "/vit_pytorch/vit.py")
vit = importlib.util.module_from_spec(spec)
spec.loader.exec_module(vit)
print("vit-pytorch", version("vit-pytorch"), "torch", torch.__version__)
torch.manual_seed(0)
model = vit.ViT(image_size=32, patch_size=4, num_classes=5, dim=64, depth=1, heads=2, mlp_dim=32).eval()
table = model.pos_embedding.detach().reshape(-1, 64)[1:]  # without the class token's
seen = []
model.dropout.register_forward_hook(lambda layer, args, output: seen.append(output[0, 1:]))


@torch.no_grad()
def places(height, width):
    """For each patch of a black image: the place (row, column) in the grid of 8 × 8 whose embedding it got."""
    seen.clear()
    model(torch.zeros(1, 3, height, width))
    without_place = seen[0][0] - table[0]  # a black patch is the same everywhere
    indices = [int((table - (x - without_place)).abs().sum(-1).argmin()) for x in seen[0]]
    return [divmod(index, 8) for index in indices]


whole, small = places(32, 32), places(16, 16)
print("32 × 32:", len(whole), "patches, the second row of 8 starts at", whole[8])
print("16 × 16:", len(small), "patches, the second row of 4 starts at", small[4])
assert whole == [divmod(i, 8) for i in range(64)] and small == [divmod(i, 8) for i in range(16)]
assert small[4] == (0, 4)
for height, width in ((64, 16), (16, 64)):
    grid = places(height, width)
    print(f"{height} × {width}:", len(grid), "patches, the second row of", width // 4, "starts at", grid[width // 4])
    assert grid == whole
PY
