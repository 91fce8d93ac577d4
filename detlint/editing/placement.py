"""Where a project gets the runtime from that fixes insert: the installed package, or a copy of its own."""

from __future__ import annotations

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from detlint.editing.vendoring import FILE, RUNTIME, vendored_text, vendored_version
from detlint.finding import Edit, Fix, Import, Safety
from detlint.records import record
from detlint.sources.source import UnreadableError, read

_MODULE = PurePosixPath(FILE).stem
_ROOT = re.compile(r"^[ \t]*(?:from|import)[ \t]+([\w.]+)", re.MULTILINE)
_IMPORTED = re.compile(rf"^from[ \t]+([\w.]*\b{_MODULE}|{re.escape(RUNTIME)})[ \t]+import\b", re.MULTILINE)


def is_vendored(mode: str, requirements: Iterable[str]) -> bool:
    """Whether a project with these requirements gets a copy of the runtime: "auto" imports it where it is required."""
    required = any(re.match(r"\s*detlint\b(?![\w.-])", line) for line in requirements)
    return mode == "vendor" or (mode == "auto" and not required)


@record(frozen=True)
class Placement:
    """How the files of a project import the runtime.

    `vendored` says whether from a copy in the project, `names` are the dotted names of its files by path, of those in
    folders without an `__init__.py` where they are known, and `text` gives the text of one.
    """

    vendored: bool
    names: Mapping[str, str]
    text: Callable[[str], str]

    def placed(self, fix: Fix) -> Fix:
        """A fix whose imports find the runtime. It is only shown where a file that is not detlint's is in the way."""
        imports = tuple(self._placed(need) if need.module == RUNTIME else need for need in fix.imports)
        copies = {self._copy(need) for need in imports} - {None}
        if any(copy is not None and _is_foreign(copy) for copy in copies):
            title = f"{fix.title}, but there is another {FILE}: rename that, or use `--runtime import`"
            return replace(fix, title=title, safety=Safety.DISPLAY, lowered=None)
        edits = tuple(self._renamed(edit, imports) for edit in fix.edits)
        return replace(fix, imports=imports, edits=edits)

    def _renamed(self, edit: Edit, imports: Iterable[Import]) -> Edit:
        """An edit that imports the runtime by the name that the file has for it."""
        name = next((need.module for need in imports if need.inline and need.path == edit.place.path), RUNTIME)
        return replace(edit, text=edit.text.replace(f"from {RUNTIME} import", f"from {name} import"))

    def is_imported(self, path: str) -> bool:
        """Whether a file may be imported by others as a module of a package."""
        folders = {posixpath.dirname(path), *map(str, PurePosixPath(path).parents)}
        return "." in self.names.get(path, "") or not folders.isdisjoint(self._packaged)

    def copy(self, need: Import) -> tuple[str, str] | None:
        """The path and the text of the copy of the runtime that an import loads; None for another import."""
        path = self._copy(need)
        return None if path is None else (path.as_posix(), vendored_text())

    def _placed(self, need: Import) -> Import:
        there = _IMPORTED.search(self._text(need.path))
        if there is not None:
            return replace(need, module=there[1])
        return replace(need, module=self._module(need)) if self.vendored else need

    def _module(self, need: Import) -> str:
        """The name by which a file imports a copy."""
        packages = self._packages(need)
        return f"{packages[0]}.{_MODULE}" if packages else _MODULE

    def _copy(self, need: Import) -> Path | None:
        """The path of the copy that an import loads, where it is one that fixes make or may bring up to date."""
        folder = Path(need.path).parent
        top, _, name = need.module.rpartition(".")
        if need.module == self._module(need):
            above = len(self._packages(need)[1:])
        elif need.module.lstrip(".") == _MODULE:
            above = need.module.count(".") - 1
        elif name == _MODULE:  # in a folder without an `__init__.py`
            return next((each / FILE for each in Path(need.path).parents if each.name == top), None)
        else:
            return None
        for _ in range(above):
            folder = Path(os.path.normpath(folder / ".."))  # the parent of "." is no other folder
        return folder / FILE

    def _packages(self, need: Import) -> list[str]:
        """The packages that a file is imported from; none where it runs as a script, beside the modules it imports.

        Where its imports do not tell, what is imported at the top is for those who import the file, and what is
        imported in the main block for those who run it.
        """
        path = need.path
        packages = self.names.get(path, "").split(".")[: None if path.endswith("__init__.py") else -1]
        if not packages:
            return []
        roots = {name.partition(".")[0] for name in _ROOT.findall(self._text(path))}
        if "" in roots or packages[0] in roots:
            return packages
        return [] if need.inline or roots & self._modules[posixpath.dirname(path)] else packages

    def _text(self, path: str) -> str:
        """The text of a file; an empty one where it has gone meanwhile, so that nothing will be written to it."""
        try:
            return self.text(path)
        except UnreadableError:
            return ""

    @cached_property
    def _packaged(self) -> set[str]:
        """The folders of modules that are in a package."""
        return {posixpath.dirname(path) for path, name in self.names.items() if "." in name}

    @cached_property
    def _modules(self) -> Mapping[str, set[str]]:
        """The names by which the files of each folder import each other as scripts."""
        found: dict[str, set[str]] = defaultdict(set)
        for path in self.names:
            folder, name = posixpath.split(path)
            found[folder].add(posixpath.splitext(name)[0])
        return found


def _is_foreign(path: Path) -> bool:
    """Whether there is a file that detlint did not write."""
    try:
        return path.is_file() and vendored_version(read(path)) is None
    except UnreadableError:
        return True
