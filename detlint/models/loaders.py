"""Data loaders and data sets: what one pass over a loader draws, here and in its workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import (
    NONE,
    Bound,
    Choice,
    Constant,
    FunctionRef,
    Instance,
    LibraryRef,
    TupleOf,
)  # fmt: skip
from detlint.domain.effects import Draw, Made
from detlint.domain.outcomes import HOLDS, is_none, truth
from detlint.domain.slots import ANY_KEY
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, UNKNOWN, Value, value_of
from detlint.models import holders
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known

ASKED = ("dataset", "sampler", "batch_sampler", "num_workers", "worker_init_fn", "collate_fn", "generator")
"""What a pass over a loader asks for."""
DECIDE = ("generator", "num_workers=0", "sampler", "batch_sampler")
"""What decides what a pass draws, as conditions."""
_SETS = ("dataset", "datasets")
_PLACES = tuple(map(str, range(8)))  # of what is given by position to what has no signature
_SPLIT = 8  # parts that a data set may be split into
_APPLIED = (FunctionRef, Instance, LibraryRef, Bound)


def made(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A loader, for the list of programs."""
    loader = step.make(name)
    step.keep(loader, args.given, args.places)
    note(step, args)
    return value_of(loader)


def note(step: Step, args: Arguments, made: Instance | None = None) -> None:
    """A loader that is made, with what its call is seen to give it: of a class of the project where that is made."""
    code = made.site.code if made is not None else None
    place = code if code is not None and code.node >= 0 else step.code
    step.emit(Made(place, _is_given(args.of("generator")), _is_given(args.of("worker_init_fn"))))


def _is_given(value: Value | None) -> bool:
    """Whether a call gives something but None, as far as is seen, and options are at their defaults."""
    if value is None:
        return False
    return all(_is_given(a.default) if isinstance(a, Choice) else is_none(value_of(a)) != HOLDS for a in value.atoms)


def kept(step: Step, loader: Instance, name: str) -> Value:
    """What a loader was given for a parameter, else None."""
    given = step.kept(loader, name)
    return given if given.atoms else value_of(NONE)


# Passes


def passed_over(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Its sampler here; its data set here, or in workers, whose generators begin with a seed that it draws."""
    for each in ("sampler", "batch_sampler"):
        step.iterate(args.get(each))
    own = not is_none(args.get("generator")).may_hold
    seeds = known.worker_seeds.get(name)
    numpy = ("numpy",) if row.holds_for(known.torch, "numpy_seeded") else ()
    base = None if own or seeds is None else Draw(seeds.text("generator"), step.code, name)
    seeded = ("python", *numpy, *(("torch",) if own else ()))
    number = args.get("num_workers")
    outcome = truth(number)
    either = outcome.may_hold and outcome.may_fail and outcome.option is None
    unsure = either and not _is_told(number)

    def worker() -> Value:
        init = args.of("worker_init_fn")
        if init is not None:
            step.arm(is_none(init), lambda: NOTHING, lambda: step.call(init, UNKNOWN))
        return batch(known, step, args)

    def apart() -> Value:
        like = "" if own or seeds is not None else "torch"
        return step.apart(worker, seeded, base, like=like, perhaps=unsure)

    return apart() if unsure else step.arm(outcome, apart, lambda: batch(known, step, args))


def _is_told(number: Value) -> bool:
    """Whether a number is one of some constants where the user sets nothing."""
    return all(isinstance(a, Constant) or (isinstance(a, Choice) and _is_told(a.default)) for a in number.atoms)


def batch(known: Known, step: Step, args: Arguments) -> Value:
    """Items of the data set, put together."""
    items = fetch(known, step, args.get("dataset"), set())
    collate, plain = args.of("collate_fn"), step.join(UNKNOWN, items)
    if collate is None:
        return plain
    return step.arm(is_none(collate), lambda: plain, lambda: step.call(collate, UNKNOWN))


# Data sets


def held(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What stands for a data set, or for several; splitting one gives several such."""
    whole = step.make(name)
    for atom in step.each(args.first()):
        step.fill(whole, ANY_KEY, holders.items(step, atom))
    found = value_of(whole)
    return value_of(TupleOf((found,) * _SPLIT)) if known.consumer(name) is not None else found


def gone_through(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """All items of what stands for a data set."""
    whole = step.owner
    return step.join(UNKNOWN, fetch(known, step, whole, set()))


def fetch(known: Known, step: Step, dataset: Value, seen: set[Instance]) -> Value:
    """An item of a data set: those that were `seen` before are not gone through once more."""
    found = NOTHING
    for atom in step.each(dataset):
        if not isinstance(atom, Instance) or atom in seen:
            continue
        seen.add(atom)
        if step.overrides(atom, "__getitem__"):
            found = step.join(found, step.method(atom, "__getitem__", UNKNOWN))
        elif step.overrides(atom, "__iter__"):
            found = step.join(found, step.iterate(value_of(atom)))
        else:
            found = step.join(found, fetch_inner(known, step, atom, seen))
    return found


def fetch_inner(known: Known, step: Step, dataset: Instance, seen: set[Instance]) -> Value:
    """An item of a library's data set, or one derived from it, by what it was constructed with."""
    inner = step.read(dataset, ANY_KEY)
    for name in _SETS:
        inner = step.join(inner, step.kept(dataset, name))
    if bases := step.bases(dataset):
        placed = any(".datasets." in base for base in bases)
        for name in (*known.applied, *(_PLACES if placed else ())):
            for atom in step.each(step.kept(dataset, name)):
                if isinstance(atom, _APPLIED):
                    step.call(value_of(atom), UNKNOWN)
    return fetch(known, step, inner, seen)
