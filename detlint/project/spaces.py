"""Folders of modules without an `__init__.py` that a project imports from, and what its modules are called there."""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from detlint.facts.facts import Facts
from detlint.facts.packed import imports as imported
from detlint.sources.imports import Imports


def spaces(files: Mapping[str, Facts], imports: Imports) -> dict[str, str]:
    """The dotted names of modules that are in no regular package, by path: those by which other files import them.

    And those of modules beside and below these, unless they are scripts. Tests, which may be started from anywhere, and
    modules that others import from beside them tell nothing.
    """
    packages: dict[str, Counter[str]] = defaultdict(Counter)
    dotted, beside = set[str](), set[str]()
    for module, package in _uses(files, imports):
        if package:
            dotted.add(module)
            for folder, name in _above(posixpath.dirname(module), package):
                packages[folder][name] += 1
        else:
            beside.add(module)
    known = {folder: names.most_common(1)[0][0] for folder, names in packages.items()}
    found: dict[str, str] = {}
    for path, facts in files.items():
        single = path.endswith(".py") and "." not in facts.module and path not in beside
        if single and (path in dotted or not (facts.guarded or facts.acts)):
            own = _name(path, known)
            found |= {path: own} if own else {}
    return found


def _uses(files: Mapping[str, Facts], imports: Imports) -> Iterator[tuple[str, str]]:
    """The modules of no regular package that other files import by an absolute name, and the packages in that."""
    for importer, facts in files.items():
        for level, target in imported(facts) if not facts.tests else ():
            found = None if level else imports.find(target, importer, importer)
            if found is not None and found in files and found != importer and "." not in files[found].module:
                package, _, stem = target.rpartition(".")
                if stem == PurePosixPath(found).stem:
                    yield found, package


def _above(folder: str, package: str) -> Iterator[tuple[str, str]]:
    """A folder and those above it, as far as its dotted name goes, each with its own."""
    while package and posixpath.basename(folder) == package.rpartition(".")[2]:
        yield folder, package
        folder, package = posixpath.dirname(folder), package.rpartition(".")[0]


def _name(path: str, known: Mapping[str, str]) -> str | None:
    """The name of a module by the nearest folder above it whose name is known; None where there is none."""
    stem = posixpath.splitext(path)[0]
    for folder in map(str, PurePosixPath(path).parents):
        if folder in known:
            return ".".join((known[folder], *PurePosixPath(posixpath.relpath(stem, folder)).parts))
    return None
