"""The explorer of page 03 shows the scores of plain torch and the products that each of them adds up."""

import re

import pytest
import torch

from mha_course.p03_qk_scores import scores_explorer
from mha_helpers.sentence import hand_made_heads, sentence_vectors
from tools.notebook import ROOT
from tools.page import Page


@pytest.mark.parametrize("head", range(4))
@pytest.mark.parametrize("d_k", [1, 5, 16])
def test_scores_are_queries_times_keys_and_the_products_add_up_to_one_of_them(head, d_k):
    panel = scores_explorer()
    panel.set(sentence="a dog saw a bird", head=head, d_k=d_k, query=3, key=1)
    _, x = sentence_vectors("a dog saw a bird")
    w_q, w_k, _, _ = hand_made_heads(4, d_k)
    scores = (x @ w_q[head]) @ (x @ w_k[head]).T
    torch.testing.assert_close(panel.state()["scores"], scores)
    torch.testing.assert_close(panel.state()["products"].sum(), scores[3, 1])


def test_the_page_says_how_far_the_best_score_leads():
    text = Page(ROOT / "notebooks" / "03_qk_scores.ipynb").text
    said = re.search(
        r"leads by ([\d.]+) at (2), by ([\d.]+) at (16); .* from ([\d.]+) at (5) to ([\d.]+) at (6)", text
    )
    panel, numbers = scores_explorer(), iter(said.groups())
    for lead, d_k in zip(numbers, numbers, strict=True):
        panel.set(d_k=int(d_k))
        first, second = panel.state()["scores"][2].topk(2).values
        assert f"{first - second:.1f}" == lead, d_k
