"""Records as bytes between processes of one run. Another run cannot rely on them: `codec` is for what is kept."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any


class _Pickler(pickle.Pickler):
    """Writes a dataclass with slots as its class and its fields: what dataclasses do by themselves takes longer."""

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
    """The bytes of a value that can be pickled. Raises RecursionError."""
    written = io.BytesIO()
    _Pickler(written, pickle.HIGHEST_PROTOCOL).dump(value)
    return written.getvalue()


def unpack(content: bytes) -> Any:
    """The value of bytes that another process of this run packed."""
    return pickle.loads(content)
