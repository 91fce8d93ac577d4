"""What the dicts of a file hold: entries by key, from displays, `dict(...)`, and later additions under a name."""

from __future__ import annotations

from collections.abc import Callable

from detlint.semantics import libraries
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s

Entries = list[tuple[str, s.Expression | None]]


@record(frozen=True, slots=True)
class Held:
    """A dict: the expression that makes it, its known entries, and whether these are all."""

    made: s.Dictionary | s.Call
    entries: Entries
    whole: bool


class Dicts:
    """The dicts of one file."""

    def __init__(self, module: Module, looks: Callable[[s.Call], bool]) -> None:
        """Store the file and `looks`, which says which calls put nothing into a dict passed to them."""
        self.module = module
        self._looks = looks

    def held(self, node: s.Expression) -> Held | None:
        """Return the one dict that an expression is, or None where that is not known."""
        value = self._one(node)
        made = None if value is None else next(iter(self.module.values(value) or ()), None)
        if value is None or not isinstance(made, (s.Dictionary, s.Call)):
            return None
        entries, whole = self._entries(made)
        if isinstance(value, s.Name):
            more, all_known = self.put_into(value)
            return Held(made, entries + more, whole and all_known) if whole or entries or more else None
        return Held(made, entries, whole) if isinstance(value, (s.Dictionary, s.Call)) and (whole or entries) else None

    def _one(self, node: s.Expression) -> s.Expression | None:
        """Return the expression with the one value meant: `node` itself, or what a function of this file returns."""
        values = self.module.values(node) or []
        names = self.module.callee(values[0]) if len(values) == 1 and isinstance(values[0], s.Call) else frozenset()
        functions = [self.module.functions[name] for name in names if name in self.module.functions]
        if not functions:
            return node if len(values) == 1 else None
        if len(functions) != len(names) or len(functions) > 1:
            return None
        returned = self.returned(functions[0])
        return returned if returned is not None and len(self.module.values(returned) or ()) == 1 else None

    def returned(self, function: s.Function) -> s.Expression | None:
        """Return what a function returns, if it does so in one place only; else None."""
        leaves = [part for part in s.walk(function.body) if isinstance(part, s.Leave) and part.kind == "return"]
        own = [leaf for leaf in leaves if self.module.function_of(leaf) is function]
        return own[0].values[0] if len(own) == 1 and len(own[0].values) == 1 else None

    def put_into(self, node: s.Name) -> tuple[Entries, bool]:
        """Return what is put into the dict of a name, and whether that is all."""
        scope = node.scope.find(node.id)
        if scope is None:
            return [], False
        found: Entries = []
        whole = True
        for use in self.module.reads(scope, node.id):
            more, known = self._put_in(use)
            found += more
            whole = whole and known
        return found, whole

    def _entries(self, node: s.Expression) -> tuple[Entries, bool]:
        if isinstance(node, s.Call):
            if self.module.callee(node) != {"builtins.dict"}:
                return [], False
            return [(a.keyword, a.value) for a in node.arguments if a.keyword], all(a.keyword for a in node.arguments)
        if not isinstance(node, s.Dictionary):
            return [], False
        pairs = zip(node.keys, node.values, strict=True)
        return [(self.key(k), v) for k, v in pairs if k is not None], None not in node.keys

    def _put_in(self, use: s.Name) -> tuple[Entries, bool]:
        """Return what a use of a dict's name puts into the dict, and whether that is all."""
        parent = use.parent
        if isinstance(parent, s.Subscript) and parent.value is use:
            value = parent.parent.value if isinstance(parent.parent, s.Assign) else None
            return ([(self.key(parent.indices[0]), value)] if parent.stored else []), True
        if isinstance(parent, s.Attribute):
            call = parent.parent
            if parent.attribute == "update" and isinstance(call, s.Call):
                found: Entries = []
                whole = True
                for argument in call.arguments:
                    more, known = ([], False) if argument.star else self._entries(argument.value)
                    found += [(argument.keyword, argument.value)] if argument.keyword else more
                    whole = whole and (known or bool(argument.keyword))
                return found, whole
            methods = self.module.python("methods", "dict-reading"), self.module.python("methods", "dict-taking")
            return [], any(parent.attribute in each for each in methods)
        if isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            call = parent.parent
            roots = {name.partition(".")[0] for name in self.module.callee(call)}
            known = bool(roots) and roots <= libraries.READING
            return [], known or self._looks(call) or isinstance(call.parent, s.Assign)
        return [], not isinstance(parent, (s.Assign, s.Starred))

    def key(self, node: s.Expression) -> str:
        """Return a key as text: a constant's value, else its source."""
        constants = self.module.constants(node)
        return str(constants[0]) if constants is not None and len(constants) == 1 else self.module.source(node)
