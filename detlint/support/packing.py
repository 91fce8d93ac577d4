"""Serialization of records between processes of one run. Bytes that outlive a run are written by `codec`."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any


class _Pickler(pickle.Pickler):
    """A pickler that writes a dataclass with slots as its class and its fields; the dataclass default is slower."""

    def reducer_override(self, value: object) -> Any:
        kind: Any = type(value)
        fields_of = _getter(kind)
        return NotImplemented if fields_of is None else (kind, fields_of(value))


@cache
def _getter(kind: type) -> Callable[[Any], tuple[Any, ...]] | None:
    if not is_dataclass(kind) or "__slots__" not in vars(kind) or not all(field.init for field in fields(kind)):
        return None
    names = [field.name for field in fields(kind)]
    if len(names) < 2:
        return lambda value: tuple(getattr(value, name) for name in names)
    return attrgetter(*names)


def pack(value: object) -> bytes:
    """Return a value pickled as bytes. Raises RecursionError."""
    written = io.BytesIO()
    _Pickler(written, pickle.HIGHEST_PROTOCOL).dump(value)
    return written.getvalue()


def unpack(content: bytes) -> Any:
    """Return the value in bytes that another process of this run packed."""
    return pickle.loads(content)
