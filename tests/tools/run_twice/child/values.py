"""Digests of values by what they hold: tensors and arrays to the bit, containers, and objects by their state.

Neither torch nor numpy is imported here: where a process has not, it holds no value of theirs.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import torch


def digest(value: object) -> str:
    """A digest that equals another one where the values hold the same, whatever their addresses."""
    return _digest(value, {})


def bits(tensor: torch.Tensor) -> str:
    """A digest of a tensor's dtype, shape and bits; of those alone that lie in no memory (device `meta`)."""
    import torch

    about = f"{tensor.dtype} {tuple(tensor.shape)}" if not _lazy(tensor) else "uninitialised"
    if tensor.device.type == "meta" or _lazy(tensor):
        return _hash("tensor", about.encode())
    with torch.no_grad():
        plain = tensor.detach().cpu()
        if plain.layout != torch.strided:
            plain = plain.to_dense()
        if plain.is_quantized:
            plain = plain.int_repr()
        plain = plain.resolve_conj().resolve_neg().contiguous().reshape(-1)
        content = plain.view(torch.uint8).numpy().tobytes() if plain.numel() else b""
    return _hash("tensor", about.encode(), content)


def _lazy(tensor: torch.Tensor) -> bool:
    import torch

    return isinstance(tensor, (torch.nn.UninitializedParameter, torch.nn.UninitializedBuffer))


def _digest(value: Any, above: dict[int, int]) -> str:
    """The digest of a value; `above` has those that hold it, by their numbers from the outermost one on."""
    if "torch" in sys.modules and isinstance(value, sys.modules["torch"].Tensor):
        return bits(value)
    if "numpy" in sys.modules and isinstance(value, (sys.modules["numpy"].ndarray, sys.modules["numpy"].generic)):
        return _array(sys.modules["numpy"].asarray(value), above)
    if isinstance(value, float):
        return _hash("float", value.hex().encode())
    if value is None or isinstance(value, (bool, int, complex, bytes, str)):
        return _hash(type(value).__name__, repr(value).encode("utf-8", "surrogatepass"))
    if id(value) in above:
        return _hash("cycle", str(above[id(value)]).encode())
    above = above | {id(value): len(above)}
    if isinstance(value, dict):
        pairs = [_digest(each, above) for pair in value.items() for each in pair]
        return _hash("dict", *map(str.encode, pairs))
    if isinstance(value, (list, tuple)):
        return _hash("list", *(_digest(each, above).encode() for each in value))
    if isinstance(value, (set, frozenset)):
        return _hash("set", *sorted(_digest(each, above).encode() for each in value))
    return _object(value, above)


def _array(array: np.ndarray[Any, Any], above: dict[int, int]) -> str:
    about = f"{array.dtype} {array.shape}".encode()
    if array.dtype.hasobject:
        return _hash("array", about, _digest(array.tolist(), above).encode())
    return _hash("array", about, array.tobytes())


def _object(value: Any, above: dict[int, int]) -> str:
    """An object as pickle would take it apart: a function or class by its name, others by their reduced state."""
    if isinstance(value, type) or not hasattr(value, "__reduce_ex__"):
        return _hash("class", f"{value.__module__}.{value.__qualname__}".encode())
    name = type(value).__qualname__.encode()
    try:
        reduced = value.__reduce_ex__(2)
    except (TypeError, AttributeError, pickle.PicklingError):
        return _hash("opaque", name)
    if isinstance(reduced, str):
        return _hash("name", reduced.encode())
    made, arguments, *rest = reduced
    state = [arguments, *(list(each) if hasattr(each, "__next__") else each for each in rest)]
    return _hash("object", name, getattr(made, "__qualname__", "").encode(), _digest(state, above).encode())


def _hash(kind: str, *parts: bytes) -> str:
    made = hashlib.sha256(kind.encode())
    for part in parts:
        made.update(len(part).to_bytes(8, "little"))
        made.update(part)
    return made.hexdigest()
