"""Functions that open configuration files, load them, or merge several configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

from detlint.catalogue import Row
from detlint.documents.trees import resolved, tree
from detlint.finding import Place
from detlint.link.language.reading import FILE, document_at, value_of
from detlint.link.roles.role import Role
from detlint.link.state.arguments import Arguments
from detlint.link.state.mappings import DICT, entries, has_surely, lay
from detlint.link.state.values import FAR, NONE, UNKNOWN, Class, Library, Object, Value, each, exact, only, single

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any

_DEEP = 8  # nested mappings


def _opened(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a configuration file that is opened to be read, or its text; unknown for any other file."""
    mode = given.keywords.get("mode", given.positional[1] if len(given.positional) > 1 else NONE)
    reads = mode == NONE or str(exact(mode)).startswith("r") or not row.text("modes")
    path = document_at(run, given.first()) if reads else None
    return UNKNOWN if path is None else single(Object(FILE, path, 0))


def _loaded(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return the contents of a configuration file; unknown for any other file."""
    path = document_at(run, given.first())
    said = None if path is None else run.program.documents.parsed(path, row.text("form"))
    if path is None or not isinstance(said, (dict, list)):
        return UNKNOWN
    found = tree(said, path)
    return value_of(run, resolved(found) if row.text("interpolates") else found, run.site(place), path)


def _united(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Merge several configurations into one, in which the last takes precedence."""
    values = [atom for value in given.positional for atom in each(value)]
    if not values or len(values) > len(given.positional):
        return UNKNOWN
    if isinstance(values[0], Object) and isinstance(values[0].kind, Class):
        return _replaced(run, values[0], values[1:], place)
    return UNKNOWN if values[0] in UNKNOWN else _merged(run, values, run.site(place), "", _DEEP)


def _merged(run: Run, parts: list[Any], site: tuple[str, int], label: str, depth: int) -> Value:
    """Return a new dict with the entries of several mappings; mappings within them are merged too."""
    objects, held = run.program.objects, dict[str, Value]()
    for part in parts:
        for slot, value in entries(objects, part).items():
            inner = [only(held[slot]) if slot in held else None, only(value)]
            if depth and all(isinstance(each, Object) and each.kind == DICT for each in inner):
                held[slot] = _merged(run, inner, site, f"{label}.{slot}", depth - 1)
            else:
                lay(held, slot, value, has_surely(objects, part, slot))
    path, order = site
    number = crc32(f"merged {label}:{order // FAR}".encode(errors="replace"))
    made = Object(DICT, path, order % FAR + FAR * (1 + number))
    for slot, value in held.items():
        objects.store(made, slot, value)
    run.frame.dicts |= {made}
    return single(made)


def _replaced(run: Run, owner: Object, others: list[Any], place: Place) -> Value:
    """Return a configuration of a class of fields, with the fields that others set replaced."""
    objects, made = run.program.objects, Object(owner.kind, *run.site(place))
    for name, value in objects.slots(owner).items():
        objects.store(made, name, value)
    for other in others:
        for slot, value in entries(objects, other).items():
            if slot.startswith("['"):
                objects.replace(made, slot[2:-2], value)
            else:
                run.open(made)
    return single(made)


DOCUMENT_ROLES: dict[str, Role] = {"opens-document": _opened, "loads-document": _loaded, "merges": _united}
