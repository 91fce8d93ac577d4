"""Actions that run as soon as the program has imported a module, and not before.

torch is not imported ahead of the program: a script may set variables that torch reads at import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

_waiting: dict[str, Callable[[], None]] = {}


def after_import(name: str, action: Callable[[], None]) -> None:
    """Call `action` once the module `name` has been imported; at once if it already has been."""
    if name in sys.modules:
        action()
        return
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    _waiting[name] = action


def loaded(besides: str) -> None:
    """Run the actions for modules that were loaded without being found, except `besides`, which is being imported."""
    for name in [one for one in _waiting if one in sys.modules and one != besides]:
        action = _waiting.pop(name, None)
        if action is not None:
            action()


class _Finder(MetaPathFinder):
    """A finder of the awaited modules, which finds them as the other finders do."""

    def __init__(self) -> None:
        self._busy: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _waiting or fullname in self._busy:
            return None
        self._busy.add(fullname)
        try:
            spec = find_spec(fullname)
        finally:
            self._busy.discard(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    """A loader that loads as the module's own loader does, and then runs the action."""

    def __init__(self, own: Loader) -> None:
        self._own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        if spec is not None:
            spec.loader = self._own
        module.__loader__ = self._own
        self._own.exec_module(module)
        action = _waiting.pop(module.__name__, None)
        if action is not None:
            action()
