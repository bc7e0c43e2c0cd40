"""probe: each planted oddity is named, and nothing else of the answers moves; whatever is wrong gets a sentence."""

import math

import numpy
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from mha_helpers import moves, probe

QUESTIONS = 16
SHORT = ", rows do not add up to 1"


def plain(q, k, v, mask=None, causal=False, hidden=-math.inf, divisor=None, reads=lambda mask: mask, late=0):
    """Attention as a textbook has it; the options are what a library may do otherwise."""
    scores = q @ k.mT / (divisor or math.sqrt(q.shape[-1]))
    allowed = torch.ones(scores.shape[-2:]).bool()
    if causal:
        allowed = allowed.tril(late and k.shape[-2] - q.shape[-2])
    if mask is not None:
        allowed = allowed & reads(mask).bool()
    return torch.softmax(scores.masked_fill(~allowed, hidden), dim=-1) @ v


def added(q, k, v, mask=None, causal=False):
    return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)


def half(q, k, v, mask=None, causal=False):
    seen = plain(q, k, torch.eye(k.shape[-2], dtype=q.dtype), mask, causal)
    scores = seen.log()  # which have the mask in them
    share = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return share / share.sum(dim=-1, keepdim=True) @ v


def tiled(q, k, v, mask=None, causal=False):
    k, v = (x.repeat(1, q.shape[1] // k.shape[1], 1, 1) for x in (k, v))
    return plain(q, k, v, mask, causal)


def before(q, k, v, mask=None, causal=False):
    allowed = torch.ones(q.shape[-2], k.shape[-2]).tril(-1)
    return plain(q, k, v, allowed if mask is None else allowed * mask) if causal else plain(q, k, v, mask)


def hidden_after(q, k, v, mask=None, causal=False):
    """Takes bool masks alone, and its weights are not made to add up to 1 again."""
    allowed = torch.ones(q.shape[-2], k.shape[-2]).bool() if mask is None else mask.bitwise_and(mask == 1)
    return torch.softmax(q @ k.mT / 4, dim=-1) * (allowed.tril(-1) if causal else allowed) @ v


def exchanged(q, k, v, mask=None, causal=False):
    """As from an adapter that forgets that its library wants (b, n, h, d)."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    return plain(q, k, v).transpose(1, 2)


def variant(**options):
    return lambda q, k, v, mask=None, causal=False: plain(q, k, v, mask, causal, **options)


def answers(attend):
    return {name: found["answer"] for name, found in probe(attend).items()}


ODD = {
    "polarity": (variant(reads=lambda mask: ~mask.bool()), {
        "bool mask": "True means hidden", "integer mask": "as bool, True means hidden",
        "float mask": "as bool, True means hidden", "additive mask": "added"}),
    "filled by a number": (variant(hidden=-1e4), {"empty row": "the mean"}),
    "bottom right": (variant(late=1), {"more keys": "bottom right"}),
    "no scale": (variant(divisor=1), {"scale": "times 1"}),
    "another scale": (variant(divisor=10), {"scale": "times 0.1"}),
    "scaled by d_model": (variant(divisor=math.sqrt(2 * 16)), {"scale": "1 / √(2 · d_k), and h is 2"}),
    "hardly any scale": (variant(divisor=500), {"scale": "times 0.002"}),
    "softmax in half": (half, {"softmax, bfloat16": "no"}),
    "heads tiled": (tiled, {"shared heads": "1 2 1 2"}),
    "a flag is forgotten": (lambda q, k, v, mask=None, causal=False: plain(q, k, v, mask, causal and mask is None), {
        "mask and flag": "flag ignored"}),
    "no leak": (lambda q, k, v, mask=None, causal=False: plain(q, k, v.nan_to_num(), mask, causal), {
        "NaN in a value": "stays hidden"}),
    "no flag": (lambda q, k, v, mask=None, causal=False: plain(q, k, v, mask), {
        "causal": "ignored", "more keys": "ignored", "mask and flag": "flag ignored"}),
}  # fmt: skip

NAMED = {  # and more moves
    "biases dropped": (lambda q, k, v, mask=None, causal=False: added(
        q, k, v, mask > -1 if mask is not None and mask.is_floating_point() else mask, causal), {
        "bool mask": "True means may attend", "float mask": "ignored"}),
    "softmax over the queries": (lambda q, k, v, mask=None, causal=False: torch.softmax(q @ k.mT / 4, dim=-2) @ v, {
        "scale": "columns of weights add up to 1, not rows"}),
    "hidden after softmax": (hidden_after, {
        "bool mask": "True means may attend" + SHORT, "additive mask": "refused", "scale": "1 / √d_k",
        "causal": "only before, row 1 zeros" + SHORT, "empty row": "zeros"}),
    "a sink, and another scale": (lambda q, k, v, mask=None, causal=False: plain(
        q, *(F.pad(x, (0, 0, 1, 0)) for x in (k, v)), mask if mask is None else F.pad(mask, (1, 0), value=1),
        causal, divisor=10, late=1), {
        "scale": "times 0.1" + SHORT, "bool mask": "True means may attend" + SHORT,
        "causal": "itself and before" + SHORT}),
    "a window": (lambda q, k, v, mask=None, causal=False: plain(
        q, k, v, torch.ones(5, 5).tril().triu(-3) if causal and mask is None and q.shape == k.shape else mask), {
        "causal": "a window of 4", "bool mask": "True means may attend"}),
    "q and k normalised, heads tiled": (lambda q, k, v, mask=None, causal=False: tiled(
        4 * F.normalize(q, dim=-1), 4 * F.normalize(k, dim=-1), v, mask, causal), {
        "scale": "times 1", "shared heads": "1 2 1 2"}),
    "softmax of scores in half": (lambda q, k, v, mask=None, causal=False: torch.softmax(
        (q.float() @ k.float().mT / 4).to(q.dtype), dim=-1) @ v, {
        "softmax, bfloat16": "yes", "large scores, bfloat16": "no", "mask and flag": "ignored"}),
    "capped": (lambda q, k, v, mask=None, causal=False: torch.softmax(50 * torch.tanh(q @ k.mT / 200), dim=-1) @ v, {
        "large scores, bfloat16": "no, nor 588 and 600: are they capped?", "scale": "1 / √d_k"}),
    "mask transposed": (variant(reads=lambda mask: mask.mT), {
        "bool mask": "True means may attend, transposed", "scale": "1 / √d_k",
        "integer mask": "as bool, True means may attend, transposed"}),
    "added, transposed": (lambda q, k, v, mask=None, causal=False: added(q, k, v, None if mask is None else mask.mT), {
        "additive mask": "added, transposed"}),
    "not itself": (before, {"causal": "only before, row 1 NaN", "bool mask": "True means may attend"}),
}  # fmt: skip


@pytest.mark.parametrize(("attend", "expected"), NAMED.values(), ids=NAMED)
def test_an_oddity_is_named_where_more_moves(attend, expected):
    said = answers(attend)
    assert {name: said[name] for name in expected} == expected


def test_where_masks_are_only_added_a_hidden_key_is_at_minus_infinity():
    def only_added(q, k, v, mask=None, causal=False):
        if mask is not None and not mask.is_floating_point():
            raise TypeError("a mask is added")
        return added(q, k, v, mask, causal)

    said = answers(only_added)
    assert said["empty row"] == said["empty row, −∞"]


def test_a_plain_attention():
    said = answers(plain)
    assert said.pop("shared heads") == "refused" and len(said) == QUESTIONS - 1
    assert {name: said[name] for name in said if not name.startswith("empty row, ")} == {
        "bool mask": "True means may attend",
        "integer mask": "as bool, True means may attend", "float mask": "as bool, True means may attend",
        "additive mask": "read upside down", "scale": "1 / √d_k", "empty row": "NaN", "causal": "itself and before",
        "more keys": "top left", "mask and flag": "both hold",
        "NaN in a value": "leaks: NaN", "large scores, bfloat16": "no", "softmax, bfloat16": "yes",
    }  # fmt: skip


@pytest.mark.parametrize(("attend", "expected"), ODD.values(), ids=ODD)
def test_a_planted_oddity_is_named_and_nothing_else_moves(attend, expected):
    usual, said = answers(plain), answers(attend)
    changed = {name for name in said if said[name] != usual[name] and not name.startswith("empty row, ")}
    assert {name: said[name] for name in changed | set(expected)} == expected


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
    assert page.count("<tr>") == QUESTIONS + 1 and ">1 2 1 2</td>" in page


def test_a_row_nobody_has_foreseen_is_written_as_numbers_and_equal_rows_once():
    def first_two(q, k, v, mask=None, causal=False):
        allowed = torch.ones(q.shape[-2], k.shape[-2]).tril() * (torch.arange(k.shape[-2]) < 2)
        return plain(q, k, v, allowed if causal else mask)

    assert answers(first_two)["causal"] == "1 0 0 0 0; 0.5 0.5 0 0 0"


class OnlyNumpy:
    def __init__(self, tensor):
        self.tensor = tensor

    def __array__(self, dtype=None, copy=None):
        return self.tensor.float().numpy().astype(object)


class OnlyDlpack:
    def __init__(self, tensor):
        self.__dlpack__, self.__dlpack_device__ = tensor.__dlpack__, tensor.__dlpack_device__


READABLE = (
    torch.Tensor.tolist,
    OnlyNumpy,
    OnlyDlpack,
    torch.Tensor.double,
    lambda output: output.clone().requires_grad_(),
)


@pytest.mark.parametrize("returned", READABLE)
def test_whatever_torch_can_read_is_taken(returned):
    assert answers(lambda *inputs, **options: returned(plain(*inputs, **options))) == answers(plain)


def test_an_adapter_that_asks_numpy_for_bfloat16_is_told_so():
    said = probe(lambda q, k, v, mask, causal: plain(torch.from_numpy(q.numpy()), k, v, mask, causal))
    assert said["softmax, bfloat16"]["refusal"].startswith(
        "TypeError: the adapter asks for .numpy(), and NumPy has"
    )


def test_what_goes_wrong_in_one_situation_ends_no_other_and_changes_no_later_one():
    def fragile(q, k, v, mask=None, causal=False):
        if q.dtype != torch.float32:
            raise BrokenPipeError("at 0x7f00 in /usr/lib/odd.py: see https://example.org/a\nmore")
        if causal:
            return (None, v[0], "odd", v * math.nan)[k.shape[-2] - q.shape[-2] if mask is None else 1]
        output = plain(q, k, v, mask)
        for given in (q, k, v, mask):
            if given is not None:
                given.fill_(1)  # a library may use what it gets
        return output

    for _ in range(2):
        said = probe(fragile)
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
        (nn.MultiheadAttention, r"attend\(q, k, v, mask=None, causal=False\) must return"),
        (lambda q, k, v, mask, causal: 1 / 0, "without mask and flag: ZeroDivisionError: division by zero$"),
        (lambda q, k, v, mask, causal: None, r"must return the output alone, .*has shape \(\), q has"),
        (lambda q, k, v, mask, causal: (q, None), "the output alone, in the shape of q; .*ValueError"),
        (lambda q, k, v, mask, causal: F.dropout(plain(q, k, v), 0.1), "equal calls differ: is dropout on"),
        (lambda q, k, v, mask, causal: "yes", "could not convert string to float"),
        (lambda q, k, v, mask, causal: v.clone(), r"no query finds its own key: .*want \(b, n, h, d\)"),
        (lambda q, k, v, mask, causal: tiled(q.flip(1), k, v), "no query finds its own key"),
        (exchanged, "no query finds its own key: does the library want"),
        (lambda q, k, v, mask, causal: plain(q, k, v).transpose(1, 2), r"\(1, 5, 2, 16\), q .*: transpose\(1, 2\)\?$"),
        (lambda q, k, v, mask, causal: q[0], r"has shape \(2, 5, 16\), q has \(1, 2, 5, 16\)"),
    ],
)  # fmt: skip
def test_a_wrong_adapter_gets_one_sentence(attend, words):
    with pytest.raises(ValueError, match=words):
        probe(attend)


def test_moves_shows_who_hears_of_whom():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, batch_first=True)
    x = torch.randn(5, 16)
    with pytest.raises(ValueError, match="is dropout on"):
        moves(layer, x)
    layer.eval()
    below = torch.ones(5, 5).tril().double()
    causal = nn.Transformer.generate_square_subsequent_mask(5)
    for given in (x, x[None], x[None].double()):
        layer.to(given.dtype)
        shown = moves(lambda x: layer(x, src_mask=causal.to(x), is_causal=True), given)
        numpy.testing.assert_array_equal(shown.heatmaps[0].matrix, below)
    assert moves(layer, given).heatmaps[0].matrix.all()
    attention = nn.MultiheadAttention(16, 4, batch_first=True)
    shown = moves(lambda x: attention(x, x, x, attn_mask=torch.eye(5) == 0), x)  # a tuple
    numpy.testing.assert_array_equal(shown.heatmaps[0].matrix, torch.eye(5))
    for wrong in (torch.zeros(16), torch.zeros(2, 5, 16), torch.tensor([[3, 1, 4]]), torch.ones(5, 16).int()):
        with pytest.raises(ValueError, match=r"x must be one text.* no token ids; got"):
            moves(layer, wrong)


def test_moves_sees_what_a_layer_adds_in_tiny_amounts_and_hears_nothing_in_nan():
    torch.manual_seed(0)
    attention, x = nn.MultiheadAttention(16, 2, batch_first=True), torch.randn(1, 9, 16)

    def scaled(x):  # LayerScale, as models begin with it
        normed = F.layer_norm(x, [16])
        return x + 1e-5 * attention(normed, normed, normed)[0]

    assert moves(scaled, x).heatmaps[0].matrix.all()
    assert moves(lambda x: 1e-9 * attention(x, x, x)[0], x).heatmaps[0].matrix.all()
    x, before = x[:, :4], torch.ones(4, 4).triu().bool()  # True = hidden, so word 1 hears nobody
    shown = moves(lambda x: attention(x, x, x, attn_mask=before), x).heatmaps[0]
    # Word 2 has one key, which gets all, whatever word 2 asks; from word 3 on a word's query counts.
    numpy.testing.assert_array_equal(shown.matrix, [[0] * 4, [1, 0, 0, 0], [1, 1, 1, 0], [1] * 4])
    assert shown.title == "moves, output 1 is NaN"
