"""DET601: the order of a set, or of a library's hash map, gets into something ordered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from detlint.analysis.seeds.receivers import followed, of_libraries
from detlint.analysis.sets.elements import Elements
from detlint.analysis.sets.kinds import ALIKE, SALTED, Kind
from detlint.catalogue import Row, Rule
from detlint.editing import edits
from detlint.facts.tests import holds_tests
from detlint.finding import Finding, Fix, Operation, Safety
from detlint.orders.calls import EXPOSING
from detlint.orders.follow import Order
from detlint.orders.hash_maps import HashMaps
from detlint.orders.leaks import LEAVING, Leak, carriers, elsewhere, given_back, sure
from detlint.orders.sets import Sets
from detlint.orders.sorting import in_first_order, is_called, sorted_where_taken
from detlint.questions import Carrier, Reaches
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_HOLDING = EXPOSING | {s.Leave}
_VARIES = SALTED | {Kind.IDENTITY}

_REMEDIES = dict.fromkeys(ALIKE, "text") | dict.fromkeys((Kind.IDENTITY, Kind.APART), "identity")


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield findings for sets and hash maps of libraries whose order matters, and for trainings that depend on one."""
    sets = Sets(module)
    if sets.may_be_any():
        yield from _of_sets(module, rule, sets, Order(module))
    made = dict(of_libraries(module, "order", "hashing"))
    if made:
        yield from _of_libraries(module, rule, made, Order(module))
    for call, row in of_libraries(module, "order", "training"):
        what = f"a hash map in `{module.short(call.function if isinstance(call, s.Call) else call)}`"
        use = rule.data["training"][0]
        yield module.finding(rule, call, what=what, use=use, remedy=row.text("remedy"))


def _of_sets(module: Module, rule: Rule, sets: Sets, order: Order) -> Iterator[Finding]:
    """Yield findings for uses of sets that take their items one by one."""
    elements = Elements(module)
    certain, likely = frozenset(rule.data["uses"]), frozenset(rule.data["likely"])
    for node in module.nodes:
        if type(node.parent) not in _HOLDING or not isinstance(node, s.Expression):
            continue
        exposed = type(node.parent) in EXPOSING and order.calls.exposes(node)
        held = () if exposed else order.handing.held(node)
        if not (exposed or held) or not sets.is_set(node):
            continue
        kind = elements.kept(node) if held else elements.of(node)
        kind = Kind.IDENTITY if kind is Kind.UNKNOWN and is_called(node) else kind
        numbers = kind is Kind.STABLE or (kind is Kind.UNKNOWN and elements.are_numbers(node))
        if numbers or _stays_set(sets, node) or sets.has_no_order(node):
            continue
        if held:
            if kind in _VARIES or not isinstance(node.parent, s.Assign):  # others may add to what is kept
                yield _held(module, rule, node, kind, held)
            continue
        every, copied = order.leaks(node), _copies_set(sets, node)
        leaks = [leak for leak in sure(every) if leak.kind in (certain if kind in _VARIES else likely)]
        if {leak.kind for leak in leaks} <= LEAVING:
            told = [] if order.calls.hands_on(node) else leaks
            yield from _left(module, rule, node, kind, every, told, _operation(elements, kind), copied=copied)
        elif leaks:
            leak = min(leaks, key=lambda leak: _rank(rule, leak))
            fix = _fix(module, node, kind, copied=copied)
            yield _finding(module, rule, node, kind, leak, fix, _operation(elements, kind))


def _of_libraries(module: Module, rule: Rule, made: dict[s.Call | s.Attribute, Row], order: Order) -> Iterator[Finding]:
    """Yield findings for dicts whose items are taken one by one, and for lists and tables that are made by hashes."""
    maps = {node: row for node, row in made.items() if row.text("kind") == "map"}
    kept = HashMaps(module, maps, order.calls)
    for taken in kept.taken():
        leaks = [leak for leak in order.leaks(taken.node) if kept.matters(taken, leak)]
        yield from _by_row(module, rule, taken.node, taken.row, leaks, kept.fix(taken))
    for node, row in made.items():
        if node not in maps and isinstance(node, s.Call):
            given = followed(node, row)
            fixed = [edits.argument(module, node, *each.split("=")) for each in row.list("fixed")]
            fix = edits.fix(f"Pass `{row.list('fixed')[0]}`", *fixed) if fixed else None
            yield from _by_row(module, rule, given, row, order.leaks(given, of="table"), fix)


def _by_row(
    module: Module, rule: Rule, node: s.Expression, row: Row, leaks: list[Leak], fix: Fix | None
) -> Iterator[Finding]:
    every, kinds = leaks, rule.data["library"]
    leaks = [leak for leak in sure(every) if leak.kind in kinds]
    held = () if leaks else carriers(every)
    if leaks or held:
        leak = min(leaks, key=lambda leak: _rank(rule, leak), default=None)
        use = "" if leak is None else rule.data["uses"][leak.kind]
        yield module.finding(
            rule,
            node,
            related=() if leak is None else elsewhere(module, node, leak.node, f"the order {use} here"),
            only_if=Reaches(held, tuple(kinds), module.path, flows=given_back(module, every)) if held else None,
            flow=leak is not None,
            lowered=row.text("sure") == "no",
            what=f"`{module.short(node)}`",
            use=use,
            fix=fix,
            remedy=row.text("remedy"),
        )


def _stays_set(sets: Sets, node: s.Expression) -> bool:
    """Return whether a set is only copied to another one."""
    call = node.parent.parent if isinstance(node.parent, s.Argument) else None
    return isinstance(call, s.Call) and sets.is_set(call)


def _copies_set(sets: Sets, node: s.Expression) -> bool:
    """Return whether the items of a set come from another set."""
    if isinstance(node, s.Comprehension):
        return any(sets.is_set(clause.iterator) for clause in node.clauses)
    return isinstance(node, s.Call) and any(sets.is_set(argument.value) for argument in node.arguments)


def _rank(rule: Rule, leak: Leak) -> tuple[int, int]:
    return list(rule.data["uses"]).index(leak.kind), leak.node.order


def _finding(
    module: Module, rule: Rule, node: s.Expression, kind: Kind, leak: Leak, fix: Fix | None, operation: Operation | None
) -> Finding:
    uses: dict[str, str] = rule.data["uses"]
    related = elsewhere(module, node, leak.node, f"the order {uses[leak.kind]} here")
    return module.finding(
        rule,
        node,
        related=related,
        flow=True,
        lowered=kind not in _VARIES or leak.kind in rule.data["leaving"],
        noted=holds_tests(module),
        what=f"the set `{module.short(node)}`",
        use=uses[leak.kind],
        fix=fix,
        operation=operation,
        remedy=rule.data[_REMEDIES.get(kind, "unknown")][0],
    )


def _held(module: Module, rule: Rule, node: s.Expression, kind: Kind, held: tuple[Carrier, ...]) -> Finding:
    """Return the finding for a set passed to other files, if they take its items one by one."""
    certain = kind in _VARIES
    kinds = tuple(each for each in rule.data["items"] if certain or each in rule.data["likely"])
    asked = Reaches(held, kinds, module.path, apart=True)
    return _asking(module, rule, node, kind, asked)


def _operation(elements: Elements, kind: Kind) -> Operation | None:
    row = elements.row(kind)
    return None if row is None else Operation(row.id)


def _left(
    module: Module,
    rule: Rule,
    node: s.Expression,
    kind: Kind,
    every: list[Leak],
    leaks: list[Leak],
    operation: Operation | None,
    *,
    copied: bool,
) -> Iterator[Finding]:
    """Yield a finding for a set whose order leaves the file; a note if nobody takes it up and its items vary."""
    held, leak = carriers(every), min(leaks, key=lambda leak: _rank(rule, leak), default=None)
    alone = leak is not None and kind in _VARIES
    if held or alone:
        kinds = rule.data["library" if kind in _VARIES else "afar"]
        back = given_back(module, every)
        asked = Reaches(held, tuple(kinds), module.path, anyhow=alone, flows=back) if held else None
        use = "" if leak is None else rule.data["uses"][leak.kind]
        fix = _fix(module, node, kind, copied=copied)
        yield _asking(module, rule, node, kind, asked, use, fix, operation, noted=alone)


def _asking(
    module: Module,
    rule: Rule,
    node: s.Expression,
    kind: Kind,
    asked: Reaches | None,
    use: str = "",
    fix: Fix | None = None,
    operation: Operation | None = None,
    *,
    noted: bool = False,
) -> Finding:
    """Return a finding that leaves it to the project whether the order matters."""
    return module.finding(
        rule,
        node,
        only_if=asked,
        lowered=kind not in _VARIES,
        noted=noted or holds_tests(module),
        what=f"the set `{module.short(_holder(node))}`",
        use=use,
        fix=fix,
        operation=operation,
        remedy=rule.data[_REMEDIES.get(kind, "unknown")][0],
    )


def _holder(node: s.Expression) -> s.Expression:
    """Return what a set is called by: what it is assigned to, if it is made without items."""
    around = node.parent
    empty = isinstance(node, s.Call) and not node.arguments
    return around.targets[0] if empty and isinstance(around, s.Assign) and around.value is node else node


def _fix(module: Module, node: s.Expression, kind: Kind, *, copied: bool) -> Fix | None:
    """Return the fix: sort text, keep objects in their first order, sort unsafely what may not be sortable."""
    kept = None if kind in (*ALIKE, Kind.UNKNOWN) or copied else in_first_order(module, node)
    if kept is not None or kind in (Kind.IDENTITY, Kind.APART):
        return kept
    fix = sorted_where_taken(module, node)
    return fix if fix is None or kind in ALIKE else replace(fix, safety=Safety.UNSAFE)
