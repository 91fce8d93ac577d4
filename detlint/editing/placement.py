"""Where a project gets the runtime that fixes insert: from the installed package, or from its own copy."""

from __future__ import annotations

import os
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath

from detlint.editing.vendoring import FILE, RUNTIME, has_all, is_foreign, vendored_names, vendored_text
from detlint.finding import Edit, Fix, Import, Safety
from detlint.sources.imports import Imports
from detlint.sources.source import UnreadableError
from detlint.support.records import record

_MODULE = PurePosixPath(FILE).stem
_ROOT = re.compile(r"^[ \t]*(?:from|import)[ \t]+([\w.]+)", re.MULTILINE)
_ALWAYS = re.compile(r'^(?:[ \t]*")?(?:from|import)[ \t]+([\w.]+)', re.MULTILINE)  # a notebook has it in quotes
_IMPORTED = re.compile(rf"^from[ \t]+([\w.]*\b{_MODULE}|{re.escape(RUNTIME)})[ \t]+import\b", re.MULTILINE)


def is_vendored(mode: str, requirements: Iterable[str]) -> bool:
    """Return whether a project with these requirements gets a copy of the runtime.

    "auto" imports the runtime if it is required. So does "inline", for what has no lines of its own.
    """
    required = any(re.match(r"\s*detlint\b(?![\w.-])", line) for line in requirements)
    return mode == "vendor" or (mode in ("auto", "inline") and not required)


@record(frozen=True)
class Placement:
    """How the files of a project import the runtime.

    `vendored` says whether they use a copy in the project. `names` are the dotted names of the project's files by path,
    of those in folders without an `__init__.py` where known, and `text` returns the text of one. An `installable`
    project may be installed without the copies that fixes make.
    """

    vendored: bool
    names: Mapping[str, str]
    text: Callable[[str], str]
    installable: bool = False

    def placed(self, fix: Fix) -> Fix:
        """Return a fix whose imports find the runtime; display only if a file that is not detlint's is in the way."""
        imports = tuple(self._placed(need) if need.module == RUNTIME else need for need in fix.imports)
        copies = {self._copy(need) for need in imports} - {None}
        if any(copy is not None and is_foreign(copy) for copy in copies):
            title = f"{fix.title}, but there is another {FILE}: rename that, or use `--runtime import`"
            return replace(fix, title=title, safety=Safety.DISPLAY, lowered=None)
        edits = tuple(self._renamed(edit, imports) for edit in fix.edits)
        return replace(fix, imports=imports, edits=edits)

    def _renamed(self, edit: Edit, imports: Iterable[Import]) -> Edit:
        """Return an edit that imports the runtime by its name in the file."""
        name = next((need.module for need in imports if need.inline and need.path == edit.place.path), RUNTIME)
        return replace(edit, text=edit.text.replace(f"from {RUNTIME} import", f"from {name} import"))

    def is_shared(self, path: str) -> bool:
        """Return whether others may use the copy that a file imports: of a package, in the root, or already there."""
        need = self._placed(Import(path, RUNTIME, ""))
        copy = self._copy(need)
        return copy is not None and ("." in need.module or copy.parent == self._root or copy.exists())

    @cached_property
    def _root(self) -> Path:
        """The folder that all files are in."""
        folders = {posixpath.dirname(path) for path in self.names}
        return Path("" if "" in folders or not folders else os.path.commonpath(folders))

    def is_imported(self, path: str) -> bool:
        """Return whether others may import a file as a module of a package."""
        folders = {posixpath.dirname(path), *map(str, PurePosixPath(path).parents)}
        return "." in self.names.get(path, "") or not folders.isdisjoint(self._packaged)

    def copies(self, needs: Iterable[Import]) -> dict[str, str]:
        """Return the texts of new or growing copies of the runtime that imports load, by path.

        A copy keeps the functions that it has.
        """
        wanted: dict[str, set[str]] = defaultdict(set)
        for need in needs:
            path = self._copy(need)
            if path is not None and need.name is not None:
                wanted[path.as_posix()].add(need.name)
        there = {path: self._text(path) for path in wanted}
        lacking = {path: names for path, names in wanted.items() if not has_all(there[path], names)}
        return {path: vendored_text(names | vendored_names(there[path])) for path, names in lacking.items()}

    def _placed(self, need: Import) -> Import:
        there = _IMPORTED.search(self._text(need.path))
        if there is not None:
            return replace(need, module=there[1])
        return replace(need, module=self._module(need)) if self.vendored else need

    def _module(self, need: Import) -> str:
        """Return the name by which a file imports a copy: an existing one, otherwise one to be made."""
        packages = self._packages(need)
        beside = posixpath.join(posixpath.dirname(need.path), FILE)
        if not packages or (beside in self.names and packages[0] not in self._own(need.path)):
            return _MODULE
        there = (name for package in packages for name in self._there(package, need.path))
        return next(there, f"{packages[0]}.{_MODULE}")

    def _there(self, package: str, path: str) -> list[str]:
        """Return the names of the copies in a package that a file imports, those at its top first."""
        top = self._folder(package, path)
        found = [name for copy, name in self._known.items() if name.startswith(f"{package}.") and top in copy.parents]
        return sorted(found, key=lambda name: (name.count("."), name))

    def _copy(self, need: Import) -> Path | None:
        """Return the path of the copy that an import loads, if fixes may make or update it; otherwise None."""
        *packages, name = need.module.lstrip(".").split(".")
        level = len(need.module) - len(need.module.lstrip("."))
        if name != _MODULE:
            return None
        if packages and not level:
            found = self._folder(".".join(packages), need.path)
            return None if found is None else found / FILE
        folder = Path(need.path).parent
        for _ in range(level - 1):
            folder = Path(os.path.normpath(folder / ".."))  # the `parent` of "." would be "." itself
        return folder.joinpath(*packages, FILE)

    def _folder(self, package: str, path: str) -> Path | None:
        """Return the folder of a package that a file is in or imports; None if it is not known."""
        top, *inner = package.split(".")
        own = self._own(path)
        folder = Path(path).parent
        if own[:1] == [top]:
            for _ in own[1:]:
                folder = Path(os.path.normpath(folder / ".."))
            return folder.joinpath(*inner)
        named = (self._imports.find(name, path, path) for name in (f"{package}.{_MODULE}", package))
        found = next(filter(None, named), None)
        if found is not None:
            return Path(found).parent
        return next((each for each in Path(path).parents if each.name == package), None)  # without an `__init__.py`

    def _own(self, path: str) -> list[str]:
        """Return the packages that a file is in, the outermost first."""
        parts = self.names.get(path, "").split(".")
        return parts if path.endswith("__init__.py") else parts[:-1]

    def _packages(self, need: Import) -> list[str]:
        """Return the packages at whose top a file may find a copy; none if the copy goes beside the file.

        The file's own package counts if the file is imported from it, rather than run as a script beside the modules it
        imports. So do the packages that it imports, with an `__init__.py`, the largest first. A new copy does not go
        into a package that may be installed, nor, for a script in the root, into one with less than half of the files.
        Where a file's imports do not decide, those at the top are for importers of the file, and those in the main
        block for who runs it.
        """
        path, text = need.path, self._text(need.path)
        own = self._own(path)[:1]
        roots = {name.partition(".")[0] for name in _ROOT.findall(text)}
        used = [name for name in self._used(path, text) if name not in own]
        if not own:
            used = [name for name in used if self._is_for_copies(name, path) or any(self._there(name, path))]
        if own and ("" in roots or own[0] in roots):
            return own + used
        script = need.inline or roots & self._modules[posixpath.dirname(path)]
        return used or ([] if script else own)

    def _used(self, path: str, text: str) -> list[str]:
        """Return the packages of the project that a file always imports, the largest first."""
        roots = {name.partition(".")[0] for name in _ALWAYS.findall(text)} & self._sizes.keys()
        found = {name: self._imports.find(name, path, path) or "" for name in roots}
        packages = [name for name, init in found.items() if init.endswith("__init__.py") and self.names[init] == name]
        return sorted(packages, key=lambda name: (-self._sizes[name], name))

    def _is_for_copies(self, package: str, path: str) -> bool:
        """Return whether a package is where a script that imports it may find a new copy."""
        in_root = Path(path).parent == self._root
        return not self.installable and (not in_root or 2 * self._sizes[package] >= len(self.names))

    def _text(self, path: str) -> str:
        """Return the text of a file; "" if it is gone by now, so that nothing is written to it."""
        try:
            return self.text(path)
        except UnreadableError:
            return ""

    @cached_property
    def _packaged(self) -> set[str]:
        """The folders of modules that are in a package."""
        return {posixpath.dirname(path) for path, name in self.names.items() if "." in name}

    @cached_property
    def _imports(self) -> Imports:
        return _imports_of(tuple(self.names))

    @cached_property
    def _sizes(self) -> Counter[str]:
        """The number of files in the packages of each name."""
        inside = (name for path, name in self.names.items() if "." in name or path.endswith("__init__.py"))
        return Counter(name.partition(".")[0] for name in inside)

    @cached_property
    def _known(self) -> Mapping[Path, str]:
        """The names of the existing copies, by path."""
        return {Path(path): name for path, name in self.names.items() if posixpath.basename(path) == FILE}

    @cached_property
    def _modules(self) -> Mapping[str, set[str]]:
        """The names by which the files of each folder import each other as scripts."""
        found: dict[str, set[str]] = defaultdict(set)
        for path in self.names:
            folder, name = posixpath.split(path)
            found[folder].add(posixpath.splitext(name)[0])
        return found


@lru_cache(2)  # edits of a project ask for the same files repeatedly
def _imports_of(paths: tuple[str, ...]) -> Imports:
    """Return how files of these paths import each other."""
    return Imports(paths)
