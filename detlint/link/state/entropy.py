"""Numbers that differ from run to run: what is made from them, and the options that replace them by other numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.generators import SEEDABLE
from detlint.link.state.arguments import Arguments
from detlint.link.state.values import (
    ENTROPY,
    SOME,
    TEXT,
    Atom,
    Constant,
    Entropy,
    Option,
    Some,
    Tuple,
    Value,
    only,
    settled,
    single,
)
from detlint.programs.events import CHANCE, ENTROPIC, OPTIONAL, RESEEDED, SEEDED, UNSURE, Marked, Seeded

if TYPE_CHECKING:
    from detlint.link.state.run import Run
else:
    Run = Any


@cache
def entropy_in(value: Value) -> Value:
    """Return the entropy that a value may be; empty if it cannot be entropy."""
    return frozenset(atom for atom in value if isinstance(atom, Entropy))


def mixed(values: Iterable[Value], otherwise: Value) -> Value:
    """Return what is made from some values: entropy if one of them is; joined with `otherwise` if one only may be."""
    found: Value = frozenset()
    for value in values:
        entropy = entropy_in(value)
        if entropy and len(entropy) == len(value):
            return entropy
        found |= entropy
    return found | otherwise if found else otherwise


def is_entropy(value: Value) -> bool:
    """Return whether a value certainly differs from run to run."""
    return bool(value) and all(isinstance(atom, Entropy) for atom in value)


def by_default(run: Run) -> Value:
    """Return what a source of entropy returns: entropy, or `SOME` if an option must be set to get there."""
    return ENTROPY if run.is_likely() else SOME


def hashed(run: Run, value: Value, told: bool) -> Value:
    """Return the hash of a value, salted if that is a text, or a tuple with one, or if the file has `told` so.

    For an option that is None until a text is given, the hash of that text counts as well.
    """
    if told or (value and all(map(_has_text, value))):
        return by_default(run)
    named = any(isinstance(a, Option) and a.given == TEXT and a.default is None for a in value)
    return by_default(run) | SOME if named else mixed([value], SOME)


def _has_text(atom: Atom) -> bool:
    if isinstance(atom, Tuple):
        return any(item and all(map(_has_text, item)) for item in atom.items)
    known = settled(atom) if isinstance(atom, (Constant, Option)) else None
    return isinstance(known, (str, bytes)) and bool(known)


def drawn(run: Run, row: Row, given: Arguments) -> Value:
    """Return what a call draws from a generator that begins, or may begin, anew in each run; empty otherwise."""
    if row.text("numbers") and run.state is not None and given.applies(row.list("when"), row.list("unless")):
        word = run.state[row.text("generator")]
        return by_default(run) if word in CHANCE else ENTROPY | SOME if word == UNSURE else frozenset()
    return frozenset()


def perhaps_seed(run: Run, name: str, place: Place, guessed: bool) -> None:
    """Record a call that may seed any generator; with `guessed`, only its name says so."""
    if run.state is not None:
        run.note(Seeded(SEEDABLE, name, place, False, guessed=guessed))
        run.state = run.state.but([g for g in SEEDABLE if run.state[g] != SEEDED], UNSURE)


def unless(value: Value, option: str) -> Value:
    """Return a value whose entropy is there only until an option is set."""
    return frozenset(Entropy(option) if atom in ENTROPY else atom for atom in value)


def chosen(usual: Mapping[str, Value], other: Mapping[str, Value], option: str) -> dict[str, Value]:
    """Return the variables as an option leaves them by default; `other` are the variables if it is set."""
    return {
        name: value if other.get(name) == value else unless_set(value, other.get(name), option)
        for name, value in usual.items()
    }


def unless_set(value: Value, other: Value | None, option: str) -> Value:
    """Return what a variable holds by default, where an option gives it another number, boolean or None."""
    atom = only(value)
    if isinstance(atom, Constant) and other and all(isinstance(a, (Constant, Option, Some)) for a in other):
        return single(Option(option, atom.value, None))
    return unless(value, option) if is_entropy(value) and _is_given(other) else value


def instead(value: Value, other: Value, option: str) -> Value:
    """Return a value that an option has by default, where it is `other` if the option is set."""
    return unless(value, option) if is_entropy(value) and _is_given(other) else value


def asked_for(before: Value | None, value: Value, option: str) -> Value:
    """Return what replaces the value of an option that was left at its default."""
    if option and before and any(isinstance(a, Option) and a.name == option for a in before) and is_entropy(value):
        return unless(value, option)
    return value


def unless_spared(value: Value, spare: Iterable[Value]) -> Value:
    """Return what a function returns by default, where it returns an option itself if that is set."""
    options = {atom.name for given in spare for atom in given if isinstance(atom, Option)}
    return unless(value, min(options)) if options and is_entropy(value) else value


def seeding(value: Value) -> tuple[bool, str]:
    """Return whether a seed comes from entropy by default, and the option that gives another seed, or ""."""
    none = [a for a in value if isinstance(a, (Constant, Option)) and settled(a) is None]
    if not is_entropy(value - frozenset(none)):
        return False, ""
    options = {a.option for a in value if isinstance(a, Entropy)} | {a.name for a in none if isinstance(a, Option)}
    return True, min(options - {""}, default="")


def mark_entropic(run: Run, given: Mapping[str, Value], place: Place) -> None:
    """Mark a call whose seed is entropy with options at their defaults; `given` are its values by parameter."""
    seeds = [taken_whole(run, given[name]) for name in given.keys() & run.seeds]
    options = {option for value in seeds if entropy_in(value) for random, option in (seeding(value),) if random}
    if options:
        run.note(Marked(ENTROPIC if "" in options else OPTIONAL, place))


def taken_whole(run: Run, value: Value) -> Value:
    """Return the number that a seed stands for: entropy if one of several numbers is, as in `[seed, worker]`."""
    found: Value = frozenset()
    for atom in value:
        items: Iterable[Value] = ()
        if isinstance(atom, Tuple):
            items = atom.items
        elif run.is_container(atom):
            items = [run.held(atom)]
        found |= entropy_in(frozenset().union(*items)) or single(atom)
    return found


def reseed(run: Run, generators: tuple[str, ...], name: str, place: Place, option: str = "") -> Value:
    """Seed generators with what differs in each run, unless an option is set; return the seed."""
    if generators and run.state is not None:
        if option and run.is_likely():
            with run.guarded(option):
                run.note(Seeded(generators, name, place, True))
        run.note(Seeded(generators, name, place, certain=False, entropy=True))
        run.state = run.state.but(generators, RESEEDED)
    return ENTROPY


def _is_given(value: Value | None) -> bool:
    return bool(value) and value != single(Constant(None)) and not entropy_in(value or frozenset())
