"""Arguments of calls: evaluated, unpacked, and bound to the parameters of a function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from detlint.domain.atoms import GIVEN, Constant, DictOf, FunctionRef, IteratorOver, Option, TupleOf
from detlint.domain.codes import Code
from detlint.domain.dicts import may_be_absent, or_else
from detlint.domain.given import Given, Turns
from detlint.domain.outcomes import Outcome
from detlint.domain.slots import Argument
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, value_of
from detlint.interpreter import assignments, containers
from detlint.interpreter.frames import Frame
from detlint.interpreter.frames import Key as PathKey
from detlint.ir import nodes as ir

_NONE_UNPACKED = 1_000
_MOST_TUPLED = 64  # arguments that are kept one by one


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call, with the access paths of those that are one.

    `firm` are those by position before one that is unpacked; from there on, where it is `open`, any may be anything.
    Those unpacked there are any of `more`. With `options` those that are left out are options of a command line.
    """

    positional: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)
    paths: Mapping[int | str, PathKey] = field(default_factory=dict)
    open: bool = False
    firm: int = _NONE_UNPACKED
    options: bool = False
    more: Value = NOTHING

    def after(self, first: Value) -> Arguments:
        """These, with one more in front."""
        paths = {k + 1 if isinstance(k, int) else k: path for k, path in self.paths.items()}
        return replace(self, positional=(first, *self.positional), paths=paths, firm=self.firm + 1)

    def without_first(self) -> Arguments:
        """These, without the first by position."""
        paths = {k - 1 if isinstance(k, int) else k: path for k, path in self.paths.items() if k != 0}
        return replace(self, positional=self.positional[1:], paths=paths, firm=self.firm - 1)

    @property
    def pending(self) -> bool:
        """Whether one of these is nothing yet, so that there is no call yet."""
        return not all(value.atoms for value in (*self.positional, *self.keywords.values()))

    @property
    def given(self) -> Given:
        """These, as a model gets them."""
        return Given(self.positional, dict(self.keywords), self.open, more=self.more)


def arguments_of(frame: Frame, expression: ir.Call) -> Arguments:
    """Evaluate the arguments of a call."""
    positional: list[Value] = []
    keywords: dict[str, Value] = {}
    paths: dict[int | str, PathKey] = {}
    opened, firm, rest = False, _NONE_UNPACKED, NOTHING
    for argument in expression.arguments:
        value = frame.evaluate(argument.value)
        if argument.star == "*":
            turns, unsure = _unpacked(frame, value)
            if unsure:
                firm, opened, rest = min(firm, len(positional)), True, frame.join(rest, turns.rest)
            positional += turns.items
        elif argument.star == "**":
            held = containers.mapping(frame, value, assignments.path_of(frame, argument.value))
            if held is None:
                return Arguments((NOTHING,))
            keywords |= {key.value: each for key, each in held.entries if key.kind == "str"}
            if held.rest is not None and held.rest.atoms:
                firm, opened = min(firm, len(positional)), True
        elif argument.keyword:
            keywords[argument.keyword] = value
        else:
            positional.append(value)
        path = assignments.path_of(frame, argument.value)
        if path is not None and not argument.star:
            paths[argument.keyword or len(positional) - 1] = path
    return Arguments(tuple(positional), keywords, paths, opened, firm, more=rest)


def _unpacked(frame: Frame, value: Value) -> tuple[Turns, bool]:
    """The arguments that unpacking a value gives, and whether there may be others; nothing yet is nothing yet."""
    frame.tables.iterate(frame, value)
    if not value.atoms:
        return Turns((NOTHING,)), False
    turns = containers.all_turns(frame, value)
    return turns, not turns.sure or bool(turns.rest.atoms)


def fit(code: ir.Function, arguments: Arguments) -> bool:
    """Whether a function may be called with some arguments, those that are unpacked aside."""
    named = [parameter for parameter in code.parameters if not parameter.star]
    stars = {parameter.star for parameter in code.parameters}
    if arguments.open:
        return True
    count, names = len(arguments.positional), {parameter.name for parameter in named}
    missing = [p for p in named[count:] if p.default is None and p.name not in arguments.keywords]
    placed = sum(not parameter.keyword_only for parameter in named)
    known = "**" in stars or names >= arguments.keywords.keys()
    return known and not missing and ("*" in stars or count <= placed)


def bind(
    frame: Frame, function: FunctionRef, code: ir.Function, arguments: Arguments
) -> tuple[dict[str, Value], dict[str, PathKey]]:
    """The values of a function's parameters in a call, and the access paths of those that have one."""
    bound: dict[str, Value] = {}
    paths: dict[str, PathKey] = {}
    rest = dict(arguments.keywords)
    position = 0
    for parameter in code.parameters:
        name = parameter.name
        if parameter.star == "*":
            more = arguments.positional[position:]
            position = len(arguments.positional)
            unsure = arguments.open and arguments.firm < len(arguments.positional) + 1
            tuples = [more[:length] for length in range(len(more))] if unsure else []
            known = value_of(*map(TupleOf, (*tuples, more)))
            others = value_of(IteratorOver(arguments.more)) if arguments.more.atoms else UNKNOWN
            bound[name] = frame.join(known, others) if unsure else known
            if len(more) > _MOST_TUPLED:
                bound[name] = UNKNOWN
            continue
        if parameter.star == "**":
            entries = tuple((Constant("str", key), value) for key, value in rest.items())
            bound[name] = value_of(DictOf(entries, UNKNOWN if arguments.open else None))
            continue
        if position < len(arguments.positional) and not parameter.keyword_only:
            bound[name] = arguments.positional[position]
            if arguments.open and position >= arguments.firm:
                bound[name] = frame.join(bound[name], _left_out(frame, function, parameter, arguments))
            if position in arguments.paths:
                paths[name] = arguments.paths[position]
            position += 1
        elif name in rest:
            value = rest.pop(name)
            if may_be_absent(value):
                value = or_else(value, _left_out(frame, function, parameter, arguments), frame.join)
            bound[name] = value
            if name in arguments.paths:
                paths[name] = arguments.paths[name]
        else:
            bound[name] = _left_out(frame, function, parameter, arguments)
    return bound, paths


def _left_out(frame: Frame, function: FunctionRef, parameter: ir.Parameter, arguments: Arguments) -> Value:
    """A parameter that a call may leave out: its default, or anything where something unknown is unpacked."""
    if parameter.default is None:
        return UNKNOWN
    value = frame.read((function, Argument(parameter.name)))
    code = Code(function.file, function.name, -1)
    if arguments.options:
        option = Option(f"--{parameter.name.replace('_', '-')}", code)
        return frame.chosen(Outcome(True, True, option), SOMETHING, value)
    if not arguments.open or not value.atoms:
        return value
    return frame.chosen(Outcome(True, True, Option(f"{parameter.name}{GIVEN}", code)), UNKNOWN, value)
