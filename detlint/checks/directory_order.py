"""DET602: the order in which a file system lists a directory gets into data."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.listings import Listings
from detlint.analysis.order import Leak, Order, elsewhere
from detlint.analysis.sorting import sorted_where_taken
from detlint.catalogue import Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Listings of directories whose order matters, by what becomes of them."""
    found = list(Listings(module).found())
    if not found:
        return
    order = Order(module)
    uses: dict[str, str] = rule.data["uses"]
    wanted = list(uses)
    for call, kind in found:
        leaks = [leak for leak in order.leaks(call) if leak.kind in uses and _matters(module, rule, call, leak)]
        if not leaks:
            continue
        leak = min(leaks, key=lambda leak: (wanted.index(leak.kind), leak.node.order))
        related = elsewhere(module, call, leak.node, f"the order {uses[leak.kind]} here")
        yield module.finding(
            rule,
            call,
            related=related,
            fix=_fix(module, call, kind),
            call=module.short(call.function),
            use=uses[leak.kind],
            remedy=rule.data[kind][0],
        )


def _fix(module: Module, call: s.Call, kind: str) -> Fix | None:
    """A listing of names or paths is sorted, wherever it goes; entries are, where they are gone through."""
    if kind == "entries":
        return sorted_where_taken(module, call, key="lambda entry: entry.name")
    if kind not in ("list", "iterator"):
        return None
    around = call.parent.parent if isinstance(call.parent, s.Argument) else None
    if isinstance(around, s.Call) and module.callee(around) == {"builtins.next"}:
        return None
    return sorted_where_taken(module, call) or edits.fix("Sort it", *edits.wrapped(module, call, "sorted("))


def _matters(module: Module, rule: Rule, listing: s.Call, leak: Leak) -> bool:
    """Whether the order counts at a place; beside other items it does where those come from somewhere else."""
    if leak.kind != "paired" or not isinstance(leak.node, s.Call):
        return _is_data(module, rule, leak)
    function = module.function_of(listing)
    others = [a.value for a in leak.node.arguments if not a.star and isinstance(a.value, s.Name)]
    return any(function is not None and _is_given(other, function, rule.data["shown"]) for other in others)


def _is_given(name: s.Name, function: s.Function, shown: list[str]) -> bool:
    """Whether a name is what the function that lists a directory is given, and not for a picture or for messages."""
    parameters = [b.node for b in reaching(name) or () if isinstance(b.node, s.Parameter)]
    given = bool(parameters) and all(parameter.parent is function for parameter in parameters)
    return given and not any(word in name.id.lower() for word in shown)


def _is_data(module: Module, rule: Rule, leak: Leak) -> bool:
    """Whether what leaves the known code is a data set: its class keeps it, or a function that makes one returns it."""
    if leak.kind not in rule.data["leaving"]:
        return True
    klass, function = module.class_of(leak.node), module.function_of(leak.node)
    if klass is not None:
        return module.is_a(klass, "dataset") and (function is None or function.name not in rule.data["not_data"])
    return leak.kind == "returned" and function is not None and function.name in rule.data["functions"]
