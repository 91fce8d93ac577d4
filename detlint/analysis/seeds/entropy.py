"""Sources of values that differ from run to run: the clock, the operating system, addresses, salted hashes."""

from __future__ import annotations

from collections.abc import Iterable

from detlint.analysis.sets.salted import Salted
from detlint.analysis.values.conditions import applies
from detlint.semantics import libraries
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, reaching

_COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!=", "in", "not in", "is", "is not", "not"))

Origin = tuple[list[s.Expression], bool]
_NONE: Origin = ([], False)


class Tracer:
    """A search for the entropy behind the expressions of one file.

    An origin is the expressions that make a value differ, and whether every value it may have contains one. Draws
    from the global generators are among them: they make it differ where the generator is not seeded.
    """

    def __init__(self, module: Module, fallbacks: Iterable[str] = (), *, unread: bool = False) -> None:
        """Set up the search; `fallbacks` are functions whose last argument counts only where there is nothing else.

        With `unread`, all hashes count as entropy, and so do the calls, names, attributes and items that the file does
        not explain.
        """
        names = module.catalogue.names
        self.module = module
        sources = names("randomness", "entropy", kind="value") | names("randomness", "entropy", kind="reseeds")
        self._draws = module.catalogue.by_name("randomness", "consumer", kind="call")
        self._salted = Salted(module)
        self._sources = sources - self._salted.names
        self._reseeding = module.catalogue.by_name("randomness", "entropy", kind="reseeds")
        self._fallbacks = frozenset(fallbacks)
        self._unread = unread
        self._found: dict[tuple[s.Expression, bool], Origin] = {}

    def origin(self, node: s.Expression | None, *, none: bool = False) -> Origin:
        """Return the origin of an expression; `none` says that None stands for entropy."""
        if node is None:
            return _NONE
        if (node, none) not in self._found:
            self._found[node, none] = _NONE  # a cycle of assignments adds nothing
            self._found[node, none] = self._origin(node, none)
        return self._found[node, none]

    def _origin(self, node: s.Expression, none: bool) -> Origin:
        if isinstance(node, s.Constant):
            return ([node], True) if none and node.value is None else _NONE
        if isinstance(node, s.Name):
            bindings = reaching(node) or ()
            none = none and not any(_came_with_what_is_tested(node, binding) for binding in bindings)
            found = self._either(self._bound(binding, none) for binding in bindings)
            elsewhere = any(b.path or b.kind in ("import", "for") for b in bindings)
            return ([node], True) if self._unread and elsewhere and not found[0] else found
        if isinstance(node, s.Conditional):
            return self._either(self.origin(part, none=none) for part in (node.body, node.orelse))
        if isinstance(node, s.Operation):
            if node.operator in ("or", "and"):
                return self._either(self.origin(part, none=none) for part in node.operands)
            return _NONE if node.operator in _COMPARISONS else self._any(node.operands)
        if isinstance(node, s.NamedExpression):
            return self.origin(node.value, none=none)
        if isinstance(node, s.Subscript):
            found = self.origin(node.value)
            return ([node], True) if self._unread and not found[0] else found
        if isinstance(node, s.Collection):
            return self._any(node.elements)
        if isinstance(node, s.Attribute):
            return self._attribute(node, none)
        return self._call(node) if isinstance(node, s.Call) else _NONE

    def drawn_from(self, node: s.Expression) -> str:
        """Return the global generator that an expression draws from, or ""."""
        if isinstance(node, s.Call):
            for name in sorted(self.module.callee(node)):
                row = self._draws.get(name)
                if row is not None and applies(self.module, node, row.list("when"), row.list("unless")):
                    return row.text("generator")
        return ""

    def _either(self, origins: Iterable[Origin]) -> Origin:
        every = list(origins)
        return [part for found, _ in every for part in found], bool(every) and all(sure for _, sure in every)

    def _any(self, nodes: Iterable[s.Expression]) -> Origin:
        every = [self.origin(node) for node in nodes]
        return [part for found, _ in every for part in found], any(sure for _, sure in every)

    def _bound(self, binding: Binding, none: bool) -> Origin:
        if binding.path or binding.kind not in ("assign", "augment"):
            return _NONE
        if binding.kind == "augment" and isinstance(binding.node, s.Assign):
            parts = [*binding.node.targets, *([binding.value] if binding.value is not None else [])]
            return self._any(parts)
        return self.origin(binding.value, none=none)

    def _attribute(self, node: s.Attribute, none: bool) -> Origin:
        owner = self.module.owner(node.value)
        if owner is not None:
            values = self.module.attribute_values(owner, node.attribute)
            known = self._either(self.origin(value, none=none) for value in values)
            return ([node], True) if self._unread and not known[0] else known
        found, sure = self.origin(node.value)
        for assign in self.module.assignments:
            if assign.order < node.order and any(_same(target, node) for target in assign.targets):
                found = found + self.origin(assign.value, none=none)[0]
        return ([node], True) if self._unread and not found else (found, sure)

    def _call(self, node: s.Call) -> Origin:
        module = self.module
        names = module.callee(node)
        if names == {"builtins.len"} or self._seeds(node):
            return _NONE
        if names & self._salted.names and (self._unread or self._salted.is_hash(node)):
            return [node], True
        if (names and all(self._is_source(name) for name in names)) or self.drawn_from(node):
            return [node], True
        receiver = [node.function.value] if isinstance(node.function, s.Attribute) else []
        functions = [module.functions[name] for name in names if name in module.functions]
        if functions:
            leaves = [n for f in functions for n in s.walk(f.body) if isinstance(n, s.Leave) and n.kind == "return"]
            own = [n.values[0] for n in leaves if n.values and module.function_of(n) in functions]
            found, sure = self._either(self.origin(value) for value in own)
            return ([node], True) if self._unread and not found else (found, sure)
        called = node.function.attribute if isinstance(node.function, s.Attribute) else ""
        known = bool(names) and all(name.partition(".")[0] in libraries.KNOWN for name in names)
        found, sure = self._any(receiver)
        if known or called in self._fallbacks:
            more = self._any([argument.value for argument in node.arguments])
            last = {name.rpartition(".")[2] for name in names} | {called}
            found, sure = found + more[0], sure or (more[1] and last.isdisjoint(self._fallbacks))
        return ([node], True) if self._unread and not (found or known) else (found, sure)

    def _seeds(self, node: s.Call) -> bool:
        """Return whether a call that can reseed from the operating system is given a seed, as in `random.seed(0)`."""
        rows = [self._reseeding[name] for name in self.module.callee(node) if name in self._reseeding]
        return bool(rows) and not any(applies(self.module, node, r.list("when"), r.list("unless")) for r in rows)

    def _is_source(self, name: str) -> bool:
        """Return whether a call of `name`, or of a method of an object that it makes, is entropy."""
        return name in self._sources or name.rpartition(".")[0] in self._sources


def _came_with_what_is_tested(node: s.Name, binding: Binding) -> bool:
    """Return whether a value was unpacked with one that a test around the read checks, as in `if message == "seed"`.

    Where the test holds, the value has arrived too, and is not the None that stood in its place before.
    """
    if not binding.path or not isinstance(binding.node, s.Assign):
        return False
    unpacked = {part.id for target in binding.node.targets for part in s.walk(target) if isinstance(part, s.Name)}
    below: s.Node = node
    for around in node.ancestors():
        if isinstance(around, s.Function):
            return False
        if isinstance(around, s.If) and below is around.body:
            asked = {part.id for part in s.walk(around.test) if isinstance(part, s.Name)}
            if asked & (unpacked - {node.id}):
                return True
        below = around
    return False


def _same(target: s.Expression, node: s.Attribute) -> bool:
    """Return whether an assignment's target is the attribute that is read, of the same name in the same scope."""
    if not isinstance(target, s.Attribute) or target.attribute != node.attribute:
        return False
    mine, other = node.value, target.value
    if not isinstance(mine, s.Name) or not isinstance(other, s.Name):
        return isinstance(mine, s.Attribute) and _same(other, mine)
    return mine.id == other.id and mine.scope.find(mine.id) is other.scope.find(other.id)
