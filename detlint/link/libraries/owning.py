"""Objects of libraries with a generator of their own: where programs draw from it, and what may seed it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile
from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.language.scopes import nowhere
from detlint.link.state.arguments import Arguments, gives_no_seed
from detlint.link.state.values import FAR, UNKNOWN, Class, Function, Library, Object, Partial, Value, each
from detlint.programs.events import ANY, BEGINS, DRAWS, SEEDED_ONCE, Drawing, Sampler
from detlint.semantics import libraries

if TYPE_CHECKING:
    from detlint.link.libraries.samplers import Samplers as Run
else:
    Run = Any


def make(run: Run, made: Object, place: Place) -> None:
    """Record that such an object is made, and watch for such objects from the first one on."""
    if _owner(made, run) is not None:
        run.note(Drawing(BEGINS, _stream(made), place))
        _watch(run)
        run.effect(_watch)


def _watch(run: Run) -> None:
    run.owning = True


def wrapped(
    run: Run, function: Library, positional: Sequence[Value], keywords: dict[str, Value], place: Place
) -> Value | None:
    """Return the result of a wrapper, or of a method of one that passes the call on; None for anything else.

    A wrapper of the library stands for what it wraps, and one of the project keeps that in its attributes.
    """
    if not run.owning or not f"{function.name}.".startswith(run.tables.wrappers):
        return None
    made, method = function.receiver, function.name.rpartition(".")[2]
    names = run.tables.unwrapped
    given = positional[0] if positional else next((keywords[name] for name in names if name in keywords), UNKNOWN)
    if not isinstance(made, Object):
        return given if any(_owner(atom, run) for atom in given) else None
    if method == "__init__":
        for name in names:
            run.program.objects.store(made, name, given)
        return UNKNOWN
    kept = run.program.objects.stored(made, names[0]) or ()
    owners = [owner for atom in kept if (owner := _owner(atom, run))]
    for owner in owners:
        handed = Library(f"{_maker(owner)}.{method}", owner)
        call(run, owner, handed, Arguments(run.program, handed.name, positional, keywords), place)
    return UNKNOWN if owners else None


def call(run: Run, owner: Object, function: Library, given: Arguments, place: Place) -> Value:
    """Record what a method of such an object does; its result is unknown."""
    made = run.kept(owner, _maker(owner))
    parts = function.name.removeprefix(f"{_maker(owner)}.").split(".")
    method = ".".join(dropwhile(run.tables.unwrapped.__contains__, parts))
    for row in run.tables.owners[_maker(owner)]:
        through = f"{row.text('through')}." if row.text("through") else ""
        draws = method in {f"{through}{name}" for name in row.list("methods")}
        seedless = made.applies((), row.list("made_unless")) and gives_no_seed(row, given)
        if method in row.list("silencers") or (draws and not seedless):
            run.note(Drawing(SEEDED_ONCE, _stream(owner, row), place))
        elif draws:
            run.note(Drawing(DRAWS, _stream(owner, row), place))
    return UNKNOWN


def attend(
    run: Run, node: f.Call, functions: Value, positional: Sequence[Value], keywords: Mapping[str, Value]
) -> None:
    """Record a call that may seed such objects: of an unknown one, or of something unknown that is given one."""
    if not run.owning or (functions and all(is_followed(run, atom) for atom in functions)):
        return
    if isinstance(node.function, f.Member) and _may_seed(run, node.function.name, keywords):
        run.note(Drawing(SEEDED_ONCE, ANY, node.place))
    for owner in _given(run, (*positional, *keywords.values())):
        run.note(Drawing(SEEDED_ONCE, _stream(owner), node.place))


def _may_seed(run: Run, method: str, keywords: Mapping[str, Value]) -> bool:
    return "seed" in method or (method in run.tables.owner_methods and not run.seeds.isdisjoint(keywords))


def sets(run: Run, owners: Value) -> None:
    """Record that attributes of such objects are set, which may be their generators."""
    for atom in each(owners) if run.owning else ():
        if (owner := _owner(atom, run)) is not None:
            run.note(Drawing(SEEDED_ONCE, _stream(owner), nowhere(run.frame.path)))


def _maker(owner: Object) -> str:
    """Return the name of what made a library's object; "" for any other object."""
    return owner.kind.name if isinstance(owner.kind, Library) else ""


def _owner(atom: object, run: Run) -> Object | None:
    """Return the object that an atom is or is an attribute of, if it has a generator of its own; None otherwise."""
    owner = atom.receiver if isinstance(atom, Library) else atom
    return owner if isinstance(owner, Object) and _maker(owner) in run.tables.owners else None


def _given(run: Run, values: Sequence[Value]) -> Iterator[Object]:
    """Yield such objects among the arguments of a call: themselves, their attributes, or inside other values."""
    found = (_owner(atom, run) for atom in run.among(values))
    yield from dict.fromkeys(owner for owner in found if owner is not None)


def is_followed(run: Run, function: object) -> bool:
    """Return whether it is known what a call of something does to such an object."""
    if isinstance(function, Library):
        known = function.name.partition(".")[0] in libraries.KNOWN or f"{function.name}.".startswith(
            run.tables.wrappers
        )
        return known or _owner(function, run) is not None
    kind = function.kind if isinstance(function, Object) else None
    return isinstance(function, (Function, Class, Partial)) or isinstance(kind, Class)


def _stream(owner: Object, row: Row | None = None) -> Sampler:
    """Return the stream of an object's generator, by allocation site and row; all its streams without a row."""
    return Sampler(owner.path, owner.order % FAR, "" if row is None else row.id)
