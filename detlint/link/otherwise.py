"""What variables hold where an option is set: what acts in the place of another, or what they are unbound without."""

from __future__ import annotations

from collections.abc import Mapping

from detlint.facts import facts as f
from detlint.link.truth import Truth, is_none, truth
from detlint.link.values import Class, Function, Object, Partial, Value

Otherwise = dict[str, dict[str, tuple[Value | None, Value]]]  # by option and variable: what it holds, and what then
_KINDS = frozenset((Class, Function, Object, Partial))


def remember(otherwise: Otherwise, option: str, usual: Mapping[str, Value], other: Mapping[str, Value]) -> None:
    """Keep what `other`, the variables where an option is set, holds beside the `usual` ones."""
    for name, value in other.items():
        held = usual.get(name)
        if held is value or (held is not None and _KINDS.isdisjoint(map(type, value))) or held == value:
            continue
        known = otherwise.setdefault(option, {})
        before, found = known.get(name, (held, value))
        known[name] = held, found | value if before == held else value


def where_set(otherwise: Otherwise, option: str, variables: Mapping[str, Value]) -> dict[str, Value]:
    """The variables where an option is set: those that were not changed since, as they are then."""
    found = dict(variables)
    for name, (held, value) in otherwise.get(option, {}).items():
        if variables.get(name) == held:
            found[name] = value
    return found


def asked_otherwise(otherwise: Otherwise, node: f.Expression, variables: Mapping[str, Value], answer: Truth) -> Truth:
    """How a test of a variable comes out, of its truth or whether it is None, where an option may give it another value
    than the one for which this is the `answer`.
    """
    of_none = isinstance(node, f.Compare) and node.operator in ("is", "is not") and node.right == f.Literal(None)
    asked = node.left if isinstance(node, f.Compare) and of_none else node
    if answer.may_hold is answer.may_fail or not isinstance(asked, (f.Local, f.Global)):
        return answer
    for option, known in otherwise.items():
        if asked.name in known and known[asked.name][0] == variables.get(asked.name):
            other = is_none(known[asked.name][1]) if of_none else truth(known[asked.name][1])
            found = ~other if isinstance(node, f.Compare) and node.operator == "is not" else other
            if answer.may_fail if found.may_hold else answer.may_hold:
                return Truth(True, True, answer.may_hold, option)
    return answer
