"""Objects that step in training and whose state a resumed run needs: where programs make, step and restore them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.language.scopes import nowhere
from detlint.link.libraries.owning import is_followed
from detlint.link.state.arguments import Arguments
from detlint.link.state.values import FAR, Class, Library, Object, Value, each
from detlint.programs.events import ANY, HANDED, MADE, RESTORED, STEPS, Sampler, Stepping

if TYPE_CHECKING:
    from detlint.link.libraries.samplers import Samplers as Run
else:
    Run = Any


def make(run: Run, made: Object, given: Arguments, place: Place) -> None:
    """Record that such an object is made, and watch for such objects from the first one on."""
    if (what := _identity(run, made)) is None:
        return
    optimizers = (_identity(run, atom) for atom in each(given.first("optimizer")))
    run.note(Stepping(MADE, what, place, on=next((each for each in optimizers if each is not None), None)))
    if not given.applies((), run.tables.stepped[_maker(made)].list("made_unless")):
        run.note(Stepping(HANDED, what, place))
    _watch(run)
    run.effect(_watch)


def _watch(run: Run) -> None:
    run.stepping = True


def call(run: Run, function: Library, given: Sequence[Value] | Mapping[str, Value], place: Place) -> None:
    """Record what a method of such an object does, `given` some arguments."""
    owner, method = function.receiver, function.name.rpartition(".")[2]
    what = _identity(run, owner)
    if isinstance(owner, Object) and method in run.tables.restoring:
        _restore_parts(run, owner, place)
    if what is None or not isinstance(owner, Object):
        return
    row = run.tables.stepped[_maker(owner)]
    if method in row.list("restoring"):
        run.note(Stepping(RESTORED, what, place))
    elif method in row.list("methods"):
        told = given and _maker(owner) not in row.set("told")  # how far the training is
        run.ask("node", run.node)
        name = "" if run.node is None else _called(run.node)
        run.note(Stepping(HANDED if told else STEPS, what, place, name))


def _restore_parts(run: Run, owner: Object, place: Place) -> None:
    """Record the classes of the project whose objects are restored with one that they are, or are in."""
    parts = run.among([frozenset((owner,))], Stepping(HANDED, ANY, place))
    kinds = dict.fromkeys(part.kind for part in parts if isinstance(part, Object))
    for kind in kinds:
        if isinstance(kind, Class):
            run.note(Stepping(RESTORED, Sampler(kind.path, 0, "", kind.qualified), place))


def attend(
    run: Run, node: f.Call, functions: Value, positional: Sequence[Value], keywords: Mapping[str, Value]
) -> None:
    """Record a call that may restore such objects: of an unknown one, or of something unknown that is given one."""
    if functions and all(is_followed(run, atom) and not _takes_states(run, atom) for atom in functions):
        return
    if isinstance(node.function, f.Member) and node.function.name in run.tables.restoring:
        run.note(Stepping(HANDED, ANY, node.place, _called(node)))
    for atom in run.among((*positional, *keywords.values()), Stepping(HANDED, ANY, node.place)):
        if (what := _identity(run, atom)) is not None:
            run.note(Stepping(HANDED, what, node.place))


def _called(node: f.Call) -> str:
    """Return the name of the variable or attribute of which a method is called; "" for anything else."""
    owner = node.function.value if isinstance(node.function, f.Member) else None
    return owner.name if isinstance(owner, (f.Local, f.Global, f.Member)) else ""


def _takes_states(run: Run, function: object) -> bool:
    """Return whether a library's function restores what it is given."""
    return isinstance(function, Library) and function.name.startswith(run.tables.state_takers)


def sets(run: Run, owners: Value) -> None:
    """Record that attributes of such objects are set, which may be their state."""
    for atom in each(owners):
        if (what := _identity(run, atom)) is not None:
            run.note(Stepping(HANDED, what, nowhere(run.frame.path)))


def _maker(owner: Object) -> str:
    """Return the name of what made a library's object; "" for any other object."""
    return owner.kind.name if isinstance(owner.kind, Library) else ""


def _identity(run: Run, atom: object) -> Sampler | None:
    """Return what identifies the object that an atom is or is an attribute of; None if that does not step."""
    owner = atom.receiver if isinstance(atom, Library) else atom
    if not isinstance(owner, Object) or (row := run.tables.stepped.get(_maker(owner))) is None:
        return None
    return Sampler(owner.path, owner.order % FAR, row.id)
