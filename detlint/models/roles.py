"""The kinds of role that the tables give functions of libraries: one function a kind, listed literally."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import TupleOf
from detlint.domain.effects import Mark, SetSwitch
from detlint.domain.outcomes import HOLDS, truth
from detlint.domain.step import Step
from detlint.domain.values import SOMETHING, UNKNOWN, Value, value_of
from detlint.models import importlib, loaders, torch_nn
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known, Role


def passes(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The argument."""
    return args.first(row.text("parameter"))


def prepares(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """All arguments, as a tuple if there are several, or those of `parameters`."""
    if row.list("parameters"):
        return value_of(TupleOf(tuple(args.of(each) or UNKNOWN for each in row.list("parameters"))))
    given = args.given.positional
    return value_of(TupleOf(given)) if len(given) > 1 else args.first()


def itself(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The receiver."""
    return step.owner if step.owner.atoms else UNKNOWN


def evaluates(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The layers of a model no longer train."""
    step.emit(SetSwitch("layers", "eval", step.code))
    return itself(known, step, row, name, args)


def trains(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The layers of a model train, or no longer where that is said."""

    def set_to(word: str) -> Value:
        step.emit(SetSwitch("layers", word, step.code))
        return SOMETHING

    given = args.given.each
    outcome = truth(step.resolve(given[0])) if given else HOLDS
    step.arm(outcome, lambda: set_to("train"), lambda: set_to("eval"))
    return itself(known, step, row, name, args)


def enters(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Enter a context that is left when a stack of contexts is."""
    return step.enter(args.given.first)


def marks(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A step that says what the program is for."""
    step.emit(Mark(row.text("kind"), step.code))
    return itself(known, step, row, name, args)


ROLES: Mapping[str, Role] = {
    "passes": passes, "prepares": prepares, "self": itself, "eval": evaluates, "train": trains, "enters": enters,
    "trains": marks, "restores": marks, "loader": loaders.made, "iterated:loader": loaders.passed_over,
    "imports": importlib.imported, "spec": importlib.spec, "loads": importlib.loaded,
    "names": importlib.evaluated, "submodule": torch_nn.added, "children": torch_nn.children,
}  # fmt: skip
"""By kind; those of `iterated:` a kind say what going over an object does that has it."""
