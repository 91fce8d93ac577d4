"""The results of a run, as bits: values taken apart into leaves, each with the path that leads to it."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import hashlib
import json
import pathlib
import struct
import sys
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import astuple, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

_TEXT = (
    *(type(None), bool, int, str, enum.Enum, range, type(...), decimal.Decimal, fractions.Fraction, uuid.UUID),
    *(datetime.date, datetime.time, datetime.timedelta, pathlib.PurePath),
)
_DECIMAL = 2048  # bits of an integer that is shown in decimal; Python refuses to write very long ones
_TEXTS, _BITS = "record.json", "record.bits"
_TORCH_TEXT = ("device", "dtype", "layout", "memory_format")


class IncomparableError(TypeError):
    """A value that does not reveal its bits."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value without parts: text, or numbers of one dtype with the bytes that they have in memory.

    `path` leads to it: `loss[2]['weight']`; `kind` says what it is, with dtype, shape and device. Numbers have a
    `dtype` (`float32`) and a shape, `()` for one number; for text, in UTF-8, `dtype` is empty. A container is a leaf
    without data, followed by its parts.
    """

    path: str
    kind: str
    data: bytes = b""
    dtype: str = ""
    shape: tuple[int, ...] = ()


@dataclass
class Record:
    """The values that one run recorded, by name and in order, and what it did to the global generators.

    `before` and `after` are digests of the generators' states when the run began and when it ended.
    """

    values: dict[str, list[Leaf]] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter, repr=False, compare=False)

    def add(self, name: str, value: Any) -> None:
        """Copy the bits of a value. The second value of a name is called `name#2`.

        Raises IncomparableError if something in it has no bits to compare.
        """
        self._counts[name] += 1
        label = name if self._counts[name] == 1 else f"{name}#{self._counts[name]}"
        try:
            self.values[label] = list(leaves(label, value))
        except RecursionError:
            raise IncomparableError(
                f"{label} holds itself, or is nested too deeply: record the numbers in it"
            ) from None

    def save(self, folder: Path) -> None:
        """Write the record into an existing folder: a JSON text and the bits themselves."""
        described = {
            name: [(leaf.path, leaf.kind, len(leaf.data), leaf.dtype, leaf.shape) for leaf in value]
            for name, value in self.values.items()
        }
        saved = {"values": described, "before": self.before, "after": self.after}
        (folder / _TEXTS).write_text(json.dumps(saved), encoding="utf-8")
        with (folder / _BITS).open("wb") as bits:
            bits.writelines(leaf.data for value in self.values.values() for leaf in value)

    @staticmethod
    def load(folder: Path) -> Record | None:
        """Return what save() wrote, or None if it wrote nothing."""
        if not (folder / _TEXTS).exists():
            return None
        saved = json.loads((folder / _TEXTS).read_text(encoding="utf-8"))
        with (folder / _BITS).open("rb") as bits:
            values = {
                name: [
                    Leaf(path, kind, bits.read(size), dtype, tuple(shape)) for path, kind, size, dtype, shape in value
                ]
                for name, value in saved["values"].items()
            }
        return Record(values, saved["before"], saved["after"])


def generator_states() -> dict[str, str]:
    """Return a digest of the state of each global generator of this process, by a name for people."""
    from detlint.runtime import rng_state

    state = rng_state()
    named = {"random": state["python"], "NumPy": state["numpy"], "torch": state["torch"]}
    for kind, states in state["devices"].items():
        named |= {f"torch on {kind}:{index}": one for index, one in enumerate(states)}
    named |= state["registered"]
    return {name: _digest(value) for name, value in named.items() if value is not None}


def leaves(path: str, value: Any) -> Iterator[Leaf]:
    """Yield the leaves of a value, depth first.

    Dicts keep the order of their keys, as lists do. A set is compared by its elements, without an order. An object with
    a `state_dict()` (a module, an optimizer) is compared by its state, including buffers of modules that are not saved.
    Raises IncomparableError for other objects.
    """
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    name = type(value).__name__
    if torch and isinstance(value, torch.Tensor):
        yield from _tensor(path, value)
    elif numpy and isinstance(value, (numpy.ndarray, numpy.generic)):
        yield from _array(path, numpy.asanyarray(value))
    elif isinstance(value, float):
        yield Leaf(path, name, struct.pack("=d", value), "float64")
    elif isinstance(value, complex):
        yield Leaf(path, name, struct.pack("=2d", value.real, value.imag), "complex128")
    elif isinstance(value, (bytes, bytearray)):
        yield Leaf(path, f"{name} object of length {len(value)}", bytes(value), "uint8", (len(value),))
    elif isinstance(value, (*_TEXT, type)) or (type(value).__module__ == "torch" and name in _TORCH_TEXT):
        yield Leaf(path, name, (value if isinstance(value, str) else _text(value)).encode("utf-8", "surrogatepass"))
    elif isinstance(value, Set):
        yield Leaf(path, name)
        yield from (Leaf(f"{path}{{{text}}}", "element", text.encode()) for text in sorted(_element(path, value)))
    else:
        yield Leaf(path, name)
        for step, part in _parts(path, value):
            yield from leaves(path + step, part)


def _parts(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        yield from ((f".{name}", getattr(value, name)) for name in value._fields)
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{index}]", item) for index, item in enumerate(value))
    elif isinstance(value, Mapping):
        yield from ((f"[{key!r}]", item) for key, item in value.items())
    elif is_dataclass(value) and not isinstance(value, type):
        yield from ((f".{one.name}", getattr(value, one.name)) for one in fields(value))
    elif callable(getattr(value, "state_dict", None)):
        state = dict(value.state_dict())
        if hasattr(value, "named_buffers"):
            state |= {name: buffer for name, buffer in value.named_buffers() if name not in state}
        yield from ((f"[{key!r}]", item) for key, item in state.items())
    else:
        raise IncomparableError(f"{path} is {_article(value)}, which has no bits to compare: record the numbers in it")


def _tensor(path: str, tensor: Any) -> Iterator[Leaf]:
    from detlint.verify import bits

    dtype = str(tensor.dtype).removeprefix("torch.")
    shape = "nested" if tensor.is_nested else tuple(tensor.shape)
    kind = f"{dtype} tensor of shape {shape} on {tensor.device}"
    if tensor.is_nested or str(tensor.layout) != "torch.strided":
        yield Leaf(path, f"{kind}, {str(tensor.layout).removeprefix('torch.')}")
        names = ("indices", "values") if "coo" in str(tensor.layout) else ("outer indices", "inner indices", "values")
        parts = tensor.detach().unbind() if tensor.is_nested else bits.leaves(tensor)
        for index, part in enumerate(parts):
            yield from _tensor(f"{path}[{index}]" if tensor.is_nested else f"{path} ({names[index]})", part)
        return
    if tensor.is_quantized and "channel" in str(tensor.qscheme()):
        scales, zeros = tensor.q_per_channel_scales().tolist(), tensor.q_per_channel_zero_points().tolist()
        kind += f", scale {scales}, zero point {zeros}, channel {tensor.q_per_channel_axis()}"
    elif tensor.is_quantized:
        kind += f", scale {tensor.q_scale()}, zero point {tensor.q_zero_point()}"
    (plain,) = [tensor] if tensor.is_meta else bits.leaves(tensor)
    yield Leaf(path, kind, b"" if tensor.is_meta else bits.raw(plain), dtype, tuple(tensor.shape))


def _array(path: str, array: Any) -> Iterator[Leaf]:
    kind = f"{array.dtype.name} array of shape {array.shape}" if array.shape else array.dtype.name
    if hasattr(array, "mask"):
        yield from leaves(path, {"data": array.data, "mask": array.mask})
    elif array.dtype.names:
        yield Leaf(path, kind)
        for name in array.dtype.names:  # one by one: a struct's padding is not part of it
            yield from _array(f"{path}[{name!r}]", array[name])
    elif array.dtype.kind in "OUST":
        yield from leaves(path, array.tolist())
    elif array.dtype.char in "gG":  # long doubles are padded too
        yield from _array(path, array.astype(str))
    else:
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        yield Leaf(path, kind, native.tobytes(), array.dtype.name, array.shape)


def _element(path: str, values: Any) -> Iterator[str]:
    """Yield texts that tell the elements of a set apart."""
    for value in values:
        if isinstance(value, (*_TEXT, type, float, complex, bytes)):
            yield _text(value)
        elif isinstance(value, frozenset):
            yield f"{{{', '.join(sorted(_element(path, value)))}}}"
        elif isinstance(value, tuple):
            yield f"({', '.join(_element(path, value))})"
        else:
            raise IncomparableError(
                f"{path} is a set with {_article(value)} in it: record a list in an order of your own"
            )


def _text(value: Any) -> str:
    """Return a text that has no address in it."""
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, int) and value.bit_length() > _DECIMAL:
        return hex(value)
    return f"{type(value).__name__}.{value.name}" if isinstance(value, enum.Enum) else repr(value)


def _digest(value: Any) -> str:
    total = hashlib.blake2b(digest_size=16)
    for leaf in leaves("", value):
        total.update(repr(astuple(leaf)).encode())
    return total.hexdigest()


def _article(value: Any) -> str:
    name = type(value).__name__
    return f"an {name}" if name[0] in "AEIOUaeiou" else f"a {name}"
