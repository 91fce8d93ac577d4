"""Draws that decide nothing by themselves, as the text around them tells: of a seed, of an example of a shape.

Or how long to wait, and where processes meet, as a port.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct

from detlint.catalogue import Catalogue
from detlint.ir import nodes as ir

Aside = Literal["", "example", "seed", "inert"]
_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "%", "**"))
_DEPTH = 3  # variables that hand a value on
_VARIABLES = (ir.Local, ir.Global, ir.Captured)


class Link(Struct, frozen=True, eq=False):
    """A part of a function's text, in the part around it."""

    node: Any
    function: str
    outer: Link | None = None

    def around(self) -> Iterator[Link]:
        """The parts around it, from the inside."""
        link = self.outer
        while link is not None:
            yield link
            link = link.outer


class Asides:
    """Tells what draws are for. The links of a file are made once, when something in it is asked for."""

    def __init__(self, catalogue: Catalogue) -> None:
        names = catalogue.names
        self._canonical = catalogue.canonical
        self._examples = names("randomness", "example_input")
        self._waiting = names("randomness", "waiting")
        self._environment = names("randomness", "address", "variables")
        self._parameters = names("randomness", "address", "parameters")
        self._schemes = tuple(names("randomness", "address", "schemes"))
        self._seeders = names("randomness", "seeder")
        self._rounding = names("python", "kind", "functions", id="rounds")
        self._texts: dict[int, tuple[ir.File, _Text]] = {}

    def kind(self, file: ir.File, function: str, node: int) -> Aside:
        """What a call that draws is for, if that is all it decides."""
        text = self._text(file)
        call = text.calls.get((function, node))
        if call is None:
            return ""
        if self._all(text.uses(call), self._is_traced, text):
            return "example"
        whole = text.uses(self._whole(call, text))
        if self._all(whole, self._is_waited, text) or (whole and all(self._is_met(each, text) for each in whole)):
            return "inert"
        return "seed" if self._chooses_seed(call, text) else ""

    def _text(self, file: ir.File) -> _Text:
        found = self._texts.get(id(file))
        if found is None:
            found = self._texts[id(file)] = (file, _Text(file))
        return found[1]

    @staticmethod
    def _all(uses: list[Link], test: Any, text: _Text) -> bool:
        return bool(uses) and all(test(use, text) for use in uses)

    def _name(self, node: Any, text: _Text) -> str:
        """What a call calls, by its qualified name; "" where the text does not tell."""
        return self._canonical(text.name(node.function)) if isinstance(node, ir.Call) else ""

    def _rounds(self, node: Any, text: _Text) -> bool:
        return isinstance(node, ir.Call) and self._name(node, text) in self._rounding

    def _is_traced(self, use: Link, text: _Text) -> bool:
        """Whether a value is given to a function that looks at its shape only."""
        outer = next((link.node for link in use.around() if not isinstance(link.node, (ir.Argument, ir.Display))), None)
        return self._name(outer, text) in self._examples

    def _is_waited(self, use: Link, text: _Text) -> bool:
        """Whether a value is given to a function that waits for so long."""
        around = [link.node for link in self._whole(use, text).around()][:2]
        return len(around) > 1 and isinstance(around[0], ir.Argument) and self._name(around[1], text) in self._waiting

    def _whole(self, link: Link, text: _Text) -> Link:
        """The whole of the arithmetic that a value stands in, items of it that are taken included."""
        inner = link
        for outer in link.around():
            node = outer.node
            arithmetic = isinstance(node, ir.Operation) and node.operator in _ARITHMETIC
            if arithmetic or self._rounds(node, text) or _takes_item(node, inner.node):
                inner = outer
            elif not isinstance(node, ir.Argument):
                break
        return inner

    def _is_met(self, use: Link, text: _Text, depth: int = _DEPTH) -> bool:
        """Whether a value only makes an address, by the name of what it is given to or by the text around it."""
        inner = use.node
        for outer in use.around():
            node = outer.node
            if isinstance(node, ir.Argument) and (node.keyword in self._parameters or self._is_default(outer)):
                return True
            if isinstance(node, ir.Assign):
                return inner is node.value and self._is_kept(node, Link(inner, use.function, outer), text, depth)
            method = node.function if isinstance(node, ir.Call) else None
            whole = method.value if isinstance(method, ir.Attribute) and method.name == "format" else node
            beside = outer.outer is not None and isinstance(outer.outer.node, ir.Operation)
            if not beside and self._begins(whole):
                return True
            shown = self._name(node, text) == "builtins.str" or self._rounds(node, text)
            if not (shown or isinstance(node, (ir.Argument, ir.Operation))):
                return False
            inner = node
        return False

    def _is_default(self, argument: Link) -> bool:
        """Whether an argument is the default of an option that is named as an address is."""
        call = argument.outer.node if argument.outer is not None else None
        if argument.node.keyword != "default" or not isinstance(call, ir.Call):
            return False
        given = [each.value for each in call.arguments if not (each.keyword or each.star)]
        texts = [each.value for each in given if isinstance(each, ir.Constant) and each.kind == "str"]
        names = {each.lstrip("-").replace("-", "_") for each in texts if each.startswith("-")}
        return not names.isdisjoint(self._parameters)

    def _is_kept(self, assign: ir.Assign, value: Link, text: _Text, depth: int) -> bool:
        """Whether a value is given to what is named as an address is, or is read as one."""
        (target, *others) = assign.targets
        if others or assign.operator != "=":
            return False
        if isinstance(target, ir.Subscript):
            held = text.name(target.value) == "os.environ"
            return held and isinstance(target.key, ir.Constant) and target.key.value in self._environment
        if isinstance(target, ir.Attribute):
            return target.name in self._parameters
        uses = text.uses(value) if depth else []
        return bool(uses) and all(self._is_met(use, text, depth - 1) for use in uses)

    def _begins(self, node: Any) -> bool:
        """Whether a text is the beginning of an address."""
        while isinstance(node, ir.Operation) and node.operands:
            node = node.operands[0]
        return isinstance(node, ir.Constant) and node.kind == "str" and node.value.startswith(self._schemes)

    def _chooses_seed(self, call: Link, text: _Text) -> bool:
        """Whether what a call draws is a seed: that is a matter of where the seed comes from."""
        for outer in call.around():
            node = outer.node
            if isinstance(node, ir.Call) and self._name(node, text) in self._seeders:
                return True
            if isinstance(node, ir.Assign):
                return any("seed" in getattr(target, "name", "").lower() for target in node.targets)
            if isinstance(node, ir.Leave):
                return node.kind == "return" and "seed" in outer.function.rpartition(".")[2].lower()
            if isinstance(node, _STATEMENTS):
                return False
        return False


_STATEMENTS = (ir.Do, ir.If, ir.For, ir.While, ir.With, ir.Define, ir.DefineClass, ir.Assert)


class _Text:
    """The calls of a file and where it reads its variables, each with what is around it."""

    def __init__(self, file: ir.File) -> None:
        self.calls: dict[tuple[str, int], Link] = {}
        self.reads: dict[tuple[str, str], list[Link]] = {}
        self.imported: dict[str, str] = {}
        for function in file.functions.values():
            self._visit((function.parameters, function.body), None, function.qualified)

    def _visit(self, part: Any, outer: Link | None, function: str) -> None:
        if isinstance(part, tuple):
            for each in part:
                self._visit(each, outer, function)
            return
        if not isinstance(part, Struct):
            return
        link = Link(part, function, outer)
        if isinstance(part, ir.Call):
            self.calls[function, part.node] = link
        elif isinstance(part, _VARIABLES):
            self.reads.setdefault((_scope(part, function), part.name), []).append(link)
        elif isinstance(part, ir.ImportModule):
            self.imported[part.alias or part.module.partition(".")[0]] = (
                part.module if part.alias else part.module.partition(".")[0]
            )
        elif isinstance(part, ir.ImportNames) and not part.level:
            names = ((name, target) for name, target in part.names if isinstance(target, _VARIABLES))
            self.imported |= {target.name: f"{part.module}.{name}" for name, target in names}
        for name in part.__struct_fields__:
            child = getattr(part, name)
            if name in ("targets", "target"):  # what is given a value there is not read
                targets = child if isinstance(child, tuple) else (child,)
                self._visit(tuple(each for each in targets if not isinstance(each, _VARIABLES)), link, function)
            else:
                self._visit(child, link, function)

    def uses(self, value: Link) -> list[Link]:
        """Where a value goes: where the name is read that it is given, else where it stands."""
        statement = value.outer.node if value.outer is not None else None
        if not isinstance(statement, ir.Assign) or not isinstance(statement.targets[0], _VARIABLES):
            return [value]
        target = statement.targets[0]
        alone = len(statement.targets) == 1
        return self.reads.get((_scope(target, value.function), target.name), []) if alone else []

    def name(self, node: Any) -> str:
        """The qualified name of something of a library; "" where the text does not tell."""
        if isinstance(node, ir.Attribute):
            owner = self.name(node.value)
            return f"{owner}.{node.name}" if owner else ""
        if isinstance(node, _VARIABLES):
            builtin = f"builtins.{node.name}" if isinstance(node, ir.Global) else ""
            return self.imported.get(node.name, builtin)
        return ""


def _scope(variable: Any, function: str) -> str:
    """The function whose variable it is."""
    if isinstance(variable, ir.Captured):
        return variable.owner
    return function if isinstance(variable, ir.Local) else ""


def _takes_item(outer: Any, inner: Any) -> bool:
    """Whether an expression takes an item of a value: by a key, or as `value.item()` does."""
    if isinstance(outer, ir.Call):
        return outer.function is inner and isinstance(inner, ir.Attribute) and inner.name == "item"
    if isinstance(outer, ir.Attribute):
        return outer.value is inner and outer.name == "item"
    return isinstance(outer, ir.Subscript) and outer.value is inner
