"""DET602: the order in which a file system lists a directory gets into data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from detlint.catalogue import Rule
from detlint.editing import edits
from detlint.facts.tests import holds_tests
from detlint.finding import Finding, Fix, Safety
from detlint.orders.follow import Order
from detlint.orders.leaks import Leak, carriers, elsewhere, given_back, sure
from detlint.orders.listings import Listings
from detlint.orders.sorting import is_iterated, sorted_where_taken
from detlint.questions import Reaches
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Listings of directories whose order matters, by what becomes of them."""
    listings = Listings(module)
    found = list(listings.found())
    if not found:
        return
    order, tests = Order(module), holds_tests(module)
    uses: dict[str, str] = rule.data["uses"]
    wanted = list(uses)
    for call, kind in found:
        every = order.leaks(call)
        leaks = [leak for leak in sure(every) if leak.kind in uses and _matters(module, rule, call, kind, leak)]
        back = given_back(module, every)
        asked = None if leaks else Reaches(carriers(every), tuple(rule.data["afar"]), module.path, flows=back)
        if asked is not None and not asked.carriers:
            continue
        leak = min(leaks, key=lambda leak: (wanted.index(leak.kind), leak.node.order), default=None)
        use = "" if leak is None else uses[leak.kind]
        yield module.finding(
            rule,
            call,
            related=() if leak is None else elsewhere(module, call, leak.node, f"the order {use} here"),
            flow=leak is not None,
            noted=tests,
            only_if=asked,
            fix=_fix(module, listings, call, kind),
            call=module.short(call.function),
            use=use,
            remedy=rule.data[kind][0],
        )


def _fix(module: Module, listings: Listings, call: s.Call, kind: str) -> Fix | None:
    """A listing of names or paths is sorted, wherever it goes; entries are, where they are gone through.

    Paths of other kinds than those of `pathlib` are compared as text. It is unsafe to give a list in the place of an
    iterator that more than one loop may draw from.
    """
    if kind == "entries":
        return sorted_where_taken(module, call, key="lambda entry: entry.name")
    if kind not in ("list", "iterator"):
        return None
    around = call.parent.parent if isinstance(call.parent, s.Argument) else None
    if isinstance(around, s.Call) and module.callee(around) == {"builtins.next"}:
        return None
    text = not listings.gives_paths(call)
    fix = sorted_where_taken(module, call, key="str" if text else "")
    if fix is not None or not module.is_builtin("sorted", call):
        return fix
    fix = edits.fix("Sort it", *edits.wrapped(module, call, "sorted({it}, key=str)" if text else "sorted({it})"))
    once = kind == "list" or _is_taken_once(module, call)
    return fix if fix is None or once else replace(fix, safety=Safety.UNSAFE)


def _is_taken_once(module: Module, call: s.Call) -> bool:
    """Whether an iterator is kept under a local name whose only use goes through it, once."""
    assign = call.parent
    target = assign.targets[0] if isinstance(assign, s.Assign) and len(assign.targets) == 1 else None
    scope = target.scope.find(target.id) if isinstance(target, s.Name) else None
    if not isinstance(target, s.Name) or scope is None or scope.kind != "function":
        return False
    reads = module.reads(scope, target.id)
    again = [a for read in reads for a in read.ancestors() if isinstance(a, (s.For, s.While, s.Comprehension))]
    loops = [a for a in again if not any(child is a for child in assign.ancestors())] if assign else []
    alone = len(reads) == 1 and len(scope.bindings[target.id]) == 1 and is_iterated(module, reads[0])
    return alone and all(_goes_through(loop, reads[0]) for loop in loops)


def _goes_through(loop: s.Node, node: s.Expression) -> bool:
    """Whether a loop goes through `node`, which it then asks for once."""
    if isinstance(loop, s.For):
        return any(part is node for part in s.walk(loop.iterator))
    return isinstance(loop, s.Comprehension) and any(part is node for part in s.walk(loop.clauses[0].iterator))


def _matters(module: Module, rule: Rule, listing: s.Call, kind: str, leak: Leak) -> bool:
    """Whether the order counts at a place; beside other items it does where those come from somewhere else.

    That of a data set counts wherever it goes.
    """
    if kind == "samples":
        return True
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
    """Whether what leaves the known code is a data set: its class keeps it or hands it on."""
    if leak.kind not in rule.data["leaving"]:
        return True
    klass, function = module.class_of(leak.node), module.function_of(leak.node)
    own = klass is not None and module.is_a(klass, "dataset")
    return own and (function is None or function.name not in rule.data["not_data"])
