"""What a variable holds, as a digest and in a few words, found without running any code of the program.

Numbers, strings, containers with their order, arrays, states of generators and plain records count by their content;
sets count by their items in no order. Nothing is known of any other object: its digest is "".
"""

from __future__ import annotations

import argparse
import collections
import datetime
import decimal
import enum
import fractions
import hashlib
import io
import math
import os
import random
import sys
import types
import uuid
from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Any, TypeAlias

Shape: TypeAlias = Any
"""A value for people, of what JSON has: a text, or [KIND, LENGTH, ITEMS]; items of "dict" are pairs."""

_DEEP = 8
_MANY, _FEW = 2048, 16  # items of a container
_LARGE, _SMALL = 1 << 20, 1 << 12  # bytes of an array
_SHOWN = 64  # items shown to people
_WIDEST = 80
_PLAIN = (bool, int, float, complex, type(None))
_WORDS = (
    *(datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, uuid.UUID, decimal.Decimal),
    *(fractions.Fraction, PurePath, range, slice),
)
_RECORDS = (argparse.Namespace, types.SimpleNamespace)
_LISTS: tuple[Any, ...] = (list, tuple, collections.deque, type({}.keys()), type({}.values()), type({}.items()))
_SETS = (set, frozenset)
_ITERATORS: dict[type, str] = {type(iter(set())): "set iterator", type(iter(frozenset())): "set iterator"}


class _OpaqueError(Exception):
    """Raised for an object whose content is unknown."""


def digest(value: Any, thorough: bool = True) -> str:
    """Return 16 hexadecimal digits for a value, "" for an opaque object; of large values the length alone may count."""
    try:
        pieces = hashlib.blake2b(digest_size=8)
        _feed(pieces.update, value, 0, thorough)
    except _OpaqueError:
        return ""
    except Exception:  # another thread may change the value meanwhile
        return ""
    return pieces.hexdigest()


def noted(value: Any) -> str:
    """Return what is known of an opaque object: that it iterates over a set, or which file it reads; otherwise ""."""
    if isinstance(value, io.IOBase):
        name = getattr(value, "name", None) if type(value).__module__ == "_io" else None
        return f"file {os.path.abspath(name)}" if isinstance(name, str) else ""  # noqa: PTH100
    return _ITERATORS.get(type(value), "")


def is_mutable(value: Any) -> bool:
    """Return whether a call may change a value in place."""
    return isinstance(value, (list, dict, set, bytearray, collections.deque, *_RECORDS)) or _array(value) is not None


def is_trivial(value: Any) -> bool:
    """Return whether a value is so common that it may well occur again by chance."""
    kind = type(value)
    return value is None or kind is bool or (kind is int and -1 <= value <= 4) or (kind in (str, tuple) and not value)


def _feed(put: Callable[[bytes], None], value: Any, depth: int, thorough: bool) -> None:
    kind = type(value)
    if kind is str or isinstance(value, str):
        put(b"s%d:" % len(value))
        put(str.encode(value, "utf-8", "surrogatepass"))
    elif isinstance(value, enum.Enum):
        put(f"e{kind.__qualname__}.{value._name_}".encode())
    elif isinstance(value, _PLAIN):
        put(f"n{value!r};".encode() if kind in _PLAIN else f"n{kind.__name__};".encode())
    elif isinstance(value, (bytes, bytearray)):
        put(b"b%d:" % len(value))
        put(bytes(value[:_LARGE]))
    elif kind in _WORDS or isinstance(value, _WORDS):
        put(f"w{value!r};".encode("utf-8", "surrogatepass"))
    elif isinstance(value, (*_LISTS, *_SETS, dict)):
        if depth >= _DEEP:
            put(b"...")
        else:
            _feed_container(put, value, depth, thorough)
    elif (array := _array(value)) is not None:
        _feed_array(put, array, thorough)
    elif (state := _state(value)) is not None:
        put(b"g" + state)
    elif kind in _RECORDS or isinstance(value, _RECORDS):
        _feed(put, vars(value), depth + 1, thorough)
    elif _is_dataclass(kind):
        put(f"d{kind.__qualname__}".encode())
        _feed(put, _fields(value), depth + 1, thorough)
    elif depth == 0:
        raise _OpaqueError
    else:
        put(f"o{kind.__qualname__};".encode())


def _feed_container(put: Callable[[bytes], None], value: Any, depth: int, thorough: bool) -> None:
    length = len(value)
    most = _MANY if thorough else _FEW
    if isinstance(value, dict):
        put(b"{%d:" % length)
        items: Iterable[Any] = (one for pair in dict.items(value) for one in pair)
        most *= 2
    elif isinstance(value, _SETS):
        put(b"<%d:" % length)
        if length <= most:
            for one in sorted(digest([item], thorough) for item in value):
                put(one.encode())
        return
    else:
        put(b"[%d:" % length)
        items = value
    if length > most and not thorough:
        return
    for place, one in enumerate(items):
        if place >= most:
            break
        _feed(put, one, depth + 1, thorough)


def _array(value: Any) -> Any:
    """Return an array of numbers, or a plain contiguous tensor in host memory, as it is; None for anything else."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "ndarray") and isinstance(value, (numpy.ndarray, numpy.generic)):
        return value
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "Tensor") and isinstance(value, torch.Tensor):
        plain = type(value) in (torch.Tensor, getattr(torch.nn, "Parameter", None)) and value.device.type == "cpu"
        if plain and value.layout is torch.strided and value.is_contiguous() and not value.is_quantized:
            return value
    return None


def _feed_array(put: Callable[[bytes], None], array: Any, thorough: bool) -> None:
    dtype = str(array.dtype).removeprefix("torch.")
    put(f"a{dtype}{tuple(array.shape)}".encode())
    most = _LARGE if thorough else _SMALL
    if hasattr(array, "data_ptr"):
        size = array.numel() * array.element_size()
        if 0 < size <= most:
            import ctypes

            put(ctypes.string_at(array.data_ptr(), size))
    elif dtype == "object":
        for one in array.reshape(-1)[:_FEW].tolist() if array.shape else [array.item()]:
            _feed(put, one, 1, thorough)
    elif array.nbytes <= most:
        put(array.tobytes())
    elif thorough and array.flags.c_contiguous:
        put(array.reshape(-1)[:: array.nbytes // most + 1].tobytes())


def _state(value: Any) -> bytes | None:
    """Return the state of a random number generator, for torch's its initial seed; None for any other object."""
    if isinstance(value, random.Random):
        return repr(random.Random.getstate(value)).encode() if type(value) is random.Random else None
    numpy: Any = sys.modules.get("numpy.random")
    if numpy is not None and hasattr(numpy, "Generator"):
        if isinstance(value, numpy.Generator):
            return repr(value.bit_generator.state).encode()
        if isinstance(value, numpy.RandomState):
            return bytes(value.get_state()[1].tobytes() + repr(value.get_state()[2:]).encode())
        if isinstance(value, numpy.BitGenerator):
            return repr(value.state).encode()
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "Generator") and isinstance(value, torch.Generator):
        return str(value.initial_seed()).encode()
    return None


def _is_dataclass(kind: type) -> bool:
    return "__dataclass_fields__" in vars(kind) or any("__dataclass_fields__" in vars(one) for one in kind.__mro__)


def _fields(value: Any) -> dict[str, Any]:
    found = object.__getattribute__(value, "__dict__") if hasattr(type(value), "__dict__") else {}
    return dict(found) if isinstance(found, dict) else {}


# For people


def shape(value: Any, depth: int = 0) -> Shape:
    """Return a value in a form to show to people."""
    try:
        return _shape(value, depth)
    except Exception:
        return ["object", 0, type(value).__qualname__]


def _shape(value: Any, depth: int) -> Shape:
    kind = type(value)
    if isinstance(value, (str, bytes)) or kind in _PLAIN or isinstance(value, _WORDS):
        text = (
            repr(value if len(value) <= _WIDEST else value[:_WIDEST])
            if isinstance(value, (str, bytes))
            else repr(value)
        )
        return text if len(text) <= _WIDEST + 8 else f"{text[:_WIDEST]}..."
    most = _SHOWN if depth < 1 else _FEW if depth < 3 else 0
    if isinstance(value, dict):
        pairs = [[_shape(key, depth + 1), _shape(one, depth + 1)] for key, one in _first(dict.items(value), most)]
        return ["dict", len(value), pairs]
    if isinstance(value, _SETS):
        items = [_shape(one, depth + 1) for one in _first(value, most)]
        return ["set", len(value), sorted(items, key=str), sorted({type(one).__name__ for one in _first(value, most)})]
    if isinstance(value, _LISTS):
        name = "tuple" if isinstance(value, tuple) else "list"
        return [name, len(value), [_shape(one, depth + 1) for one in _first(value, most)]]
    array = _array(value)
    if array is not None:
        return _shape_array(array)
    if isinstance(value, _RECORDS) or _is_dataclass(kind):
        held = vars(value) if isinstance(value, _RECORDS) else _fields(value)
        return ["record", len(held), [[name, _shape(one, depth + 1)] for name, one in _first(held.items(), most)]]
    if _state(value) is not None:
        return ["generator", 0, f"{kind.__module__}.{kind.__qualname__}"]
    return ["object", 0, noted(value) or kind.__qualname__]


def _shape_array(array: Any) -> Shape:
    dtype = str(array.dtype).removeprefix("torch.")
    if hasattr(array, "data_ptr"):
        import ctypes

        count = min(array.numel(), _SHOWN)
        size = count * array.element_size()
        raw = ctypes.string_at(array.data_ptr(), size) if size else b""
        numpy: Any = sys.modules.get("numpy")
        try:
            flat = numpy.frombuffer(raw, dtype=dtype).tolist()
        except (AttributeError, TypeError, ValueError):
            flat = []
    else:
        flat = array.reshape(-1)[:_SHOWN].tolist()
    if not array.shape:
        return _number(flat[0]) if flat else "?"
    sizes = ", ".join(map(str, array.shape))
    return ["array", math.prod(array.shape), [_number(one) for one in flat], f"{dtype}[{sizes}]"]


def _number(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else repr(value)[:_WIDEST]


def _first(items: Iterable[Any], most: int) -> list[Any]:
    found: list[Any] = []
    for one in items:
        if len(found) >= most:
            break
        found.append(one)
    return found
