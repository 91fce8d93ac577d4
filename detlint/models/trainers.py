"""Trainers: what they call of the models, the data and the callbacks that they are given, and the loaders."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.catalogue import Row
from detlint.domain.atoms import ClassRef, Instance, LibraryRef
from detlint.domain.step import Step
from detlint.domain.values import UNKNOWN, Value, value_of
from detlint.models.arguments import Arguments
from detlint.models.autograd import mark

_TAKING = ("_batch_start", "_step")  # how the names of methods end that get a batch


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
