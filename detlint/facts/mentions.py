"""Names that other files have to mention for a program to get to a piece of code, as its own file does not."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, inside


def names_needed(module: Module, node: s.Node) -> tuple[str, ...]:
    """Return the names that other files have to mention for a program to get to `node`, "A|B" for one of two.

    Code of this file that uses what is named may stand for it. Left out is what this file uses outside of functions and
    classes, what is decorated, as a decorator may register it, and methods that a base class from elsewhere may call.
    """
    found = ("|".join(sorted(_ways_in(module, each))) for each in _around(module, node))
    return tuple(dict.fromkeys(names for names in found if names))


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


def _ways_in(module: Module, node: s.Function | s.Class) -> set[str]:
    """Return the names by which other files get to a definition; none where this file gets to it by itself."""
    names: set[str] = set()
    left = [node]
    while left:
        each = left.pop()
        if each.name in names:
            continue
        names.add(each.name)
        if each.decorators or any(t.value == each.name and not _is_export(t) for t in module.every(s.Constant)):
            return set()
        uses: list[s.Node] = [*module.names_of(each.name), *module.attributes(each.name)]
        for use in uses:
            if not inside(use, each) and not getattr(use, "stored", False):
                users = [a for a in use.ancestors() if isinstance(a, (s.Function, s.Class))]
                if not users:
                    return set()
                left.append(users[-1])
    return names


def _is_export(text: s.Constant) -> bool:
    """Return whether a text is in `__all__`."""
    around = next((each for each in text.ancestors() if isinstance(each, s.Assign)), None)
    target = around.targets[0] if around is not None else None
    return isinstance(target, s.Name) and target.id == "__all__"
