"""The arguments of a call of a library's function, and the conditions that the tables of facts put on them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cache
from typing import TYPE_CHECKING

from detlint.link.state.inner import inner
from detlint.link.state.mappings import written_items
from detlint.link.state.values import (
    NONE,
    UNKNOWN,
    Atom,
    Constant,
    Library,
    Object,
    Option,
    Tuple,
    Value,
    constant,
    single,
)
from detlint.semantics.values import UNKNOWN as NO_DEFAULT
from detlint.semantics.values import among, parse_signature

if TYPE_CHECKING:
    from detlint.catalogue import Row
    from detlint.link.state.program import Program

_PATTERN = re.compile(r"(?P<not>!)?(?P<name>\w+(?:\.\w+)*)(?:(?P<operator>!=|=|:)(?P<values>.*))?")
_POSITIONAL = 3  # positional arguments among which there is never a seed
_KNOWN = "@known:"
_LENGTH = "@length:"
_META = "device=meta"  # false for a device that may be another one: no one trains there


class Arguments:
    """The arguments of one call, by the parameter names of the function."""

    def __init__(
        self,
        program: Program,
        name: str,
        positional: Sequence[Value],
        keywords: Mapping[str, Value],
        signature: str = "",
        receiver: Atom | None = None,
    ) -> None:
        """Match arguments to parameters, by `signature` if `name` is unknown; `receiver` is the object of a method."""
        self.program = program
        self.receiver = receiver
        self.defaults, places = _parameters(program.catalogue.signatures.get(name, signature))
        self.positional = tuple(positional)
        self.keywords = dict(keywords)
        self.hidden = self.keywords.pop("**", None) is not None
        self.given = self.keywords | dict(zip(places, self.positional, strict=False))

    def get(self, parameter: str) -> Value:
        """Return the value of a parameter: what is given, its default, None if it is not a parameter, or unknown."""
        if parameter in self.given:
            return self.given[parameter]
        return UNKNOWN if self.hidden else self._default(parameter)

    def tells(self, parameter: str) -> bool:
        """Return whether the value of a parameter is known: it is given, or the function's signature is known."""
        return parameter in self.given or bool(self.defaults)

    def _default(self, parameter: str) -> Value:
        default = self.defaults.get(parameter, NO_DEFAULT)
        return NONE if default is NO_DEFAULT else constant(default)

    def first(self, parameter: str = "") -> Value:
        """Return the value of a parameter that is given, else the first argument."""
        if parameter and parameter in self.given:
            return self.given[parameter]
        return self.positional[0] if self.positional else next(iter(self.keywords.values()), UNKNOWN)

    @property
    def rest(self) -> dict[str, Value]:
        """The keyword arguments that the function has no parameter for, and passes on."""
        kept = {name: value for name, value in self.keywords.items() if name not in self.defaults}
        return kept | {"**": UNKNOWN} if self.hidden else kept

    def applies(self, when: Iterable[str], unless: Iterable[str]) -> bool:
        """Return whether all of `when` hold and none of `unless` does, with options at their defaults."""
        return all(self.holds(c) is True for c in when) and all(self.holds(c) is False for c in unless)

    def _has_length(self, value: Value, length: int) -> bool | None:
        """Return whether all that a value may be is a tuple, or a list as it was written down, of so many items."""
        found = [written_items(self.program.objects, atom) for atom in value]
        return None if None in found else all(len(items or ()) == length for items in found)

    def turned_on(self) -> tuple[str, Arguments]:
        """Return one of the options that leave a flag off by default, or "", and the arguments with such flags on."""
        flags = {
            name: atom.name
            for name, value in self.given.items()
            for atom in value
            if len(value) == 1 and isinstance(atom, Option) and atom.default is False
        }
        if not flags:
            return "", self
        chosen = copy(self)
        chosen.given = self.given | dict.fromkeys(flags, constant(True))
        return min(flags.values()), chosen

    def holds(self, condition: str) -> bool | None:
        """Return whether a condition of the tables holds; None if that is unknown.

        A parameter that only an unknown `**` could give has its default, but it is unknown whether it is given at all,
        as a generator or a seed is.
        """
        if condition.startswith(_KNOWN):
            return self.holds(condition.removeprefix(_KNOWN)) is True
        if condition.startswith(_LENGTH):
            parameter, _, length = condition.removeprefix(_LENGTH).partition("=")
            return self._has_length(self.get(parameter), int(length))
        match = _PATTERN.fullmatch(condition)
        if match is None:
            return None
        operator = match["operator"]
        value = self._named(match["name"], operator)
        words = _made_by(value) if operator == ":" else _spelled(value)
        if condition == _META and words != {"meta"}:
            return False
        if operator is None:
            answers = {None if word == "?" else word != "None" for word in words}
            answer = answers.pop() if len(answers) == 1 else None
            return answer if answer is None or not match["not"] else not answer
        wanted = match["values"].split("|")
        found = {among(word, wanted) for word in words}
        if "?" in words or len(found) != 1:
            return None
        return found.pop() is (operator != "!=")

    def _named(self, name: str, operator: str | None) -> Value:
        """Return what a condition refers to: a parameter, or something that it holds."""
        parameter, *within = name.split(".")
        if within:
            program = self.program
            outer = UNKNOWN if self.receiver is None else single(self.receiver)
            outer = outer if parameter == "self" else self.get(parameter)
            return inner(program.objects, program.catalogue.signatures, outer, within)
        return self._default(name) if operator and name not in self.given else self.get(name)


@cache
def _parameters(signature: str) -> tuple[dict[str, object], list[str]]:
    """Return the defaults of a signature's parameters, and the parameters that may be given by position."""
    parsed = parse_signature(signature)
    return {name: default for name, default, _ in parsed}, [name for name, _, only in parsed if not only]


def _spelled(value: Value) -> set[str]:
    """Return what a value may be, as the tables write it: "?" if it is unknown, "!" if it is known not to be None."""
    words: set[str] = set()
    for atom in value:
        if isinstance(atom, Constant):
            words.add(str(atom.value))
        elif isinstance(atom, Option):
            words.add(str(atom.default))
        elif isinstance(atom, Library):
            words.add(atom.name)
        elif isinstance(atom, Tuple) and atom.items and len(set(atom.items)) == 1:
            words |= _spelled(atom.items[0])
        else:
            words.add("?" if atom in UNKNOWN else "!")
    return words


def _made_by(value: Value) -> set[str]:
    """Return the classes of libraries that a value's objects may be of; "?" for what is unknown."""
    return {_class(atom) for atom in value}


def _class(atom: Atom) -> str:
    if isinstance(atom, Object) and isinstance(atom.kind, Library):
        return atom.kind.name
    return "!" if isinstance(atom, Constant) else "?"


def gives_no_seed(row: Row, given: Arguments) -> bool:
    """Return whether a call is certainly given no seed, and draws by its other arguments."""
    parameters = [name for name in (row.text("parameter"), *row.list("also")) if name]
    if not all(given.holds(f"!{name}") is True for name in parameters):
        return False
    by_position = len(given.positional) or sum(name.isdigit() for name in given.given)
    hidden = not (row.text("varargs") or given.defaults) and by_position > int(row.text("position") or _POSITIONAL)
    return not hidden and given.applies(row.list("when"), row.list("unless"))
