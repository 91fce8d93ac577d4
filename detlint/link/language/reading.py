"""Configuration files in a program: the file that a path leads to, and the values made from its contents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from posixpath import join, normpath
from typing import TYPE_CHECKING, Any
from zlib import crc32

from detlint.documents.documents import SUFFIXES
from detlint.documents.trees import Leaf, Tree, Unknown, tree
from detlint.finding import Place
from detlint.link.state.mappings import DICT, LIST
from detlint.link.state.program import folder
from detlint.link.state.values import (
    FAR,
    SOME,
    UNKNOWN,
    Constant,
    Library,
    Object,
    Option,
    Value,
    constant,
    only,
    settled,
    single,
)
from detlint.link.state.values import join as union

if TYPE_CHECKING:
    from detlint.link.state.run import Run
else:
    Run = Any

FILE = Library("io.TextIOWrapper")  # an object of this kind has the path of the opened file
_PROJECT = "/<project>/"  # the prefix of paths that code derives from its own file
_ITEMS = 32  # of a list, kept apart


def beside(path: str, relative: str) -> Value:
    """Return the path of what lies `relative` to the folder of a file."""
    return constant(f"{_PROJECT}{normpath(join(folder(path), relative))}")


def joined(*parts: object) -> str:
    """Return the path of a configuration file joined from parts. Raises ValueError for other paths and for numbers."""
    texts = [part for part in parts if isinstance(part, str)]
    path = join(*texts) if texts and len(texts) == len(parts) else ""
    if not path.endswith(SUFFIXES):
        raise ValueError(path)
    return path


def document_at(run: Run, value: Value, base: str | None = None) -> str | None:
    """Return the configuration file that a path leads to; None if there is none, or if it may be another.

    A relative path is resolved against `base` if that is given. Otherwise, as the working directory is unknown, it is
    looked up in the folder of the script and in those above it.
    """
    atom, documents = only(value), run.program.documents
    if isinstance(atom, Object) and atom.kind == FILE:
        return atom.path
    text = settled(atom) if isinstance(atom, (Constant, Option)) else None
    if not isinstance(text, str) or not text.endswith(SUFFIXES):
        return None
    if text.startswith(_PROJECT):
        paths = [text.removeprefix(_PROJECT)]
    elif base is not None or text.startswith("/"):
        paths = [normpath(join(base or "", text))]
    else:
        run.unrepeatable()  # it depends on the script
        paths = [normpath(parent / text) for parent in PurePosixPath(run.script).parents]
    found = [path for path in paths if documents.has(path)]
    return found[0] if len(found) == 1 else None


def folder_at(value: Value, base: str) -> str | None:
    """Return the folder that a path, relative to `base`, leads to; None if it is unknown."""
    atom = only(value)
    text = settled(atom) if isinstance(atom, (Constant, Option)) else None
    if not isinstance(text, str) or "://" in text:
        return None
    return text.removeprefix(_PROJECT) if text.startswith(_PROJECT) else normpath(join(base, text))


def value_of(run: Run, said: Tree, site: tuple[str, int], label: str) -> Value:
    """Return the value that a tree has at an allocation site; its leaves are options, which a user may set.

    `label` distinguishes the trees of one site.
    """
    if isinstance(said, Leaf):
        return single(Option(said.option, said.value, None)) if said.option else constant(said.value)
    if isinstance(said, Unknown):
        return SOME if said.present else UNKNOWN
    path, order = site
    number = crc32(f"{label}:{order // FAR}".encode(errors="replace"))
    made = Object(DICT if isinstance(said, dict) else LIST, path, order % FAR + FAR * (1 + number))
    objects = run.program.objects
    if isinstance(said, dict):
        for key, held in said.items():
            slot = f"[{key!r}]" if isinstance(key, (str, int)) else "[]"
            objects.store(made, slot, value_of(run, held, site, f"{label}.{key}"))
        run.frame.dicts |= {made}
    else:
        items = [value_of(run, held, site, f"{label}.{index}") for index, held in enumerate(said[:_ITEMS])]
        if len(said) > _ITEMS:
            objects.store(made, "[]", union([*items, UNKNOWN]))
        else:
            for index, item in enumerate(items):
                objects.store(made, f"[{index}]", item)
    return single(made)


def takes_over(run: Run, owner: Object, given: Sequence[Value], place: Place) -> bool:
    """Set the fields of a configuration from a file; return whether the file's contents are known."""
    path = document_at(run, given[0]) if given and run.is_certain() else None
    said = None if path is None else run.program.documents.parsed(path, "yaml")
    if path is None or not isinstance(said, dict):
        return False
    lay_over(run, owner, tree(said, path), (place.path, -place.line), path)
    return True


def lay_over(run: Run, owner: Object, said: Tree, site: tuple[str, int], label: str) -> None:
    """Set the fields of a configuration to the entries of a tree."""
    objects = run.program.objects
    for key, held in said.items():
        inner = only(objects.attribute(owner, str(key)) or UNKNOWN)
        if isinstance(held, dict) and isinstance(inner, Object):
            lay_over(run, inner, held, site, f"{label}.{key}")
        else:
            slot = f"[{key!r}]" if owner.kind == DICT else str(key)
            objects.replace(owner, slot, value_of(run, held, site, f"{label}.{key}"))
