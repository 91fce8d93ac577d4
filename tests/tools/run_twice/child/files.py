"""Digests of saved files, by what they hold where that can be told: python -m run_twice_child.files FOLDER < LIST

Reads paths relative to FOLDER, one a line, and prints a JSON object: the masked path of each, its digest. What torch
saved, pickles and arrays are loaded, with placeholders in place of classes that cannot be imported here, so neither
times within an archive nor the order of its members count. Texts have durations and dates masked. Others are compared by
their bytes, those of compressed files by what is compressed.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import pickle
import re
import struct
import sys
import types
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .masking import masked, masked_line
from .values import digest

_EVENTS = re.compile(r"events\.out\.tfevents\.")
_LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # what torch's files begin with that are no archives
_PDF_DATE = re.compile(rb"\(D:\d{14}[^)]*\)")


def main(folder: Path) -> int:
    """Print the digests of the files that are asked for."""
    found = [(masked_line(_name(line)), _file(folder / line)) for line in sys.stdin.read().splitlines()]
    print(json.dumps(sorted(found)))
    return 0


def _name(path: str) -> str:
    """A path without what a log of events has in its name: the time, the host, the process, a counter."""
    parent, _, name = path.rpartition("/")
    return f"{parent}/events" if _EVENTS.match(name) else path


def _file(path: Path) -> str:
    content = path.read_bytes()
    if _EVENTS.match(path.name):
        return _bytes("events", b"".join(_events(content)))
    return _content(content)


def _content(content: bytes) -> str:
    """The digest of a file's content, by the kind that its first bytes tell."""
    if content.startswith(b"PK\x03\x04"):
        return _archive(content)
    if content.startswith(b"\x1f\x8b"):
        return _content(gzip.decompress(content))
    if content.startswith(b"\x93NUMPY"):
        import numpy as np

        return digest(np.load(io.BytesIO(content), allow_pickle=True))
    if content.startswith(_LEGACY):
        return _torch(content)
    if content.startswith(b"\x80"):
        return _pickled(content)
    if content.startswith(b"%PDF"):
        return _bytes("pdf", _PDF_DATE.sub(b"(D)", content))
    try:
        return _bytes("text", masked(content.decode("utf-8")).encode())
    except UnicodeDecodeError:
        return _bytes("bytes", content)


def _archive(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = sorted(archive.namelist())
        if any(name.endswith("data.pkl") for name in names) and not any("/code/" in name for name in names):
            return _torch(content)
        return digest([(name, _content(archive.read(name))) for name in names])


def _torch(content: bytes) -> str:
    import torch

    return digest(torch.load(io.BytesIO(content), "cpu", _Placeholding, weights_only=False))


def _pickled(content: bytes) -> str:
    """A pickle by what it holds; what cannot be loaded counts by its bytes."""
    try:
        return digest(_Unpickler(io.BytesIO(content)).load())
    except Exception:
        return _bytes("bytes", content)


def _events(content: bytes) -> Iterator[bytes]:
    """What a log of TensorBoard says: its records without the time that each one begins with."""
    at = 0
    while at + 12 <= len(content):
        (size,) = struct.unpack_from("<Q", content, at)
        record = content[at + 12 : at + 12 + size]
        yield record[9:] if record[:1] == b"\x09" else record
        at += 16 + size


def _bytes(kind: str, content: bytes) -> str:
    return f"{kind} {hashlib.sha256(content).hexdigest()}"


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return super().find_class(module, name)
        except (ImportError, AttributeError):
            return type(name, (_Placeholder,), {"__module__": module})


class _Placeholder:
    """Stands for an object of a class that the program alone has: made of anything, with any state."""

    def __new__(cls, *arguments: Any, **named: Any) -> _Placeholder:
        made = super().__new__(cls)
        made.__dict__["made of"] = (arguments, named)
        return made

    def __init__(self, *arguments: Any, **named: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.__dict__["state"] = state

    def __setitem__(self, key: Any, value: Any) -> None:
        self.__dict__.setdefault("items", []).append((key, value))

    def append(self, value: Any) -> None:
        self.__dict__.setdefault("items", []).append(value)

    def extend(self, values: Any) -> None:
        self.__dict__.setdefault("items", []).extend(values)


_Placeholding = types.ModuleType("placeholding")
_Placeholding.__dict__.update(vars(pickle) | {"Unpickler": _Unpickler})

if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
