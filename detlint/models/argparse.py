"""argparse: options of a command line, which are their defaults unless the user sets them."""

from __future__ import annotations

from detlint.domain.atoms import FALSE, NONE, NOT_NONE, TRUE, Choice, Constant, Instance, Option
from detlint.domain.given import Given
from detlint.domain.library import Class, Library
from detlint.domain.slots import Argument, Attribute
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, UNKNOWN, Value, constants, value_of

NAMESPACE = "argparse.Namespace"
_FLAGS = {"store_true": (FALSE, TRUE), "store_false": (TRUE, FALSE)}


def add(step: Step, owner: Value, given: Given) -> Value:
    """An option of the parser, under the name that its namespace has it by."""
    names = [constants(step.resolve(each)) for each in given.positional]
    texts = [each[0].value for each in names if each and len(each) == 1]
    dest = constants(step.resolve(given.keywords["dest"])) if "dest" in given.keywords else None
    name = dest[0].value if dest else next((x for x in texts if x.startswith("--")), texts[0] if texts else "")
    if not name:
        return UNKNOWN
    option = Option(name, step.code)
    slot = Attribute(name.lstrip("-").replace("-", "_"))
    for atom in step.each(owner):
        if isinstance(atom, Instance):
            step.fill(atom, slot, option_value(step, option, given, positional=not name.startswith("-") and not dest))
    return UNKNOWN


def option_value(step: Step, option: Option, given: Given, positional: bool) -> Value:
    """The default, or what the user says."""
    action = constants(given.keywords["action"]) if "action" in given.keywords else None
    flag = _FLAGS.get(action[0].value) if action and len(action) == 1 else None
    if flag is not None:
        default, other = value_of(flag[0]), value_of(flag[1])
    else:
        default, other = value_of(NONE), value_of(NOT_NONE)
    if "default" in given.keywords:
        default = step.resolve(given.keywords["default"])
    if positional or _is_true(given.keywords.get("required")):
        return value_of(NOT_NONE)
    return value_of(Choice(option, default, other)) if default.atoms else NOTHING


def _is_true(value: Value | None) -> bool:
    return value is not None and constants(value) == [Constant("True")]


def parse(step: Step, owner: Value, given: Given) -> Value:
    """A namespace of the options of the parser."""
    made = step.make(NAMESPACE)
    step.fill(made, Argument("parser"), owner)
    return value_of(made)


def group(step: Step, owner: Value, given: Given) -> Value:
    """A group adds its options to its parser."""
    return owner


def named(step: Step, made: Instance, given: Given) -> Value:
    """A namespace of the arguments that are given by keyword."""
    for name, value in given.keywords.items():
        step.hold(made, Attribute(name), value)
    if given.open:
        step.hold(made, Argument("**"), UNKNOWN)
    return value_of(made)


def option(step: Step, namespace: Instance, name: str) -> Value | None:
    """What the parsers of a namespace have under a name."""
    found = step.read(namespace, Argument("**"))
    for atom in step.each(step.read(namespace, Argument("parser"))):
        if isinstance(atom, Instance):
            found = step.join(found, step.read(atom, Attribute(name)))
    return found


LIBRARY = Library(
    "argparse",
    classes=(
        Class(
            "ArgumentParser",
            methods={
                "add_argument": add, "parse_args": parse, "add_argument_group": group,
                "add_mutually_exclusive_group": group,
            },
        ),
        Class("Namespace", made=named, attribute=option),
    ),
)  # fmt: skip
