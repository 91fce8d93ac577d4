"""Lists that threads and callbacks add to, each when it finishes."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.catalogue import Row
from detlint.orders.follow import Order
from detlint.orders.leaks import Leak
from detlint.orders.loops import in_handler
from detlint.semantics.model import Module
from detlint.tree import syntax as s


class Adders:
    """Finds what functions that run concurrently add to shared lists."""

    def __init__(self, module: Module, order: Order) -> None:
        self.module = module
        self.order = order
        self._told: set[s.Node] = set()
        methods = module.catalogue.names
        self._adds = methods("order", "method", "methods", id="adds") | methods(
            "order", "method", "methods", id="keeps"
        )

    def of(self, call: s.Call, row: Row) -> Iterator[tuple[s.Call, list[Leak], bool]]:
        """Yield the calls that add to a list, the leaks of its order, and whether what is added says whose it is.

        `call` starts a thread or registers a callback.
        """
        if row.text("kind") == "coroutine":
            for inner in self._coroutines(call, row):
                yield from self._added(self._named(inner.function), inner, awaits=True)
            return
        given = self._given(call, row)
        if given is None:
            return
        if isinstance(given, s.Attribute) and given.attribute in self._adds:  # callback=results.append
            yield call, self.order.leaks_of_list(given.value, call), False
            return
        yield from self._added(self._named(given), call)

    def _coroutines(self, call: s.Call, row: Row) -> Iterator[s.Call]:
        """Yield the calls of functions of the file that several tasks run: `gather(*[work(x) for x in xs])`."""
        alone = [] if not self._is_one_of_several(call, row) else [a.value for a in call.arguments]
        listed = [value for a in call.arguments if a.star for value in self.module.values(a.value) or ()]
        made = [value.elements[0] for value in listed if isinstance(value, s.Comprehension)]
        for given in (*alone, *made):
            if isinstance(given, s.Call) and self._named(given.function) is not None:
                yield given

    def _added(
        self, function: s.Function | None, call: s.Call, *, awaits: bool = False
    ) -> Iterator[tuple[s.Call, list[Leak], bool]]:
        """Yield the calls by which a function, called by `call`, adds to a list, for `awaits` after it has waited."""
        if function is None:
            return
        waits = [
            part.order for part in s.walk(function.body) if isinstance(part, s.Operation) and part.operator == "await"
        ]
        for part in s.walk(function.body):
            if not isinstance(part, s.Call) or not isinstance(part.function, s.Attribute) or part in self._told:
                continue
            if awaits and not any(order < part.order for order in waits):
                continue
            if part.function.attribute in self._adds and part.arguments and not in_handler(part, function):
                self._told.add(part)
                yield (
                    part,
                    self._leaks(part, part.function.value, function, call),
                    is_keyed(self.module, part.arguments[-1].value),
                )

    def task(self, call: s.Call, row: Row) -> s.Function | None:
        """Return the function of this file that a call runs concurrently with others, or None."""
        given = self._given(call, row)
        return None if given is None else self._named(given)

    def share(self, call: s.Call, row: Row) -> bool:
        """Return whether a call starts several processes that each train one model in shared memory."""
        if not self._is_one_of_several(call, row):
            return False
        owners = [
            each.function.value
            for each in self.module.calls_like(words=row.list("shares"))
            if isinstance(each.function, s.Attribute) and each.function.attribute in row.list("shares")
        ]
        shared = {owner.id for owner in owners if isinstance(owner, s.Name)}
        given = (part for argument in call.arguments for part in s.walk(argument))
        return any(isinstance(part, s.Name) and part.id in shared for part in given)

    def _given(self, call: s.Call, row: Row) -> s.Expression | None:
        several = bool(row.text("several")) or self._is_one_of_several(call, row)
        return self._function(call, row) if several else None

    def _named(self, given: s.Expression) -> s.Function | None:
        function = given.function if isinstance(given, s.Lambda) else None
        for name in self.module.names(given):
            function = self.module.functions.get(name, function)
        return function

    def _leaks(self, adds: s.Call, holder: s.Expression, function: s.Function, call: s.Call) -> list[Leak]:
        if isinstance(holder, s.Attribute):
            return self.order.leaks_of_list(holder, adds)
        if not isinstance(holder, s.Name):
            return []
        scope = holder.scope.find(holder.id)
        if scope is None:
            return []
        if scope is not function.scope:
            return self.order.leaks_of_list(holder, adds)
        place = next((i for i, p in enumerate(function.parameters) if p.name == holder.id), None)
        passed = None if place is None else self._passed(call, place, holder.id)
        statement = next((a for a in call.ancestors() if isinstance(a, s.Statement)), call)
        return self.order.leaks_of_list(passed, statement) if isinstance(passed, s.Name) else []

    def _passed(self, call: s.Call, place: int, name: str) -> s.Expression | None:
        """Return what a call that starts a thread passes to one parameter of its function, or None."""
        if self._named(call.function) is not None:  # a coroutine of the file
            given = [a.value for a in call.arguments if self.order.parts.parameter(call, a) == name]
            return given[0] if given else None
        for argument in call.arguments:
            if argument.keyword == "args" and isinstance(argument.value, s.Collection):
                elements = argument.value.elements
                return elements[place] if place < len(elements) else None
            if argument.keyword == name:
                return argument.value
        given = [argument.value for argument in call.arguments if argument.keyword is None and not argument.star]
        return given[place + 1] if place + 1 < len(given) else None

    def _function(self, call: s.Call, row: Row) -> s.Expression | None:
        for argument in call.arguments:
            if argument.keyword in row.list("parameters"):
                return argument.value
        positional = [argument.value for argument in call.arguments if argument.keyword is None and not argument.star]
        return positional[0] if positional and row.text("first") else None

    def _is_one_of_several(self, call: s.Call, row: Row) -> bool:
        """Return whether a call is made several times, without waiting for each to end."""
        for around in call.ancestors():
            if isinstance(around, (s.For, s.While)):
                return not _waits(around.body, row.list("waits"))
            if isinstance(around, s.Comprehension):
                return True
            if isinstance(around, s.Function):
                return False
        return False


def _waits(body: s.Block, methods: tuple[str, ...]) -> bool:
    """Return whether a loop's own statements wait for what they have started: `thread.join()`, `future.result()`."""
    for statement in body.statements:
        call = statement.value if isinstance(statement, (s.ExpressionStatement, s.Assign)) else None
        called = call.function if isinstance(call, s.Call) else None
        if isinstance(called, s.Attribute) and called.attribute in methods and isinstance(called.value, s.Name):
            return True
    return False


def is_keyed(module: Module, item: s.Expression) -> bool:
    """Return whether an item is a tuple or dict made on the spot, which says what it belongs to: more than parts."""
    return any(isinstance(value, s.Dictionary) or _has_key(value) for value in module.values(item) or [item])


def _has_key(value: s.Expression) -> bool:
    parts = value.elements if isinstance(value, s.Collection) else []
    slices = [isinstance(part, s.Subscript) and isinstance(part.indices[0], s.Slice) for part in parts]
    return len(parts) > 1 and not all(slices)
