"""The names that libraries have in a file, for the code that a fix writes there."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.finding import Import
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def library_name(module: Module, library: str, before: s.Node) -> tuple[str, tuple[Import, ...]]:
    """Return the name that a library has at a place of a file, and the import that it needs if it has none."""
    for node, name in _imported(module, library):
        around = module.function_of(node)
        if around is None and (node.order < before.order or module.function_of(before) is not None):
            return name, ()
    unbound = {node.id for node in module.file.nodes if isinstance(node, s.Name) and node.scope.find(node.id) is None}
    alias = next((row.text("as") for row in module.catalogue.rows("program", "alias") if row.id == library), "")
    alias = "" if alias in unbound else alias  # as when a star import binds it
    return alias or library, (Import(module.path, library, alias=alias),)


def is_another(module: Module, name: str, library: str) -> bool:
    """Return whether a name at the top level of a file is something other than a library."""
    imports = {id(node) for node, given in _imported(module, library) if given == name}
    return any(id(binding.node) not in imports for binding in module.file.scope.bindings.get(name, ()))


def _imported(module: Module, library: str) -> Iterator[tuple[s.Import, str]]:
    """Yield the imports of a library in a file, and the name that each gives it."""
    for bindings in module.file.scope.bindings.values():
        for node in (binding.node for binding in bindings):
            if isinstance(node, s.Import) and node.module is None and _is_imported(module, node):
                for name, alias in node.names:
                    if name == library or (alias is None and name.partition(".")[0] == library):
                        yield node, alias or library


def _is_imported(module: Module, node: s.Import) -> bool:
    """Return whether an import is at the top level, or in a `try` there."""
    around = node.parent.parent if node.parent is not None else None
    return node.parent is module.file.body or (isinstance(around, s.Try) and around.parent is module.file.body)
