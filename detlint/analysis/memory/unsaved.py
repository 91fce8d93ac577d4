"""Buffers that no checkpoint holds: what `to_empty` leaves in them stays, unless something fills them again."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of


def unsaved(module: Module) -> Iterator[tuple[s.Call, s.Class, str]]:
    """Yield the calls in constructors that register buffers which are not saved, each with its class and its name."""
    for call in module.calls_like(words=module.catalogue.names("memory", "owner", "registers")):
        function = module.function_of(call)
        klass = class_of(function) if function is not None and function.name == "__init__" else None
        if klass is None or not isinstance(call.function, s.Attribute) or not module.is_a(klass, "module"):
            continue
        given = {argument.keyword or str(place): argument.value for place, argument in enumerate(call.arguments)}
        name, value = (given.get(key, given.get(str(place))) for place, key in enumerate(("name", "tensor")))
        kept = given.get("persistent", given.get("2"))
        named = literal(name) if name is not None else None
        if kept is None or literal(kept) is not False or value is None or literal(value) is None:
            continue
        if isinstance(named, str):
            yield call, klass, named
