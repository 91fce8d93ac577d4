"""DET305: which of several equal values is chosen is not specified."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.values.conditions import applies
from detlint.analysis.values.messages import is_message
from detlint.analysis.values.ties import Tied, Ties, receiver_or_first
from detlint.catalogue import Row, Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix
from detlint.orders.loops import Loops
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s

_DEPTH = 5


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each choice among values that are almost surely equal in part, if its indices are used."""
    rows = [row for row in module.catalogue.rows("ties", "choice") if row.holds_for(module.torch)]
    methods = {name.rpartition(".")[2] for row in rows for name in row.list("names")}
    calls = module.calls_like([name for row in rows for name in row.list("names")], words=methods)
    if not calls:
        return
    ties, uses = Ties(module), _Uses(module, rule)
    for call in calls:
        names = module.callee(call)
        if not names and not (isinstance(call.function, s.Attribute) and call.function.attribute in methods):
            continue
        if names and not any(names <= row.set("names") for row in rows):
            continue
        values = receiver_or_first(module, call)
        tied = ties.of(values) if values is not None else None
        row = _row(rows, call, names, tied) if tied is not None else None
        if tied is None or row is None or not applies(module, call, row.list("when"), row.list("unless")):
            continue
        if tied.is_mask and row.text("taken"):
            continue
        if values is not None and any(uses.chooses(use, row, values) for use in uses.indices(call, row)):
            yield module.finding(
                rule,
                call,
                fix=_fix(module, call, row),
                call=module.short(call.function),
                what=tied.what,
                because=row.text("because"),
                remedy=row.text("remedy"),
            )


def _row(rows: list[Row], call: s.Call, names: frozenset[str], tied: Tied) -> Row | None:
    """Return the row of a call by the name of what is called, or by its method and the library of the values."""
    if names:
        return next((row for row in rows if names <= {*row.list("names")}), None)
    method = call.function.attribute if isinstance(call.function, s.Attribute) else ""
    found = [
        (name.partition(".")[0], row)
        for row in rows
        for name in row.list("names")
        if name in (f"torch.Tensor.{method}", f"numpy.ndarray.{method}")
    ]
    fits = [row for library, row in found if library == tied.library]
    return fits[0] if fits else found[0][1] if len(found) == 1 and not tied.library else None


def _fix(module: Module, call: s.Call, row: Row) -> Fix | None:
    """Return a fix that makes a sort stable; None where the other arguments leave no room for it."""
    stable = row.text("stable")
    positional = [argument for argument in call.arguments if argument.keyword is None]
    method = not any(module.source(call.function).startswith(f"{start}.") for start in ("torch", "np", "numpy"))
    if not stable or any(argument.star for argument in call.arguments) or len(positional) > (0 if method else 1):
        return None
    if any(argument.keyword in ("kind", "stable") for argument in call.arguments):
        return None
    return edits.fix("Sort in a stable way", edits.last(module, call, stable))


class _Uses:
    """The uses of the indices that a call gives."""

    def __init__(self, module: Module, rule: Rule) -> None:
        self.module = module
        self.loops = Loops(module)
        self.passes = frozenset(rule.data["passes"])

    def indices(self, call: s.Call, row: Row) -> list[s.Expression]:
        """Return the expressions that are the indices."""
        if row.text("gives") != "pair":
            return [call]
        found: list[s.Expression] = []
        for node in (call, *self._named(call)):
            parent = node.parent
            named = isinstance(parent, s.Attribute) and parent.attribute == "indices"
            second = isinstance(parent, s.Subscript) and node is parent.value and literal(parent.indices[0]) in (1, -1)
            if isinstance(parent, s.Expression) and (named or second):
                found.append(parent)
            elif isinstance(parent, s.Assign) and isinstance(parent.targets[0], s.Collection):
                found += self._reads(parent.targets[0].elements[-1], parent)
        return found

    def chooses(self, node: s.Expression, row: Row, values: s.Expression, depth: int = _DEPTH) -> bool:
        """Return whether indices of some of `values` are used: all, if the call chose a few, or a few of all."""
        if not row.text("taken"):
            return self._matters(node, values, depth)
        parent = node.parent
        if depth == 0 or parent is None:
            return False
        if isinstance(parent, s.Assign) and node is parent.value:
            return any(self.chooses(read, row, values, depth - 1) for read in self._named(node))
        handed = self._handed_on(node)
        if handed is not None:
            return self.chooses(handed, row, values, depth - 1)
        if not isinstance(parent, s.Subscript) or parent.stored:
            return False
        if node is not parent.value:  # x[order][:k]: ordered first, and cut afterwards
            return not self._is_of(parent, values) and self.chooses(parent, row, values, depth - 1)
        if any(_cuts(index) for index in parent.indices):
            return self._matters(parent, values, depth)
        return self.chooses(parent, row, values, depth - 1)

    def _handed_on(self, node: s.Expression) -> s.Expression | None:
        """Return the call that gives the same indices in another form: `order.tolist()`, `list(order)`."""
        parent = node.parent
        if isinstance(parent, s.Attribute) and parent.attribute in self.passes:
            return parent.parent if isinstance(parent.parent, s.Call) else None
        call = parent.parent if isinstance(parent, s.Argument) else None
        names = (
            {name.rpartition(".")[2] for name in self.module.callee(call)} if isinstance(call, s.Call) else set[str]()
        )
        return call if isinstance(call, s.Call) and names and names <= self.passes else None

    def _matters(self, node: s.Expression, values: s.Expression, depth: int) -> bool:
        """Return whether indices are used for more than messages and for looking up the equal values."""
        parent = node.parent
        if depth == 0 or parent is None or isinstance(parent, s.ExpressionStatement):
            return False
        if isinstance(parent, s.Assign) and node is parent.value and isinstance(parent.targets[0], s.Name):
            return any(self._matters(read, values, depth - 1) for read in self._named(node))
        if isinstance(parent, s.Subscript) and node is not parent.value and self._is_of(parent, values):
            return False
        return not any(isinstance(a, s.Call) and is_message(self.module, a) for a in node.ancestors())

    def _is_of(self, lookup: s.Subscript, values: s.Expression) -> bool:
        """Return whether a lookup is in the values that are chosen from, where equal ones are alike."""
        return self.module.source(lookup.value) == self.module.source(values)

    def _named(self, node: s.Expression) -> list[s.Name]:
        """Return the reads of the name that a value is assigned to."""
        parent = node.parent
        if not isinstance(parent, s.Assign) or len(parent.targets) != 1:
            return []
        return self._reads(parent.targets[0], parent)

    def _reads(self, target: s.Expression, assign: s.Assign) -> list[s.Name]:
        scope = target.scope.find(target.id) if isinstance(target, s.Name) else None
        if scope is None or not isinstance(target, s.Name):
            return []
        return [read for read in self.module.reads(scope, target.id) if read.order > assign.order]


def _cuts(index: s.Expression) -> bool:
    """Return whether an index takes only some of the values: `[:k]`, `[-1]`, but not `[::-1]` or `[mask]`."""
    if isinstance(index, s.Slice):
        return index.lower is not None or index.upper is not None
    return isinstance(literal(index), int)
