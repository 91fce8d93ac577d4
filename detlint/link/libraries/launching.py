"""Functions that run others: in this process, in a copy of it, or in new processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.generators import COMPILED, ELSEWHERE
from detlint.link.libraries.hooks import run_hooks
from detlint.link.state.arguments import Arguments
from detlint.link.state.mappings import written_items
from detlint.link.state.racing import race
from detlint.link.state.truth import is_none
from detlint.link.state.values import (
    NONE,
    UNKNOWN,
    Atom,
    Class,
    Function,
    Library,
    Object,
    Partial,
    Tuple,
    Unknown,
    Value,
    each,
    single,
)
from detlint.programs.events import FORKED

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any

_COPIES = frozenset(("forks", "copies", "asks"))
"""The kinds of launchers that run a function in a copy of the process, or in this process as if it were a copy."""


def launch(run: Run, row: Row, receiver: Object | Function | None, given: Arguments, place: Place) -> Value:
    """Call a function that runs another one: here, in a thread, in a copy of this process, or in a new process."""
    before = len(run.trace)
    value = _launched(run, row, receiver, given, place)
    if row.text("threads"):
        race(run, row, receiver, run.trace[before:], place)
    return value


def _launched(run: Run, row: Row, receiver: Object | Function | None, given: Arguments, place: Place) -> Value:
    functions = given.first(row.text("parameter"))
    if row.text("several"):
        functions = run.iterate(functions)
    packed = given.get(row.text("arguments")) if row.text("arguments") else UNKNOWN
    positional = [item for atom in each(packed) for item in written_items(run.program.objects, atom) or ()]
    named = given.get(row.text("keywords")) if row.text("keywords") else NONE
    keywords = given.rest if row.text("rest") else run.keyword_arguments(named)
    if row.text("argument"):
        positional.append(given.get(row.text("argument")))
    if row.text("rank"):
        positional.insert(0, single(receiver) if row.text("rank") == "receiver" and receiver else UNKNOWN)
    if row.text("rest"):
        positional = list(given.positional[1:])
    elif row.text("items"):
        return run.gone_through(row.text("items"), functions, given.positional[1:], place)
    start = run.state
    if start is None:
        return UNKNOWN
    kind = row.text("kind")
    spawns = kind in ("spawns", "pickles") or (kind == "forks" and start["start"] == "spawn")
    if spawns and given.applies(row.list("when"), row.list("unless")) and not _stays(run, row, receiver):
        for atom in each(functions):
            inner = each(atom.function) if isinstance(atom, Partial) else [atom]
            first = atom.positional if isinstance(atom, Partial) else ()
            called = frozenset(_run_by(run, part) for part in inner)
            run.spawn_each(called, (*first, *positional), keywords, whole=kind == "pickles")
        return UNKNOWN
    if kind == "compiles":
        run.state = start.but(COMPILED, ELSEWHERE)
        value = run.call_value(functions, positional, keywords, place)
        for generator in COMPILED if run.state is not None else ():
            run.state = run.state.but((generator,), start[generator])
        return value
    if row.list("methods"):
        return run_hooks(run, row, receiver, given, place)
    if kind in _COPIES:
        with run.apart():
            if kind != "asks":
                run.state = start.but(("python",), FORKED)
            _initialise(run, receiver, place)
            run.call_value(functions, positional, keywords, place)
        run.state = start
        return UNKNOWN
    if row.text("members"):
        return run.run_command(functions if given.given else frozenset(), place)
    return run.call_value(functions, positional, keywords, place) if functions - {Unknown()} else UNKNOWN


def run_tasks(run: Run, row: Row, given: Arguments, tasks: Value) -> Value:
    """Start processes for the calls in `tasks`, if their launcher was `given` what the row asks for."""
    own = run.state is None or run.state["start"] == "threads"
    if not own and given.applies(row.list("when"), row.list("unless")):
        for task in each(run.iterate(tasks)):
            if isinstance(task, Partial):
                run.spawn_each(task.function, task.positional, dict(task.keywords), whole=True)
    return UNKNOWN


def _stays(run: Run, row: Row, receiver: Object | Function | None) -> bool:
    """Return whether a launcher was made so that it runs functions in this process."""
    if not (row.list("made_unless") and isinstance(receiver, Object) and isinstance(receiver.kind, Library)):
        return False
    made = run.kept(receiver, receiver.kind.name)
    return any(made.holds(condition) is True for condition in row.list("made_unless"))


def _run_by(run: Run, atom: Atom) -> Atom:
    """Return what a call of an atom runs: for an object, its `__call__`."""
    if not isinstance(atom, Object) or not isinstance(atom.kind, Class):
        return atom
    found = run.program.objects.attribute(atom, "__call__") or frozenset()
    return next(iter(run.bound(frozenset(a for a in found if isinstance(a, Function)), atom)), atom)


def _initialise(run: Run, pool: Object | Function | None, place: Place) -> None:
    """Run the initialiser with which a pool of processes starts each of them."""
    if isinstance(pool, Object) and isinstance(pool.kind, Library):
        given = run.kept(pool, pool.kind.name)
        packed = [atom for atom in each(given.get("initargs")) if isinstance(atom, Tuple)]
        if is_none(given.get("initializer")).expected is not True:
            run.call_value(given.get("initializer"), [item for atom in packed for item in atom.items], {}, place)
