"""What is left of a run when its process ends: the bits of all parameters, and which files of the repository it loaded."""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_KEPT: list[Any] = []  # modules and optimizers that the program made, alive until it ends


def keep() -> None:
    """Keep all modules and optimizers that are made from now on: functions that trained them drop them on return."""
    import torch

    for each in (torch.nn.Module, torch.optim.Optimizer):
        each.__init__ = _keeping(each.__init__)  # type: ignore[method-assign]


def _keeping(make: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(make)
    def kept(self: Any, *arguments: Any, **named: Any) -> None:
        make(self, *arguments, **named)
        _KEPT.append(self)

    return kept


def record_at_exit(folder: str, root: str) -> None:
    """Write a record of this process to `folder` when it ends, of the files that it loaded from below `root`."""
    started, cwd = os.getpid(), Path.cwd()

    def write() -> None:
        if os.getpid() == started:  # a forked process ends otherwise, or is not one of the program's own
            record = {"parameters": sorted(_parameters()), "loaded": sorted(_loaded(root, cwd))}
            (Path(folder) / f"{started}.json").write_text(json.dumps(record), encoding="utf-8")

    atexit.register(write)


def _parameters() -> Iterator[str]:
    """Digests of all parameters and buffers of modules and of all that optimizers hold, each tensor once."""
    if "torch" not in sys.modules:
        return
    import torch

    from .values import bits

    seen: dict[int, Any] = {}

    def add(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            seen[id(value)] = value
        elif isinstance(value, dict):
            for one in value.values():
                add(one)
        elif isinstance(value, (list, tuple)):
            for one in value:
                add(one)

    def is_one(value: Any, kind: type) -> bool:
        return issubclass(type(value), kind)  # `isinstance` would wake lazy objects by their `__class__`

    for each in [*_KEPT, *gc.get_objects()]:
        if is_one(each, torch.nn.Module):
            add(each.__dict__.get("_parameters"))
            add(each.__dict__.get("_buffers"))
        elif is_one(each, torch.optim.Optimizer):
            add(each.__dict__.get("state"))
            add([group.get("params") for group in each.__dict__.get("param_groups", ())])
    for tensor in seen.values():
        yield bits(tensor)


def _loaded(root: str, cwd: Path) -> set[str]:
    """The files below a folder that are loaded as modules, relative to it, of a process started in the folder `cwd`."""
    places = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    files = [place for place in places if isinstance(place, str) and Path(place).is_absolute()]
    script = getattr(sys.modules["__main__"].__loader__, "path", None)  # its `__file__` is gone when it has run
    if isinstance(script, str):
        files.append(str(cwd / script))
    below = os.path.realpath(root)
    real = map(os.path.realpath, files)
    return {os.path.relpath(file, below) for file in real if file.startswith(below + os.sep)}
