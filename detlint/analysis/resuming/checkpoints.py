"""Checkpoints of a file: what it saves with an optimizer's state, and where it takes such a state out of one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from detlint.analysis.resuming.resumption import any_of, last, names_in, patterns
from detlint.analysis.training.contexts import function_around
from detlint.analysis.values.dicts import Dicts, Entries
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s

WHOLE = ""  # the key of a state that is saved by itself


@record(frozen=True, slots=True)
class Saved:
    """What is saved: the expression that makes it, and the keys under which it has states of optimizers.

    It is `whole` where all of its content is known, and `given` where a function returns it to the code that saves it.
    It is `bare` where it is known to lack how far the training is.
    """

    node: s.Dictionary | s.Call
    optimizers: frozenset[str]
    whole: bool = True
    given: bool = False
    bare: bool = False


@record(frozen=True, slots=True)
class Resumed:
    """A place where an optimizer gets its state: the call, what was loaded, and the key in it.

    `entry` is the expression that takes the state out of what was loaded. It is None where the call restores the
    objects of a dict; `loaded` is then the name that the rest is assigned to, if any. Where the optimizer itself was
    saved, the call is the one that reads it. More can be restored after the `statement`, if there is one.
    """

    call: s.Call
    loaded: s.Expression | None
    entry: s.Expression | None
    key: str
    statement: s.Node | None = None


class Checkpoints:
    """The checkpoints of one file, by the tables of `checkpoints.toml`."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._names = module.catalogue.names
        self._state_keys = patterns(module.catalogue, "state", "keys")
        self._optimizer = patterns(module.catalogue, "word", id="optimizer")
        self._progress = patterns(module.catalogue, "word", id="progress")
        self._position = patterns(module.catalogue, "word", id="position")
        self._dicts = Dicts(module, lambda call: self._is_named(call, "writer") or self._takes_objects(call, "reader"))

    # What is saved

    def saved(self) -> Iterator[Saved]:
        """Yield what is saved with an optimizer's state, but no known random state."""
        found: dict[s.Node, Saved] = {}
        for call in self.module.calls:
            if not self._is_named(call, "writer"):
                continue
            for argument in call.arguments:
                saved = None if argument.star else self._saved(argument.value, self._takes_objects(call, "writer"))
                if saved is not None:
                    found[saved.node] = saved
        for function in self.module.every(s.Function) if self.module.calls_like(words=("state_dict",)) else ():
            returned = self._dicts.returned(function)
            saved = None if returned is None else self._saved(returned, objects=False)
            if saved is not None and saved.node not in found and WHOLE not in saved.optimizers:
                found[saved.node] = Saved(saved.node, saved.optimizers, saved.whole, given=True, bare=saved.bare)
        yield from sorted(found.values(), key=lambda saved: saved.node.order)

    def with_optimizer(self) -> Iterator[s.Expression]:
        """Yield the dicts that are saved with an optimizer's state which the file also loads, and nothing unknown."""
        keys = {each.key for each in self.resumed}
        for call in self.module.calls if keys else ():
            for argument in call.arguments if self._is_named(call, "writer") else ():
                held = None if argument.star else self._dicts.held(argument.value)
                if held is not None and held.whole:
                    stated = (key for key, value in held.entries if any(map(self._is_of_optimizer, _states_in(value))))
                    if not keys.isdisjoint(stated):
                        yield held.made

    def _saved(self, node: s.Expression, objects: bool) -> Saved | None:
        if isinstance(node, s.Call) and any(call is node and self._is_of_optimizer(call) for call in _states_in(node)):
            return Saved(node, frozenset((WHOLE,)))
        held = self._dicts.held(node)
        return None if held is None else self._judged(held.made, held.entries, held.whole, objects=objects)

    def entries(self, node: s.Expression, *, loaded: bool = False) -> Entries | None:
        """Return all entries of a dict, for a `loaded` one those put into it; None where they are not all known."""
        if loaded and isinstance(node, s.Name):
            found, whole = self._dicts.put_into(node)
            return found if whole else None
        held = self._dicts.held(node)
        return held.entries if held is not None and held.whole else None

    def made(self, node: s.Expression) -> s.Dictionary | s.Call | None:
        """Return what makes the one dict that an expression is, or None where that is not known."""
        held = self._dicts.held(node)
        return None if held is None else held.made

    def _is_named(self, call: s.Call, table: str) -> bool:
        """Return whether a call is to a function of a table, or to one with a name like theirs."""
        names = self.module.callee(call)
        if names and names <= self._names("checkpoints", table):
            return True
        return any(word.search(last(call.function)) for word in patterns(self.module.catalogue, table))

    def _takes_objects(self, call: s.Call, table: str) -> bool:
        """Return whether a call takes objects in a dict, whose states it saves or restores, by a table."""
        names = self.module.callee(call)
        return bool(names) and names <= self._names("checkpoints", table, objects="yes")

    def may_be_state(self, key: str, value: s.Expression | None) -> bool:
        """Return whether an entry may hold the state of a generator, by itself or with the position in the data."""
        if any_of(self._state_keys, [key, *(names_in(value) if value is not None else ())]):
            return True
        keepers = [_receiver(call) for call in _states_in(value)]
        return any(not self.is_optimizer(each) and any_of(self._position, [key, last(each)]) for each in keepers)

    def _judged(self, node: s.Dictionary | s.Call, entries: Entries, whole: bool, *, objects: bool) -> Saved | None:
        optimizers = set()
        progress = False
        for key, value in entries:
            if self.may_be_state(key, value):
                return None
            if isinstance(value, (s.Name, s.Attribute)):
                if self.is_optimizer(value):
                    optimizers.add(key)
                elif objects and any_of(self._position, [key, last(value)]):
                    return None
            if any(self._is_of_optimizer(call) for call in _states_in(value)):
                optimizers.add(key)
            counts = [] if value is None or isinstance(value, s.Call) else names_in(value)
            progress = progress or any_of(self._progress, [key, *counts])
        bare = whole and not progress
        return Saved(node, frozenset(optimizers), whole, bare=bare) if optimizers else None

    def _is_of_optimizer(self, call: s.Call) -> bool:
        return self.is_optimizer(_receiver(call))

    def is_optimizer(self, node: s.Expression) -> bool:
        """Return whether an expression is an optimizer, by its type or its name."""
        types = self.module.types(node)
        if types and all(t.startswith("torch.optim.") for t in types):
            return not any(".lr_scheduler." in t for t in types)
        name = last(node)
        return any_of(self._optimizer, [name]) and "sched" not in name.lower()

    # Where it resumes

    def reads(self, resumed: Resumed, saved: Saved) -> bool:
        """Return whether what is restored is read from a file here, and not just after it was saved."""
        if resumed.entry is None:
            return True
        values = (self.module.values(resumed.loaded) if resumed.loaded is not None else [resumed.entry]) or ()
        reading = [each for each in values if isinstance(each, s.Call) and self._is_named(each, "reader")]
        around = function_around(saved.node)
        return any(function_around(each) is not around or each.order < saved.node.order for each in reading)

    @cached_property
    def resumed(self) -> list[Resumed]:
        """The places where an optimizer takes its state out of what was loaded, in evaluation order."""
        found = [*self._restored(), *self._taken_whole()]
        for call in self.module.calls_like(words=("load_state_dict",)):
            function = call.function
            if not isinstance(function, s.Attribute) or function.attribute != "load_state_dict" or not call.arguments:
                continue
            if not self.is_optimizer(function.value):
                continue
            values = self.module.values(call.arguments[0].value) or []
            entry = values[0] if len(values) == 1 else call.arguments[0].value
            root, key = self._taken(entry)
            if root is not None and key is not None and self._is_loaded(root):
                stands = isinstance(call.parent, s.ExpressionStatement) and entry is call.arguments[0].value
                found.append(Resumed(call, root, entry, key, call.parent if stands else None))
            elif key is None and isinstance(entry, s.Call) and self._is_named(entry, "reader"):
                found.append(Resumed(call, None, entry, WHOLE))
        return sorted(found, key=lambda resumed: resumed.call.order)

    def _restored(self) -> Iterator[Resumed]:
        """Yield where an optimizer in a dict gets its state from a function that restores the objects passed to it."""
        names = self._names("checkpoints", "reader", objects="yes")
        for call in self.module.calls_like(names):
            if self._takes_objects(call, "reader"):
                statement = call.parent if isinstance(call.parent, s.Assign) else None
                rest = statement.targets[0] if statement is not None and len(statement.targets) == 1 else None
                for argument in call.arguments:
                    for key, value in (None if argument.star else self.entries(argument.value)) or ():
                        if value is not None and self.is_optimizer(value):
                            yield Resumed(call, rest if isinstance(rest, s.Name) else None, None, key, statement)

    def _taken_whole(self) -> Iterator[Resumed]:
        """Yield where an optimizer that was itself saved is taken out of what was read from a file."""
        if not self.module.calls_like(self._names("checkpoints", "reader")):
            return
        for assign in self.module.every(s.Assign):
            value = assign.value
            if isinstance(value, s.Subscript) and any(self.is_optimizer(each) for each in assign.targets):
                root, key = self._taken(value)
                for read in () if root is None or key is None else self.module.values(root) or ():
                    if isinstance(read, s.Call) and self._is_named(read, "reader"):
                        yield Resumed(read, root, value, key or "", assign)

    def _taken(self, node: s.Expression) -> tuple[s.Expression | None, str | None]:
        """Return what `node` is taken out of, by subscripts and `get`, and the first key."""
        key = None
        while True:
            if isinstance(node, s.Subscript):
                key, node = self._dicts.key(node.indices[0]), node.value
            elif isinstance(node, s.Call) and isinstance(node.function, s.Attribute):
                if node.function.attribute not in self.module.python("methods", "dict-taking") or not node.arguments:
                    return None, key
                key, node = self._dicts.key(node.arguments[0].value), node.function.value
            else:
                return (node if isinstance(node, (s.Name, s.Attribute)) else None), key

    def _is_loaded(self, node: s.Expression) -> bool:
        """Return whether a dict may come from a file: read here, or passed to the function."""
        values = self.module.values(node)
        if values is None:
            return True
        return any(isinstance(value, s.Call) and self._is_named(value, "reader") for value in values)


def _receiver(call: s.Call) -> s.Expression:
    """Return the object that a method is called on."""
    return call.function.value if isinstance(call.function, s.Attribute) else call.function


def _states_in(node: s.Expression | None) -> list[s.Call]:
    """Return the calls of `state_dict` in an expression."""
    parts = s.walk(node) if node is not None else ()
    return [part for part in parts if isinstance(part, s.Call) and last(part.function) == "state_dict"]
