"""Command lines that are made of functions and classes, as those of click, typer, tyro, fire and absl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import (
    NONE,
    AllocationSite,
    ClassRef,
    Constant,
    FunctionRef,
    Instance,
    LibraryRef,
    PartialCall,
    TupleOf,
)
from detlint.domain.given import Given
from detlint.domain.library import Class, Library
from detlint.domain.outcomes import truth
from detlint.domain.slots import ANY_KEY, ITEMS, Argument, Attribute
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, value_of
from detlint.models.argparse import objects, option_of, text
from detlint.models.arguments import Arguments
from detlint.models.holders import FIRST

if TYPE_CHECKING:
    from detlint.models.known import Known

FLAGS = Instance(AllocationSite(LibraryRef("absl.flags.FLAGS"), None))
"""The options of absl, one object in a program."""
CONSTANTS = {"absl.flags.FLAGS": value_of(FLAGS)}
_OPTION = "click.option()"  # what a call of it gives
_GROUPING = "click.group()"
_VALUE = Attribute("value")
_OWNER = Argument("owner")
_BY_USER = Given(options=True)


def parameter(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A decorator that makes an option of a parameter of the function."""
    given = args.given
    names = [found for each in given.positional if (found := text(step, each))]
    long = next((each.partition("/")[0] for each in names if each.startswith("--")), "")
    own = next((each for each in names if not each.startswith("-")), long.lstrip("-").replace("-", "_"))
    required = "required" in given.keywords and not truth(step.resolve(given.keywords["required"])).may_fail
    default = value_of(NONE)
    if "is_flag" in given.keywords:
        default = value_of(Constant("False"))
    made = step.make(_OPTION)
    value = SOMETHING if required else option_of(step, long, given.keywords.get("default", default), SOMETHING)
    step.fill(made, Argument(own), value)
    step.fill(made, _VALUE, value_of(Constant("str", own)))
    return value_of(made)


def decorate(step: Step, option: Instance, given: Given) -> Value:
    """The function, which gets the option for its parameter."""
    names = [atom.value for atom in step.each(step.read(option, _VALUE)) if isinstance(atom, Constant)]
    found = [
        PartialCall(atom, option.site, 0, tuple(names)) if isinstance(atom, (FunctionRef, PartialCall)) else atom
        for atom in step.each(given.first)
    ]
    return given.first.of(found)


def group(step: Step, given: Given) -> Value:
    """A decorator that makes a group of commands of a function."""
    return value_of(step.make(_GROUPING))


def subgroup(step: Step, owner: Value, given: Given) -> Value:
    """Such a decorator, which adds the group to another one."""
    made = step.make(_GROUPING)
    step.fill(made, _OWNER, owner)
    return value_of(made)


def grouped(step: Step, grouping: Instance, given: Given) -> Value:
    """A group of commands, which runs a function first."""
    made = Instance(AllocationSite(LibraryRef("click.Group"), grouping.site.code, grouping.site.context))
    step.fill(made, FIRST, given.first)
    for owner in objects(step, step.read(grouping, _OWNER)):
        step.fill(owner, ANY_KEY, value_of(made))
    return value_of(made)


def add_command(step: Step, owner: Value, given: Given) -> Value:
    """Add a command to a group."""
    for atom in objects(step, owner):
        step.fill(atom, ANY_KEY, given.first)
    return value_of(NONE)


def run_group(step: Step, owner: Value, given: Given) -> Value:
    """Run groups: what they run first, and perhaps one of their commands."""
    for atom in objects(step, owner):
        step.call(step.read(atom, FIRST))
        step.call(step.join(step.read(atom, ANY_KEY), UNKNOWN))
    return UNKNOWN


def default(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The default of a parameter that stands for an option."""
    value = args.given.value("default", 0)
    if value is None:
        return SOMETHING
    resolved = step.resolve(value)
    return SOMETHING if any(isinstance(a, Constant) and a.kind == "..." for a in resolved.atoms) else value


def instance(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """An object of the class that is given, or what the function gives, called with options; else what the file has."""
    if args.given.each:
        return run(step, args.first()) if args.given.positional else UNKNOWN
    step.run_command(NOTHING)
    return UNKNOWN


def option_class(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A class whose fields are options of a parser, under one name among the arguments."""
    slot = text(step, args.given.value("dest", 1))
    made = run(step, args.given.first)
    for atom in objects(step, step.owner):
        if slot:
            step.fill(atom, Attribute(slot), made)
    return UNKNOWN


def instances(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Objects of the classes that a parser was made with, in their order."""
    parser = step.receiver
    if not isinstance(parser, Instance):
        return UNKNOWN
    classes = NOTHING
    for each in ("dataclass_types", "0"):
        classes = step.join(classes, step.kept(parser, each))
    found = NOTHING
    for rows in step.rows(classes):
        listed = rows or (step.join(step.read(parser, ITEMS), _classes(step, classes)),)
        found = step.join(found, value_of(TupleOf(tuple(run(step, each) for each in listed))))
    return found if found.atoms else UNKNOWN


def _classes(step: Step, value: Value) -> Value:
    return value.of(atom for atom in step.each(value) if isinstance(atom, ClassRef))


def run(step: Step, called: Value) -> Value:
    """Call functions or make objects, whose parameters or fields with defaults are options."""
    found = NOTHING
    for atom in step.each(called):
        made = step.call_with(value_of(atom), _BY_USER)
        if isinstance(atom, ClassRef):
            for each in step.each(made):
                if isinstance(each, Instance) and each.site.kind == atom:
                    for name, value in step.fields(atom).items():
                        step.fill(each, Attribute(name), option_of(step, f"--{name}", value, SOMETHING))
        found = step.join(found, made)
    return found


def flag(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """An option of absl, which is one of all flags, and its holder."""
    own = text(step, args.given.value("name", 0))
    value = option_of(step, f"--{own}", args.given.value("default", 1) or UNKNOWN, SOMETHING)
    made = step.make(row.text("gives"))
    step.fill(made, _VALUE, value)
    if own:
        step.fill(FLAGS, Attribute(own), value)
    return value_of(made)


def _flag_value(step: Step, flags: Instance, name: str) -> Value | None:
    """What the flags have under a name that no text of the project spells."""
    return None if step.spells(name) else UNKNOWN


def held(step: Step, holder: Instance, name: str) -> Value | None:
    """What the holder of a flag has besides its value."""
    return None if name == "value" else UNKNOWN


def variable(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A variable of the environment, which the user sets or leaves out."""
    own = text(step, args.given.value("key", 0))
    return option_of(step, own or name, args.given.value("default", 1) or value_of(NONE), SOMETHING)


CLICK = Library(
    "click",
    {"group": group},
    (
        Class("option()", called=decorate),
        Class("group()", called=grouped),
        Class(
            "Group",
            called=lambda step, made, given: run_group(step, value_of(made), given),
            methods={"group": subgroup, "add_command": add_command, "main": run_group},
        ),
    ),
)
ABSL = Library("absl.flags", classes=(Class("FLAGS", attribute=_flag_value), Class("FlagHolder", attribute=held)))
