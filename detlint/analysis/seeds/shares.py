"""The share of a sequence that a rank takes, and the draws that put the sequence in order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from detlint.analysis.seeds.ranks import depends_on_rank, exchange
from detlint.analysis.values.conditions import applies
from detlint.catalogue import Row
from detlint.semantics.index import asked_once, last_word
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching

_DEPTH = 8
_MANY = re.compile(r"(?i)rank|world|dist|ddp|replicas|num_(nodes|process)")


@record(frozen=True, slots=True)
class Share:
    """The place where a rank takes its share, and a draw that its sequence comes from, with the table's row."""

    taken: s.Expression
    draw: s.Call
    row: Row


def drawn_shares(module: Module) -> Iterator[Share]:
    """Yield the shares of sequences that each rank puts in order by itself, once for each draw."""
    draws = _draws(module)
    told: set[s.Call] = set()
    for taken, sequence in _taken(module) if draws else ():
        for draw in _Origins(module, draws).of(sequence):
            if draw not in told and not (_is_for_one(module, draw) or _agree(module, draw) or _agree(module, taken)):
                told.add(draw)
                yield Share(taken, draw, draws[draw])


@asked_once
def _draws(module: Module) -> dict[s.Call, Row]:
    """Return the calls that order things, or choose among them, with a global generator."""
    found = {}
    for row in module.catalogue.rows("ranks", "permute"):
        for call in module.calls_to(row.list("names")):
            if applies(module, call, (), row.list("unless")):
                found[call] = row
    return found


def _taken(module: Module) -> Iterator[tuple[s.Expression, s.Expression]]:
    """Yield where a share is taken by rank, and of what: `order[rank::size]`, `islice(order, rank, None, size)`."""
    for node in module.every(s.Subscript):
        cut = node.indices[0] if len(node.indices) == 1 else None
        if isinstance(cut, s.Slice) and cut.lower is not None and not node.stored:
            other = cut.step or (cut.upper if cut.upper is not None and depends_on_rank(module, cut.upper) else None)
            if other is not None and depends_on_rank(module, cut.lower):
                yield node, node.value
    for call in module.calls_to(module.catalogue.names("ranks", "share")):
        if len(call.arguments) == 4 and depends_on_rank(module, call.arguments[1].value):
            yield call, call.arguments[0].value


class _Origins:
    """The path of a sequence back to the draws that it comes from, through functions and methods of the file."""

    def __init__(self, module: Module, draws: dict[s.Call, Row]) -> None:
        self.module = module
        self._draws = draws
        self._in_place = [call for call, row in draws.items() if row.text("kind") == "in place"]
        self._seen: set[s.Node] = set()

    def of(self, node: s.Expression, depth: int = _DEPTH) -> Iterator[s.Call]:
        """Yield the draws that a sequence comes from."""
        for part in s.walk(node) if depth else ():
            if part in self._seen:
                continue
            self._seen.add(part)
            if isinstance(part, s.Call):
                if part in self._draws:
                    yield part
                for name in self.module.callee(part):
                    function = self.module.functions.get(name)
                    for given in _given(function) if function is not None else ():
                        yield from self.of(given, depth - 1)
            elif isinstance(part, s.Name) and not part.stored:
                yield from (call for call in self._in_place if self._shuffles(call, part))
                for binding in reaching(part) or ():
                    if binding.kind in ("assign", "augment") and binding.value is not None:
                        yield from self.of(binding.value, depth - 1)
            elif isinstance(part, s.Attribute) and not part.stored:
                yield from (call for call in self._in_place if self._shuffles(call, part))
                owner = self.module.owner(part.value)
                for value in self.module.attribute_values(owner, part.attribute) if owner is not None else ():
                    yield from self.of(value, depth - 1)

    def _shuffles(self, call: s.Call, read: s.Name | s.Attribute) -> bool:
        """Return whether a call has shuffled a variable where that is read."""
        first = call.arguments[0].value if call.arguments else None
        if isinstance(read, s.Name):
            named = isinstance(first, s.Name) and first.id == read.id
            return named and self.module.function_of(call) is self.module.function_of(read) and call.order < read.order
        same = isinstance(first, s.Attribute) and first.attribute == read.attribute
        return same and self.module.class_of(call) is self.module.class_of(read)


def _given(function: s.Function) -> Iterator[s.Expression]:
    """Yield what a function returns or yields."""
    for node in s.walk(function.body):
        if isinstance(node, s.Leave) and node.kind == "return":
            yield from node.values
        elif isinstance(node, s.Operation) and node.operator in ("yield", "yield from"):
            yield from node.operands


def _agree(module: Module, node: s.Expression) -> bool:
    """Return whether the class or function around a node seeds a global generator, or has ranks exchange something."""
    around = module.class_of(node) or module.function_of(node) or module.file
    calls = [part for part in s.walk(around) if isinstance(part, s.Call)]
    seeding = module.catalogue.names("randomness", "seeder")
    return exchange(module, calls) or any(not module.callee(call).isdisjoint(seeding) for call in calls)


def _is_for_one(module: Module, draw: s.Call) -> bool:
    """Return whether a test around a draw may limit it to programs of one rank, or to one rank of several."""
    function = module.function_of(draw)
    below: s.Node = draw
    for outer in draw.ancestors():
        if outer is function:
            return False
        test = outer.test if isinstance(outer, (s.If, s.Conditional)) else None
        if test is not None and below is not test and any(_MANY.search(_word(part)) for part in s.walk(test)):
            return True
        below = outer
    return False


def _word(part: s.Node) -> str:
    return last_word(part) if isinstance(part, (s.Name, s.Attribute)) else ""
