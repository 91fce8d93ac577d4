"""The addends of attention's gradient by its queries, to which each block of keys adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.verify.orders.addends import Addends

if TYPE_CHECKING:
    from detlint.verify.bench import Bench

_LENGTH = 1024
_BLOCK = 128  # keys in a block of fused kernels, which keep them on the chip
_WIDTH = 64
_QUERIES = 256  # enough for a sum to lie next to where the final rounding changes


def queries(bench: Bench) -> Addends:
    """Return the addends of one head: sums in single precision, rounded to the dtype of the call at the end."""
    import torch
    from torch.nn import functional

    bench.assumed |= {"queries": _QUERIES, "keys": _LENGTH}
    query = bench.normal(_QUERIES, _WIDTH).float().requires_grad_()
    key, value = (bench.normal(_LENGTH, _WIDTH).float() for _ in range(2))
    above = bench.normal(_QUERIES, _WIDTH).float()
    output = functional.scaled_dot_product_attention(query[None], key[None], value[None])[0]
    (expected,) = torch.autograd.grad(output, query, above)
    scale = _WIDTH**-0.5
    weights = torch.softmax(query.detach() @ key.T * scale, 1)
    scores = weights * (above @ value.T - (above * output.detach()).sum(1, keepdim=True)) * scale
    blocks = zip(torch.split(scores, _BLOCK, 1), torch.split(key, _BLOCK), strict=True)
    parts = [one @ other for one, other in blocks]
    places = torch.arange(expected.numel()).repeat(len(parts))
    values, start = torch.stack(parts).reshape(-1), torch.zeros(expected.numel())
    return Addends(places, values, start, expected.reshape(-1), rounded=bench.dtype)
