"""moves: which outputs of a layer hear of which token."""

import torch

from mha_helpers.heatmaps import heatmap
from mha_helpers.keyhole import as_tensor


def moves(layer, x):
    """Change one token after the other, and draw which outputs of a layer move: 1 where one does.

    For a layer with projections of its own, whose weights no keyhole shows. ``layer(x)`` returns a tensor, or
    a tuple that begins with one. The rounding of an FFT moves, too: give float64 to such a layer.

    Shape: x ``(n, d_model)`` or ``(1, n, d_model)`` -> a ``Picture`` of ``(n, n)``; rows are outputs.
    Taught in notebook deeper/09_other_libraries.
    Raises ``ValueError`` for another x, or a layer that answers twice with other numbers, as with dropout.

    >>> moves(lambda x: x.cumsum(dim=0), torch.ones(3, 4)).heatmaps[0].matrix.tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    """
    if x.dim() not in (2, 3) or x.shape[:-2].numel() != 1 or not x.is_floating_point():
        wanted = "x must be one text, (n, d_model) or (1, n, d_model), embedded: no token ids"
        raise ValueError(f"{wanted}; got {tuple(x.shape)} of {x.dtype}.")
    n, d_model = x.shape[-2:]
    changes = torch.eye(n)[..., None] * torch.linspace(1, 2, d_model)  # which no LayerNorm takes away

    def output(x):
        given = layer(x)
        return as_tensor(given[0] if isinstance(given, tuple) else given).reshape(n, -1)

    with torch.no_grad():
        before, *after = output(x), output(x), *(output(x + change) for change in changes.to(x))
    # Relative to each number, since a layer may add very little to x; NaN in both has not moved.
    near = [torch.isclose(each, before, rtol=1e-7, atol=0, equal_nan=True).all(dim=-1) for each in after]
    if not near[0].all():
        raise ValueError("layer(x) differs from call to call: is dropout on? Try layer.eval().")
    nan = " ".join(str(i) for i, row in enumerate(before.isnan(), start=1) if row.any())
    title = f"moves (NaN: output {nan})" if nan else "moves"
    return heatmap(~torch.stack(near[1:], dim=1), axes=("output", "token changed"), title=title)
