"""Classes that say by what their objects are hashed."""

from __future__ import annotations

from collections.abc import Callable

from detlint.analysis.sets.kinds import SALTED, Kind, tuple_of
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_FROZEN = frozenset(("frozen", "unsafe_hash"))  # arguments by which a dataclass makes a hash of its fields

KindOf = Callable[[s.Expression], Kind]


def kind_of_hash(module: Module, klass: s.Class, one: KindOf, annotated: KindOf) -> Kind:
    """Return the kind of the objects of a class by what is hashed of them: its fields, or what `__hash__` says.

    `one` tells the kind of a value, `annotated` that of a value by its annotation.
    """
    own = module.method(klass, "__hash__")
    if own is not None:
        calls = [part for part in s.walk(own.body) if isinstance(part, s.Call)]
        hashes = [call for call in calls if module.callee(call) == {"builtins.hash"}]
        kinds = [one(argument.value) for call in hashes for argument in call.arguments]
    elif _is_hashed_by_fields(module, klass):
        declared = [each.annotation for each in klass.body.statements if isinstance(each, s.Assign)]
        kinds = [annotated(each) for each in declared if each is not None]
    else:
        return Kind.UNKNOWN
    found = tuple_of(kinds) if kinds else Kind.UNKNOWN
    return Kind.APART if found in SALTED else found


def _is_hashed_by_fields(module: Module, klass: s.Class) -> bool:
    """Return whether a decorator of a class makes a hash of its fields, by itself or as its arguments say."""
    always, asked = module.python("functions", "hashes-fields"), module.python("functions", "may-hash-fields")
    for decorator in klass.decorators:
        call = decorator if isinstance(decorator, s.Call) else None
        names = module.callee(call) if call is not None else module.names(decorator)
        if names & always:
            return True
        if call is not None and names & asked:
            made = [argument.value for argument in call.arguments if argument.keyword in _FROZEN]
            return any(isinstance(value, s.Constant) and value.value is True for value in made)
    return False
