"""The explorer of page 03 shows the scores of plain torch and the products that each of them adds up."""

import pytest
import torch

from mha_helpers.pages.p03_qk_scores import scores_explorer
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


def test_a_click_chooses_query_and_key_and_the_words_tell_their_sum():
    panel = scores_explorer()
    panel.click(0, 2, 3)
    assert panel.state()["chosen"] == (2, 3)
    assert (
        "Above zero are 6 of the 16 products, below zero 10; their sum, the score, is −2.9."
        in panel.description()
    )


def test_best_scores_that_tie_are_counted():
    panel = scores_explorer()
    assert "“cat” with 16, 13.7 more than the next" in panel.description()
    panel.set(d_k=1)
    assert "Best score in the row of “sat”: 3 words tie with 4." in panel.description()
