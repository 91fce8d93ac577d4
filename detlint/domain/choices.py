"""One form for values that options decide: a tree of choices, options in one order, each once on a way.

Two values that are the same whatever the user sets have the same form, in whatever order of work they were joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from detlint.domain.atoms import Atom, Choice, Constant, Option
from detlint.domain.bare import is_object
from detlint.domain.taints import Taints
from detlint.domain.values import COMPOUND, NOTHING, Value, told

Join = Callable[[Iterable[Value]], Value]


def options_of(value: Value) -> Iterable[Option]:
    """The options that decide a value."""
    for atom in value.atoms:
        if isinstance(atom, Choice):
            yield atom.option
            yield from options_of(atom.default)
            yield from options_of(atom.other)


def laid_out(value: Value, options: list[Option], join: Join) -> Value:
    """A value in its one form, decided by some options in their order; of others it may be either.

    `join` joins values that no option decides.
    """
    if not any(isinstance(atom, Choice) for atom in value.atoms):
        return join(_apart([value]))
    if not options:
        return join(_apart(leaves(value)))
    first, rest = options[0], options[1:]
    default, other = (laid_out(_where(value, first, set_, join), rest, join) for set_ in (False, True))
    if default == other and not default.taints:
        return default
    return Value(frozenset((Choice(first, default, other),)))


def _where(value: Value, option: Option, set_: bool, join: Join) -> Value:
    """What a value is where an option is set, or is not."""
    if option not in options_of(value):
        return value
    plain = value.of(atom for atom in value.atoms if not isinstance(atom, Choice))
    parts = [plain] if plain.atoms else []
    open_ones: set[Atom] = set()
    for atom in value.atoms:
        if not isinstance(atom, Choice):
            continue
        if atom.option == option:
            parts.append(_where(atom.other if set_ else atom.default, option, set_, join))
        else:
            each = (_where(part, option, set_, join) for part in (atom.default, atom.other))
            open_ones.add(Choice(atom.option, *each))
    found = _union(parts)
    return found.of(found.atoms | open_ones)


def _union(values: Iterable[Value]) -> Value:
    """All that values may be, choices not looked into."""
    found = NOTHING
    for value in values:
        if not found.atoms:
            found = value
        elif value.atoms:
            certain = found.certain & value.certain
            found = Value(found.atoms | value.atoms, found.taints | value.taints, certain)
    return found


@lru_cache(maxsize=1 << 15)
def opened(atoms: frozenset[Atom]) -> tuple[Atom, ...]:
    """Atoms with what options choose between in the place of choices of objects, in one order."""
    found: dict[Atom, None] = {}
    for atom in atoms:
        if isinstance(atom, Choice) and chooses_objects(atom):
            found.update(dict.fromkeys(each for leaf in leaves(Value(frozenset((atom,)))) for each in leaf.atoms))
        else:
            found[atom] = None
    return tuple(sorted(found, key=told))


def choosable(each: Iterable[Value]) -> bool:
    """Whether an option may choose between these, which are an atom each: objects, or constants."""
    return all(is_object(atom) or isinstance(atom, Constant) for leaf in each for atom in leaf.atoms)


@lru_cache(maxsize=4096)
def chooses_objects(atom: Choice) -> bool:
    """Whether an option chooses between objects."""
    return any(is_object(each) for leaf in leaves(Value(frozenset((atom,)))) for each in leaf.atoms)


def _apart(values: Iterable[Value]) -> Iterable[Value]:
    """Values that no option decides, what is made of parts one by one, and all else in two: a join keeps limits."""
    plain: dict[tuple[Taints, Taints], set[Atom]] = {}
    for value in values:
        for atom in value.atoms:
            if isinstance(atom, COMPOUND):
                yield value.of((atom,))
            else:
                plain.setdefault((value.taints, value.certain), set()).add(atom)
    for taints, atoms in plain.items():
        first = next(iter(atoms))
        yield Value(frozenset(atoms - {first}), *taints)
        yield Value(frozenset((first,)), *taints)


def leaves(value: Value) -> Iterable[Value]:
    """What a value may be, whatever the user sets: an atom each."""
    for atom in value.atoms:
        if isinstance(atom, Choice):
            yield from leaves(atom.default)
            yield from leaves(atom.other)
        else:
            yield value.of((atom,))
