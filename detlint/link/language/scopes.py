"""The `with` statement: its body, and what its context managers do before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.language.arms import scope
from detlint.link.language.assignments import Assignments
from detlint.link.state.objects import CALLED
from detlint.link.state.run import UNGUARDED, Frame
from detlint.link.state.values import UNKNOWN, Atom, Class, Function, Object, Suspended, Value, each, join, single
from detlint.programs.events import Apart, State

_ENTERED = "entered into it"  # the slot of a stack for its contexts


class Scopes(Assignments):
    """The part of the interpreter that runs `with` statements, and enters and leaves contexts."""

    def scoped(self, node: f.Scoped) -> None:
        """Run a `with` statement."""
        context = self.value(node.context)
        restored, start = self.restored_by(context), self.state
        if self.state is not None and self.is_undrawn(context):
            self.state, restored = self.state.but(("device",), "meta"), (*restored, "device")
        atoms = each(context)
        suspended = next((atom for atom in atoms if isinstance(atom, Suspended)), None)
        if suspended is not None:
            self.within(suspended.function, suspended.positional, dict(suspended.keywords), node)
            return
        entered = [self.enter(atom, node) for atom in atoms]
        if node.target is not None:
            self.assign(node.target, join(entered))
        with self.apart() if restored else UNGUARDED:  # seeds in here do not last
            self.block(node.body)
        for atom in atoms:
            if isinstance(atom, Object) and isinstance(atom.kind, Class) and self.state is not None:
                self.call_method(atom, "__exit__", nowhere(self.frame.path))
            elif isinstance(atom, Object):
                restored = (*restored, *self.leave_stack(atom))
        if start is not None and self.state is not None:
            for name in restored:
                self.state = self.state.but((name,), start[name])

    def within(
        self, manager: Function, positional: Sequence[Value], keywords: dict[str, Value], node: f.Scoped
    ) -> None:
        """Run the body of a `with` at the `yield` of its context manager, a generator function."""
        outer = self.frame
        variables = self.parameters(manager, positional, keywords)
        inner = Frame(manager.path, manager.qualified, variables, self.program.begin(manager.path, manager.qualified))

        def body(value: Value) -> None:
            self.frame = outer
            if node.target is not None:
                self.assign(node.target, value)
            self.block(node.body)
            self.frame = inner
            if self.state is None:  # the function with the `with` is left
                inner.reach = min(inner.reach, f.FUNCTION)

        inner.on_yield = body
        self.frame = inner
        start, before, self.trace = self.state, self.trace, []
        self.block(self.program.function(manager).body)
        self.frame, inner.on_yield = outer, None  # otherwise they would refer to each other, and keep this run alive
        if self.state is None:
            self.state = inner.end
        trace, self.trace = scope(tuple(self.trace)), before
        if trace and start == self.state:  # seeds within are undone at the end
            self.trace.append(Apart(trace))
        else:
            self.trace += trace

    def enter_into(self, stack: Object | Function | None, atom: Atom, place: Place) -> Value:
        """Enter a context that is left together with a stack of contexts; return what entering it returns."""
        if isinstance(atom, Suspended) and self.state is not None:
            return self.until_yield(atom)
        if isinstance(stack, Object) and isinstance(atom, Object):
            self.program.objects.store(stack, _ENTERED, single(atom))
        entered = self.call_method(atom, "__enter__", place) if isinstance(atom, Object) else None
        return single(atom) if entered is None else entered

    def leave_stack(self, stack: Atom) -> tuple[str, ...]:
        """Leave the contexts of a stack; return the generators whose states are restored."""
        entered = self.program.objects.stored(stack, _ENTERED) or frozenset()
        for atom in each(entered):
            if isinstance(atom, Object) and isinstance(atom.kind, Class) and self.state is not None:
                self.call_method(atom, "__exit__", nowhere(self.frame.path))
        called = self.program.objects.stored(stack, CALLED) or frozenset()
        for atom in each(called):
            if self.state is not None:
                self.call_value(single(atom), (), {}, nowhere(self.frame.path))
        return self.restored_by(entered)

    def until_yield(self, manager: Suspended) -> Value:
        """Run a generator function up to its `yield`; return what it yields, in the state that it has there."""
        outer, function = self.frame, manager.function
        variables = self.parameters(function, manager.positional, dict(manager.keywords))
        walk = self.program.begin(function.path, function.qualified)
        found = list[tuple[State | None, Value]]()

        def stop(value: Value) -> None:
            found.append((self.state, value))
            self.state = None
            self.frame.reach = min(self.frame.reach, f.FUNCTION)

        self.frame = Frame(function.path, function.qualified, variables, walk, on_yield=stop)
        start, before, self.trace = self.state, self.trace, []
        self.block(self.program.function(function).body)
        self.frame.on_yield, self.frame = None, outer
        before += scope(tuple(self.trace))
        self.trace = before
        self.state = found[0][0] if found else start
        return found[0][1] if found else UNKNOWN

    def enter(self, atom: Any, node: f.Scoped) -> Value:
        """Enter a context; return what `with atom as target` binds."""
        if isinstance(atom, Object) and isinstance(atom.kind, Class):
            entered = (self.call_method(atom, name, nowhere(self.frame.path)) for name in ("__enter__", "__aenter__"))
            return next((value for value in entered if value is not None), single(atom))
        return single(atom)

    def call_method(self, receiver: Object, name: str, place: Place) -> Value | None:
        """Call a method of the project without arguments; return None if the object has no such method."""
        found = self.program.objects.attribute(receiver, name)
        methods = [a for a in found or () if isinstance(a, Function)]
        if not methods:
            return None
        return self.call_value(self.bound(frozenset(methods), receiver), (), {}, place)

    def is_undrawn(self, context: Value) -> bool:
        """Return whether nothing is drawn in a context, as on the meta device."""
        raise NotImplementedError

    def restored_by(self, context: Value) -> tuple[str, ...]:
        """Return the generators whose state a library's context manager restores."""
        raise NotImplementedError


def nowhere(path: str) -> Place:
    """Return a place for calls that no text makes."""
    return Place(path, 1, 1, 1, 1)
