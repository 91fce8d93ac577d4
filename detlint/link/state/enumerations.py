"""Enumerations: their members are constants with a name, a value and the methods of their class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from detlint.facts import facts as f
from detlint.link.state.objects import ClassInfo
from detlint.link.state.values import (
    SOME,
    UNKNOWN,
    Atom,
    Class,
    Constant,
    Function,
    Library,
    Option,
    Tuple,
    Value,
    constant,
    each,
    exact,
    join,
    only,
    settled,
    single,
)

if TYPE_CHECKING:
    from detlint.link.language.statements import Statements as Run
else:
    Run = Any

_MOST = 16  # members that an unknown value may stand for
_VALUE, _NAME = ("value", "_value_"), ("name", "_name_")


@dataclass(frozen=True)
class Member:
    """A member of an enumeration."""

    klass: Class
    name: str
    value: Value

    def __repr__(self) -> str:
        return f"<{self.klass.path}:{self.klass.qualified}.{self.name}>"


class Word(str):
    """A member of an enumeration of texts, which is a text itself."""

    __slots__ = ("member",)
    member: Member


def member_of(atom: object) -> Member | None:
    """Return the member of an enumeration that an atom is, or is by default; None if it is no member."""
    held = settled(atom) if isinstance(atom, (Constant, Option)) else None
    return held.member if isinstance(held, Word) else held if isinstance(held, Member) else None


def enumerate_members(run: Run, klass: Class, node: f.DefineClass, info: ClassInfo) -> None:
    """Turn the attributes of a class into members, if it is an enumeration."""
    objects = run.program.objects
    kinds = {name for base in info.bases for atom in each(base) for name in _libraries(run, atom)}
    enumerations = run.program.catalogue.names("program", "class", kind="enumeration")
    texts = run.program.catalogue.names("program", "class", kind="text-enumeration")
    if enumerations.isdisjoint(kinds) and texts.isdisjoint(kinds):
        return
    found, seen = dict(info.attributes), dict[Value, Value]()
    for name in _assigned(node):
        value = info.attributes.get(name, UNKNOWN)
        if name.startswith("_") or any(isinstance(a, Function) or _is_function(a) for a in value):
            continue
        made, text = Member(klass, name, value), exact(value)
        if "builtins.str" in kinds or not texts.isdisjoint(kinds):
            if not isinstance(text, str):
                continue
            found[name] = single(Constant(_word(made, text)))
        elif "builtins.int" not in kinds:
            found[name] = single(Constant(made)) if value & (SOME | UNKNOWN) else seen.setdefault(value, _one(made))
    if found != info.attributes:
        members = tuple(name for name in found if found[name] != info.attributes[name])
        objects.define(klass, replace(info, attributes=found, members=members))
        _initialise(run, klass, objects.attribute(klass, "__init__") or frozenset())


def _one(member: Member) -> Value:
    return single(Constant(member))


def _word(member: Member, text: str) -> Word:
    made = Word(text)
    made.member = member
    return made


def _libraries(run: Run, atom: object) -> list[str]:
    return run.program.objects.library_bases(atom) if isinstance(atom, (Class, Library)) else []


def _is_function(atom: object) -> bool:
    """Return whether an atom may be a function of a library, which is no member if it is written in Python."""
    return isinstance(atom, Library) and not atom.name.rpartition(".")[2][:1].isupper()


def _assigned(node: f.DefineClass) -> Iterable[str]:
    """Return the names that the body of a class assigns, in order."""
    found = (each for each in f.walk(node.body) if isinstance(each, f.Bind))
    return [target.name for bind in found for target in bind.targets if isinstance(target, (f.Local, f.Global))]


def members(run: Any, klass: Class) -> list[Value]:
    """Return the members of a class, in order."""
    info = run.program.objects.classes.get(klass)
    return [] if info is None else [info.attributes[name] for name in info.members]


def _initialise(run: Run, klass: Class, found: Value) -> None:
    """Call the constructor of an enumeration for its members."""
    constructors = [atom for atom in each(found) if isinstance(atom, Function)]
    for value in members(run, klass):
        itself, made = only(value), member_of(only(value))
        if not isinstance(itself, Constant) or made is None:
            continue
        whole = only(made.value)
        given = whole.items if isinstance(whole, Tuple) else (made.value,)
        for constructor in constructors:
            if run.state is not None:
                method = replace(constructor, receiver=cast(Any, itself))
                run.invoke(method, given, {}, run.program.function(method).place)


def looked_up(run: Any, klass: Class, value: Value) -> Value | None:
    """Return `klass(value)`, the member with a value: any if that is unknown, None if the class is no enumeration."""
    known = members(run, klass)
    if not known:
        return None
    found = [_of_value(known, atom) for atom in each(value)]
    return join([one if one is not None else _any(known) for one in found])


def _any(known: list[Value]) -> Value:
    return join([*known, UNKNOWN]) if len(known) < _MOST else UNKNOWN


def _of_value(known: list[Value], atom: Atom) -> Value | None:
    if member_of(atom) is not None:
        return single(atom)
    if not isinstance(atom, (Constant, Option)):
        return None
    asked = constant(settled(atom))
    of_it = (value for value in known if (made := member_of(only(value))) is not None and made.value == asked)
    found = next(of_it, None)
    return None if found is None else instead(atom, found)


def instead(atom: object, found: Value) -> Value:
    """Return a member; if it was looked up by the default of an option, that option with the member as its default."""
    inner = only(found)
    if isinstance(atom, Option) and isinstance(inner, Constant):
        return single(replace(atom, default=inner.value))
    return found


def attribute(run: Any, atom: Constant | Option, member: Member, name: str) -> Value | None:
    """Return an attribute of a member: its value or name, what its constructor set, or what its class has."""
    objects = run.program.objects
    if name in _VALUE:
        inner = exact(member.value)
        return member.value if inner is None or isinstance(atom, Constant) else instead(atom, constant(inner))
    if name in _NAME:
        return instead(atom, constant(member.name))
    if name == "__class__":
        return single(member.klass)
    itself = atom if isinstance(atom, Constant) else Constant(settled(atom))
    found = objects.stored(itself, name)
    if found is None:
        found = objects.attribute(member.klass, name)
        found = None if found is None else join([_bound(run, one, itself, member.klass) for one in each(found)])
    return found if found is None or any(not isinstance(a, Library) for a in found) else None


def _bound(run: Any, atom: Any, itself: Constant, klass: Class) -> Value:
    """Return an attribute of the class, bound to a member."""
    if not isinstance(atom, Function) or atom.receiver is not None:
        return single(atom)
    kind = run.program.head(atom.path, atom.qualified).kind
    method = replace(atom, receiver=cast(Any, klass if kind == "class" else itself))
    if kind == "property":
        found: Value = run.invoke(method, (), {}, run.program.function(atom).place)
        return found
    return single(atom if kind == "static" else method)
