"""What heads look at, as numbers; and what happens where something is missing."""

import pytest
import torch

from mha_helpers import real_model
from mha_helpers.real_model import ModelMissing, load_minilm, run_minilm, tendencies

TOKENS = ["[CLS]", "no", "fish", "no", "[SEP]"]


def on(*pairs):
    """Return weights (5, 5) with 1 on each pair of query and key, and on [CLS] for the other queries."""
    weights = torch.zeros(5, 5)
    for query in range(5):
        weights[query, dict(pairs).get(query, 0)] = 1
    return weights


@pytest.mark.parametrize(
    ("name", "weights", "value"),
    [
        ("previous", on((2, 1), (3, 2)), 1),  # the first word has no word before it
        ("previous", on((2, 1)), 0.5),
        ("next", on((1, 2), (2, 3)), 1),
        ("next", on((2, 3)), 0.5),
        ("itself", on((1, 1), (2, 2), (3, 3)), 1),
        ("same word", on((1, 3), (3, 1)), 1),
        ("same word", on((1, 1), (3, 3)), 0),  # itself is not elsewhere
        ("[SEP]", on((1, 4), (2, 4), (3, 4)), 1),
        ("[CLS]", on((1, 1)), 2 / 3),
        ("spread", on(), 1),
        ("spread", torch.full((5, 5), 0.2), 5),
    ],
)
def test_each_tendency_counts_what_it_says(name, weights, value):
    assert tendencies(weights, TOKENS)[name].item() == pytest.approx(value, abs=1e-5)


def test_what_a_sentence_does_not_have_is_no_number():
    found = tendencies(torch.full((3, 3), 1 / 3), ["[CLS]", "no", "[SEP]"])
    assert found["same word"].isnan() and found["previous"].isnan() and not found["itself"].isnan()


def test_tokens_must_fit_the_weights():
    with pytest.raises(ValueError, match=r"must end in \(5, 5\) for 5 tokens, got \(2, 4, 4\)"):
        tendencies(torch.ones(2, 4, 4), TOKENS)


def test_the_heads_that_the_page_names():
    tokenizer, _ = load_minilm()
    for sentence in ("the cat eats the fish because it is hungry", "a dog that saw a dog ran after the dog"):
        batch, result = run_minilm([sentence])
        tokens = tokenizer.convert_ids_to_tokens(batch["input_ids"][0])
        found = tendencies(torch.stack(result.attentions)[:, 0], tokens)
        assert found["previous"][0, 2] > 0.99
        assert found["next"][1, 8] > 0.5
        assert found["same word"][0, 8] > 2 * found["same word"].mean()
        assert found["[CLS]"][1:5].mean() > 0.5


def test_without_the_package_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr(real_model, "find_spec", lambda name: None)
    with pytest.raises(ModelMissing, match=r"pip install transformers, then restart the kernel\.$"):
        load_minilm()


def test_without_a_model_one_line_says_what_to_do(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(real_model, "_reachable", lambda address: False)
    for source in (tmp_path, tmp_path / "nowhere", "nobody/no-such-model"):
        assert real_model.load_or_stop(source) == (None, None)
        said = capsys.readouterr()
        assert said.out.startswith(f"There is no model at {source}: connect to the network, or pip install")
        assert said.out.count("\n") == 1 and not said.err


def test_a_folder_may_be_named():
    tokenizer, model = load_minilm(real_model._package_folder())
    assert tokenizer("the cat")["input_ids"][0] == tokenizer.cls_token_id
    assert (model.config.num_hidden_layers, model.config.num_attention_heads) == (6, 12)


def test_the_folder_that_the_page_names_is_the_one_that_every_cell_meets(monkeypatch, tmp_path):
    folder = tmp_path / "model"
    folder.symlink_to(real_model._package_folder(), target_is_directory=True)
    monkeypatch.setattr(
        real_model, "_package_folder", lambda: None
    )  # no package and no hub: the folder alone
    monkeypatch.setattr(real_model, "_reachable", lambda address: False)
    monkeypatch.setattr(real_model, "_source_of_the_page", None)
    monkeypatch.setattr(real_model, "HUB_NAME", "nobody/no-such-model")
    _, model = real_model.load_or_stop(folder)
    assert load_minilm()[1] is model
    _, with_all = run_minilm(["the cat sat"])
    with real_model.heads_off(model, (0, 2)):
        _, without_one = run_minilm(["the cat sat"])
    assert not torch.equal(with_all.last_hidden_state, without_one.last_hidden_state)

    assert real_model.load_or_stop() == (None, None)  # the page no longer names a folder
    with pytest.raises(ModelMissing):
        load_minilm()
