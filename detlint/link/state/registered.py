"""The project's functions and classes whose effect on generators the settings state."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from detlint.facts.facts import DefineClass, Facts, Literal, Parameter
from detlint.finding import Place
from detlint.link.state.records import Name
from detlint.link.state.values import Class, Function, Library, Suspended, Value, Wrapped, single
from detlint.programs.events import beside_generators
from detlint.registered import defined

if TYPE_CHECKING:
    from detlint.link.language.calls import Caller
    from detlint.link.state.program import Program
else:
    Caller = Program = Any


def registered(facts: Mapping[str, Facts], names: Collection[str]) -> dict[Name, str]:
    """Return what the project defines under these names, by path and qualified name."""
    if not names:
        return {}
    files = {path: (each.module, _names(each)) for path, each in facts.items()}
    return {(path, f"{files[path][0]}.{own}"): name for (path, own), name in defined(files, names).items()}


def _names(facts: Facts) -> list[str]:
    classes = (statement.qualified for statement in facts.top if isinstance(statement, DefineClass))
    return [name.removeprefix(f"{facts.module}.") for name in (*facts.functions, *classes)]


def seed_is_given(program: Program, name: str, parameter: str, placed: int) -> bool:
    """Return whether a call may give the seed, either among its `placed` first positional arguments or by default."""
    own = [key for key, known in program.registered.items() if known == name]
    if not own:
        return bool(placed)
    heads = [_parameters(program, *key) for key in own]
    return any(each is None or _has(each, parameter, placed) for each in heads)


def _parameters(program: Program, path: str, qualified: str) -> list[Parameter] | None:
    """Return the parameters of a project function or class without the bound first one, or None if not known."""
    functions = program.facts[path].functions
    name = next((each for each in (qualified, f"{qualified}.__init__") if each in functions), None)
    if name is None:
        return None
    bound = program.head(path, name).kind in ("method", "class")
    return [*functions[name].parameters][int(bound) :]


def _has(parameters: Sequence[Parameter], parameter: str, placed: int) -> bool:
    index = next((index for index, each in enumerate(parameters) if each.name == parameter), None)
    if index is None:
        return False
    own = parameters[index]
    return (index < placed and not own.keyword_only) or (own.has_default and own.default != Literal(None))


def call(
    run: Caller,
    name: str,
    atom: Function | Class,
    positional: Sequence[Value],
    keywords: dict[str, Value],
    place: Place,
) -> Value:
    """Call something registered: its row says what happens to generators, and running it says what else happens."""
    start, before, run.trace = run.state, run.trace, []
    value = _run_through(run, run.follow(atom, positional, keywords, place))
    inner, run.trace = run.trace, before
    run.trace += beside_generators(inner)
    assert start is not None
    run.state = (run.state or start).with_generators_of(start)
    if name.endswith(".__iter__"):
        run.ask("iterating", run.iterating)
        place = run.iterating or place
    given = _named(run, atom, positional, keywords)
    if name in run.program.catalogue.names("libraries", "draw"):
        run.draw_by_library(Library(name), *given, place)
    else:
        run.call_library(Library(name), *given, place)
    return value


def _run_through(run: Caller, value: Value) -> Value:
    """Return what a function returned; iterate over a suspended generator now, so that its body runs no later."""
    suspended = frozenset(atom for atom in value if isinstance(atom, Suspended))
    return (value - suspended) | single(Wrapped(run.iterate(suspended), frozenset())) if suspended else value


def _named(
    run: Caller, atom: Function | Class, positional: Sequence[Value], keywords: dict[str, Value]
) -> tuple[Sequence[Value], dict[str, Value]]:
    """Return the arguments by parameter name, with defaults, as far as the project defines the parameters."""
    function = atom if isinstance(atom, Function) else _constructor(run, atom)
    if function is None:
        return positional, keywords
    variables = run.parameters(function, positional, keywords)
    parameters = [parameter for parameter in run.program.function(function).parameters if not parameter.star]
    taken = parameters[1:] if function.receiver is not None else parameters
    return (), {parameter.name: variables[parameter.name] for parameter in taken}


def _constructor(run: Caller, klass: Class) -> Function | None:
    found = run.program.objects.attribute(klass, "__init__") or ()
    function = next((each for each in found if isinstance(each, Function)), None)
    return None if function is None else replace(function, receiver=klass)
