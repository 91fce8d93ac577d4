"""What libraries do, by rows of the tables: their functions, and the methods of objects that known calls make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from detlint.analysis.seeds.derived import derived_from
from detlint.analysis.seeds.generators import kept_as
from detlint.analysis.seeds.many import is_given_many
from detlint.analysis.values.conditions import applies, verdict
from detlint.analysis.values.origins import comes_by, origins
from detlint.catalogue import Row
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_WRAPPERS = 8  # wrappers around each other


def of_libraries(
    module: Module, file: str, table: str, *, open_too: bool = False
) -> Iterator[tuple[s.Call | s.Attribute, Row]]:
    """Yield the calls and attributes that rows of a table describe, each with the first row whose conditions all hold.

    With `open_too`, conditions that the file leaves open count as well; programs decide on these. A row has the `names`
    of functions, or `methods` and `attributes` of what the calls in `made` return.
    """
    told: set[s.Node] = set()
    for row in module.catalogue.rows(file, table):
        for node in _spoken_of(module, row):
            if node in told or (isinstance(node, s.Call) and not _holds(module, row, node, open_too)):
                continue
            told.add(node)
            yield node, row


def _spoken_of(module: Module, row: Row) -> Iterator[s.Call | s.Attribute]:
    if row.list("names"):
        yield from module.calls_to(row.list("names"))
    if not row.list("made") or (
        module.narrows and module.words.isdisjoint((*row.list("methods"), *row.list("attributes")))
    ):
        return
    methods = row.set("methods")
    for call in module.calls_like(words=methods):
        if last_word(call.function) in methods and makers(module, row, call.function):
            yield call
    for name in row.list("attributes"):
        for node in module.attributes(name):
            if not node.stored and makers(module, row, node):
                yield node


def _holds(module: Module, row: Row, call: s.Call, open_too: bool) -> bool:
    """Return whether the conditions of a row hold, and nothing in the file may replace the library's order."""
    known = verdict(module, call, row.list("when"), row.list("unless"))
    if known is False or (known is None and not open_too):
        return False
    if len([a for a in call.arguments if not a.keyword]) > int(row.text("position") or len(call.arguments)):
        return False
    if row.text("many") and not is_given_many(module, call):
        return False
    return module.words.isdisjoint(row.list("settled_by"))


def followed(call: s.Call, row: Row) -> s.Call:
    """Return the call with the order of `call`: that of a method in `then`, which keeps the order, or `call` itself."""
    method = call.parent
    outer = method.parent if isinstance(method, s.Attribute) and method.attribute in row.list("then") else None
    return outer if isinstance(outer, s.Call) and outer.function is method else call


def makers(module: Module, row: Row, function: s.Expression) -> list[list[s.Expression]]:
    """Return what made the object of this method, each behind its wrappers; empty unless the row names all of it."""
    through = row.text("through")
    if not isinstance(function, s.Attribute) or not _wrap(row, module.names(function.value)):
        return []
    if through and last_word(function.value) != through:
        return []
    if row.list("after") and not comes_by(module, function.value, row.list("after")):
        return []
    if comes_by(module, function.value, row.list("never_after")):
        return []
    found: list[list[s.Expression]] = []
    for each in origins(module, function.value):
        wrapped = _wrapped(module, row, each, _WRAPPERS)
        names = names_of(module, row, wrapped[-1]) if wrapped else frozenset()
        if not names or not names <= row.set("made") or (row.text("kept") and not _stays(module, wrapped)):
            return []
        found.append(wrapped)
    for *_, each in found:
        when, unless = row.list("made_when"), row.list("made_unless")
        if when and not isinstance(each, s.Call):
            return []
        if isinstance(each, s.Call) and not applies(module, each, when, unless):
            return []
    return found


def names_of(module: Module, row: Row, made: s.Expression) -> frozenset[str]:
    """Return the names of what made an object: what was called, or the types of a parameter."""
    if row.text("derived"):
        return derived_from(module, row, made)
    return module.callee(made) if isinstance(made, s.Call) else module.types(made)


def _wrapped(module: Module, row: Row, made: s.Expression, depth: int) -> list[s.Expression]:
    """Return a wrapper's call, that of its first argument, and so on to what is wrapped; empty where unsure."""
    called = module.callee(made) if isinstance(made, s.Call) else frozenset()
    if not called or not _wrap(row, called):
        return [made]
    first = made.arguments[0] if isinstance(made, s.Call) and made.arguments else None
    given = origins(module, first.value) if first is not None and not (first.star or first.keyword) else []
    inner = _wrapped(module, row, given[0], depth - 1) if len(given) == 1 and depth else []
    return [made, *inner] if inner else []


def _wrap(row: Row, names: Iterable[str]) -> bool:
    """Return whether all of these are names of wrappers, or of their members."""
    return all(f"{name}.".startswith(tuple(row.list("wrappers"))) for name in names)


def _stays(module: Module, wrapped: Sequence[s.Expression]) -> bool:
    """Return whether an object and its wrappers are used only for their attributes and methods, and to be wrapped."""
    inside = {made.arguments[0] for made in wrapped[:-1] if isinstance(made, s.Call)}
    named = [made for made in wrapped if made.parent not in inside]
    return bool(named) and all(is_used_alone(module, made, inside) for made in named)


def is_used_alone(module: Module, made: s.Expression, inside: Set[s.Argument]) -> bool:
    """Return whether an object is used only for its attributes and as these arguments, under a name or under none."""
    if isinstance(made.parent, s.Attribute):
        return True
    targets = kept_as(made) if isinstance(made, s.Call) else []
    for target in targets:
        scope = target.scope.find(target.id) if isinstance(target, s.Name) else None
        if isinstance(target, s.Name) and scope is not None:
            reads: list[s.Expression] = list(module.reads(scope, target.id))
        elif isinstance(target, s.Attribute):
            reads = [node for node in module.attributes(target.attribute) if not node.stored]
        else:
            return False
        if not all(isinstance(read.parent, s.Attribute) or read.parent in inside for read in reads):
            return False
    return bool(targets)
