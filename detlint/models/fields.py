"""Fields of classes: their defaults and what makes these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import Constant
from detlint.domain.library import FIELD
from detlint.domain.slots import Argument
from detlint.domain.step import Step
from detlint.domain.values import SOMETHING, UNKNOWN, Value, value_of
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known


def field(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What the body of a class has for a field: its default, or what stands for a factory."""
    default = args.given.value("default", 0)
    if default is not None:
        return SOMETHING if default == value_of(Constant("...")) else default
    made = step.make(FIELD)
    factories = [args.given.keywords[each] for each in ("default_factory", "factory") if each in args.given.keywords]
    for factory in factories:
        step.fill(made, Argument("factory"), factory)
    return value_of(made) if factories else UNKNOWN
