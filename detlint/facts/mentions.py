"""Names that other files have to mention for a program to get to a piece of code, as its own file does not."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, inside


def names_needed(module: Module, node: s.Node) -> tuple[str, ...]:
    """Return the names that other files have to mention for a program to get to `node`.

    Left out are those that this file mentions itself, those of what is decorated, as a decorator may register it, and
    methods that a base class from elsewhere may call.
    """
    return tuple(dict.fromkeys(each.name for each in _around(module, node) if not _is_mentioned(module, each)))


def _around(module: Module, node: s.Node) -> Iterator[s.Function | s.Class]:
    """Yield the class, and the method or function, that a file defines around a node."""
    for each in node.ancestors():
        if not isinstance(each, (s.Function, s.Class)) or not each.name.isidentifier():
            continue
        outer = next((a for a in each.ancestors() if isinstance(a, (s.Function, s.Class))), None)
        if outer is None or (
            isinstance(each, s.Function) and (klass := class_of(each)) is not None and _is_own(module, klass, each)
        ):
            yield each


def _is_own(module: Module, klass: s.Class, method: s.Function) -> bool:
    """Return whether only code of the project can call a method by its name."""
    bases = [base for base in module.ancestry(klass) if base not in module.classes]
    known = module.catalogue.names("memory", "owner", "bases")  # which call nothing of the project by other names
    run = module.catalogue.names("contexts", "code", id="forward")
    return known.issuperset(bases) and method.name not in run and not method.name.startswith("__")


def _is_mentioned(module: Module, node: s.Function | s.Class) -> bool:
    if node.decorators:
        return True
    uses: list[s.Node] = [*module.names_of(node.name), *module.attributes(node.name)]
    if any(not inside(use, node) and not getattr(use, "stored", False) for use in uses):
        return True
    return any(text.value == node.name and not _is_export(text) for text in module.every(s.Constant))


def _is_export(text: s.Constant) -> bool:
    """Return whether a text is in `__all__`."""
    around = next((each for each in text.ancestors() if isinstance(each, s.Assign)), None)
    target = around.targets[0] if around is not None else None
    return isinstance(target, s.Name) and target.id == "__all__"
