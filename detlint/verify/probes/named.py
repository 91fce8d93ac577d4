"""Helpers for probes of rows with many names: each name is looked up in its package and called once per run."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Run, UnavailableError

if TYPE_CHECKING:
    from detlint.verify.bench import Bench


def named(bench: Bench, package: str, calls: Mapping[str, Callable[[Any], Any]]) -> Run:
    """Return a run that calls all names this package version has, or only the one that the code under test calls.

    `calls` maps each name below the package to a function that takes the object of that name and calls it.
    """
    return built(bench, package, {name: _repeated(call) for name, call in calls.items()})


def built(bench: Bench, package: str, makes: Mapping[str, Callable[[Any], Run]]) -> Run:
    """Return a run as `named` does, but pass the object of each name once to a function that returns its run."""
    bench.package(package)
    chosen = _chosen(bench.called, package, makes)
    runs = [makes[name](found) for path, name in chosen.items() if (found := _at(path)) is not None]
    if not runs:
        raise UnavailableError(f"not in this version: {', '.join(path.replace(':', '.') for path in chosen)}")
    return lambda: [run() for run in runs]


def calling(*given: Any, **options: Any) -> Callable[[Any], Any]:
    """Return a function that calls the function it is given with these arguments."""
    return lambda function: function(*given, **options)


def weights(layer: Any) -> list[Any]:
    """Return copies of the parameters and buffers of a layer, in the order of their names."""
    return [value.detach().clone() for _, value in sorted(layer.state_dict().items())]


def _repeated(call: Callable[[Any], Any]) -> Callable[[Any], Run]:
    return lambda function: lambda: call(function)


def _chosen(called: str, package: str, names: Mapping[str, Any]) -> dict[str, str]:
    """Return the names to run by the place to look each up: the code may know a name by another module."""
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
