"""Where the arbitrary order of what one file makes starts to matter in another."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Container, Iterator
from dataclasses import replace
from functools import cached_property

from detlint.finding import Place
from detlint.link.state.program import Program
from detlint.project.families import Families
from detlint.questions import DERIVES, ITERATED, SORTED, Carrier, Flow, Reaches
from detlint.support.records import record

_MOST = 2_000  # the most carriers examined for one question


@record(frozen=True, slots=True)
class Use:
    """A use of a `kind`, with the places on the way there, ending with the use itself."""

    kind: str
    places: tuple[Place, ...]


class Orders:
    """Arbitrary orders, followed through the flows of all files of a project."""

    def __init__(self, program: Program, families: Families) -> None:
        self.program = program
        self.families = families
        self.names = families.names
        self._flows: dict[Carrier, list[tuple[str, Flow, tuple[str, ...]]]] = {}

    def use(self, question: Reaches) -> Use | None:
        """Return the gravest use that a question asks for, by the shortest path; None if there is none."""
        found: Use | None = None
        for use in self._uses(question):
            if found is None or question.kinds.index(use.kind) < question.kinds.index(found.kind):
                found = use
        return found

    def _begun(self, question: Reaches) -> list[Carrier]:
        return [carrier for each in question.carriers for carrier in self._same(each, question.path)]

    def _uses(self, question: Reaches) -> Iterator[Use]:
        waiting = deque[tuple[Carrier, tuple[Place, ...]]]((carrier, ()) for carrier in self._begun(question))
        for flow in question.flows:
            if self._comes(flow, question.path):
                if flow.kind in question.kinds:
                    yield Use(flow.kind, (flow.place,))
                targets = self._same(flow.target, question.path) if flow.target is not None else []
                waiting += [(target, (flow.place,)) for target in targets]
        seen = {carrier for carrier, _ in waiting}
        while waiting and len(seen) < _MOST:
            carrier, way = waiting.popleft()
            flows = self._of(carrier)
            if any(flow.kind == SORTED and not rest for _, flow, rest in flows):
                continue
            for path, flow, rest in flows:
                if _gives_back(flow) or not self._comes(flow, path):
                    continue
                if question.apart and not way and path == question.path:
                    continue
                places = (*way, flow.place)
                if flow.kind in question.kinds and not rest:
                    yield Use(flow.kind, places)
                for target in self._same(flow.target, path) if flow.target is not None else ():
                    inner = replace(target, path=(*target.path, *rest))
                    if inner not in seen:
                        seen.add(inner)
                        waiting.append((inner, places))

    def _comes(self, flow: Flow, path: str) -> bool:
        """Return whether functions return the parameters that a flow comes through."""
        return not flow.through or self._are_among(flow, path, self._returning)

    def _are_among(self, flow: Flow, path: str, returning: Container[Carrier]) -> bool:
        return all(any(each in returning for each in self._same(carrier, path)) for carrier in flow.through)

    @cached_property
    def _returning(self) -> set[Carrier]:
        """The parameters that functions return in their order: the least fixpoint, whichever question comes first."""
        every = [
            (path, flow) for path, facts in self.program.facts.items() for flow in facts.flows if _gives_back(flow)
        ]
        found: set[Carrier] = set()
        while True:
            new = {flow.source for path, flow in every if self._are_among(flow, path, found)} - found
            if not new:
                return found
            found |= new

    def _of(self, carrier: Carrier) -> list[tuple[str, Flow, tuple[str, ...]]]:
        """Return the flows from a carrier, each with its file and the rest of the carrier's path, if it starts at a
        container.

        What holds something at unknown places may be made into something else on the way: such a flow ends there.
        """
        if carrier not in self._flows:
            found = []
            for path, flow in self._by_source.get(replace(carrier, path=()), ()):
                steps, rest = carrier.path[: len(flow.source.path)], carrier.path[len(flow.source.path) :]
                if len(steps) < len(flow.source.path) or not all(map(_may_be, steps, flow.source.path)):
                    continue
                if rest and (flow.target is None or not all(map(_is_named, rest))):
                    continue
                found.append((path, flow, rest))
            self._flows[carrier] = found
        return self._flows[carrier]

    def _same(self, carrier: Carrier, path: str) -> list[Carrier]:
        """Return a carrier under the qualified name of its definition.

        For an attribute, return one carrier for each class of the family, and its place in an object of that class.
        """
        name = self.names.defined(carrier.name, path)
        if carrier.kind == "attribute":
            family = self.families.family(name)
            inner = (f"attribute:{carrier.part}", *carrier.path)
            return [
                *(replace(carrier, name=each) for each in family),
                *(Carrier("result", each, path=inner) for each in family),
            ]
        if carrier.kind == "parameter":
            own = self.families.constructor(name)
            return [replace(carrier, name=own, part=self.families.parameter(own, carrier.part))]
        owner, _, method = name.rpartition(".")
        if carrier.kind == "result" and method == ITERATED:  # by whoever makes an object of the class
            return [replace(carrier, name=each) for each in (name, *self.families.family(owner))]
        if carrier.kind == "result" and owner in self.families.classes:  # by whoever calls the method of an object
            called = (f"call:{method}", *carrier.path)
            return [
                replace(carrier, name=name),
                *(Carrier("result", each, path=called) for each in self.families.family(owner)),
            ]
        return [replace(carrier, name=name)]

    @cached_property
    def _by_source(self) -> dict[Carrier, list[tuple[str, Flow]]]:
        """Flows by their source as a whole, under the names of its definitions."""
        found: dict[Carrier, list[tuple[str, Flow]]] = defaultdict(list)
        for path, facts in self.program.facts.items():
            for flow in facts.flows:
                if flow.kind != DERIVES:
                    for source in dict.fromkeys(self._same(replace(flow.source, path=()), path)):
                        found[source].append((path, flow))
        return found


def _gives_back(flow: Flow) -> bool:
    """Return whether a flow goes from a parameter to its function's own result, which `Flow.through` covers."""
    source, target = flow.source, flow.target
    own = target is not None and target.kind == "result" and not target.path and target.name == source.name
    return source.kind == "parameter" and not source.path and own


def _may_be(step: str, taken: str) -> bool:
    """Return whether two steps into a value may be the same: of one kind, and with equal keys or an unknown one."""
    (kind, _, key), (other, _, wanted) = step.partition(":"), taken.partition(":")
    return kind == other and (not key or not wanted or key == wanted)


def _is_named(step: str) -> bool:
    """Return whether a step is to an attribute, to what a method gives, or to an entry with a known key."""
    return not step.startswith("item:") and not step.endswith(":")
