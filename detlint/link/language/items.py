"""Items: what `owner[key]` may be for each kind of owner."""

from __future__ import annotations

from detlint.facts import facts as f
from detlint.link.language.attributes import Attributes
from detlint.link.language.members import members
from detlint.link.state.enumerations import instead
from detlint.link.state.mappings import mapped, written_items
from detlint.link.state.values import (
    UNKNOWN,
    Atom,
    Class,
    Constant,
    Entropy,
    Function,
    Keywords,
    Library,
    Module,
    Object,
    Option,
    Saved,
    Tuple,
    Value,
    Wrapped,
    join,
    only,
    settled,
    single,
)

_NAMES = ".__dict__"  # of a library's module
_LOADED = Library("sys.modules")
_HAVE_ITEMS = frozenset((Tuple, Keywords, Wrapped, Module, Library, Class, Entropy, Saved, Object))
_SLICE = single(Library(f.SLICE))


class Items(Attributes):
    """The part of the interpreter that evaluates items."""

    def item_of(self, atom: Atom, key: Value) -> Value:
        """Return `atom[key]`."""
        if type(atom) not in _HAVE_ITEMS:
            return UNKNOWN
        if key == _SLICE and self.is_sequence(atom):
            return single(atom)
        if len(key) > 1 and isinstance(atom, Object) and (named := self.named_items(atom, key)):
            return named
        known = only(key)
        key_value = settled(known) if isinstance(known, (Constant, Option)) else None
        objects = self.program.objects
        if isinstance(atom, Tuple):
            if isinstance(key_value, int) and -len(atom.items) <= key_value < len(atom.items):
                return atom.items[key_value]
            return join(atom.items)
        if isinstance(atom, Keywords):
            return next((value for name, value in atom.items if name == key_value), UNKNOWN)
        if isinstance(atom, Wrapped):
            return atom.items
        origin = self.origin(atom)
        if origin is not None:
            return objects.stored(atom, f"[{key_value!r}]") or single(origin) | UNKNOWN
        owner = atom if isinstance(atom, Module) else mapped(atom)
        if owner is not None:
            return self.attribute(owner, key_value) if isinstance(key_value, str) else members(self, owner)
        if atom == _LOADED and isinstance(key_value, str):
            return self.module_loaded(key_value)
        if isinstance(atom, Library) and atom.name.endswith(_NAMES) and isinstance(key_value, str):
            return self.library_attribute(Library(atom.name.removesuffix(_NAMES)), key_value)
        if isinstance(atom, Class) and isinstance(key_value, str) and (member := objects.attribute(atom, key_value)):
            return instead(known, member)  # of an enumeration
        if isinstance(atom, Class) and (given := self.parametrised(atom, key)) is not None:
            return given
        if isinstance(atom, (Class, Entropy, Saved)) or (
            isinstance(atom, Library) and atom.name.rpartition(".")[2][:1].isupper()
        ):
            return single(atom)  # a generic type with its parameters, a part of a state
        if isinstance(atom, Object):
            if isinstance(atom.kind, Class):
                method = objects.attribute(atom, "__getitem__")
                if method is not None and any(isinstance(a, Function) for a in method):
                    return self.call_value(self.bound(method, atom), (key,), {}, self.place_of(method))
            return self.kept_item(atom, key)
        return UNKNOWN

    def kept_item(self, owner: Object, key: Value) -> Value:
        """Return what a container holds, regardless of the `__getitem__` of the project's class."""
        known = only(key)
        key_value = settled(known) if isinstance(known, (Constant, Option)) else None
        if type(key_value) is int and key_value < 0 and (items := written_items(self.program.objects, owner)):
            return items[key_value] if -key_value <= len(items) else UNKNOWN
        return self.held(owner, f"[{key_value!r}]" if key_value is not None else None)

    def parametrised(self, klass: Class, key: Value) -> Value | None:
        """Call `__class_getitem__` for `klass[key]`; return None if the class has none."""
        found = self.program.objects.attribute(klass, "__class_getitem__") or frozenset()
        methods = self.bound(frozenset(a for a in found if isinstance(a, Function)), klass)
        return self.call_value(methods, (key,), {}, self.place_of(methods)) if methods and self.state else None

    def named_items(self, owner: Object, key: Value) -> Value:
        """Return what a container holds under the known ones of several keys; empty if it holds nothing there."""
        keys = [settled(atom) for atom in key if isinstance(atom, (Constant, Option))]
        stored = (self.program.objects.stored(owner, f"[{name!r}]") for name in keys if name is not None)
        found = [value for value in stored if value is not None]
        return join([*found, UNKNOWN] if len(found) < len(key) else found) if found else frozenset()
