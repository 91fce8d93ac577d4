"""torch.nn: layers whose weights are drawn when they are made, and modules, which are called by their `forward`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import Atom, Bound, Constant, DictOf, Instance, IteratorOver, LibraryRef, TupleOf, Unknown
from detlint.domain.given import Given
from detlint.domain.library import Class, Library
from detlint.domain.slots import ANY_KEY, ITEMS, Argument, Key
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, NULL, SOMETHING, UNKNOWN, Value, value_of
from detlint.models import holders
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known

_MODULE = "torch.nn.Module"
_OWN = "forward"
_SOURCE = Argument("layers")  # the dict that a container was made with
_MAPPINGS = ("builtins.dict", "collections.OrderedDict")


def forward(step: Step, module: Instance, given: Given) -> Value:
    """A module that is called goes through `forward`, which it may have been given itself."""
    functions = step.attribute(value_of(module), _OWN)
    known = [atom for atom in step.each(functions) if not _is_of_library(atom)]
    return step.call_with(functions.of(known), given.after(0))


def _is_of_library(atom: Atom) -> bool:
    return isinstance(atom, Unknown) or (isinstance(atom, Bound) and isinstance(atom.function, LibraryRef))


def holds(step: Step, container: Instance, given: Given) -> Value:
    """A container keeps its layers, or those of a dict."""
    holders.keep_order(step, container, given)
    for each in given.each:
        for atom in step.each(each):
            if isinstance(atom, Instance) and getattr(atom.site.kind, "name", "") in _MAPPINGS:
                step.fill(container, _SOURCE, each.of((atom,)))
                step.fill(container, ITEMS, step.read(atom, ITEMS))
            else:
                step.fill(container, ANY_KEY, each.of((atom,)))
    if given.open:
        step.fill(container, ANY_KEY, given.more if given.more.atoms else UNKNOWN)
    return value_of(container)


def holds_listed(step: Step, container: Instance, given: Given) -> Value:
    """A container keeps the layers of a list."""
    step.fill(container, ANY_KEY, step.iterate(given.first))
    return value_of(container)


def held(step: Step, module: Instance, name: str) -> Value:
    """What a module holds under a name besides what is stored on it: a layer, or all of them.

    What every module has itself no layer takes the place of.
    """
    if name == _OWN or name.startswith("__"):
        return NOTHING
    if name == "_modules":
        own = tuple((Constant("str", key), value) for key, value in step.stored(module).items())
        return step.make_dict(DictOf(own, step.read(module, ITEMS)), module)
    return _named(step, module, Constant("str", name))


def _named(step: Step, module: Instance, name: Constant) -> Value:
    """The layers that a module, or the dict that it was made with, has under a name, and those of no known name."""
    found = step.join(step.read(module, Key(name)), step.read(module, ANY_KEY))
    return step.join(found, step.item(step.read(module, _SOURCE), value_of(name)))


def layers_of(step: Step, module: Instance) -> Value:
    """The layers of a module: those that it was given, and those that its methods store on it."""
    found = step.read(module, ITEMS)
    for value in step.stored(module).values():
        found = step.join(found, value.of(atom for atom in step.each(value) if isinstance(atom, Instance)))
    return found


def added(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A module gets a layer under a name."""
    under, layer = args.given.value("name", 0), args.given.value("module", 1)
    for atom in step.each(step.owner):
        if isinstance(atom, Instance) and layer is not None and under is not None:
            for text in step.each(under):
                step.fill(atom, Key(text) if isinstance(text, Constant) else ANY_KEY, layer)
    return NULL


def registered(step: Step, given: Given) -> Value:
    """A module gets a buffer or a parameter as an attribute of a name."""
    names, tensor = given.value("name", 0), given.value("tensor", 1) or given.value("param")
    for name in step.each(names) if names is not None else ():
        if isinstance(name, Constant) and name.kind == "str" and step.receiver is not None:
            step.put(value_of(step.receiver), name.value, UNKNOWN if tensor is None else tensor)
    return NULL


def item_of(step: Step, owner: Value, given: Given) -> Value:
    """A layer of a dict of layers."""
    found = NOTHING
    container = step.receiver
    for key in step.each(given.first):
        if isinstance(container, Instance) and isinstance(key, Constant):
            found = step.join(found, _named(step, container, key))
        elif isinstance(container, Instance):
            found = step.join(found, step.read(container, ITEMS))
    return found


def children(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The layers of a module, among what else it may have, with their names where these are asked for."""
    found = UNKNOWN
    for atom in step.each(step.owner):
        if isinstance(atom, Instance):
            found = step.join(found, layers_of(step, atom))
    return value_of(IteratorOver(value_of(TupleOf((SOMETHING, found))) if "named" in name else found))


def listed(step: Step, owner: Value, given: Given) -> Value:
    """The layers of a dict of layers."""
    found = NOTHING
    for atom in step.each(owner):
        if isinstance(atom, Instance):
            found = step.join(found, step.read(atom, ITEMS))
    return value_of(IteratorOver(found)) if found.atoms else NOTHING


def paired(step: Step, owner: Value, given: Given) -> Value:
    """The names and layers of a dict of layers."""
    found = step.iterate(listed(step, owner, given))
    return value_of(IteratorOver(value_of(TupleOf((SOMETHING, found))))) if found.atoms else NOTHING


def names(step: Step, container: Instance, given: Given) -> Value:
    """A name of a dict of layers."""
    return SOMETHING


def in_turn(step: Step, container: Instance, given: Given) -> Value:
    """The layers are called one after the other, unless the project says otherwise."""
    if step.overrides(container, "forward"):
        return forward(step, container, given)
    for layer in holders.in_turn(step, container):
        step.call(value_of(layer), UNKNOWN)
    return SOMETHING


def item(step: Step, container: Instance, given: Given) -> Value:
    """One of the layers."""
    return step.read(container, ITEMS)


def append(step: Step, owner: Value, given: Given) -> Value:
    """A container gets a layer more."""
    for atom in step.each(owner):
        if isinstance(atom, Instance):
            step.fill(atom, ANY_KEY, given.first)
    return owner


LIBRARY = Library(
    "torch.nn",
    classes=(
        Class("Module", called=forward, part=held),
        Class("Sequential", made=holds, called=in_turn, iterated=item, bases=(_MODULE,)),
        Class("ModuleList", made=holds_listed, iterated=item, methods={"append": append}, bases=(_MODULE,)),
        Class(
            "ModuleDict",
            made=holds,
            iterated=names,
            bases=(_MODULE,),
            methods={"values": listed, "items": paired, "__getitem__": item_of},
        ),
    ),
)
