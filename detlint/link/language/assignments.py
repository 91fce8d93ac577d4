"""Assignments of values to names, attributes, items and switches."""

from __future__ import annotations

from dataclasses import replace

from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.language.descriptors import set_by
from detlint.link.language.evaluate import not_none
from detlint.link.language.functions import Functions
from detlint.link.state.entropy import asked_for, unless_set
from detlint.link.state.enumerations import member_of
from detlint.link.state.keywords import set_keyword
from detlint.link.state.mappings import DICT, entries, is_namespace, mapped, perhaps, set_shown, show, written_items
from detlint.link.state.objects import UNSPELLED, given_to, within
from detlint.link.state.truth import is_none
from detlint.link.state.values import (
    NONE,
    UNKNOWN,
    Atom,
    Class,
    Constant,
    Function,
    Keywords,
    Library,
    Module,
    Object,
    Option,
    Tuple,
    Value,
    bounded,
    constant,
    each,
    join,
    only,
    single,
)

_PLAIN = frozenset((Constant, Option))


class Assignments(Functions):
    """The part of the interpreter that runs assignments."""

    def assign(self, target: f.Expression, value: Value) -> None:
        """Assign a value to a target."""
        if isinstance(target, f.Local):
            if self.frame.top and self.frame.variables.get(target.name) != value:
                self.program.objects.watch.change((self.frame.path, target.name))
            if target.name in self.frame.watched:
                self.set_local(target.name, value)
            else:
                self.frame.variables[target.name] = value
        elif isinstance(target, f.Global):
            known = self.variable(self.frame.path, target.name) if not self.frame.top else None
            self.sets(frozenset(), value)
            self.set_variable_of(self.frame.path, target.name, value if known is None else join((known, value)))
        elif isinstance(target, f.Display):
            rest = next((i for i, one in enumerate(target.elements) if _takes_rest(one)), len(target.elements))
            for index, element in enumerate(target.elements):
                if isinstance(element, f.Display) and index == rest:
                    last = index + 1 - len(target.elements)
                    self.assign(element.elements[0], join([self.between(a, index, last) for a in each(value)]))
                    continue
                key = constant(index if index < rest else index - len(target.elements))
                self.assign(element, join([self.item_of(atom, key) for atom in each(value)]))
        elif isinstance(target, f.Member):
            owners = self.value(target.value)
            self.sets(owners, value)
            for atom in each(owners):
                if isinstance(atom, Object) and target.name == "__dict__":
                    self._show(atom, value)
                elif isinstance(atom, Object) and self.set_property(atom, target.name, value):
                    continue
                elif len(owners) == 1 and self.keeps_default(atom, target.name, value):
                    pass
                elif isinstance(atom, Object) and atom.kind == DICT:
                    self.put_item(atom, f"[{target.name!r}]", value)  # an entry of a configuration
                elif isinstance(atom, (Object, Class)):
                    if self.frame.top and self.program.objects.is_config(atom):
                        value = _configured(target.name, value)
                    # command-line arguments are one object: a sure assignment replaces what a field held
                    sure = len(owners) == 1 and is_namespace(atom) and self.is_certain()
                    put = self.program.objects.replace if sure else self.program.objects.store
                    before = self.field_before(atom, target.name)
                    held = self.program.objects.stored(atom, target.name)
                    stored = asked_for(held, self.put_there(held, value), self.frame.usual)
                    put(atom, target.name, stored | before if before else stored)
                elif member_of(atom) is not None:
                    self.program.objects.store(atom, target.name, value)
                elif isinstance(atom, Module):
                    self.set_variable_of(atom.path, target.name, value)
                elif isinstance(atom, Library) and isinstance(atom.receiver, Object):  # a part of a library's object
                    before = frozenset() if self.is_certain() else UNKNOWN
                    self.program.objects.store(atom.receiver, within(atom.name, target.name), value | before)
        elif isinstance(target, f.Item):
            self.sets(frozenset(), value)
            self._assign_item(target, value)
        elif isinstance(target, f.Library):
            self.set_switch(target.name, value)

    def between(self, atom: Atom, first: int, last: int) -> Value:
        """Return the items that `*rest` takes, between the targets at both ends."""
        items = written_items(self.program.objects, atom)
        if items is None:
            return single(atom) if self.is_sequence(atom) else UNKNOWN
        return single(Tuple(tuple(items[first : last or None])))

    def set_property(self, owner: Object, name: str, value: Value) -> bool:
        """Run the setter of a property, or a descriptor, for a value; return whether there is one."""
        setter = self.program.objects.setter(owner, name)
        if self.program.objects.attending and set_by(self, owner, name, value):
            return True
        if setter is None or self.state is None:
            return False
        self.program.objects.store(owner, given_to(name), value)
        self.call_value(self.bound(setter, owner), (value,), {}, self.place_of(setter))
        return True

    def keeps_default(self, owner: Atom, name: str, value: Value) -> bool:
        """Return whether a command-line argument keeps its default, as a variable does: it is given another constant
        only where an option is set.
        """
        plain = isinstance(owner, Object) and is_namespace(owner) and _PLAIN.issuperset(map(type, value))
        if not (plain and self.is_chosen()):
            return False
        held, option = self.program.objects.stored(owner, name), self.frame.left
        usual = None if held is None else only(held)
        if held is not None and option and isinstance(usual, Constant):
            self.program.objects.replace(owner, name, unless_set(held, value, option))
            return True
        return isinstance(usual, Option)

    def set_local(self, name: str, value: Value) -> None:
        """Set a variable of the frame, and update the functions defined there that capture it."""
        variables, users = self.frame.variables, self.frame.watched.get(name)
        variables[name] = value
        for other, held in list(variables.items()) if users else ():
            if Function in map(type, held):
                found = frozenset(self._capturing(atom, name, value, users or set()) for atom in held)
                if other != name and found != held:
                    variables[other] = found

    def _capturing(self, atom: Atom, name: str, value: Value, users: set[str]) -> Atom:
        """Return a function with the current value of a variable, if it is one of those that use it."""
        if not isinstance(atom, Function) or atom.path != self.frame.path or atom.qualified not in users:
            return atom
        captured = dict(atom.captured) | {name: bounded(value)}
        return replace(atom, captured=tuple(sorted(captured.items())))

    def _show(self, owner: Object, value: Value) -> None:
        """Run `owner.__dict__ = value`: store what is known of the mapping, which objects may share."""
        for atom in each(value):
            held = entries(self.program.objects, atom)
            show(self.program.objects, owner, {slot: each for slot, each in held.items() if slot != "[]"})
            if isinstance(atom, Object) and atom.kind == DICT:
                self.open(atom)  # from now on it also holds attributes set on the object

    def field_before(self, owner: Object | Class, name: str) -> Value:
        """Return what a field that is perhaps set may already hold: its default, or an option that is not seen."""
        objects = self.program.objects
        if owner == self.frame.receiver or objects.stored(owner, name) is not None:
            return frozenset()
        self.ask("doubtful", self.frame.doubtful)
        if self.is_certain() and not (self.frame.exits or self.frame.doubtful):
            return frozenset()
        given = objects.given(owner, name)
        if given is not None or is_namespace(owner) or objects.may_be_shown(owner):
            return given or UNKNOWN
        bases = objects.library_bases(owner.kind) if isinstance(owner, Object) else ()
        for base in bases:
            if (kept := objects.kept(owner, f"{base}.{name}")) is not None:
                return kept
        classes = objects.ancestry(owner.kind) if isinstance(owner, Object) else ()
        infos = (objects.classes.get(klass) for klass in classes if isinstance(klass, Class))
        return next((info.attributes[name] for info in infos if info is not None and name in info.fields), frozenset())

    def _assign_item(self, target: f.Item, value: Value) -> None:
        key = self.value(target.key)
        known = next(iter(key)) if len(key) == 1 else None
        for atom in each(self.value(target.value)):
            if isinstance(atom, Object):
                slot = f"[{known.value!r}]" if isinstance(known, Constant) else "[]"
                self.put_item(atom, slot, value)
                self._set_item(atom, key, value)
            elif isinstance(atom, Keywords):
                set_keyword(self.frame, atom, key, value)
            elif (owner := mapped(atom)) is not None:
                if not (isinstance(known, Constant) and self.keeps_default(owner, str(known.value), value)):
                    set_shown(self.program.objects, owner, known, value, self.is_certain())
            elif isinstance(atom, Library) and isinstance(known, Constant):
                self.set_environment(atom.name, known.value)

    def _set_item(self, owner: Object, key: Value, value: Value) -> None:
        """Run `owner[key] = value` if the class is the project's and has a `__setitem__`."""
        found = self.program.objects.attribute(owner, "__setitem__") if isinstance(owner.kind, Class) else None
        methods = frozenset(a for a in found or () if isinstance(a, Function))
        if methods and self.state is not None:
            self.call_value(self.bound(methods, owner), (key, value), {}, self.place_of(methods))

    def put_item(self, owner: Object, slot: str, value: Value) -> None:
        """Set a slot of a mapping. Replace what it held if this function made the mapping and surely sets it, or if it
        held None; otherwise add to what it held.
        """
        objects, sure = self.program.objects, self.is_certain()
        held = objects.stored(owner, slot)
        if held is None and not sure and slot != "[]":
            objects.store(owner, perhaps(slot), NONE if self.is_chosen() else UNKNOWN)
            value |= objects.stored(owner, UNSPELLED) or frozenset()  # which this key may refer to
        elif sure and objects.stored(owner, perhaps(slot)) is not None:
            objects.remove(owner, perhaps(slot))
        own = not self.frame.usual and (owner in self.frame.dicts or owner in self.frame.copies)
        put = objects.replace if sure and (own or held == NONE) and slot != "[]" else objects.store
        put(owner, slot, self.put_there(held, value))

    def put_there(self, held: Value | None, value: Value) -> Value:
        """Return what replaces a held value: not None if the old one is not None and an option decides."""
        kept = held is not None and is_none(held).may_hold is False
        return not_none(value) if kept and self.is_chosen() else value

    def sets(self, owners: Value, value: Value) -> None:
        """Record that attributes of objects are set, or what a module or a container holds."""
        raise NotImplementedError

    def set_switch(self, name: str, value: Value) -> None:
        """Set an attribute of a library."""
        raise NotImplementedError

    def set_environment(self, name: str, key: object, place: Place | None = None) -> None:
        """Set an environment variable, by the call at `place` or by an assignment."""
        raise NotImplementedError


def _takes_rest(target: f.Expression) -> bool:
    return isinstance(target, f.Display) and target.kind == f.REST


def _configured(name: str, value: Value) -> Value:
    """Return a default of a configuration as an option, which a file may set too, unless it is falsy or -1."""
    return frozenset(
        Option(name, a.value, None) if isinstance(a, Constant) and a.value and a.value != -1 else a for a in value
    )
