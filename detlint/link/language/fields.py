"""Classes with fields: the factories of their defaults, and tuples whose items have names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.state.arguments import Arguments
from detlint.link.state.objects import ClassInfo
from detlint.link.state.values import (
    UNKNOWN,
    Class,
    Function,
    Library,
    Object,
    Partial,
    Tuple,
    Value,
    each,
    exact,
    only,
    single,
)

if TYPE_CHECKING:
    from detlint.link.language.statements import Statements
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Statements = Any

NAMED_TUPLE = Library("typing.NamedTuple")
TYPED_DICTS = frozenset((Library("typing.TypedDict"), Library("typing_extensions.TypedDict")))
_FACTORY = "default_factory"


def factories(run: Statements, node: f.DefineClass) -> dict[str, Value]:
    """Return the default factories of a class's fields by name, evaluated in the frame of its body."""
    names = run.program.catalogue.names("program", "role", kind="field")
    found: dict[str, Value] = {}
    for statement in node.body if node.fields else ():
        value = statement.value if isinstance(statement, f.Bind) else None
        if isinstance(value, f.Call) and isinstance(value.function, f.Library) and value.function.name in names:
            made = [run.value(argument.value) for argument in value.arguments if argument.keyword == _FACTORY]
            called = frozenset(a for v in made for a in v if isinstance(a, (Function, Class, Partial)))
            for target in statement.targets if isinstance(statement, f.Bind) and called else ():
                if isinstance(target, f.Local):
                    found[target.name] = called
    return found


def named_tuple(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a new class of tuples whose items have names."""
    title, names = exact(given.first()), _names(run, (*given.positional, UNKNOWN, UNKNOWN)[1])
    if not isinstance(title, str) or not names:
        return UNKNOWN
    path, order = run.site(place)
    klass = Class(path, f"{title}:{order}")
    run.program.objects.define(klass, ClassInfo((single(NAMED_TUPLE),), {}, tuple(names)))
    return single(klass)


def _names(run: Run, value: Value) -> list[str]:
    """Return the names in a text or a sequence of texts; empty if one of them is unknown."""
    atom = only(value)
    text = exact(value)
    if isinstance(text, str):
        return text.replace(",", " ").split()
    if isinstance(atom, Tuple):
        items = list(atom.items)
    else:
        items = list(run.program.objects.slots(atom).values()) if atom is not None and run.is_container(atom) else []
    found = [name for item in items if isinstance(name := exact(item), str)]
    return found if len(found) == len(items) else []


def replaced(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return copies of objects of classes with fields, with some fields replaced."""
    value = given.first() if function.receiver is None else single(function.receiver)
    objects, found = run.program.objects, list[Object]()
    for atom in each(value):
        if isinstance(atom, Object) and isinstance(atom.kind, Class):
            made = Object(atom.kind, *run.site(place))
            for name, held in objects.slots(atom).items():
                if name not in given.keywords:
                    objects.store(made, name, held)
            for name, held in given.keywords.items():
                objects.store(made, name, held)
            if given.hidden:
                run.open(made)
            found.append(made)
    return frozenset(found) if found and len(found) == len(value) else frozenset(found) | UNKNOWN
