"""Configurations as Hydra composes them from files: by defaults lists, with groups, packages and overrides.

https://hydra.cc/docs/advanced/defaults_list/
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from posixpath import normpath
from typing import Any, NamedTuple

from detlint.documents.documents import Documents, scalar
from detlint.documents.trees import Leaf, Tree, Unknown, merged, resolved, tree, within

_KEY = re.compile(r"[\w./]+")
_HEADER = re.compile(r"#\s*@package[ \t]+(\S+)")
_SELF, _GLOBAL = "_self_", "_global_"
_DEEP = 12  # levels of configurations that name others
_MOST = 200  # configurations in one
_HEAD = 1_000  # characters at the start of a file in which its package may be


_UNNAMED = "<unnamed>"  # a configuration that only the program's user knows


class Composed(NamedTuple):
    """The tree composed from files, and the names of the configurations kept by the program that it overlays."""

    tree: Tree
    kept: list[str]


@dataclass
class _Part:
    """One entry of a defaults list: a configuration `name`, in a group or not, put at a `package`."""

    group: str
    name: str | None
    package: str | None
    optional: bool = False


@dataclass
class _Composition:
    """The state of a composition.

    `chosen` are the options that overrides give groups, `kept` the configurations that the program keeps and that are
    asked for. The composition is `whole` unless an unknown part of it could set anything.
    """

    documents: Documents
    folder: str
    known: Collection[str]
    chosen: dict[str, str | None] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    count: int = 0
    whole: bool = True


def composed(
    documents: Documents, folder: str, name: str, known: Collection[str] = (), overrides: Iterable[str] = ()
) -> Composed | None:
    """Return the configuration of a name in a folder; None if there is no such file, or too little is known of it.

    `known` are the names of configurations that the program keeps. `overrides` are those that it gives: `group=option`
    and `key=value`.
    """
    path = _file(documents, folder, name)
    if path is None:
        return None
    made, values = _Composition(documents, folder, known), dict[str, Any]()
    for override in overrides:
        key, equals, value = override.lstrip("+").partition("=")
        if not equals or not _KEY.fullmatch(key):
            return None
        if _file(documents, f"{folder}/{key}", value) is not None:
            made.chosen[key] = value
        else:
            values[key] = scalar(value)
    found: Tree = {}
    for layer in list(_layers(made, path, "", "", _DEEP)):
        found = merged(found, layer)
    for key, value in values.items():
        found = merged(found, within(key, Leaf(value, "")))
    if not made.whole or not isinstance(found, dict):
        return None
    found.pop("hydra", None)
    return Composed(resolved(found), made.kept)


def set_by(documents: Documents, folder: str, override: str) -> str | None:
    """Return the key that an override gives a value; None if it does something else, such as choosing a file."""
    key, equals, value = override.lstrip("+").partition("=")
    plain = bool(equals) and _KEY.fullmatch(key) is not None
    return key if plain and _file(documents, f"{folder}/{key}", value) is None else None


def _file(documents: Documents, folder: str, name: str) -> str | None:
    """Return the file of a configuration; None if there is none."""
    plain = name.removesuffix(".yaml").removesuffix(".yml")
    paths = (normpath(f"{folder}/{plain}{suffix}") for suffix in (".yaml", ".yml"))
    return next((path for path in paths if documents.has(path)), None)


def _layers(made: _Composition, path: str, group: str, package: str, depth: int) -> Iterator[Tree]:
    """Yield what a configuration and those that it names say, each at its package, the most binding last."""
    said = made.documents.parsed(path, "yaml")
    made.count += 1
    if said is None and not _says_something(made.documents.text(path)):
        said = {}
    if not isinstance(said, dict) or depth == 0 or made.count > _MOST:
        yield _unknown(made, package)
        return
    defaults = said.get("defaults")
    entries = defaults if isinstance(defaults, list) else []
    parts = [part for entry in entries for part in _parts(made, entry, group)]
    if None not in parts:
        parts.append(None)
    own = within(package, tree({key: value for key, value in said.items() if key != "defaults"}, path))
    found: list[list[Tree]] = []
    for part in reversed(parts):  # later entries may override the choice of earlier ones
        found.append([own] if part is None else list(_inner(made, part, group, package, depth)))
    for layers in reversed(found):
        yield from layers


def _says_something(text: str) -> bool:
    """Return whether a file has more than comments."""
    return any(line.strip() and not line.lstrip().startswith(("#", "---")) for line in text.splitlines())


def _unknown(made: _Composition, package: str) -> Tree:
    """Return the stand-in for an unknown configuration, at its package."""
    made.whole = made.whole and bool(package)
    return within(package, Unknown())


def _parts(made: _Composition, entry: Any, group: str) -> Iterator[_Part | None]:
    """Yield what an entry of a defaults list asks for; None stands for the configuration itself."""
    if entry == _SELF:
        yield None
    elif isinstance(entry, str):
        name, _, package = entry.partition("@")
        base, slash, last = name.rpartition("/")
        yield _Part(base or slash, last, package or None)
    for key, options in entry.items() if isinstance(entry, dict) and len(entry) == 1 else ():
        *words, name = str(key).split() or [""]
        name, _, package = name.partition("@")
        whole = _group(name, group)
        if whole == "hydra" or whole.startswith("hydra/"):
            continue
        if "override" in words:
            made.chosen.setdefault(whole, options if options is None else _named(options))
            continue
        for option in options if isinstance(options, list) else [options]:
            yield _Part(name, option if option is None else _named(option), package or None, "optional" in words)


def _named(option: object) -> str:
    return option if isinstance(option, str) and "${" not in option else _UNNAMED


def _inner(made: _Composition, part: _Part, group: str, package: str, depth: int) -> Iterator[Tree]:
    """Yield what a configuration named by another says, at its package within the other's package."""
    whole = _group(part.group, group)
    name = made.chosen.get(whole, part.name) if part.group else part.name
    if name is None:
        return
    full = f"{whole}/{name}" if whole else name
    path = _file(made.documents, made.folder, full)
    header = None if path is None else _HEADER.search(made.documents.text(path)[:_HEAD])
    own = part.package or (header[1] if header else None)
    place = _place(package, part.group.strip("/").replace("/", ".") if own in (None, "_group_") else own or "")
    if path is not None:
        yield from _layers(made, path, full.rpartition("/")[0], place, depth - 1)
    elif full in made.known and not place:
        made.kept.append(full)
    elif not part.optional:
        yield _unknown(made, place)


def _place(package: str, own: str) -> str:
    """Return the package of a configuration, which is named relative to that of another."""
    if own == _GLOBAL or own.startswith(f"{_GLOBAL}."):
        return own.removeprefix(_GLOBAL).removeprefix(".")
    return ".".join(each for each in (package, own) if each and each != "_here_")


def _group(name: str, around: str) -> str:
    """Return the full name of a group that a configuration in the group `around` names."""
    return name[1:] if name.startswith("/") else f"{around}/{name}" if around and name else name or around
