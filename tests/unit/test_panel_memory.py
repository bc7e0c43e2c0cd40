"""What memory keeps of panels, and that one panel leaves the others alone."""

import contextlib
import ctypes
import gc
import os
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace

import ipywidgets as widgets
import matplotlib
import matplotlib.text
import pytest
from matplotlib.figure import Figure
from sample_panel import make_panel

from mha_helpers import panel as panel_module
from mha_helpers.renderer import LAYOUTS_KEPT

pytestmark = pytest.mark.usefixtures("warnings_are_errors")


def kept_alive():
    """Count the objects that live, the figures among them, and the megabytes of this process (on Linux).

    Pages of files, such as PyTorch's libraries, are left out: the system takes and returns them as it likes.
    """
    # Before 3.11, matplotlib remembers the sizes of the last 4096 texts: no leak, but it grows for a while.
    sizes_of_texts = getattr(matplotlib.text, "_get_text_metrics_with_cache_impl", None)
    if hasattr(sizes_of_texts, "cache_clear"):
        sizes_of_texts.cache_clear()
    gc.collect()
    objects = gc.get_objects()
    figures = sum(type(thing) is Figure for thing in objects)
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return len(objects), figures, 0
    with contextlib.suppress(AttributeError):  # only glibc has it: what is free goes back to the system
        ctypes.CDLL(None).malloc_trim(0)
    resident, of_files = map(int, statm.read_text().split()[1:3])
    return len(objects), figures, (resident - of_files) * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_a_thousand_updates_over_changing_layouts_leave_memory_where_it_was():
    made = make_panel()

    def drive(updates):
        for i in range(updates):  # a new layout every ten updates
            made.set(n=1 + (i // 10) % (LAYOUTS_KEPT + 3), shift=i % 9)

    drive(300)
    objects, figures, megabytes = kept_alive()
    drive(1000)
    objects_now, figures_now, megabytes_now = kept_alive()
    assert figures_now <= figures
    assert objects_now < objects + 1000, "objects pile up"
    assert megabytes_now < megabytes + 60  # the pixels of a hundred layouts would be 100
    assert len(made._renderer._drawn) == LAYOUTS_KEPT
    made.close()
    assert kept_alive()[1] <= figures_now - LAYOUTS_KEPT


def test_two_panels_do_not_disturb_each_other():
    one, two = make_panel(), make_panel()
    picture = two.png()
    one.set(n=6, shift=3.0)
    assert two.png() == picture and two.controls["n"].value == 3
    one.close()
    two.controls["shift"].value = 1.0
    assert two.png() != picture


def registered():
    from ipywidgets.widgets import widget

    return len(getattr(widget, "_instances", None) or widgets.Widget.widgets)


def test_close_releases_every_widget_and_lets_the_panel_be_collected():
    before = registered()
    made = make_panel()
    assert registered() > before
    remembered = weakref.ref(made)
    made.close()
    made.close()
    assert registered() == before
    assert repr(made) == "Panel: A <panel>"
    del made
    gc.collect()
    assert remembered() is None


def test_a_cell_that_runs_again_closes_the_panels_of_its_last_run(monkeypatch):
    running = [("cell 1", "run 1")]
    monkeypatch.setattr(panel_module, "_running_cell", lambda: running[0])
    monkeypatch.setattr(panel_module, "_panels_by_cell", {})
    first, second = make_panel(), make_panel()  # two in one run: both live
    running[0] = ("cell 2", "run 2")
    other = make_panel()
    assert not (first._closed or second._closed or other._closed)
    running[0] = ("cell 1", "run 3")
    third = make_panel()
    assert first._closed and second._closed
    assert not (other._closed or third._closed)
    running[0] = (None, None)  # a front end that does not tell: nothing is closed
    make_panel()
    assert not third._closed


def test_the_running_cell_is_what_the_kernel_says(monkeypatch):
    request = {"metadata": {"cellId": "cell 1"}, "header": {"msg_id": "run 1"}}
    kernel = SimpleNamespace(get_parent=lambda channel: request if channel == "shell" else {})
    shell = SimpleNamespace(kernel=kernel)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert panel_module._running_cell() == ("cell 1", "run 1")
    request["metadata"] = {}  # Colab tells no cell
    assert panel_module._running_cell() == (None, None)
    shell.kernel = SimpleNamespace()  # an old kernel has no get_parent
    assert panel_module._running_cell() == (None, None)
    del shell.kernel
    assert panel_module._running_cell() == (None, None)
