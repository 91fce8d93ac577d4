"""What configuration files say, as trees: dicts and lists whose leaves know where they are."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_REFERENCE = re.compile(r"\$\{(\.*)([\w/-][\w./-]*(?:\[\w+\])*)\}")
_STEP = re.compile(r"[^.\[\]]+")
_DEEP = 24  # of trees, and of references that lead to others
MISSING = "???"


class Leaf(NamedTuple):
    """A value of a file, and the name of the option whose default it is; "" for what a program sets."""

    value: object
    option: str


class Unknown(NamedTuple):
    """A stand-in for an unknown value; `present` says that it is not None."""

    present: bool = False


Tree = Any  # a dict or a list of trees, a Leaf, or Unknown


def tree(value: object, path: str, where: str = "", depth: int = _DEEP) -> Tree:
    """Return what a file says as a tree; `where` are the keys that lead to it."""
    if depth == 0:
        return Unknown()
    if isinstance(value, dict):
        return {
            key: tree(held, path, f"{where}.{key}" if where else str(key), depth - 1) for key, held in value.items()
        }
    if isinstance(value, list):
        return [tree(held, path, f"{where}[{index}]", depth - 1) for index, held in enumerate(value)]
    plain = value is None or isinstance(value, (str, int, float))
    return Leaf(value, f"{where} of {path}") if plain else Unknown(present=True)


def merged(below: Tree, above: Tree) -> Tree:
    """Return two trees merged as OmegaConf does: `above` counts where both say something."""
    if isinstance(below, dict) and isinstance(above, dict):
        found = dict(below)
        for key, value in above.items():
            found[key] = merged(below[key], value) if key in below else value
        return found
    return below if isinstance(above, Leaf) and above.value == MISSING else above


def resolved(root: Tree) -> Tree:
    """Return a tree with references `${name}` replaced by the parts they name; a part not found is Unknown."""
    return _resolved(root, root, (), _DEEP)


def _resolved(part: Tree, root: Tree, where: tuple[object, ...], depth: int) -> Tree:
    if depth == 0:
        return Unknown()
    if isinstance(part, dict):
        return {key: _resolved(value, root, (*where, key), depth - 1) for key, value in part.items()}
    if isinstance(part, list):
        return [_resolved(value, root, (*where, index), depth - 1) for index, value in enumerate(part)]
    if not isinstance(part, Leaf) or not isinstance(part.value, str):
        return part
    if part.value == MISSING:
        return Unknown(present=True)
    if "${" not in part.value:
        return part
    match = _REFERENCE.fullmatch(part.value)
    if match is None:  # calls a resolver, or is part of a longer text
        return Unknown(present=not part.value.startswith("${"))
    dots, name = match.groups()
    steps: tuple[object, ...] = tuple(_STEP.findall(name))
    place = (*where[: len(where) - len(dots)], *steps) if dots else steps
    found = at(root, place)
    return Unknown() if found is None else _resolved(found, root, place, depth - 1)


def at(root: Tree, steps: tuple[object, ...]) -> Tree | None:
    """Return what a tree holds under keys, or None."""
    for step in steps:
        if isinstance(root, dict):
            root = root.get(step, root.get(_number(step)))
        else:
            index = _number(step)
            root = root[index] if isinstance(root, list) and index is not None and index < len(root) else None
    return root


def within(package: str, part: Tree) -> Tree:
    """Return a tree that holds `part` at the dotted key `package`."""
    for step in reversed([step for step in package.split(".") if step]):
        part = {step: part}
    return part


def _number(step: object) -> int | None:
    return int(step) if isinstance(step, int) or (isinstance(step, str) and step.isdecimal()) else None
