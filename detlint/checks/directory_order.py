"""DET602: the order in which a file system lists a directory gets into data."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.catalogue import Rule
from detlint.facts.arms import arms, taken
from detlint.facts.tests import holds_tests
from detlint.finding import Finding
from detlint.orders.follow import Order
from detlint.orders.leaks import Leak, carriers, elsewhere, given_back, sure
from detlint.orders.listings import Listings
from detlint.orders.parts import Step
from detlint.orders.sorting import listing_sorted
from detlint.questions import Reaches
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching

_FILES = (Step("item"), Step("item", 2))  # the file names of each folder that `os.walk` yields


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each listing of a directory whose order matters, by what uses it."""
    listings = Listings(module)
    found = list(listings.found())
    if not found:
        return
    order, tests, branches = Order(module), holds_tests(module), arms(module)
    uses: dict[str, str] = rule.data["uses"]
    wanted = list(uses)
    for call, kind in found:
        every = order.leaks_at(call, _FILES) if kind == "files" else order.leaks(call)
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
            full_if=taken(module, call, branches),
            fix=listing_sorted(module, call, kind, paths=listings.gives_paths(call)),
            call=module.short(call.function),
            use=use,
            remedy=rule.data[kind][0],
        )


def _matters(module: Module, rule: Rule, listing: s.Call, kind: str, leak: Leak) -> bool:
    """Return whether the order matters at `leak`.

    The order of a dataset's samples always matters. The order of arguments matters if another argument comes from
    elsewhere.
    """
    if kind == "samples":
        return True
    if leak.kind != "paired" or not isinstance(leak.node, s.Call):
        return _is_data(module, rule, leak)
    function = module.function_of(listing)
    others = [a.value for a in leak.node.arguments if not a.star and isinstance(a.value, s.Name)]
    return any(function is not None and _is_given(other, function, rule.data["shown"]) for other in others)


def _is_given(name: s.Name, function: s.Function, shown: list[str]) -> bool:
    """Return whether `name` is a parameter of the listing function, and not about pictures or messages."""
    parameters = [b.node for b in reaching(name) or () if isinstance(b.node, s.Parameter)]
    given = bool(parameters) and all(parameter.parent is function for parameter in parameters)
    return given and not any(word in name.id.lower() for word in shown)


def _is_data(module: Module, rule: Rule, leak: Leak) -> bool:
    """Return whether the order stays in the known code, or leaves it as data of a dataset class."""
    if leak.kind not in rule.data["leaving"]:
        return True
    klass, function = module.class_of(leak.node), module.function_of(leak.node)
    own = klass is not None and module.is_a(klass, "dataset")
    return own and (function is None or function.name not in rule.data["not_data"])
