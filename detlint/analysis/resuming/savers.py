"""Checkpoints that objects of libraries write and restore themselves, by the table `saver` of `checkpoints.toml`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from detlint.analysis.resuming.checkpoints import Checkpoints, Resumed
from detlint.analysis.values.conditions import applies, holds
from detlint.analysis.values.dicts import Entries
from detlint.analysis.values.origins import returned
from detlint.catalogue import Row
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.support.records import record
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching

_DEPTH = 6


@record(frozen=True, slots=True)
class Kept:
    """A checkpoint without states of generators: the row that says so, where it stands, and where it is resumed.

    `saved` takes one more entry: a dict that is saved as well, or a call whose keywords are; None if there is none.
    """

    row: Row
    node: s.Call
    resumed: tuple[Resumed, ...]
    saved: s.Dictionary | s.Call | None


def kept(checkpoints: Checkpoints) -> Iterator[Kept]:
    """Yield the checkpoints of libraries that the file resumes from, one for each place that writes them."""
    module = checkpoints.module
    rows = module.catalogue.rows("checkpoints", "saver")
    if not _spoken(module, module.catalogue.names("checkpoints", "saver", "readers")):
        return
    for row in rows:
        resuming = [call for call in _spoken(module, row.list("readers")) if _resumes(checkpoints, row, call)]
        resumed = tuple(_resumed(row, call) for call in resuming)
        for call in _places(checkpoints, row, resuming) if resuming else ():
            yield Kept(row, call, resumed, _extra(checkpoints, row, call))


def _resumed(row: Row, call: s.Call) -> Resumed:
    """Return where a run is resumed, with the name of what was loaded but not restored, if the call returns that."""
    statement = call.parent if isinstance(call.parent, s.Assign) else None
    target = statement.targets[0] if statement is not None and len(statement.targets) == 1 else None
    if row.text("rest") and isinstance(target, s.Collection):
        index = int(row.text("rest"))
        target = target.elements[index] if index < len(target.elements) else None
    return Resumed(call, target if isinstance(target, s.Name) else None, None, "", statement)


def _extra(checkpoints: Checkpoints, row: Row, call: s.Call) -> s.Dictionary | s.Call | None:
    """Return the dict or call that can take one more entry to save, or None."""
    if not row.text("extra") or last_word(call.function) not in row.set("writers"):
        return None
    given = _given(row, call, row.text("extra"))
    return call if row.text("extra") == "**" else checkpoints.made(given[0]) if given else None


def _places(checkpoints: Checkpoints, row: Row, resuming: list[s.Call]) -> list[s.Call]:
    """Return where a checkpoint is made: the calls configured for it, those that write it, or those that resume."""
    module = checkpoints.module
    if row.text("at") == "made":
        when, unless = row.list("when"), row.list("unless")
        return [call for call in module.calls_to(row.set("names")) if applies(module, call, when, unless)]
    if not row.list("writers"):
        return resuming
    writing = [call for call in _spoken(module, row.list("writers")) if _writes(checkpoints, row, call)]
    return writing if all(_is_without_states(checkpoints, row, call) for call in writing) else []


# What resumes and what writes


def _spoken(module: Module, names: Iterable[str]) -> list[s.Call]:
    """Return the calls whose last word is that of one of these functions or methods."""
    return module.calls_like(words={name.rpartition(".")[2] for name in names})


def _resumes(checkpoints: Checkpoints, row: Row, call: s.Call) -> bool:
    """Return whether a call may resume from such a checkpoint; arguments of unknown value do not rule it out."""
    module = checkpoints.module
    if not _is_one(module, row, call, row.set("readers")):
        return False
    if isinstance(call.function, s.Attribute) and not _keeps_optimizer(checkpoints, row, call.function.value):
        return False
    if any(holds(module, call, condition) is True for condition in row.list("read_unless")):
        return False
    if any(a.keyword is None and literal(a.value) is False for a in call.arguments):
        return False  # passed by position: inherited methods have no signature that names the parameter
    for condition in row.list("read_when"):
        told = holds(module, call, condition)
        passed = module.argument(call, condition.partition("=")[0])
        if told is False or (told is None and not (passed.given or passed.values)):
            return False
    return all(_is_set(module, attribute) for attribute in row.list("configured"))


def _is_set(module: Module, attribute: str) -> bool:
    """Return whether the file sets an attribute of this name to something that is not known to be false."""
    statements = [node.parent for node in module.attributes(attribute) if node.stored]
    values = [statement.value for statement in statements if isinstance(statement, s.Assign)]
    return any(value is not None and literal(value) not in (False, None) for value in values)


def _writes(checkpoints: Checkpoints, row: Row, call: s.Call) -> bool:
    """Return whether a call writes such a checkpoint, as a method of the object or a function that is given it."""
    module = checkpoints.module
    writers = row.set("writers")
    if last_word(call.function) in writers:
        function = call.function
        if not isinstance(function, s.Attribute) or not _is_one(module, row, call, writers):
            return False
        return _keeps_optimizer(checkpoints, row, function.value)
    if module.callee(call).isdisjoint(writers):
        return False
    return any(_is_of(module, row, given) and _keeps_optimizer(checkpoints, row, given) for given in _values(call))


def _is_one(module: Module, row: Row, call: s.Call, names: frozenset[str]) -> bool:
    """Return whether a call is of one of these functions, or of a method of the row's objects."""
    function = call.function
    if not _called(module, call).isdisjoint(names):
        return True
    if not isinstance(function, s.Attribute) or function.attribute not in names:
        return False
    return _is_of(module, row, function.value)


def _called(module: Module, call: s.Call) -> frozenset[str]:
    """Return the names of what is called; a method that a class of the file inherits has the name of its base's."""
    found = set(module.callee(call))
    if isinstance(call.function, s.Attribute):
        for kind in _inherited(module, module.types(call.function.value), call.function.attribute):
            found.add(module.canonical(f"{kind}.{call.function.attribute}"))
    return frozenset(found)


# Objects


def _is_of(module: Module, row: Row, node: s.Expression) -> bool:
    """Return whether an object may be one that the row's names make."""
    method = node.parent.attribute if isinstance(node.parent, s.Attribute) else ""
    kinds = _inherited(module, module.types(node), method)
    return not row.set("names").isdisjoint(kinds) or next(_made(module, row, node), None) is not None


def _inherited(module: Module, kinds: Iterable[str], method: str) -> Iterator[str]:
    """Yield classes, or the bases of classes of the file that have no method of this name themselves."""
    for kind in kinds:
        klass = module.classes.get(kind)
        if klass is None:
            yield kind
        elif module.method(klass, method) is None:
            yield from module.ancestry(klass)


def _made(module: Module, row: Row, node: s.Expression) -> Iterator[s.Call]:
    """Yield the calls of the row's names that may have made an object."""
    path = (int(row.text("item")),) if row.text("item") else ()
    for call, taken in _makers(module, node, (), _DEPTH):
        if taken == path and not row.set("names").isdisjoint(_inherited(module, module.callee(call), "")):
            yield call


def _makers(
    module: Module, node: s.Expression, path: tuple[int, ...], depth: int
) -> Iterator[tuple[s.Call, tuple[int, ...]]]:
    """Yield the calls that may have made an object, each with the path of the object in the result."""
    if depth == 0:
        return
    if isinstance(node, s.Call):
        yield node, path
        for value in returned(module, node):
            yield from _makers(module, value, path, depth - 1)
    elif isinstance(node, s.Name):
        for binding in reaching(node) or ():
            if binding.kind == "assign" and binding.value is not None:
                yield from _makers(module, binding.value, (*binding.path, *path), depth - 1)
    elif isinstance(node, s.Attribute):
        owner = module.owner(node.value)
        for assign in module.attribute_assignments(owner, node.attribute) if owner is not None else ():
            if assign.value is not None:
                for taken in _taken(assign.targets, node.attribute):
                    yield from _makers(module, assign.value, (*taken, *path), depth - 1)
    elif isinstance(node, s.Conditional):
        yield from _makers(module, node.body, path, depth - 1)
        yield from _makers(module, node.orelse, path, depth - 1)


def _taken(targets: Iterable[s.Expression], attribute: str) -> Iterator[tuple[int, ...]]:
    """Yield the path of the part that an attribute is given, by the targets of the assignment."""
    for target in targets:
        if isinstance(target, s.Collection):
            for index, element in enumerate(target.elements):
                if isinstance(element, s.Attribute) and element.attribute == attribute:
                    yield (index,)
        elif isinstance(target, s.Attribute) and target.attribute == attribute:
            yield ()


# What is saved


def _keeps_optimizer(checkpoints: Checkpoints, row: Row, node: s.Expression) -> bool:
    """Return whether an object was given an optimizer to save, where its row says that it saves its arguments."""
    if row.text("keeps") != "**":
        return True
    made = list(_made(checkpoints.module, row, node))
    given = [argument.value for call in made for argument in call.arguments if argument.keyword]
    holders = row.set("holders")
    return any(checkpoints.is_optimizer(v) or checkpoints.module.types(v) & holders for v in given)


def _is_without_states(checkpoints: Checkpoints, row: Row, call: s.Call) -> bool:
    """Return whether all that is saved besides the object's own state is known, and is no state of a generator."""
    entries: Entries = []
    writes = last_word(call.function) in row.set("writers")
    objects = [call.function.value] if writes and isinstance(call.function, s.Attribute) else _values(call)
    for parameter, calls in (
        (row.text("keeps"), [made for node in objects for made in _made(checkpoints.module, row, node)]),
        (row.text("extra"), [call] if writes else []),
    ):
        for each in calls if parameter else ():
            more = _passed(checkpoints, row, each, parameter)
            if more is None:
                return False
            entries += more
    return not any(checkpoints.may_be_state(key, value) for key, value in entries)


def _values(call: s.Call) -> list[s.Expression]:
    return [argument.value for argument in call.arguments]


def _given(row: Row, call: s.Call, parameter: str) -> list[s.Expression]:
    """Return what a call passes for a parameter, by name or by position."""
    positional = [argument.value for argument in call.arguments if argument.keyword is None]
    place = int(row.text("position") or len(positional))
    named = [argument.value for argument in call.arguments if argument.keyword == parameter]
    return named + positional[place : place + 1]


def _passed(checkpoints: Checkpoints, row: Row, call: s.Call, parameter: str) -> Entries | None:
    """Return the entries of what a call passes for a parameter, or for any keyword; None where they are not known."""
    if parameter == "**":
        hidden = any(argument.star == "**" for argument in call.arguments)
        return None if hidden else [(a.keyword, a.value) for a in call.arguments if a.keyword]
    if any(argument.star for argument in call.arguments):
        return None
    given = _given(row, call, parameter)
    return checkpoints.entries(given[0], loaded=_is_loaded(checkpoints.module, row, given[0])) if given else []


def _is_loaded(module: Module, row: Row, node: s.Expression) -> bool:
    """Return whether a name stands for what was loaded, which has no more than was saved."""
    bindings = reaching(node) if isinstance(node, s.Name) else None
    loaded = [binding.value for binding in bindings or ()]
    return bool(loaded) and all(isinstance(v, s.Call) and _is_one(module, row, v, row.set("readers")) for v in loaded)
