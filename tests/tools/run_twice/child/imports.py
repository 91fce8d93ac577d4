"""What is done when a program imports torch or torchvision.

A build of torchvision for another device than torch's cannot load its operators, and its import fails because two of them
are declared nowhere. They are declared then, without a kernel, and the import is tried again: what a program uses of
torchvision beside operators (datasets, transforms, models) works.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_Load = Callable[[ModuleType], None]


class Around(MetaPathFinder):
    """Has a function load a module of the top level, given the module and the function that loads it otherwise."""

    def __init__(self, name: str, load: Callable[[ModuleType, _Load], None]) -> None:
        self._name = name
        self._load = load
        self._busy = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find what others find for the name, with another way to load it."""
        if fullname != self._name or self._busy:
            return None
        self._busy = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._busy = False
        if spec and spec.loader:
            usual = spec.loader.exec_module
            setattr(spec.loader, "exec_module", lambda module: self._load(module, usual))  # noqa: B010
        return spec


def install(after_torch: Callable[[], None] | None) -> None:
    """Call a function once torch is imported, and mend an import of torchvision that fails for want of operators."""

    def torch(module: ModuleType, load: _Load) -> None:
        load(module)
        if after_torch:
            after_torch()

    sys.meta_path[:0] = [Around("torch", torch), Around("torchvision", _torchvision)]


def _torchvision(module: ModuleType, load: _Load) -> None:
    before = set(sys.modules)
    try:
        load(module)
    except RuntimeError as error:
        if "operator torchvision::" not in str(error):
            raise
        for name in set(sys.modules) - before:
            if name.startswith("torchvision."):
                del sys.modules[name]
        _declare()
        load(module)


def _declare() -> None:
    import torch

    library = torch.library.Library("torchvision", "DEF")  # type: ignore[no-untyped-call]
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")  # type: ignore[no-untyped-call]
    _LIBRARIES.append(library)


_LIBRARIES: list[object] = []  # what one declares is gone with it
