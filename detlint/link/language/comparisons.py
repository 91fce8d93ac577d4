"""Comparisons: their outcomes for abstract operands."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, cast

from detlint.documents.documents import SUFFIXES
from detlint.facts import facts as f
from detlint.link.language.protocols import compared as compared_by
from detlint.link.language.protocols import has_own
from detlint.link.state import releases
from detlint.link.state.enumerations import member_of
from detlint.link.state.mappings import key
from detlint.link.state.run import Run
from detlint.link.state.tables import Tables
from detlint.link.state.truth import EITHER, Truth, among, compared, equals, is_none, judged, within
from detlint.link.state.values import (
    UNKNOWN,
    Atom,
    Class,
    Constant,
    Keywords,
    Library,
    Object,
    Option,
    Tuple,
    Value,
    Wrapped,
    each,
    join,
    only,
    settled,
    single,
)

_ENVIRONMENT = single(Library("os.environ"))


class Comparisons(Run):
    """The part of the interpreter that compares values."""

    tables: Tables

    def value(self, node: f.Expression) -> Value:
        """Evaluate an expression; return its abstract value."""
        raise NotImplementedError

    def comparison(self, node: f.Compare) -> Truth:
        """Return the outcome of a comparison."""
        left, right, operator = self.value(node.left), self.value(node.right), node.operator
        if operator in f.KINSHIP:
            return self.instance(left, right) if operator == "isinstance" else self.subclass(left, right)
        if has_own((left, right)) and (told := compared_by(cast(Any, self), operator, (left, right))) is not None:
            return told
        if operator in ("in", "not in"):
            answer = self.membership(left, right)
            return answer if operator == "in" else ~answer
        if (told := releases.compared(left, operator, right, self.tables.torch)) is not None:
            return told
        left, right = self.tested(node.left, left), self.tested(node.right, right)
        if isinstance(node.left, f.Literal) or (isinstance(only(left), Constant) and isinstance(only(right), Option)):
            left, right, operator = right, left, releases.FLIPPED.get(operator, operator)
        other = only(right)
        if not isinstance(other, Constant):
            return EITHER
        if operator in ("is", "=="):
            return is_none(left) if other.value is None else equals(self.opened(left), other.value)
        if operator in ("is not", "!="):
            return ~(is_none(left) if other.value is None else equals(self.opened(left), other.value))
        return compared(left, operator, other.value) if isinstance(other.value, (int, float)) else EITHER

    def tested(self, node: f.Expression, known: Value | None = None) -> Value:
        """Return the value of an operand of a test; what is read there from something of a library may be anything."""
        value = self.value(node) if known is None else known
        if not isinstance(node, f.Member) or not isinstance(node.value, (f.Global, f.Local, f.Member)):
            return value
        parts = {a for a in value if isinstance(a, Library) and a.receiver is None and a.name.endswith(f".{node.name}")}
        if not parts:
            return value
        owners = {atom.name for atom in self.value(node.value) if isinstance(atom, Library)}
        read = {atom for atom in parts if atom.name.rpartition(".")[0] in owners}
        return value - read | UNKNOWN if read else value

    def opened(self, value: Value) -> Value:
        """Return a value to compare with a constant; attributes of library objects and the machine become unknown."""
        kept = frozenset(a for a in value if not (isinstance(a, Library) and (a.receiver or self._is_of(a, "machine"))))
        return value if len(kept) == len(value) else kept | UNKNOWN

    def membership(self, value: Value, container: Value) -> Truth:
        """Return whether a value is in a container, as far as the container's keys or items are constants."""
        if container == _ENVIRONMENT:
            name = next((str(atom.value) for atom in each(value) if isinstance(atom, Constant)), "os.environ")
            return Truth(True, True, False, name)  # a variable that is not set
        owner = only(container)
        if isinstance(owner, (Constant, Option)) and isinstance(text := settled(owner), str):
            return within(value, text, owner.name if isinstance(owner, Option) else "")
        if isinstance(owner, Keywords):
            names = {name for name, _ in owner.items}
            return EITHER if "**" in names else among(value, names)
        if isinstance(owner, Tuple):
            items = [only(item) for item in owner.items]
        elif isinstance(owner, Object) and isinstance(owner.kind, Library) and self.is_container(owner):
            slots = self.program.objects.slots(owner)
            if owner.kind.name == "builtins.dict":
                return _among_keys(value, slots)
            items = [only(item) for item in slots.values()]
        else:
            return EITHER
        constants = {item.value for item in items if isinstance(item, Constant)}
        return among(value, constants) if len(constants) == len(items) else EITHER

    def is_sequence(self, atom: Atom) -> bool:
        """Return whether a slice of an atom holds the same items as the atom."""
        if isinstance(atom, Wrapped) or self.is_container(atom):
            return True
        kind = atom.kind if isinstance(atom, Object) else None
        modules = self.program.catalogue.names("program", "role", kind="container")
        return isinstance(kind, Library) and kind.name in modules

    def instance(self, value: Value, classes: Value) -> Truth:
        """Return whether a value is an instance of a class, or of any class in a tuple."""
        kinds = _kinds(classes)
        if any(member_of(atom) is not None for atom in value):
            value = frozenset(
                atom if (made := member_of(atom)) is None else Object(made.klass, made.klass.path, 0) for atom in value
            )
        if all(isinstance(atom, (Constant, Option)) for atom in value):
            types = tuple(each for kind in kinds if (each := _type_of(kind)) is not None)
            if len(types) == len(kinds):
                return judged(value, lambda held: isinstance(held, types), None, None)
        if not all(isinstance(atom, Object) for atom in value):
            return EITHER
        told = all(map(self.tells, kinds))
        objects = [atom for atom in value if isinstance(atom, Object)]
        return _either([self.derives(atom.kind, kinds, told and atom.order != -1) for atom in objects])

    def subclass(self, value: Value, classes: Value) -> Truth:
        """Return whether a class is or derives from another class, or any class in a tuple."""
        kinds = _kinds(classes)
        if not all(isinstance(atom, (Class, Library)) for atom in value):
            return EITHER
        told = all(map(self.tells, kinds))
        return _either([self.derives(atom, kinds, told) for atom in value if isinstance(atom, (Class, Library))])

    def derives(self, kind: Class | Library, kinds: set[Atom], told: bool) -> bool | None:
        """Return whether a class is one of some classes or derives from one of them; None if unknown.

        `told` says that it is just this class, and that only these classes and classes derived from them count as them.
        """
        order = self.program.objects.ancestry(kind)
        if not kinds.isdisjoint(order):
            return True
        if isinstance(kind, Library) and all(self.are_apart(kind, each) for each in kinds):
            return False
        if not (told and isinstance(kind, Class)):
            return None
        if all(isinstance(kind, Class) for kind in kinds):  # no class of a library derives from these
            return False if self.program.objects.is_known(order) else None
        rest = [base for base in order if not self.is_root(base, kinds)]
        return False if self.program.objects.is_whole(rest) else None

    def is_root(self, base: Atom, kinds: set[Atom]) -> bool:
        """Return whether a library's class has no bases, so that a class derived from it alone is none of `kinds`.

        A wrapper of a module counts as that module itself, which is then an instance of both.
        """
        names = self.program.catalogue.names
        if not isinstance(base, Library) or base.name not in names("program", "class", kind="root"):
            return False
        beside, wrapping = base.name.rpartition(".")[0], names("program", "role", kind="passes")
        libraries = [kind.name for kind in kinds if isinstance(kind, Library)]
        return all(name.rpartition(".")[0] == beside and name not in wrapping for name in libraries)

    def are_apart(self, kind: Library, other: Atom) -> bool:
        """Return whether an object made from a library's class is certainly no instance of another class."""
        packages = self.program.catalogue.names("program", "class", "packages", kind="apart")
        names = (kind.name, other.name if isinstance(other, Library) else "")
        mine, others = (next((p for p in packages if name.startswith(f"{p}.")), None) for name in names)
        return mine is not None and others is not None and mine != others

    def tells(self, kind: Atom) -> bool:
        """Return whether only objects of a class and its derived classes are its instances, judging by its name."""
        if isinstance(kind, Class):
            order = self.program.objects.ancestry(kind)
            return self.program.objects.is_known(order) and Library("typing.Protocol") not in order
        return isinstance(kind, Library) and self._is_of(kind, "own")

    def _is_of(self, atom: Library, kind: str) -> bool:
        """Return whether something of a library belongs to the packages that the tables list under a kind."""
        return atom.name.partition(".")[0] in self.program.catalogue.names("program", "class", "packages", kind=kind)


def _kinds(classes: Value) -> set[Atom]:
    """Return the classes of a test, which may be given as a tuple."""
    return {kind for atom in classes for kind in (join(atom.items) if isinstance(atom, Tuple) else (atom,))}


def _either(answers: Sequence[bool | None]) -> Truth:
    """Return the outcome of a test that has these answers for the possible operands."""
    return Truth(any(answer is not False for answer in answers), any(answer is not True for answer in answers))


def _among_keys(value: Value, slots: dict[str, Value]) -> Truth:
    """Return whether a value is a key of a dict; a key that is written down may be removed, or not be set yet."""
    if not slots:
        return Truth(False, True)
    if "[]" in slots:
        return EITHER
    keys = {key(slot) for slot in slots if slot.startswith("[")}
    if not any(isinstance(atom, Constant) and atom.value in keys for atom in value):
        return among(value, keys)
    name = only(value)
    held = only(slots.get(f"[{name.value!r}]", UNKNOWN)) if isinstance(name, Constant) else None
    if isinstance(held, Option) and held.name.endswith(SUFFIXES):  # of a file, which the user may edit
        return Truth(True, True, True, held.name)
    return EITHER


class _Foreign:
    """A stand-in for a class that has no constant of a program as an instance."""


def _type_of(kind: Atom) -> type | None:
    """Return the class that an atom is, `_Foreign` if no constant is an instance of it; None if unknown."""
    if isinstance(kind, Class):
        return _Foreign
    root, _, name = kind.name.partition(".") if isinstance(kind, Library) else ("", "", "")
    if root in ("torch", "numpy"):
        return _Foreign
    found = getattr(builtins, name, None) if root == "builtins" else None
    return found if isinstance(found, type) else None
