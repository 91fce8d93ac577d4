"""What happens to an object from its call on, through names, attributes, loaders and functions of one file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, Scope, block_of, bound, class_of, reaching

ITERATED = "iterated"  # in place of a path: an iterator, from which the object cannot be reached again
SURE, NONE, OTHER, UNKNOWN = range(4)  # what else it may be: nothing, None, an object of the same kind, anything
_LONGEST = 8  # calls between the object's call and an expression that holds it: recursion would add more and more
_PASSIVE = frozenset(("==", "!=", "is", "is not", "not", "in", "not in", "f-string"))


@record(frozen=True)
class Held:
    """An expression that may hold the object, under `path` (".sampler"); `made` are the calls that returned it."""

    node: s.Expression
    path: str = ""
    doubt: int = SURE
    made: tuple[s.Node, ...] = ()


class Trace:
    """The expressions, loops and calls that the object of one call reaches.

    `data` names the calls that matter: `loaders` and `batches` keep the object, `wrappers` iterate over their first
    argument, `readers` only look at their arguments, and `bases` are classes whose methods do nothing with the
    attributes of their instances. `escapes` says that code out of sight may get the object; `handed` are the calls
    that pass it to such code.
    """

    def __init__(self, module: Module, call: s.Call, data: Mapping[str, Collection[str]]) -> None:
        self.module = module
        self.data = data
        self.held: list[Held] = []
        self.loops: list[tuple[s.For, Held]] = []
        self.handed: list[tuple[s.Call, Held]] = []
        self.escapes = False
        self._bound: dict[tuple[int, tuple[int, ...]], Held] = {}  # by what binds a name or an attribute
        self._seen: set[Held] = set()
        self._queue = [Held(call, made=(call,))]
        while self._queue:
            self._step(self._queue.pop())

    def holds(self, node: s.Node) -> bool:
        """Return whether an expression may be the object."""
        return any(held.node is node and not held.path for held in self.held)

    def doubt(self, bindings: Collection[Binding | s.Assign], held: Held) -> int:
        """Return what a name or an attribute with these bindings may be besides `held`, from SURE to UNKNOWN."""
        found = SURE
        for binding in bindings:
            key = (id(binding.node), binding.path) if isinstance(binding, Binding) else (id(binding), ())
            value = bound(binding) if isinstance(binding, Binding) else binding.value
            known = self._bound.get(key)
            if known is None:
                found = max(found, self._instead(value, held.path))
            else:
                found = max(found, known.doubt if known.made == held.made else UNKNOWN)
        return found

    def _instead(self, value: s.Expression | None, path: str) -> int:
        if isinstance(value, s.Constant) and value.value is None:
            return NONE if not path else UNKNOWN
        if not path:
            return OTHER
        names = self.module.callee(value) if isinstance(value, s.Call) else frozenset[str]()
        return OTHER if names and names <= set(self.data["loaders"]) else UNKNOWN

    def _add(self, held: Held) -> None:
        key = replace(held, doubt=SURE)
        self.escapes |= len(held.made) > _LONGEST
        if key not in self._seen and len(held.made) <= _LONGEST:
            self._seen.add(key)
            self._queue.append(held)

    def _step(self, held: Held) -> None:
        self.held.append(held)
        node, parent = held.node, held.node.parent
        if isinstance(parent, s.Assign) and parent.value is node:
            for target in parent.targets:
                self._bind(target, held, parent)
        elif isinstance(parent, s.NamedExpression) and parent.value is node:
            self._bind(parent.target, held, parent)
            self._add(replace(held, node=parent))
        elif isinstance(parent, s.Conditional):
            if parent.test is not node:
                other = parent.orelse if parent.body is node else parent.body
                self._add(replace(held, node=parent, doubt=max(held.doubt, self._instead(other, held.path))))
        elif isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            self._pass(held, parent, parent.parent)
        elif isinstance(parent, s.Attribute):
            self._attribute(held, parent)
        elif isinstance(parent, s.For) and parent.iterator is node:
            self.loops.append((parent, held))
        elif isinstance(parent, s.WithItem) and held.path == ITERATED:
            self._enter_with(held, parent)
        elif isinstance(parent, s.Leave):
            self._leave(held, parent, None)
        elif isinstance(parent, s.Collection):
            self._element(held, parent)
        elif not isinstance(parent, (s.ExpressionStatement, s.Clause, s.If, s.While, s.Other)):
            self.escapes |= not (isinstance(parent, s.Operation) and parent.operator in _PASSIVE)

    def _bind(self, target: s.Expression, held: Held, statement: s.Node, path: tuple[int, ...] = ()) -> None:
        self._bound[id(statement), path] = held
        if isinstance(target, s.Name):
            self._read(target.scope.find(target.id), target.id, held, statement, path)
        elif isinstance(target, s.Attribute) and (klass := self.own(target)) is not None:
            self._bound[id(statement), ()] = held
            self._keep(klass, target.attribute, held)
        else:
            self.escapes = True

    def _read(self, scope: Scope | None, name: str, held: Held, node: s.Node, path: tuple[int, ...] = ()) -> None:
        """Follow the reads of a name that may be what `node` binds it to."""
        for read in self.module.reads(scope, name) if scope is not None else ():
            bindings = reaching(read) or []
            if any(binding.node is node and binding.path == path for binding in bindings):
                doubt = max(held.doubt, self.doubt(bindings, held))
                self._add(replace(held, node=read, doubt=doubt))

    def _enter_with(self, held: Held, item: s.WithItem) -> None:
        """Follow the target of a `with`: a progress bar returns itself on entry."""
        scope = item.target.scope.find(item.target.id) if isinstance(item.target, s.Name) else None
        for name, bindings in scope.bindings.items() if scope is not None else ():
            for binding in bindings:
                if binding.value is held.node:
                    self._read(scope, name, held, binding.node, binding.path)

    def own(self, node: s.Attribute) -> s.Class | None:
        """Return the class of which `node` is an attribute of `self`, or None."""
        function = self.module.function_of(node)
        klass = class_of(function) if function is not None else None
        first = function.parameters[0].name if function is not None and function.parameters else None
        return klass if isinstance(node.value, s.Name) and node.value.id == first else None

    def _keep(self, klass: s.Class, name: str, held: Held) -> None:
        self.escapes |= not all(self._in_sight(owner) for owner in self.module.family(klass))
        doubt = max(held.doubt, self.doubt(self.module.attribute_assignments(klass, name), held))
        for node in self.module.attributes(name):
            if not node.stored:
                owner = self.own(node) or self.module.owner(node.value)
                if owner is None or klass in self.module.family(owner) or owner in self.module.family(klass):
                    self._add(replace(held, node=node, doubt=doubt if owner is klass else UNKNOWN))

    def _in_sight(self, klass: s.Class) -> bool:
        """Return whether no other code reaches an instance's attributes: known bases, and `self` is never passed on."""
        known = self.module.classes.keys() | set(self.data["bases"])
        for argument in klass.arguments:
            names = self.module.names(argument.value)
            if not names or not names <= known:
                return False
        return not any(self._passes_self(node, klass) for node in s.walk(klass) if isinstance(node, s.Name))

    def _passes_self(self, node: s.Name, klass: s.Class) -> bool:
        function = self.module.function_of(node)
        call = node.parent.parent if isinstance(node.parent, s.Argument) else None
        if not isinstance(call, s.Call) or function is None or class_of(function) is not klass:
            return False
        names = self.module.callee(call)
        own = bool(function.parameters) and function.parameters[0].name == node.id
        return own and not (names and names <= set(self.data["readers"]))

    def _attribute(self, held: Held, node: s.Attribute) -> None:
        if held.path == ITERATED:
            return
        name = f".{node.attribute}"
        if node.stored or node.attribute in ("__dict__", "__setattr__"):
            self.escapes = True
        elif held.path == name or held.path.startswith(f"{name}."):
            self._add(replace(held, node=node, path=held.path[len(name) :]))

    def _element(self, held: Held, parent: s.Collection) -> None:
        """Follow one of several values that are assigned or returned together."""
        index, outer = parent.elements.index(held.node), parent.parent
        if isinstance(outer, s.Leave):
            self._leave(held, outer, index)
        elif isinstance(outer, s.Assign) and outer.value is parent and len(outer.targets) == 1:
            self._unpack(outer, index, held)
        else:
            self.escapes = True

    def _unpack(self, statement: s.Assign, index: int, held: Held) -> None:
        target = statement.targets[0]
        elements = target.elements if isinstance(target, s.Collection) else []
        if index >= len(elements) or any(isinstance(element, s.Starred) for element in elements):
            self.escapes = True
        else:
            self._bind(elements[index], held, statement, (index,))

    def _leave(self, held: Held, leave: s.Leave, index: int | None) -> None:
        """Follow a returned object to the calls in this file; callers in other files have loops of their own."""
        function = self.module.function_of(leave)
        if leave.kind != "return" or function is None or function.name == "<lambda>":
            self.escapes = True
            return
        returns = [n for n in s.walk(function.body) if isinstance(n, s.Leave) and n.kind == "return"]
        doubt = held.doubt if len(returns) == 1 else UNKNOWN
        for call in self.module.calls_to({self.module.qualified(function)}):
            found = replace(held, node=call, doubt=doubt, made=(*held.made, call))
            if index is None:
                self._add(found)
            elif isinstance(call.parent, s.Assign) and len(call.parent.targets) == 1:
                self._unpack(call.parent, index, found)
            else:
                self.escapes = True

    def _pass(self, held: Held, argument: s.Argument, call: s.Call) -> None:
        names = self.module.callee(call)
        if argument.star or not names:
            self._hand(call, held)
        elif names <= set(self.data["readers"]):
            return
        elif names <= set(self.data["wrappers"]):
            self._add(replace(held, node=call, path=ITERATED))
        elif held.path != ITERATED and names <= {*self.data["loaders"], *self.data["batches"]}:
            self._load(held, call)
        else:
            self._enter(held, call, names)

    def _hand(self, call: s.Call, held: Held) -> None:
        self.handed.append((call, held))
        self.escapes = True

    def _load(self, held: Held, call: s.Call) -> None:
        """Follow the sampler into a loader or a batch sampler that takes it."""
        for parameter in ("sampler", "batch_sampler"):
            if any(held.node is value for value in self.module.argument(call, parameter).values):
                other = UNKNOWN if parameter == "batch_sampler" else max(held.doubt, OTHER)
                doubt = other if held.doubt else SURE
                self._add(Held(call, f".{parameter}{held.path}", doubt, (*held.made, call)))
                return
        self.escapes = True

    def _enter(self, held: Held, call: s.Call, names: Collection[str]) -> None:
        """Follow the object into a function or a class of this file that takes it."""
        for name in names:
            klass = self.module.classes.get(name)
            function = self.module.method(klass, "__init__") if klass else self.module.functions.get(name)
            given = [
                p
                for p in (function.parameters if function is not None else ())
                if not p.star and any(held.node is value for value in self.module.argument(call, p.name).values)
            ]
            if function is None or len(given) != 1:
                self._hand(call, held)
                return
            alone = list(self.module.calls_to({name})) == [call]
            found = replace(held, doubt=held.doubt if alone else UNKNOWN)
            parameter = given[0]
            self._bound[id(parameter), ()] = found
            self._read(function.scope, parameter.name, found, parameter)


def is_bound(scope: Scope, name: str, node: s.Node) -> bool:
    """Return whether every run that reaches `node`, which sees the names of `scope`, has bound `name` there."""
    bindings = scope.bindings.get(name, [])
    if any(binding.kind == "delete" for binding in bindings):
        return False
    nodes = [binding.node for binding in bindings if binding.kind != "augment"]
    if scope.kind == "module" and any(isinstance(around, s.Function) for around in node.ancestors()):
        return bool(nodes)  # the file has run by then
    blocks: list[s.Node] = []
    for each in nodes:
        block = block_of(each)
        while block is not None:
            if each.order < node.order and any(around is block for around in node.ancestors()):
                return True
            blocks.append(block)
            choice = block.parent
            arms = (choice.body, choice.orelse) if isinstance(choice, s.If) else ()
            if not arms or not all(arm is not None and any(arm is other for other in blocks) for arm in arms):
                break
            assert choice is not None
            block = block_of(choice)
    return False
