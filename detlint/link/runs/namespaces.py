"""Folders without `__init__.py` that a project nevertheless uses as packages."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.facts.packed import imports
from detlint.link.state.program import Program, folder


def namespace_packages(program: Program) -> frozenset[str]:
    """Return the folders whose files import modules of other folders inside them by the name of the outer folder.

    A flat folder is not one of them: scripts that lie side by side import one another like this, too.
    """
    found: set[str] = set()
    for path, facts in program.facts.items():
        around = {each.rpartition("/")[2]: each for each in folders_above(path)}
        for level, target in imports(facts):
            outer = around.get(target.partition(".")[0]) if not level and "." in target else None
            if outer is None or outer in found or f"{outer}/__init__.py" in program.facts:
                continue
            module = program.imports.find(target, path, path)
            if module is not None and module.startswith(f"{outer}/") and folder(module) != folder(path):
                found.add(outer)
    return frozenset(found)


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders that a file is in, the nearest first."""
    while (path := folder(path)) not in (".", "/"):
        yield path
