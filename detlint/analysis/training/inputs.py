"""What networks are given: tensors that carry a gradient only where a network is part of another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from detlint.analysis.training.constants import is_constant
from detlint.analysis.training.contexts import around, is_module, named
from detlint.analysis.training.layers import given_to_layer
from detlint.analysis.values.conditions import subject
from detlint.analysis.values.parameters import calls_leading_to, given
from detlint.analysis.values.tensors import listed, method_of, tensors
from detlint.semantics.index import asked_once, last_word
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, reaching


class _DependsError(Exception):
    """A tensor depends on weights, or may."""


@asked_once
def inputs_of(module: Module, node: s.Expression) -> frozenset[str] | None:
    """Return the classes of networks whose inputs alone a tensor is computed from; None where weights may have a part.

    Such a tensor carries a gradient only where a module of another file holds one of these networks.
    """
    try:
        return frozenset(_Inputs(module).of(node)) or None
    except _DependsError:
        return None


class _Inputs:
    """The inputs of networks that tensors of a file are computed from; each expression is followed once."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._followed = set[s.Node]()

    def of(self, node: s.Expression) -> Iterator[str]:
        """Yield the classes whose inputs a tensor is computed from. Raises _DependsError."""
        if node in self._followed or is_constant(self._module, node):
            return
        self._followed.add(node)
        if isinstance(node, s.Name):
            yield from self._of_name(node)
        elif isinstance(node, s.Subscript):
            yield from self.of(node.value)
        elif isinstance(node, (s.Operation, s.Collection)):
            for each in node.operands if isinstance(node, s.Operation) else node.elements:
                yield from self.of(each)
        elif isinstance(node, s.Call):
            for each in self._given(node):
                yield from self.of(each)
        else:
            raise _DependsError

    def _of_name(self, name: s.Name) -> Iterator[str]:
        bindings = reaching(name) or ()
        if not bindings:
            raise _DependsError
        for binding in bindings:
            function = binding.node.parent if isinstance(binding.node, s.Parameter) else None
            if isinstance(binding.node, s.Parameter) and isinstance(function, s.Function):
                yield from self._of_parameter(function, binding.node, name)
            elif binding.kind in ("assign", "for") and binding.value is not None:
                yield from self.of(binding.value)
            else:
                raise _DependsError

    def _given(self, call: s.Call) -> Iterable[s.Expression]:
        """Return what a function of torch, a method of a tensor, or a layer without weights is given."""
        module = self._module
        if isinstance(call.function, s.Call) or module.constructors(call):
            layered = given_to_layer(module, call)
            if layered is None:
                raise _DependsError
            return [layered]
        method, receiver, positional = method_of(module, call)
        tensor = receiver or (subject(module, call) if method else None)
        fresh = module.callee(call) & (listed(module, "factory") | listed(module, "like"))
        own = isinstance(tensor, s.Name) and module.owner(tensor) is not None
        if fresh or own or tensor is None:
            raise _DependsError
        return tensors(tensor, positional) if method in listed(module, "joining") else [tensor]

    def _of_parameter(self, function: s.Function, parameter: s.Parameter, name: s.Name) -> Iterator[str]:
        """Yield the sources of what the calls of a function pass that get to where a parameter is named.

        For the `forward` of a module its class is one, too.
        """
        module, klass = self._module, class_of(function)
        if klass is not None and is_module(module, klass) and function.name in named(module, "module-methods"):
            if _gives_loss(module, function):  # it is handed what another network has computed
                raise _DependsError
            yield from (each.name for each in module.family(klass))
            calls = [call for each in module.family(klass) for call in _runs(module, each)]
        else:
            calls = calls_leading_to(module, function, name)
            if not calls:
                raise _DependsError
        for call in calls:
            if around(module, call, "no-gradient"):
                continue
            passed = given(call, function, parameter)
            if passed is None:
                raise _DependsError
            yield from self.of(passed)


def _runs(module: Module, klass: s.Class) -> Iterator[s.Call]:
    """Yield the calls in modules of what they hold as an object of a class. Raises _DependsError for other uses."""
    for name in module.names_of(klass.name):
        holder, made = module.class_of(name), name.parent
        if holder is not None and _is_within_module(module, holder):
            raise _DependsError  # a setting of the module says what its part is
        if holder in (None, klass) or not is_module(module, holder):
            continue
        assign = made.parent if isinstance(made, s.Call) and made.function is name else None
        target = assign.targets[0] if isinstance(assign, s.Assign) and len(assign.targets) == 1 else None
        if not isinstance(target, s.Attribute):
            raise _DependsError
        for read in module.attributes(target.attribute):
            run = read.parent
            if not read.stored and isinstance(run, s.Call) and run.function is read:
                yield run


def _is_within_module(module: Module, klass: s.Class) -> bool:
    return any(isinstance(each, s.Class) and is_module(module, each) for each in klass.ancestors())


def _gives_loss(module: Module, function: s.Function) -> bool:
    """Return whether a function returns a mean or sum of all, or what a function of torch for losses gives."""
    leaving = (x for x in s.walk(function.body) if isinstance(x, s.Leave) and x.kind == "return")
    values = [each for leave in leaving for value in leave.values for each in (module.values(value) or [value])]
    calls = [part for value in values for part in s.walk(value) if isinstance(part, s.Call)]
    reduced = any(last_word(call.function) in listed(module, "reducing") and not call.arguments for call in calls)
    return reduced or any(last_word(call.function).endswith("_loss") for call in calls)


def classes_spoken_of(module: Module) -> Iterator[str]:
    """Yield the names of classes of other files that modules of this one speak of, as they do of their parts.

    They are dotted where the file imports them.
    """
    own = {klass.name for klass in module.every(s.Class)}
    named_so = ((each, each.id) for each in module.every(s.Name))
    reached = ((each, each.attribute) for each in module.every(s.Attribute))
    for each, name in chain(named_so, reached) if own else ():
        if name[:1].isupper() and name not in own:
            klass, full = module.class_of(each), module.names(each)
            if klass is not None and is_module(module, klass) and not any(n.startswith("torch.") for n in full):
                yield from sorted(full) or [name]
