"""Loops over items that are written down: the rounds that are run one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from detlint.facts import facts as f
from detlint.link.state.mappings import entries, is_mapping, key, written_items
from detlint.link.state.objects import UNSPELLED, Objects
from detlint.link.state.values import (
    UNKNOWN,
    Atom,
    Class,
    Function,
    Library,
    Module,
    Object,
    Partial,
    Tuple,
    Value,
    Wrapped,
    constant,
    exact,
    only,
    single,
)

if TYPE_CHECKING:
    from detlint.link.language.evaluate import Evaluator as Run
else:
    Run = Any

_SEVERAL = 12  # functions that are called in turn
_CALLED = (Function, Class, Library, Partial, Module)
_MOST = 400  # rounds, as many as a large program has options
_FEW = 4  # words
_SET = 3  # arguments of setattr
_SEQUENCES = (Library("builtins.list"), Library("builtins.set"))
_SETTERS = (f.Global("setattr"), f.Library("builtins.setattr"))


def rounds(objects: Objects, node: f.Loop, iterated: Value) -> Sequence[Value]:
    """Return the items of a loop one by one, if each has its own effect: the body calls it, or sets what it names.

    Empty if they are unknown, or have the same effect as far as it matters.
    """
    found = written(objects, node.iterator, iterated)
    if not 0 < len(found) <= _MOST:
        return []
    several = len(found) <= _SEVERAL and not _is_added_to(objects, iterated)
    return found if _tells_apart(node) or (several and _calls_them(node, found)) else []


def _is_added_to(objects: Objects, iterated: Value) -> bool:
    """Return whether a value is a list with an unknown number of items."""
    atom = only(iterated)
    return isinstance(atom, Object) and atom.kind in _SEQUENCES and objects.stored(atom, UNSPELLED) is not None


def calls_them(element: f.Expression, target: f.Expression, items: Sequence[Value]) -> bool:
    """Return whether a comprehension over a few functions, classes or modules calls them."""
    return 0 < len(items) <= _SEVERAL and are_callable(items) and _calls_any(element, _targets(target))


def are_callable(items: Sequence[Value]) -> bool:
    """Return whether each of some items is a function, a class or a module, or a tuple with one."""
    return all(any(map(_is_callable, item)) for item in items)


def called_items(objects: Objects, value: Value) -> Sequence[Value]:
    """Return the functions, classes or modules that a value lists, if there are a few of them; empty otherwise."""
    atom = only(value)
    items = () if atom is None else written_items(objects, atom) or ()
    return items if len(items) <= _SEVERAL and are_callable(items) else ()


def are_words(items: Sequence[Value]) -> bool:
    """Return whether some items are a few words, such as the names of the parts of a data set, or begin with words."""
    return 1 < len(items) <= _FEW and all(map(_is_word, items))


def _is_word(item: Value) -> bool:
    """Return whether an item is a text or a boolean, or begins with one."""
    atom = only(item)
    return isinstance(exact(atom.items[0] if isinstance(atom, Tuple) and atom.items else item), (str, bool))


def written(objects: Objects, iterator: f.Expression, iterated: Value) -> Sequence[Value]:
    """Return the items that are iterated over, as far as they are written down."""
    atom = only(iterated)
    if isinstance(atom, Tuple):
        return atom.items
    if isinstance(atom, Object) and atom.kind in _SEQUENCES:
        return [value for slot, value in objects.slots(atom).items() if slot.startswith("[")]
    if isinstance(atom, Wrapped) and (method := _method(iterator)):
        held = [slot for source in atom.sources for slot in entries(objects, source).items()]
        if method == "values":
            return [value for _, value in held]
        return [single(Tuple((_named(slot), value))) for slot, value in held]
    if isinstance(atom, Wrapped) and _name(iterator) in objects.gone_through:
        inner = only(atom.sources)
        return [] if inner is None else written_items(objects, inner) or []
    if atom is not None and is_mapping(atom):
        return [_named(slot) for slot in entries(objects, atom)]
    return []


def _named(slot: str) -> Value:
    name = key(slot)
    return UNKNOWN if name is None else constant(name)


def _method(iterator: f.Expression) -> str:
    """Return the method of a mapping that a loop iterates over, "items" or "values"; "" for any other loop."""
    called = iterator.function if isinstance(iterator, f.Call) else None
    return called.name if isinstance(called, f.Member) and called.name in ("items", "values") else ""


def _name(iterator: f.Expression) -> str:
    """Return the library function whose result a loop iterates over; "" for any other loop."""
    called = iterator.function if isinstance(iterator, f.Call) else None
    return called.name if isinstance(called, f.Library) else ""


def _tells_apart(node: f.Loop) -> bool:
    """Return whether the body of a loop only calls its items, sets what they name, or picks some of them."""
    targets = _targets(node.target)
    steps = []
    for step in f.walk(node.body):
        if _names(step, targets):
            targets += [each for each in step.targets if isinstance(each, (f.Local, f.Global))]
        elif not isinstance(step, f.Branch) and not _keeps(step, targets):
            steps.append(step)
    return bool(steps) and (all(_is_made_of(_chooser(step), targets) for step in steps) or _picks(steps, targets))


def _names(step: f.Statement, targets: list[f.Local | f.Global]) -> TypeGuard[f.Bind]:
    """Return whether a step binds a name to the result of a call that is given an item."""
    if not isinstance(step, f.Bind) or not isinstance(step.value, f.Call) or len(step.targets) != 1:
        return False
    given = [argument.value for argument in step.value.arguments]
    return isinstance(step.targets[0], (f.Local, f.Global)) and any(value in targets for value in given)


def _keeps(step: f.Statement, targets: list[f.Local | f.Global]) -> bool:
    """Return whether a step only binds names to a constant, a variable or an attribute, not to an item."""
    if not isinstance(step, f.Bind) or step.value in targets:
        return False
    value = step.value
    while isinstance(value, f.Member):
        value = value.value
    known = isinstance(value, (f.Literal, f.Local, f.Global))
    return known and all(isinstance(target, (f.Local, f.Global)) for target in step.targets)


def _picks(steps: Sequence[f.Statement], targets: list[f.Local | f.Global]) -> bool:
    """Return whether a loop only keeps or returns some of its items."""
    return all(isinstance(step, (f.Bind, f.Leave)) and step.value in targets for step in steps)


def picked(run: Run, node: f.Loop, items: Sequence[Value]) -> Sequence[Value]:
    """Return those items of a loop that its only test picks with all options at their defaults; all items if the loop
    does something else, or picks none.
    """
    chooser = node.body[0] if len(node.body) == 1 else None
    if not isinstance(chooser, f.Branch) or chooser.orelse:
        return items
    found = []
    for item in items:
        run.assign(node.target, item)
        if run.test(chooser.test).expected is not False:
            found.append(item)
    return found or items


def _targets(target: f.Expression) -> list[f.Local | f.Global]:
    elements = target.elements if isinstance(target, f.Display) else (target,)
    return [each for each in elements if isinstance(each, (f.Local, f.Global))]


def _calls_them(node: f.Loop, items: Sequence[Value]) -> bool:
    """Return whether a loop calls the functions, classes or methods of modules that it iterates over, among other
    things, or a function with the arguments that one of its items lists.
    """
    targets = _targets(node.target)
    steps = (each.value for each in f.walk(node.body) if isinstance(each, (f.Do, f.Bind, f.Leave)))
    calls = [value for value in steps if isinstance(value, f.Call)]
    if any(argument.star and argument.value in targets for call in calls for argument in call.arguments):
        return True
    return are_callable(items) and any(_calls_any(call, targets) for call in calls)


def _calls_any(value: f.Expression, targets: list[f.Local | f.Global]) -> bool:
    """Return whether a call calls an item or an attribute of it, or is given an item."""
    called = value.function if isinstance(value, f.Call) else None
    calls = [each for each in (value, called) if isinstance(each, f.Call)]
    if any(argument.value in targets for call in calls for argument in call.arguments):
        return True
    return (called.value if isinstance(called, f.Member) else called) in targets


def _is_callable(atom: Atom) -> bool:
    if isinstance(atom, Tuple):
        return any(isinstance(inner, _CALLED) for item in atom.items for inner in item)
    return isinstance(atom, _CALLED)


def _is_made_of(chooser: f.Expression, targets: list[f.Local | f.Global]) -> bool:
    """Return whether the chooser of a step is an item, or a text that is joined from one."""
    parts = chooser.operands if isinstance(chooser, f.Joined) else (chooser,)
    return any(part in targets for part in parts)


def _chooser(step: f.Statement) -> f.Expression:
    """Return what a step depends on: what it calls, the name of the attribute that it sets, or the key of the entry."""
    if isinstance(step, f.Bind) and len(step.targets) == 1 and isinstance(step.targets[0], f.Item):
        return step.targets[0].key
    call = step.value if isinstance(step, f.Do) else None
    if not isinstance(call, f.Call):
        return None
    if call.function in _SETTERS and len(call.arguments) == _SET:
        return call.arguments[1].value
    if isinstance(call.function, (f.Member, f.Library)) and call.arguments:  # as for `setdefault`
        return call.arguments[0].value
    return call.function
