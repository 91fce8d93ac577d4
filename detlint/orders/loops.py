"""Effects of a loop that depend on the order of its items."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.values.draws import Drawn
from detlint.analysis.values.messages import is_message
from detlint.orders.counts import Counts
from detlint.orders.gathering import Gathering
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s
from detlint.tree.scopes import inside, reaching

_LISTS = frozenset(("builtins.list",))


@record(frozen=True, slots=True)
class Effect:
    """`kind` is "adds" (to the list `node`), "maps" (into the mapping `node`, by the item), "hands" (an item, as the
    argument `node`, to code of another file), or a kind of leak: "numbers", "first", "draws", "array", "writes",
    "yielded", "state" (a model is given what it holds), "collective" (an operation that all ranks take part in).

    Others are "sums": the items are added up, and each addition rounds; and "trains": a model learns from each.
    """

    node: s.Node
    kind: str


class Loops:
    """Answers about the loops of one file."""

    def __init__(self, module: Module) -> None:
        names = module.catalogue.names
        self.module = module
        self._effects: dict[s.Node, list[Effect]] = {}
        self.counts = Counts(module)
        self.gathering = Gathering(module)
        self._telling = module.python("functions", "same-items") | module.python("functions", "text-of-number")
        self._texts = frozenset(("format", "join"))
        self._free = names("order", "use", kind="free")
        self._arrays = names("order", "use", kind="array")
        self._writers = names("order", "writer")
        self._writing = names("order", "writer", "methods")
        self._registering = names("order", "method", "methods", id="registers")
        self._registers = names("order", "method", "types", id="registers")
        self._collectives = names("order", "collective")
        self._drawn = Drawn(module, names("order", "use", id="generators"))

    # Effects

    def effects(self, node: s.For | s.While) -> list[Effect]:
        """Return what the body of a loop does that depends on the order of the items."""
        if node not in self._effects:
            self._effects[node] = list(self._found(node))
        return self._effects[node]

    def _found(self, node: s.For | s.While) -> Iterator[Effect]:
        counters = self._counters(node)
        first = node.body.statements[-1] if node.body.statements else None
        if isinstance(first, s.Leave) and first.kind in ("break", "return") and not self._constant(first):
            yield Effect(first, "first")
        step = self.trains(node)
        if step is not None:
            yield Effect(step, "trains")
        for part in s.walk(node.body):
            if self._elsewhere(part, node) or in_handler(part, node):
                continue
            if isinstance(part, s.Call):
                yield from self._call(part, node)
            elif isinstance(part, s.Name) and not part.stored:
                if part.id in counters and self.counts.is_data(part, node):
                    yield Effect(part, "numbers")
            elif isinstance(part, s.Operation) and part.operator in ("yield", "yield from"):
                if part.operands and not isinstance(part.operands[0], s.Constant):
                    yield Effect(part, "yielded")
            elif isinstance(part, s.Assign):
                yield from self._assign(part, node)

    def _call(self, call: s.Call, loop: s.For | s.While) -> Iterator[Effect]:
        draw = self.draw(call, loop)
        if draw is not None and draw is call:
            yield Effect(call, "draws")
        for argument in call.arguments:
            if (
                argument.keyword == "file"
                and self.gathering.outside(argument.value, loop)
                and self.is_file(argument.value)
            ):
                yield Effect(call, "writes")
        if is_message(self.module, call):
            return
        if not self.module.callee(call).isdisjoint(self._collectives):
            yield Effect(call, "collective")
        yield from (Effect(each, "adds") for each in self.gathering.lists(call, loop))
        if self.gathering.numbers(call, loop) or self._numbers_next(call):
            yield Effect(call, "numbers")
        if isinstance(call.function, s.Attribute) and call.function.attribute in self._registering:
            named = call.arguments[0].value if call.arguments else None
            if not isinstance(named, s.Constant) and self.gathering.outside(call.function.value, loop):
                yield Effect(call, "state")
        yield from (Effect(argument, "hands") for argument in self.gathering.handed(call, loop))
        if isinstance(call.function, s.Attribute) and call.function.attribute in self._writing:
            data = [a.value for a in call.arguments if not isinstance(a.value, s.Constant)]
            if data and self._writes_outside(call.function.value, loop):
                yield Effect(call, "writes")

    def _numbers_next(self, call: s.Call) -> bool:
        """Return whether a call gives a new key of a mapping the next number: `ids.setdefault(item, len(ids))`."""
        owner = call.function.value if isinstance(call.function, s.Attribute) else None
        if owner is None or last_word(call.function) != "setdefault" or len(call.arguments) != 2:
            return False
        length = call.arguments[1].value
        if not isinstance(length, s.Call) or self.module.callee(length) != {"builtins.len"} or not length.arguments:
            return False
        return self.module.source(length.arguments[0].value) == self.module.source(owner)

    def trains(self, loop: s.For | s.While) -> s.Call | None:
        """Return the optimizer step on an item's gradients, or None: each step begins where the last one ended."""
        if "backward" not in self.module.words:
            return None
        called = {last_word(part.function): part for part in s.walk(loop.body) if isinstance(part, s.Call)}
        return called.get("step") if "backward" in called else None

    def _writes_outside(self, node: s.Expression, loop: s.For | s.While) -> bool:
        """Return whether a file is open before the loop begins; the loop may choose it among several."""
        if self.gathering.outside(node, loop):
            return self.is_file(node)
        values = self.module.values(node) or ()
        return bool(values) and all(isinstance(v, s.Call) and self._opens(v) and not inside(v, loop) for v in values)

    def _assign(self, assign: s.Assign, loop: s.For | s.While) -> Iterator[Effect]:
        target = assign.targets[0]
        if isinstance(target, s.Subscript):
            length = assign.value
            if isinstance(length, s.Call) and self.module.callee(length) == {"builtins.len"} and length.arguments:
                held = length.arguments[0].value
                if isinstance(held, s.Name) and isinstance(target.value, s.Name) and held.id == target.value.id:
                    yield Effect(assign, "numbers")
            if self._is_keyed_by_item(target, loop):
                registers = not self.module.types(target.value).isdisjoint(self._registers)
                yield Effect(assign, "state") if registers else Effect(target.value, "maps")
        elif assign.operator == "=" and isinstance(target, s.Name) and self._grows(target, assign, loop):
            yield Effect(assign, "array")
        elif assign.operator == "+=" and isinstance(target, s.Name) and self.gathering.outside(target, loop):
            kinds = self._initial(target)
            if kinds and kinds <= _LISTS:
                yield Effect(target, "adds")
        if self._adds_up(assign, loop):
            yield Effect(target, "sums")

    def _is_keyed_by_item(self, target: s.Subscript, loop: s.For | s.While) -> bool:
        """Return whether a mapping that is there before a loop is given an entry for each item: `found[item] = ...`."""
        names = (
            {part.id for part in s.walk(loop.target) if isinstance(part, s.Name)} if isinstance(loop, s.For) else set()
        )
        keys = {part.id for index in target.indices for part in s.walk(index) if isinstance(part, s.Name)}
        return not names.isdisjoint(keys) and self.gathering.outside(target.value, loop)

    def _adds_up(self, assign: s.Assign, loop: s.For | s.While) -> bool:
        """Return whether what is there before a loop, also by a key, has a part of each item added that is rounded."""
        target, added = assign.targets[0], _added(assign)
        if added is None or not isinstance(target, (s.Name, s.Attribute, s.Subscript)):
            return False
        if not self.gathering.gathers(target, loop) or (isinstance(target, s.Name) and self._is_only_shown(target)):
            return False
        if not any(isinstance(part, s.Name) and self._varies(part, loop) for part in s.walk(added)):
            return False  # the same is added each time
        kinds = self._initial(target)
        return _is_fraction(added) or (bool(kinds) and kinds <= self.module.catalogue.names("order", "rounded"))

    def _varies(self, name: s.Name, loop: s.For | s.While) -> bool:
        """Return whether a name is bound in a loop."""
        scope = name.scope.find(name.id)
        return scope is not None and any(inside(each.node, loop) for each in scope.bindings.get(name.id, ()))

    def _grows(self, target: s.Name, assign: s.Assign, loop: s.For | s.While) -> bool:
        """Return whether each item is joined to what a name holds: `rows = np.vstack([rows, row])`."""
        call = assign.value
        if not isinstance(call, s.Call) or not self._begins_outside(target, loop):
            return False
        names = self.module.callee(call)
        parts = [part for argument in call.arguments for part in s.walk(argument.value) if isinstance(part, s.Name)]
        joins = bool(names) and names <= self._arrays
        return joins and any(p.id == target.id for p in parts) and any(p.id != target.id for p in parts)

    def _begins_outside(self, name: s.Name, loop: s.For | s.While) -> bool:
        """Return whether a name has a value before a loop begins."""
        scope = name.scope.find(name.id)
        return scope is not None and any(not inside(each.node, loop) for each in scope.bindings[name.id])

    def _initial(self, target: s.Name | s.Attribute | s.Subscript) -> frozenset[str]:
        """Return the types of what a name, an attribute or an entry holds before it is added to; none if not known."""
        values: list[s.Expression] = []
        if isinstance(target, s.Name):
            scope = target.scope.find(target.id)
            bindings = scope.bindings[target.id] if scope is not None else []
            values = [b.value for b in bindings if b.kind == "assign" and b.value is not None and not b.path]
        elif isinstance(target, s.Attribute):
            owner = self.module.owner(target.value)
            assigns = self.module.attribute_assignments(owner, target.attribute) if owner is not None else []
            values = [assign.value for assign in assigns if assign.operator == "=" and assign.value is not None]
        else:
            for held in self.module.values(target.value) or ():
                values += _entries(held)
        return frozenset[str]().union(*(self.module.types(value) for value in values))

    def _is_only_shown(self, target: s.Name) -> bool:
        """Return whether a sum is only read in messages."""
        scope = target.scope.find(target.id)
        reads = self.module.reads(scope, target.id) if scope is not None else []
        calls = [[a for a in read.ancestors() if isinstance(a, s.Call)] for read in reads]
        return all(any(is_message(self.module, call) for call in around) for around in calls)

    def _counters(self, loop: s.For | s.While) -> frozenset[str]:
        """Return the names that a loop counts up by a constant for each item, and that begin outside of it."""
        found = set()
        for part in s.walk(loop.body):
            name = part.targets[0] if isinstance(part, s.Assign) else None
            if isinstance(name, s.Name) and isinstance(part, s.Assign) and self._begins_outside(name, loop):
                step = _added(part)
                if isinstance(step, s.Constant) and type(step.value) is int:
                    found.add(name.id)
        return frozenset(found)

    def _elsewhere(self, node: s.Node, loop: s.For | s.While) -> bool:
        function = self.module.function_of(node)
        return function is not self.module.function_of(loop)

    def _constant(self, leave: s.Leave) -> bool:
        return leave.kind == "return" and all(isinstance(value, s.Constant) for value in leave.values)

    def is_file(self, node: s.Expression) -> bool:
        """Return whether an expression is certainly a file that this code has opened, or a writer to one."""
        if isinstance(node, s.Call):
            return self._opens(node)
        values: list[s.Expression | None] = []
        if isinstance(node, s.Name):
            values = [binding.value for binding in reaching(node) or ()]
        elif isinstance(node, s.Attribute) and (owner := self.module.owner(node.value)) is not None:
            values = [*self.module.attribute_values(owner, node.attribute)]
        return bool(values) and all(isinstance(v, s.Call) and self._opens(v) for v in values)

    def writes_in_turn(self, function: s.Function) -> s.Call | None:
        """Return a call by which a method writes to a file that its object keeps open between calls, or None."""
        calls = (part for part in s.walk(function.body) if isinstance(part, s.Call))
        for call in calls if not self._writing.isdisjoint(self.module.words) else ():
            method = call.function
            kept = isinstance(method, s.Attribute) and isinstance(method.value, s.Attribute)
            if (
                kept
                and isinstance(method, s.Attribute)
                and method.attribute in self._writing
                and self.is_file(method.value)
            ):
                return call
        return None

    def _opens(self, call: s.Call) -> bool:
        named = isinstance(call.function, s.Attribute) and call.function.attribute == "open"
        names = self.module.callee(call)
        return named or (bool(names) and names <= self._writers)

    # Other answers

    def draw(self, node: s.Node, around: s.Node | None = None) -> s.Call | None:
        """Return a call in `node` that draws from a generator, once for each item in a loop `around` it, or None."""
        return self._drawn.within(node, node if around is None else around)

    def only_told(self, node: s.Expression, depth: int = 6) -> bool:
        """Return whether a value only gets into messages and errors, as a whole or item by item."""
        parent = node.parent
        if depth == 0 or parent is None:
            return False
        if isinstance(parent, s.Leave):
            return parent.kind == "raise"
        if isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            call = parent.parent
            made = not self.module.callee(call).isdisjoint(self._telling) or last_word(call.function) in self._texts
            return is_message(self.module, call) or (made and self.only_told(call, depth - 1))
        if isinstance(parent, s.Operation):
            return parent.operator in ("f-string", "%", "+") and self.only_told(parent, depth - 1)
        if isinstance(parent, s.For) and node is parent.iterator:
            calls = [each.value for each in parent.body.statements if isinstance(each, s.ExpressionStatement)]
            told = [call for call in calls if isinstance(call, s.Call) and is_message(self.module, call)]
            return len(told) == len(parent.body.statements)
        if isinstance(parent, s.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], s.Name):
            scope = parent.targets[0].scope.find(parent.targets[0].id)
            reads = self.module.reads(scope, parent.targets[0].id) if scope is not None else []
            own = [read for read in reads if any(binding.node is parent for binding in reaching(read) or ())]
            return bool(own) and all(self.only_told(read, depth - 1) for read in own)
        return False

    def drains(self, call: s.Call) -> bool:
        """Return whether a `pop()` is in a loop that takes all items one by one, or follows a check of their number."""
        if any(isinstance(a, s.While) for a in call.ancestors()):
            return True
        return isinstance(call.function, s.Attribute) and (bool(call.arguments) or self.counts.only_one(call.function))

    def is_sorted_into(self, read: s.Expression) -> bool:
        """Return whether an attribute's value is sorted back into the attribute: `self.x = sorted(self.x)`."""
        call = read.parent.parent if isinstance(read.parent, s.Argument) else None
        if not isinstance(call, s.Call) or not self.module.callee(call) <= self._free:
            return False
        assign = call.parent
        return isinstance(assign, s.Assign) and any(
            isinstance(t, s.Attribute) and isinstance(read, s.Attribute) and t.attribute == read.attribute
            for t in assign.targets
        )

    # Places

    def outermost(self, node: s.Node, holder: s.Name) -> s.Node:
        """Return the outermost loop around `node` in the function that holds the list, else `node`."""
        found = node
        home = self.module.function_of(holder)
        for around in node.ancestors():
            if isinstance(around, s.Function):
                break
            if isinstance(around, (s.For, s.While)) and self.module.function_of(around) is home:
                found = around
        return found

    def comes_after(self, read: s.Name, outer: s.Node, node: s.Node) -> bool:
        """Return whether a name is read after `node`, or in a loop around it, rather than in the statement itself."""
        if inside(read, node):
            return False
        last = max((part.order for part in s.walk(node)), default=node.order)
        return read.order > last or (inside(read, outer) and outer is not node)


def _added(assign: s.Assign) -> s.Expression | None:
    """Return what `name += it` or `name = name + it` adds."""
    value, target = assign.value, assign.targets[0]
    if assign.operator == "+=":
        return value
    if assign.operator != "=" or not isinstance(value, s.Operation) or value.operator != "+":
        return None
    left, right = value.operands
    same = isinstance(left, s.Name) and isinstance(target, s.Name) and left.id == target.id
    return right if same else None


def _entries(node: s.Expression) -> list[s.Expression]:
    """Return the expressions of the values of a dict."""
    if isinstance(node, s.Dictionary):
        return list(node.values)
    return node.elements[-1:] if isinstance(node, s.Comprehension) and node.kind == "dict" else []


def _is_fraction(node: s.Expression) -> bool:
    """Return whether a number is computed so that it is rounded: a quotient, or by a literal with a point."""
    if isinstance(node, s.Constant):
        return isinstance(node.value, float)
    if not isinstance(node, s.Operation) or node.operator not in ("*", "/", "+", "-"):
        return False
    return node.operator == "/" or any(map(_is_fraction, node.operands))


def in_handler(node: s.Node, outer: s.Node) -> bool:
    """Return whether a node of a loop or function is in an `except` clause, which records what went wrong."""
    below = node
    for around in node.ancestors():
        if isinstance(around, s.Try) and below in around.handlers:
            return True
        if around is outer:
            return False
        below = around
    return False
