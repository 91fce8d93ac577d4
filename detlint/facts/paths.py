"""Paths of configuration files and folders as the facts of a file have them."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.analysis.values.folders import ends_in, folder, located
from detlint.documents.documents import SUFFIXES
from detlint.facts import facts as f
from detlint.semantics.model import Module
from detlint.tree import syntax as s

JOIN = "os.path.join"


class Paths:
    """The paths that expressions of one file are. Methods return None if an expression is not a known path."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._named = "__file__" in module.text

    def document(self, node: s.Expression) -> f.Expression:
        """Return the path of a configuration file that is assembled from constants."""
        found = located(self._module, node) if ends_in(node, SUFFIXES) else None
        if found is None:
            return None
        path, beside = found
        return _beside(path) if beside else f.Literal(path)

    def beside(self, node: s.Expression) -> f.Expression:
        """Return the path of what is next to the file, or above it."""
        found = located(self._module, node) if self._named else None
        return None if found is None or not found[1] else _beside(found[0])

    def joined(self, node: s.Call, parts: Sequence[f.Expression]) -> f.Expression:
        """Return the path that a call joins, if it may be a configuration file's; `parts` are its lowered arguments."""
        if not parts or any(argument.star for argument in node.arguments):
            return None
        known = self.beside(node.arguments[0].value)
        if known is None and not ends_in(node, SUFFIXES):
            return None
        return f.Computed((known or parts[0], *parts[1:]), "/")

    def location(self, node: s.Expression) -> f.Expression:
        """Return the path that an expression is, relative to the file or to another folder."""
        path = folder(self._module, node)
        return None if path is None else f.Literal(path)


def _beside(path: str) -> f.Expression:
    return f.Computed((f.Literal(path),), f.BESIDE)
