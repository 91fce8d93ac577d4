"""Parts of memory that indexed writes certainly leave unwritten."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum, auto

from detlint.analysis.memory.skipping import loops, skips
from detlint.analysis.memory.uses import Store, covers_all
from detlint.analysis.values.sizes import is_whole
from detlint.analysis.values.tensors import makers
from detlint.semantics.model import Module
from detlint.semantics.values import UNKNOWN, literal
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching

_COUNTED = 4096  # elements along a dimension that are checked one by one
_COMPARES = frozenset(("==", "!=", "<", "<=", ">", ">=", "~", "&", "|", "^", "not in"))
_COUNTERS = ("builtins.range", "builtins.enumerate")
Place = tuple[bool, int]  # a dimension: whether it is counted from the first one, and its index


class Gap(Enum):
    """The kind of gap that writes leave.

    LENGTH: what lies behind a length, or was skipped by a loop; code that receives the memory may know the length.
    PLACES: places that are not read where only other places are. MARKS: all but the places marked with one constant;
    every read depends on them.
    """

    LENGTH = auto()
    PLACES = auto()
    MARKS = auto()


class Coverage:
    """The gaps that the writes of one file leave."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def gap(self, call: s.Call, stores: Sequence[Store]) -> Gap | None:
        """Return the gap that `stores`, all stores to `call`'s memory, certainly leave; None where there may be none.

        There is a gap where the stores never reach some index along a dimension, and where a single store picks its
        places by a comparison or takes its values from the same places elsewhere. There is also one where a single
        constant is written to picked places: were it meant for all places, the memory would have been made of it.
        """
        if not stores:
            return None
        if self._is_one_constant(stores) and any(
            self._picks(call, each) or skips(call, each, within=True) for each in stores
        ):
            return Gap.MARKS
        places = [self._places(call, store) for store in stores]
        dimensions = {place for each in places for place in each or ()}
        found = {
            self._hole(call, stores, [(each or {}).get(place) for each in places], place)
            for place in dimensions
            if all(each is not None for each in places)
        }
        alone = stores[0] if len(stores) == 1 else None
        if Gap.PLACES in found or (alone is not None and not loops(call, alone) and self._is_picked(call, alone)):
            return Gap.PLACES
        return Gap.LENGTH if Gap.LENGTH in found or (alone is not None and skips(call, alone)) else None

    # One constant

    def _is_one_constant(self, stores: Sequence[Store]) -> bool:
        found = {self._constant(store.value) for store in stores}
        return len(found) == 1 and None not in found

    def _constant(self, value: s.Expression | None) -> str | None:
        """Return the value that all runs of a store write, as text; None where it may differ."""
        if value is None:
            return None
        constants = self.module.constants(value)
        if constants is not None and len(constants) == 1 and isinstance(constants[0], (int, float)):
            return repr(float(constants[0]))
        sign = isinstance(value, s.Operation) and value.operator == "-" and len(value.operands) == 1
        inner = value.operands[0] if isinstance(value, s.Operation) and sign else value
        named = {name.rpartition(".")[2] for name in self.module.names(inner)} if _is_reference(inner) else set()
        if named and named <= {"inf", "nan"}:
            return f"{'-' * sign}{min(named)}"
        if isinstance(inner, s.Call) and self.module.callee(inner) == {"builtins.float"}:
            told = [literal(argument.value) for argument in inner.arguments]
            return f"{'-' * sign}{told[0]}" if len(told) == 1 and isinstance(told[0], str) else None
        return None

    def _picks(self, call: s.Call, store: Store) -> bool:
        """Return whether a store picks its places, rather than writing one after the other."""
        if store.index is None:
            return True
        return not all(
            covers_all([index]) or literal(index) is not UNKNOWN or self._counts(index) or self._is_bound(call, index)
            for index in store.index
        )

    def _counts(self, index: s.Expression) -> bool:
        """Return whether an index is the counter of a loop."""
        scope = index.scope.find(index.id) if isinstance(index, s.Name) else None
        bindings = scope.bindings.get(index.id, []) if scope is not None and isinstance(index, s.Name) else []
        for binding in bindings:
            value = binding.value
            names = self.module.callee(value) if isinstance(value, s.Call) else frozenset[str]()
            range_like = names <= set(_COUNTERS) and bool(names)
            if binding.kind == "augment" or (binding.kind == "for" and range_like and binding.path in ((), (0,))):
                return True
        return False

    def _is_bound(self, call: s.Call, index: s.Expression) -> bool:
        """Return whether an index is a slice that ends where the memory may end."""
        if not isinstance(index, s.Slice) or index.step is not None:
            return False
        lower = 0 if index.lower is None else literal(index.lower)
        sizes = {self._resolved(size) for size in _walked_sizes(call)}
        return lower == 0 and (index.upper is None or self._resolved(index.upper) in sizes)

    # Holes

    def _places(self, call: s.Call, store: Store) -> dict[Place, s.Expression] | None:
        """Return the index that a store has along each dimension; None where that is not known."""
        if store.index is None:
            return None
        found: dict[Place, s.Expression] = {}
        indices = list(store.index)
        if any(literal(index) is None for index in indices):
            return None
        if len(indices) == len(self._sizes(call) or ()) and not any(literal(index) is ... for index in indices):
            return {(True, i): index for i, index in enumerate(indices)}
        split = next((i for i, index in enumerate(indices) if literal(index) is ...), len(indices))
        for i, index in enumerate(indices[:split]):
            found[True, i] = index
            if not self._is_single(index):
                break
        for i, index in enumerate(reversed(indices[split + 1 :])):
            found[False, -1 - i] = index
            if not self._is_single(index):
                break
        return found

    def _is_single(self, index: s.Expression) -> bool:
        """Return whether an index certainly takes one dimension: a mask may take several."""
        plain = isinstance(index, (s.Slice, s.Constant)) or literal(index) is not UNKNOWN
        return plain or self._counts(index) or is_whole(self.module, index)

    def _hole(
        self, call: s.Call, stores: Sequence[Store], found: Sequence[s.Expression | None], place: Place
    ) -> Gap | None:
        """Return the gap that all stores leave along a dimension, or None; `found` is the index of each store there."""
        size = self._size(call, place)
        entries: list[s.Expression] = []
        for store, index in zip(stores, found, strict=True):
            if index is None or covers_all([index]) or not self._is_told(call, store, index):
                return None
            entries.append(index)
        count = literal(size) if size is not None else UNKNOWN
        if isinstance(count, int) and not isinstance(count, bool):
            ranges = [_indices(index, count) for index in entries]
            if all(each is not None for each in ranges) and count <= _COUNTED:
                whole = {i for each in ranges for i in each or ()}.issuperset(range(count))
                return None if whole else Gap.PLACES
        if len({self.module.source(index) for index in entries}) == 1:
            if self._ends_there(entries[0], size):
                return None
            return Gap.LENGTH if _has_length(entries[0]) else Gap.PLACES
        first = any(_may_reach(index, last=False) and not self._starts_late(index) for index in entries)
        reached = first and any(_may_reach(index, last=True) for index in entries)
        return None if reached else Gap.PLACES

    def _is_told(self, call: s.Call, store: Store, index: s.Expression) -> bool:
        """Return whether an index is known to pick one place, or a range with a bound that the author chose."""
        if isinstance(index, s.Slice):
            given = [bound for bound in (index.lower, index.upper) if bound is not None]
            told = len(given) < 2 or any(literal(bound) is not UNKNOWN for bound in given)
            return told or self._is_once(call, store)
        if literal(index) is not UNKNOWN:
            return isinstance(literal(index), int)
        if self._starts_late(index):
            return True
        return not loops(call, store) and not self._counts(index) and is_whole(self.module, index)

    def _starts_late(self, index: s.Expression, depth: int = 3) -> bool:
        """Return whether an index is a counter that is never 0: of `range(1, n)`, or of `range(i + 1, n)`."""
        bindings = reaching(index) if isinstance(index, s.Name) else None
        starts = [_start(binding.value) for binding in bindings or () if binding.kind in ("for", "comprehension")]
        told = bool(bindings) and len(starts) == len(bindings or ())
        return told and all(start is not None and self._is_positive(start, depth) for start in starts)

    def _is_positive(self, node: s.Expression, depth: int) -> bool:
        number = literal(node)
        if isinstance(number, int):
            return number > 0
        if not isinstance(node, s.Operation) or node.operator != "+" or depth == 0:
            return False
        first, second = node.operands if len(node.operands) == 2 else (node, node)
        return self._counts(first) and self._is_positive(second, depth - 1)

    def _is_once(self, call: s.Call, store: Store) -> bool:
        """Return whether each iteration of the loops around a store writes to another place, by an index of its own."""
        plain = {index.id for index in store.index or () if isinstance(index, s.Name)}
        targets = [
            {node.id for node in s.walk(loop.target) if isinstance(node, s.Name)} if isinstance(loop, s.For) else set()
            for loop in loops(call, store)
        ]
        return all(not plain.isdisjoint(target) for target in targets)

    def _ends_there(self, index: s.Expression, size: s.Expression | None) -> bool:
        """Return whether the one index that all stores share may cover a whole dimension of this size."""
        if not isinstance(index, s.Slice):
            return size is not None and literal(size) == 1
        if index.step is not None and literal(index.step) not in (1, -1):
            return False
        lower = 0 if index.lower is None else literal(index.lower)
        if lower != 0 or index.upper is None:
            return False
        if size is None:
            return isinstance(literal(index.upper), int) and not _from_the_end(index.upper)
        return self._resolved(index.upper) == self._resolved(size)

    def _size(self, call: s.Call, place: Place) -> s.Expression | None:
        """Return the size of the allocation along a dimension, or None where it is not written down."""
        sizes = self._sizes(call)
        front, at = place
        known = sizes is not None and (0 <= at < len(sizes) if front else -len(sizes) <= at)
        return sizes[at] if sizes is not None and known else None

    def _sizes(self, call: s.Call) -> list[s.Expression] | None:
        """Return the sizes that an allocation is given, one for each dimension, or None where they are not known."""
        if any(argument.star for argument in call.arguments) or call_gives_like(self.module, call):
            return None
        given = [a.value for a in call.arguments if a.keyword in ("size", "shape")]
        given = given or [a.value for a in call.arguments if a.keyword is None]
        first = given[0] if given else None
        values = self.module.values(first) if first is not None else None
        first = values[0] if values is not None and len(values) == 1 else first
        if isinstance(first, s.Collection):
            return first.elements
        numbers = [value for value in given if literal(value) is not UNKNOWN or is_whole(self.module, value)]
        return numbers if numbers and len(numbers) == len(given) else None

    def _resolved(self, node: s.Expression) -> str:
        """Return the text of an expression, or of the one value that it is known to have."""
        values = self.module.values(node)
        return self.module.source(values[0] if values is not None and len(values) == 1 else node)

    # One pick

    def _is_picked(self, call: s.Call, store: Store) -> bool:
        """Return whether a store picks its places by an index that selects some, or as its value is picked elsewhere.

        An index selects some as a comparison does, or picks one of each enumerated row: `x[arange(n), labels]`.
        """
        if store.index is None or not self._picks(call, store):
            return False
        picked = [node.indices for node in s.walk(store.value) if isinstance(node, s.Subscript)] if store.value else []
        alike = any(self._text(indices) == self._text(store.index) for indices in picked)
        counted = [index for index in store.index if self._is_made_by("rows", index)]
        free = [index for index in store.index if isinstance(index, s.Slice) or literal(index) is not UNKNOWN]
        one_each = bool(counted) and len(store.index) - len(free) > 1
        return alike or one_each or any(self._compares(i) or self._is_made_by("some", i) for i in store.index)

    def _is_made_by(self, kind: str, index: s.Expression) -> bool:
        """Return whether an index is the result of calls of a kind in the table."""
        names = self.module.catalogue.names("memory", "index", id=kind)
        methods = self.module.catalogue.names("memory", "index", "methods", id=kind)
        made = [value for value, _ in makers(self.module, index)] or [index]
        called = [value.value if isinstance(value, s.Subscript) else value for value in made]
        return all(
            isinstance(value, s.Call)
            and (
                not names.isdisjoint(self.module.callee(value))
                or (isinstance(value.function, s.Attribute) and value.function.attribute in methods)
            )
            for value in called
        )

    def _text(self, indices: Sequence[s.Expression]) -> list[str]:
        return [self.module.source(index) for index in indices]

    def _compares(self, index: s.Expression) -> bool:
        values = self.module.values(index) or [index]
        return all(isinstance(value, s.Operation) and value.operator in _COMPARES for value in values)


def call_gives_like(module: Module, call: s.Call) -> bool:
    """Return whether an allocation takes its shape from another tensor or array."""
    return any(name.endswith("_like") for name in module.callee(call))


def _is_reference(node: s.Expression) -> bool:
    return isinstance(node, (s.Name, s.Attribute))


def _walked_sizes(call: s.Call) -> Iterator[s.Expression]:
    for argument in call.arguments:
        yield argument.value
        if isinstance(argument.value, s.Collection):
            yield from argument.value.elements


def _indices(index: s.Expression, count: int) -> set[int] | None:
    """Return the indices that are picked along a dimension of this size, or None where they are not known."""
    if isinstance(index, s.Slice):
        given = (index.lower, index.upper, index.step)
        bounds = [literal(bound) for bound in given if bound is not None]
        if not all(isinstance(bound, int) for bound in bounds):
            return None
        lower, upper, step = (None if bound is None else int(str(literal(bound))) for bound in given)
        return set(range(count)[slice(lower, upper, step)])
    told = literal(index)
    return {told % count if count else told} if isinstance(told, int) else None


def _start(value: s.Expression | None) -> s.Expression | None:
    """Return the start of a `range` that counts upwards, or None for anything else."""
    given = value.arguments if isinstance(value, s.Call) and isinstance(value.function, s.Name) else []
    step = literal(given[2].value) if len(given) > 2 else 1
    plain = isinstance(value, s.Call) and getattr(value.function, "id", "") == "range" and len(given) > 1
    return given[0].value if plain and isinstance(step, int) and step > 0 else None


def _has_length(index: s.Expression) -> bool:
    """Return whether a slice has a bound that is not a literal."""
    return isinstance(index, s.Slice) and any(
        bound is not None and literal(bound) is UNKNOWN for bound in (index.lower, index.upper)
    )


def _from_the_end(bound: s.Expression) -> bool:
    """Return whether a bound of a slice is counted from the end."""
    told = literal(bound)
    return isinstance(told, int) and told < 0


def _may_reach(index: s.Expression, *, last: bool) -> bool:
    """Return whether an index may pick the first, or the last, place along a dimension of unknown size."""
    if isinstance(index, s.Slice):
        bound = index.upper if last else index.lower
        told = 0 if bound is None else literal(bound)
        return bound is None or not isinstance(told, int) or (told >= 0 if last else told <= 0)
    told = literal(index)
    if not isinstance(told, int):
        return True
    return told == -1 or told > 0 if last else told == 0 or told < 0
