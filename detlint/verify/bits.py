"""Bitwise comparison of results: a digest of each, and how far two are apart."""

from __future__ import annotations

import ctypes
import hashlib
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

_WIDTHS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
_CHUNK = 1 << 24  # elements held as 64-bit integers at a time
_MODULUS = 1 << 64


def leaves(result: Any) -> Iterator[Any]:
    """Yield the tensors of a result, dense and contiguous, and its other values, in order.

    CUDA tensors stay on their device; all others are moved to the CPU. A sparse tensor counts as its indices and its
    values, a complex one as its real and imaginary parts.
    """
    import torch

    if isinstance(result, (tuple, list)):
        for one in result:
            yield from leaves(one)
    elif isinstance(result, dict):
        yield from leaves(list(result.items()))
    elif isinstance(result, torch.Tensor):
        yield from map(_plain, _parts(result.detach()))
    elif type(result).__module__ == "numpy" and hasattr(result, "tobytes"):
        yield from _array(result)
    else:
        yield result


def digest(result: Any) -> str:
    """Return a digest of all bits, dtypes and shapes of a result: equal for equal bits, NaN included.

    Raises TypeError for a value that has no bits to compare, such as an object whose repr holds its address.
    """
    import torch

    total = hashlib.blake2b(digest_size=16)
    for leaf in leaves(result):
        if isinstance(leaf, torch.Tensor):
            total.update(f"{leaf.dtype}{tuple(leaf.shape)}".encode())
            total.update(_summed(leaf) if leaf.is_cuda else raw(leaf))
        elif leaf is None or isinstance(leaf, (str, bytes, int, float, complex)):
            total.update(f"{leaf!r};".encode())
        else:
            raise TypeError(f"a result holds a {type(leaf).__name__}, which has no bits to compare")
    return total.hexdigest()


def equal(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Return whether two results, as lists of their `leaves`, surely have equal digests; False if that is uncertain."""
    import torch

    if len(one) != len(other):
        return False
    for a, b in zip(one, other, strict=True):
        if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
            if type(a) is not type(b) or repr(a) != repr(b):
                return False
        elif (a.dtype, a.shape) != (b.dtype, b.shape) or not torch.equal(_integers(a), _integers(b)):
            return False
    return True


def _integers(leaf: Tensor) -> Tensor:
    """Return the memory of a dense tensor as a one-dimensional tensor of integers."""
    import torch

    return leaf.reshape(-1).view(getattr(torch, f"int{8 * leaf.element_size()}"))


def raw(leaf: Tensor) -> bytes:
    """Return a copy of the memory of a tensor that `leaves` yielded."""
    leaf = leaf.cpu()
    return ctypes.string_at(leaf.data_ptr(), leaf.nbytes) if leaf.numel() else b""


def _summed(leaf: Tensor) -> bytes:
    """Return 128 bits computed from a tensor's memory on its device: a copy to the CPU takes longer than the run.

    The bits are two sums of the elements as integers, each multiplied by a number that depends on its index, modulo
    2**64: exact in any order.
    """
    import torch

    flat = _integers(leaf)
    sums = torch.zeros(2, dtype=torch.int64, device=leaf.device)
    for start in range(0, flat.numel(), _CHUNK):
        part = flat[start : start + _CHUNK].to(torch.int64)
        place = torch.arange(start, start + part.numel(), device=leaf.device)
        for number in range(2):
            sums[number] += (part * _mixed(place * 2 + number + 1)).sum()
    return raw(sums)


def _mixed(numbers: Tensor) -> Tensor:
    """Return integers that depend on all bits of `numbers`: splitmix64's last steps (Steele, Lea, Flood 2014)."""
    numbers = numbers * (0x9E3779B97F4A7C15 - _MODULUS)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> shift & (1 << 64 - shift) - 1)) * (factor - _MODULUS)
    return numbers ^ (numbers >> 31 & (1 << 33) - 1)


def apart(one: Any, other: Any) -> tuple[float | None, int | None]:
    """Return the largest absolute difference of two results, and the largest in units in the last place (ULP).

    A value is None if the results have nothing to subtract. Infinities and NaN on one side only count as infinitely far
    apart, and not at all in ULP. The unit is that of the dtype of the result.
    """
    import torch

    absolute: float | None = None
    ulp: int | None = None
    for a, b in zip(leaves(one), leaves(other), strict=False):
        if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor) or a.shape != b.shape or not a.numel():
            continue
        gap = (a.to(torch.float64) - b.to(torch.float64)).abs()
        same = (a == b) | (a.isnan() & b.isnan()) if a.is_floating_point() else a == b
        gap = torch.where(same, 0.0, gap.nan_to_num(nan=math.inf, posinf=math.inf))
        absolute = max(absolute or 0.0, float(gap.max()))
        width = _WIDTHS.get(str(a.dtype).removeprefix("torch."))
        if width is not None and a.dtype == b.dtype:
            finite = gap.isfinite() & ~same
            ulp = max(ulp or 0, _steps(_ordered(a, width)[finite], _ordered(b, width)[finite]))
    return absolute, ulp


def _steps(one: Tensor, other: Tensor) -> int:
    """Return the largest distance of two integers; for doubles of opposite signs it may need more than 63 bits."""
    import torch

    if not one.numel():
        return 0
    steps = torch.maximum(one, other) - torch.minimum(one, other)
    wrapped = steps[steps < 0]
    return int(wrapped.max()) + (1 << 64) if wrapped.numel() else int(steps.max())


def _ordered(tensor: Tensor, width: int) -> Tensor:
    """Return integers in the order of the floats, adjacent where the floats are."""
    import torch

    raw = tensor.view({16: torch.int16, 32: torch.int32, 64: torch.int64}[width]).to(torch.int64)
    low = -(1 << (width - 1)) if width < 64 else torch.iinfo(torch.int64).min
    return torch.where(raw < 0, low - raw, raw)


def _parts(tensor: Tensor) -> Iterator[Tensor]:
    import torch

    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        yield from (tensor.crow_indices(), tensor.col_indices(), *_parts(tensor.values()))
    elif tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        yield from (tensor.ccol_indices(), tensor.row_indices(), *_parts(tensor.values()))
    elif tensor.layout == torch.sparse_coo:
        yield from (tensor._indices(), *_parts(tensor._values()))
    elif tensor.is_quantized:
        yield tensor.int_repr()
    else:
        yield torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _array(array: Any) -> Iterator[Tensor]:
    """Yield a NumPy array or number as tensors; as bytes if torch has no such dtype."""
    import torch

    if array.dtype.hasobject:
        raise TypeError("a result holds an array of objects, which has no bits to compare")
    dtype = getattr(torch, array.dtype.name, None)
    if not isinstance(dtype, torch.dtype):
        dtype, shape = torch.uint8, (array.nbytes,)
    else:
        shape = array.shape
    raw = bytearray(array.tobytes())
    yield from _parts(torch.frombuffer(raw, dtype=dtype).reshape(shape) if raw else torch.empty(shape, dtype=dtype))


def _plain(tensor: Tensor) -> Tensor:
    return (tensor if tensor.is_cuda else tensor.cpu()).resolve_neg().contiguous()
