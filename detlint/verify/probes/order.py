"""Probes of what has no order of its own: sets, directories, and the hashes and addresses behind them.

The keys are the ids of order.toml with their table in front. Each process of a listing's probe writes the same files in
an order of its own, as a copy of a data set may have been written on another machine. It writes them to memory (tmpfs)
where it can: some file systems list by hashes of the names, which differ between file systems, but not on one of them.
"""

from __future__ import annotations

import enum
import glob
import os
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Kind, Probe, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from detlint.verify.bench import Bench

_WORDS = [f"word{number}" for number in range(64)]
_MEMORY = "/dev/shm"
_MANY = 512  # objects: the low bits of an address, which place those of a small set, hardly change
_Member = enum.Enum("_Member", _WORDS)  # type: ignore[misc]


def _texts(bench: Bench) -> Run:
    paths = [Path(word) for word in _WORDS]
    members = list(_Member)
    return lambda: [
        list(set(_WORDS)),
        [word.decode() for word in {word.encode() for word in _WORDS}],
        [path.name for path in set(paths)],
        [member.name for member in set(members)],
    ]


def _split(bench: Bench) -> Run:
    return lambda: list(set(" ".join(_WORDS).split()))


def _state_names(bench: Bench) -> Run:
    import torch

    layer = torch.nn.Transformer(16, 2, 1, 1, 32)
    return lambda: list(set(layer.state_dict()))


def _objects(bench: Bench, kind: str) -> Run:
    import torch

    made: dict[str, Callable[[], Any]] = {
        "modules": torch.nn.Identity,
        "objects": lambda: torch.zeros(1),
    }
    held = [made[kind]() for _ in range(_MANY)]
    places = {id(one): place for place, one in enumerate(held)}
    return lambda: [places[id(one)] for one in set(held)]


def _numbers(bench: Bench) -> Run:
    import torch

    numbers: list[Any] = [*range(0, 1 << 20, 4097), *(1 / number for number in range(1, 99)), True]
    devices = [torch.device("cpu"), torch.device("meta"), *(torch.device("cuda", number) for number in range(8))]
    return lambda: [list(set(numbers)), [str(device) for device in set(devices)]]


def _ranges(bench: Bench) -> Run:
    return lambda: list(set(range(0, 1 << 20, 4097)))


def _hash(bench: Bench) -> Run:
    return lambda: [hash("text"), hash(b"text"), hash(("text", 1))]


def _address(bench: Bench) -> Run:
    return lambda: id(object())


def _listing(bench: Bench, row: str) -> Run:
    folder = tempfile.TemporaryDirectory(dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None)
    for word in random.SystemRandom().sample(_WORDS, len(_WORDS)):
        Path(folder.name, word).touch()
    listings: dict[str, Callable[[], Iterable[str]]] = {
        "list": lambda: [*os.listdir(folder.name), *glob.glob("*", root_dir=folder.name)],  # noqa: PTH207, PTH208
        "iterator": lambda: [path.name for path in Path(folder.name).iterdir()],
        "entries": lambda: [entry.name for entry in os.scandir(folder.name)],
        "walk": lambda: [name for _, _, files in os.walk(folder.name) for name in files],
    }
    return lambda: list(listings[row]())


PROBES: dict[str, Probe] = {
    "element.text": Probe(_texts, kind=Kind.DRAWS),
    "element.texts": Probe(_split, kind=Kind.DRAWS),
    "element.named": Probe(_state_names, kind=Kind.DRAWS),
    "element.modules": Probe(_objects, {"kind": "modules"}, kind=Kind.DRAWS),
    "element.objects": Probe(_objects, {"kind": "objects"}, kind=Kind.DRAWS),
    "element.numbers": Probe(_numbers, kind=Kind.DRAWS),
    "element.ranges": Probe(_ranges, kind=Kind.DRAWS),
    "hash": Probe(_hash, kind=Kind.DRAWS),
    "id": Probe(_address, kind=Kind.DRAWS),
    "listing.list": Probe(_listing, {"row": "list"}, kind=Kind.DRAWS),
    "listing.iterator": Probe(_listing, {"row": "iterator"}, kind=Kind.DRAWS),
    "listing.entries": Probe(_listing, {"row": "entries"}, kind=Kind.DRAWS),
    "listing.walk": Probe(_listing, {"row": "walk"}, kind=Kind.DRAWS),
}
