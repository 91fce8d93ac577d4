"""The contexts of calls: chosen here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod

from detlint.documents.documents import SUFFIXES
from detlint.domain.atoms import (
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
    Option,
    PartialCall,
    PathTo,
)  # fmt: skip
from detlint.domain.bare import CONFIGURATION, strip
from detlint.domain.codes import FAR, Code
from detlint.domain.values import UNKNOWN, Value, is_member, told, value_of
from detlint.interpreter.frames import Frame
from detlint.ir import nodes as ir

_TESTED = ("None", "True", "False", "str")

Choices = list[tuple[Context, dict[str, Value]]]
_Part = list[tuple["Atom | Option | None", Value]]  # of an argument, each part with what it is told apart by


def choose(
    frame: Frame, function: FunctionRef, code: ir.Function, receiver: Atom | None, given: Mapping[str, Value]
) -> Choices:
    """The contexts in which a call evaluates a function, each with the values that it gets there.

    A parameter is told apart by each of these that is given for it: callables of the project and those that seed,
    configuration objects, documents and paths of such; by texts, None, True, False and options that the function tests;
    and by constants that decide what something of a library does that it gives them to: one flat atom a parameter, and
    all others together. Of a call whose arguments may be several things each, tests tell no more than what each of them
    surely is. What no program reaches is solved as if anyone called it.
    """
    if not all(value.atoms for value in given.values()):
        return []  # an argument that is nothing yet: there is no call yet
    if frame.solver.below is not None:
        return [from_anyone(function.file, code)]
    held = strip(receiver) if isinstance(receiver, (Instance, ClassRef)) else None
    alone = Context(held)
    solver = frame.solver
    found = _told_apart(frame, function, code, held, given, _TESTED)
    ways = [_tested_alone(context) for context, _ in found]
    if len(found) <= solver.limits.contexts and solver.is_tested(function, ways):
        found = _told_apart(frame, function, code, held, given, ("str",))
    if solver.is_full(function, [context for context, _ in found]):
        return [(alone, dict(given))]
    return list({solver.nearest(function, context): values for context, values in found}.items())


def _told_apart(
    frame: Frame,
    function: FunctionRef,
    code: ir.Function,
    held: Atom | None,
    given: Mapping[str, Value],
    kinds: Sequence[str],
) -> Choices:
    """The contexts that the arguments of a call choose, by the kinds of constants too that the function tests."""
    libraries = frame.solver.libraries
    handed = frame.solver.index.handed(function.file, code, libraries.decided)
    names: list[str] = []
    parts: list[_Part] = []
    for name, value in given.items():
        deciding = libraries.deciding if name in handed else frozenset()
        split = _split(value, kinds if name in code.tested else (), deciding, libraries.seeds)
        if len(split) > 1 or (split and split[0][0] is not None):
            names.append(name)
            parts.append(split)
    if prod(map(len, parts)) > frame.solver.limits.ways:
        frame.solver.lattice.meet()
        apart = [_apart(part, given[name]) for name, part in zip(names, parts, strict=True)]
        parts = [part for part in apart if part is not None]
        names = [name for name, part in zip(names, apart, strict=True) if part is not None]
    found: Choices = []
    for combination in product(*parts):
        flat = tuple((name, atom) for name, (atom, _) in zip(names, combination, strict=True) if atom is not None)
        values = {**given, **{name: value for name, (_, value) in zip(names, combination, strict=True)}}
        found.append((Context(held, flat), values))
        if len(found) > frame.solver.limits.contexts:
            break
    return found


def _apart(part: _Part, value: Value) -> _Part | None:
    """The parts of an argument by what it may be besides what tests tell apart; None where that is all the same."""
    if len(part) == 1:
        return part
    kept: _Part = [(flat, each) for flat, each in part if flat is not None and not _is_tested(flat)]
    if not kept:
        return None
    rest = value.of(value.atoms.difference(*(each.atoms for _, each in kept)))
    return [*kept, (None, rest)] if rest.atoms else kept


def _is_tested(flat: Atom | Option) -> bool:
    """Whether what tells calls apart does so for tests alone."""
    return isinstance(flat, Constant) and flat.kind in _TESTED and not _is_path(flat)


def _tested_alone(context: Context) -> tuple[tuple[str, Atom | Option], ...]:
    """What of a context tests of None, True and False tell apart."""
    kinds = set(_TESTED) - {"str"}
    return tuple((name, atom) for name, atom in context.given if isinstance(atom, Constant) and atom.kind in kinds)


def from_anyone(file: str, code: ir.Function) -> tuple[Context, dict[str, Value]]:
    """The context of a function that anyone may call, with whatever arguments, on any object of its class."""
    given = {parameter.name: UNKNOWN for parameter in code.parameters}
    if not code.klass:
        return Context(), given
    receiver = Instance(AllocationSite(ClassRef(file, code.klass), None))
    if code.parameters:
        given[code.parameters[0].name] = value_of(receiver)
    return Context(receiver), given


def _split(
    value: Value, tested: Sequence[str], deciding: frozenset[str], seeds: Callable[[str], bool]
) -> list[tuple[Atom | Option | None, Value]]:
    """The parts of a value that are told apart, and all others together."""
    groups: dict[Atom | Option, list[Atom]] = {}
    rest = []
    for atom in value.atoms:
        flat = _flat(atom, tested)
        if isinstance(atom, Constant) and (atom.value or atom.kind) in deciding:
            flat = atom
        if isinstance(atom, LibraryRef) and seeds(atom.name):
            flat = atom
        if flat is None:
            rest.append(atom)
        else:
            groups.setdefault(flat, []).append(atom)
    found: list[tuple[Atom | Option | None, Value]] = [(flat, value.of(atoms)) for flat, atoms in groups.items()]
    if len(found) > 1:
        found.sort(key=lambda part: told(part[0]))
    if rest:
        found.append((None, value.of(rest)))
    return found


def _flat(atom: Atom, tested: Sequence[str]) -> Atom | Option | None:
    """What a context keeps of an atom; None where it is not told apart from others."""
    if isinstance(atom, (FunctionRef, ClassRef)):
        return strip(atom)
    if isinstance(atom, Bound) and isinstance(atom.function, FunctionRef):
        return strip(atom.function)
    if isinstance(atom, PartialCall) and isinstance(atom.function, (FunctionRef, ClassRef)):
        return strip(atom.function)
    if isinstance(atom, Instance) and atom.site.kind in CONFIGURATION:
        return atom
    if isinstance(atom, Instance) and atom.site.part:
        return _document(atom.site)
    if isinstance(atom, Choice):
        return atom.option if tested or any(map(_is_path, atom.default.atoms)) else None
    if (isinstance(atom, Constant) and atom.kind in tested) or _is_path(atom):
        return atom
    if tested and is_member(atom):
        return atom
    return None


def copied(frame: Frame, source: Instance, node: int) -> AllocationSite:
    """Where a copy of a dict is made: in its place and of which one; of a copy, of which that is one."""
    around = source.site.context
    first = source
    if source.site.kind == LibraryRef("builtins.dict") and around is not None and isinstance(around.receiver, Instance):
        first = around.receiver
    kept = Instance(AllocationSite(first.site.kind, first.site.code, part=first.site.part))
    return AllocationSite(LibraryRef("builtins.dict"), _place(frame, node), Context(kept))


def _is_path(atom: Atom) -> bool:
    """Whether an atom is the path of what may be a document."""
    text = atom.text if isinstance(atom, PathTo) else atom.value if isinstance(atom, Constant) else ""
    return text.endswith(SUFFIXES)


def _document(site: AllocationSite) -> Constant:
    """What tells apart the documents that a call makes objects of, and the configurations that it puts together."""
    assert site.code is not None
    code, document = site.code, site.part.partition(":")[0]
    return Constant("str", f"{code.file}:{code.function}:{code.node}:{document}")


def site(
    frame: Frame, kind: ClassRef | LibraryRef, node: int, *, empty: bool = False, part: str = ""
) -> AllocationSite:
    """Where an object is made: in its place and for which object; a class that is made in many places is made in few.

    Containers and objects of libraries keep their place and context: they are as many as what makes them.
    """
    code = frame.code(node)
    context = frame.defining
    if isinstance(kind, LibraryRef):
        return AllocationSite(kind, _place(frame, node), context, empty, part)
    makers = frame.solver.index.makers(kind.name)
    limits = frame.solver.limits
    if frame.solver.below is not None or makers is None or makers[1] > limits.files:
        return AllocationSite(kind, None)
    if makers[0] > limits.sites:
        return AllocationSite(kind, Code(code.file, "", -1))
    receiver = context.receiver if context is not None else None
    return AllocationSite(kind, code, Context(receiver) if receiver is not None else None)


def _place(frame: Frame, node: int) -> Code:
    """A place in the text, apart for each item of what is written down that a loop goes through."""
    code = frame.code(node)
    return Code(code.file, code.function, code.node + FAR * frame.row)
