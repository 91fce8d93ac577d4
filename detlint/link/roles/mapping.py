"""Functions that make dicts and other mappings, read from them, and add to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.language.members import members, variables
from detlint.link.language.positions import pairs_of
from detlint.link.roles.role import Role, items_of
from detlint.link.state.arguments import Arguments
from detlint.link.state.keywords import default_keyword, keyword, names_of, pop_keyword, values_of
from detlint.link.state.mappings import DICT, VARS, entries, has_surely, is_mapping, lay_all, perhaps, show
from detlint.link.state.objects import OPEN
from detlint.link.state.values import (
    FAR,
    NONE,
    SOME,
    UNKNOWN,
    Atom,
    Class,
    Constant,
    Function,
    Keywords,
    Library,
    Module,
    Object,
    Partial,
    Tuple,
    Unknown,
    Value,
    Wrapped,
    each,
    exact,
    join,
    only,
    single,
)

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any


def _chains(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a mapping of several ones, which shows an entry of the first one that has it."""
    made, held = run.container("dict", *run.site(place)), dict[str, Value]()
    for value in reversed(given.positional):
        lay_all(run.program.objects, held, value)
    for slot, item in held.items():
        run.program.objects.store(made, slot, item)
    return single(made)


def _filled_dict(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a dict of what is given, and of one item for all other keys: what the factory returns."""
    made = run.container("dict", *run.site(place))
    for atom in (atom for value in given.positional[1:] for atom in each(value)):
        run.spread(atom, made)
    for name, value in given.keywords.items():
        run.program.objects.store(made, f"[{name!r}]", value)
    factory = frozenset(a for a in given.first() if isinstance(a, (Function, Class, Library, Partial)))
    if factory:
        run.program.objects.store(made, "[]", run.call_value(factory, [], {}, place))
    return single(made)


def _opens(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    if isinstance(function.receiver, Object):
        run.open(function.receiver)
    return NONE


def _vars(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    atom = only(given.first())
    if not given.positional:
        return _locals(run, row, function, given, place)
    if isinstance(atom, Module):
        return single(atom)
    if isinstance(atom, Class):
        return run.attribute(atom, "__dict__")
    return single(Library(VARS, atom)) if isinstance(atom, Object) else UNKNOWN


def _globals(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the names of the module, as the module that has them."""
    return single(Module(run.frame.path))


def _locals(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the variables of the function as they are now, or the module at the top level."""
    if run.frame.top:
        return single(Module(run.frame.path))
    return single(Keywords(tuple(sorted(item for item in run.frame.variables.items() if item[0].isidentifier()))))


def _as_dict(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a dict of the attributes of an object."""
    owner = only(given.first())
    made = run.container("dict", *run.site(place))
    run.spread(Library(VARS, owner) if isinstance(owner, Object) else Unknown(), made)
    return single(made)


def _attributes(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return an object with the attributes that are given by keyword or in a mapping."""
    made = Object(Library(function.name), *run.site(place))
    for atom in (atom for value in given.positional for atom in each(value)):
        run.spread(atom, made)
    for name, value in given.keywords.items():
        run.program.objects.store(made, f"[{name!r}]", value)
    if given.hidden:
        run.open(made)
    return single(made)


def _keeps_arguments(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Give an object an attribute: the one configuration that is passed, else what its constructor was called with."""
    owner = function.receiver
    if isinstance(owner, Object):
        passed = [value for value in given.positional if not isinstance(exact(value), str)]
        kept = only(passed[0]) if passed else None
        if not passed or (kept is not None and run.is_container(kept)):
            made = Object(Library(row.text("gives")), *run.site(place))
            run.spread(kept or next(iter(_locals(run, row, function, given, place))), made)
            passed = [single(made)]
        run.program.objects.store(owner, row.text("attribute"), passed[0])
    return NONE


def _shows(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Run `vars(owner).update(...)`."""
    owner = function.receiver
    if isinstance(owner, Object):
        given_by_name = {f"[{name!r}]": value for name, value in given.keywords.items()}
        mappings = (atom for value in given.positional for atom in each(value))
        for held in (*(entries(run.program.objects, atom) for atom in mappings), given_by_name):
            known = {slot: value for slot, value in held.items() if slot != "[]"}
            show(run.program.objects, owner, known, run.is_certain())
            if "[]" in held:
                run.open(owner)
        if given.hidden:
            run.open(owner)
    return NONE


def _dict(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a dict, or the object of a class derived from dict, that holds what is given."""
    own = function.receiver
    made = own if isinstance(own, Object) else run.container("dict", *run.site(place))
    for value in given.positional:
        for atom in each(value):
            pairs = run.is_container(atom) and isinstance(atom, Object) and atom.kind != DICT
            if pairs or isinstance(atom, (Tuple, Wrapped)):
                told = pairs_of(atom) if isinstance(atom, Wrapped) else ()
                for pair in told or [items_of(run, single(atom))]:
                    _pair_up(run, pair, made)
            else:
                run.spread(atom, made)
    run.frame.dicts |= frozenset() if made == own else {made}
    for name, value in given.keywords.items():
        run.put_item(made, f"[{name!r}]", value)
    return single(made)


def _pair_up(run: Run, items: Value, made: Object) -> None:
    """Put pairs of a key and a value into a dict."""
    for item in each(items):
        pair = item.items if isinstance(item, Tuple) and len(item.items) == 2 else (UNKNOWN, UNKNOWN)
        name = exact(pair[0])
        run.program.objects.store(made, "[]" if name is None else f"[{name!r}]", pair[1])


def _setdefault(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    held = only(given.first()) if function.receiver is None else None
    if isinstance(held, Keywords):
        return default_keyword(run.frame, held, *(*given.positional, NONE, NONE)[1:3])
    if not isinstance(function.receiver, Object) or len(given.positional) < 2:
        return UNKNOWN
    key = exact(given.positional[0])
    run.program.objects.store(function.receiver, "[]" if key is None else f"[{key!r}]", given.positional[1])
    return run.item_of(function.receiver, given.positional[0])


def _adds(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    spreads = function.name.rpartition(".")[2] in ("extend", "update")
    if function.receiver is None:
        return NONE
    objects = run.program.objects
    for name, value in given.keywords.items():
        _update(run, function.receiver, f"[{name!r}]", value, True)
    for value in given.positional:
        for atom in each(value):
            if spreads and is_mapping(atom):
                for slot, item in entries(objects, atom).items():
                    _update(run, function.receiver, slot, item, len(value) == 1 and has_surely(objects, atom, slot))
                continue
            whole: Value = single(atom)
            unpacked = spreads and (isinstance(atom, Tuple) or run.is_container(atom))
            if not run.is_certain() and objects.stored(function.receiver, "[]") is None:
                objects.store(function.receiver, perhaps("[]"), UNKNOWN)
            objects.store(function.receiver, "[]", items_of(run, whole) if unpacked else whole)
    return NONE


def _update(run: Run, owner: Object | Function, slot: str, value: Value, sure: bool) -> None:
    """Add an entry, under an unknown key if this may not happen, unless the key was there before."""
    objects = run.program.objects
    known = slot if run.is_certain() or objects.stored(owner, slot) else "[]"
    if isinstance(owner, Object) and sure:
        run.put_item(owner, known, value)
    else:
        objects.store(owner, known, value)


def _gets(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    if function.receiver is not None and function.name.startswith(f"{VARS}."):
        return _gets_shown(run, Library(VARS, function.receiver), function.name.rpartition(".")[2], given)
    if function.receiver is None:
        return _gets_keyword(run, function.name.rpartition(".")[2], given, place)
    whole: Value = single(function.receiver)
    last = function.name.rpartition(".")[2]
    if last == "pop" and isinstance(name := exact(given.first()), str) and isinstance(function.receiver, Object):
        return _popped(run, function.receiver, f"[{name!r}]", given)
    if last in ("get", "pop") and given.positional:
        if _is_missing(run, function.receiver, given.positional[0]):
            return given.positional[1] if len(given.positional) > 1 else NONE
        return _found(run, function.receiver, given)
    if last == "items":
        return _pairs(run, function.receiver)
    return single(Wrapped(items_of(run, whole), whole)) if last == "values" else whole


def _item(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return what a container itself holds under a key, regardless of a method of the project's class."""
    owner, keys = function.receiver, given.positional
    owners = each(keys[0]) if owner is None and keys else () if owner is None else (owner,)
    if len(keys) != 1 + (owner is None):
        return UNKNOWN
    return join(run.kept_item(a, keys[-1]) if isinstance(a, Object) else run.item_of(a, keys[-1]) for a in owners)


def _gets_shown(run: Run, mapping: Library, method: str, given: Arguments) -> Value:
    """Return what a method returns for the attributes of an object, as `vars` shows them."""
    if method == "items":
        return _pairs(run, mapping)
    if method == "values":
        return single(Wrapped(join(entries(run.program.objects, mapping).values()), single(mapping)))
    if method == "keys":
        return single(mapping)
    return run.item_of(mapping, given.first()) if isinstance(exact(given.first()), str) else UNKNOWN


def _gets_keyword(run: Run, method: str, given: Arguments, place: Place) -> Value:
    """Return what a method returns for its first argument: a dict gathered by `**kwargs`, or the names of a module."""
    held, key, default = only(given.first()), *(*given.positional, NONE, NONE, NONE)[1:3]
    if isinstance(held, Module) and method == "get":
        name = exact(key)
        return (run.module_attribute(held.path, name) if isinstance(name, str) else members(run, held)) or default
    if isinstance(held, Module):
        found = members(run, held)
        items = single(Tuple((SOME, found))) if method == "items" else found
        return single(Wrapped(items, single(variables(run, held, place))))
    if method == "items" and held is not None:
        return _pairs(run, held)
    if not isinstance(held, Keywords):
        return UNKNOWN
    if method in ("values", "keys"):
        return single(Wrapped(values_of(held) if method == "values" else names_of(held), single(held)))
    return pop_keyword(run.frame, held, key, default) if method == "pop" else keyword(held, key, default)


def _copies(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a copy of a value: a dict is copied into a new one, as entries may be removed from the copy."""
    value: Value = given.first() if function.receiver is None else single(function.receiver)
    path, order = run.site(place)
    found = frozenset(_copy(run, atom, path, order) for atom in value)
    run.frame.copies += tuple(atom for atom in found - value if isinstance(atom, Object))
    return found


def _copy(run: Run, atom: Atom, path: str, order: int) -> Atom:
    """Return the copy of an atom that is made at a place: a new dict for each dict."""
    if not isinstance(atom, Object) or atom.kind != DICT or (atom.path == path and atom.order % FAR == order % FAR):
        return atom
    made = Object(DICT, path, order + FAR * (1 + crc32(f"{atom.path}:{atom.order}".encode(errors="replace"))))
    run.spread(atom, made)
    return made


def _found(run: Run, owner: Object | Function, given: Arguments) -> Value:
    """Return what a mapping holds under a key, joined with the default if that is unknown."""
    found = run.item_of(owner, given.positional[0])
    return join((found, *given.positional[1:2])) if found <= UNKNOWN else found


def _popped(run: Run, owner: Object, slot: str, given: Arguments) -> Value:
    """Return what is removed from a mapping; only a copy that the function itself made loses the entry.

    Another mapping may be made at the same place, and be passed on as one object with it.
    """
    objects = run.program.objects
    taken = objects.taken(owner, slot) if objects.stored(owner, slot) is None else None
    if taken is not None:  # removed in an earlier round of a loop
        return join((taken, *given.positional[1:2]))
    if _is_missing(run, owner, given.positional[0]):
        return given.positional[1] if len(given.positional) > 1 else NONE
    found = _found(run, owner, given)
    if owner in run.frame.copies and objects.stored(owner, slot) is not None and run.is_certain():
        objects.remove(owner, slot)
    return found


def _pairs(run: Run, owner: Atom) -> Value:
    """Return the items of a mapping, keys and values."""
    values = run.held(owner) if isinstance(owner, Object) else join(entries(run.program.objects, owner).values())
    return single(Wrapped(single(Tuple((SOME, values))), single(owner)))


def _is_missing(run: Run, owner: Object | Function, key: Value) -> bool:
    """Return whether a dict that was written down with all its keys lacks this key."""
    slots, known = run.program.objects.slots(owner), only(key)
    whole = run.is_container(owner) and bool(slots) and not slots.keys() & {"[]", OPEN}
    return whole and isinstance(known, Constant) and f"[{known.value!r}]" not in slots


MAPPING_ROLES: dict[str, Role] = {
    "dict": _dict, "default-dict": _filled_dict, "chains": _chains, "attributes": _attributes, "as-dict": _as_dict,
    "keeps-arguments": _keeps_arguments, "vars": _vars, "globals": _globals, "locals": _locals, "opens": _opens,
    "shows": _shows, "adds": _adds, "setdefault": _setdefault, "gets": _gets, "item": _item, "copies": _copies,
}  # fmt: skip
