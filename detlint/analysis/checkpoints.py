"""Checkpoints of a file: the dicts with an optimizer's state that it saves, where it resumes, what it draws."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from detlint.analysis.conditions import holds
from detlint.catalogue import Row
from detlint.records import record
from detlint.semantics import libraries
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s

Entries = list[tuple[str, s.Expression | None]]


@record(frozen=True, slots=True)
class Saved:
    """A dict that is saved: the expression that makes it, and the keys under which it has states of optimizers."""

    node: s.Dictionary | s.Call
    optimizers: frozenset[str]


@record(frozen=True, slots=True)
class Resumed:
    """Where an optimizer gets its state: the call, what was loaded, and the key in it.

    `entry` is the expression that takes the state out of what was loaded, None where the call puts it into the objects
    of a dict; `loaded` is then what keeps the rest, if anything does.
    """

    call: s.Call
    loaded: s.Expression | None
    entry: s.Expression | None
    key: str


class Checkpoints:
    """Answers about the checkpoints of one file, by the tables of `checkpoints.toml`."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._names = module.catalogue.names
        self._states = self._names("checkpoints", "state")
        self._state_words = self._words("state")
        self._state_keys = self._words("state", "keys")
        self._optimizer = self._words("word", id="optimizer")
        self._progress = self._words("word", id="progress")
        self._position = self._words("word", id="position")

    def _words(self, table: str, key: str = "words", **where: str) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(word) for word in sorted(self._names("checkpoints", table, key, **where)))

    # What is saved

    def saved(self) -> Iterator[Saved]:
        """The dicts whose entries are all known: an optimizer's state, how far the training is, nothing random."""
        found: dict[s.Node, Saved] = {}
        for call in self.module.calls:
            if not self._is_named(call, "writer"):
                continue
            for argument in call.arguments:
                node, entries = (None, None) if argument.star else self._read(argument.value)
                if node is not None and entries is not None:
                    saved = self._judged(node, entries, objects=self._takes_objects(call, "writer"))
                    if saved is not None:
                        found[saved.node] = saved
        yield from sorted(found.values(), key=lambda saved: saved.node.order)

    def entries(self, node: s.Expression, *, loaded: bool = False) -> Entries | None:
        """All entries of a dict, for one that was `loaded` those that are put into it; None where one is not known."""
        return self._put_into(node, []) if loaded and isinstance(node, s.Name) else self._read(node)[1]

    def made(self, node: s.Expression) -> s.Dictionary | s.Call | None:
        """What makes the one dict that an expression is; None where that is not known."""
        return self._read(node)[0]

    def _read(self, node: s.Expression) -> tuple[s.Dictionary | s.Call | None, Entries | None]:
        """What makes the one dict that an expression is, and all its entries; None for what is not known."""
        value = self._one(node)
        made = None if value is None else next(iter(self.module.values(value) or ()), None)
        if value is None or not isinstance(made, (s.Dictionary, s.Call)):
            return None, None
        return made, self._all_entries(value, made)

    def _one(self, node: s.Expression) -> s.Expression | None:
        """What has the one value that is saved: the expression itself, or what a function of this file returns."""
        values = self.module.values(node) or []
        names = self.module.callee(values[0]) if len(values) == 1 and isinstance(values[0], s.Call) else frozenset()
        functions = [self.module.functions[name] for name in names if name in self.module.functions]
        if not functions:
            return node if len(values) == 1 else None
        if len(functions) != len(names) or len(functions) > 1:
            return None
        leaves = [part for part in s.walk(functions[0].body) if isinstance(part, s.Leave) and part.kind == "return"]
        own = [leaf for leaf in leaves if self.module.function_of(leaf) is functions[0]]
        returned = own[0].values if len(own) == 1 else []
        return returned[0] if len(returned) == 1 and len(self.module.values(returned[0]) or ()) == 1 else None

    def _is_named(self, call: s.Call, table: str) -> bool:
        """Whether a call is to a function of a table, or to one that is called like those."""
        names = self.module.callee(call)
        if names and names <= self._names("checkpoints", table):
            return True
        return any(word.search(_last(call.function)) for word in self._words(table))

    def _takes_objects(self, call: s.Call, table: str) -> bool:
        """Whether a function of a table takes objects in a dict, whose states it saves or restores."""
        names = self.module.callee(call)
        return bool(names) and names <= self._names("checkpoints", table, objects="yes")

    def may_be_state(self, key: str, value: s.Expression | None) -> bool:
        """Whether an entry may hold the state of a generator, by itself or with the place in the data."""
        if _any(self._state_keys, [key, *(_names_in(value) if value is not None else ())]):
            return True
        keepers = [_receiver(call) for call in _states_in(value)]
        return any(not self.is_optimizer(each) and _any(self._position, [key, _last(each)]) for each in keepers)

    def _judged(self, node: s.Dictionary | s.Call, entries: Entries, *, objects: bool) -> Saved | None:
        optimizers = set()
        progress = False
        for key, value in entries:
            if self.may_be_state(key, value):
                return None
            if objects and value is not None and not isinstance(value, s.Call):
                if self.is_optimizer(value):
                    optimizers.add(key)
                elif _any(self._position, [key, _last(value)]):
                    return None
            if any(self.is_optimizer(_receiver(call)) for call in _states_in(value)):
                optimizers.add(key)
            counts = [] if value is None or isinstance(value, s.Call) else _names_in(value)
            progress = progress or _any(self._progress, [key, *counts])
        return Saved(node, frozenset(optimizers)) if optimizers and progress else None

    def _all_entries(self, node: s.Expression, made: s.Expression) -> Entries | None:
        """The entries of a dict and of what is put into it by name; None where one is not known."""
        entries = self._entries(made)
        if entries is None or not isinstance(node, s.Name):
            return entries if isinstance(node, (s.Dictionary, s.Call)) else None
        return self._put_into(node, entries)

    def _put_into(self, node: s.Name, entries: Entries) -> Entries | None:
        """The entries of a dict of this name, with those that it has to begin with."""
        scope = node.scope.find(node.id)
        if scope is None:
            return None
        for use in self.module.reads(scope, node.id):
            more = self._put_in(use)
            if more is None:
                return None
            entries += more
        return entries

    def _entries(self, node: s.Expression) -> Entries | None:
        if isinstance(node, s.Call):
            plain = self.module.callee(node) == {"builtins.dict"} and all(a.keyword for a in node.arguments)
            return [(a.keyword or "", a.value) for a in node.arguments] if plain else None
        if not isinstance(node, s.Dictionary) or None in node.keys:
            return None
        return [(self._key(k), v) for k, v in zip(node.keys, node.values, strict=True) if k is not None]

    def _put_in(self, use: s.Name) -> Entries | None:
        """What a use of a dict's name puts into the dict; None where that is not known."""
        parent = use.parent
        if isinstance(parent, s.Subscript) and parent.value is use:
            value = parent.parent.value if isinstance(parent.parent, s.Assign) else None
            return [(self._key(parent.indices[0]), value)] if parent.stored else []
        if isinstance(parent, s.Attribute):
            call = parent.parent
            if parent.attribute == "update" and isinstance(call, s.Call):
                found: Entries = []
                for argument in call.arguments:
                    entries = None if argument.star else self._entries(argument.value)
                    more = [(argument.keyword, argument.value)] if argument.keyword else entries
                    if more is None:
                        return None
                    found += more
                return found
            methods = self.module.python("methods", "dict-reading"), self.module.python("methods", "dict-taking")
            return [] if any(parent.attribute in each for each in methods) else None
        if isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            call = parent.parent
            roots = {name.partition(".")[0] for name in self.module.callee(call)}
            known = bool(roots) and roots <= libraries.READING
            if known or self._is_named(call, "writer") or self._takes_objects(call, "reader"):
                return []
            return [] if isinstance(call.parent, s.Assign) else None
        return None if isinstance(parent, (s.Assign, s.Starred)) else []

    def _key(self, node: s.Expression) -> str:
        """A key as text: a constant's value, else its source."""
        constants = self.module.constants(node)
        return str(constants[0]) if constants is not None and len(constants) == 1 else self.module.source(node)

    def is_optimizer(self, node: s.Expression) -> bool:
        """Whether an expression is an optimizer, by its type or its name."""
        types = self.module.types(node)
        if types and all(t.startswith("torch.optim.") for t in types):
            return not any(".lr_scheduler." in t for t in types)
        name = _last(node)
        return _any(self._optimizer, [name]) and "sched" not in name.lower()

    # Where it resumes

    @cached_property
    def resumed(self) -> list[Resumed]:
        """Where an optimizer takes its state out of what was loaded, in evaluation order."""
        found = list(self._restored())
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
                found.append(Resumed(call, root, entry, key))
        return sorted(found, key=lambda resumed: resumed.call.order)

    def _restored(self) -> Iterator[Resumed]:
        """Where an optimizer in a dict gets its state from a function that restores the objects which it is given."""
        names = self._names("checkpoints", "reader", objects="yes")
        for call in self.module.calls_like(names):
            if self._takes_objects(call, "reader"):
                statement = call.parent
                rest = statement.targets[0] if isinstance(statement, s.Assign) and len(statement.targets) == 1 else None
                for argument in call.arguments:
                    for key, value in (None if argument.star else self.entries(argument.value)) or ():
                        if value is not None and self.is_optimizer(value):
                            yield Resumed(call, rest if isinstance(rest, s.Name) else None, None, key)

    def _taken(self, node: s.Expression) -> tuple[s.Expression | None, str | None]:
        """What `node` is taken out of, by subscripts and `get`, and the first key."""
        key = None
        while True:
            if isinstance(node, s.Subscript):
                key, node = self._key(node.indices[0]), node.value
            elif isinstance(node, s.Call) and isinstance(node.function, s.Attribute):
                if node.function.attribute not in self.module.python("methods", "dict-taking") or not node.arguments:
                    return None, None
                key, node = self._key(node.arguments[0].value), node.function.value
            else:
                return (node if isinstance(node, (s.Name, s.Attribute)) else None), key

    def _is_loaded(self, node: s.Expression) -> bool:
        """Whether a dict may come from a file: read here, or handed to the function."""
        values = self.module.values(node)
        if values is None:
            return True
        return any(isinstance(value, s.Call) and self._is_named(value, "reader") for value in values)

    # The rest of the file

    @cached_property
    def keeps_states(self) -> bool:
        """Whether the file deals with states of generators somewhere, by itself or through a framework."""
        if _any(self._state_words, self._identifiers):
            return True
        calls = self.module.calls_like(self._states)
        return any(not self._states.isdisjoint(self.module.callee(call)) for call in calls)

    @cached_property
    def seeds_anew(self) -> bool:
        """Whether something is seeded by how far the training is, so that each epoch starts afresh."""
        seeders = self._names("randomness", "seeder")
        words = self._words("word", id="seeds")
        for call in self.module.calls:
            seeds = not seeders.isdisjoint(self.module.callee(call)) or _any(words, [_last(call.function)])
            if seeds and any(_any(self._progress, _names_in(argument.value)) for argument in call.arguments):
                return True
        return False

    @cached_property
    def draws(self) -> bool | None:
        """Whether training draws random numbers; None where the file does not show it."""
        if self._draws_here:
            return True
        trains = any(_last(call.function) == "backward" for call in self.module.calls)
        trains = trains or any(function.name == "training_step" for function in self.module.every(s.Function))
        known = libraries.STANDARD | self._names("checkpoints", "whole", "modules")
        imports = self.module.every(s.Import)
        roots = {name for i in imports for name in ([i.module] if i.module is not None else [n for n, _ in i.names])}
        whole = not any(i.level for i in imports) and all((root or "").partition(".")[0] in known for root in roots)
        return False if trains and whole else None

    @property
    def _draws_here(self) -> bool:
        rows = [
            (row, frozenset(row.list("names")))
            for row in self.module.catalogue.rows("randomness", "consumer")
            if row.text("kind") != "constructor" and not row.text("weights")
        ]
        for call in self.module.calls:
            names = self.module.callee(call)
            if any(argument.keyword == "shuffle" and _may_be_true(argument.value) for argument in call.arguments):
                return True
            if any(names & known and self._may_draw(call, row) for row, known in rows):
                return True
        return _any(self._words("word", id="draws"), self._identifiers)

    def _may_draw(self, call: s.Call, row: Row) -> bool:
        """Whether no condition of a row is known to keep a call from drawing."""
        missed = any(holds(self.module, call, condition) is False for condition in row.list("when"))
        return not missed and not any(holds(self.module, call, condition) is True for condition in row.list("unless"))

    @cached_property
    def has_ranks(self) -> bool:
        """Whether the program may run in several processes, each with random streams of its own."""
        return _any(self._words("word", id="ranks"), self._identifiers)

    @cached_property
    def _identifiers(self) -> set[str]:
        found: set[str] = set()
        for node in self.module.nodes:
            if isinstance(node, s.Name):
                found.add(node.id)
            elif isinstance(node, s.Attribute):
                found.add(node.attribute)
            elif isinstance(node, (s.Parameter, s.Function)):
                found.add(node.name)
            elif isinstance(node, s.Constant) and isinstance(node.value, str) and re.fullmatch(r"[\w.-]+", node.value):
                found.add(node.value)
            elif isinstance(node, s.Import):
                found.update((node.module or "", *(name for name, _ in node.names)))
        return found


def _last(node: s.Expression) -> str:
    """The last part of a name, through subscripts."""
    while isinstance(node, s.Subscript):
        node = node.value
    if isinstance(node, s.Attribute):
        return node.attribute
    return node.id if isinstance(node, s.Name) else ""


def _names_in(node: s.Expression) -> list[str]:
    found = [_last(part) for part in s.walk(node) if isinstance(part, (s.Name, s.Attribute))]
    return found + [part.value for part in s.walk(node) if isinstance(part, s.Constant) and isinstance(part.value, str)]


def _receiver(call: s.Call) -> s.Expression:
    """What a method is called on."""
    return call.function.value if isinstance(call.function, s.Attribute) else call.function


def _states_in(node: s.Expression | None) -> list[s.Call]:
    """The calls of `state_dict` in an expression."""
    parts = s.walk(node) if node is not None else ()
    return [part for part in parts if isinstance(part, s.Call) and _last(part.function) == "state_dict"]


def _any(words: tuple[re.Pattern[str], ...], texts: list[str] | set[str]) -> bool:
    return any(word.search(text) for word in words for text in texts)


def _may_be_true(node: s.Expression) -> bool:
    return literal(node) not in (False, None)
