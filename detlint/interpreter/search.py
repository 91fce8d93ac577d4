"""Where imports of a project find modules: its folders, those that it adds to `sys.path`, and larger repositories."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from functools import cached_property

from detlint.ir import nodes as ir
from detlint.ir.counting import walk
from detlint.sources.imports import Imports

_ADDING = ("append", "insert")
_HERE = ("getcwd", "cwd")
_FILE = "<file>"  # a file itself, in whose folder what lies is <file>/../name
_DEEP = 6  # expressions within each other


class Search:
    """Finds modules, as the text alone tells: which folders a file adds, whether a program runs it or not."""

    def __init__(
        self, files: Mapping[str, ir.File], imports: Imports, same: frozenset[str], started: frozenset[str]
    ) -> None:
        """`same` are the last names of functions and methods that give the path that they are given.

        `started` are the files that programs start with.
        """
        self.files = files
        self._started = sorted(started)
        self.imports = imports
        self._same = same
        self._found: dict[tuple[str, str], str | None] = {}

    def find(self, name: str, importer: str) -> str | None:
        """The file that `import name` loads in a file, or None.

        What is not found in the folders of the project is looked for in those that the file adds, then beside it, where
        a program starts there, and then in those that others add: there where one of them alone has it.
        """
        key = name, importer
        if key not in self._found:
            added = self._added.get(importer, ())
            found = self.imports.find(name, importer, None, added)
            if found is None and (script := self._beside(importer)) is not None:
                found = self.imports.find(name, importer, script, added)
            if found is None and not self.imports.is_namespace(name, importer):
                others = {self.imports.find(name, importer, None, added) for added in self._added.values()} - {None}
                found = others.pop() if len(others) == 1 else None
            self._found[key] = found
        return self._found[key]

    def _beside(self, importer: str) -> str | None:
        """A file that a program starts with in the folder of another one."""
        folder = posixpath.dirname(importer)
        return next((path for path in self._started if posixpath.dirname(path) == folder), None)

    def namespace(self, name: str, importer: str) -> str:
        """The folder, with a slash at its end, that is a package without a file of its own; none: ""."""
        return self.imports.namespace(name, importer, None, self._added.get(importer, ()))

    def within_project(self, name: str, importer: str, libraries: frozenset[str]) -> str | None:
        """The file of a module that is imported through the packages of a larger repository, which are not here."""
        parts = name.split(".")
        if parts[0] in libraries:
            return None
        for start in range(2, len(parts)):
            if self.imports.local_root(parts[start]):
                for first in (start, start + 1):
                    found = self.find(".".join(parts[first:]), importer) if parts[first:] else None
                    if found is not None:
                        return found
        return None

    @cached_property
    def _added(self) -> dict[str, tuple[str, ...]]:
        """The folders that each file adds to `sys.path`."""
        adding = ((path, file) for path, file in self.files.items() if _may_add(file))
        found = {path: tuple(dict.fromkeys(_Folders(file, self._same).added())) for path, file in adding}
        return {path: folders for path, folders in found.items() if folders}


class _Folders:
    """Tells which folders the expressions of a file name, relative to where it lies."""

    def __init__(self, file: ir.File, same: frozenset[str]) -> None:
        self.file = file
        self.same = same

    def added(self) -> Iterator[str]:
        """The folders that calls of a file add to `sys.path`, from beside it or else as they are written."""
        here = posixpath.dirname(self.file.path)
        for function in self.file.functions.values():
            for part in walk(function.body):
                if not (isinstance(part, ir.Call) and isinstance(part.function, ir.Attribute)):
                    continue
                if part.function.name not in _ADDING or not _is_path(part.function.value) or not part.arguments:
                    continue
                for value in self._given(function, part.arguments[-1].value):
                    found = self._path(function, value, _DEEP)
                    if found is not None and found != _FILE:
                        beside = posixpath.normpath(posixpath.join(here, found.replace(f"{_FILE}/..", ".", 1)))
                        yield beside
                        if _FILE not in found:
                            yield posixpath.normpath(found)

    def _given(self, function: ir.Function, value: ir.Expression) -> Iterator[ir.Expression]:
        """An expression, or what calls in the file give the parameter that it is."""
        names = [parameter.name for parameter in function.parameters]
        if not (isinstance(value, ir.Local) and value.name in names):
            yield value
            return
        index = names.index(value.name)
        for part in walk(self._bodies):
            if isinstance(part, ir.Call) and part.function == ir.Global(function.name):
                plain = [argument for argument in part.arguments if not argument.star]
                yield from (x.value for x in plain[index : index + 1] if x.keyword in ("", value.name))

    @cached_property
    def _bodies(self) -> tuple[ir.Statements, ...]:
        return tuple(function.body for function in self.file.functions.values())

    @cached_property
    def _assigned(self) -> dict[ir.Expression, list[ir.Expression]]:
        """What is assigned to the variables of the file, by name."""
        found: dict[ir.Expression, list[ir.Expression]] = {}
        for part in walk(self._bodies):
            if isinstance(part, ir.Assign) and part.operator == "=":
                for target in part.targets:
                    if isinstance(target, (ir.Global, ir.Local)):
                        found.setdefault(target, []).append(part.value)
        return found

    def _path(self, function: ir.Function, value: ir.Expression, depth: int) -> str | None:
        """The path that an expression is; None for one that is not told."""
        if depth == 0:
            return None
        if isinstance(value, ir.Constant):
            return value.value if value.kind == "str" and not value.value.startswith(("/", "~")) else None
        if value == ir.Global("__file__"):
            return _FILE
        if isinstance(value, (ir.Global, ir.Local)):
            assigned = self._assigned.get(value, [])
            return self._path(function, assigned[0], depth - 1) if len(assigned) == 1 else None
        if isinstance(value, ir.Operation) and value.operator in ("/", "+") and len(value.operands) == 2:
            return _joined(*(self._path(function, operand, depth - 1) for operand in value.operands))
        if isinstance(value, ir.Attribute) and value.name == "parent":
            return _parent(self._path(function, value.value, depth - 1), 1)
        if isinstance(value, ir.Subscript) and isinstance(value.value, ir.Attribute) and value.value.name == "parents":
            times = int(value.key.value) + 1 if isinstance(value.key, ir.Constant) and value.key.kind == "int" else 0
            return _parent(self._path(function, value.value.value, depth - 1), times) if times else None
        return self._called(function, value, depth - 1) if isinstance(value, ir.Call) else None

    def _called(self, function: ir.Function, call: ir.Call, depth: int) -> str | None:
        """The path that a call of a function of paths gives."""
        last = call.function
        name = last.name if isinstance(last, (ir.Attribute, ir.Global)) else ""
        given = [argument.value for argument in call.arguments]
        if name == "dirname" and given:
            return _parent(self._path(function, given[0], depth), 1)
        if name == "join" and given:
            return _joined(*(self._path(function, part, depth) for part in given))
        if name in self.same and len(given) == 1:
            return self._path(function, given[0], depth)
        if name in _HERE and not given:
            return "."
        if isinstance(last, ir.Attribute) and name == "joinpath":
            return _joined(*(self._path(function, part, depth) for part in (last.value, *given)))
        if isinstance(last, ir.Attribute) and name in self.same:
            return self._path(function, last.value, depth)
        return None


def _may_add(file: ir.File) -> bool:
    """Whether a file may add to `sys.path`, as its counts tell."""
    return (0, "sys") in file.counts.imports and any(name in file.counts.called for name in _ADDING)


def _is_path(value: ir.Expression) -> bool:
    """Whether an expression is `sys.path`."""
    return isinstance(value, ir.Attribute) and value.name == "path" and value.value == ir.Global("sys")


def _parent(path: str | None, times: int) -> str | None:
    return None if path is None else path + "/.." * times


def _joined(*parts: str | None) -> str | None:
    found = [part for part in parts if part]
    return None if None in parts or _FILE in found else "/".join(found)
