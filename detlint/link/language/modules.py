"""Modules and functions of autograd: the hooks on them, and what runs in the backward pass."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.finding import Place
from detlint.link.language.calls import Caller
from detlint.link.state.run import UNGUARDED
from detlint.link.state.values import UNKNOWN, Class, Function, Library, Object, Partial, Value, single
from detlint.programs.events import Marked

_HOOKS, _PERHAPS = "hooks on it", "hooks perhaps"  # the slots of a module with hooks, or perhaps with hooks
_GRAPH = Object(Library("torch.autograd.graph.Node"), "", 0)  # the recorded graph, one object in a program


class Modules(Caller):
    """The part of the interpreter that calls modules, functions of autograd, and their hooks."""

    def call_object(self, made: Object, positional: Sequence[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Call an object, then its hooks."""
        value = super().call_object(made, positional, keywords, place)
        for slot in (_HOOKS, _PERHAPS):
            hooks = self.program.objects.stored(made, slot)
            if hooks is not None:
                with UNGUARDED if slot == _HOOKS else self.guarded(""):
                    self.call_each(hooks, (single(made), UNKNOWN, value), place)
        return value

    def hook(self, owner: Object, hook: Value) -> None:
        """Register a hook on a module; calls surely run it only if its registration is certain."""
        self.program.objects.store(owner, _HOOKS if self.is_certain() else _PERHAPS, hook)

    def differentiate(self, klass: Class, positional: Sequence[Value], place: Place) -> Value:
        """Run `klass.apply(...)` and return the result of its `forward`; its `backward` runs in the backward pass."""
        objects = self.program.objects
        found = [objects.attribute(klass, name) for name in ("forward", "setup_context", "backward")]
        forward, setup, backward = (frozenset(a for a in v or () if isinstance(a, Function)) for v in found)
        given = positional if setup else (UNKNOWN, *positional)
        value = self.call_value(forward, given, {}, place) if forward else UNKNOWN
        if setup and self.state is not None:
            self.call_value(setup, (UNKNOWN, UNKNOWN, value), {}, place)
        self.record_backward(backward)
        return value

    def record_backward(self, functions: Value) -> None:
        """Record functions that run in the backward pass from now on, unless this is uncertain."""
        if functions and self.is_certain():
            self.program.objects.store(_GRAPH, "[]", functions)

    def mark(self, kind: str, place: Place) -> None:
        """Mark a step that says what a program is for; one that trains runs the recorded backward functions."""
        self.note(Marked(kind, place))
        recorded = self.program.objects.stored(_GRAPH, "[]") if kind == "trains" else None
        if recorded is not None and self.state is not None:
            self.call_each(recorded, (UNKNOWN, UNKNOWN, UNKNOWN), place)

    def call_each(self, functions: Value, positional: Sequence[Value], place: Place) -> None:
        """Call all of some functions, one after another."""
        for function in sorted((a for a in functions if isinstance(a, (Function, Partial))), key=repr):
            if self.state is not None:
                self.call_value(single(function), positional, {}, place)
