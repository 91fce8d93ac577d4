"""Draws and seeds of Python's and numpy's generators, and the order of listed folders, reported to the session."""

from __future__ import annotations

import functools
import glob
import os
import random
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from detlint.bisect.lines import caller
from detlint.bisect.recorded import digests, session
from detlint.bisect.recorded.patching import replace

_PYTHON = (
    "random uniform triangular randint choice randrange sample shuffle choices normalvariate lognormvariate "
    "expovariate vonmisesvariate gammavariate gauss betavariate paretovariate weibullvariate getrandbits "
    "randbytes binomialvariate"
).split()
_NUMPY = (
    "beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric laplace "
    "logistic lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare "
    "noncentral_f normal "
    "pareto permutation poisson power rand randint randn random random_integers random_sample ranf rayleigh sample "
    "shuffle standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular uniform "
    "vonmises wald weibull zipf"
).split()
_listing = threading.local()


def install_python() -> None:
    """Watch Python's generators and the listing of folders."""
    for name in _PYTHON:
        replace(random, name, functools.partial(_drawing, "python", name))
    for name in ("seed", "setstate"):
        replace(random, name, functools.partial(_seeding, "python", f"random.{name}", digests.python_state))
    replace(random.Random, "__init__", _private_python)
    for owner, name in ((os, "listdir"), (glob, "glob"), (glob, "iglob"), (Path, "iterdir"), (Path, "glob")):
        replace(owner, name, functools.partial(_listed, owner, name))
    replace(Path, "rglob", functools.partial(_listed, Path, "rglob"))
    replace(os, "scandir", _scanned)
    replace(os, "walk", _walked)


def install_numpy() -> None:
    """Watch the generators of numpy, which must have been imported."""
    import numpy

    for name in _NUMPY:
        replace(numpy.random, name, functools.partial(_drawing, "numpy", name))
    for name in ("seed", "set_state"):
        replace(numpy.random, name, functools.partial(_seeding, "numpy", f"numpy.random.{name}", digests.numpy_state))
    replace(numpy.random, "default_rng", _private_numpy)


def _drawing(which: str, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def draw(*args: Any, **kwargs: Any) -> Any:
        value = original(*args, **kwargs)
        held = session.active()
        if held is not None:
            held.drawn(which, name, caller(), args[0] if name == "shuffle" and args else value)
        return value

    return draw


def _seeding(which: str, function: str, state: Callable[[], str], original: Callable[..., Any]) -> Callable[..., Any]:
    def seed(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        held = session.active()
        if held is not None and not held.lines.is_aside(caller()):
            given = [*args, *kwargs.values()]
            text = repr(given[0])[:60] if given and function.endswith("seed") else ""
            held.event("seed", which, caller(), (state(),), function=function, value=text)
        return result

    return seed


def _private_python(original: Callable[..., None]) -> Callable[..., None]:
    def __init__(self: random.Random, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        original(self, *args, **kwargs)
        held = session.active()
        frame = caller()
        if held is not None and type(self) is random.Random and held.lines.is_user(frame):
            seeded = any(one is not None for one in (*args, *kwargs.values()))
            state = digests.of_bytes(repr(self.getstate()).encode())
            held.event("generator", "random.Random", frame, (state,), seeded=seeded)

    return __init__


def _private_numpy(original: Callable[..., Any]) -> Callable[..., Any]:
    def default_rng(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        held = session.active()
        frame = caller()
        if held is not None and not held.lines.is_import(frame):
            seeded = any(one is not None for one in (*args, *kwargs.values()))
            state = digests.bit_generator(made.bit_generator.state)
            held.event("generator", "numpy.random.default_rng", frame, (state,), seeded=seeded)
        return made

    return default_rng


def _outermost(frame: Any) -> session.Session | None:
    """Return the session if a listing is the program's own, not made by another listing or a library; or None."""
    held = session.active()
    if held is None or getattr(_listing, "busy", False) or held.lines.is_aside(frame) or held.lines.is_import(frame):
        return None
    return held if held.lines.key(frame) else None  # a test runner lists folders before any of the user's code runs


def _told(held: session.Session, what: str, path: Any, frame: Any, found: list[Any]) -> list[Any]:
    """Report the entries of a folder to the session; return them in the order that is asked for."""
    names = [os.fsdecode(getattr(one, "path", one)) for one in found]
    order = sorted(range(len(found)), key=names.__getitem__)
    if held.options.listing:
        found = [found[i] for i in (order if held.options.listing == "sorted" else reversed(order))]
        names = [os.fsdecode(getattr(one, "path", one)) for one in found]
    marks = digests.of_value(names), digests.of_value(sorted(names))
    held.event("listing", what, frame, marks, path=held.lines.relative(os.fsdecode(path)), count=len(found))
    return found


def _listed(owner: Any, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    what = f"{owner.__name__}.{name}"

    def listing(*args: Any, **kwargs: Any) -> Any:
        frame = caller()
        held = _outermost(frame)
        if held is None:
            return original(*args, **kwargs)
        _listing.busy = True
        try:
            found = original(*args, **kwargs)
            made = isinstance(found, list)
            if not made:
                found = list(found)
        finally:
            _listing.busy = False
        path = args[0] if args else kwargs.get("path") or kwargs.get("pathname") or "."
        if owner is Path and len(args) > 1:
            path = Path(args[0]) / str(args[1])
        found = _told(held, what, path, frame, found) if not isinstance(path, int) else found
        return found if made else iter(found)

    return listing


class _Scanned:
    """The result of os.scandir: an iterator that can be closed."""

    def __init__(self, entries: Iterable[Any]) -> None:
        self._entries: Iterator[Any] = iter(entries)

    def __iter__(self) -> _Scanned:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> _Scanned:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the iteration."""
        self._entries = iter(())


def _scanned(original: Callable[..., Any]) -> Callable[..., Any]:
    def scandir(path: Any = ".") -> Any:
        frame = caller()
        held = _outermost(frame)
        if held is None or isinstance(path, int):
            return original(path)
        with original(path) as entries:
            found = list(entries)
        return _Scanned(_told(held, "os.scandir", path or ".", frame, found))

    return scandir


def _walked(original: Callable[..., Any]) -> Callable[..., Any]:
    def walk(*args: Any, **kwargs: Any) -> Iterator[Any]:
        for root, folders, files in original(*args, **kwargs):
            frame = caller()
            held = _outermost(frame)
            if held is not None:
                found = _told(held, "os.walk", root, frame, [*folders, *files])
                inner = set(folders)
                folders[:] = [name for name in found if name in inner]  # in place: the caller may remove some
                files = [name for name in found if name not in inner]
            yield root, folders, files

    return walk
