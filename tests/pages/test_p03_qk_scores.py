"""The explorer of page 03 shows the scores of plain torch and the products that each of them adds up."""

import pytest
import torch

from mha_course.p03_qk_scores import scores_explorer
from mha_helpers.sentence import hand_made_heads, sentence_vectors


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
