"""Pictures as a page stores them: PNG, because GitHub and an untrusted JupyterLab show nothing else."""

import base64
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
from PIL import Image

BELOW = 26  # pixels of a strip below the picture, with the line that says that it can move
WHOLE = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{svg}\
<text x="8" y="{line}" font-size="13" fill="#555555">Run this cell to move it</text></svg>"""


def as_stored(picture):
    """A picture as PNG in base 64, packed tightly. Pillow leaves out text, time and resolution by itself."""
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return base64.b64encode(file.getvalue()).decode()


def bare_png(stored):
    """The same pixels without what names versions; picture and result are PNG in base 64."""
    png = base64.b64decode(stored)
    with Image.open(io.BytesIO(png)) as picture:
        is_bare = picture.info.keys() <= {"transparency"}  # as one that was stored before
        return base64.b64encode(png).decode() if is_bare else as_stored(picture)


def live_picture(model_id, widgets):
    """The SVG that the widget with this id, or one inside it, shows; None where there is none."""
    state = widgets.get(model_id, {}).get("state", {})
    drawn = re.search(r"<svg\b.*</svg>", str(state.get("value", "")), re.DOTALL)
    if drawn:
        return drawn.group()
    children = [child.removeprefix("IPY_MODEL_") for child in state.get("children", [])]
    return next(filter(None, (live_picture(child, widgets) for child in children)), None)


def pixels(svg, zoom=1):
    """A drawing without the words that only the mouse shows, in the same pixels on every machine."""
    import resvg_py  # here, because the tests with Colab's versions do without it

    seen = re.sub(r'<text class="tip".*?</text>', "", svg, flags=re.DOTALL)
    fonts = {"skip_system_fonts": True, "font_family": "DejaVu Sans"}
    fonts["font_dirs"] = [str(Path(matplotlib.get_data_path()) / "fonts" / "ttf")]
    png = resvg_py.svg_to_bytes(svg_string=seen, zoom=zoom, background="#ffffff", **fonts)
    with Image.open(io.BytesIO(bytes(png))) as picture:
        return picture.convert("RGB")


def stored_picture(svg):
    """A live picture as PNG, twice its size for sharpness, and the metadata of its words and width."""
    root = ElementTree.fromstring(svg)
    width, height = (int(float(root.get(side))) for side in ("width", "height"))
    whole = WHOLE.format(width=width, height=height + BELOW, svg=svg, line=height + 17)
    # 256 colours show all of a drawing, in half the bytes.
    few = pixels(whole, zoom=2).quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    return as_stored(few), {"alt": root.get("aria-label", ""), "width": width}
