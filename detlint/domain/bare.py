"""Atoms and contexts without the contexts that they were made in: one level is kept."""

from __future__ import annotations

from detlint.domain.atoms import (
    CHOSEN,
    AllocationSite,
    Atom,
    Bound,
    Choice,
    ClassRef,
    Constant,
    Context,
    FunctionRef,
    Instance,
    LibraryRef,
    NotNone,
    Option,
)

CONFIGURATION = (LibraryRef("argparse.Namespace"),)
"""The classes of configuration objects, which have versions."""
_LIST = LibraryRef("builtins.list")
_NEVER_CHANGED = (*CONFIGURATION, LibraryRef("pathlib.Path"))


def is_plain(atom: Atom) -> bool:
    """Whether an option may choose an atom: no object is changed by that but one that has versions."""
    if isinstance(atom, Bound):
        return isinstance(atom.receiver, (Constant, NotNone))  # a method of a text
    return isinstance(atom, (Choice, *CHOSEN)) or (isinstance(atom, Instance) and atom.site.kind in _NEVER_CHANGED)


def is_object(atom: Atom) -> bool:
    """Whether an atom is an object of a class of the project or a list, or a method of such an object."""
    if isinstance(atom, Bound):
        return isinstance(atom.function, FunctionRef) and is_object(atom.receiver)
    return isinstance(atom, Instance) and (isinstance(atom.site.kind, ClassRef) or atom.site.kind == _LIST)


def strip(atom: Atom) -> Atom:
    """An atom without the context that it was made in."""
    if isinstance(atom, FunctionRef):
        return FunctionRef(atom.file, atom.name) if atom.within is not None else atom
    if isinstance(atom, Instance) and atom.site.kind not in CONFIGURATION and atom.version is not None:
        return Instance(atom.site)
    return atom


def bare(context: Context) -> Context | None:
    """A context as allocation sites and closures keep it: one level; None for that of a plain call."""
    receiver = _bare(context.receiver) if context.receiver is not None else None
    given = tuple((name, atom if isinstance(atom, Option) else _bare(atom)) for name, atom in context.given)
    return Context(receiver, given) if receiver is not None or given else None


def _bare(atom: Atom) -> Atom:
    if isinstance(atom, Instance):
        site = atom.site
        if site.context is None and atom.version is None:
            return atom
        return Instance(AllocationSite(site.kind, site.code, None, site.empty, site.part))
    return strip(atom)
