"""Where the programs of a project start: files that are run, and functions that console scripts call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from detlint.catalogue import Catalogue
from detlint.finding import Place
from detlint.ir import nodes as ir
from detlint.ir.counting import walk
from detlint.programs.outlines import Outline
from detlint.sources.console_scripts import Command
from detlint.sources.imports import Imports

Imported = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Start:
    """Where a program starts: a file, or a function of it that a console script calls.

    `kind`, `name` and `self_check` are those of its entry point, `function` is the qualified name of what is called,
    "" where the file is run, and `target` its name.
    """

    path: str
    kind: str
    name: str = ""
    function: str = ""
    target: str = ""
    place: Place | None = None
    self_check: bool = False


class Starts:
    """The files of a project, and how they import each other."""

    def __init__(self, outlines: Mapping[str, Outline], imports: Imports, catalogue: Catalogue) -> None:
        self.outlines = outlines
        self.imports = imports
        self.catalogue = catalogue
        self.of_each: Imported = {path: frozenset(self._loaded(each)) for path, each in outlines.items()}
        self._imported = frozenset().union(*self.of_each.values()) if outlines else frozenset()
        self._packages = frozenset(self._namespaces())

    def found(self, commands: Iterable[Command] = ()) -> Iterator[Start]:
        """Where programs start: the files of the project in their order, then its console scripts."""
        for outline in self.outlines.values():
            kind = self._kind(outline)
            if kind:
                yield Start(outline.path, kind, self_check=self._is_self_check(outline))
        for name, target, setup in commands:
            module, _, function = target.partition(":")
            path = self.imports.find(module, setup)
            if path is None or path not in self.outlines:  # it was not given
                continue
            functions = self.outlines[path].file.functions.values()
            known = (f for f in functions if f.name == function and not f.klass)
            found = next(known, None)
            if found is not None:
                yield Start(path, "command", name, found.qualified, function)

    def _loaded(self, outline: Outline) -> Iterator[str]:
        """The files that a file imports, at its top level or in a function."""
        for level, target in outline.imports:
            path = outline.path
            found = self.imports.relative(path, level, target) if level else self.imports.find(target, path, path)
            if found is not None:
                yield found

    def _kind(self, outline: Outline) -> str:
        """What kind of entry point a file is, if any."""
        if outline.path.endswith(".ipynb"):
            return "notebook"
        if outline.guarded or outline.path.endswith("__main__.py"):
            return "main"
        if outline.tests or outline.path in self._imported or not outline.acts:
            return ""
        own = "." not in outline.module or _ends_in_own_call(outline) or self._works_at_top(outline)
        return "script" if own else ""

    def _is_self_check(self, outline: Outline) -> bool:
        """Whether a file's `__main__` block only tries out what it offers to others, or all of it is for others."""
        if outline.path.endswith("__main__.py"):  # which nobody imports: it is what `python -m` runs
            return False
        offered = "." in outline.module or outline.path in self._imported
        if not (offered or outline.lasting):
            offered = not self._packages.isdisjoint(_folders_above(outline.path)) and _tries_its_own(outline)
        return (offered and not outline.lasting) or self._is_configuration(outline)

    def _is_configuration(self, outline: Outline) -> bool:
        """Whether a file in a folder of configurations only assigns, for a program that reads it as it runs."""
        kept = PurePosixPath(outline.path).parent.name in self.catalogue.names("program", "configuration")
        parts = walk((outline.top, outline.main))
        return kept and not any(
            isinstance(part, (ir.For, ir.While, ir.With))
            or (isinstance(part, ir.Do) and isinstance(part.value, ir.Call))
            for part in parts
        )

    def _works_at_top(self, outline: Outline) -> bool:
        """Whether the top level of a file trains or reads the command line, as no file does that is to be imported."""
        names = self.catalogue.names("randomness", "outcome", key="script") if outline.lasting else frozenset[str]()
        values = (part.value for part in walk(outline.top) if isinstance(part, (ir.Do, ir.Assign)))
        called = (value.function for value in values if isinstance(value, ir.Call))
        return any(isinstance(function, ir.Attribute) and function.name in names for function in called)

    def _namespaces(self) -> Iterator[str]:
        """The folders without `__init__.py` whose files import modules of other folders within by the outer one's name.

        A flat folder is none: scripts that stand beside each other import one another like this, too.
        """
        for path, outline in self.outlines.items():
            around = {each.rpartition("/")[2]: each for each in _folders_above(path)}
            for level, target in outline.imports:
                outer = around.get(target.partition(".")[0]) if not level and "." in target else None
                if outer is None or f"{outer}/__init__.py" in self.outlines:
                    continue
                module = self.imports.find(target, path, path)
                if module is not None and module.startswith(f"{outer}/") and _folder(module) != _folder(path):
                    yield outer


def _tries_its_own(outline: Outline) -> bool:
    """Whether the `__main__` block of a file calls something that the file defines."""
    own = {last for name in outline.file.functions for last in (name,) if "." not in name} | set(outline.file.classes)
    values = (part.value for part in walk(outline.main) if isinstance(part, (ir.Do, ir.Assign)))
    called = (call.function for value in values for call in walk(value) if isinstance(call, ir.Call))
    return any(isinstance(function, ir.Global) and function.name in own for function in called)


def _ends_in_own_call(outline: Outline) -> bool:
    """Whether the top level of a file ends in a call of its own function, as that of a script in a package does."""
    final = outline.top[-1] if outline.top else None
    called = final.value.function if isinstance(final, ir.Do) and isinstance(final.value, ir.Call) else None
    own = {function.name for function in outline.file.functions.values() if not function.klass}
    return isinstance(called, ir.Global) and called.name in own and not outline.path.endswith("__init__.py")


def _folders_above(path: str) -> Iterator[str]:
    """The folders that a file is in, the nearest first."""
    while (path := _folder(path)) not in (".", "/"):
        yield path


def _folder(path: str) -> str:
    return PurePosixPath(path).parent.as_posix()
