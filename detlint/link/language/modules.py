"""Modules and functions of autograd: what is hooked onto them, and what runs on the way back."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.finding import Place
from detlint.link.language.calls import Caller
from detlint.link.state.run import UNGUARDED
from detlint.link.state.values import UNKNOWN, Class, Function, Library, Object, Partial, Value, single
from detlint.programs.events import Marked

_HOOKS, _PERHAPS = "hooks on it", "hooks perhaps"  # the slots of a module that has some, or perhaps has
_GRAPH = Object(Library("torch.autograd.graph.Node"), "", 0)  # what has been recorded, one object in a program


class Modules(Caller):
    """Calls modules, functions of autograd, and the hooks on these."""

    def call_object(self, made: Object, positional: Sequence[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Call an object, then what is hooked onto it."""
        value = super().call_object(made, positional, keywords, place)
        for slot in (_HOOKS, _PERHAPS):
            hooks = self.program.objects.stored(made, slot)
            if hooks is not None:
                with UNGUARDED if slot == _HOOKS else self.guarded(""):
                    self.call_each(hooks, (single(made), UNKNOWN, value), place)
        return value

    def hook(self, owner: Object, hook: Value) -> None:
        """Let calls of a module call something, as they certainly do only if it is certain now."""
        self.program.objects.store(owner, _HOOKS if self.is_certain() else _PERHAPS, hook)

    def differentiate(self, klass: Class, positional: Sequence[Value], place: Place) -> Value:
        """`klass.apply(...)`: what its `forward` returns; its `backward` runs on the way back."""
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
        """What runs on the way back from now on; what does so only perhaps is left out."""
        if functions and self.is_certain():
            self.program.objects.store(_GRAPH, "[]", functions)

    def mark(self, kind: str, place: Place) -> None:
        """A step that says what a program is for; one that trains goes back through what was recorded."""
        self.note(Marked(kind, place))
        recorded = self.program.objects.stored(_GRAPH, "[]") if kind == "trains" else None
        if recorded is not None and self.state is not None:
            self.call_each(recorded, (UNKNOWN, UNKNOWN, UNKNOWN), place)

    def call_each(self, functions: Value, positional: Sequence[Value], place: Place) -> None:
        """Call all of some functions, one after the other."""
        for function in sorted((a for a in functions if isinstance(a, (Function, Partial))), key=repr):
            if self.state is not None:
                self.call_value(single(function), positional, {}, place)
