"""Functions with some of their arguments given."""

from __future__ import annotations

from detlint.domain.atoms import UNKNOWN_ATOM, Atom, Bound, ClassRef, FunctionRef, LibraryRef, PartialCall
from detlint.domain.given import Given
from detlint.domain.slots import Argument
from detlint.domain.values import Value, value_of
from detlint.interpreter import contexts
from detlint.interpreter.frames import Frame


def made(frame: Frame, function: Value, given: Given, node: int) -> Value:
    """A function with some arguments, which the heap has by the place that makes it."""
    site = contexts.site(frame, LibraryRef("functools.partial"), node)
    named = (*((str(index), value) for index, value in enumerate(given.positional)), *given.keywords.items())
    for name, value in named:
        frame.fill((site, Argument(name)), value)
    names, count = tuple(given.keywords), len(given.positional)
    atoms = frame.each(function)
    return value_of(*(PartialCall(a, site, count, names) if _calls(a) else UNKNOWN_ATOM for a in atoms))


def _calls(atom: Atom) -> bool:
    return isinstance(atom, (FunctionRef, ClassRef, LibraryRef, Bound))
