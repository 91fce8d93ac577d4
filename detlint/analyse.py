"""One file analysed: its text read, its facts collected, the rules that look at a file checked."""

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

if TYPE_CHECKING:  # what reads files and makes their models is imported where a file is to be read
    from detlint.semantics.model import Module
    from detlint.sources.notebook import Document

T = TypeVar("T")
UNPARSED = "DET000"
_MODELS = 16  # of files that fixes are made for: more than one fix looks at, at a time; about 4 MB
_KEPT = 2_000  # what was made of the texts of files
_DEPTH = 5000  # frames of Python: enough for a sum of 2,000 terms


@record(frozen=True)
class Source:
    """A file to analyse. `path` is shown, `name` is its dotted module name.

    `text` is what is in it, decoded or not; None if it is to be read from the disk.
    """

    path: str
    name: str
    text: str | bytes | None = None

    def read(self) -> str:
        """What is in the file. Raises UnreadableError."""
        if isinstance(self.text, bytes):
            return source.decode(self.text)
        return source.read(Path(self.path)) if self.text is None else self.text


@record(frozen=True)
class Collected:
    """What the analysis of one file gave. It is `lasting` if the same content always gives the same."""

    path: str
    facts: Facts | None
    findings: tuple[Finding, ...]
    suppressions: Suppressions
    lasting: bool = True


def analyse(item: Source, codes: frozenset[str], torch: Version) -> Collected:
    """Collect one file: its facts and the findings of all chosen rules that look at a file."""
    from detlint.facts.collect import collect
    from detlint.reading.lowering import NotPythonError

    catalogue = catalogues.load()
    try:
        text = item.read()
        if vendored_version(text) is not None:
            return Collected(item.path, None, (), Suppressions())  # the runtime, which a table speaks for
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
    """The findings of the rules that look at a file, and whether all did: a defect in one does not cost the others."""
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
    """The reason of what was not analysed for a defect of detlint's own."""
    return f"{what} failed on it ({type(error).__name__}: {error}); please report this"


def _read(item: Source, text: str, catalogue: Catalogue, torch: Version) -> tuple[Document, Module]:
    from detlint.semantics.model import Module
    from detlint.sources import notebook

    document = notebook.read(item.path, text.removeprefix("\ufeff"))
    return document, Module(document.text, item.path, item.name, catalogue, torch, document.origins)


def _dissolve(module: Module) -> None:
    """Part what refers to each other in the model of a file that is done with, so that its memory is free at once.

    Else a search for dead cycles would have to find it, which takes longer.
    """
    from detlint.tree import syntax as s

    holding: tuple[type[s.Name | s.Function | s.Class | s.File], ...] = (s.Name, s.Function, s.Class, s.File)
    for scope in {node.scope for kind in holding for node in module.every(kind)}:
        scope.part()
    for nodes in (module.nodes, module.file.annotations):
        for node in nodes:
            node.parent = None
        nodes.clear()
    vars(module).clear()


class Models:
    """The models of files, for fixes that reach beyond the file of their finding.

    Each is made when it is asked for, and let go of when many others have been.
    """

    def __init__(self, sources: Mapping[str, Source], torch: Version) -> None:
        """`sources` are the files by path. `kept` is what was made of texts, with their paths, by what tells it."""
        self.sources = sources
        self.kept: dict[tuple[Any, ...], tuple[frozenset[str], Any]] = {}
        self._torch = torch
        self._made: dict[str, Module | None] = {}

    def __call__(self, path: str) -> Module | None:
        """The model of a file, or None where it cannot be read."""
        from detlint.reading.lowering import NotPythonError

        if path in self._made:
            made = self._made[path] = self._made.pop(path)  # now the last that was asked for
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
        """Make the model of a file anew, for its text has changed."""
        self._made.pop(path, None)
        self.kept = {key: each for key, each in self.kept.items() if path not in each[0]}

    def once(self, key: tuple[Any, ...], paths: frozenset[str], make: Callable[[], T]) -> T:
        """What `make` gives, which looks at the texts of these files alone; what it gave while these are the same."""
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
        """The text of a file. Raises KeyError and UnreadableError."""
        return self.sources[path].read()


def failed(
    item: Source, catalogue: Catalogue, reason: str, line: int = 1, column: int = 1, *, defect: str = ""
) -> Collected:
    """What comes of a file that cannot be analysed: a finding that says why."""
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
    """A finding about a file that is not analysed, or not by the rule in which there is a `defect`."""
    rule = catalogue.rules[UNPARSED]
    data = rule.data["defect" if defect not in ("", UNPARSED) else "whole" if defect else "file"]
    details = {"remedy": data.format(code=defect)}
    place = Place(item.path, line, column, line, column + 1, cell)
    return Finding(UNPARSED, place, rule.message.format(reason=reason), details)


def rules_over(catalogue: Catalogue, codes: frozenset[str], over: str, torch: Version) -> Iterator[Rule]:
    """The chosen rules that look at a "file", or at the "project", and hold for that release."""
    for code, rule in catalogue.rules.items():
        if code in codes and rule.over == over and rule.holds_for(torch):
            yield rule


def check_of(rule: Rule) -> Callable[[object, Rule], Iterable[Finding]]:
    """The function that a rule's page names."""
    check: Callable[[object, Rule], Iterable[Finding]] = import_module(f"detlint.checks.{rule.check}").check
    return check


@contextmanager
def undisturbed() -> Iterator[None]:
    """Room for deep expressions, and no collecting of garbage meanwhile: what is made lives to the end, and looking for
    dead cycles in it halves the speed.
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
            gc.freeze()  # to and fro, what is new counts as old, without a search through it
            gc.unfreeze()
        if enabled:
            gc.enable()
