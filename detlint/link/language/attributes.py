"""Attributes: what `owner.name` may be for each kind of owner, and methods bound to the owner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, cast

from detlint.catalogue import Catalogue
from detlint.finding import Place
from detlint.link.language.comparisons import Comparisons
from detlint.link.language.descriptors import got, looked_at
from detlint.link.state.enumerations import attribute, member_of
from detlint.link.state.keywords import REST, method_of_keywords
from detlint.link.state.mappings import COPIED, VARS, entries, has_surely, perhaps
from detlint.link.state.objects import UNNAMED, UNSPELLED, given_to
from detlint.link.state.values import (
    FLAGS,
    UNKNOWN,
    Atom,
    Class,
    Constant,
    Entropy,
    Function,
    Keywords,
    Library,
    Module,
    Namespace,
    Object,
    Option,
    Partial,
    Saved,
    Super,
    Value,
    constant,
    each,
    join,
    only,
    settled,
    single,
)
from detlint.programs.events import UNSURE


class Attributes(Comparisons):
    """The part of the interpreter that evaluates attributes."""

    def attribute(self, atom: Atom, name: str, library: str = "") -> Value:
        """Return `atom.name`; `library` is its qualified name if the file shows which library's object has it."""
        handler = _HANDLERS.get(type(atom))
        found = None if handler is None else handler(self, atom, name)
        if found is None:
            known = single(Library(library)) if library else frozenset()
            return known | single(atom) if isinstance(atom, Entropy) else known or UNKNOWN
        return found

    def _of_object(self, atom: Object, name: str) -> Value | None:
        if name in ("__dict__", "_modules"):
            return single(Library(VARS, atom))
        if name == "__class__":  # an annotated value may be of a derived class
            return single(atom.kind) | UNKNOWN if atom.order == -1 else single(atom.kind)
        if name in _inner(self.program.catalogue) and self.is_wrapped(atom, name):
            return single(atom)
        found = self._of_class(atom, name)
        if name == "training" and found is not None and self.state is not None:
            mode = self.state["layers"]
            return UNKNOWN if mode == UNSURE else constant(mode == "train")
        return found

    def is_wrapped(self, atom: Object, name: str) -> bool:
        """Return whether an attribute that a model itself lacks belongs to what wraps the model."""
        if not any(base.startswith("torch.nn.") for base in self.program.objects.library_bases(atom.kind)):
            return False
        found = self.program.objects.attribute(atom, name)
        return found is None or all(isinstance(a, Library) and a.receiver == atom for a in found)

    def _of_class(self, atom: Object | Class, name: str) -> Value | None:
        found = self.program.objects.attribute(atom, name)
        attending = self.program.objects.attending
        if attending and "__getattribute__" in attending and isinstance(atom, Object):
            looked_at(self, atom, name)
        if attending and "__get__" in attending and found is not None:
            found = got(self, atom, name, found)
        return self.looked_up(atom, name) if found is None else self.method(found, atom, name)

    def _of_type(self, atom: Class, name: str) -> Value | None:
        if name == "__name__":
            return constant(atom.qualified.rpartition(".")[2].partition(":")[0])
        if name == "__dict__":
            own = self.program.objects.own(atom) | {REST: UNKNOWN}  # decorators and Python itself add entries
            return single(Keywords(tuple(sorted(own.items()))))
        if name == "__subclasses__":
            return single(Partial(single(Library("builtins.type.__subclasses__")), (single(atom),), ()))
        found = self._of_class(atom, name)
        if found is None and (maker := self.program.objects.metaclass(atom)) is not None:
            found = self.program.objects.attribute(maker, name) or UNKNOWN
            return frozenset(replace(a, receiver=atom) if isinstance(a, Function) else a for a in found)
        method = only(found) if found is not None else None
        given = _given_to(self.program.catalogue, "type").get(name)
        if given is not None and (found is None or isinstance(method, Library)):
            return single(Partial(single(Library(given)), (single(atom),), ()))
        taken = self.program.catalogue.names("program", "role", taken="class")
        if isinstance(method, Library) and method.name in taken:
            return single(Partial(single(method), (single(atom),), ()))
        return found

    def _of_text(self, atom: Constant | Option, name: str) -> Value | None:
        if (member := member_of(atom)) is not None:
            found = attribute(self, atom, member, name)
            if found is not None or not isinstance(settled(atom), str):
                return found
        if name == "value":  # of a member of an enumeration, for which its value stands
            return single(atom)
        if not isinstance(settled(atom), str):
            return None
        owner = "builtins.str" if hasattr(str, name) else "pathlib.Path"  # a text may stand for a path
        return single(Partial(single(Library(f"{owner}.{name}")), (single(atom),), ()))

    def _of_module(self, atom: Module, name: str) -> Value | None:
        if name == "__dict__":
            return single(atom)
        found = self.module_attribute(atom.path, name)
        if found is None and name in ("items", "values", "get"):  # a method of its `__dict__`
            return single(Partial(single(Library(f"{VARS}.{name}")), (single(atom),), ()))
        if found is None and not name.startswith("__") and self.state is not None:
            asked = self.module_attribute(atom.path, "__getattr__") or frozenset()
            functions = frozenset(a for a in asked if isinstance(a, Function))
            return self.call_value(functions, (constant(name),), {}, self.place_of(functions)) if functions else None
        return found

    def _of_namespace(self, atom: Namespace, name: str) -> Value:
        return self.module_named(f"{atom.name}.{name}", atom.importer)

    def _of_super(self, atom: Super, name: str) -> Value | None:
        found = self.program.objects.find(self.program.objects.after(atom), atom.receiver, name)
        if name == "__new__" and Function not in map(type, found or ()):
            return single(Library("builtins.object.__new__"))
        if name == "__call__" and isinstance(atom.receiver, Class) and Function not in map(type, found or ()):
            return single(Partial(single(Library("builtins.type.__call__")), (single(atom.receiver),), ()))
        return None if found is None else self.bound(found, atom.receiver)

    def _of_function(self, atom: Function, name: str) -> Value | None:
        if name == "__name__":
            return constant(self.program.function(atom).name)
        if name in ("command", "group"):
            return single(Library(f"click.Group.{name}", atom))
        method = _given_to(self.program.catalogue, "function").get(name)
        return None if method is None else single(Partial(single(Library(method)), (single(atom),), ()))

    def _of_keywords(self, atom: Keywords, name: str) -> Value | None:
        return method_of_keywords(self.frame, atom, name)

    def _of_saved(self, atom: Saved, name: str) -> Value:
        return single(atom)  # a copy or a part of it

    def looked_up(self, atom: Object | Class, name: str) -> Value | None:
        """Return an attribute that the class lacks: from `__getattr__`, a field, or one set by an unknown name."""
        if not isinstance(atom, Object):
            return None
        if self.program.objects.stored(atom, UNNAMED) is not None:
            return self.field(name)
        found = self.program.objects.attribute(atom, "__getattr__")
        methods = frozenset(a for a in found or () if isinstance(a, Function))
        if methods and not name.startswith("__") and self.state is not None:
            return self.call_value(self.bound(methods, atom), (constant(name),), {}, self.place_of(methods))
        unspelled = self.program.objects.stored(atom, UNSPELLED) if isinstance(atom.kind, Class) else None
        return None if unspelled is None else unspelled | UNKNOWN

    def field(self, name: str) -> Value | None:
        """Return the default of the fields with this name, if all classes that have run agree on it; None otherwise."""
        self.unrepeatable()
        found = {value for klass, value in self.program.objects.fields(name) if any(self.has_run(klass.path))}
        return found.pop() if len(found) == 1 else None

    def place_of(self, functions: Value) -> Place:
        """Return the place of the first of some functions."""
        return next(self.program.function(a).place for a in each(functions) if isinstance(a, Function))

    def library_attribute(self, atom: Library, name: str) -> Value:
        """Return `atom.name` for something of a library."""
        if atom.name == "absl.flags.FLAGS":
            stored = self.program.objects.stored(FLAGS, name)
            if stored is not None:
                return stored
        receiver = atom.receiver if atom.name == VARS else self.origin(atom)
        if atom.name == VARS and receiver is not None and name == "copy":
            return single(Partial(single(Library(COPIED)), (single(receiver),), ()))
        return single(Library(self.canonical(f"{atom.name}.{name}"), receiver))

    def spread(self, atom: Atom, made: Object) -> None:
        """Copy the entries of a dict into another one; the keys of an unknown dict are unknown."""
        objects = self.program.objects
        for slot, value in entries(objects, atom).items():
            if objects.stored(made, slot) is None and not has_surely(objects, atom, slot):
                objects.store(made, perhaps(slot), UNKNOWN)
            objects.store(made, slot, value)

    def origin(self, atom: Atom) -> Object | None:
        """Return the object that an atom is or was taken from, if its methods may draw; None otherwise."""
        owner = atom.receiver if isinstance(atom, Library) else atom
        if not isinstance(owner, Object) or not isinstance(owner.kind, Library):
            return None
        return owner if owner.kind.name in self.program.catalogue.names("libraries", "method", "made") else None

    def method(self, value: Value, owner: Object | Class, name: str) -> Value:
        """Return an attribute bound to its owner, unless the object itself was given it."""
        if Function not in map(type, value):
            return value
        return value if self.program.objects.has_of_its_own(owner, name) else self.bound(value, owner)

    def bound(self, value: Value, owner: Object | Class) -> Value:
        """Return methods of a class bound to an object or the class, and the values of properties."""
        if Function not in map(type, value):
            return value
        if len(value) == 1:
            return self._bound(next(iter(value)), owner)
        return join([self._bound(atom, owner) for atom in each(value)])

    def _bound(self, atom: Atom, owner: Object | Class) -> Value:
        if isinstance(atom, Function) and atom.receiver is None:
            kind = self.program.head(atom.path, atom.qualified).kind
            klass = owner.kind if isinstance(owner, Object) else owner
            if kind == "property" and isinstance(owner, Object):
                method = Function(atom.path, atom.qualified, atom.captured, owner)
                facts = self.program.function(atom)
                found = self.call_value(single(method), (), {}, facts.place)
                given = self.program.objects.stored(owner, given_to(facts.name)) if found == UNKNOWN else None
                return found if given is None else given | UNKNOWN
            if kind == "class" and isinstance(klass, Class):
                atom = Function(atom.path, atom.qualified, atom.captured, klass)
            elif kind in ("method", "function", "setter") and isinstance(owner, Object):
                atom = Function(atom.path, atom.qualified, atom.captured, owner)
        return single(atom)


@cache
def _given_to(catalogue: Catalogue, kind: str) -> dict[str, str]:
    """Return the methods that library decorators add to a kind of value (a function, a type), by their last names."""
    names = catalogue.names("program", "role", taken=kind)
    names |= catalogue.names("randomness", "launcher", taken=kind)
    return {name.rpartition(".")[2]: name for name in sorted(names)}


@cache
def _inner(catalogue: Catalogue) -> frozenset[str]:
    """Return the names of the attributes that hold the wrapped object."""
    return frozenset(name.rpartition(".")[2] for name in catalogue.names("program", "inner"))


_A = Attributes
_HANDLERS = cast(
    "dict[type, Callable[[Attributes, Any, str], Value | None]]",
    {
        Object: _A._of_object, Class: _A._of_type, Constant: _A._of_text, Option: _A._of_text,
        Library: _A.library_attribute, Module: _A._of_module, Namespace: _A._of_namespace, Super: _A._of_super,
        Function: _A._of_function, Keywords: _A._of_keywords, Saved: _A._of_saved,
    },
)  # fmt: skip
