"""Comparisons: how they come out for what their operands may be."""

from __future__ import annotations

from detlint import facts as f
from detlint.link.run import Run
from detlint.link.values import (
    EITHER,
    Atom,
    Constant,
    Keywords,
    Library,
    Object,
    Truth,
    Tuple,
    Value,
    among,
    compared,
    each,
    equals,
    is_none,
    join,
    only,
)

_ENVIRONMENT = frozenset((Library("os.environ"),))
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Comparisons(Run):
    """Compares values."""

    def value(self, node: f.Expression) -> Value:
        """What an expression may be."""
        raise NotImplementedError

    def comparison(self, node: f.Compare) -> Truth:
        """How a comparison comes out."""
        left, right, operator = self.value(node.left), self.value(node.right), node.operator
        if operator == "isinstance":
            return Truth(True, not self.all_of(left, right))
        if operator in ("in", "not in"):
            answer = self.membership(left, right)
            return answer if operator == "in" else ~answer
        if isinstance(node.left, f.Literal):
            left, right, operator = right, left, _FLIPPED.get(operator, operator)
        other = only(right)
        if not isinstance(other, Constant):
            return EITHER
        if operator in ("is", "=="):
            return is_none(left) if other.value is None else equals(left, other.value)
        if operator in ("is not", "!="):
            return ~(is_none(left) if other.value is None else equals(left, other.value))
        return compared(left, operator, other.value) if isinstance(other.value, (int, float)) else EITHER

    def membership(self, value: Value, container: Value) -> Truth:
        """Whether a value is in a container, as far as the keys or items of that are constants."""
        if container == _ENVIRONMENT:
            name = next((str(atom.value) for atom in each(value) if isinstance(atom, Constant)), "os.environ")
            return Truth(True, True, False, name)  # a variable that nobody has set
        owner = only(container)
        if isinstance(owner, Keywords):
            names = {name for name, _ in owner.items}
            return EITHER if "**" in names else among(value, names)
        if isinstance(owner, Tuple):
            items = [only(item) for item in owner.items]
        elif isinstance(owner, Object) and isinstance(owner.kind, Library) and self.is_container(owner):
            slots = self.program.objects.slots(owner)
            if owner.kind.name == "builtins.dict":
                return Truth(False, True) if "[]" not in slots and _is_none_of(value, slots) else EITHER
            items = [only(item) for item in slots.values()]
        else:
            return EITHER
        constants = {item.value for item in items if isinstance(item, Constant)}
        return among(value, constants) if len(constants) == len(items) else EITHER

    def is_container(self, atom: Atom) -> bool:
        """Whether an atom is a list, set or dict."""
        return isinstance(atom, Object) and isinstance(atom.kind, Library) and atom.kind.name.startswith("builtins.")

    def all_of(self, value: Value, classes: Value) -> bool:
        """Whether all that a value may be is of one of the classes."""
        if not all(isinstance(atom, Object) for atom in value):
            return False
        kinds = {kind for atom in classes for kind in (join(atom.items) if isinstance(atom, Tuple) else (atom,))}
        ancestries = (self.program.objects.ancestry(atom.kind) for atom in value if isinstance(atom, Object))
        return all(not kinds.isdisjoint(ancestry) for ancestry in ancestries)


def _is_none_of(value: Value, slots: dict[str, Value]) -> bool:
    """Whether a value is surely none of the keys that slots are named after."""
    return all(isinstance(atom, Constant) and f"[{atom.value!r}]" not in slots for atom in value)
