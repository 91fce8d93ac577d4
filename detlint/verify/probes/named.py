"""How probes of rows with many names are made: each name is looked up in the package, and run once in a run."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Run, UnavailableError

if TYPE_CHECKING:
    from detlint.verify.bench import Bench


def named(bench: Bench, package: str, calls: Mapping[str, Callable[[Any], Any]]) -> Run:
    """Calls every name that this version of the package has, or that one alone which the code under test calls.

    `calls` has the names below the package, each with a function that is given what the name stands for and calls it.
    """
    return built(bench, package, {name: _repeated(call) for name, call in calls.items()})


def built(bench: Bench, package: str, makes: Mapping[str, Callable[[Any], Run]]) -> Run:
    """As `named`, where what a name stands for is given once, to a function that makes of it what is run."""
    bench.package(package)
    chosen = _chosen(bench.called, package, makes)
    runs = [makes[name](found) for path, name in chosen.items() if (found := _at(path)) is not None]
    if not runs:
        raise UnavailableError(f"not in this version: {', '.join(path.replace(':', '.') for path in chosen)}")
    return lambda: [run() for run in runs]


def calling(*given: Any, **options: Any) -> Callable[[Any], Any]:
    """What calls the function that it is given with these arguments."""
    return lambda function: function(*given, **options)


def weights(layer: Any) -> list[Any]:
    """The parameters and buffers of a layer, in the order of their names."""
    return [value.detach().clone() for _, value in sorted(layer.state_dict().items())]


def _repeated(call: Callable[[Any], Any]) -> Callable[[Any], Run]:
    return lambda function: lambda: call(function)


def _chosen(called: str, package: str, names: Mapping[str, Any]) -> dict[str, str]:
    """The names to be run, by the place to look for them: a name may be known to the code by another module."""
    exact = sorted((name for name in names if f"{called}.".startswith(f"{package}.{name}.")), key=len)[-1:]
    module, _, last = called.rpartition(".")
    alias = [name for name in names if name.rpartition(".")[2] == last]
    if alias and not exact:
        return {f"{module}:{last}": alias[0]}
    return {f"{package}:{name}": name for name in exact or names}


def _at(path: str) -> Any:
    try:
        return pkgutil.resolve_name(path)
    except (ImportError, AttributeError):
        return None
