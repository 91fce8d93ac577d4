"""Probes of collections without an order of their own: sets, and the hashes and addresses behind them."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Kind, Probe, Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.verify.bench import Bench

_WORDS = [f"word{number}" for number in range(64)]
_MANY = 512  # objects: the low bits of an address, which place the members of a small set, hardly change
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


_HISTORY = "a folder that nobody writes to is listed alike each time; the order is that of its history"

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
}
NOT_PROBED: dict[str, str] = {
    "listing.list": _HISTORY,
    "listing.iterator": _HISTORY,
    "listing.entries": _HISTORY,
    "listing.walk": _HISTORY,
}
