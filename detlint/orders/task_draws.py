"""Draws of tasks that run concurrently: which task gets which numbers is a race, however the generator is seeded."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.values.draws import Drawn
from detlint.analysis.values.inert import Inert
from detlint.catalogue import Row
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching


class TaskDraws:
    """Finds the draws from global generators in functions of one file that are tasks of threads or pools."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._drawn = Drawn(module, frozenset())
        self._inert = Inert(module)
        self.found: set[s.Function] = set()  # the tasks that draw
        self._told: set[s.Function] = set()

    def of(self, call: s.Call, function: s.Function, row: Row) -> Iterator[s.Call]:
        """Yield the first draw of a task, if it seeds nothing; `call` starts it, in a pool that has several workers."""
        if function in self._told or self._is_alone(call, row):
            return
        self._told.add(function)
        for part in s.walk(function.body):
            if isinstance(part, s.Call) and not self._inert.kind(part) and self._drawn.is_global(part, function):
                self.found.add(function)
                yield part
                return

    def _is_alone(self, call: s.Call, row: Row) -> bool:
        """Return whether the pool of a task is not known, has one worker, or starts each task in a new worker."""
        receiver = call.function.value if isinstance(call.function, s.Attribute) and row.list("workers") else None
        if receiver is None:
            return False
        bindings = reaching(receiver) or () if isinstance(receiver, s.Name) else ()
        made = [receiver] if isinstance(receiver, s.Call) else [b.value for b in bindings]
        pools = [pool for pool in made if isinstance(pool, s.Call)]
        return not pools or any(self._has_one(pool, row) for pool in pools)

    def _has_one(self, pool: s.Call, row: Row) -> bool:
        given = {argument.keyword or str(place): argument.value for place, argument in enumerate(pool.arguments)}
        number = next((given[name] for name in ("0", *row.list("workers")) if name in given), None)
        return (number is not None and literal(number) == 1) or not given.keys().isdisjoint(row.list("anew"))
