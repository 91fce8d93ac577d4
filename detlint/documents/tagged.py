"""HyperPyYAML: files whose tags name what is made from their parts, expressed in the keys that Hydra uses."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from detlint.documents.targets import PARTIAL, POSITIONAL, TARGET
from detlint.documents.trees import at

_REFERENCE = re.compile(r"<([\w-]+(?:\[[\w-]+\])*)>")
_STEP = re.compile(r"[^\[\]]+")
_FURTHER = 8  # references that lead to other references


class _Reference(str):
    """A reference to another part of the file, as `${name}`."""

    __slots__ = ()


def untagged(text: str, loader: Any) -> Any:
    """Return what a text says to a `loader` that knows the tags; None if it includes other files."""
    import yaml

    try:
        said = yaml.load(text, _tagged(loader))
    except yaml.YAMLError:
        return None
    return _settled(said, said)


def _settled(part: Any, root: Any) -> Any:
    """Return a part in which references are replaced by plain values only: an object is made only once."""
    if isinstance(part, dict):
        return {key: _settled(value, root) for key, value in part.items()}
    if isinstance(part, list):
        return [_settled(value, root) for value in part]
    found = part
    for _ in range(_FURTHER):
        if not isinstance(found, _Reference):
            plain = found is None or isinstance(found, (str, int, float))
            return str(part) if plain and isinstance(part, _Reference) else found if plain else object()
        found = at(root, tuple(_STEP.findall(found[2:-1])))
    return object()


@cache
def _tagged(loader: Any) -> Any:
    """Return a loader that knows the tags; what it cannot express is an unknown `object()`."""
    import yaml

    class Loader(loader):  # type: ignore[misc]
        pass

    def arguments(loader: Any, node: yaml.Node) -> dict[Any, Any]:
        if isinstance(node, yaml.MappingNode):
            return dict(loader.construct_mapping(node, deep=True))
        return {POSITIONAL: loader.construct_sequence(node, deep=True)} if isinstance(node, yaml.SequenceNode) else {}

    def made(loader: Any, name: str, node: yaml.Node) -> Any:
        return {TARGET: name} | arguments(loader, node)

    def named(loader: Any, name: str, node: yaml.Node) -> Any:
        return made(loader, name, node) | {PARTIAL: True}

    def refers(loader: Any, node: yaml.Node) -> Any:
        match = _REFERENCE.fullmatch(node.value.strip()) if isinstance(node, yaml.ScalarNode) else None
        return object() if match is None else _Reference(f"${{{match[1]}}}")

    def takes_in(loader: Any, name: str, node: yaml.Node) -> Any:
        raise yaml.constructor.ConstructorError(None, None, "another file", node.start_mark)

    tags = {"new": made, "apply": made, "name": named, "include": takes_in, "applyref": takes_in}
    for tag, constructor in tags.items():
        Loader.add_multi_constructor(f"!{tag}:", constructor)
    for tag in ("!ref", "!copy"):
        Loader.add_constructor(tag, refers)
    Loader.add_multi_constructor("!", lambda loader, name, node: object())
    return Loader
