"""Pictures as a page stores them: PNG, because GitHub and an untrusted JupyterLab show nothing else."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path

import matplotlib
from PIL import Image


def bare_png(png: bytes) -> bytes:
    """The same pixels without text, time and resolution (they name versions), packed tightly."""
    file = io.BytesIO()
    with Image.open(io.BytesIO(png)) as picture:
        bare = Image.frombytes(picture.mode, picture.size, picture.tobytes())
        if picture.mode == "P":
            bare.putpalette(picture.getpalette())
        bare.save(file, "PNG", optimize=True)
    return file.getvalue()


def live_picture(model_id: str, widgets: dict) -> str | None:
    """The SVG that the widget with this id, or one inside it, shows."""
    state = widgets.get(model_id, {}).get("state", {})
    drawn = re.search(r"<svg\b.*</svg>", str(state.get("value", "")), re.DOTALL)
    if drawn:
        return drawn.group()
    children = [child.removeprefix("IPY_MODEL_") for child in state.get("children", [])]
    return next((svg for child in children if (svg := live_picture(child, widgets))), None)


def stored_picture(svg: str) -> tuple[bytes, dict]:
    """A live picture as PNG, twice its size for sharpness, and the metadata to show it at its own size."""
    import resvg_py  # here, because the tests with Colab's versions do without it

    svg = re.sub(r'<text class="tip".*?</text>', "", svg, flags=re.DOTALL)  # words for the mouse
    opening = re.match(r"<svg\b[^>]*>", svg).group()
    width, height = (
        int(float(re.search(rf'\b{s}="([\d.]+)', opening).group(1))) for s in ("width", "height")
    )
    label = re.search(r'aria-label="([^"]*)"', opening)
    # A strip more below the picture, with the line that says that it can move.
    whole = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 26}">'
    line = f'<text x="8" y="{height + 17}" font-size="13" fill="#555555">Run this cell to move it</text>'
    png = resvg_py.svg_to_bytes(
        svg_string=f"{whole}{svg}{line}</svg>",
        zoom=2,
        background="#ffffff",
        skip_system_fonts=True,  # the same bytes on every machine
        font_dirs=[str(Path(matplotlib.get_data_path()) / "fonts" / "ttf")],
        font_family="DejaVu Sans",
        sans_serif_family="DejaVu Sans",
        monospace_family="DejaVu Sans Mono",
        image_rendering="optimize_speed",
    )
    with Image.open(
        io.BytesIO(bytes(png))
    ) as picture:  # of a drawing 256 colours show all, in half the bytes
        file = io.BytesIO()
        picture.convert("RGB").quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
            file, "PNG"
        )
    alt = html.unescape(label.group(1)) if label else ""
    return file.getvalue(), {"alt": alt, "width": width, "height": height + 26}
