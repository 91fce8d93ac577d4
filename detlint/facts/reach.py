"""What the programs of a project reach in a file: a change of anything else leaves their answers as they are.

A function that no program enters matters by its parameters and by the files of the project that it imports. A variable
of a module that no program looks up does not matter at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from detlint.facts import facts as f
from detlint.facts.facts import ALL, Facts, Function

_PLAIN = (f.Literal, f.Global, f.Display, f.Table, f.Computed, f.Joined, f.Compare, f.Junction)
Words = frozenset[str]


@dataclass(frozen=True)
class Reached:
    """What programs reach in a file that they run.

    `names` are those that they look up among the variables of its module, "*" if they look at all, and `functions`
    those that they enter, by qualified name. Both are one text, separated by slashes, which no name has: thousands of
    them are kept and read in every run.
    """

    names: str
    functions: str

    @classmethod
    def of(cls, names: Iterable[str], functions: Iterable[str]) -> Reached:
        """Return what is reached, without functions known by the number of a node, which changes with lines."""
        return cls("/".join(sorted(names)), "/".join(sorted(name for name in functions if ":" not in name)))


def words(paths: Iterable[str]) -> Words:
    """Return the words in paths: a module none of whose names is among them is no file there."""
    return frozenset(word for path in paths for word in re.split(r"[/.]", path))


def reached_part(facts: Facts, reached: Reached | None, own: Words) -> Facts:
    """Return the facts of a file without what no program reaches.

    `reached` is None for a file that no program runs, `own` are the words of the paths of the project's files.
    """
    if reached is None:
        bodies = (facts.top, *(function.body for function in facts.functions.values()))
        return replace(facts, top=_imports(bodies, own), functions={})
    entered = frozenset(reached.functions.split("/"))
    top, gone = _top(facts, frozenset(reached.names.split("/")), entered, own)
    left = {name for name in facts.functions if ":" not in name and name not in entered}  # orders change with lines
    functions: dict[str, Function] = {}
    unrun: list[f.Statements] = []
    for name, function in facts.functions.items():
        inner = not left.isdisjoint(_around(name))
        if inner or name in left:
            unrun.append(function.body)
        if not (inner or name in gone):
            functions[name] = replace(function, body=()) if name in left else function
    return replace(facts, top=(*top, *_imports(unrun, own)), functions=functions)


def _top(facts: Facts, asked: Words, entered: frozenset[str], own: Words) -> tuple[f.Statements, frozenset[str]]:
    """Return what matters of the top level, and the functions that its other statements define."""
    if ALL in asked:
        return tuple(facts.top), frozenset()
    kept: list[f.Statement] = []
    gone: set[str] = set()
    for node in facts.top:
        if not (asked.isdisjoint(_bound(node)) and _only_binds(node, facts, entered, own)):
            kept.append(node)
        elif isinstance(node, f.Define):
            gone.add(node.function)
    return tuple(kept), frozenset(gone)


def _bound(node: f.Statement) -> Iterator[str]:
    """Yield the variables of its module that a statement binds."""
    if isinstance(node, f.Define):
        yield node.name
    elif isinstance(node, f.Bind):
        yield from (target.name for target in node.targets if isinstance(target, f.Global))
    elif isinstance(node, f.Import):
        yield from [node.alias or node.module.partition(".")[0]] if node.names is None else (n for _, n in node.names)


def _only_binds(node: f.Statement, facts: Facts, entered: frozenset[str], own: Words) -> bool:
    """Return whether a statement only binds variables, and any function that it defines is not entered."""
    if isinstance(node, f.Bind):
        return _is_plain(node.value) and all(isinstance(target, f.Global) for target in node.targets)
    if isinstance(node, f.Import):
        return not _is_own(node, own) and all(name != "*" for name, _ in node.names or ())
    if not isinstance(node, f.Define) or node.decorators or ":" in node.function or node.function in entered:
        return False
    return all(_is_plain(parameter.default) for parameter in facts.functions[node.function].parameters)


def _is_plain(node: object) -> bool:
    """Return whether evaluating an expression calls nothing."""
    if isinstance(node, tuple):
        return all(map(_is_plain, node))
    if not hasattr(node, "__dataclass_fields__"):
        return True
    return isinstance(node, _PLAIN) and all(_is_plain(getattr(node, name)) for name in node.__dataclass_fields__)


def _imports(bodies: Iterable[Iterable[f.Statement]], own: Words) -> tuple[f.Import, ...]:
    """Return imports of the project's files from statements that nobody runs, without the names taken from them."""
    found: set[tuple[int, str]] = set()
    for node in (node for body in bodies for node in f.walk(body) if isinstance(node, f.Import)):
        if _is_own(node, own):
            modules = ("", *(name for name, _ in node.names or () if name in own))
            found |= {(node.level, ".".join(filter(None, (node.module, name)))) for name in modules}
    return tuple(f.Import(module, level, None, None, 0) for level, module in sorted(found))


def _is_own(node: f.Import, own: Words) -> bool:
    """Return whether what is imported may be a file of the project."""
    return node.level > 0 or not own.isdisjoint(node.module.split("."))


def _around(name: str) -> Iterator[str]:
    """Yield the qualified names of what may be around a function."""
    while name := name.rpartition(".")[0]:
        yield name
