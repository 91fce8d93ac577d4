"""Places where results arrive in the order in which they are ready, and where that order matters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from detlint.analysis.seeds.receivers import followed, of_libraries
from detlint.analysis.values.conditions import applies, verdict
from detlint.catalogue import Row
from detlint.orders.follow import Order
from detlint.orders.leaks import LEAVING, Leak
from detlint.orders.parts import Step
from detlint.orders.task_draws import TaskDraws
from detlint.orders.threads import Adders, is_keyed
from detlint.questions import Meets, Races
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching

_DEPTH = 6


@record(frozen=True, slots=True)
class Source:
    """A place that yields results as they become ready, and where their order matters.

    `keyed` says that what is kept of each result tells which task it belongs to; `leaves` that the loop over the
    results may end before the last one, or changes the tasks. `made` is the call that made what is called at `node`, if
    there is one. `names` are the names of lists in the order of the results. `draws` says that `node` is a draw by a
    task itself. `asks` is the question that the file leaves to programs.
    """

    node: s.Call
    row: Row
    leaks: list[Leak]
    keyed: bool
    leaves: bool = False
    made: s.Call | None = None
    names: frozenset[str] = frozenset()
    draws: bool = False
    asks: Meets | Races | None = None


class Completions:
    """Finds these places in one file, from the table `completion` of `order.toml`."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._names = module.catalogue.by_name("order", "completion")
        self._methods = module.catalogue.by_name("order", "completion", "methods")
        self._contexts = module.catalogue.names("order", "completion", "contexts")

    @cached_property
    def order(self) -> Order:
        """The analysis of where values of arbitrary order end up."""
        return Order(self.module)

    @cached_property
    def _task_draws(self) -> TaskDraws:
        return TaskDraws(self.module)

    @cached_property
    def _adders(self) -> Adders:
        return Adders(self.module, self.order)

    def found(self) -> Iterator[Source]:
        """Yield each such place, in evaluation order; its order may matter nowhere."""
        methods = {name.rpartition(".")[2] for name in self._names}  # also methods of what a `with` block opens
        calls = self.module.calls_like(self._names, words=methods | self._methods.keys())
        for call in calls:
            row = self._row(call)
            kind = row.text("kind") if row is not None else ""
            if row is None or not applies(self.module, call, row.list("when"), ()):
                continue
            if kind == "iterator":
                yield self._iterated(call, row, call)
            elif kind == "caller":
                for outer in self._calls_of(call):
                    yield self._iterated(outer, row, outer, call)
            elif kind in ("sets", "ready"):
                yield self._taken(call, row)
            elif kind == "queue":
                for taking in self._taken_out(call, row):
                    yield self._queued(taking, row)
            elif kind in ("callback", "thread", "coroutine"):
                for node, leaks, keyed in self._adders.of(call, row):
                    yield Source(node, row, leaks, keyed)
            elif kind == "shares" and self._adders.share(call, row):
                yield Source(call, row, [Leak(call, "result")], keyed=False)
            if row.text("draws"):
                task = self._adders.task(call, row)
                yield from self._drawn(task, call, row)
                if kind in ("thread", "started") and task not in self._task_draws.found:
                    races = Races(self.module.place(call))
                    yield Source(call, row, [Leak(call, "draws")], keyed=False, draws=True, asks=races)
        for raced, row in of_libraries(self.module, "order", "racing", open_too=True):
            if isinstance(raced, s.Call):
                known = verdict(self.module, raced, row.list("when"), row.list("unless"))
                asks = Meets(self.module.place(raced), row.id) if known is None else None
                yield from (replace(source, asks=asks) for source in self._raced(raced, row))

    def _raced(self, call: s.Call, row: Row) -> Iterator[Source]:
        """Yield what a library does as its own tasks finish."""
        if row.text("kind") == "table":
            leaks = self.order.leaks(followed(call, row), of="table")
            yield Source(call, row, [leak for leak in leaks if leak.kind not in LEAVING], keyed=False)
        elif row.text("kind") == "tasks":
            for run in self._calls_of(call):
                for function in self._delayed(run, row):
                    yield from self._drawn(function, call, row)
        else:
            yield Source(call, row, [Leak(call, "result")], keyed=False)

    def _delayed(self, run: s.Call, row: Row) -> Iterator[s.Function]:
        """Yield the functions of this file that a call is given deferred: `delayed(f)(x) for x in items`."""
        for part in (part for argument in run.arguments for part in s.walk(argument)):
            put_off = part.function if isinstance(part, s.Call) else None
            if isinstance(put_off, s.Call) and self.module.callee(put_off) <= row.set("delayed") and put_off.arguments:
                for name in self.module.names(put_off.arguments[0].value):
                    if name in self.module.functions:
                        yield self.module.functions[name]

    def _drawn(self, function: s.Function | None, call: s.Call, row: Row) -> Iterator[Source]:
        for draw in self._task_draws.of(call, function, row) if function is not None else ():
            yield Source(draw, row, [Leak(draw, "draws")], keyed=False, draws=True)

    def _names_of(self, call: s.Call) -> frozenset[str]:
        """Return the names of what is called, also of a context of `multiprocessing`: `context.Queue()`."""
        names, function = self.module.callee(call), call.function
        if names or not isinstance(function, s.Attribute):
            return names
        made = [value for value in self.module.values(function.value) or () if isinstance(value, s.Call)]
        contexts = bool(made) and all(self.module.callee(each) & self._contexts for each in made)
        return frozenset((f"multiprocessing.{function.attribute}",)) if contexts else names

    def _row(self, call: s.Call) -> Row | None:
        names = self._names_of(call)
        rows = {id(row): row for name in names if (row := self._names.get(name)) is not None}
        if names and len(rows) == 1:
            return next(iter(rows.values()))
        if isinstance(call.function, s.Attribute) and not any(name in self.module.functions for name in names):
            return self._methods.get(call.function.attribute) or self._of_pool(call.function)
        return None

    def _of_pool(self, function: s.Attribute) -> Row | None:
        """Return the row of a method of what a `with` block opens, or None."""
        bindings = reaching(function.value) or () if isinstance(function.value, s.Name) else ()
        calls = [b.value for b in bindings if isinstance(b.value, s.Call) and not b.path]
        names = {f"{name}.{function.attribute}" for call in calls for name in self.module.callee(call)}
        rows = [self._names.get(name) for name in sorted(names)]
        return rows[0] if len(rows) == 1 and len(calls) == len(bindings) else None

    def _calls_of(self, made: s.Call) -> Iterator[s.Call]:
        """Yield the calls of what a call has made: `Parallel(...)(tasks)`."""
        for call in self.module.calls:
            if call is not made and made in (self.module.values(call.function) or ()):
                yield call
            elif isinstance(call.function, s.Name):
                bindings = reaching(call.function) or ()
                if any(b.kind == "with" and b.value is made for b in bindings):
                    yield call

    def _iterated(self, call: s.Call, row: Row, node: s.Expression, made: s.Call | None = None) -> Source:
        loops = list(self._loops(node, _DEPTH))
        leaks, keyed = self.order.leaks(node), self._is_keyed(loops)
        leaves = any(_may_leave(loop) or self._changes_tasks(loop, call) for loop in loops)
        statement = next((a for a in node.ancestors() if isinstance(a, s.Statement)), None)
        targets = statement.targets if isinstance(statement, s.Assign) else []
        return Source(call, row, leaks, keyed, leaves, made, self._in_order(loops, targets))

    def _changes_tasks(self, loop: s.For | s.Comprehension, call: s.Call) -> bool:
        """Return whether a loop adds to the tasks that it iterates over, or removes some."""
        tasks = {a.value.id for a in call.arguments if isinstance(a.value, s.Name)}
        looks = self.module.python("methods", "container-reading")
        for part in s.walk(loop.body) if isinstance(loop, s.For) else ():
            if isinstance(part, s.Name) and part.id in tasks:
                around = part.parent
                if isinstance(around, s.Attribute) and around.attribute not in looks:
                    return True
                if isinstance(around, s.Subscript) and (around.stored or isinstance(around.parent, s.Other)):
                    return True
        return False

    def _taken(self, call: s.Call, row: Row) -> Source:
        """Return the source of `done, pending = wait(...)`: a call's first item, or an attribute."""
        awaited = isinstance(call.parent, s.Operation) and call.parent.operator == "await"
        node = call.parent if awaited and isinstance(call.parent, s.Operation) else call
        taken = node.parent
        if isinstance(taken, s.Attribute) and taken.attribute in row.list("attributes"):
            return self._iterated(call, row, taken)
        leaks = self.order.leaks_at(node, (Step("item", 0),))
        target = taken.targets[0] if isinstance(taken, s.Assign) and len(taken.targets) == 1 else None
        names = target.elements[:1] if isinstance(target, s.Collection) else []
        loops = [loop for name in names for loop in self._loops_of_name(name, _DEPTH)]
        if row.text("kind") == "ready" and isinstance(taken, s.Assign):
            leaks += self._one_by_one(taken, names)
        return Source(call, row, leaks, self._is_keyed(loops), names=self._in_order(loops, names))

    def _one_by_one(self, assign: s.Assign, names: list[s.Expression]) -> Iterator[Leak]:
        """Yield where the order matters of what a loop around `assign` takes from its first name, one by one."""
        loop = next((a for a in assign.ancestors() if isinstance(a, (s.For, s.While, s.Function))), None)
        if isinstance(loop, (s.For, s.While)):
            taken = {part.id for name in names for part in s.walk(name) if isinstance(part, s.Name)}
            yield from self._each_time(loop, assign, taken)

    def _each_time(self, loop: s.For | s.While, source: s.Node, names: set[str]) -> Iterator[Leak]:
        """Yield where the order matters of `source`'s results in each turn of a loop, via `names` or derived ones."""
        for part in s.walk(loop.body):
            if not isinstance(part, s.Assign) or part is source or part.value is None:
                continue
            if _mentions(part.value, names, source):
                targets = [n for target in part.targets for n in s.walk(target)]
                names = names | {n.id for n in targets if isinstance(n, s.Name) and n.stored}
        for effect in self.order.loops.effects(loop):
            if effect.kind == "adds" and isinstance(effect.node, s.Expression):
                added = effect.node.parent.parent if isinstance(effect.node.parent, s.Attribute) else effect.node.parent
                data = added.arguments if isinstance(added, s.Call) else [added] if added is not None else []
                if any(_mentions(each, names, source) for each in data):
                    yield from self.order.leaks_of_list(effect.node, loop)
            elif effect.kind == "trains":
                learnt = (p for p in s.walk(loop.body) if isinstance(p, s.Attribute) and p.attribute == "backward")
                if any(_mentions(each.value, names, source) for each in learnt):
                    yield Leak(effect.node, effect.kind)
            elif effect.kind in ("writes", "sums", "yielded"):
                around = effect.node.parent if effect.kind == "sums" else effect.node
                if around is not None and _mentions(around, names, source):
                    yielded = effect.kind == "yielded"
                    yield from self.order.leaks_of_yield(around) if yielded else [Leak(effect.node, effect.kind)]

    def _taken_out(self, made: s.Call, row: Row) -> Iterator[s.Call]:
        """Yield the calls that take out of a queue what several tasks put in; `made` makes the queue."""
        target = _target(made)
        reads = self._reads(target) if target is not None else []
        tasks = self._tasks(row)
        putting = any(_called(read) == "put" and tasks.intersection(read.ancestors()) for read in reads)
        if not putting and not any(self._is_shared(read, made, row) for read in reads):
            return
        for read in reads:
            call = read.parent.parent if read.parent is not None else None
            takes = _called(read) in row.list("takes") and not (putting and tasks.intersection(read.ancestors()))
            if takes and isinstance(call, s.Call):
                yield call

    def _reads(self, target: s.Expression) -> list[s.Expression]:
        """Return the reads of a name, or of an attribute of a class of the file."""
        if isinstance(target, s.Name):
            scope = target.scope.find(target.id)
            return [*self.module.reads(scope, target.id)] if scope is not None else []
        klass = self.module.class_of(target)
        if not isinstance(target, s.Attribute) or klass is None:
            return []
        named = (each for each in self.module.attributes(target.attribute) if not each.stored)
        return [each for each in named if self.module.class_of(each) is klass and self.module.is_self(each.value)]

    def _tasks(self, row: Row) -> set[s.Node]:
        """Return the functions of this file that a loop starts, so that several calls of each run concurrently."""
        starts = {*row.list("starts")}
        calls = self.module.calls_like(starts, words={name.rpartition(".")[2] for name in starts})
        started = (self._adders.task(call, row) for call in calls if self._names_of(call) & starts)
        return {function for function in started if function is not None}

    def _is_shared(self, read: s.Expression, made: s.Call, row: Row) -> bool:
        """Return whether a queue is passed to what a loop starts, and is not made anew in each turn."""
        around = list(read.ancestors())
        started = any(isinstance(a, s.Call) and self._names_of(a) & {*row.list("starts")} for a in around)
        loop = next((a for a in around if isinstance(a, (s.For, s.While, s.Comprehension, s.Function))), None)
        outside = loop is not None and not any(a is loop for a in made.ancestors())
        return started and outside and not isinstance(loop, s.Function)

    def _queued(self, call: s.Call, row: Row) -> Source:
        puts = [
            other.arguments[0].value
            for other in self.module.calls
            if isinstance(other.function, s.Attribute) and other.function.attribute == "put" and other.arguments
        ]
        keyed = any(is_keyed(self.module, item) for item in puts) and not self._drops(call)
        for around in call.ancestors():
            if isinstance(around, s.Comprehension):
                whole = around.kind in ("list", "generator") and call in list(s.walk(around.elements[0]))
                return Source(call, row, self.order.leaks(around) if whole else [], keyed)
            if isinstance(around, (s.For, s.While)):
                return Source(call, row, list(self._each_time(around, call, set())), keyed)
        return Source(call, row, [], keyed)

    def _drops(self, taking: s.Call) -> bool:
        """Return whether what is taken out is unpacked and the first part, which tells whose it is, is never read."""
        target = _target(taking)
        first = target.elements[0] if isinstance(target, s.Collection) and target.elements else None
        scope = first.scope.find(first.id) if isinstance(first, s.Name) else None
        return scope is not None and isinstance(first, s.Name) and not self.module.reads(scope, first.id)

    # Loops over results

    def _loops(self, node: s.Expression, depth: int) -> Iterator[s.For | s.Comprehension]:
        """Yield the loops that iterate over `node`, or over calls that only pass it on."""
        parent = node.parent
        if depth == 0:
            return
        if isinstance(parent, s.For) and parent.iterator is node:
            yield parent
        elif isinstance(parent, s.Clause) and isinstance(parent.parent, s.Comprehension):
            yield parent.parent
        elif isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            if self.order.calls.kind(parent, parent.parent) in ("passes", "numbers"):
                yield from self._loops(parent.parent, depth - 1)
        elif isinstance(parent, s.Assign) and len(parent.targets) == 1:
            yield from self._loops_of_name(parent.targets[0], depth - 1)

    def _loops_of_name(self, target: s.Expression, depth: int) -> Iterator[s.For | s.Comprehension]:
        scope = target.scope.find(target.id) if isinstance(target, s.Name) else None
        if scope is not None and isinstance(target, s.Name):
            for read in self.module.reads(scope, target.id):
                yield from self._loops(read, depth - 1)

    def _in_order(self, loops: list[s.For | s.Comprehension], targets: list[s.Expression]) -> frozenset[str]:
        """Return the names of lists that loops fill, or that are assigned, in the order of the results."""
        around = [next((a for a in loop.ancestors() if isinstance(a, s.Assign)), None) for loop in loops]
        targets = targets + [target for assign in around if assign is not None for target in assign.targets]
        added = [e.node for loop in loops if isinstance(loop, s.For) for e in self.order.loops.effects(loop)]
        return frozenset(node.id for node in (*targets, *added) if isinstance(node, s.Name))

    def _is_keyed(self, loops: list[s.For | s.Comprehension]) -> bool:
        """Return whether everything that loops put into lists is a tuple or dict, which says what it belongs to."""
        added: list[s.Expression] = []
        for loop in loops:
            if isinstance(loop, s.Comprehension):
                added += loop.elements[:1]
                continue
            for effect in self.order.loops.effects(loop):
                call = effect.node.parent.parent if effect.kind == "adds" and effect.node.parent else None
                if isinstance(call, s.Call):
                    added += [argument.value for argument in call.arguments[-1:]]
        return bool(added) and all(is_keyed(self.module, value) for value in added)


def _target(node: s.Expression) -> s.Expression | None:
    """Return what a value is assigned to, perhaps as one of several: `tasks, done = Queue(), Queue()`."""
    around = node.parent
    if isinstance(around, s.Assign):
        return around.targets[0]
    target = (
        around.parent.targets[0] if isinstance(around, s.Collection) and isinstance(around.parent, s.Assign) else None
    )
    if not isinstance(target, s.Collection) or not isinstance(around, s.Collection) or target.rest is not None:
        return None
    return dict(zip(around.elements, target.elements, strict=False)).get(node)


def _may_leave(loop: s.For | s.Comprehension) -> bool:
    return isinstance(loop, s.For) and any(
        isinstance(part, s.Leave) and part.kind in ("break", "return") for part in s.walk(loop.body)
    )


def _mentions(node: s.Node, names: set[str], source: s.Node) -> bool:
    return any(part is source or (isinstance(part, s.Name) and part.id in names) for part in s.walk(node))


def _called(read: s.Expression) -> str:
    """Return the method of an object that is called, or ""."""
    method = read.parent
    called = isinstance(method, s.Attribute) and isinstance(method.parent, s.Call) and method.parent.function is method
    return method.attribute if called and isinstance(method, s.Attribute) else ""
