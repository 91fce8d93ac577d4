"""The calls in a file that give what one of its functions gives."""

from __future__ import annotations

from detlint.questions import CALLED, ITERATED
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of


def callers(module: Module, function: s.Function) -> list[s.Call]:
    """Return the calls in the file that give what a function gives.

    They call it, or an object whose `__call__` it is; or they make an object whose `__iter__` it is, which gives the
    same where it is iterated over.
    """
    calls = _calls_of(module, {module.qualified(function), module.canonical(module.qualified(function))})
    klass = class_of(function)
    if klass is None or function.name not in (ITERATED, CALLED):
        return calls
    own = module.qualified(klass)
    made = _calls_of(module, {name for name, each in module.classes.items() if own in module.ancestry(each)} | {own})
    return calls + (
        made if function.name == ITERATED else [call for call in module.calls if maker(module, call) in made]
    )


def maker(module: Module, call: s.Call) -> s.Call | None:
    """Return the only call that may have made the object that a call calls: `Reader()` of `reader(path)`."""
    if isinstance(call.function, s.Call):
        return call.function
    values = module.values(call.function) if isinstance(call.function, (s.Name, s.Attribute)) else None
    made = [value for value in values or () if isinstance(value, s.Call)]
    return made[0] if len(made) == 1 == len(values or ()) else None


def _calls_of(module: Module, names: set[str]) -> list[s.Call]:
    return [call for call in module.calls_named(names) if not names.isdisjoint(module.callee(call))]
