"""Which class page 11 takes: the learner's own from page 09, or the course's, with the reason in one line."""

import json

import pytest
import torch

from mha_course.p09_concat_and_output.exercises import the_class
from mha_course.p11_a_real_model import class_of_page_09
from mha_helpers import MultiHeadAttention, causal_mask


def page_09(folder, *cells):
    """A notebook with these code cells, beside which page 11 runs."""
    page = folder / "page_09.ipynb"
    cells = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    page.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": "# text"}, *cells]}))
    return page


def test_page_11_takes_the_class_that_page_09_holds(tmp_path, capsys):
    written = the_class.solution_code.replace("q @ k.transpose(-2, -1) /", "products(q, k) /")
    helper = "!pip list\n%matplotlib inline\n\ndef products(q, k):\n    return q @ k.transpose(-2, -1)\n"
    checked = written + "\nexercises.the_class.check(MyAttention)"
    own = class_of_page_09(page_09(tmp_path, checked, "1 +", helper))
    assert capsys.readouterr().out == "Your class: MyAttention, from page 09.\n"
    assert own.__name__ == "MyAttention"
    attention, course = own(12, 3), MultiHeadAttention(12, 3)
    attention.load_state_dict(course.state_dict())
    x = torch.randn(2, 5, 12)
    assert all(map(torch.allclose, attention(x, causal_mask(5)), course(x, causal_mask(5))))


changed = the_class.solution_code.replace


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (the_class.stub, "page 09 holds no finished MyAttention yet"),
        ("x = 1", "page 09 holds no finished MyAttention yet"),
        (changed("def forward(", "def forward"), "no finished MyAttention yet"),
        (changed("x, mask=None", "x"), "with those that the task, or PyTorch, names.\n"),
        (changed("d_model, num_heads)", "d, h)"), "keyword argument 'd_model'"),
        (changed("if mask is not None", "if True"), "ask `if mask is not None`"),
        (changed("self.w_o = ", "self.last = "), "yours stops here, because it raises"),
        (changed("return self.w_o(concat), weights", "return self.w_o(concat)"), "yours"),
        (changed("~mask", "~nowhere"), "name 'nowhere' is not defined"),
    ],
)
def test_without_a_class_of_ones_own_the_courses_takes_its_place(tmp_path, capsys, cell, reason):
    assert class_of_page_09(page_09(tmp_path, cell)) is MultiHeadAttention
    words = capsys.readouterr().out
    assert words.startswith("The course's class: ") and reason in words and words.count("\n") == 1
