"""Calls that list a directory in the order of the file system."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import bound, reaching


class Listings:
    """Finds the listings of one file."""

    def __init__(self, module: Module) -> None:
        names = module.catalogue.names
        self.module = module
        self._listings = module.catalogue.by_name("order", "listing")
        self._methods = names("order", "path", "methods", id="methods")
        self._shared = names("order", "path", "methods", id="shared")
        self._made = names("order", "path", id="made")
        self._making = names("order", "path", "methods", id="made")
        self._attributes = names("order", "path", "attributes", id="made")

    def found(self) -> Iterator[tuple[s.Call, str]]:
        """Yield each listing with its kind: "list", "iterator", "entries", "walk", or "files" of sorted folders."""
        for call in self.module.calls_like(self._listings, words=self._methods | self._shared):
            kind = self._kind(call)
            if kind:
                yield call, "files" if kind == "walk" and self._walks_in_order(call) else kind

    def _kind(self, call: s.Call) -> str:
        names = self.module.callee(call)
        kinds = {self._listings[name].text("kind") if name in self._listings else "" for name in names}
        if names:
            return kinds.pop() if len(kinds) == 1 else ""
        if isinstance(call.function, s.Attribute):
            method, receiver = call.function.attribute, call.function.value
            if method in self._methods or (method in self._shared and self.is_path(receiver)):
                return "iterator"
        return ""

    def gives_paths(self, call: s.Call) -> bool:
        """Return whether the items of a listing can be compared: names, and `pathlib` paths, but not in an archive."""
        if self.module.callee(call):
            return True
        return isinstance(call.function, s.Attribute) and self.is_path(call.function.value, sure=True)

    def is_path(self, node: s.Expression, depth: int = 6, *, sure: bool = False) -> bool:
        """Return whether an expression is a `pathlib.Path`: one of its values is or, with `sure`, all of them are."""
        if depth == 0:
            return False
        types = self.module.types(node)
        if types & self._made and (not sure or types <= self._made):
            return True
        if isinstance(node, s.Operation) and node.operator == "/":
            return self.is_path(node.operands[0], depth - 1, sure=sure)
        if isinstance(node, s.Attribute) and node.attribute in self._attributes:
            return self.is_path(node.value, depth - 1, sure=sure)
        if isinstance(node, s.Call):
            if self.module.callee(node) & self._made:
                return True
            making = isinstance(node.function, s.Attribute) and node.function.attribute in self._making
            return (
                making
                and isinstance(node.function, s.Attribute)
                and self.is_path(node.function.value, depth - 1, sure=sure)
            )
        if isinstance(node, s.Name):
            values = [bound(binding) for binding in reaching(node) or ()]
            found = [value is not None and self.is_path(value, depth - 1, sure=sure) for value in values]
            return bool(found) and (all(found) if sure else any(found))
        if isinstance(node, s.Attribute):
            owner = self.module.owner(node.value)
            values_ = self.module.attribute_values(owner, node.attribute) if owner is not None else []
            found = [self.is_path(value, depth - 1, sure=sure) for value in values_]
            return bool(found) and (all(found) if sure else any(found))
        return False

    def _walks_in_order(self, call: s.Call) -> bool:
        """Return whether the loop over a walk sorts the folders that it descends into, as `dirs.sort()` does."""
        loop = call.parent
        if not isinstance(loop, s.For) or not isinstance(loop.target, s.Collection) or len(loop.target.elements) < 3:
            return False
        folders = loop.target.elements[1]
        if not isinstance(folders, s.Name):
            return False
        return any(
            isinstance(part, s.Name) and part.id == folders.id and self._is_sorted(part) for part in s.walk(loop.body)
        )

    def _is_sorted(self, name: s.Name) -> bool:
        """Return whether a list is sorted in place here: `x.sort()`, `x[:] = sorted(...)`."""
        around = name.parent
        if isinstance(around, s.Attribute):
            return around.attribute == "sort"
        assign = around.parent if isinstance(around, s.Subscript) and around.stored else None
        given = assign.value if isinstance(assign, s.Assign) else None
        calls = [part for part in s.walk(given) if isinstance(part, s.Call)] if given is not None else []
        return any(self.module.callee(call) == {"builtins.sorted"} for call in calls)
