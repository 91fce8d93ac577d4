"""torch.nn: layers whose weights are drawn when they are made, and modules, which are called by their `forward`."""

from __future__ import annotations

from detlint.domain.atoms import Instance
from detlint.domain.given import Given
from detlint.domain.library import Class, Library
from detlint.domain.slots import ANY_KEY
from detlint.domain.step import Step
from detlint.domain.values import SOMETHING, UNKNOWN, Value, value_of

_MODULE = "torch.nn.Module"


def forward(step: Step, module: Instance, given: Given) -> Value:
    """A module that is called goes through `forward`."""
    return step.call_with(step.attribute(value_of(module), "forward"), given.after(0))


def holds(step: Step, container: Instance, given: Given) -> Value:
    """A container keeps its layers."""
    for each in given.each:
        step.fill(container, ANY_KEY, each)
    return value_of(container)


def holds_listed(step: Step, container: Instance, given: Given) -> Value:
    """A container keeps the layers of a list."""
    step.fill(container, ANY_KEY, step.iterate(given.first))
    return value_of(container)


def in_turn(step: Step, container: Instance, given: Given) -> Value:
    """The layers are called one after the other."""
    for layer in step.each(step.read(container, ANY_KEY)):
        step.call(value_of(layer), UNKNOWN)
    return SOMETHING


def item(step: Step, container: Instance, given: Given) -> Value:
    """One of the layers."""
    return step.read(container, ANY_KEY)


def append(step: Step, owner: Value, given: Given) -> Value:
    """A container gets a layer more."""
    for atom in step.each(owner):
        if isinstance(atom, Instance):
            step.fill(atom, ANY_KEY, given.first)
    return owner


LIBRARY = Library(
    "torch.nn",
    classes=(
        Class("Module", called=forward),
        Class("Sequential", made=holds, called=in_turn, iterated=item, bases=(_MODULE,)),
        Class("ModuleList", made=holds_listed, iterated=item, methods={"append": append}, bases=(_MODULE,)),
    ),
)
