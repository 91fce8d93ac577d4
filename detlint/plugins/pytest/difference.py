"""The first difference of two records, described in a few lines."""

from __future__ import annotations

import operator
import struct
import sys
from dataclasses import dataclass
from itertools import chain, zip_longest
from math import isfinite, prod
from typing import Any

from detlint.plugins.pytest.record import Leaf, Record

# For each dtype whose numbers are shown: its struct format, and how many digits distinguish two numbers.
_FORMATS = {
    "float64": ("d", ""),
    "float32": ("f", ".9g"),
    "float16": ("e", ".5g"),
    "bfloat16": ("f", ".4g"),
    "complex128": ("2d", ""),
    "complex64": ("2f", ".9g"),
    "bool": ("?", ""),
    **{f"int{8 * 2**power}": (code, "") for power, code in enumerate("bhiq")},
    **{f"uint{8 * 2**power}": (code, "") for power, code in enumerate("BHIQ")},
}
_WORDS: dict[int, Any] = {1: "B", 2: "H", 4: "I", 8: "Q"}
_FAR = 1_000_000  # units in the last place: beyond this the number says nothing
_SHOWN = 60  # characters of a text
_NOTHING = "nothing of that name"


@dataclass(frozen=True)
class Difference:
    """The place where two records first differ, what each has there, the distance, and other values that differ."""

    path: str
    one: str
    other: str
    extent: str
    others: list[str]


def first_difference(one: Record, other: Record) -> Difference | None:
    """Return the first place in the order of recording at which two records differ, or None."""
    if one.values == other.values and list(one.values) == list(other.values):
        return None
    flat = [list(chain.from_iterable(record.values.values())) for record in (one, other)]
    a, b = next((a, b) for a, b in zip_longest(*flat) if a != b)
    paths, other_paths = ({leaf.path for leaf in leaves} for leaves in flat)
    if a and (b is None or a.path not in other_paths):
        told, shown = a, (a.path, _whole(a), _NOTHING, "")
    elif b and (a is None or b.path not in paths):
        told, shown = b, (b.path, _NOTHING, _whole(b), "")
    else:
        assert a and b
        told, shown = a, _both(a, b)
    both = [(name, one.values.get(name, []), other.values.get(name, [])) for name in one.values | other.values]
    return Difference(*shown, [name for name, x, y in both if x != y and told not in x and told not in y])


def _both(a: Leaf, b: Leaf) -> tuple[str, str, str, str]:
    """Return the texts of a Difference between leaves that both records have, there or elsewhere."""
    if a.path != b.path:
        return "the order", f"{a.path} comes first", f"{b.path} comes first", ""
    if a.kind != b.kind or a.dtype != b.dtype:
        return a.path, _whole(a), _whole(b), ""
    if not a.dtype:
        return a.path, *_texts(a.data.decode(errors="replace"), b.data.decode(errors="replace")), ""
    return _numbers(a, b)


def _numbers(a: Leaf, b: Leaf) -> tuple[str, str, str, str]:
    size = len(a.data) // max(1, prod(a.shape))
    unequal = _unequal(a.data, b.data, size)
    first = unequal.index(1)
    one, other = (leaf.data[first * size : (first + 1) * size] for leaf in (a, b))
    apart = steps(one, other, a.dtype)
    extent = [] if apart is None else [f"{apart if apart <= _FAR else f'more than {_FAR}'} ULP apart"]
    extent += [f"{sum(unequal)} of {len(unequal)} elements differ in a {a.kind}"] if a.shape else []
    index = f"[{', '.join(map(str, _unravelled(first, a.shape)))}]" if a.shape else ""
    return f"{a.path}{index}", number(one, a.dtype), number(other, a.dtype), "; ".join(extent)


def _unequal(one: bytes, other: bytes, size: int) -> bytes:
    """Return a 1 for each element that differs and a 0 for each that does not; an element has `size` bytes."""
    if size in _WORDS:
        elements = memoryview(one).cast(_WORDS[size]), memoryview(other).cast(_WORDS[size])
        return bytes(map(operator.ne, *elements))
    return bytes(one[at : at + size] != other[at : at + size] for at in range(0, len(one), size))


def number(data: bytes, dtype: str) -> str:
    """Return a number as text with all its digits; its bits if only they differ or the dtype is not known."""
    bits = f"0x{int.from_bytes(data, sys.byteorder):0{2 * len(data)}x}"
    if dtype not in _FORMATS:
        return bits
    code, digits = _FORMATS[dtype]
    values = struct.unpack(f"={code}", _widened(data, dtype))
    text = format(complex(*values) if len(values) > 1 else values[0], digits)
    return f"{text} ({bits})" if "nan" in text else text


def steps(one: bytes, other: bytes, dtype: str) -> int | None:
    """Return how many units in the last place two floats are apart; None for other numbers, infinities and NaN."""
    if "float" not in dtype or dtype not in _FORMATS:
        return None
    code = f"={_FORMATS[dtype][0]}"
    if not all(isfinite(struct.unpack(code, _widened(data, dtype))[0]) for data in (one, other)):
        return None
    return abs(_ordered(one) - _ordered(other))


def _ordered(data: bytes) -> int:
    """Return an integer that orders floats by value; adjacent floats have adjacent integers."""
    bits, sign = int.from_bytes(data, sys.byteorder), 1 << (8 * len(data) - 1)
    return sign - bits if bits & sign else bits


def _widened(data: bytes, dtype: str) -> bytes:
    """Return a bfloat16 as the float32 whose upper half it is; other data unchanged."""
    if dtype != "bfloat16":
        return data
    return b"\0\0" + data if sys.byteorder == "little" else data + b"\0\0"


def _unravelled(index: int, shape: tuple[int, ...]) -> list[int]:
    found = []
    for length in reversed(shape):
        index, place = divmod(index, length)
        found.append(place)
    return found[::-1]


def _whole(leaf: Leaf) -> str:
    if leaf.dtype and not leaf.shape:
        return f"{number(leaf.data, leaf.dtype)}, {leaf.kind}"
    text = leaf.data.decode(errors="replace") if leaf.data and not leaf.dtype else ""
    return f"{_cut(text, 0)}, {leaf.kind}" if text else leaf.kind


def _texts(one: str, other: str) -> tuple[str, str]:
    """Return two texts, from a little before the first character that differs."""
    same = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = 0 if max(len(one), len(other)) <= _SHOWN else max(0, same - _SHOWN // 3)
    return _cut(one, start), _cut(other, start)


def _cut(text: str, start: int) -> str:
    end = start + _SHOWN
    return ("..." if start else "") + repr(text[start:end])[1:-1] + ("..." if end < len(text) else "")
