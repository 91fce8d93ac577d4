"""The expressions of a file that give what one of its functions gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from detlint.catalogue import Catalogue
from detlint.questions import CALLED, ITERATED
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of


@cache
def common_methods(catalogue: Catalogue) -> frozenset[str]:
    """Return the methods of tensors, texts and Python's own collections, which an unknown object may well have."""
    tensors = (name.rpartition(".")[2] for name in catalogue.names("names", "tensor", id="tensor-methods"))
    return frozenset((*tensors, *dir(str), *dir(list), *dir(dict), *dir(set)))


def callers(module: Module, function: s.Function) -> Sequence[s.Expression]:
    """Return the expressions of the file that give what a function gives.

    They call it, also on an unknown object if nothing else in the file has such a method, or call an object
    whose `__call__` it is; or they make an object whose `__iter__` it is, which gives the same where it is iterated
    over. What a property gives, they read.
    """
    if is_property(module, function):
        return _reads_of(module, function)
    calls = _calls_of(module, {module.qualified(function), module.canonical(module.qualified(function))})
    klass = class_of(function)
    calls += [call for call in _calls_at(_reads_of(module, function)) if call not in calls]
    if klass is None or function.name not in (ITERATED, CALLED):
        return calls
    own = module.qualified(klass)
    made = _calls_of(module, {name for name, each in module.classes.items() if own in module.ancestry(each)} | {own})
    return calls + (
        made if function.name == ITERATED else [call for call in module.calls if maker(module, call) in made]
    )


def is_property(module: Module, function: s.Function) -> bool:
    """Return whether a method runs where an attribute of its name is read."""
    marks = module.python("functions", "property")
    return any(not module.names(each).isdisjoint(marks) for each in function.decorators)


def _reads_of(module: Module, function: s.Function) -> list[s.Attribute]:
    """Return the reads of a method; of an unknown object where nothing else in the file has such an attribute."""
    klass, every = class_of(function), module.attributes(function.name)
    if klass is None:
        return []
    defining = [each for each in module.classes.values() if function.name in each.scope.bindings]
    alone = defining == [klass] and not any(each.stored for each in every)
    alone = alone and function.name not in common_methods(module.catalogue)
    found = []
    for read in every:
        owner = module.owner(read.value)
        unknown = alone and not module.names(read.value) and not module.types(read.value)
        if not read.stored and (klass in module.family(owner) if owner is not None else unknown):
            found.append(read)
    return found


def _calls_at(reads: Iterable[s.Attribute]) -> Iterator[s.Call]:
    for read in reads:
        if isinstance(read.parent, s.Call) and read.parent.function is read:
            yield read.parent


def maker(module: Module, call: s.Call) -> s.Call | None:
    """Return the only call that may have made the object that a call calls: `Reader()` of `reader(path)`."""
    if isinstance(call.function, s.Call):
        return call.function
    values = module.values(call.function) if isinstance(call.function, (s.Name, s.Attribute)) else None
    made = [value for value in values or () if isinstance(value, s.Call)]
    return made[0] if len(made) == 1 == len(values or ()) else None


def _calls_of(module: Module, names: set[str]) -> list[s.Call]:
    return [call for call in module.calls_named(names) if not names.isdisjoint(module.callee(call))]
