"""Command lines made from functions and classes: their parameters with defaults are options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.finding import Place
from detlint.link.language.members import members
from detlint.link.state.values import (
    UNKNOWN,
    Class,
    Constant,
    Function,
    Object,
    Option,
    Partial,
    Value,
    each,
    join,
    single,
)

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any


def of_command_line(run: Run, value: Value) -> Value:
    """Return what a command line calls: functions and classes of the project with their options."""
    return frozenset(_with_options(run, atom) for atom in value)


def _with_options(run: Run, atom: Any) -> Any:
    function = atom
    if isinstance(atom, Class):
        found = run.program.objects.attribute(atom, "__init__") or frozenset()
        function = next((each for each in found if isinstance(each, Function)), None)
    if not isinstance(function, Function):
        return atom
    options = _options(run, function)
    return Partial(single(atom), (), tuple(sorted(options.items()))) if options else atom


def _options(run: Run, function: Function) -> dict[str, Value]:
    """Return the parameters of a function that have defaults, as options."""
    found: dict[str, Value] = {}
    facts = run.program.function(function)
    for parameter in facts.parameters:
        if parameter.has_default and not parameter.star:
            name = f"--{parameter.name.replace('_', '-')}"
            value = run.default(function, parameter, False)
            found[parameter.name] = frozenset(
                Option(name, atom.value, facts.place) if isinstance(atom, Constant) else atom for atom in value
            )
    return found


def run_command(run: Run, component: Value, place: Place) -> Value:
    """Run what a command line selects: a function, one in a dict or list, or a method of an object or class."""
    inner = [run.held(atom) if run.is_container(atom) else single(atom) for atom in each(component)]
    made = run.call_value(of_command_line(run, join(inner)), [], {}, place)
    for atom in each(made):
        if isinstance(atom, Object) and isinstance(atom.kind, Class) and run.state is not None:
            run.call_value(of_command_line(run, members(run, atom)), [], {}, place)
    return UNKNOWN
