"""The analysis of one file: read its text, collect its facts, check the rules that look at a file."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.catalogue import Catalogue, Rule
from detlint.editing.vendoring import vendored_version
from detlint.facts.facts import Facts
from detlint.finding import Finding, Place
from detlint.sources import source
from detlint.sources.suppressions import Suppressions
from detlint.support.records import record

if TYPE_CHECKING:  # the modules that read files and build models are imported only when a file is read
    from detlint.semantics.model import Module
    from detlint.sources.notebook import Document

T = TypeVar("T")
UNPARSED = "DET000"
_MODELS = 16  # models kept for making fixes: more than one fix looks at, at a time; about 4 MB
_KEPT = 2_000  # results kept that were computed from the texts of files
_DEPTH = 5000  # frames of Python: enough for a sum of 2,000 terms


@record(frozen=True)
class Source:
    """A file to analyse. `path` is shown, `name` is its dotted module name.

    `text` is its content, decoded or not; None if it must be read from disk.
    """

    path: str
    name: str
    text: str | bytes | None = None

    def read(self) -> str:
        """Return the text of the file. Raises UnreadableError."""
        if isinstance(self.text, bytes):
            return source.decode(self.text)
        return source.read(Path(self.path)) if self.text is None else self.text


@record(frozen=True)
class Collected:
    """The result of the analysis of one file. It is `lasting` if the same content always gives the same result."""

    path: str
    facts: Facts | None
    findings: tuple[Finding, ...]
    suppressions: Suppressions
    lasting: bool = True


def analyse(item: Source, codes: frozenset[str], torch: Version) -> Collected:
    """Analyse one file: collect its facts and the findings of all chosen rules that look at a file."""
    from detlint.facts.collect import collect
    from detlint.reading.lowering import NotPythonError

    catalogue = catalogues.load()
    try:
        text = item.read()
        if vendored_version(text) is not None:
            return Collected(item.path, None, (), Suppressions())  # the vendored runtime, which a table describes
        document, module = _read(item, text, catalogue, torch)
        findings, whole = _checked(item, module, catalogue, codes, torch)
        findings += [_unparsed(item, catalogue, b.reason, b.line, b.column, cell=b.cell) for b in document.broken]
        facts = collect(module)
        _dissolve(module)
        return Collected(item.path, facts, tuple(findings), Suppressions.of(item.path, document.texts), whole)
    except (source.UnreadableError, NotPythonError) as error:
        line, column = getattr(error, "line", 1), getattr(error, "column", 1)
        return replace(failed(item, catalogue, str(error), line, column), lasting=True)
    except RecursionError:
        return failed(item, catalogue, "it is nested too deeply")
    except Exception as error:  # a defect of detlint costs one file, not the run
        return failed(item, catalogue, _defect("detlint", error), defect=UNPARSED)


def _checked(
    item: Source, module: Module, catalogue: Catalogue, codes: frozenset[str], torch: Version
) -> tuple[list[Finding], bool]:
    """Return the findings of the rules that look at a file, and whether all ran: a defect in one spares the others."""
    from detlint.triage import may_find

    findings: list[Finding] = []
    whole = True
    for rule in rules_over(catalogue, codes, "file", torch):
        try:
            if may_find(module, rule):
                findings += list(check_of(rule)(module, rule))
        except RecursionError:
            raise
        except Exception as error:
            findings.append(_unparsed(item, catalogue, _defect(rule.code, error), 1, 1, defect=rule.code))
            whole = False
    return findings, whole


def _defect(what: str, error: Exception) -> str:
    """Return the reason to give for a file or rule that a defect of detlint kept from being analysed."""
    return f"{what} failed on it ({type(error).__name__}: {error}); please report this"


def _read(item: Source, text: str, catalogue: Catalogue, torch: Version) -> tuple[Document, Module]:
    from detlint.semantics.model import Module
    from detlint.sources import notebook

    document = notebook.read(item.path, text.removeprefix("\ufeff"))
    return document, Module(document.text, item.path, item.name, catalogue, torch, document.origins)


def _dissolve(module: Module) -> None:
    """Break the reference cycles in the model of a finished file, so that its memory is freed at once.

    Otherwise the garbage collector would have to find the cycles, which takes longer.
    """
    from detlint.tree import syntax as s

    holding: tuple[type[s.Name | s.Function | s.Class | s.File], ...] = (s.Name, s.Function, s.Class, s.File)
    for scope in {node.scope for kind in holding for node in module.every(kind)}:
        scope.part()
    for nodes in (module.nodes, module.file.annotations):
        for node in nodes:
            node.parent = node.around = None
        nodes.clear()
    vars(module).clear()


class Models:
    """The models of files, for fixes that reach beyond the file of their finding.

    Each is made on demand, and the least recently used one is dropped when there are more than 16.
    """

    def __init__(self, sources: Mapping[str, Source], torch: Version) -> None:
        """Store the files by path; `kept` maps a key to the paths that a result depends on, and the result."""
        self.sources = sources
        self.kept: dict[tuple[Any, ...], tuple[frozenset[str], Any]] = {}
        self._torch = torch
        self._made: dict[str, Module | None] = {}

    def __call__(self, path: str) -> Module | None:
        """Return the model of a file, or None where it cannot be read."""
        from detlint.reading.lowering import NotPythonError

        if path in self._made:
            made = self._made[path] = self._made.pop(path)  # now the most recently used
            return made
        try:
            _, made = _read(self.sources[path], self.text(path), catalogues.load(), self._torch)
        except (KeyError, source.UnreadableError, NotPythonError):
            made = None
        self._made[path] = made
        if len(self._made) > _MODELS:
            self._let_go(next(iter(self._made)))
        return made

    def forget(self, path: str) -> None:
        """Drop the model of a file and all results computed from it, because its text has changed."""
        self._made.pop(path, None)
        self.kept = {key: each for key, each in self.kept.items() if path not in each[0]}

    def once(self, key: tuple[Any, ...], paths: frozenset[str], make: Callable[[], T]) -> T:
        """Return what `make` returns, computed once until one of the files `paths`, all that it reads, changes."""
        if key not in self.kept:
            if len(self.kept) >= _KEPT:
                self.kept.clear()
            self.kept[key] = paths, make()
        found: T = self.kept[key][1]
        return found

    def _let_go(self, path: str) -> None:
        module = self._made.pop(path)
        if module is not None:
            _dissolve(module)

    def text(self, path: str) -> str:
        """Return the text of a file. Raises KeyError and UnreadableError."""
        return self.sources[path].read()


def failed(
    item: Source, catalogue: Catalogue, reason: str, line: int = 1, column: int = 1, *, defect: str = ""
) -> Collected:
    """Return the result for a file that cannot be analysed: a finding that says why."""
    found = _unparsed(item, catalogue, reason, line, column, defect=defect)
    return Collected(item.path, None, (found,), Suppressions(), False)


def _unparsed(
    item: Source,
    catalogue: Catalogue,
    reason: str,
    line: int,
    column: int,
    *,
    cell: int | None = None,
    defect: str = "",
) -> Finding:
    """Return a finding about a file that was not analysed, or not by the rule that has a `defect`."""
    rule = catalogue.rules[UNPARSED]
    data = rule.data["defect" if defect not in ("", UNPARSED) else "whole" if defect else "file"]
    details = {"remedy": data.format(code=defect)}
    place = Place(item.path, line, column, line, column + 1, cell)
    return Finding(UNPARSED, place, rule.message.format(reason=reason), details)


def rules_over(catalogue: Catalogue, codes: frozenset[str], over: str, torch: Version) -> Iterator[Rule]:
    """Yield the chosen rules that look at a "file", or at the "project", and hold for that release."""
    for code, rule in catalogue.rules.items():
        if code in codes and rule.over == over and rule.holds_for(torch):
            yield rule


def check_of(rule: Rule) -> Callable[[object, Rule], Iterable[Finding]]:
    """Return the function that a rule's page names."""
    check: Callable[[object, Rule], Iterable[Finding]] = import_module(f"detlint.checks.{rule.check}").check
    return check


@contextmanager
def undisturbed() -> Iterator[None]:
    """Raise the recursion limit for deep expressions and pause garbage collection.

    The objects made meanwhile live to the end, and looking for dead cycles among them halves the speed.
    """
    enabled = gc.isenabled()
    limit = sys.getrecursionlimit()
    gc.disable()
    sys.setrecursionlimit(max(limit, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if not gc.get_freeze_count():
            gc.freeze()  # freeze and unfreeze: new objects count as old, without a search through them
            gc.unfreeze()
        if enabled:
            gc.enable()
