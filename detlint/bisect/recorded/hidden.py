"""Modules that a process imported ahead of the program, hidden until the program imports them.

What the program may configure beforehand, it finds as in a fresh process: nothing of torch is there. If it has set what
torch reads at import, or would import another torch, the run is of no use, and `_unlike` is called.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from detlint.bisect.recorded import watch

_TORCH = "torch"
# variables that torch, numpy and their libraries read at import; they read all others when these are used
_READ = (
    "OMP_ KMP_ GOMP_ MKL_ OPENBLAS_ PYTORCH_ TORCH_ TORCHDYNAMO_ TORCHINDUCTOR_ ATEN_ DNNL_ ONEDNN_ NUMPY_ NPY_ "
    "USE_NNPACK TRITON_"
).split()


def environment() -> dict[str, str]:
    """Return the environment variables that are read when modules are imported."""
    return {key: value for key, value in os.environ.items() if key.startswith(tuple(_READ))}


def hide(before: Mapping[str, ModuleType], unlike: Callable[[str], None]) -> None:
    """Hide the library modules that were not there `before`; call `unlike` if they do not suit the program."""
    new = {name: module for name, module in list(sys.modules.items()) if name not in before}
    hidden = {name: module for name, module in new.items() if name.partition(".")[0] not in sys.stdlib_module_names}
    for name in hidden:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder(hidden, unlike))


def shadows(folder: str) -> str:
    """Return a module in this folder whose name is already imported, so that a program may mean it; "" if none is."""
    taken = {name.partition(".")[0] for name in sys.modules} - {"__main__", "detlint"}
    try:
        found = sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return ""
    for name in found:
        module = name.removesuffix(".py")
        if module in taken and (module != name or os.path.isfile(os.path.join(folder, name, "__init__.py"))):  # noqa: PTH113, PTH118
            return name
    return ""


class _Finder(MetaPathFinder):
    def __init__(self, hidden: dict[str, ModuleType], unlike: Callable[[str], None]) -> None:
        self._hidden = hidden
        self._environment = environment()
        self._unlike = unlike

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a hidden module if the path leads to the same module; None if it is not hidden."""
        module = self._hidden.get(fullname)
        if module is None or "." in fullname:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin != getattr(module.__spec__, "origin", None):
            self._unlike(f"another {fullname} is on the path")
            return spec
        spec.loader = _Loader(self)
        return spec

    def check(self) -> None:
        """Report if the program has set a variable that an import reads."""
        now = environment()
        changed = [name for name in {**now, **self._environment} if now.get(name) != self._environment.get(name)]
        if changed:
            self._unlike(f"the program sets {changed[0]} before torch is imported")

    def give(self, name: str) -> ModuleType:
        """Return a hidden module."""
        return self._hidden[name]

    def give_back(self, name: str) -> None:
        """Put a module and its submodules back into `sys.modules`; with torch, put back all modules."""
        groups = {one.partition(".")[0] for one in self._hidden} if name == _TORCH else {name}
        for one in list(self._hidden):
            if one.partition(".")[0] in groups:
                sys.modules[one] = self._hidden.pop(one)
        if not self._hidden and self in sys.meta_path:
            sys.meta_path.remove(self)


class _Loader(Loader):
    def __init__(self, finder: _Finder) -> None:
        self._finder = finder
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = self._finder.give(spec.name)
        self._finder.check()
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        if self._spec is not None:
            module.__spec__ = self._spec
            module.__loader__ = self._spec.loader
        self._finder.give_back(module.__name__)
        watch.loaded(module.__name__)
