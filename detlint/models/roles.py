"""The kinds of role that the tables give functions of libraries: one function a kind, listed literally."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import TupleOf
from detlint.domain.effects import Mark, SetSwitch
from detlint.domain.step import Step
from detlint.domain.values import UNKNOWN, Value, value_of
from detlint.models import argparse, commands, loaders
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


def marks(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A step that says what the program is for."""
    step.emit(Mark(row.text("kind"), step.code))
    return itself(known, step, row, name, args)


ROLES: Mapping[str, Role] = {
    "passes": passes, "prepares": prepares, "self": itself, "eval": evaluates, "trains": marks, "restores": marks,
    "parser": argparse.parser, "subparser": argparse.subparser, "option": argparse.add,
    "option-class": commands.option_class, "defaults": argparse.defaults, "arguments": argparse.parse,
    "arguments-and-rest": argparse.parse_with_rest,
    "parameter": commands.parameter, "default": commands.default, "instance": commands.instance,
    "instances": commands.instances, "flag": commands.flag, "variable": commands.variable,
    "loader": loaders.made, "iterated:loader": loaders.passed_over,
}  # fmt: skip
"""By kind; those of `iterated:` a kind say what going over an object does that has it."""
