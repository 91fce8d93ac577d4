"""Where an object is used. A finding that stands where the object is made points to the first use, too."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from detlint.analysis.training.contexts import makes_object, named
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_STEPS = 6  # from a variable to what is made of it, such as a loader from a sampler


def first_use(module: Module, made: s.Call, methods: Collection[str] = ()) -> s.Node | None:
    """Return where the object of `made` is called, or with `methods` iterated over or asked for one of these.

    That is the first such place in the order of the text, or the first use of an object that it is passed to and kept
    by. None where the file shows no use.
    """
    return next(uses(module, made, methods), None)


def uses(module: Module, made: s.Expression, methods: Collection[str] = (), steps: int = _STEPS) -> Iterator[s.Node]:
    """Yield all such places that the file shows."""
    parent = made.parent
    if steps == 0:
        return
    if isinstance(parent, s.Call) and parent.function is made:
        yield parent
    elif isinstance(parent, (s.For, s.Clause)) and parent.iterator is made:
        yield from [made] if methods else ()
    elif isinstance(parent, s.Attribute) and isinstance(parent.parent, s.Call) and parent.parent.function is parent:
        if parent.attribute in methods:
            yield parent.parent
        elif parent.attribute in named(module, "passes-model"):
            yield from uses(module, parent.parent, methods, steps)
    elif isinstance(parent, (s.Collection, s.Dictionary)):
        yield from uses(module, parent, methods, steps)
    elif isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
        yield from _taken(module, parent.parent, methods, steps)
    else:
        for read in _reads(module, made):
            yield from uses(module, read, methods, steps - 1)


def _taken(module: Module, call: s.Call, methods: Collection[str], steps: int) -> Iterator[s.Node]:
    """Yield where an object passed to a call is used: there, if the call iterates over it, else where it is kept."""
    names = module.callee(call)
    iterating = module.python("functions", "iterates") | module.catalogue.names("program", "role", kind="wraps")
    if names and names <= iterating:
        yield from [call] if methods else ()
    elif makes_object(names):
        yield from uses(module, call, methods, steps)


def _reads(module: Module, value: s.Expression) -> Iterator[s.Expression]:
    """Yield where the variable or attribute that a value is assigned to is read."""
    parent = value.parent
    for target in parent.targets if isinstance(parent, s.Assign) and parent.value is value else ():
        scope = target.scope.find(target.id) if isinstance(target, s.Name) else None
        if isinstance(target, s.Name) and scope is not None:
            yield from (read for read in module.reads(scope, target.id) if read.order > value.order)
        elif isinstance(target, s.Attribute):
            found = module.attributes(target.attribute)
            yield from (node for node in found if not node.stored and module.class_of(node) is module.class_of(target))
