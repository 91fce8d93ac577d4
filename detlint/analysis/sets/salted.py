"""Values whose hash differs from process to process: texts and what holds them, and objects hashed by their address."""

from __future__ import annotations

from functools import cached_property

from detlint.analysis.sets.elements import Elements
from detlint.analysis.sets.kinds import SALTED, Kind
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_VARYING = SALTED | {Kind.IDENTITY}


class Salted:
    """The calls of a file that take the hash of such a value."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.names = module.catalogue.names("randomness", "entropy", of="text")

    @cached_property
    def elements(self) -> Elements:
        """The kinds of items, and of single values, in this file."""
        return Elements(self.module)

    def is_hash(self, call: s.Call) -> bool:
        """Return whether a call takes the hash of a value that is known to be or to hold a text, or an address."""
        named = not self.names.isdisjoint(self.module.callee(call))
        return named and bool(call.arguments) and self._has_text(call.arguments[0].value)

    def _has_text(self, node: s.Expression) -> bool:
        if isinstance(node, s.Constant) and not node.value:
            return False  # the hash of an empty string is 0
        if isinstance(node, s.Collection):
            return any(map(self._has_text, node.elements))
        types = self.module.types(node)
        return (bool(types) and types <= {"builtins.str", "builtins.bytes"}) or self.elements.one(node) in _VARYING
