"""Functions and classes of the project of which the settings tell what calls of them do to generators."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from detlint.ir import nodes as ir
from detlint.registered import defined

Known = Mapping[tuple[str, str], str]


def registered(files: Mapping[str, ir.File], names: Collection[str]) -> Known:
    """What the project defines under these names, by file and name; a class as its constructor, where it has one."""
    if not names:
        return {}
    known = {path: (_module(path, files), (*file.functions, *file.classes)) for path, file in files.items()}
    found = defined(known, names)
    makers = {(path, f"{own}.__init__"): (path, own) for path, own in found}
    made = {key: own for key, own in makers.items() if key[1] in files[key[0]].functions}
    return {key: name for key, name in found.items() if key not in made.values()} | {
        key: found[own] for key, own in made.items()
    }


def _module(path: str, files: Collection[str]) -> str:
    """The name of a file with the packages around it."""
    *folders, last = path.removesuffix(".py").split("/")
    start = len(folders)
    while start and "/".join((*folders[:start], "__init__.py")) in files:
        start -= 1
    return ".".join((*folders[start:], *([] if last == "__init__" else [last])))
