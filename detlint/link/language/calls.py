"""Calls of abstract values, and iteration over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.language.fields import NAMED_TUPLE, TYPED_DICTS
from detlint.link.language.statements import Statements
from detlint.link.state import registered
from detlint.link.state.arguments import Arguments
from detlint.link.state.entropy import mixed
from detlint.link.state.enumerations import looked_up, members
from detlint.link.state.mappings import DICT, key
from detlint.link.state.objects import HIDDEN
from detlint.link.state.otherwise import call_otherwise
from detlint.link.state.values import (
    UNKNOWN,
    Atom,
    Class,
    Entropy,
    Function,
    Library,
    Object,
    Partial,
    Saved,
    Suspended,
    Tuple,
    Value,
    Wrapped,
    constant,
    each,
    join,
    single,
)
from detlint.programs.events import PASSES, Marked, State, merged

_CALLABLE = frozenset((Function, Class, Library, Object, Partial))


_ALTERNATIVES = 4  # callees followed for one call; one for a call within any of these


def _one_method(atoms: Sequence[Atom]) -> bool:
    """Return whether all atoms are one method of a library; an unknown callee is then taken to be that method too."""
    methods = {atom.name for atom in atoms if isinstance(atom, Library) and atom.receiver is not None}
    return len(methods) == 1 and all(isinstance(atom, Library) for atom in atoms)


class Caller(Statements):
    """The part of the interpreter that calls functions, classes, objects and libraries."""

    def called(self, node: f.Call) -> Value:
        """Evaluate a call: what is called, its arguments, and what the call does."""
        if node.inert == f.ARM:
            self.note(Marked(PASSES, node.place))
            return UNKNOWN
        functions = self.value(node.function)
        positional, keywords = self.arguments(node.arguments)
        if self.state is None:
            return UNKNOWN
        self.frame.walk.append((node.order, self.state))
        outer, self.node = self.node, node
        start = self.state
        self.attend(node, functions, positional, keywords)
        if not _CALLABLE.isdisjoint(map(type, functions)):
            value = self.call_value(functions, positional, keywords, node.place)
        else:
            copied = frozenset(a for a in functions if isinstance(a, Saved))
            value = copied or self.call_unknown(node, positional, keywords)
        call_otherwise(self, node, positional, keywords, start)
        self.node = outer
        return mixed((functions,), value)

    def call_value(
        self, function: Value, positional: Sequence[Value], keywords: dict[str, Value], place: Place
    ) -> Value:
        """Call each atom of a value; return what the calls may return, in the merged state of their ends."""
        if len(function) == 1:
            return self.call(next(iter(function)), positional, keywords, place)
        callable_ = [a for a in each(function) if type(a) in _CALLABLE]
        atoms = [a for a in callable_ if self.accepts(a, keywords)] or callable_
        if len(atoms) > 1:
            self.ask("dispatching", self.dispatching)
            atoms = atoms[: 1 if self.dispatching else _ALTERNATIVES]
        own = sum(isinstance(atom, (Function, Class, Partial)) for atom in atoms)
        start, node = self.state, self.node
        ends: list[State | None] = []
        values: list[Value] = []
        self.dispatching += own > 1
        for atom in atoms:
            self.state, self.node = start, node
            with self.guarded("", place if own > 1 else None):
                values.append(self.call(atom, positional, keywords, place))
            ends.append(self.state)
        self.dispatching -= own > 1
        if function >= UNKNOWN or not atoms:
            values.append(UNKNOWN)
            if not _one_method(atoms):
                ends.append(start)
        self.state = merged(s for s in ends if s is not None) or start
        return join(values)

    def accepts(self, atom: Atom, keywords: dict[str, Value]) -> bool:
        """Return whether an atom accepts these keyword arguments; one that does not is not what is called."""
        if not keywords:
            return True
        function = atom
        if isinstance(atom, (Class, Object)) and isinstance(getattr(atom, "kind", atom), Class):
            methods = ("__init__",) if isinstance(atom, Class) else ("__call__", "forward")
            found = [a for name in methods for a in each(self.program.objects.attribute(atom, name) or frozenset())]
            function = next((a for a in found if isinstance(a, Function)), atom)
        if not isinstance(function, Function):
            return True
        parameters = self.program.function(function).parameters
        names = {parameter.name for parameter in parameters} | {"**"}
        return any(parameter.star == "**" for parameter in parameters) or names >= keywords.keys()

    def takes(self, method: Function, positional: Sequence[Value], keywords: dict[str, Value]) -> bool:
        """Return whether a bound method may be called with these arguments."""
        named = [p for p in self.program.function(method).parameters if not p.star][1:]
        stars = {parameter.star for parameter in self.program.function(method).parameters}
        placed = [parameter for parameter in named if not parameter.keyword_only]
        missing = [p for p in named[len(positional) :] if not (p.has_default or p.name in keywords)]
        fits = "*" in stars or len(positional) <= len(placed)
        return fits and ("**" in keywords or not missing) and self.accepts(method, keywords)

    def call(self, atom: Atom, positional: Sequence[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Call one atom of a value."""
        if isinstance(atom, (Function, Class)) and (known := self.program.own.get((atom.path, atom.qualified))):
            return self.call_library(Library(known), positional, keywords, place)
        if isinstance(atom, (Function, Class)) and (known := self.program.registered.get((atom.path, atom.qualified))):
            return registered.call(self, known, atom, positional, keywords, place)
        return self.follow(atom, positional, keywords, place)

    def follow(self, atom: Atom, positional: Sequence[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Call an atom, by running it if it is the project's."""
        if isinstance(atom, Function):
            value = self.invoke(atom, positional, keywords, place)
            commands = self.program.objects.stored(atom, "[]")
            return value if commands is None else self.call_value(commands | UNKNOWN, [], {}, place)
        if isinstance(atom, Library):
            return self.call_library(atom, positional, keywords, place)
        if isinstance(atom, Class):
            return self.construct(atom, positional, keywords, place)
        if isinstance(atom, Object):
            return self.call_object(atom, positional, keywords, place)
        if isinstance(atom, Partial):
            given = {**dict(atom.keywords), **keywords}
            return self.call_value(atom.function, [*atom.positional, *positional], given, place)
        return UNKNOWN

    def construct(self, klass: Class, positional: Sequence[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Make an object of a class of the project, by its metaclass's `__call__` if any, or return a member of it."""
        if len(positional) == 1 and (member := looked_up(self, klass, positional[0])) is not None:
            return member
        if not TYPED_DICTS.isdisjoint(self.program.objects.ancestry(klass)):
            return self.call_library(Library("builtins.dict"), positional, keywords, place)
        maker = self.program.objects.metaclass(klass)
        found = self.program.objects.attribute(maker, "__call__") if maker is not None else None
        functions = frozenset(replace(a, receiver=klass) for a in found or () if isinstance(a, Function))
        if not functions:
            return self.instantiate(klass, positional, keywords, place)
        value = self.call_value(functions, positional, keywords, place)
        made = frozenset(a for a in value if isinstance(a, Object) and isinstance(a.kind, Class))
        return made or single(Object(klass, *self.site(place)))

    def instantiate(self, klass: Class, positional: Sequence[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Make an object of a class of the project, as `type.__call__` does."""
        objects = self.program.objects
        made = self.allocated(klass, positional, keywords, place)
        if klass not in objects.ancestry(made.kind) or self.state is None:
            return single(made)
        found = objects.attribute(made, "__init__") or frozenset()
        for base in objects.library_bases(klass):
            self.keep(made, base, positional, keywords)
        if any(isinstance(a, Function) for a in found):
            self.call_value(self.bound(found, made), positional, keywords, place)
        else:
            self.fill(made, klass, positional, keywords, place)
            if "**" in keywords:
                self.open(made)
            self.call_method(made, "__post_init__", place)
            for base in objects.library_bases(klass):
                self.call_library(Library(f"{base}.__init__", made), positional, keywords, place)
        return single(made)

    def allocated(self, klass: Class, positional: Sequence[Value], keywords: dict[str, Value], place: Place) -> Object:
        """Return a new object of a class, or the object that its `__new__` returns."""
        found = self.program.objects.attribute(klass, "__new__")
        functions = frozenset(replace(a, receiver=klass) for a in found or () if isinstance(a, Function))
        made = Object(klass, *self.site(place))
        given = self.call_value(functions, positional, keywords, place) if functions else UNKNOWN
        return next((a for a in each(given) if type(a) is Object and type(a.kind) is Class), made)

    def fill(
        self, made: Object, klass: Class, positional: Sequence[Value], keywords: dict[str, Value], place: Place
    ) -> None:
        """Set the fields of an object to the constructor's arguments, or else to results of the default factories."""
        objects = self.program.objects
        order = objects.ancestry(klass)
        infos = [
            objects.classes[base] for base in reversed(order) if isinstance(base, Class) and base in objects.classes
        ]
        fields = tuple(dict.fromkeys(name for info in infos for name in info.fields))
        given = dict(zip(fields, positional, strict=False)) | keywords
        for name, value in given.items():
            objects.store(made, name, value)
            if NAMED_TUPLE in order and name in fields:
                objects.store(made, f"[{fields.index(name)}]", value)
        for name, factory in [item for info in infos for item in info.factories.items()]:
            if name not in given and self.state is not None:
                objects.store(made, name, self.call_value(factory, (), {}, place))

    def site(self, place: Place) -> tuple[str, int]:
        """Return the allocation site here: path and order of the current call, or path and negative line of `place`."""
        self.ask("node", self.node)
        if self.node is not None and self.node.place == place:
            return self.frame.path, self.node.order
        return place.path, -place.line

    def call_object(self, made: Object, positional: Sequence[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Call an object, by its `__call__` or the `forward` of a module."""
        found = self.call_method_of(made, ("__call__", "forward"), positional, keywords, place)
        if found is not None:
            return found
        value = UNKNOWN
        for base in self.program.objects.library_bases(made.kind):
            value = self.call_library_object(made, base, positional, keywords, place)
        return value

    def call_method_of(
        self,
        made: Object,
        names: Sequence[str],
        positional: Sequence[Value],
        keywords: dict[str, Value],
        place: Place,
    ) -> Value | None:
        """Call the first of some methods that the object or its class has; return None if there is none."""
        objects, own = self.program.objects, isinstance(made.kind, Class)
        for name in names:
            found = objects.attribute(made, name) if own else objects.stored(made, name)
            methods = frozenset(a for a in found or () if isinstance(a, (Function, Partial)))
            if methods:
                return self.call_value(self.method(methods, made, name), positional, keywords, place)
        return None

    # Iteration

    def iterate(self, value: Value) -> Value:
        """Iterate over a value; return what the items may be."""
        return join(self.iterate_over(atom) for atom in each(value))

    def iterate_over(self, atom: Atom) -> Value:
        """Iterate over one atom of a value; return what the items may be."""
        if isinstance(atom, Wrapped):
            self.iterate(atom.sources)
            return atom.items
        if isinstance(atom, Tuple):
            return join(atom.items)
        if isinstance(atom, (Entropy, Saved)):
            return frozenset((atom,))
        if isinstance(atom, Suspended):
            self.ask("iterating", self.iterating)
            place = self.iterating or self.program.function(atom.function).place
            return self.invoke(atom.function, atom.positional, dict(atom.keywords), place, resumed=True)
        if not isinstance(atom, Object):
            return join(members(self, atom)) if isinstance(atom, Class) else UNKNOWN
        if isinstance(atom.kind, Class):
            self.begin_sampler(atom)
            for name in ("__iter__", "__aiter__", "__getitem__"):
                found = self.program.objects.attribute(atom, name) or frozenset()
                methods = frozenset(a for a in found if isinstance(a, Function))
                if methods and name == "__getitem__" and self.is_derived_from_dict(atom):
                    return self.keys(atom)
                if methods:
                    place = min(self.program.function(a).place for a in methods if isinstance(a, Function))
                    given = [UNKNOWN] if name == "__getitem__" else []
                    items = self.call_value(self.bound(methods, atom), given, {}, place)
                    return self.iterated_further(items) if name != "__getitem__" else items
        if self.is_container(atom):
            return self.keys(atom) if atom.kind == DICT else self.held(atom)
        for base in self.program.objects.library_bases(atom.kind):
            self.iterate_library(atom, base)
        return self.held(atom)

    def is_derived_from_dict(self, made: Object) -> bool:
        """Return whether an object has the `__iter__` of a dict, which yields the keys."""
        dicts = self.program.catalogue.names("program", "role", kind="dict")
        return not dicts.isdisjoint(self.program.objects.library_bases(made.kind))

    def keys(self, table: Object) -> Value:
        """Return the keys of a dict."""
        slots = self.program.objects.slots(table)
        known = [slot for slot in slots if slot.startswith("['")]
        names: list[Value] = [constant(key(slot)) for slot in known]
        return join(names if len(known) == len(slots) else [*names, UNKNOWN])

    def iterated_further(self, iterators: Value) -> Value:
        """Return the items of the iterators that `__iter__` returned, by `__next__` or of a generator."""
        return join(self._given_by(atom) for atom in each(iterators))

    def _given_by(self, iterator: Atom) -> Value:
        if isinstance(iterator, (Suspended, Wrapped)):
            return self.iterate_over(iterator)
        given = self._advanced(iterator)
        if given is not None:
            return given
        return self.held(iterator) if self.is_container(iterator) else UNKNOWN

    def next_of(self, iterator: Atom) -> Value:
        """Return what `next` returns for an iterator: from its `__next__`, else one of its items."""
        given = self._advanced(iterator)
        return self.iterate_over(iterator) if given is None else given

    def _advanced(self, iterator: Atom) -> Value | None:
        """Call `__next__` of an object of the project and return the item; None if it has no such method."""
        if not (isinstance(iterator, Object) and isinstance(iterator.kind, Class)):
            return None
        objects = self.program.objects
        found = objects.attribute(iterator, "__next__") or objects.attribute(iterator, "__anext__") or frozenset()
        methods = frozenset(a for a in found if isinstance(a, Function))
        if not methods:
            return None
        place = min(self.program.function(a).place for a in methods if isinstance(a, Function))
        return self.call_value(self.bound(methods, iterator), [], {}, place)

    # What libraries do

    def begin_sampler(self, made: Object) -> None:
        """Begin an iteration over an object, which may be a sampler."""
        raise NotImplementedError

    def attend(
        self, node: f.Call, functions: Value, positional: Sequence[Value], keywords: Mapping[str, Value]
    ) -> None:
        """Record a call that may pass the epoch to samplers."""
        raise NotImplementedError

    def call_unknown(self, node: f.Call, positional: Sequence[Value], keywords: dict[str, Value]) -> Value:
        """Call something unknown."""
        raise NotImplementedError

    def call_library(
        self, function: Library, positional: Sequence[Value], keywords: dict[str, Value], place: Place
    ) -> Value:
        """Call a function, a method or a class of a library."""
        raise NotImplementedError

    def draw_by_library(
        self, function: Library, positional: Sequence[Value], keywords: dict[str, Value], place: Place
    ) -> None:
        """Record the draws of a library's function or method, and of the objects that it uses."""
        raise NotImplementedError

    def call_library_object(
        self, made: Object, base: str, positional: Sequence[Value], keywords: dict[str, Value], place: Place
    ) -> Value:
        """Call an object of a library's class, or of a class derived from it."""
        raise NotImplementedError

    def iterate_library(self, made: Object, base: str) -> None:
        """Iterate over an object of a library's class, or of a class derived from it."""
        raise NotImplementedError

    def keep(self, made: Object, base: str, positional: Sequence[Value], keywords: dict[str, Value]) -> None:
        """Store the arguments that a library's class was constructed with."""
        given = Arguments(self.program, base, positional, keywords)
        for name, value in given.given.items():
            self.program.objects.store(made, f"({name})", value)
        if given.hidden:
            self.program.objects.store(made, HIDDEN, UNKNOWN)
        if not given.defaults:  # a class with an unknown signature
            for place, value in enumerate(positional):
                self.program.objects.store(made, f"({place})", value)

    def kept(self, made: Object, base: str, called: Mapping[str, Value] | None = None) -> Arguments:
        """Return the arguments that an object of a library's class was constructed with, and is `called` with."""
        slots = self.program.objects.slots(made)
        keywords = {name[1:-1]: value for name, value in slots.items() if name.startswith("(")}
        return Arguments(self.program, base, (), keywords | dict(called or {}))
