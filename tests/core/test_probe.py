"""probe: each planted oddity is named, and nothing else of the answers moves; whatever is wrong gets a sentence."""

import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from mha_helpers import moves, probe

SHORT = ", rows do not add up to 1"


def plain(
    q, k, v, mask=None, causal=False, hidden=-math.inf, divisor=4, reads=torch.Tensor.bool, late=0, shift=0, window=5,
    cap=None, sink=0, dim=-1, after=False,
):  # fmt: skip
    """Attention as a textbook has it; the options are what a library may do otherwise."""
    scores = q @ k.mT / divisor
    scores = cap * torch.tanh(scores / cap) if cap else scores
    allowed = torch.ones(scores.shape[-2:]).bool()
    if causal:
        allowed = allowed.tril(shift + late * (k.shape[-2] - q.shape[-2])).triu(1 - window)
    if mask is not None:
        allowed = allowed & reads(mask).bool()
    scores = scores if after else scores.masked_fill(~allowed, hidden)
    weights = torch.softmax(F.pad(scores, (0, sink)), dim=dim)[..., : k.shape[-2]]
    return (weights * allowed if after else weights) @ v


def variant(**options):
    return lambda q, k, v, mask, causal: plain(q, k, v, mask, causal, **options)


def added(q, k, v, mask, causal):
    return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)


def half(q, k, v, mask, causal):
    share = plain(q, k, torch.eye(k.shape[-2]).to(q), mask, causal)
    share = share / share.amax(dim=-1, keepdim=True)
    return share / share.sum(dim=-1, keepdim=True) @ v


def tiled(q, k, v, mask=None, causal=False):
    k, v = (x.repeat(1, q.shape[1] // k.shape[1], 1, 1) for x in (k, v))
    return plain(q, k, v, mask, causal)


def answers(attend):
    return {name: found["answer"] for name, found in probe(attend).items()}


ODD = {  # in these answers, and in no other but rows without a key
    "polarity": (variant(reads=lambda mask: ~mask.bool()), {
        "bool mask": "True means hidden", "integer mask": "as bool, True means hidden",
        "float mask": "as bool, True means hidden", "additive mask": "added"}),
    "biases dropped": (variant(reads=lambda mask: mask > -1 if mask.is_floating_point() else mask), {
        "float mask": "ignored", "additive mask": "added"}),
    "filled by a number": (variant(hidden=-1e4), {"empty row": "the mean"}),
    "bottom right": (variant(late=1), {"more keys": "bottom right"}),
    "no scale": (variant(divisor=1), {"scale": "times 1"}),
    "scaled by d_model": (variant(divisor=math.sqrt(2 * 16)), {"scale": "1 / √(2 · d_k), and h is 2"}),
    "hardly any scale": (variant(divisor=500), {"scale": "times 0.002"}),
    "capped": (variant(cap=50), {"large scores, bfloat16": "no, nor 588 and 600: are they capped?"}),
    "softmax in half": (half, {"softmax, bfloat16": "no"}),
    "heads tiled": (tiled, {"shared heads": "1 2 1 2"}),
    "a flag is forgotten": (lambda q, k, v, mask, causal: plain(q, k, v, mask, causal and mask is None), {
        "mask and flag": "flag ignored"}),
    "no leak": (lambda q, k, v, mask, causal: plain(q, k, v.nan_to_num(), mask, causal), {
        "NaN in a value": "stays hidden"}),
    "no flag": (lambda q, k, v, mask, causal: plain(q, k, v, mask), {
        "causal": "ignored", "more keys": "ignored", "mask and flag": "flag ignored"}),
}  # fmt: skip

NAMED = {  # and more moves
    "masks only added": (lambda q, k, v, mask, causal: added(q, k, v, None if mask is None else mask - 0.0, causal), {
        "bool mask": "refused", "empty row": "zeros", "empty row, −∞": "zeros"}),
    "softmax over the queries": (variant(dim=-2), {"scale": "columns of weights add up to 1, not rows"}),
    "hidden after softmax": (variant(after=True, shift=-1), {
        "bool mask": "True means may attend" + SHORT, "scale": "1 / √d_k", "empty row": "zeros",
        "causal": "only before, row 1 zeros" + SHORT}),
    "a sink, and another scale": (variant(sink=1, divisor=10), {
        "scale": "times 0.1" + SHORT, "bool mask": "True means may attend" + SHORT,
        "causal": "itself and before" + SHORT}),
    "a window": (variant(window=4), {"causal": "a window of 4"}),
    "mask transposed": (variant(reads=lambda mask: mask.mT), {
        "bool mask": "True means may attend, transposed", "scale": "1 / √d_k",
        "integer mask": "as bool, True means may attend, transposed"}),
    "added, transposed": (lambda q, k, v, mask, causal: added(q, k, v, None if mask is None else mask.mT, causal), {
        "additive mask": "added, transposed"}),
    "not itself": (variant(shift=-1), {"causal": "only before, row 1 NaN", "bool mask": "True means may attend"}),
}  # fmt: skip


@pytest.mark.parametrize("oddity", ODD | NAMED)
def test_a_planted_oddity_is_named_and_of_odd_ones_nothing_else_moves(oddity):
    attend, expected = (ODD | NAMED)[oddity]
    usual, said = answers(plain), answers(attend)
    changed = {name for name in said if said[name] != usual[name] and not name.startswith("empty row, ")}
    asked = set(expected) | changed if oddity in ODD else expected
    assert {name: said[name] for name in asked} == expected


def test_a_plain_attention():
    said = answers(plain)
    assert said.pop("shared heads") == "refused" and len(said) == 15
    assert {name: said[name] for name in said if not name.startswith("empty row, ")} == {
        "bool mask": "True means may attend",
        "integer mask": "as bool, True means may attend", "float mask": "as bool, True means may attend",
        "additive mask": "read upside down", "scale": "1 / √d_k", "empty row": "NaN", "causal": "itself and before",
        "more keys": "top left", "mask and flag": "both hold",
        "NaN in a value": "leaks: NaN", "large scores, bfloat16": "no", "softmax, bfloat16": "yes",
    }  # fmt: skip


def test_what_pytorch_does_is_said_and_shown_where_it_is_something_else():
    found = probe(variant(late=1))
    assert found["more keys"]["pytorch"] == "top left" and found["float mask"]["pytorch"] == "added"
    assert [row[-1] for row in found.rows() if row[1] in ("bottom right", "1 / √d_k")] == ["", "top left"]
    empty = [said for name, said in answers(added).items() if name.startswith("empty row")]
    assert empty == ["zeros", "zeros", "the mean", "as if unmasked"]


def test_what_is_shown_is_the_second_row():
    shown = probe(tiled)
    assert "Which of 2 key heads each of 4 query heads reads | 1 2 1 2 | 0 1 | refused" in repr(shown)
    assert shown["more keys"]["weights"] == [[1, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0]]
    page = shown._repr_html_()
    assert page.count("<tr>") == 17 and ">1 2 1 2</td>" in page


def test_a_row_nobody_has_foreseen_is_written_as_numbers_and_equal_rows_once():
    rows = "0.5 0.5 0 0 0; 0.33 0.33 0.33 0 0; 0.25 0.25 0.25 0.25 0; 0.2 0.2 0.2 0.2 0.2"
    assert answers(variant(shift=1))["causal"] == rows


READABLE = (
    torch.Tensor.double,
    lambda output: output.float().numpy().astype(object),  # of numbers that torch does not know
    lambda output: SimpleNamespace(__dlpack__=output.__dlpack__, __dlpack_device__=output.__dlpack_device__),
    lambda output: output.clone().requires_grad_(),
)


@pytest.mark.parametrize("returned", READABLE)
def test_whatever_torch_can_read_is_taken(returned):
    assert answers(lambda *inputs, **options: returned(plain(*inputs, **options))) == answers(plain)


def test_an_adapter_that_asks_numpy_for_bfloat16_is_told_so():
    said = probe(lambda q, k, v, mask, causal: plain(torch.from_numpy(q.numpy()), k, v, mask, causal))
    assert said["softmax, bfloat16"]["refusal"].startswith("TypeError: the adapter asks for .numpy(), and")


def test_what_goes_wrong_in_one_situation_ends_no_other_and_changes_no_later_one():
    def fragile(q, k, v, mask=None, causal=False):
        if q.dtype != torch.float32:
            raise BrokenPipeError("at 0x7f00 in /usr/lib/odd.py: see https://example.org/a\nmore")
        if causal:
            return (None, v[0], "odd", v * math.nan)[k.shape[-2] - q.shape[-2] if mask is None else 1]
        output = plain(q, k, v, mask)
        for given in (q, k, v) if mask is None else (q, k, v, mask):
            given.fill_(1)  # a library may use what it gets
        return output

    said = [probe(fragile) for _ in range(2)][1]
    assert said["softmax, bfloat16"]["refusal"] == "BrokenPipeError: at … in …odd.py: see …"
    refused = {name for name, found in said.items() if found["answer"] == "refused"}
    half = {name for name in said if "float16" in name}
    assert len(half) == 3 and refused == half | {"causal", "more keys", "mask and flag", "shared heads"}
    assert said["bool mask"]["answer"] == "True means may attend" and said["empty row"]["answer"] == "NaN"


@pytest.mark.parametrize(
    ("attend", "words"),
    [
        (3, r"attend\(q, k, v, mask=None, causal=False\) must return .*not callable"),
        (lambda q, k, v: q, "without mask and flag: TypeError: .*unexpected keyword"),
        (lambda q, k, v, mask, causal: 1 / 0, "without mask and flag: ZeroDivisionError: division by zero$"),
        (lambda q, k, v, mask, causal: None, r"must return the output alone, .*has shape \(\), q has \(1, 2, 5, 16\)$"),
        (lambda q, k, v, mask, causal: (q, None), "the output alone, in the shape of q; .*ValueError"),
        (lambda q, k, v, mask, causal: F.dropout(plain(q, k, v), 0.1), "equal calls differ: is dropout on"),
        (lambda q, k, v, mask, causal: v.clone(), "no query finds its own key"),
        (lambda q, k, v, mask, causal: tiled(q.flip(1), k, v), "no query finds its own key"),
        (lambda q, k, v, mask, causal: plain(*(x.transpose(1, 2) for x in (q, k, v))).transpose(1, 2),
         r"no query finds its own key: does the library want \(b, n, h, d\)"),
        (lambda q, k, v, mask, causal: plain(q, k, v).transpose(1, 2), r"\(1, 5, 2, 16\), q .*: transpose\(1, 2\)\?$"),
    ],
)  # fmt: skip
def test_a_wrong_adapter_gets_one_sentence(attend, words):
    with pytest.raises(ValueError, match=words):
        probe(attend)


def moved(layer, x):
    return moves(layer, x).heatmaps[0].matrix.tolist()


def test_moves_shows_who_hears_of_whom():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, batch_first=True)
    x = torch.randn(5, 16)
    with pytest.raises(ValueError, match="is dropout on"):
        moves(layer, x)
    layer.eval()
    causal = nn.Transformer.generate_square_subsequent_mask(5)
    for given in (x, x[None], x[None].double()):
        layer.to(given.dtype)
        below = moved(lambda x: layer(x, src_mask=causal.to(x), is_causal=True), given)
        assert below == torch.ones(5, 5).tril().tolist()
    assert moved(layer, given) == torch.ones(5, 5).tolist()
    attention = nn.MultiheadAttention(16, 4, batch_first=True)
    own = moved(lambda x: attention(x, x, x, attn_mask=torch.eye(5) == 0), x)  # a tuple
    assert own == torch.eye(5).tolist()
    for wrong in (torch.zeros(16), torch.zeros(2, 5, 16), torch.tensor([[3, 1, 4]]), torch.ones(5, 16).int()):
        with pytest.raises(ValueError, match=r"x must be one text.* no token ids; got"):
            moves(layer, wrong)


def test_moves_sees_what_a_layer_adds_in_tiny_amounts_and_hears_nothing_in_nan():
    torch.manual_seed(0)
    attention, x = nn.MultiheadAttention(16, 2, batch_first=True), torch.randn(1, 4, 16)
    norm, long = nn.LayerNorm(16), torch.randn(1, 9, 16)
    # LayerScale, as models begin with it.
    scaled = moved(lambda x: x + 1e-5 * attention(norm(x), norm(x), norm(x))[0], long)
    assert scaled == torch.ones(9, 9).tolist()
    assert moved(lambda x: 1e-9 * attention(x, x, x)[0], x) == torch.ones(4, 4).tolist()
    before = torch.ones(4, 4).triu().bool()  # True = hidden, so word 1 hears nobody
    shown = moves(lambda x: attention(x, x, x, attn_mask=before), x).heatmaps[0]
    # Word 2 has one key, which gets all, whatever word 2 asks; from word 3 on a word's query counts.
    assert shown.matrix.tolist() == [[0] * 4, [1, 0, 0, 0], [1, 1, 1, 0], [1] * 4]
    assert shown.title == "moves, output 1 is NaN"
