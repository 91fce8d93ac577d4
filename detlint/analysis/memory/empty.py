"""Calls that return uninitialised memory: which of them really do, by their arguments."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from math import prod

from detlint.analysis.values.conditions import applies
from detlint.analysis.values.sizes import only_length, only_sizes
from detlint.catalogue import Row
from detlint.semantics.index import asked_once
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s

LIBRARIES = ("torch", "numpy", "cupy")  # libraries whose memory may be uninitialised


def allocations(module: Module, libraries: Iterable[str]) -> Iterator[tuple[s.Call, Row]]:
    """Yield the calls that return uninitialised memory of these libraries, each with its row."""
    fake = module.catalogue.names("memory", "fake")
    for row in module.rows_like("memory", "allocator"):
        if row.text("library") not in libraries or (row.text("filled") and filled(module)):
            continue
        for call in _calls(module, row):
            if _allocates(module, row, call) and not module.within(call, fake) and not _describes(module, call):
                yield call, row


@asked_once
def filled(module: Module) -> bool:
    """Return whether the file makes torch fill new memory."""
    rows = [row for row in module.catalogue.rows("memory", "filling") if row.holds_for(module.torch)]
    for row in rows:
        for assign, _ in module.assignments_to(row.list("names")):
            if assign.value is not None and literal(assign.value) is not True:
                return False
    return any(
        applies(module, call, row.list("when"), row.list("unless"))
        for row in rows
        for call in module.calls_to(row.list("calls"))
    )


def _calls(module: Module, row: Row) -> Iterator[s.Call]:
    """Yield the calls of a row's names, and of methods that only these classes have, on any object."""
    found = list(module.calls_to(row.list("names")))
    yield from found
    methods = row.set("methods")
    for call in module.calls_like(words=methods) if methods else ():
        if isinstance(call.function, s.Attribute) and call.function.attribute in methods and call not in found:
            yield call


def _allocates(module: Module, row: Row, call: s.Call) -> bool:
    if not applies(module, call, row.list("when"), row.list("unless")):
        return False
    if row.text("kind") == "resize":
        return _grows(module, call)
    if row.text("kind") == "size" and not only_sizes(module, call):
        return False
    if row.text("kind") == "length" and not only_length(module, call):
        return False
    if row.text("kind") == "masked" and _is_seen_in_parts(module, call, row.set("choosing")):
        return False
    if _is_nothing(module, call) or _on_fake_device(module, call):
        return False
    return not row.list("filled_dtypes") or not _has_dtype(module, call, row.list("filled_dtypes"))


def _is_seen_in_parts(module: Module, call: s.Call, choosing: Collection[str]) -> bool:
    """Return whether a result may be looked at or set only where it was computed, or elsewhere: `x[~ok] = 0`."""
    parent = call.parent
    uses: list[s.Expression] = [call]
    if isinstance(parent, s.Assign) and isinstance(parent.targets[0], s.Name):
        scope = parent.targets[0].scope.find(parent.targets[0].id)
        uses += module.reads(scope, parent.targets[0].id) if scope is not None else []
    for use in uses:
        around = use.parent.parent if isinstance(use.parent, (s.Argument, s.Attribute)) else use.parent
        masked = isinstance(around, s.Call) and any(a.keyword == "where" for a in around.arguments)
        chosen = isinstance(around, s.Call) and not module.callee(around).isdisjoint(choosing)
        if isinstance(around, s.Subscript) or masked or chosen:
            return True
    return False


def _describes(module: Module, call: s.Call) -> bool:
    """Return whether the function around a call only computes the shape of another one's result."""
    methods = module.catalogue.names("memory", "fake", "methods")
    decorators = [d for a in call.ancestors() if isinstance(a, s.Function) for d in a.decorators]
    targets = [d.function if isinstance(d, s.Call) else d for d in decorators]
    return any(getattr(target, "attribute", getattr(target, "id", None)) in methods for target in targets)


def _sizes(call: s.Call) -> list[s.Expression]:
    """Return the sizes that a call is given, one by one or as a tuple or list."""
    given = [a.value for a in call.arguments if a.keyword in (None, "size", "shape") and not a.star]
    return [size for value in given for size in (value.elements if isinstance(value, s.Collection) else [value])]


def _is_nothing(module: Module, call: s.Call) -> bool:
    """Return whether one of the sizes may be 0, so that there is nothing to read."""
    for size in _sizes(call):
        for constant in module.constants(size) or ():
            if constant == 0 or (isinstance(constant, tuple) and 0 in constant):
                return True
        if isinstance(size, s.Name) and _has_zero_put_in(module, size):
            return True
    return False


def _has_zero_put_in(module: Module, name: s.Name) -> bool:
    """Return whether one item of a list of sizes is set to 0."""
    scope = name.scope.find(name.id)
    for use in module.reads(scope, name.id) if scope is not None else ():
        item = use.parent
        assign = item.parent if isinstance(item, s.Subscript) and item.stored else None
        if isinstance(assign, s.Assign) and assign.value is not None and literal(assign.value) == 0:
            return True
    return False


def _on_fake_device(module: Module, call: s.Call) -> bool:
    devices = module.catalogue.names("memory", "fake", "devices")
    for passed in module.argument(call, "device").values:
        for value in module.values(passed) or ():
            inner = value.arguments[0].value if isinstance(value, s.Call) and value.arguments else value
            if literal(inner) in devices:
                return True
    return False


def _has_dtype(module: Module, call: s.Call, dtypes: Collection[object]) -> bool:
    """Return whether an array may be of one of these types, for which numpy fills it."""
    passed = module.argument(call, "dtype")
    if passed.given is None and not passed.values:
        return True
    for value in passed.values:
        if any(name in dtypes for name in module.names(value)) or any(
            c in dtypes for c in module.constants(value) or ()
        ):
            return True
    return False


def _grows(module: Module, call: s.Call) -> bool:
    """Return whether `resize_` certainly gives a tensor elements that it did not have."""
    if not isinstance(call.function, s.Attribute):
        return False
    after = _count(module, call)
    values = module.values(call.function.value)
    if after is None or not values:
        return False
    before = [_count_of(module, value) for value in values]
    return all(count is not None and count < after for count in before)


def _count_of(module: Module, value: s.Expression) -> int | None:
    """Return the number of elements of a tensor that was made from sizes, or None where it is not known."""
    sized = module.catalogue.names("memory", "sized")
    if not isinstance(value, s.Call) or not module.callee(value) or not module.callee(value) <= sized:
        return None
    copies = module.callee(value) & module.catalogue.names("memory", "allocator", kind="size")
    return None if copies and value.arguments and not only_sizes(module, value) else _count(module, value)


def _count(module: Module, call: s.Call) -> int | None:
    """Return the number of elements of constant sizes, 0 without sizes, or None where one is not known."""
    counts = [module.constants(size) for size in _sizes(call)]
    if any(count is None or len(count) != 1 or not isinstance(count[0], int) for count in counts):
        return None
    return prod(int(str(count[0])) for count in counts if count) if counts else 0
