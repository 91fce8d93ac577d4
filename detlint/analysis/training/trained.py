"""Whether a file plainly trains the model that a call makes, or that a method is called on."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.training.contexts import function_around, named
from detlint.analysis.values.parameters import given
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, reaching

_DEPTH = 3
_CHOOSING = ("optim", "adam", "sgd")  # parts of the names of what takes parameters to change them


def is_trained(module: Module, call: s.Call, depth: int = _DEPTH) -> bool:
    """Return whether an optimizer of the file takes the model's parameters, or a trainer that trains takes the model.

    The model is the result of a call of a class, or of a class's method; else the object that the method is called on.
    """
    own = call.function.value if isinstance(call.function, s.Attribute) and not module.callee(call) else None
    node: s.Node = _chained(module, call) if own is None else own
    if own is None and _is_taken(module, node):
        return True
    if _is_returned(module, node, depth):
        return True
    if own is not None:
        return any(_is_taken(module, read) for read in _reads(module, own, None))
    return _holds_trained(module, node, depth)


def _holds_trained(module: Module, node: s.Node, depth: int) -> bool:
    """Return whether the variable that a value is assigned to is trained, or what a call makes of it is."""
    parent = node.parent
    if not isinstance(parent, s.Assign) or parent.value is not node or len(parent.targets) != 1 or depth == 0:
        return False
    for read in _reads(module, parent.targets[0], parent.value):
        outer = read.parent.parent if isinstance(read.parent, (s.Argument, s.Attribute)) else None
        if _is_taken(module, read) or _is_returned(module, read, depth) or _is_passed(module, read, depth):
            return True
        if isinstance(outer, s.Call) and _holds_trained(module, outer, depth - 1):
            return True
    return False


def _is_passed(module: Module, node: s.Node, depth: int) -> bool:
    """Return whether a function or a class of the file trains the model that it is given."""
    call = node.parent.parent if isinstance(node.parent, s.Argument) else None
    for name in module.callee(call) if isinstance(call, s.Call) else ():
        klass = module.classes.get(name)
        function = module.functions.get(name) if klass is None else module.method(klass, "__init__")
        for parameter in function.parameters if function is not None else ():
            if function is not None and isinstance(call, s.Call) and given(call, function, parameter) is node:
                reads = module.reads(function.scope, parameter.name)
                if any(_is_taken(module, read) or _holds_trained(module, read, depth - 1) for read in reads):
                    return True
    return False


def _is_returned(module: Module, node: s.Node, depth: int) -> bool:
    """Return whether a function returns a model to code that trains it."""
    function = function_around(node)
    if not (isinstance(node.parent, s.Leave) and node.parent.kind == "return" and depth) or function is None:
        return False
    return any(is_trained(module, each, depth - 1) for each in module.calls_to((module.qualified(function),)))


def is_lent_out(module: Module, call: s.Call) -> bool:
    """Return whether a function, which no call in the file names, returns the model that a call makes."""
    function = function_around(call)
    if function is None or class_of(function) is not None or any(module.calls_to((module.qualified(function),))):
        return False
    node = _chained(module, call)
    returned = [node]
    if isinstance(node.parent, s.Assign) and len(node.parent.targets) == 1:
        returned += _reads(module, node.parent.targets[0], node.parent.value)
    return any(isinstance(each.parent, s.Leave) and each.parent.kind == "return" for each in returned)


def is_asked_for(module: Module, call: s.Call) -> bool:
    """Return whether a call is in a branch that a user asks for: any but one on whether a package is available."""
    tests = [ancestor.test for ancestor in call.ancestors() if isinstance(ancestor, s.If)]
    return any(not (isinstance(test, s.Call) and "available" in module.source(test.function)) for test in tests)


def _chained(module: Module, call: s.Call) -> s.Expression:
    """Return the last of the calls that are chained to one, as in `model.cuda().train()`."""
    node: s.Expression = call
    while isinstance(node.parent, s.Attribute) and isinstance(node.parent.parent, s.Call):
        outer = node.parent.parent
        if outer.function is not node.parent or node.parent.attribute not in named(module, "passes-model"):
            break
        node = outer
    return node


def _reads(module: Module, holder: s.Expression, value: s.Expression | None) -> Iterator[s.Expression]:
    """Yield where a model's holder is read: an attribute, or a variable that may have `value` there, if it is given."""
    if isinstance(holder, s.Name):
        scope = holder.scope.find(holder.id)
        for read in module.reads(scope, holder.id) if scope is not None else ():
            bindings = reaching(read)
            if value is None or bindings is None or any(binding.value is value for binding in bindings):
                yield read
    elif isinstance(holder, s.Attribute):
        text, owner = module.source(holder), _class_around(holder)
        for node in module.attributes(holder.attribute):
            if not node.stored and module.source(node) == text and _class_around(node) is owner:
                yield node


def _class_around(node: s.Node) -> s.Class | None:
    """Return the class in whose method a node is, or None."""
    function = function_around(node)
    return None if function is None else class_of(function)


def _is_taken(module: Module, node: s.Node) -> bool:
    """Return whether an optimizer takes a model's parameters here, or a trainer that trains takes the model."""
    parent = node.parent
    if isinstance(parent, s.Attribute) and parent.attribute in ("parameters", "named_parameters"):
        return _is_chosen(module, parent) or any(_is_chosen(module, read) for read in _named(module, parent))
    if not isinstance(parent, s.Argument) or not isinstance(parent.parent, s.Call):
        return False
    taker = parent.parent
    first = bool(taker.arguments) and taker.arguments[0] is parent and parent.keyword is None
    if parent.star or not (first or parent.keyword == "model"):
        return False
    names = module.callee(taker)
    if names and names <= named(module, "adapts"):
        return True
    return _is_trainer(module, names) and _trains(module, taker)


def _is_chosen(module: Module, node: s.Node) -> bool:
    """Return whether a call around a node takes parameters to change them, as its name says."""
    texts = (module.source(each.function).lower() for each in node.ancestors() if isinstance(each, s.Call))
    return any(word in text for text in texts for word in _CHOOSING)


def _named(module: Module, node: s.Node) -> Iterator[s.Expression]:
    """Yield the reads of the variable that takes a list of parameters: `params = [p for p in net.parameters()]`."""
    assign = next((each for each in node.ancestors() if isinstance(each, s.Statement)), None)
    if isinstance(assign, s.Assign) and len(assign.targets) == 1 and assign.value is not None:
        yield from _reads(module, assign.targets[0], assign.value)


def _is_trainer(module: Module, names: frozenset[str]) -> bool:
    """Return whether classes are trainers, or derive from one in the file."""
    known = named(module, "trainers")
    own = {module.qualified(klass) for klass in module.every(s.Class) if not known.isdisjoint(module.ancestry(klass))}
    return bool(names) and names <= known | own


def _trains(module: Module, made: s.Call) -> bool:
    """Return whether a trainer that a call makes is told to train."""
    parent = made.parent
    if isinstance(parent, s.Attribute):
        return parent.attribute == "train"
    target = parent.targets[0] if isinstance(parent, s.Assign) and len(parent.targets) == 1 else None
    calls = (each.parent for each in module.attributes("train") if isinstance(each.parent, s.Call))
    told = {module.source(call.function.value) for call in calls if isinstance(call.function, s.Attribute)}
    return target is not None and module.source(target) in told
