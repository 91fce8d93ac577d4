"""Trainers: what they call of the models, the data and the callbacks that they are given, and the loaders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import FALSE, Bound, ClassRef, Instance, LibraryRef, Option
from detlint.domain.effects import Seed
from detlint.domain.given import Given
from detlint.domain.outcomes import HOLDS, Outcome, is_none, truth
from detlint.domain.slots import Attribute
from detlint.domain.step import Step
from detlint.domain.values import SOMETHING, UNKNOWN, Value, value_of
from detlint.models.arguments import Arguments
from detlint.models.autograd import mark

if TYPE_CHECKING:
    from detlint.models.known import Known

_TAKING = ("_batch_start", "_step")  # how the names of methods end that get a batch
_MODEL, _DATA, _TRAINER = "model", "datamodule", "trainer"
HELD = (_MODEL, _DATA, _TRAINER)
"""What a command line of a trainer holds once it is made."""


def run(step: Step, row: Row, args: Arguments) -> Value:
    """Call the methods that a trainer calls on what it is given, or was made with, and go through the loaders.

    It goes through these before it calls the first method that gets a batch.
    """
    hooks = row.list("methods")
    if "training_step" in hooks:
        mark(step, "trains")
    values = [*_held(step, row), *args.given.each]
    objects = [atom for value in values for atom in step.each(value) if isinstance(atom, Instance)]
    first = next((number for number, name in enumerate(hooks) if name.endswith(_TAKING)), len(hooks))
    for name in hooks[:first]:
        _call(step, objects, name)
    for each in dict.fromkeys(objects):
        if isinstance(each.site.kind, LibraryRef):
            step.iterate(value_of(each))
    for name in hooks[first:]:
        _call(step, objects, name)
    return UNKNOWN


def _call(step: Step, objects: Sequence[Instance], name: str) -> None:
    """Call a method of all objects of the project that have it; a loader that it gives is gone through."""
    for each in dict.fromkeys(objects):
        if isinstance(each.site.kind, ClassRef):
            given = step.method(each, name)
            if name.endswith("dataloader"):
                step.iterate(given)


def _held(step: Step, row: Row) -> list[Value]:
    """What the trainer was made with that has such methods: one object, or a list of them."""
    trainer = step.receiver
    if not (row.text("held") and isinstance(trainer, Instance) and isinstance(trainer.site.kind, LibraryRef)):
        return []
    value = step.resolve(step.kept(trainer, row.text("held")))
    whole = value.of(atom for atom in value.atoms if not _is_own(atom))
    return [value.of(atom for atom in value.atoms if _is_own(atom)), step.iterate(whole)]


def _is_own(atom: object) -> bool:
    return isinstance(atom, Instance) and isinstance(atom.site.kind, ClassRef)


def command_line(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A command line that seeds, then makes a data set, a model and a trainer, all by their defaults, and trains."""
    own = step.receiver
    made = own if isinstance(own, Instance) else step.make(name)
    seeded = args.get(row.text("parameter"))
    streams = row.list("seeds")

    def seed() -> Value:
        sure = not is_none(seeded).may_hold
        step.emit(Seed(streams, step.code, "fixed" if sure else "unsure", name))
        return SOMETHING

    off = all(atom == FALSE for atom in seeded.atoms)  # unless the user asks for it
    by_user = Outcome(True, True, Option(row.text("option"), step.code))
    step.arm(by_user if off else HOLDS, seed, lambda: SOMETHING)
    step.method(made, "before_instantiate_classes")
    for each in (_DATA, _MODEL):
        step.fill(made, Attribute(each), _instances(step, args.get(f"{each}_class")))
    trainer = step.make(row.text("trainer"))
    step.fill(made, Attribute(_TRAINER), value_of(trainer))
    if truth(args.get("run")).may_hold:
        step.method(made, "before_fit")
        fit = value_of(Bound(LibraryRef(f"{row.text('trainer')}.fit"), trainer))
        step.call_with(fit, Given(tuple(step.read(made, Attribute(each)) for each in (_MODEL, _DATA))))
    return value_of(made)


def _instances(step: Step, value: Value) -> Value:
    """Objects of the classes that a value may be, and what else it may be that makes some."""
    found = step.call_with(value, Given())
    return found if found.atoms else UNKNOWN
