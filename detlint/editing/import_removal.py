"""Imports that nothing uses once some code is gone, removed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from detlint.finding import Edit
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def unused(module: Module, nodes: Sequence[s.Node]) -> list[Edit]:
    """The removal of imports that nothing uses once `nodes` are gone.

    An import that shares its line, may fail or is there for others stays.
    """
    gone = {id(node) for node in nodes}
    names = {(name.scope.find(name.id), name.id) for node in nodes for name in s.walk(node) if isinstance(name, s.Name)}
    found = []
    for scope, name in sorted(names, key=lambda pair: pair[1]):
        bindings = scope.bindings[name] if scope is not None else []
        if scope is None or len(bindings) != 1 or not isinstance(bindings[0].node, s.Import):
            continue
        reads = module.reads(scope, name)
        if all(any(id(node) in gone for node in (read, *read.ancestors())) for read in reads):
            edit = _without(module, bindings[0].node, name)
            found += [edit] if edit is not None else []
    return found


def _without(module: Module, statement: s.Import, name: str) -> Edit | None:
    """An import statement without one of its names."""
    block = statement.parent
    if (
        module.origins
        or module.path.endswith("__init__.py")
        or any(isinstance(a, s.Try) for a in statement.ancestors())
    ):
        return None
    start, end = module.span(statement)
    text = module.text[start:end]
    parsed = re.fullmatch(r"((?:from\s+\S+\s+)?import\s+)([^()\n]+)", text)
    parts = [part.strip() for part in parsed[2].split(",")] if parsed is not None else []
    others = [part for part in parts if part.split()[-1].partition(".")[0] != name]
    if parsed is not None and others and len(others) < len(parts):
        return Edit(module.at(start, end), parsed[1] + ", ".join(others))
    first = module.text.rfind("\n", 0, start) + 1
    after = module.text.find("\n", end) + 1
    alone = not module.text[first:start].strip() and re.fullmatch(r"\s*(#.*)?", module.text[end : after or None])
    if len(parts) != 1 or not alone or not isinstance(block, s.Block) or len(block.statements) == 1 or not after:
        return None
    return Edit(module.at(first, after), "")
