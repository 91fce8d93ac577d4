"""The kinds of role that the tables give functions of libraries: one function a kind, listed literally."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import Bound, ClassRef, FunctionRef, LibraryRef, PartialCall, TupleOf
from detlint.domain.effects import Mark, SetSwitch
from detlint.domain.outcomes import HOLDS, truth
from detlint.domain.step import Step
from detlint.domain.values import SOMETHING, UNKNOWN, Value, value_of
from detlint.models import (
    argparse,
    autograd,
    callables,
    classes,
    commands,
    configurations,
    documents,
    engines,
    fields,
    holders,
    hydra,
    importlib,
    loaders,
    mappings,
    processes,
    registries,
    seeds,
    switches,
    targets,
    texts,
    torch_nn,
    trainers,
)
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known, Role

_DECORATED = (FunctionRef, ClassRef, PartialCall, Bound)


def passes(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The argument."""
    return args.first(row.text("parameter"))


def prepares(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """All arguments, as a tuple if there are several, or those of `parameters`."""
    if row.list("parameters"):
        return value_of(TupleOf(tuple(args.of(each) or UNKNOWN for each in row.list("parameters"))))
    given = args.given.positional
    return value_of(TupleOf(given)) if len(given) > 1 else args.first()


def itself(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The receiver."""
    return step.owner if step.owner.atoms else UNKNOWN


def evaluates(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The layers of a model no longer train."""
    step.emit(SetSwitch("layers", "eval", step.code))
    return itself(known, step, row, name, args)


def trains(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The layers of a model train, or no longer where that is said."""

    def set_to(word: str) -> Value:
        step.emit(SetSwitch("layers", word, step.code))
        return SOMETHING

    given = args.given.each
    outcome = truth(step.resolve(given[0])) if given else HOLDS
    step.arm(outcome, lambda: set_to("train"), lambda: set_to("eval"))
    return itself(known, step, row, name, args)


def marks(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A step that says what the program is for."""
    autograd.mark(step, row.text("kind"))
    return itself(known, step, row, name, args)


def makes(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """An object of a library's class, with what it was given."""
    if row.text("marks"):
        step.emit(Mark(row.text("marks"), step.code))
    return known.made(step, row.text("gives"), args.given)


def decorates(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A decorator that leaves a function what it is, itself made by a call or not."""
    for each in args.given.positional:
        if any(isinstance(atom, _DECORATED) for atom in step.each(each)):
            return each
    return value_of(LibraryRef(name))


def compiles(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A decorator that compiles a function, itself made by a call or not."""
    made = decorates(known, step, row, name, args)
    fits = args.applies(row.list("when"), row.list("unless")) == HOLDS
    if made == value_of(LibraryRef(name)):
        return made if fits else UNKNOWN
    called = LibraryRef(row.text("calls"))
    return value_of(*(Bound(called, each) if isinstance(each, FunctionRef) else each for each in step.each(made)))


ROLES: Mapping[str, Role] = {
    "passes": passes, "prepares": prepares, "self": itself, "eval": evaluates, "train": trains, "trains": marks,
    "restores": marks, "evaluates": marks,
    "parser": argparse.parser, "subparser": argparse.subparser, "option": argparse.add,
    "option-class": commands.option_class, "defaults": argparse.defaults, "arguments": argparse.parse,
    "arguments-and-rest": argparse.parse_with_rest,
    "loader": loaders.made, "iterated:loader": loaders.passed_over, "dataset": loaders.held,
    "container": holders.container, "wraps": holders.wraps, "iterated:wraps": holders.gone_through,
    "iterated:dataset": loaders.gone_through, "makes": makes, "decorates": decorates, "compiles": compiles,
    "start-method": processes.start_method, "spawn-context": processes.context, "starts": processes.starts,
    "engine": engines.made, "attaches": engines.attaches, "attached": engines.attached, "engine-runs": engines.runs,
    "hooks": autograd.hooks, "backward-hooks": autograd.backward_hooks, "differentiable": autograd.differentiable,
    "forwards": autograd.forwards, "constructs": autograd.constructs,
    "submodule": torch_nn.added, "children": torch_nn.children,
    "acts": processes.acts, "leaves": processes.leaves, "left-with": processes.left_with, "enters": processes.enters,
    "field": fields.field, "named-tuple": classes.named_tuple, "replaced": classes.replaced,
    "type": classes.kind_of, "class-of-fields": classes.of_fields, "allocates": classes.allocated,
    "instantiates": classes.instantiated, "getattr": classes.got, "hasattr": classes.has, "setattr": classes.put,
    "subclasses": classes.derived,
    "imports": importlib.imported, "spec": importlib.spec, "loads": importlib.loaded, "names": importlib.evaluated,
    "opens-document": documents.opened, "loads-document": documents.loaded,
    "attributes": configurations.attributes, "filled": configurations.filled, "merges": configurations.united,
    "interpolated": configurations.interpolated, "method:opens": configurations.opened,
    "configs": hydra.store, "keeps-config": hydra.keeps,
    "initialises-configs": hydra.initialises, "configured": hydra.configured, "composes": hydra.composes,
    "located": targets.located, "targets": targets.targets, "makes-document": targets.made_of_document,
    "parameter": commands.parameter, "default": commands.default, "instance": commands.instance,
    "instances": commands.instances, "flag": commands.flag, "trainer-cli": trainers.command_line,
    "variable": commands.variable,
    **callables.ROLES, **mappings.ROLES, **registries.ROLES, **seeds.ROLES, **switches.ROLES, **texts.ROLES,
}  # fmt: skip
"""By kind; those of `method:` a kind say what a method of a name does, whatever its receiver; those of `iterated:` a
kind what going over an object does that has it."""
