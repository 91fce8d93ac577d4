"""argparse and its kin: options of a command line, which are their defaults unless the user sets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import (
    FALSE,
    NONE,
    NOT_NONE,
    TRUE,
    Atom,
    Choice,
    ClassRef,
    Constant,
    FunctionRef,
    Instance,
    LibraryRef,
    Option,
    TupleOf,
)  # fmt: skip
from detlint.domain.folding import folded
from detlint.domain.given import Given
from detlint.domain.library import Class, Library
from detlint.domain.outcomes import is_unset, truth
from detlint.domain.slots import ANY_KEY, Argument, Attribute
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, constants, value_of
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known

NAMESPACE = "argparse.Namespace"
_FLAGS = {"store_true": (FALSE, TRUE), "store_false": (TRUE, FALSE)}
_EITHER = "argparse.BooleanOptionalAction"
_READ = {"builtins.int": int, "builtins.float": float}
_PLAIN = (Constant, type(NOT_NONE), LibraryRef, ClassRef, FunctionRef, Choice)  # of which an option makes a choice
_ANY = Attribute("")  # of a name that is not known
_PARSER, _PARENTS, _WORDS = Argument("parser"), Argument("parents"), Argument("args")


def text(step: Step, value: Value | None) -> str:
    """The text that a value surely is; "" for any other."""
    found = constants(step.resolve(value)) if value is not None else None
    return found[0].value if found and len(found) == 1 and found[0].kind == "str" else ""


def option_of(step: Step, name: str, default: Value, other: Value) -> Value:
    """`default` unless the user sets the option of this name, then `other`; what may be changed is no choice.

    Nor is a default that differs from run to run: what happens where the user sets nothing is what counts.
    """
    option = Option(name, step.code)
    resolved = step.resolve(default)
    if any(taint.kind == "entropy" for taint in resolved.taints):
        return resolved
    plain = [atom for atom in step.each(resolved) if isinstance(atom, _PLAIN)]
    rest = resolved.of(atom for atom in resolved.atoms if not isinstance(atom, _PLAIN))
    return step.join(rest, value_of(Choice(option, resolved.of(plain), other))) if plain else rest


# Parsers


def parser(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A parser."""
    return begin(step, step.make(row.text("gives")), args.given)


def begin(step: Step, made: Instance, given: Given) -> Value:
    """A parser has the options of its `parents`."""
    if "parents" in given.keywords:
        step.fill(made, _PARENTS, step.iterate(given.keywords["parents"]))
    return value_of(made)


def subparser(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The parser of a command: its options are those of the parser that it is added to."""
    if "parents" in args.given.keywords:
        parents = step.iterate(args.given.keywords["parents"])
        for atom in objects(step, step.owner):
            step.fill(atom, _PARENTS, parents)
    return step.owner


def objects(step: Step, value: Value) -> list[Instance]:
    """The objects that a value may be."""
    return [atom for atom in step.each(value) if isinstance(atom, Instance)]


def add(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """An option of the parser, under the name that its namespace has it by."""
    given = args.given
    names = [found for each in given.positional if (found := text(step, each))]
    long = next((each for each in names if each.startswith("--")), names[0] if names else "")
    slot = text(step, given.keywords.get("dest")) or long.lstrip("-").replace("-", "_")
    for atom in objects(step, step.owner):
        if slot:
            step.fill(atom, Attribute(slot), _option(step, long, given))
        else:
            step.fill(atom, ANY_KEY, SOMETHING)
    return UNKNOWN


def _option(step: Step, name: str, given: Given) -> Value:
    """The default of an option, or what the user says."""
    named = given.keywords
    action, several = text(step, named.get("action")), text(step, named.get("nargs"))
    default, other = value_of(NONE), value_of(NOT_NONE)
    if action in _FLAGS:
        default, other = map(value_of, _FLAGS[action])
    elif LibraryRef(_EITHER) in step.resolve(named.get("action", NOTHING)).atoms:
        other = value_of(TRUE, FALSE)
    elif several == "?" or action.endswith("_const"):
        other = step.join(other, named.get("const", value_of(NONE)))
    required = not truth(step.resolve(named["required"])).may_fail if "required" in named else False
    if "nargs" not in named and (required or not name.startswith("-")):
        return value_of(NOT_NONE)
    if "default" in named:
        default = _converted(step, named["default"], named.get("type"))
    return option_of(step, name, default, other)


def _converted(step: Step, default: Value, kind: Value | None) -> Value:
    """A default that is a text, read as what is given would be."""
    resolved = step.resolve(default)
    names = [atom.name for atom in step.resolve(kind).atoms if isinstance(atom, LibraryRef)] if kind else []
    read = _READ.get(names[0]) if len(names) == 1 else None
    found = NOTHING
    for atom in step.each(resolved):
        is_text = read is not None and isinstance(atom, Constant) and atom.kind == "str"
        found = step.join(found, folded(read, [value_of(atom)]) if is_text else resolved.of([atom]))  # type: ignore[arg-type]
    return found.with_taints(resolved.taints, resolved.certain)


def defaults(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Defaults of options, or of what no option sets, from here on; those that a file has a user may set there."""
    said: dict[str, Value] = {}
    for each, value in args.given.keywords.items():
        resolved = step.resolve(value)
        own = all(isinstance(atom, Choice) for atom in resolved.atoms)
        said[each] = resolved if own else option_of(step, f"--{each}", resolved, value_of(NOT_NONE))
    newer: list[Atom] = []
    for atom in step.each(step.owner):
        newer.append(atom)
        if isinstance(atom, Instance):
            for each, value in said.items():
                step.fill(atom, Attribute(each), value)
            if args.given.open:
                step.fill(atom, _ANY, UNKNOWN)
            newer[-1] = step.version(atom, "defaults", said) if said else atom
    if said:
        step.become(step.resolve(step.owner).of(newer))
    return value_of(NONE)


def commands(step: Step, owner: Value, given: Given) -> Value:
    """What commands are added to: their options are the parser's, which has the command that is given, too."""
    slot = text(step, given.keywords.get("dest"))
    for atom in objects(step, owner):
        if slot:
            step.fill(atom, Attribute(slot), UNKNOWN)
    return owner


# Arguments


def parse(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A namespace of the options of the parser, with those that a command line gives which is written down."""
    made = step.make(NAMESPACE)
    given = args.given
    step.fill(made, _PARSER, step.owner)
    words = given.value("args", 0)
    if words is not None:
        step.fill(made, _WORDS, words)
    if "namespace" in given.keywords or len(given.positional) > 1:
        step.fill(made, ANY_KEY, UNKNOWN)
    return value_of(made)


def parse_with_rest(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Such a namespace, and the words that no option takes."""
    return value_of(TupleOf((parse(known, step, row, name, args), SOMETHING)))


def made(step: Step, namespace: Instance, given: Given) -> Value:
    """A namespace that is made of its arguments."""
    for name, value in given.keywords.items():
        step.fill(namespace, Attribute(name), value)
    if given.open:
        step.fill(namespace, ANY_KEY, UNKNOWN)
    return value_of(namespace)


def attribute(step: Step, namespace: Instance, name: str) -> Value | None:
    """What the parsers of a namespace have under a name; anything under one that no text of the project spells.

    One that is made without a parser has what it was given alone. What is written under a name that is not known, as
    the entries of a file are, is perhaps what is None by default: of others nobody says that the file has them.
    """
    parsers = step.read(namespace, _PARSER)
    found = _under(step, parsers, name, frozenset())
    if parsers.atoms and not step.spells(name):
        found = step.join(found, UNKNOWN)
    words = step.read(namespace, _WORDS)
    if words.atoms:
        found = _settled(step, found, words)
    if any(map(is_unset, found.atoms)):
        found = step.join(found, step.join(step.read(namespace, _ANY), _under(step, parsers, _ANY.name, frozenset())))
    return step.join(found, step.read(namespace, ANY_KEY))


def _under(step: Step, parsers: Value, name: str, seen: frozenset[Atom]) -> Value:
    """What parsers and their parents have under a name."""
    found = NOTHING
    for atom in step.each(parsers):
        if not isinstance(atom, Instance):
            found = step.join(found, UNKNOWN)
        elif atom not in seen:
            found = step.join(found, step.newest(atom, name))
            found = step.join(found, _under(step, step.read(atom, _PARENTS), name, seen | {atom}))
            if name and not step.spells(name):
                found = step.join(found, step.read(atom, ANY_KEY))
    return found


def _settled(step: Step, value: Value, words: Value) -> Value:
    """A value where a command line is written down: other options than those that it names are left as they are."""
    found = NOTHING
    for atom in step.each(words):
        names = _named(step, atom)
        if names is None:
            found = step.join(found, value)
            continue
        for each in step.each(value):
            chosen = isinstance(each, Choice) and each.option.name.startswith("-")
            if isinstance(each, Choice) and chosen:
                found = step.join(found, each.other if each.option.name in names else each.default)
            else:
                found = step.join(found, value.of([each]))
    return found


def _named(step: Step, words: Atom) -> frozenset[str] | None:
    """The options that a command line names; None where it is not known, or they may be short for others."""
    if isinstance(words, Constant):
        return frozenset() if words.value == "" and words.kind == "str" else None
    listed = step.listed(words)
    found = [text(step, each) for each in listed or ()]
    if listed is None or not all(found):
        return None
    names = [word.partition("=")[0] for word in found if word.startswith("-")]
    return frozenset(names) if all(name.startswith("--") for name in names) else None


LIBRARY = Library(
    "argparse",
    classes=(
        Class("ArgumentParser", made=begin, methods={"add_subparsers": commands}),
        Class("Namespace", made=made, attribute=attribute),
    ),
)
