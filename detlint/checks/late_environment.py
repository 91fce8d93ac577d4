"""DET505: an environment variable that is set when its reader has already read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from detlint.analysis.environment import always_before, writes
from detlint.catalogue import Row, Rule
from detlint.finding import Finding
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Variables set after the moment at which they are read; none where the file starts other processes."""
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
            related = [(event, f"`{write.variable}` is read {moment.text('text')}") for event in events[:1]]
            yield module.finding(
                rule, write.node, related=related, lowered=lowered, variable=write.variable, moment=moment.text("text")
            )


def _events(module: Module, moment: Row) -> Iterator[s.Node]:
    """Where a file comes to the moment: imports, calls, and methods whatever their receiver."""
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
    """Whether a method call is one of `name` or `name=value`, the constant first argument then beginning so."""
    for method in methods:
        wanted, _, value = method.partition("=")
        if name == wanted:
            first = module.constants(call.arguments[0].value) if call.arguments else []
            if not value or (first and all(str(each).startswith(value) for each in first)):
                return True
    return False
