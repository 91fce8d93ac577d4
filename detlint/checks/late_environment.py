"""DET505: an environment variable that is set when its reader has already read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from detlint.analysis.seeds.environment import Write, always_before, writes
from detlint.catalogue import Row, Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix, Safety
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each variable set after it is read; none in a file that starts other processes."""
    written = writes(module)
    starters = tuple(rule.data["prefixes"])
    if not written or any(name.startswith(starters) for call in module.calls for name in module.callee(call)):
        return
    rows = [row for row in module.catalogue.rows("switches", "environment") if row.holds_for(module.torch)]
    moments = {row.id: row for row in module.catalogue.rows("switches", "moment")}
    late = {row.text("variable"): row for row in rows if rule.code in (row.text("rule"), row.text("late"))}
    for write in written:
        row = late.get(write.variable)
        moment = None if row is None else moments.get(row.text("read_when"))
        if row is None or moment is None:
            continue
        events = [event for event in _events(module, moment) if always_before(event, write.node)]
        if events or moment.text("always"):
            lowered = row.text("grade") == "lower"
            fix = _moved(module, write, events) or _started(module, write, row)
            related = [(event, f"`{write.variable}` is read {moment.text('text')}") for event in events[:1]]
            text = moment.text("text")
            yield module.finding(
                rule, write.node, related=related, lowered=lowered, fix=fix, variable=write.variable, moment=text
            )


def _moved(module: Module, write: Write, events: Sequence[s.Node]) -> Fix | None:
    """Return a fix that moves a statement that sets constants ahead of what reads them in its block.

    The setting then acts as it was meant to, which may change results and speed. Return None if it cannot be moved.
    """
    statement = write.node if isinstance(write.node, s.Assign) else write.node.parent
    if not events or not isinstance(statement, (s.Assign, s.ExpressionStatement)) or module.origins:
        return None
    first = min(events, key=lambda event: event.order)
    around = (each for each in (first, *first.ancestors()) if each.parent is statement.parent)
    reader = next((each for each in around if isinstance(each, s.Statement)), None)
    needed = None if reader is None else _needed(module, statement, reader)
    if reader is None or needed is None:
        return None
    title = f"Set `{write.variable}` ahead of what reads it"
    return edits.fix(title, *edits.moved(module, [*needed, statement], reader), safety=Safety.UNSAFE)


def _needed(module: Module, statement: s.Statement, reader: s.Statement) -> list[s.Statement] | None:
    """Return the imports below `reader` that an assignment of constants needs; None if it needs anything else."""
    if any(isinstance(node, s.Call) and node.parent is not statement for node in s.walk(statement)):
        return None
    found: dict[s.Statement, None] = {}
    for name in s.walk(statement):
        scope = name.scope.find(name.id) if isinstance(name, s.Name) else None
        if scope is None or not isinstance(name, s.Name):
            continue  # a builtin, or not a name
        nodes = [binding.node for binding in scope.bindings[name.id]]
        if not all(isinstance(node, s.Import) for node in nodes):
            return None
        if not any(always_before(node, reader) for node in nodes):
            alone = nodes[0] if len(nodes) == 1 and len(_bound_by(scope, nodes[0])) == 1 else None
            if not isinstance(alone, s.Import) or alone is reader or alone.parent is not reader.parent:
                return None
            found[alone] = None
    return list(found)


def _bound_by(scope: Scope, statement: s.Node) -> list[str]:
    """Return the names that a statement binds in a scope."""
    return [name for name, bindings in scope.bindings.items() if any(b.node is statement for b in bindings)]


def _started(module: Module, write: Write, row: Row) -> Fix:
    """Return a fix, to display only: the command line that sets the variable in time."""
    known = module.constants(write.value) or []
    value = str(known[0]) if len(known) == 1 and known[0] is not None else row.text("usual") or "..."
    return Fix(f"Start the program with `{write.variable}={value} python ...`", Safety.DISPLAY, ())


def _events(module: Module, moment: Row) -> Iterator[s.Node]:
    """Yield where a file reaches the moment: imports, calls, and method calls on any receiver."""
    scopes = [module.file.scope, *(function.scope for function in module.functions.values())]
    for scope in scopes if moment.list("imports") else ():
        for binding in (b for bindings in scope.bindings.values() for b in bindings):
            if any(f"{binding.qualified}.".startswith(f"{name}.") for name in moment.list("imports")):
                yield binding.node
    yield from module.calls_to(moment.list("calls"))
    for call in module.calls_like(words={method.partition("=")[0] for method in moment.list("methods")}):
        function = call.function
        if isinstance(function, s.Attribute) and _matches(module, call, function.attribute, moment.list("methods")):
            yield call


def _matches(module: Module, call: s.Call, name: str, methods: Iterable[str]) -> bool:
    """Return whether a method call matches `name` or `name=value`, where `value` begins its constant first argument."""
    for method in methods:
        wanted, _, value = method.partition("=")
        if name == wanted:
            first = module.constants(call.arguments[0].value) if call.arguments else []
            if not value or (first and all(str(each).startswith(value) for each in first)):
                return True
    return False
