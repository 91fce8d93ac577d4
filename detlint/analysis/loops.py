"""What a loop does that depends on the order of its items."""

from __future__ import annotations

from collections.abc import Iterator, Set

from detlint.analysis.draws import Drawn
from detlint.records import record
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, class_of, reaching

_COMPARES = frozenset(("==", "!=", "<", ">", "<=", ">="))
_LISTS = frozenset(("builtins.list",))


@record(frozen=True, slots=True)
class Effect:
    """`kind` is "adds" (to the list `node`), or a kind of leak: "numbers", "first", "draws", "writes", "yielded".

    "sums" is one as well: the items are added up, and each addition rounds; and "trains": a model learns from each.
    """

    node: s.Node
    kind: str


class Loops:
    """Answers about the loops of one file."""

    def __init__(self, module: Module) -> None:
        names = module.catalogue.names
        self.module = module
        self._messages = names("order", "message")
        self._message_methods = names("order", "message", "methods")
        self._free = names("order", "use", kind="free")
        self._files = names("order", "hashed", id="file")
        self._writers = names("order", "writer")
        self._writing = names("order", "writer", "methods")
        self._adding = module.python("methods", "takes-in")
        self._recast = module.python("functions", "same-number-of-items")
        self._drawn = Drawn(module, names("order", "use", id="generators"))

    # Effects

    def effects(self, node: s.For | s.While) -> Iterator[Effect]:
        """What is done in the body of a loop whose outcome depends on the order of the items."""
        counters = self._counters(node)
        first = node.body.statements[-1] if node.body.statements else None
        if isinstance(first, s.Leave) and first.kind in ("break", "return") and not self._constant(first):
            yield Effect(first, "first")
        step = self._trains(node)
        if step is not None:
            yield Effect(step, "trains")
        for part in s.walk(node.body):
            if self._elsewhere(part, node) or in_handler(part, node):
                continue
            if isinstance(part, s.Call):
                yield from self._call(part, node)
            elif isinstance(part, s.Name) and not part.stored:
                if part.id in counters and self.is_data(part, node):
                    yield Effect(part, "numbers")
            elif isinstance(part, s.Operation) and part.operator in ("yield", "from"):
                if part.operands and not isinstance(part.operands[0], s.Constant):
                    yield Effect(part, "yielded")
            elif isinstance(part, s.Assign):
                yield from self._assign(part, node)

    def _call(self, call: s.Call, loop: s.For | s.While) -> Iterator[Effect]:
        draw = self.draw(call, loop)
        if draw is not None and draw is call:
            yield Effect(call, "draws")
        for argument in call.arguments:
            if argument.keyword == "file" and self._outside(argument.value, loop) and self.is_file(argument.value):
                yield Effect(call, "writes")
        for receiver in self._filled_by(call, loop):
            yield Effect(receiver, "adds")
        if not isinstance(call.function, s.Attribute) or self.is_message(call):
            return
        method, receiver = call.function.attribute, call.function.value
        data = [a.value for a in call.arguments if not isinstance(a.value, s.Constant)]
        if method in self._adding and data and self._gathers(receiver, loop):
            yield Effect(receiver, "adds")
        elif method in self._writing and data and self._writes_outside(receiver, loop):
            yield Effect(call, "writes")

    def _trains(self, loop: s.For | s.While) -> s.Call | None:
        """The step of an optimizer by the gradients of an item: each begins where the one before it ended."""
        called = {last_word(part.function): part for part in s.walk(loop.body) if isinstance(part, s.Call)}
        return called.get("step") if "backward" in called else None

    def _writes_outside(self, node: s.Expression, loop: s.For | s.While) -> bool:
        """Whether a file is open before the loop begins; it may have been chosen among several in the loop."""
        if self._outside(node, loop):
            return self.is_file(node)
        values = self.module.values(node) or ()
        return bool(values) and all(isinstance(v, s.Call) and self._opens(v) and not _inside(v, loop) for v in values)

    def _assign(self, assign: s.Assign, loop: s.For | s.While) -> Iterator[Effect]:
        target = assign.targets[0]
        if isinstance(target, s.Subscript):
            length = assign.value
            if isinstance(length, s.Call) and self.module.callee(length) == {"builtins.len"} and length.arguments:
                held = length.arguments[0].value
                if isinstance(held, s.Name) and isinstance(target.value, s.Name) and held.id == target.value.id:
                    yield Effect(assign, "numbers")
        elif assign.operator == "+=" and isinstance(target, s.Name) and self._outside(target, loop):
            kinds = self._initial(target)
            if kinds and kinds <= _LISTS:
                yield Effect(target, "adds")
            elif kinds and kinds <= self.module.catalogue.names("order", "rounded") and not self._is_only_shown(target):
                yield Effect(target, "sums")

    def _initial(self, target: s.Name) -> frozenset[str]:
        """The types of what a name holds before it is added to."""
        scope = target.scope.find(target.id)
        bindings = scope.bindings[target.id] if scope is not None else []
        values = [b.value for b in bindings if b.kind == "assign" and b.value is not None and not b.path]
        return frozenset[str]().union(*(self.module.types(value) for value in values))

    def _is_only_shown(self, target: s.Name) -> bool:
        """Whether a sum is read in messages alone."""
        scope = target.scope.find(target.id)
        reads = self.module.reads(scope, target.id) if scope is not None else []
        calls = [[a for a in read.ancestors() if isinstance(a, s.Call)] for read in reads]
        return all(any(self.is_message(call) for call in around) for around in calls)

    def _counters(self, loop: s.For | s.While) -> frozenset[str]:
        """Names that a loop counts up by one for each item, and that begin outside of it."""
        found = set()
        for part in s.walk(loop.body):
            if isinstance(part, s.Assign) and part.operator == "+=" and isinstance(part.targets[0], s.Name):
                by_one = isinstance(part.value, s.Constant) and type(part.value.value) is int
                if by_one and self._outside(part.targets[0], loop):
                    found.add(part.targets[0].id)
        return frozenset(found)

    def _outside(self, node: s.Expression, loop: s.For | s.While) -> bool:
        """Whether the object of a name or attribute is there before the loop begins."""
        while isinstance(node, (s.Attribute, s.Subscript)):
            if isinstance(node, s.Subscript):
                return False  # by key: each key's items may be its own
            node = node.value
        if not isinstance(node, s.Name):
            return False
        scope = node.scope.find(node.id)
        bindings = scope.bindings[node.id] if scope is not None else []
        return bool(bindings) and not any(_inside(b.node, loop) for b in bindings if b.kind != "augment")

    def _filled_by(self, call: s.Call, loop: s.For | s.While) -> Iterator[s.Expression]:
        """The lists that a function of the file adds to each time it is called with something of the loop."""
        functions = [self.module.functions[name] for name in self.module.callee(call) if name in self.module.functions]
        given = [a for a in call.arguments if not isinstance(a.value, s.Constant) and not a.star]
        if not given or (isinstance(call.function, s.Attribute) and not self._outside(call.function.value, loop)):
            return
        for function in functions:
            for part in s.walk(function.body):
                if not (isinstance(part, s.Call) and isinstance(part.function, s.Attribute)):
                    continue
                if part.function.attribute in self._adding and not all(
                    isinstance(a.value, s.Constant) for a in part.arguments
                ):
                    yield from self._seen_outside(part.function.value, function, call, loop)

    def _seen_outside(
        self, receiver: s.Expression, function: s.Function, call: s.Call, loop: s.For | s.While
    ) -> Iterator[s.Expression]:
        """A list in a function, as the loop has it that calls this: an attribute of its object, or an argument."""
        holder = receiver.value if isinstance(receiver, s.Attribute) else receiver
        place = next((n for n, p in enumerate(function.parameters) if _is(holder, p.name)), None)
        if place is None:
            return
        method = class_of(function) is not None and not self.module.is_static(function)
        if isinstance(receiver, s.Attribute):
            if method and place == 0:
                yield receiver
            return
        by_place = [a.value for a in call.arguments if a.keyword is None and not a.star]
        named = [a.value for a in call.arguments if a.keyword == function.parameters[place].name]
        place -= 1 if method else 0
        found = named or by_place[place : place + 1] if place >= 0 else []
        yield from (each for each in found if self._outside(each, loop))

    def _gathers(self, receiver: s.Expression, loop: s.For | s.While) -> bool:
        """Whether a list that items are added to is there before the loop, or is one of several by a key.

        By a key that is the item itself each list gets what belongs to this item alone.
        """
        keyed = entry_of(receiver)
        if keyed is None:
            return self._outside(receiver, loop)
        holder, key = keyed
        names = [part.id for part in s.walk(loop.target) if isinstance(part, s.Name)] if isinstance(loop, s.For) else []
        own = isinstance(key, s.Name) and key.id in names
        return not own and self._outside(holder, loop)

    def _elsewhere(self, node: s.Node, loop: s.For | s.While) -> bool:
        function = self.module.function_of(node)
        return function is not self.module.function_of(loop)

    def _constant(self, leave: s.Leave) -> bool:
        return leave.kind == "return" and all(isinstance(value, s.Constant) for value in leave.values)

    def is_file(self, node: s.Expression) -> bool:
        """Whether an expression is certainly a file that this code has opened, or writes to one."""
        values = [binding.value for binding in reaching(node) or ()] if isinstance(node, s.Name) else []
        return bool(values) and all(isinstance(v, s.Call) and self._opens(v) for v in values)

    def _opens(self, call: s.Call) -> bool:
        named = isinstance(call.function, s.Attribute) and call.function.attribute == "open"
        names = self.module.callee(call)
        return named or (bool(names) and names <= self._writers)

    # What a use is for

    def is_data(self, name: s.Name, loop: s.Node) -> bool:
        """Whether the count that `name` holds in a loop gets into data: an index, a value that is kept or passed on."""
        if not name.stored:
            return self._is_data_use(name)
        scope = name.scope.find(name.id)
        reads = self.module.reads(scope, name.id) if scope is not None else []
        return any(self._is_data_use(read) for read in reads if _inside(read, loop) or _inside(read, loop.parent))

    def _is_data_use(self, read: s.Name) -> bool:
        node: s.Node = read
        for around in read.ancestors():
            if isinstance(around, s.Call):
                called = around.function.attribute if isinstance(around.function, s.Attribute) else ""
                names = self.module.callee(around)
                if called != "format" and names != {"builtins.str"}:
                    return bool(names & self._files)
                node = around
                continue
            if isinstance(around, s.Subscript) and node is not around.value:
                if around.stored:
                    return True
                if not self._is_beside(around.value, read):
                    return False
                node = around
                continue
            if isinstance(around, s.Operation) and around.operator in ("%", *_COMPARES):
                return False
            if isinstance(around, s.Assign):
                return isinstance(around.targets[0], s.Subscript) and around.operator == "="
            if isinstance(around, s.Comprehension):
                return around.kind == "dict" and node in around.elements
            if isinstance(around, (s.Statement, s.Block)):
                return False
            node = around
        return False

    def _is_beside(self, holder: s.Expression, count: s.Name) -> bool:
        """Whether a container is another than the one whose items are counted."""
        bindings = reaching(count) or ()
        counted = [a.value for b in bindings if isinstance(b.value, s.Call) for a in b.value.arguments]
        texts = {self._text(each) for node in counted for each in (node, *_measured_in(node))}
        made = [v for v in self.module.values(holder) or () if isinstance(v, s.Comprehension)]
        same = {self._text(holder), *(self._text(clause.iterator) for each in made for clause in each.clauses)}
        return bool(bindings) and texts.isdisjoint(same)

    def counts(self, index: s.Expression) -> bool:
        """Whether an index goes through a whole list, as one of `range(len(x))` or `enumerate(x)` does."""
        bindings = reaching(index) or () if isinstance(index, s.Name) else ()
        for binding in bindings:
            call = binding.value
            if binding.kind not in ("for", "comprehension") or not isinstance(call, s.Call):
                return False
            names = self.module.callee(call)
            fixed = all(isinstance(argument.value, s.Constant) for argument in call.arguments)
            if not names or not names <= {"builtins.range", "builtins.enumerate"} or fixed:
                return False
            if binding.path and binding.path[0] != 0:
                return False  # what `enumerate` counts
        return bool(bindings)

    def is_found(self, index: s.Expression) -> bool:
        """Whether an index is found by what stands there, as `argmax` does."""
        bindings = reaching(index) or () if isinstance(index, s.Name) else ()
        looped = [
            b.value for b in bindings if b.kind in ("for", "comprehension") and b.value is not None and not b.path
        ]
        found = [value for node in looped or [index] for value in self.module.values(node) or [node]]
        finding = self.module.catalogue.names("order", "position", "methods")
        return any(_finds(value, finding) for value in found)

    def keeps_count(self, index: s.Expression) -> bool:
        """Whether the number that an index counts through is kept: `number[names[i]] = i`."""
        bindings = reaching(index) or () if isinstance(index, s.Name) else ()
        found = ((loop, name) for loop in map(_looping, bindings) if loop for name in s.walk(loop.target))
        return any(
            isinstance(name, s.Name) and isinstance(index, s.Name) and name.id == index.id and self.is_data(name, loop)
            for loop, name in found
        )

    def draw(self, node: s.Node, around: s.Node | None = None) -> s.Call | None:
        """A call in `node` that draws from a generator, where each item comes to it in a loop `around` it."""
        return self._drawn.within(node, node if around is None else around)

    def is_message(self, call: s.Call) -> bool:
        """Whether the arguments of a call are for people to read: it prints, logs or makes an exception."""
        names = self.module.callee(call)
        if names & self._messages or any(n.endswith(("Error", "Exception", "Warning")) for n in names):
            return True
        return isinstance(call.function, s.Attribute) and call.function.attribute in self._message_methods

    def drains(self, call: s.Call) -> bool:
        """Whether a `pop()` stands in a loop that takes all items one by one, or after a look at how many there are."""
        if any(isinstance(a, s.While) for a in call.ancestors()):
            return True
        return isinstance(call.function, s.Attribute) and (bool(call.arguments) or self.only_one(call.function))

    def only_one(self, node: s.Attribute | s.Subscript | s.Call) -> bool:
        """Whether the function asks for the length of the value that is looked into here."""
        text = self._text(node.value if isinstance(node, (s.Attribute, s.Subscript)) else node)
        function = self.module.function_of(node) or self.module.file
        for part in s.walk(function):
            if isinstance(part, s.Operation) and part.operator in _COMPARES:
                lengths = [self._measured(operand) for operand in part.operands]
                small = any(isinstance(o, s.Constant) and o.value in (1, 2) for o in part.operands)
                if small and text in lengths:
                    return True
        return False

    def _measured(self, node: s.Expression) -> str:
        """The text of what `len` is asked about."""
        measures = isinstance(node, s.Call) and self.module.callee(node) == {"builtins.len"} and node.arguments
        return self._text(node.arguments[0].value) if measures and isinstance(node, s.Call) else ""

    def _text(self, node: s.Expression) -> str:
        """The text of what holds the items of a value: `x` for `list(x)`, `next(iter(x))` and `set(x)`."""
        while isinstance(node, s.Call) and len(node.arguments) == 1 and self.module.callee(node) & self._recast:
            node = node.arguments[0].value
        return self.module.source(node)

    def is_sorted_into(self, read: s.Expression) -> bool:
        """Whether an attribute's value is sorted back into the attribute: `self.x = sorted(self.x)`."""
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
        """The outermost loop around `node` in the function that holds the list, else `node`."""
        found = node
        home = self.module.function_of(holder)
        for around in node.ancestors():
            if isinstance(around, s.Function):
                break
            if isinstance(around, (s.For, s.While)) and self.module.function_of(around) is home:
                found = around
        return found

    def comes_after(self, read: s.Name, outer: s.Node, node: s.Node) -> bool:
        """Whether a name is read after `node`, or in a loop around it, rather than in the statement itself."""
        if _inside(read, node):
            return False
        last = max((part.order for part in s.walk(node)), default=node.order)
        return read.order > last or (_inside(read, outer) and outer is not node)


def _finds(node: s.Expression, finding: Set[str]) -> bool:
    """Whether a call finds indices by what stands there, such as `torch.argsort(x).tolist()`.

    `finding` are the names of what finds them.
    """
    while isinstance(node, s.Call) and isinstance(node.function, s.Attribute):
        if node.function.attribute in finding:
            return True
        node = node.function.value
    return False


def _looping(binding: Binding) -> s.For | s.Clause | None:
    """The loop or the clause of a comprehension that gives a name its values."""
    node = binding.node if isinstance(binding.node, (s.For, s.Clause)) else binding.node.parent
    return node if isinstance(node, (s.For, s.Clause)) else None


def _is(node: s.Expression, name: str) -> bool:
    return isinstance(node, s.Name) and node.id == name


def _measured_in(node: s.Expression) -> Iterator[s.Expression]:
    """What an expression asks the length of, such as `x` in `len(x)`."""
    if isinstance(node, s.Call) and len(node.arguments) == 1:
        yield node.arguments[0].value


def entry_of(node: s.Expression) -> tuple[s.Expression, s.Expression] | None:
    """The mapping and the key of `d[key]` or `d.setdefault(key, ...)`."""
    if isinstance(node, s.Subscript) and len(node.indices) == 1:
        return node.value, node.indices[0]
    if isinstance(node, s.Call) and isinstance(node.function, s.Attribute) and node.function.attribute == "setdefault":
        return (node.function.value, node.arguments[0].value) if node.arguments else None
    return None


def in_handler(node: s.Node, outer: s.Node) -> bool:
    """Whether a node of a loop or function is in an `except` clause, where what went wrong is noted down."""
    below = node
    for around in node.ancestors():
        if isinstance(around, s.Try) and below in around.handlers:
            return True
        if around is outer:
            return False
        below = around
    return False


def _inside(node: s.Node, outer: s.Node | None) -> bool:
    return any(a is outer for a in node.ancestors())
