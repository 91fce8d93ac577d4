"""Calls of what may be several things, one of which is called."""

from __future__ import annotations

from collections.abc import Callable, Collection

from detlint.domain.atoms import (
    CALLABLE,
    UNKNOWN_ATOM,
    Atom,
    Bound,
    Choice,
    ClassRef,
    FunctionRef,
    Instance,
    LibraryRef,
    PartialCall,
)
from detlint.domain.effects import Dispatch, Effects
from detlint.domain.values import NOTHING, Value
from detlint.interpreter import classes
from detlint.interpreter.frames import Frame
from detlint.ir import nodes as ir

_OWN = (FunctionRef, ClassRef, PartialCall)


def call_each(frame: Frame, callee: Value, run: Callable[[Atom], Value]) -> Value:
    """Call each thing that a value may be, one after the other."""
    found = NOTHING
    for atom in frame.each(callee):
        found = frame.join(found, run(atom))
    return found


def call_one(frame: Frame, callee: Value, keywords: Collection[str], run: Callable[[Atom], Value], node: int) -> Value:
    """Call one of the things that a value may be.

    All are entered; of those of which it is known what they take, what takes the keywords is what is called.
    """
    atoms = frame.solver.lattice.each(frame.resolve(callee))
    if len(atoms) == 1:
        return run(atoms[0])
    found, entered, left = NOTHING, frame.env, frame.env
    arms: list[tuple[Atom, Effects]] = []
    for atom in atoms:
        effects, value = frame.within(lambda atom=atom: run(atom))  # type: ignore[misc]
        arms.append((atom, effects))
        found, left = frame.join(found, value), frame.env or left
        frame.env = frame.env or entered
    frame.env = left if entered is not None and found.atoms else frame.env
    called = [(atom, effects) for atom, effects in arms if isinstance(atom, (*CALLABLE, Choice))]
    called = [each for each in called if _accepts(frame, each[0], keywords)] or called
    called = [each for each in called if not _is_guess(frame, each[0])] or called
    if any(effects for _, effects in arms):
        ways = [effects for _, effects in called]
        rest = [effects for atom, effects in arms if not isinstance(atom, (*CALLABLE, Choice)) and effects]
        if (UNKNOWN_ATOM in atoms or not called) and not _one_method([atom for atom, _ in called]):
            rest = rest or [()]
        own = sum(_is_own(atom) for atom, _ in called)
        frame.emit(Dispatch((*ways, *rest), frame.code(node), own > 1))
    return found


def _is_own(atom: Atom) -> bool:
    """Whether an atom is something of the project that is called."""
    return isinstance(atom, _OWN) or (isinstance(atom, Bound) and isinstance(atom.function, FunctionRef))


def _is_guess(frame: Frame, atom: Atom) -> bool:
    """Whether an atom is a method of a library of which the tables do not speak: an attribute, as likely as not.

    A special method is no attribute: what it does is what an operator does, and known.
    """
    if not (isinstance(atom, Bound) and isinstance(atom.function, LibraryRef)):
        return False
    name = atom.function.name
    return not name.endswith("__") and not frame.solver.libraries.has_method(name)


def _one_method(atoms: Collection[Atom]) -> bool:
    """Whether all are one method of a library, which what is not known beside them is taken to be as well."""
    names = {atom.function.name for atom in atoms if isinstance(atom, Bound) and isinstance(atom.function, LibraryRef)}
    return len(names) == 1 and all(isinstance(a, Bound) and isinstance(a.function, LibraryRef) for a in atoms)


def _accepts(frame: Frame, atom: Atom, keywords: Collection[str]) -> bool:
    """Whether something may be called with these keywords: what takes none of them is not what is called."""
    functions = _functions(frame, atom) if keywords else []
    return all(_takes(frame.solver.files[each.file].functions[each.name], keywords) for each in functions)


def _functions(frame: Frame, atom: Atom) -> list[FunctionRef]:
    """The functions of the project that a call of an atom enters with its arguments."""
    if isinstance(atom, Bound):
        atom = atom.function
    if isinstance(atom, FunctionRef):
        return [atom]
    klass = atom.site.kind if isinstance(atom, Instance) else atom
    if not isinstance(klass, ClassRef):
        return []
    for name in ("__call__", "forward") if isinstance(atom, Instance) else ("__init__",):
        value, owner = classes.lookup(frame, classes.order(frame, klass), name)
        if isinstance(owner, ClassRef):
            return [each for each in frame.each(value) if isinstance(each, FunctionRef)]
    return []


def _takes(code: ir.Function, keywords: Collection[str]) -> bool:
    names = {parameter.name for parameter in code.parameters}
    return any(parameter.star == "**" for parameter in code.parameters) or names >= set(keywords)
