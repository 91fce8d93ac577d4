"""Modules and functions of autograd: what is hooked onto them, what they hold, and what runs on the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import AllocationSite, Atom, Bound, ClassRef, FunctionRef, Instance, LibraryRef, PartialCall
from detlint.domain.effects import Listed, Mark
from detlint.domain.given import Given
from detlint.domain.modes import lists
from detlint.domain.slots import ANY_KEY, Argument
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, UNKNOWN, Value, told, value_of
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known

_HOOKS = Argument("hooks")
_SWITCH = "recorded"
_GRAPH = Instance(AllocationSite(LibraryRef("torch.autograd.graph.Node"), None))  # what is recorded in a program


def mark(step: Step, kind: str) -> None:
    """A step that says what a program is for; one that trains goes back through what was recorded."""
    step.emit(Mark(kind, step.code))
    if kind == "trains":
        for function in step.each(step.read(_GRAPH, ANY_KEY)):
            _back(step, function)


def _back(step: Step, function: Atom) -> None:
    """Call a function where it has been recorded."""
    grads = (UNKNOWN, UNKNOWN, UNKNOWN)
    step.arm(lists(_SWITCH, (_name(function),)), lambda: step.call(value_of(function), *grads), lambda: NOTHING)


def _record(step: Step, functions: Value) -> None:
    """Record functions, which run on the way back."""
    step.fill(_GRAPH, ANY_KEY, functions)
    for function in step.each(functions):
        step.emit(Listed(_SWITCH, _name(function)))


def _name(function: Atom) -> str:
    """What a function is listed by: one word."""
    inner = function.function if isinstance(function, (Bound, PartialCall)) else function
    named = f"{inner.file}:{inner.name}" if isinstance(inner, FunctionRef) else told(inner)
    return "_".join(named.split())


def called(step: Step, module: Instance, given: Value) -> None:
    """Call what is hooked onto a module that was called and gave something."""
    for hook in step.each(step.read(module, _HOOKS)):
        step.call(value_of(hook), value_of(module), UNKNOWN, given)


def hooks(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Let calls of a module call something."""
    if isinstance(step.receiver, Instance):
        step.fill(step.receiver, _HOOKS, args.first(row.text("parameter")))
    return UNKNOWN


def backward_hooks(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Let ways back call something."""
    _record(step, args.first(row.text("parameter")))
    return UNKNOWN


def differentiable(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """`klass.apply(...)`: what its `forward` gives; its `backward` runs on the way back."""
    found = NOTHING
    rest = args.given.positional[1:]
    for klass in step.each(args.given.first):
        if not isinstance(klass, ClassRef):
            continue
        whole = value_of(klass)
        setup = step.overrides(klass, "setup_context")
        given = step.call(step.attribute(whole, "forward"), *(rest if setup else (UNKNOWN, *rest)))
        if setup:
            step.call(step.attribute(whole, "setup_context"), UNKNOWN, UNKNOWN, given)
        if step.overrides(klass, "backward"):
            _record(step, step.attribute(whole, "backward"))
        found = step.join(found, given)
    return found


def forwards(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """`super().__call__(...)`, or `Module.__call__(module, ...)`."""
    own = step.receiver is not None
    found = NOTHING
    for atom in [step.receiver] if step.receiver is not None else step.each(args.given.first):
        if isinstance(atom, Instance):
            given = step.method(atom, "forward", *args.given.positional[0 if own else 1 :])
            found = step.join(found, given)
    return found


def attribute(owner: Instance, name: str, inner: frozenset[str]) -> Value | None:
    """What every module has: itself where a name is that of what is wrapped."""
    return value_of(owner) if name in inner else None


def constructs(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """An object of the class that is given, made with arguments that are not known."""
    found = NOTHING
    within = (("device", "meta"),) if row.text("undrawn") else ()
    for klass in step.each(args.given.first):
        if isinstance(klass, ClassRef):
            made = step.within(within, lambda klass=klass: step.call_with(value_of(klass), Given(open=True)))  # type: ignore[misc]
            found = step.join(found, made)
            if row.text("restores") != "no":
                mark(step, "restores")
        else:
            found = step.join(found, UNKNOWN)
    return found
