"""Data loaders: what one pass over a loader draws, here and in its workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import ClassRef, Instance
from detlint.domain.effects import Draw
from detlint.domain.outcomes import is_none, truth
from detlint.domain.slots import ANY_KEY
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, UNKNOWN, Value, value_of
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known


def made(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A loader, for the list of programs."""
    loader = step.make(name)
    step.keep(loader, args.given, args.places)
    known.note_loader(step, args)
    return value_of(loader)


def passed_over(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Its sampler here; its data set here, or in workers, whose generators begin with a seed that it draws."""
    for each in ("sampler", "batch_sampler"):
        step.iterate(args.get(each))
    own = not is_none(args.get("generator")).may_hold
    seeds = known.worker_seeds.get(name)
    numpy = ("numpy",) if row.holds_for(known.torch, "numpy_seeded") else ()
    base = None if own or seeds is None else Draw(seeds.text("generator"), step.code, name)

    def worker() -> Value:
        init = args.get("worker_init_fn")
        if not is_none(init).may_hold:
            step.call(init, UNKNOWN)
        return batch(step, args)

    def apart() -> Value:
        return step.apart(worker, ("python", *numpy, *(("torch",) if own else ())), base)

    return step.arm(truth(args.get("num_workers")), apart, lambda: batch(step, args))


def batch(step: Step, args: Arguments) -> Value:
    """Items of the data set, put together."""
    items = fetch(step, args.get("dataset"), frozenset())
    collate = args.get("collate_fn")
    if is_none(collate).may_hold:
        return items if items.atoms else UNKNOWN
    return step.call(collate, UNKNOWN)


def fetch(step: Step, dataset: Value, within: frozenset[Instance]) -> Value:
    """An item of a data set, which may be `within` others."""
    found = NOTHING
    for atom in step.each(dataset):
        if not isinstance(atom, Instance) or atom in within:
            continue
        if isinstance(atom.site.kind, ClassRef):
            for name, given in (("__getitem__", (UNKNOWN,)), ("__iter__", ())):
                item = step.method(atom, name, *given)
                if item.atoms:
                    found = step.join(found, step.iterate(item) if name == "__iter__" else item)
                    break
        inner = step.join(step.kept(atom, "dataset"), step.read(atom, ANY_KEY))
        found = step.join(found, fetch(step, inner, within | {atom}))
    return found
