"""The arguments of a call of a library, by the names of its parameters, and the conditions that tables put on them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial

from msgspec import Struct

from detlint.domain.atoms import NONE, Atom, Choice, Constant, Cut, Instance, LibraryRef, TupleOf, Unknown
from detlint.domain.dicts import may_be_absent, or_else
from detlint.domain.given import Given
from detlint.domain.outcomes import EITHER, FAILS, HOLDS, Outcome, chosen, either
from detlint.domain.step import Step
from detlint.domain.values import UNKNOWN, Value, value_of
from detlint.ir.lower_expressions import constant
from detlint.models.inner import inner
from detlint.semantics.values import UNKNOWN as NO_DEFAULT
from detlint.semantics.values import among, parse_signature

_PATTERN = re.compile(r"(?P<not>!)?(?P<name>\w+)(?P<inner>(?:\.\w+)*)(?:(?P<operator>!=|=|:)(?P<values>.*))?")
_KNOWN = "@known:"
_META = "device=meta"  # which a device that may be another is not: nobody trains there
_NOT_KNOWN = Outcome(True, True)


class Arguments(Struct):
    """The arguments of one call. `defaults` are those of the signature, `places` what may be given by position.

    `inner` tells what a value holds under a name.
    """

    given: Given
    defaults: Mapping[str, object]
    places: tuple[str, ...]
    resolve: Callable[[Value], Value]
    join: Callable[[Value, Value], Value]
    inner: Callable[[Value | None, str], Value]

    def of(self, name: str) -> Value | None:
        """What is given for a parameter, resolved; None where nothing is."""
        found = self.given.keywords.get(name)
        if found is None and name in self.places:
            index = self.places.index(name)
            found = self.given.positional[index] if index < len(self.given.positional) else None
        if found is None:
            return None
        found = self.resolve(found)
        return or_else(found, self._default(name), self.join) if may_be_absent(found) else found

    def get(self, name: str) -> Value:
        """What a parameter is: what is given, its default, None for one that is not known; perhaps unknown."""
        found = self.of(name)
        if found is not None:
            return found
        return UNKNOWN if self.given.open else self._default(name)

    def tells(self, name: str) -> bool:
        """Whether it is known what a parameter is: by its name, or by the function's signature."""
        return bool(self.defaults) or name in self.given.keywords

    def _default(self, name: str) -> Value:
        default = self.defaults.get(name, NO_DEFAULT)
        return value_of(NONE) if default is NO_DEFAULT else value_of(constant(default))

    def first(self, name: str = "") -> Value:
        """What a parameter is, or the first argument."""
        found = self.of(name) if name else None
        if found is None:
            found = next(iter((*self.given.positional, *self.given.keywords.values())), UNKNOWN)
        return self.resolve(found)

    def holds(self, condition: str) -> Outcome:
        """Whether a condition of the tables holds.

        Where only an unknown `**` could give a parameter, it has its default, but whether it is given at all, as a
        generator or a seed is, is not known.
        """
        if condition.startswith(_KNOWN):
            return HOLDS if not self.holds(condition.removeprefix(_KNOWN)).may_fail else FAILS
        match = _PATTERN.fullmatch(condition)
        if match is None:
            return EITHER
        name, operator, within = match["name"], match["operator"], match["inner"].split(".")[1:]
        found = self.of(name)
        value = found if found is not None else self._default(name) if operator and not within else self.get(name)
        for part in within if name != "self" else ():
            value = self.resolve(self.inner(value, part))
        if name == "self":
            value = self.resolve(self.inner(None, ".".join(within)))
            value = value if value.atoms else UNKNOWN
        wanted = frozenset((match["values"] or "").split("|"))

        def judge(value: Value) -> Outcome:
            return either([_atom(atom, operator, wanted, judge, condition) for atom in value.atoms])

        outcome = judge(value)
        if condition == _META and outcome.may_fail and outcome.option is None:
            outcome = FAILS
        return outcome.inverted() if match["not"] or operator == "!=" else outcome

    def applies(self, when: Iterable[str], unless: Iterable[str]) -> Outcome:
        """Whether all of `when` surely hold and none of `unless` does; an option may decide it."""
        options: list[Outcome] = []
        for condition, wanted in (*((c, True) for c in when), *((c, False) for c in unless)):
            outcome = self.holds(condition) if wanted else self.holds(condition).inverted()
            if not outcome.may_hold or (outcome.may_fail and outcome.option is None):
                return FAILS
            if outcome.option is not None and outcome.option.is_parameter:
                return FAILS
            if outcome.may_fail:
                options.append(outcome)
        if len({(o.option, o.set) for o in options}) > 1:
            return FAILS
        return options[0] if options else HOLDS


def named_in(condition: str) -> str:
    """The parameter that a condition of the tables speaks of."""
    match = _PATTERN.fullmatch(condition.removeprefix(_KNOWN))
    return match["name"] if match is not None else ""


def words_of(condition: str) -> list[str]:
    """The constants that a condition of the tables speaks of."""
    match = _PATTERN.fullmatch(condition.removeprefix(_KNOWN))
    return match["values"].split("|") if match is not None and match["operator"] else ["None"]


def _atom(
    atom: Atom, operator: str | None, wanted: frozenset[str], judge: Callable[[Value], Outcome], condition: str
) -> Outcome:
    """Whether an atom is what a condition asks for: something but None, or one of some constants."""
    if isinstance(atom, Choice):
        return chosen(atom, judge(atom.default), judge(atom.other))
    if isinstance(atom, TupleOf) and atom.items and len(set(atom.items)) == 1:
        return judge(atom.items[0])
    if isinstance(atom, (Unknown, Cut)):
        return FAILS if condition == _META else _NOT_KNOWN
    word = _class(atom) if operator == ":" else _spelled(atom)
    if operator is None:
        return FAILS if word == "None" else HOLDS
    return HOLDS if among(word, wanted) else FAILS


def _spelled(atom: Atom) -> str:
    """An atom as the tables write it; "!" for what is something, but not None."""
    if isinstance(atom, Constant):
        return atom.value if atom.kind == "str" else atom.value or atom.kind
    return atom.name if isinstance(atom, LibraryRef) else "!"


def _class(atom: Atom) -> str:
    """The class of a library that an atom is an object of."""
    kind = atom.site.kind if isinstance(atom, Instance) else None
    return kind.name if isinstance(kind, LibraryRef) else "!"


def arguments(step: Step, given: Given, signature: str) -> Arguments:
    """The arguments of a call of what has a signature."""
    defaults, places = parameters(signature)
    return Arguments(given, defaults, places, step.resolve, step.join, partial(inner, step))


@cache
def parameters(signature: str) -> tuple[dict[str, object], tuple[str, ...]]:
    """The defaults of a signature's parameters, and those that may be given by position."""
    parsed = parse_signature(signature)
    return {name: default for name, default, _ in parsed}, tuple(name for name, _, only in parsed if not only)
