"""`isinstance` and `issubclass`: whether objects are of classes, and classes derive from others."""

from __future__ import annotations

import builtins
from collections.abc import Callable

from detlint.domain.atoms import Atom, Choice, ClassRef, Constant, Instance, LibraryRef, TupleOf
from detlint.domain.outcomes import EITHER, FAILS, HOLDS, NEVER, Outcome, chosen, either
from detlint.domain.values import Value, value_of
from detlint.interpreter import classes
from detlint.interpreter.frames import Frame

_TYPES = {"None": type(None), "True": bool, "False": bool, "int": int, "float": float, "str": str, "bytes": bytes}
_PROTOCOL = LibraryRef("typing.Protocol")
Judge = Callable[[Frame, Atom, Atom], Outcome]
_FOREIGN = ("torch", "numpy")  # packages of no class of which a constant is an instance


def instance(frame: Frame, value: Value, kinds: Value) -> Outcome:
    """Whether a value is an instance of a class, or of one of a tuple of classes."""
    return _each(frame, value, kinds, _instance)


def subclass(frame: Frame, value: Value, kinds: Value) -> Outcome:
    """Whether a class is one of some classes, or derives from one."""
    return _each(frame, value, kinds, _subclass)


def _each(frame: Frame, value: Value, kinds: Value, judge: Judge) -> Outcome:
    """The outcome for what a value and the classes of a test may be, one by one."""
    outcomes = []
    for atom in frame.each(value):
        if isinstance(atom, Choice):
            parts = (_each(frame, part, kinds, judge) for part in (atom.default, atom.other))
            outcomes.append(chosen(atom, *parts))
        else:
            outcomes += [_against(frame, atom, kind, judge) for kind in frame.each(kinds)]
    return either(outcomes) if outcomes else NEVER


def _against(frame: Frame, atom: Atom, kind: Atom, judge: Judge) -> Outcome:
    """The outcome for one class, or for a tuple of which any is enough."""
    if not isinstance(kind, TupleOf):
        return judge(frame, atom, kind)
    outcomes = [_each(frame, value_of(atom), item, judge) for item in kind.items]
    if NEVER in outcomes:
        return NEVER
    return Outcome(any(each.may_hold for each in outcomes), all(each.may_fail for each in outcomes))


def _instance(frame: Frame, atom: Atom, kind: Atom) -> Outcome:
    if isinstance(atom, Instance):
        own = atom.site.kind
        known = _builtin(own) if isinstance(own, LibraryRef) else None
        return _of_type(known, kind) if known is not None else _derives(frame, own, kind)
    known = _TYPES.get(atom.kind) if isinstance(atom, Constant) else tuple if isinstance(atom, TupleOf) else None
    return EITHER if known is None else _of_type(known, kind)


def _subclass(frame: Frame, atom: Atom, kind: Atom) -> Outcome:
    return _derives(frame, atom, kind) if isinstance(atom, (ClassRef, LibraryRef)) else EITHER


def _of_type(own: type, kind: Atom) -> Outcome:
    """Whether an object of a builtin class is an instance of a class: of none of the project."""
    known = _builtin(kind) if isinstance(kind, LibraryRef) else None
    if known is not None:
        return HOLDS if issubclass(own, known) else FAILS
    foreign = isinstance(kind, LibraryRef) and kind.name.partition(".")[0] in _FOREIGN
    return FAILS if foreign or isinstance(kind, ClassRef) else EITHER


def _builtin(kind: LibraryRef) -> type | None:
    root, _, name = kind.name.partition(".")
    found = getattr(builtins, name, None) if root == "builtins" else None
    return found if isinstance(found, type) else None


def _derives(frame: Frame, own: ClassRef | LibraryRef, kind: Atom) -> Outcome:
    """Whether a class is another, or derives from it."""
    around: classes.Order = classes.order(frame, own) if isinstance(own, ClassRef) else (own,)
    if kind in around:
        return HOLDS
    if classes.PENDING in around:
        return NEVER
    if isinstance(own, LibraryRef):
        return FAILS if _are_apart(frame, own, kind) else EITHER
    if frame.solver.below is not None or not _tells(frame, kind) or not classes.is_known(around):
        return EITHER
    if isinstance(kind, ClassRef):  # from which no class of a library derives
        return FAILS
    rest = (each for each in around if isinstance(each, LibraryRef) and not _is_root(frame, each, kind))
    return FAILS if all(classes.is_stateless(frame, each) for each in rest) else EITHER


def _tells(frame: Frame, kind: Atom) -> bool:
    """Whether only what derives from a class is an instance of it, as far as its name says."""
    if isinstance(kind, ClassRef):
        around = classes.order(frame, kind)
        return classes.is_known(around) and _PROTOCOL not in around
    return isinstance(kind, LibraryRef) and frame.solver.libraries.is_of(kind.name, "own")


def _is_root(frame: Frame, base: LibraryRef, kind: Atom) -> bool:
    """Whether a class of a library has no bases, so that what derives from it alone is none of one beside it."""
    if not frame.solver.libraries.is_of(base.name, "root"):
        return False
    return not isinstance(kind, LibraryRef) or kind.name.rpartition(".")[0] == base.name.rpartition(".")[0]


def _are_apart(frame: Frame, own: LibraryRef, kind: Atom) -> bool:
    """Whether an object that was made of a class of a library is certainly none of another."""
    return isinstance(kind, LibraryRef) and frame.solver.libraries.are_apart(own.name, kind.name)
