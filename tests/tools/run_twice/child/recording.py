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
            written = Path(folder) / f"{started}.part"
            written.write_text(json.dumps(record), encoding="utf-8")
            written.replace(written.with_suffix(".json"))  # whole, or not there: the process may be killed meanwhile

    atexit.register(write)


def _parameters() -> Iterator[str]:
    """Digests of what optimizers hold and of the parameters and buffers of modules, each tensor once.

    A module counts if an optimizer has its parameters, or if it is alive: one that was made and thrown away is no result.
    """
    if "torch" not in sys.modules:
        return
    import torch

    from .values import bits

    seen: dict[int, torch.Tensor] = {}
    _gather_trained(seen)
    _KEPT.clear()
    gc.collect()
    for each in gc.get_objects():
        if _is_one(each, torch.nn.Module):
            _gather(_held(each), seen)
    for tensor in seen.values():
        yield bits(tensor)


def _gather_trained(seen: dict[int, Any]) -> None:
    """Add what optimizers hold, and the buffers beside it."""
    import torch

    for each in [*_KEPT, *gc.get_objects()]:
        if _is_one(each, torch.optim.Optimizer):
            _gather([each.__dict__.get("state"), [group.get("params") for group in each.param_groups]], seen)
    trained = set(seen)
    for each in _KEPT:
        if _is_one(each, torch.nn.Module) and trained & set(map(id, _held(each)[0].values())):
            _gather(_held(each), seen)


def _held(module: Any) -> list[dict[str, Any]]:
    """Parameters and buffers that are a module's own, by name."""
    return [module.__dict__.get(name) or {} for name in ("_parameters", "_buffers")]


def _gather(value: Any, seen: dict[int, Any]) -> None:
    """Add all tensors in nested containers, by their identity."""
    import torch

    if isinstance(value, torch.Tensor):
        seen[id(value)] = value
    elif isinstance(value, (dict, list, tuple)):
        for one in value.values() if isinstance(value, dict) else value:
            _gather(one, seen)


def _is_one(value: Any, kind: type) -> bool:
    return issubclass(type(value), kind)  # `isinstance` would wake lazy objects by their `__class__`


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
