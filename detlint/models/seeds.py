"""What seeds global generators, and with what: a number that is the same in each run, entropy, or None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import Atom, Choice, Constant, Instance, StateSnapshot, TupleOf
from detlint.domain.codes import Code
from detlint.domain.effects import Save, Seed
from detlint.domain.generators import SEEDABLE
from detlint.domain.outcomes import HOLDS, Outcome
from detlint.domain.slots import ITEMS
from detlint.domain.step import Step
from detlint.domain.taints import Taint, Taints, numbers
from detlint.domain.values import SOMETHING, UNKNOWN, Value, value_of
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known, Role


def entropy(step: Step) -> Value:
    """A number that differs from run to run."""
    taints = frozenset((Taint("entropy", step.code, "number"),))
    return SOMETHING.with_taints(taints, taints)


def perhaps(step: Step, name: str, *, guessed: bool = True) -> None:
    """A call that may seed any generator, by its name alone if that is `guessed`."""
    step.emit(Seed(SEEDABLE, step.code, "unsure", name, guessed=guessed))


def reseed(step: Step, row: Row, name: str, args: Arguments) -> bool:
    """A call that may seed from the operating system: whether it surely does."""
    if args.applies(row.list("when"), ()) != HOLDS:
        return False
    streams = tuple(each for each in row.list("seeds") if each in SEEDABLE)
    step.emit(Seed(streams, step.code, "entropy", name))
    return True


def seed(step: Step, row: Row, name: str, args: Arguments) -> None:
    """A seeder of the tables, which may seed nothing by its arguments."""
    for condition in row.list("unless"):
        outcome = args.holds(condition)
        if outcome.may_hold and (outcome.option is not None or not outcome.may_fail):
            step.arm(outcome, lambda: SOMETHING, lambda: _seed(step, row, name, args))
            return
    _seed(step, row, name, args)


def _seed(step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A seeder of the tables, with the seed that it is given."""
    streams = tuple(each for each in row.list("seeds") if each in SEEDABLE)
    if not streams:
        return SOMETHING
    restores, takes_none = bool(row.text("restores")), row.text("none") not in ("raises", "default")
    if not row.text("parameter") or not args.tells(row.text("parameter")):
        return _emit(step, Seed(streams, step.code, "fixed", name, restores))
    value = step.concrete(args.get(row.text("parameter")))
    saved = _snapshots(step, value)
    if saved:
        return _emit(step, Seed(streams, step.code, "fixed", name, restores, saved=tuple(sorted(saved))))

    def put(value: Value) -> Value:
        """Seed with one of what a value may be: an option that decides which has arms of its own."""
        choice = next((atom for atom in value.atoms if isinstance(atom, Choice)), None)
        if choice is not None and len(value.atoms) == 1:
            if choice.option.is_parameter:
                return put(step.join(choice.default, choice.other))
            outcome = Outcome(True, True, choice.option, True)
            return step.arm(outcome, lambda: put(choice.other), lambda: put(choice.default))
        if row.text("none") == "nothing" and value.atoms and all(map(_is_none, value.atoms)):
            return SOMETHING
        how, drawn, perhaps = _how(value, step.certain(value, "entropy", "drawn"), takes_none)
        return _emit(step, Seed(streams, step.code, how, name, restores, drawn=drawn, perhaps=perhaps))  # type: ignore[arg-type]

    return put(value)


def _how(value: Value, certain: Taints, takes_none: bool) -> tuple[str, tuple[Code, ...], tuple[Code, ...]]:
    """What a generator begins with, one seed or another being fixed all the same; the draws that this surely and
    perhaps comes from.
    """
    none = [_is_none(atom) for atom in value.atoms]
    if takes_none and none and all(none):
        return "none", (), ()
    if any(taint.kind == "entropy" for taint in certain):
        return "entropy", (), ()
    unsure = (takes_none and any(none)) or any(taint.kind == "entropy" for taint in value.taints)
    unsure = unsure or any(taint.kind == "drawn" and taint.source == "" for taint in value.taints)
    drawn, perhaps = _draws(certain), _draws(value.taints - certain)
    return "unsure" if unsure else "fixed", drawn, perhaps


def _is_none(atom: Atom) -> bool:
    """Whether an atom is None, or may be None by an option among others."""
    if isinstance(atom, Choice):
        return any(map(_is_none, atom.default.atoms | atom.other.atoms))
    return isinstance(atom, Constant) and atom.kind == "None"


def _draws(taints: Taints) -> tuple[Code, ...]:
    """The draws that a value comes from."""
    return tuple(sorted(taint.source for taint in taints if taint.kind == "drawn" and isinstance(taint.source, Code)))


def _snapshots(step: Step, value: Value, depth: int = 3) -> set[Code]:
    """Where the states of generators were saved that a value is, or is put together of."""
    found = set[Code]()
    for atom in step.each(value) if depth else ():
        if isinstance(atom, StateSnapshot):
            found.add(atom.code)
        elif isinstance(atom, TupleOf):
            for item in atom.items:
                found |= _snapshots(step, item, depth - 1)
        elif isinstance(atom, Instance):
            found |= _snapshots(step, step.read(atom, ITEMS), depth - 1)
    return found


def save(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The state of a generator."""
    step.emit(Save(row.text("generator"), step.code))
    return value_of(StateSnapshot(row.text("generator"), step.code))


def scope(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A context after which generators are what they were."""
    made = step.make(name)
    step.keep(made, args.given, args.places)
    return value_of(made)


def broadcast(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A seed that one process draws, and the others have a tensor for, differs in all of them."""
    parameter = row.text("parameter")
    place: int | str = parameter if parameter in args.given.keywords else 0
    given = args.given.value(parameter, 0)
    if given is not None and given.atoms:
        step.change(place, given, given.with_taints(given.taints, given.certain | numbers(given.taints)))
    return UNKNOWN


def _emit(step: Step, effect: Seed) -> Value:
    step.emit(effect)
    return SOMETHING


ROLES: Mapping[str, Role] = {"saves": save, "scope": scope, "broadcasts": broadcast}
