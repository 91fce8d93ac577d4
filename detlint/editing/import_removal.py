"""The removal of imports that are unused once a fix is made."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

from detlint.finding import Edit
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def unused(module: Module, nodes: Sequence[s.Node]) -> list[Edit]:
    """Return edits that remove the imports that are unused once `nodes` are gone.

    An import that shares its line, may fail or is there for other files stays.
    """
    gone = {id(node) for node in nodes}
    names = {(name.scope.find(name.id), name.id) for node in nodes for name in s.walk(node) if isinstance(name, s.Name)}
    found: dict[s.Import, list[str]] = defaultdict(list)
    for scope, name in sorted(names, key=lambda pair: pair[1]):
        bindings = scope.bindings[name] if scope is not None else []
        if scope is None or len(bindings) != 1 or not isinstance(bindings[0].node, s.Import):
            continue
        reads = module.reads(scope, name)
        if all(any(id(node) in gone for node in (read, *read.ancestors())) for read in reads):
            found[bindings[0].node].append(name)
    edits = (_without(module, statement, gone_names) for statement, gone_names in found.items())
    return [edit for edit in edits if edit is not None]


def _without(module: Module, statement: s.Import, names: Collection[str]) -> Edit | None:
    """Return an edit that removes names from an import statement; None if the statement has to stay."""
    if (
        module.origins
        or module.path.endswith("__init__.py")
        or any(isinstance(a, s.Try) for a in statement.ancestors())
    ):
        return None
    if all((alias or name.partition(".")[0]) in names for name, alias in statement.names):
        return _removed(module, statement)
    from detlint.editing.import_nodes import rewritten, without_names  # most analyses run without libcst

    start, end = module.span(statement)
    text = rewritten(module.text[start:end], lambda line: without_names(line, names))
    return Edit(module.at(start, end), text)


def _removed(module: Module, statement: s.Import) -> Edit | None:
    """Return an edit that removes a statement's lines; None if they hold another, or its block has no other."""
    start, end = module.span(statement)
    lines = module.lines
    last = lines.position(end)[0]
    first, after = lines.starts[lines.position(start)[0] - 1], lines.starts[last : last + 1]
    block = statement.parent
    if not after or not isinstance(block, s.Block) or len(block.statements) == 1:
        return None
    alone = not module.text[first:start].strip() and re.fullmatch(r"\s*(#.*\s*)?", module.text[end : after[0]])
    return Edit(module.at(first, after[0]), "") if alone else None
