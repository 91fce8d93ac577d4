"""The model of a file that rules query: its calls, functions and classes, with names resolved."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from functools import cache, cached_property

from packaging.version import Version

from detlint import reading
from detlint.catalogue import Catalogue, Rule
from detlint.finding import MAIN, Finding, Fix, Operation, Place, Related
from detlint.questions import Question, Taken, Unseeded
from detlint.semantics import libraries
from detlint.semantics.containers import possible_items
from detlint.semantics.resolve import PARTIAL, Resolver
from detlint.semantics.values import UNKNOWN, parse_signature
from detlint.support.records import record
from detlint.tree import positions
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, in_main_block, passed_over


@record(frozen=True, slots=True)
class Passed:
    """What a call passes for one parameter.

    `given` is True, False, or None where unpacking (`*args`, `**kwargs`) hides it. `values` are the expressions that it
    may be, `default` the signature's default or UNKNOWN.
    """

    given: bool | None
    values: tuple[s.Expression, ...] = ()
    default: object = UNKNOWN


@cache
def _taking(catalogue: Catalogue, parameters: tuple[str, ...]) -> frozenset[str]:
    """Return the names whose signatures have one of these parameters."""
    found = set()
    for name, text in catalogue.signatures.items():
        named = any(parameter in text for parameter in parameters)  # parsing all of them takes a while
        if named and any(parameter in parameters for parameter, _, _ in parse_signature(text)):
            found.add(name)
    return frozenset(found)


class Module(Resolver):
    """One file, with answers about the nodes of its syntax; see `Resolver` for names and types.

    `path` is shown in findings; `name` is the dotted module name; `torch` is the version of PyTorch that the project
    targets; `origins` say where each line of a notebook's text comes from.
    """

    def __init__(
        self,
        text: str,
        path: str,
        name: str,
        catalogue: Catalogue,
        torch: Version,
        origins: Sequence[positions.Origin] = (),
    ) -> None:
        package = name if path.endswith("__init__.py") else name.rpartition(".")[0]
        read = reading.read(text, package)
        super().__init__(read.file, name, catalogue)
        self.text = text
        self.path = path
        self.torch = torch
        self.origins = origins
        self._spans = read.spans
        self.passed: set[s.Node] = set()  # statements of which findings ask whether programs pass them over

    def python(self, key: str, kind: str) -> frozenset[str]:
        """Return the `functions`, `types` or `methods` that `python.toml` lists as being of a kind."""
        return self.catalogue.names("python", "kind", key, id=kind)

    # Navigation

    def assignments_to(self, names: Collection[str]) -> Iterator[tuple[s.Assign, str]]:
        """Yield the assignments to attributes with one of these qualified names, except by `setattr`."""
        for assign in self.assignments_like(names):
            for target in assign.targets:
                if isinstance(target, s.Attribute):
                    name = self.name(target)
                    if name is not None and name in names:
                        yield assign, name

    def function_of(self, node: s.Node) -> s.Function | None:
        """Return the innermost function or lambda around `node`, or None."""
        around = node.around
        while around is not None and not isinstance(around, s.Function):
            around = around.around
        return around

    def class_of(self, node: s.Node) -> s.Class | None:
        """Return the class whose method contains `node`, or None."""
        around = node.around
        while around is not None and not isinstance(around, s.Class):
            around = around.around
        return around

    def method_of(self, node: s.Node) -> s.Function | None:
        """Return the method around `node`, or around the functions that it is in; None outside of methods."""
        around = node.around
        while around is not None and not (isinstance(around, s.Function) and class_of(around) is not None):
            around = around.around
        return around

    def is_self(self, node: s.Node) -> bool:
        """Return whether a node is the name of the object whose method it is in."""
        method = self.method_of(node) if isinstance(node, s.Name) else None
        first = method.parameters[0].name if method is not None and method.parameters else None
        return isinstance(node, s.Name) and node.id == first

    def within(self, node: s.Node, names: Container[str]) -> bool:
        """Return whether `node` runs under a `with` block or a decorated function of one of these names."""
        for ancestor in node.ancestors():
            marks: Iterable[s.Expression] = ()
            if isinstance(ancestor, s.With):
                marks = [item.value for item in ancestor.items]
            elif isinstance(ancestor, (s.Function, s.Class)):
                marks = ancestor.decorators
            for mark in marks:
                target = mark.function if isinstance(mark, s.Call) else mark
                if any(name in names for name in self.names(target)):
                    return True
        return False

    # Arguments

    def calls_giving(self, parameters: tuple[str, ...]) -> list[s.Call]:
        """Return the calls that may pass something for one of these parameters, in evaluation order, among others."""
        taking = _taking(self.catalogue, parameters)
        if self.narrows and self.words.isdisjoint(parameters):
            return self.calls_like(taking)  # by position only: nothing here has the name of a parameter
        given = {*parameters, "**"}
        partials = self.calls_like(PARTIAL)
        if any(argument.keyword in given or argument.star in given for call in partials for argument in call.arguments):
            return self.calls
        own = [p.parent for p in self.every(s.Parameter) if p.name in parameters and isinstance(p.parent, s.Function)]
        names = {self.qualified(function) for function in own}
        if any(function.name == "__init__" for function in own):
            names |= self.classes.keys()
        return self.calls_like(taking | names, keywords=given)

    def signature(self, names: Iterable[str]) -> Sequence[tuple[str, object, bool]]:
        """Return the parameters of the first name whose signature is known: name, default, keyword-only."""
        for name in sorted(names):
            text = self.catalogue.signatures.get(name)
            if text is not None:
                return parse_signature(text)
            function = self.functions.get(name)
            if name in self.classes:
                function = self.method(self.classes[name], "__init__")
            if function is not None:
                parameters = [p for p in function.parameters if not p.star]
                if class_of(function) is not None and not self.is_static(function):
                    parameters = parameters[1:]
                return [(p.name, UNKNOWN, p.keyword_only) for p in parameters]
        return []

    def argument(self, call: s.Call, parameter: str) -> Passed:
        """Return what `call` passes for `parameter`, by keyword, position, `functools.partial` or unpacking."""
        signature = self.signature(self.callee(call) or self._run_by(call))
        place = next((i for i, (name, _, only) in enumerate(signature) if name == parameter and not only), -1)
        default = next((default for name, default, _ in signature if name == parameter), UNKNOWN)
        made = self.partial(call.function) if not self.names(call.function) else None
        arguments = [*made.arguments[1:], *call.arguments] if made is not None else call.arguments
        position = 0
        hidden = sure = False
        unpacked: list[s.Expression] = []
        for argument in reversed(arguments):
            if argument.keyword == parameter:
                return Passed(True, (argument.value,), default)
        for argument in arguments:
            if argument.star == "**":
                entries = self.entries(argument.value)
                if entries is None:
                    hidden = True
                else:
                    unpacked += entries.get(parameter, [])
                    sure = sure or self.always_holds(argument.value, parameter)
            elif argument.star == "*":
                hidden = hidden or place >= position
                position = len(signature) + 1
            elif argument.keyword is None:
                if position == place:
                    return Passed(True, (argument.value,), default)
                position += 1
        if hidden:
            return Passed(None, (), default)
        return Passed(True if sure else None, tuple(unpacked), default) if unpacked else Passed(False, (), default)

    def constructors(self, call: s.Call) -> list[s.Call]:
        """Return the calls that made the object that is called, a loss or an item of a list; empty if unknown."""
        known = None if isinstance(call.function, s.Call) else self.values(call.function)
        if known is None or known == [call.function]:
            known = possible_items(self, call.function)
        moved = [self._moved(value) for value in known or ()]
        made = [one for value in moved for one in ((not isinstance(value, s.Call) and self.values(value)) or [value])]
        found = [value for value in dict.fromkeys(made) if isinstance(value, s.Call) and self.callee(value)]
        return found if len(found) == len(dict.fromkeys(made)) else []

    def _moved(self, value: s.Expression) -> s.Expression:
        """Return the module that methods such as `cuda`, which return the module itself, were called on."""
        methods = self.catalogue.spellings(self.catalogue.names("program", "role", id="module-methods"))
        while isinstance(value, s.Call) and isinstance(value.function, s.Attribute):
            if value.function.attribute not in methods:
                break
            value = value.function.value
        return value

    def _run_by(self, call: s.Call) -> Iterator[str]:
        """Return what calling an object runs, if the object is a module."""
        return (f"{name}.forward" for made in self.constructors(call) for name in self.callee(made))

    def possible(self, passed: Passed) -> list[object] | None:
        """Return all constants that the parameter may have, including the default; None if one is not a constant."""
        if passed.given is None and not passed.values:
            return None
        found = [] if passed.given else [passed.default]
        for value in passed.values:
            constants = self.constants(value)
            if constants is None:
                return None
            found += constants
        return None if UNKNOWN in found else found

    def entries(
        self, node: s.Expression, depth: int = 4, given: s.Call | None = None
    ) -> dict[str, list[s.Expression]] | None:
        """Return what a dict that is unpacked into a call, or `given` to one, may hold, by key; None if unknown."""
        found: dict[str, list[s.Expression]] = defaultdict(list)
        values = self.values(node)
        for value in values or ():
            pairs: list[tuple[s.Expression | str | None, s.Expression]]
            if isinstance(value, s.Dictionary):
                pairs = list(zip(value.keys, value.values, strict=True))
            elif isinstance(value, s.Call) and self.callee(value) == {"builtins.dict"}:
                pairs = [(argument.keyword, argument.value) for argument in value.arguments]
            else:
                return None
            here: dict[str, list[s.Expression]] = {}
            for key, item in pairs:
                if isinstance(key, (str, s.Constant)):
                    here[key if isinstance(key, str) else str(key.value)] = [item]
                    continue
                more = self.entries(item, depth - 1) if key is None and depth else None
                if more is None:
                    return None
                for name, items in more.items():
                    here[name] = [*here.get(name, ()), *items]
            for name, items in here.items():
                found[name] += items
        if isinstance(node, s.Attribute) and values:
            return found if self._is_only_read(node.attribute) else None
        if not values or not isinstance(node, (s.Name, s.Dictionary, s.Call)):
            return None
        if not isinstance(node, s.Name):
            return found
        return found if self._add_updates(node, found, given) else None

    def _is_only_read(self, attribute: str) -> bool:
        """Return whether the dicts that the file keeps in an attribute are only set, unpacked and looked into."""
        for node in self.attributes(attribute):
            if not node.stored:
                parent = node.parent
                looked = isinstance(parent, s.Attribute) and parent.attribute in self.python("methods", "dict-reading")
                looked = looked or (isinstance(parent, s.Subscript) and not parent.stored)
                if not looked and not (isinstance(parent, s.Argument) and parent.star):
                    return False
        return True

    def always_holds(self, node: s.Expression, key: str) -> bool:
        """Return whether a dict of known entries has `key` from the start, and only `update` is called to change it."""
        for value in self.values(node) or ():
            if isinstance(value, s.Dictionary):
                keys: list[object] = [k.value for k in value.keys if isinstance(k, s.Constant)]
            else:
                keys = [a.keyword for a in value.arguments] if isinstance(value, s.Call) else []
            if key not in keys:
                return False
        scope = node.scope.find(node.id) if isinstance(node, s.Name) else None
        uses = self.reads(scope, node.id) if scope is not None and isinstance(node, s.Name) else []
        attributes = [use.parent for use in uses if isinstance(use.parent, s.Attribute)]
        reading = self.python("methods", "dict-reading")
        return all(attribute.attribute in reading | {"update"} for attribute in attributes)

    def _add_updates(self, name: s.Name, found: dict[str, list[s.Expression]], given: s.Call | None) -> bool:
        """Add what `name.update(...)` and `name[key] = ...` put into a dict; return False if one cannot be read.

        A deleted or popped entry becomes unknown.
        """
        scope = name.scope.find(name.id)
        for use in self.reads(scope, name.id) if scope is not None else ():
            parent = use.parent
            if isinstance(parent, s.Subscript) and parent.stored:
                key = parent.indices[0]
                if not isinstance(key, s.Constant):
                    return False
                value = parent.parent.value if isinstance(parent.parent, s.Assign) else None
                found[str(key.value)] = [parent] if value is None else [*found[str(key.value)], value]
            elif isinstance(parent, s.Argument) and not parent.star and isinstance(parent.parent, s.Call):
                if parent.parent is not given and any(
                    name.partition(".")[0] not in libraries.READING for name in self.callee(parent.parent)
                ):
                    return False
            elif isinstance(parent, s.Attribute) and parent.attribute not in self.python("methods", "dict-reading"):
                call = parent.parent
                if not isinstance(call, s.Call) or parent.attribute not in ("update", "pop"):
                    return False
                if parent.attribute == "pop":
                    first = call.arguments[0].value if call.arguments else None
                    if not isinstance(first, s.Constant):
                        return False
                    found[str(first.value)] = [call]
                    continue
                for argument in call.arguments:
                    more = {argument.keyword: [argument.value]} if argument.keyword else self.entries(argument.value)
                    if more is None:
                        return False
                    for key_, values in more.items():
                        found[key_] += values
        return True

    # Answers

    def place(self, node: s.Node) -> Place:
        """Return where a node stands."""
        return self.at(*self.span(node))

    def span(self, node: s.Node) -> tuple[int, int]:
        """Return where a node's text starts and ends, without its own parentheses, as character offsets."""
        return self._spans.of(node)

    def at(self, start: int, end: int) -> Place:
        """Return the place between two offsets."""
        cell, line, column = self.lines.locate(start)
        _, end_line, end_column = self.lines.locate(end)
        return Place(self.path, line, column, end_line, end_column, cell)

    @cached_property
    def lines(self) -> positions.Lines:
        """The lines of the text."""
        return positions.Lines(self.text, self.origins)

    def source(self, node: s.Node) -> str:
        """Return the text of a node."""
        start, end = self._spans.of(node)
        return self.text[start:end]

    def short(self, node: s.Node, limit: int = 40) -> str:
        """Return a node's text on one line, cut to `limit` characters, but never within the name of what is called."""
        text = " ".join(self.source(node).split())
        if re.fullmatch(r"[\w.]+", text):
            while len(text) > limit and "." in text:
                text = text.partition(".")[2]
            return text
        last = f".{node.attribute}" if isinstance(node, s.Attribute) else ""
        return text if len(text) <= limit else text[: max(limit - 3 - len(last), 0)] + "..." + last

    def unseeded(self, generator: str, node: s.Node, *, lasting: bool = False, exact: bool = False) -> Unseeded:
        """Return the open question whether `generator` is unseeded when the program reaches `node`, and at its end."""
        return Unseeded(generator, *self.point(node), lasting=lasting, exact=exact)

    def point(self, node: s.Node) -> tuple[str, str, int]:
        """Return where `node` is in a program: the file, the function's qualified name, the evaluation order."""
        function = self.function_of(node)
        while function is not None and function.name == "<lambda>":
            function = self.function_of(function)
        return self.path, self.qualified(function) if function else "", node.order

    def finding(
        self,
        rule: Rule,
        node: s.Node,
        *,
        related: Iterable[tuple[s.Node, str]] = (),
        lowered: bool = False,
        noted: bool = False,
        flow: bool = False,
        full_if: Question | None = None,
        only_if: Question | None = None,
        unless: Iterable[Question] = (),
        fix: Fix | None = None,
        operation: Operation | None = None,
        **details: str,
    ) -> Finding:
        """Return a finding of `rule` at `node`; `details` fill the placeholders of the page's message and help."""
        places = tuple(Related(self.place(other), message) for other, message in related)
        function, statement = self.point(node)[1], passed_over(node)
        within = function or (MAIN if in_main_block(node) else "")
        passed = None if statement is None else Taken(self.place(statement), self.path, function)
        self.passed.update(() if statement is None else (statement,))
        told = rule.code, self.place(node), rule.message.format(**details), details, places, fix, lowered
        asked = full_if, only_if, tuple(unless), operation
        return Finding(*told, *asked, noted=noted, flow=flow, within=within, passed=passed)
