"""Where an arbitrary order comes to matter: the uses of a value whose items are in no fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from detlint.orders.callers import callers
from detlint.orders.calls import Calls
from detlint.orders.gathering import entry_of
from detlint.orders.handing import Handing
from detlint.orders.leaks import LEAVING, Leak
from detlint.orders.loops import Loops
from detlint.orders.mapped import Mapped
from detlint.orders.parts import Out, Parts, Path, Step
from detlint.orders.ranking import ranks_alike
from detlint.orders.rebound import Live
from detlint.orders.subscripts import subscripted
from detlint.questions import EACH, Carrier
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope

_DEPTH = 8
_WHOLE = frozenset(("array", "writes", "dataset", "state"))  # uses of a container that iterate over what it holds
_THROUGH = 2  # functions of other files that a value may be returned by in turn


class Order:
    """Follows values of arbitrary order through one file."""

    def __init__(self, module: Module, *, apart: bool = False) -> None:
        """Create the analysis. With `apart` each function is analysed alone: callers and callees are carriers."""
        self.module = module
        self._apart = apart
        self.loops = Loops(module)
        self.calls = Calls(module, self.loops)
        self.live = Live()
        self.parts = Parts(module, self.live, apart=apart)
        self.handing = Handing(module, self.parts)
        self.mapped = Mapped(module, self.calls, self.parts, self.live, apart=apart)
        self._of_text = module.python("methods", "text-of-text")
        self._entries: list[tuple[s.Function, s.Call]] = []  # the calls by which functions are entered
        self._begin(None)

    def _begin(self, origin: s.Expression | None, of: str = "") -> None:
        self._seen: set[tuple[s.Node, bool, int]] = set()
        self._origin, self._of, self._through = origin, of, 0  # functions of other files that may return the value

    def leaks(self, node: s.Expression, *, text: bool = False, of: str = "") -> list[Leak]:
        """Return where the order of `node` matters, in no particular order; `text` says that it is one string.

        `of` names the rows of methods that count in addition to those of any value: "table".
        """
        self._begin(node, of)
        return list(self._leaks(node, text, _DEPTH))

    def leaks_at(self, node: s.Expression, path: Path) -> list[Leak]:
        """Return where the order of the value at a path in `node` matters."""
        self._begin(node)
        return list(self._parts(self.parts.of(node, path), False, _DEPTH))

    def leaks_of_list(self, holder: s.Expression, node: s.Node) -> list[Leak]:
        """Return where the order of a list matters that `node` adds to in an arbitrary order."""
        self._begin(None)
        return list(self._kept(holder, node, _DEPTH))

    def leaks_of_parameter(self, function: s.Function, name: str) -> list[Leak]:
        """Return where the order of the value of a function's parameter matters."""
        self._begin(None)
        return list(self._reads(function.scope, name, None, False, _DEPTH))

    def leaks_of_yield(self, node: s.Node) -> list[Leak]:
        """Return where the order matters in which a function yields at `node`."""
        return list(self._given_back(node, "yielded", False, _DEPTH))

    def _leaks(self, node: s.Expression, text: bool, depth: int) -> Iterator[Leak]:
        if depth == 0 or (node, text, self._through) in self._seen:
            return
        self._seen.add((node, text, self._through))
        parent = node.parent
        if isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            yield from self._argument(parent, parent.parent, text, depth)
        elif isinstance(parent, s.Attribute) and isinstance(parent.parent, s.Call) and parent.parent.function is parent:
            yield from self._method(parent.attribute, parent.parent, text, depth)
        elif isinstance(parent, s.Attribute) and self._of and self.calls.method(parent.attribute, self._of) == "passes":
            yield from self._leaks(parent, text, depth)
        elif isinstance(parent, s.Subscript) and not parent.stored:
            yield from () if text else self._subscript(parent, node, depth)
        elif isinstance(parent, s.For) and node is parent.iterator:
            yield from self._loop(parent, depth)
        elif isinstance(parent, s.Clause) and node is parent.iterator:
            yield from self._comprehension(parent, depth)
        elif isinstance(parent, s.Assign) and node is parent.value:
            for target in parent.targets:
                yield from self._assigned(target, parent, text, depth)
        elif isinstance(parent, s.NamedExpression) and node is parent.value:
            yield from self._leaks(parent, text, depth)
            yield from self._bound(parent.target, parent, text, depth)
        elif isinstance(parent, s.WithItem) and parent.target is not None:
            yield from self._bound(parent.target, parent, text, depth)
        elif isinstance(parent, s.Operation):
            yield from self._operation(parent, text, depth)
        elif (isinstance(parent, s.Comprehension) and self.calls.is_flattened(parent)) or (
            isinstance(parent, s.Conditional) and node is not parent.test
        ):
            yield from self._leaks(parent, text, depth)
        elif isinstance(parent, s.Starred):
            if isinstance(parent.parent, s.Collection) and parent.parent.kind != "set":
                yield from self._leaks(parent.parent, text, depth)
        elif isinstance(parent, s.Leave) and parent.kind == "return":
            yield from self._given_back(parent, "returned", text, depth)
        else:
            yield from self._placed(node, text, depth)

    def _placed(self, node: s.Expression, text: bool, depth: int) -> Iterator[Leak]:
        """Yield the leaks of a value that is put into something, where it is taken out again."""
        if not text:
            yield from self._parts(self.parts.put(node), text, depth)

    def _parts(self, found: Iterable[s.Expression | Out], text: bool, depth: int) -> Iterator[Leak]:
        """Yield the leaks of a value where it is taken out of what it was put into, until it is sorted there."""
        fixed: s.Expression | None = None
        for part in sorted(found, key=lambda each: each.node.order if isinstance(each, Out) else each.order):
            if isinstance(part, Out):
                yield from self._left(part, depth - 1)
            elif self.calls.sorts_in_place(part, self._of):
                fixed = part
            elif fixed is None:
                yield from self._leaks(part, text, depth - 1)

    def _left(self, out: Out, depth: int) -> Iterator[Leak]:
        """Yield the leaks of a container's value that leaves the file or gets into a file, an array, table or state."""
        node, call = out.node, out.node.parent
        used = self.calls.kind(node, call) if isinstance(node, s.Argument) and isinstance(call, s.Call) else ""
        kind = "returned" if isinstance(node, (s.Leave, s.Operation)) else "passed"
        if used in _WHOLE and call is not None:
            yield Leak(call, used)
        elif used == "table" and isinstance(call, s.Call):
            yield from self._as_table(self._leaks(call, False, depth))
        else:
            yield Leak(node, "goes" if out.goes else kind, self.handing.left(out))

    def _argument(self, argument: s.Argument, call: s.Call, text: bool, depth: int) -> Iterator[Leak]:
        names, kind = self.parts.called(call), self.calls.kind(argument, call)
        method = call.function.attribute if isinstance(call.function, s.Attribute) else ""
        if names == {"builtins.zip"}:
            yield Leak(call, "paired")
            yield from (Leak(call, found) for found in self.calls.paired(argument, call, self._origin))
        if kind in ("passes", "text"):
            if names != {"builtins.map"} or argument is not call.arguments[0]:
                yield from self._leaks(call, text or kind == "text", depth)
        elif text and kind != "writes":
            if method == "write" and isinstance(call.function, s.Attribute) and self.loops.is_file(call.function.value):
                yield Leak(call, "writes")
        elif kind == "table" and not text:
            yield from self._as_table(self._leaks(call, False, depth))
        elif kind == "maps" and not text:
            yield from self._taken(self.mapped.taken(call), depth)
        elif self.calls.counts_up(call) and isinstance(call.function, s.Attribute):
            yield from self._taken(self.mapped.filled(call.function.value, call), depth)
        elif kind == "numbers":
            if self.calls.numbers(call):
                yield Leak(call, kind)
            yield from self._leaks(call, text, depth)
        elif kind == "ranks":
            yield from self._ranked(call, text, depth)
        elif kind == "keeps" and isinstance(call.function, s.Attribute):
            yield from self._kept(call.function.value, call, depth)
        elif kind in ("first", "draws", "array", "writes", "dataset", "state"):
            is_fixed = {"array": self.calls.is_settled, "first": self.loops.counts.only_one}.get(kind)
            if not ((is_fixed and is_fixed(call)) or (kind == "draws" and argument.keyword)):
                yield Leak(call, kind)
                yield from self._leaks(call, text, depth) if kind == "array" else ()
        elif kind == "adds" or (names and names <= self.parts.keyed):
            yield from self._placed(argument.value, text, depth)
        elif kind == "free":
            return
        elif not self._apart and any(name in self.module.functions or name in self.module.classes for name in names):
            yield from self._entered(argument, call, names, text, depth)
            yield from self._placed(argument.value, text, depth)
        elif any(name.endswith("Dataset") for name in names):
            yield Leak(call, "dataset", self.handing.parameter(argument, call, names))
        elif not self.calls.gives_order(self.module.function_of(call)):  # which may sort by means of the call
            own = isinstance(call.function, s.Attribute) and self.module.is_self(call.function.value)
            to = self.handing.parameter(argument, call, names)
            yield Leak(call, "handed" if own else "passed", to)
            if to is not None and not text and self._through < _THROUGH:
                self._through += 1
                found = [replace(leak, through=(to, *leak.through)) for leak in self._leaks(call, text, depth - 1)]
                self._through -= 1
                yield from found

    def _taken(self, found: Iterable[s.Expression], depth: int) -> Iterator[Leak]:
        """Yield the leaks of the order of a mapping where its keys are taken."""
        for node in found:
            if isinstance(node, s.Call) and last_word(node.function) == "most_common":
                yield from self._ranked(node, False, depth - 1)
            else:
                yield from self._leaks(node, False, depth - 1)

    def _ranked(self, call: s.Call, text: bool, depth: int) -> Iterator[Leak]:
        """Yield the leaks of items that a key ranks equal."""
        if ranks_alike(self.module, call) == "first":
            yield Leak(call, "alike")
            return
        kinds = {leak.kind for leak in self._leaks(call, text, depth)}
        if kinds:
            yield Leak(call, "alike" if kinds <= LEAVING else "ranked")

    def _entered(
        self, argument: s.Argument, call: s.Call, names: frozenset[str], text: bool, depth: int
    ) -> Iterator[Leak]:
        """Yield the leaks of the parameter that takes the value, in functions of this file."""
        for name in sorted(names):
            klass = self.module.classes.get(name)
            function = self.module.functions.get(name) if klass is None else self.module.method(klass, "__init__")
            if function is None or argument.star:
                continue
            wanted = self.parts.parameter(call, argument)
            if any(parameter.name == wanted for parameter in function.parameters):
                self._entries.append((function, call))
                found = list(self._reads(function.scope, wanted, None, text, depth - 1))
                self._entries.pop()
                yield from found

    def _method(self, method: str, call: s.Call, text: bool, depth: int) -> Iterator[Leak]:
        kind = self.calls.method(method, self._of)
        if text:
            yield from self._leaks(call, text, depth) if method in self._of_text else ()
        elif kind == "passes":
            yield from self._leaks(call, text, depth)
        elif kind in ("numbers", "position", "draws", "writes"):
            if kind != "position" or not (isinstance(call.parent, s.ExpressionStatement) or self.loops.only_told(call)):
                yield Leak(call, kind)
        elif method == "pop" and not self.loops.drains(call):
            yield Leak(call, "first")

    # Other expressions

    def _subscript(self, node: s.Subscript, used: s.Node, depth: int) -> Iterator[Leak]:
        if used is not node.value:
            yield from self._as_table(self._leaks(node, False, depth - 1))  # its columns stand in that order
        elif (kind := subscripted(self.calls, node, self._of)) == "passes":
            yield from self._leaks(node, False, depth)
        elif kind:
            yield Leak(node, kind)

    def _as_table(self, found: Iterator[Leak]) -> Iterator[Leak]:
        """Yield leaks that are found while the value is a table, whose rows or columns stand in the order."""
        outer, self._of = self._of, "table"
        yield from list(found)
        self._of = outer

    def _operation(self, node: s.Operation, text: bool, depth: int) -> Iterator[Leak]:
        if node.operator in ("+", "or", "and", "*", "await", "f-string", "%"):
            if node.operator not in ("f-string", "%") or text:
                yield from self._leaks(node, text, depth)
        elif node.operator == "yield from" and not text:
            yield from self._given_back(node, "yielded", False, depth)
        elif node.operator == "yield":
            yield from self._placed(node.operands[0], text, depth)

    def _comprehension(self, clause: s.Clause, depth: int) -> Iterator[Leak]:
        node = clause.parent
        if not isinstance(node, s.Comprehension):
            return
        for part in (*node.elements, *(test for each in node.clauses for test in each.tests)):
            draw = self.loops.draw(part)
            if draw is not None:
                yield Leak(draw, "draws")
        if node.kind == "dict":
            yield from self._taken(self.mapped.taken(node), depth)
        elif node.kind in ("list", "generator") and not all(
            isinstance(element, s.Constant) for element in node.elements
        ):
            yield from self._leaks(node, False, depth)

    # Names and attributes

    def _assigned(self, target: s.Expression, assign: s.Assign, text: bool, depth: int) -> Iterator[Leak]:
        if isinstance(target, s.Collection):
            several = len(target.elements) > 1 and not text and assign.operator == "="
            yield from [Leak(assign, "first")] if several else ()
        elif isinstance(target, s.Subscript) and isinstance(target.indices[0], s.Slice):
            yield from self._kept(target.value, assign, depth) if not text else ()
        elif isinstance(target, s.Subscript) and not text and self.calls.is_table(target.value):
            yield from self._as_table(self._kept(target.value, assign, depth))
        elif isinstance(target, s.Subscript) or (
            isinstance(target, s.Attribute) and not self.module.is_self(target.value)
        ):
            yield from self._placed(assign.value, text, depth) if assign.value is not None else ()
        else:
            yield from self._bound(target, assign, text, depth)

    def _bound(self, target: s.Expression, node: s.Node, text: bool, depth: int) -> Iterator[Leak]:
        if isinstance(target, s.Name):
            scope = target.scope.find(target.id)
            if scope is not None:
                yield from self._reads(scope, target.id, node, text, depth)
                if scope.kind == "module" and not text:
                    yield Leak(node, "goes", Carrier("variable", f"{self.module.module}.{target.id}"))
        elif isinstance(target, s.Attribute) and isinstance(target.value, s.Name):
            yield from self._kept(target, node, depth) if not text else ()

    def _reads(self, scope: Scope, name: str, node: s.Node | None, text: bool, depth: int) -> Iterator[Leak]:
        """Yield the leaks of a name from where `node` gives it the value (None: it is a parameter)."""
        fixed: s.Node | None = None
        for read in self.module.reads(scope, name):
            if node is not None and not any(b.node is node for b in self.live(read)):
                continue
            if node is None and not any(b.kind == "parameter" for b in self.live(read)):
                continue
            if self.calls.sorts_in_place(read, self._of):
                fixed = read
            elif not self.calls.is_sorted_before(scope, read, fixed):
                yield from self._leaks(read, text, depth - 1)

    def _kept(self, holder: s.Expression, node: s.Node, depth: int) -> Iterator[Leak]:
        """Yield the leaks of a list, a name or attribute, that gets an arbitrary order at `node`."""
        if isinstance(holder, s.Name):
            scope = holder.scope.find(holder.id)
            if scope is None or (holder, True, self._through) in self._seen:
                return
            self._seen.add((holder, True, self._through))
            after = self.loops.outermost(node, holder)
            last = max(part.order for part in s.walk(node))
            fixed: s.Node | None = None
            for read in self.module.reads(scope, holder.id):
                if read is holder or not self.loops.comes_after(read, after, node):
                    continue
                if all(binding.order > last for binding in self.live(read)):
                    continue
                if self.calls.sorts_in_place(read, self._of):
                    fixed = read
                elif not self.calls.is_sorted_before(scope, read, fixed):
                    yield from self._leaks(read, False, depth - 1)
            if any(b.kind == "parameter" for b in scope.bindings.get(holder.id, ())):
                yield Leak(holder, "passed")
        elif isinstance(holder, s.Attribute) and isinstance(holder.value, s.Name):
            yield from self._attribute(holder, node, depth)
        elif (entry := entry_of(holder)) is not None and (holder, True, self._through) not in self._seen:
            self._seen.add((holder, True, self._through))
            yield from self._parts(self.parts.of_holder(entry[0], (Step("entry"),), node), False, depth)

    def _attribute(self, holder: s.Attribute, node: s.Node, depth: int) -> Iterator[Leak]:
        klass = self.module.class_of(holder)
        if klass is None or not isinstance(holder.value, s.Name):
            return
        family = self.module.family(klass)
        reads = [
            other
            for other in self.module.attributes(holder.attribute)
            if not other.stored and other is not holder and self.module.class_of(other) in family
        ]
        reads = [each for each in reads if isinstance(each.value, s.Name) and each.value.id == holder.value.id]
        if any(self.calls.sorts_in_place(read, self._of) or self.loops.is_sorted_into(read) for read in reads):
            return
        found = [leak for read in reads for leak in self._leaks(read, False, depth - 1)]
        to = Carrier("attribute", self.module.qualified(klass), holder.attribute)
        yield Leak(node, "kept" if not reads or any(leak.kind != "goes" for leak in found) else "goes", to)
        yield from found

    def _given_back(self, node: s.Node, kind: str, text: bool, depth: int) -> Iterator[Leak]:
        """Yield the leaks of what a function returns or yields at `node`, at its callers."""
        function = self.module.function_of(node)
        if function is None or function.name == "<lambda>" or self.calls.gives_order(function):
            return
        if self._entries and self._entries[-1][0] is function:
            entry = self._entries.pop()
            found = list(self._leaks(entry[1], text, depth - 1))
            self._entries.append(entry)
            yield from found
            return
        calls = () if self._apart else callers(self.module, function)
        for call in calls:
            yield from self._leaks(call, text, depth - 1)
        to = None if text else self.handing.result(function)
        yield Leak(node, "goes" if calls else kind, to)

    # Loops

    def _loop(self, node: s.For, depth: int) -> Iterator[Leak]:
        for effect in self.loops.effects(node):
            if effect.kind == "adds":
                assert isinstance(effect.node, s.Expression)
                yield from self._kept(effect.node, node, depth)
            elif effect.kind == "maps":
                assert isinstance(effect.node, s.Expression)
                yield from self._taken(self.mapped.filled(effect.node, node), depth)
            elif effect.kind == "hands":
                call = effect.node.parent
                assert isinstance(effect.node, s.Argument) and isinstance(call, s.Call)
                to = self.handing.parameter(effect.node, call, self.parts.called(call))
                yield from [Leak(call, "goes", replace(to, path=(EACH,)))] if to is not None else ()
            elif effect.kind == "yielded":
                yield from self._given_back(effect.node, "yielded", False, depth)
            else:
                yield Leak(effect.node, effect.kind)
