"""Folders of modules without an `__init__.py` that a project imports from, and the dotted names of these modules."""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from detlint.facts.facts import Facts
from detlint.facts.packed import imports as imported
from detlint.sources.imports import Imports


def spaces(files: Mapping[str, Facts], imports: Imports) -> dict[str, str]:
    """Return the dotted names, by path, of modules in no regular package: those by which other files import them.

    Modules beside and below these are named alike, unless they are scripts. Two uses count for nothing: imports by
    tests, which may be started from anywhere, and imports of a module by a plain name from beside it.
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
    """Yield the modules in no regular package that other files import by an absolute name, with the package in it."""
    for importer, facts in files.items():
        for level, target in imported(facts) if not facts.tests else ():
            found = None if level else imports.find(target, importer, importer)
            if found is not None and found in files and found != importer and "." not in files[found].module:
                package, _, stem = target.rpartition(".")
                if stem == PurePosixPath(found).stem:
                    yield found, package


def _above(folder: str, package: str) -> Iterator[tuple[str, str]]:
    """Yield a folder and the folders above it, as far as its dotted name reaches, each with its own dotted name."""
    while package and posixpath.basename(folder) == package.rpartition(".")[2]:
        yield folder, package
        folder, package = posixpath.dirname(folder), package.rpartition(".")[0]


def _name(path: str, known: Mapping[str, str]) -> str | None:
    """Return the dotted name of a module by the nearest folder above it with a known name; None if there is none."""
    stem = posixpath.splitext(path)[0]
    for folder in map(str, PurePosixPath(path).parents):
        if folder in known:
            return ".".join((known[folder], *PurePosixPath(posixpath.relpath(stem, folder)).parts))
    return None
