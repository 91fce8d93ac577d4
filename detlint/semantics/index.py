"""An index of one file, which avoids repeated searches: nodes by kind, calls by spelling."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from functools import cached_property, wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar, cast

from detlint.catalogue import Catalogue, Row
from detlint.semantics.spelling import Spellings
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope

_STARS = ("*", "**")
N = TypeVar("N", bound=s.Node)
M = TypeVar("M", bound="Index")
P = ParamSpec("P")
T = TypeVar("T")


class Index:
    """The nodes of one file by kind and name, and its calls by spelling."""

    narrows: ClassVar[bool] = True  # False: rules look at every call, by which tests show that none is missed

    def __init__(self, file: s.File, catalogue: Catalogue) -> None:
        self.file = file
        self.catalogue = catalogue
        self.answers: dict[Hashable, Any] = {}
        self._reads: dict[str, dict[Scope | None, list[s.Name]]] = {}  # by name, and by the scope that binds it

    # Nodes

    @cached_property
    def _by_kind(self) -> Mapping[type[s.Node], list[Any]]:
        found: dict[type[s.Node], list[Any]] = defaultdict(list)
        for node in self.nodes:
            found[type(node)].append(node)
        return found

    def every(self, kind: type[N]) -> list[N]:
        """Return all nodes of a kind, parents before children."""
        return self._by_kind.get(kind, [])

    @property
    def nodes(self) -> list[s.Node]:
        """All nodes, parents before children."""
        return self.file.nodes

    @property
    def assignments(self) -> list[s.Assign]:
        """All assignments, in source order."""
        return self.every(s.Assign)

    @cached_property
    def _attributes(self) -> Mapping[str, list[s.Attribute]]:
        found: dict[str, list[s.Attribute]] = defaultdict(list)
        for node in self.every(s.Attribute):
            found[node.attribute].append(node)
        return found

    def attributes(self, name: str) -> list[s.Attribute]:
        """Return all `x.name`, for any `x`, parents before children."""
        return self._attributes.get(name, [])

    @cached_property
    def _names_by_id(self) -> Mapping[str, list[s.Name]]:
        found: dict[str, list[s.Name]] = defaultdict(list)
        for node in self.every(s.Name):
            found[node.id].append(node)
        return found

    def names_of(self, name: str) -> list[s.Name]:
        """Return all names spelled `name`, parents before children."""
        return self._names_by_id.get(name, [])

    @property
    def identifiers(self) -> set[str]:
        """The names and attributes of the file."""
        return {node.id for node in self.every(s.Name)} | {node.attribute for node in self.every(s.Attribute)}

    def reads(self, scope: Scope, name: str) -> list[s.Name]:
        """Return where a name bound in `scope` is read, including inner functions, in source order."""
        if name not in self._reads:
            found: dict[Scope | None, list[s.Name]] = defaultdict(list)
            for node in self.names_of(name):
                if not node.stored:
                    found[node.scope.find(name)].append(node)
            self._reads[name] = found
        return self._reads[name].get(scope, [])

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name, attribute, keyword and string of the file, and the components of what it imports."""
        found = self.identifiers
        found.update(node.keyword for node in self.every(s.Argument) if node.keyword is not None)
        found.update(node.value for node in self.every(s.Constant) if isinstance(node.value, str))
        found.update(parameter.name for parameter in self.every(s.Parameter))
        found.update(function.name for function in self.every(s.Function))
        found.update(klass.name for klass in self.every(s.Class))
        for part in self.file.annotations:
            if isinstance(part, (s.Name, s.Attribute)):
                found.add(last_word(part))
        for node in self.every(s.Import):
            found.update((node.module or "").split("."))
            found.update(part for name, _ in node.names for part in name.split("."))
        return frozenset(found)

    # Calls

    @cached_property
    def calls(self) -> list[s.Call]:
        """All calls, in evaluation order."""
        return sorted(self.every(s.Call), key=_order)

    @cached_property
    def _spellings(self) -> Spellings:
        return Spellings(self.every(s.Attribute), self.every(s.Class))

    @cached_property
    def _by_ending(self) -> Mapping[str | None, list[s.Call]]:
        """Calls by the last components of the names that they may be of; None: by any."""
        found: dict[str | None, list[s.Call]] = defaultdict(list)
        for call in self.calls:
            endings = self._spellings.of(call.function)
            for ending in (None,) if endings is None else endings:
                found[ending].append(call)
        return found

    def assignments_like(self, names: Collection[str]) -> list[s.Assign]:
        """Return, in source order, assignments that may set attributes of these qualified names, among others."""
        if not self.narrows:
            return self.assignments
        wanted = self.catalogue.spellings(frozenset(names))
        if self.words.isdisjoint(wanted):
            return []
        endings = self._set_endings.intersection(wanted)
        return _merged([self._sets[ending] for ending in (*endings, None) if ending in self._sets])

    @cached_property
    def _sets(self) -> Mapping[str | None, list[s.Assign]]:
        """Assignments by the last components of the names that the attributes they set may have; None: any."""
        found: dict[str | None, list[s.Assign]] = defaultdict(list)
        for node in self.assignments:
            attributes = [target for target in _targets(node.targets) if isinstance(target, s.Attribute)]
            every = [self._spellings.of(attribute) for attribute in attributes]
            for ending in {ending for endings in every for ending in ((None,) if endings is None else endings)}:
                found[ending].append(node)
        return found

    @cached_property
    def _set_endings(self) -> frozenset[str | None]:
        return frozenset(self._sets)

    @cached_property
    def _endings(self) -> frozenset[str | None]:
        return frozenset(self._by_ending)

    @cached_property
    def _by_word(self) -> Mapping[str, list[s.Call]]:
        """Calls by the last word of the called expression, as it is written."""
        found: dict[str, list[s.Call]] = defaultdict(list)
        for call in self.calls:
            found[last_word(call.function)].append(call)
        return found

    @cached_property
    def _by_keyword(self) -> Mapping[str, list[s.Call]]:
        found: dict[str, list[s.Call]] = defaultdict(list)
        for call in self.calls:
            for keyword in {argument.keyword or argument.star for argument in call.arguments}:
                found[keyword].append(call)
        return found

    def calls_like(
        self, names: Collection[str] = (), *, words: Iterable[str] = (), keywords: Iterable[str] = ()
    ) -> list[s.Call]:
        """Return the calls that may be of one of the qualified `names`, in evaluation order, perhaps among others.

        Calls written as one of `words` are included, and those with an argument of one of `keywords` ("*" and "**" are
        such). Nothing is resolved for this.
        """
        if not self.narrows:
            return self.calls
        found = self._calls_ending(names) if names else []
        found += [self._by_word[word] for word in words if word in self._by_word]
        spoken_of = [keyword for keyword in keywords if keyword in self.words or keyword in _STARS]
        found += [self._by_keyword[keyword] for keyword in spoken_of if keyword in self._by_keyword]
        return _merged(found)

    def calls_named(self, names: Collection[str]) -> list[s.Call]:
        """Return the same as `calls_like` for qualified names alone."""
        return _merged(self._calls_ending(names)) if self.narrows else self.calls

    def _calls_ending(self, names: Collection[str]) -> list[list[s.Call]]:
        wanted = self.catalogue.spellings(names if isinstance(names, (tuple, frozenset)) else frozenset(names))
        endings = self._endings
        found = [] if endings.isdisjoint(wanted) else [self._by_ending[each] for each in endings.intersection(wanted)]
        if None in endings:
            found.append(self._by_ending[None])
        return found

    def rows_like(self, file: str, table: str) -> tuple[Row, ...]:
        """Return the rows of a table of facts whose `names` or `calls` may be called here, in order."""
        rows = self.catalogue.rows(file, table)
        if not self.narrows or None in self._endings:
            return rows
        by_ending = self.catalogue.rows_by_ending(file, table)
        numbers = {number for ending in self._endings for number in by_ending.get(ending or "", ())}
        return tuple(rows[number] for number in sorted(numbers))

    def speaks_of(self, names: Collection[str]) -> bool:
        """Return whether the file has a word that can be an API of one of these qualified names."""
        return not self.narrows or not self.words.isdisjoint(self.catalogue.spellings(tuple(names)))


def asked_once(function: Callable[Concatenate[M, P], T]) -> Callable[Concatenate[M, P], T]:
    """Cache the answers of a function of a file and hashable arguments, per file; callers must not change an answer."""

    @wraps(function)
    def ask(module: M, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (function, args, *kwargs.items())
        if key not in module.answers:
            module.answers[key] = function(module, *args, **kwargs)
        answer: T = module.answers[key]
        return answer

    return cast("Callable[Concatenate[M, P], T]", ask)


def last_word(node: s.Expression) -> str:
    """Return the last component of a name as it is written, "" for what is no name."""
    return node.attribute if isinstance(node, s.Attribute) else node.id if isinstance(node, s.Name) else ""


def _targets(targets: Iterable[s.Expression]) -> Iterable[s.Expression]:
    for target in targets:
        yield from _targets(target.elements) if isinstance(target, s.Collection) else (target,)


def _merged(lists: list[list[N]]) -> list[N]:
    """Return the nodes of several lists, in evaluation order and each once."""
    if len(lists) < 2:
        return lists[0] if lists else []
    return sorted({node for nodes in lists for node in nodes}, key=_order)


def _order(node: s.Node) -> int:
    return node.order
