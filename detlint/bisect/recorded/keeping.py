"""Values of records, kept on disk and put in place of another run's, so that they no longer differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from detlint.bisect.lines import Place
from detlint.bisect.options import Options
from detlint.bisect.records import Line

_MOST = 256 << 20  # bytes; a record with larger tensors is not kept


@dataclass(slots=True)
class Kept:
    """A record in progress: where it is kept, what it is repaired with, and the generator states it began with."""

    path: Path | None
    other: Mapping[str, Any] | None
    states: list[torch.Tensor]


class Keeper:
    """A keeper of the values of records at the sites in `keep`, which also repairs from what another run kept."""

    def __init__(self, options: Options) -> None:
        self._sites = frozenset(options.keep)
        self._folder = Path(options.keep_in) if options.keep_in else None
        self._repair = Path(options.repair) if options.repair else None

    @classmethod
    def of(cls, options: Options) -> Keeper | None:
        """Return a keeper; None if nothing is to be kept or repaired."""
        return cls(options) if options.keep or options.repair else None

    def before(
        self, stream: str, number: int, name: str, places: Sequence[Place], kwargs: Mapping[str, Any]
    ) -> Kept | None:
        """Begin a record with the generators in the other run's states. Return None if there is nothing to do."""
        kept, other = self._path(stream, number, name, places), self._other(stream, number)
        if kept is None and other is None:
            return None
        generators = [torch.default_generator, *(one for one in kwargs.values() if isinstance(one, torch.Generator))]
        if other is not None:
            for generator, state in zip(generators, other["states"], strict=False):
                if state.shape == generator.get_state().shape:
                    generator.set_state(state)
        return Kept(kept, other, [generator.get_state() for generator in generators])

    def after(self, kept: Kept, made: Sequence[Any], inputs: Sequence[Any]) -> None:
        """End a record: overwrite what it made with what the other run made, and keep it."""
        tensors = [one for one in made if isinstance(one, torch.Tensor)]
        if kept.other is not None:
            _overwrite(tensors, kept.other["outputs"])
        if kept.path is not None:
            _save(kept.path, {"outputs": tensors, "inputs": list(inputs), "states": kept.states})

    def event(self, stream: str, number: int, kind: str, places: Sequence[Place], value: Any) -> None:
        """Keep or overwrite the tensors that came in with an event."""
        kept, other = self._path(stream, number, kind, places), self._other(stream, number)
        tensors = _tensors(value)
        with torch.no_grad():
            if other is not None:
                _overwrite(tensors, other["outputs"])
            if kept is not None:
                _save(kept, {"outputs": [one.detach() for one in tensors], "inputs": [], "states": []})

    def _path(self, stream: str, number: int, name: str, places: Sequence[Place]) -> Path | None:
        at = [f"{name}@{Line(*place)}" for place in places[:1]]
        if self._folder is None or self._sites.isdisjoint((f"{stream}:{number}", *at)):
            return None
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / f"{stream}-{number}.pt"

    def _other(self, stream: str, number: int) -> Mapping[str, Any] | None:
        if self._repair is None:
            return None
        path = self._repair / f"{stream}-{number}.pt"
        if not path.is_file():
            return None
        load = getattr(torch.load, "detlint_replaces", torch.load)  # not a checkpoint of the program
        found: Mapping[str, Any] = load(path, weights_only=True)
        return found


def _overwrite(tensors: Sequence[torch.Tensor], values: Sequence[torch.Tensor]) -> None:
    for tensor, value in zip(tensors, values, strict=False):
        if tensor.shape == value.shape and tensor.dtype == value.dtype:
            tensor.copy_(value)


def _save(path: Path, values: Mapping[str, list[torch.Tensor]]) -> None:
    size = sum(one.numel() * one.element_size() for tensors in values.values() for one in tensors)
    if size <= _MOST:
        torch.save({name: [one.detach().clone() for one in tensors] for name, tensors in values.items()}, path)


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [one for item in value.values() for one in _tensors(item)]
    if isinstance(value, (list, tuple)):
        return [one for item in value for one in _tensors(item)]
    return []
