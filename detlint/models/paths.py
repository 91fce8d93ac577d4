"""os.path and pathlib: paths, which are texts that are known where what they are put together of is."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from pathlib import PurePosixPath

from detlint.domain import taints as t
from detlint.domain.atoms import CUT, NOT_NONE, Atom, Choice, Constant, PathTo, TupleOf
from detlint.domain.given import Given
from detlint.domain.library import Class, Library, Method
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, Value, mapped, value_of

Make = Callable[[Sequence[str]], Atom | None]
_PATH = "pathlib.Path"
_MOST = 64  # combinations of what the parts of a path may be
_LONGEST = 1_000  # characters of a path
_PARENTS = 8  # that are told apart


def folded(step: Step, parts: Sequence[Value], make: Make) -> Value:
    """What is made of the texts that parts are: of each combination, and of what an option decides a choice.

    Where a part is no text that is known, it is something that is not None.
    """
    atoms = [step.each(part) for part in parts]
    if not all(atoms):
        return NOTHING
    if prod(map(len, atoms)) > _MOST:
        return value_of(CUT)
    found = NOTHING
    for combination in product(*atoms):
        found = step.join(found, value_of(_one(step, combination, make)))
    return found


def _one(step: Step, combination: Sequence[Atom], make: Make) -> Atom:
    """What is made of one atom for each part."""
    choice = next((atom for atom in combination if isinstance(atom, Choice)), None)
    if choice is not None:
        option = choice.option

        def part(atom: Atom, *, other: bool) -> Value:
            if isinstance(atom, Choice) and atom.option == option:
                return atom.other if other else atom.default
            return value_of(atom)

        default, set_ = (
            folded(step, [part(atom, other=other) for atom in combination], make) for other in (False, True)
        )
        return Choice(option, default, set_)
    texts = [text for atom in combination if (text := text_of(atom)) is not None]
    return (make(texts) if len(texts) == len(combination) else None) or NOT_NONE


def text_of(atom: Atom) -> str | None:
    """The text of a constant or of a path; None where it is not known."""
    if isinstance(atom, PathTo):
        return atom.text
    return atom.value if isinstance(atom, Constant) and atom.kind == "str" else None


# os.path


def _text(make: Callable[[Sequence[str]], str]) -> Callable[[Step, Given], Value]:
    """A function that makes a text of its arguments: what differs in them differs in it."""

    def called(step: Step, given: Given) -> Value:
        taints = certain = t.NONE
        for each in given.each:
            taints |= each.taints
            certain |= each.certain
        if given.open or given.keywords or not given.positional:
            found = value_of(NOT_NONE) if all(each.atoms for each in given.each) else NOTHING
        else:
            found = folded(step, given.positional, lambda texts: _constant(make(texts)))
        return Value(found.atoms, taints, certain) if found.atoms else found

    return called


def _constant(text: str) -> Atom | None:
    return Constant("str", text) if len(text) <= _LONGEST else None


def _joined(texts: Sequence[str]) -> str:
    return posixpath.join(*texts)


def _same(texts: Sequence[str]) -> str:
    return posixpath.normpath(texts[0]) if texts[0] else texts[0]


def _working(step: Step, given: Given) -> Value:
    """The folder that relative paths are seen from."""
    return value_of(PathTo("."))


# pathlib


def made(step: Step, given: Given) -> Value:
    """A path of its parts."""
    return _path(step, given.positional, open_=given.open)


def _path(step: Step, parts: Sequence[Value], *, open_: bool = False) -> Value:
    """A path that is put together; an object of which nothing is known where a part is not."""
    if not parts and not open_:
        return value_of(PathTo("."))
    unknown = value_of(step.make(_PATH))
    found = folded(step, parts, lambda texts: _to(PurePosixPath(*texts))) if parts and not open_ else unknown
    taints = frozenset[t.Taint]().union(*(part.taints for part in parts))
    certain = frozenset[t.Taint]().union(*(part.certain for part in parts))
    return _with(step, found, unknown).with_taints(taints, certain)


def _with(step: Step, value: Value, unknown: Value) -> Value:
    """A value in which something that is not known is an object."""
    found = NOTHING
    for atom in step.each(value):
        if atom == NOT_NONE:
            found = step.join(found, unknown)
        elif isinstance(atom, Choice):
            found = step.join(found, value_of(mapped(atom, lambda part: _with(step, part, unknown))))
        else:
            found = step.join(found, value_of(atom))
    return found


def _to(path: PurePosixPath) -> Atom | None:
    text = str(path)
    return PathTo(text) if len(text) <= _LONGEST else None


def _beneath(step: Step, owner: Value, given: Given) -> Value:
    """What lies beneath a path."""
    return _path(step, (owner, *given.positional), open_=given.open)


def _itself(step: Step, owner: Value, given: Given) -> Value:
    """The path, in another form."""
    return owner


def _changed(change: Callable[[PurePosixPath], Atom | None]) -> Method:
    """Another path or a text, which is made of the text of one."""

    def called(step: Step, owner: Value, given: Given) -> Value:
        found = folded(step, (owner,), lambda texts: change(PurePosixPath(texts[0])))
        return found.with_taints(owner.taints, owner.certain) if found.atoms else found

    return called


def parent(path: PurePosixPath) -> PurePosixPath:
    """The folder in which a path lies; above that of a relative path is another, which may lie beside it."""
    return path.parent if path.is_absolute() or path.name not in ("", "..") else path / ".."


def _parents(path: PurePosixPath) -> Atom:
    found = []
    for _ in range(_PARENTS):
        path = parent(path)
        found.append(value_of(PathTo(str(path))))
    return TupleOf(tuple(found))


OS = Library("os", {"getcwd": _working, "fspath": _text(lambda texts: texts[0])})
OS_PATH = Library(
    "os.path",
    {
        "join": _text(_joined), "basename": _text(lambda texts: posixpath.basename(texts[0])),
        "dirname": _text(lambda texts: posixpath.dirname(texts[0])), "abspath": _text(_same), "realpath": _text(_same),
        "normpath": _text(_same), "expanduser": _text(_same),
    },
)  # fmt: skip
PATHLIB = Library(
    "pathlib",
    {"Path": made, "PurePath": made, "PosixPath": made, "Path.cwd": _working},
    (
        Class(
            "Path",
            methods={
                "__truediv__": _beneath, "joinpath": _beneath, "resolve": _itself, "absolute": _itself,
                "expanduser": _itself, "as_posix": _changed(lambda path: _constant(str(path))),
                "__str__": _changed(lambda path: _constant(str(path))),
            },
            properties={
                "parent": _changed(lambda path: _to(parent(path))), "parents": _changed(_parents),
                "name": _changed(lambda path: _constant(path.name)),
                "stem": _changed(lambda path: _constant(path.stem)),
                "suffix": _changed(lambda path: _constant(path.suffix)),
            },
        ),
    ),
)  # fmt: skip
