"""Numbers that are drawn and decide nothing.

Examples of a shape, seeds, how long to wait, where processes meet, weights that are replaced at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from detlint.catalogue import Catalogue
from detlint.domain.step import Step
from detlint.ir import nodes as ir
from detlint.ir.counting import walk
from detlint.ir.uses import Around, Uses

_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "%", "**"))
_DISPLAYS = (ir.Argument, ir.Display, ir.Starred)
_FURTHEST = 3  # variables that a value is handed on by
Aside = Literal["", "example", "seed", "inert"]


class Asides:
    """Tells by the text what a drawn number is for."""

    def __init__(self, catalogue: Catalogue) -> None:
        names = catalogue.names
        self._catalogue = catalogue
        self.examples = names("randomness", "example_input")
        self.rounding = names("python", "kind", "functions", id="rounds")
        self.waiting = names("randomness", "waiting")
        self.variables = names("randomness", "address", "variables")
        self.parameters = names("randomness", "address", "parameters")
        self.schemes = tuple(names("randomness", "address", "schemes"))
        self.seeders = names("randomness", "seeder")
        devices = names("randomness", "seeder", id="torch.cuda"), names("randomness", "entropy", id="torch.cuda-seed")
        self.device_seeders = devices[0] | devices[1]
        self.layers = catalogue.by_name("randomness", "initialised")

    def kind(self, step: Step, name: str) -> Aside:
        """What the number is for that a call of a function draws, where it decides nothing.

        "inert" where it tells nothing at all, as one from the generator of another device that is seeded does.
        """
        call = step.uses.calls.get((step.code.function, step.code.node))
        if call is None:
            return ""
        text = _Text(self, step.uses, step.code.function)
        if text.is_elsewhere(call.part) or (name.endswith("_") and text.is_elsewhere(text.filled(call.part))):
            return "inert"
        if name in self.layers and text.is_replaced(call, self.layers[name].list("parameters")):
            return "inert"
        uses = text.uses_of(call)
        if uses and all(map(text.is_traced, uses)):
            return "example"
        uses = text.uses_of(text.whole(call))
        if uses and (all(map(text.is_waited, uses)) or all(map(text.is_met, uses))):
            return "inert"
        return "seed" if text.chooses_seed(call) else ""

    def canonical(self, name: str) -> str:
        """The one name of what can be imported from several places."""
        return self._catalogue.canonical(name) if name else ""


class _Text:
    """The text of a function, and the file around it."""

    def __init__(self, asides: Asides, uses: Uses, function: str) -> None:
        self.asides = asides
        self.uses = uses
        self.function = function

    def named(self, around: Around | None) -> str:
        """The name of what a call calls."""
        if around is None or not isinstance(around.part, ir.Call):
            return ""
        return self.asides.canonical(self.uses.named(around.part.function, around.function))

    def is_elsewhere(self, made: ir.Expression | None) -> bool:
        """Whether a call makes a tensor on a device that it is given, other than the CPU, where these are seeded."""
        if not isinstance(made, ir.Call) or self.asides.device_seeders.isdisjoint(self.uses.called):
            return False
        devices = [argument.value for argument in made.arguments if argument.keyword == "device"]
        return bool(devices) and devices[0] != ir.Constant("str", "cpu")

    def filled(self, call: ir.Call) -> ir.Expression | None:
        """What makes the tensor that a call fills with what it draws, as `torch.nn.init.normal_(made)` does."""
        method, part = call.function, call.arguments[0].value if call.arguments else None
        if isinstance(method, ir.Attribute) and not self.uses.named(method, self.function):
            part = method.value
        variable = self.uses.variable(part, self.function) if part is not None else None
        if variable is None:
            return part
        given = self.uses.given.get(variable, [])
        return given[0] if len(given) == 1 else None

    def is_replaced(self, call: Around, parameters: Iterable[str]) -> bool:
        """Whether a call makes a layer all of whose parameters are assigned right after it."""
        layer, made = call.part, call.outer.part if call.outer is not None else None
        if not isinstance(layer, ir.Call) or not isinstance(made, ir.Assign):
            return False
        if made.value is not layer or len(made.targets) != 1:
            return False
        without = any(a.keyword == "bias" and a.value == ir.Constant("False") for a in layer.arguments)
        wanted = set(parameters) - ({"bias"} if without else set())
        left = set(wanted)
        for statement in _following(call.outer):
            attribute = _assigned(statement, made.targets[0])
            left.discard(attribute)
            if not left or not attribute:
                break
        return bool(wanted) and not left

    def uses_of(self, value: Around) -> list[Around]:
        """Where a value goes: where the variable is read that it is given, else where it stands."""
        outer = value.outer.part if value.outer is not None else None
        if not isinstance(outer, ir.Assign) or value.part is not outer.value or outer.operator != "=":
            return [value]
        variable = self.uses.variable(outer.targets[0], value.function)
        if variable is None:
            return [value]
        return self.uses.reads[variable] if len(outer.targets) == 1 else []

    def is_traced(self, value: Around) -> bool:
        """Whether a value is given to a function that looks at its shape only."""
        outer = next((around for around in value.outward() if not isinstance(around.part, _DISPLAYS)), None)
        return self.named(outer) in self.asides.examples

    def whole(self, value: Around) -> Around:
        """The whole of the arithmetic that a value stands in, items of it that are taken included."""
        for around in value.outward():
            part = around.part
            rounds = self.named(around) in self.asides.rounding and part.function is not value.part
            arithmetic = isinstance(part, ir.Operation) and part.operator in _ARITHMETIC
            if rounds or arithmetic or _takes_item(part, value.part):
                value = around
            elif not isinstance(part, ir.Argument):
                break
        return value

    def is_waited(self, value: Around) -> bool:
        """Whether a value is given to a function that waits for so long."""
        argument = self.whole(value).outer
        given = argument is not None and isinstance(argument.part, ir.Argument)
        return given and argument is not None and self.named(argument.outer) in self.asides.waiting

    def is_met(self, value: Around, further: int = _FURTHEST) -> bool:
        """Whether a value only makes an address, by the name of what it is given to or by the text around it."""
        inner = value
        for around in value.outward():
            part = around.part
            if isinstance(part, ir.Argument):
                if part.keyword in self.asides.parameters or self._is_default(part, around.outer):
                    return True
            elif isinstance(part, ir.Assign):
                return inner.part is part.value and self._is_kept(around, further)
            elif self._begins(around):
                return True
            elif not (isinstance(part, ir.Operation) or self._rounds(around)):
                return False
            inner = around
        return False

    def _rounds(self, around: Around) -> bool:
        """Whether a call makes a text or a number of another."""
        named = self.named(around)
        return named == "builtins.str" or named in self.asides.rounding

    def _begins(self, around: Around) -> bool:
        """Whether a text, whole as it stands, begins as an address does."""
        part = around.part
        if around.outer is not None and isinstance(around.outer.part, ir.Operation):
            return False
        text = _formatted(part) or part
        while isinstance(text, ir.Operation):
            text = text.operands[0]
        return isinstance(text, ir.Constant) and text.kind == "str" and text.value.startswith(self.asides.schemes)

    def _is_default(self, argument: ir.Argument, call: Around | None) -> bool:
        """Whether an argument is the default of an option that is named as an address is."""
        if argument.keyword != "default" or call is None or not isinstance(call.part, ir.Call):
            return False
        given = (each.value for each in call.part.arguments if not (each.keyword or each.star))
        texts = (each.value for each in given if isinstance(each, ir.Constant) and each.kind == "str")
        names = {text.lstrip("-").replace("-", "_") for text in texts if text.startswith("-")}
        return not names.isdisjoint(self.asides.parameters)

    def _is_kept(self, assign: Around, further: int) -> bool:
        """Whether a value is given to what is named as an address is, or is read as one."""
        target, *others = assign.part.targets
        if others or assign.part.operator != "=":
            return False
        if isinstance(target, ir.Subscript):
            key = target.key
            environment = self.asides.canonical(self.uses.named(target.value, assign.function)) == "os.environ"
            return environment and isinstance(key, ir.Constant) and key.value in self.asides.variables
        if isinstance(target, ir.Attribute):
            return target.name in self.asides.parameters
        uses = self.uses_of(Around(assign.part.value, assign)) if further else []
        return bool(uses) and all(self.is_met(use, further - 1) for use in uses)

    def chooses_seed(self, call: Around) -> bool:
        """Whether what a call draws is a seed: that is a matter of where the seed comes from."""
        for around in call.outward():
            part = around.part
            if self.named(around) in self.asides.seeders:
                return True
            if isinstance(part, ir.Statement):
                kept = [_last(target) for target in part.targets] if isinstance(part, ir.Assign) else []
                if isinstance(part, ir.Leave) and part.kind == "return":
                    kept = [self.uses.file.functions[self.function].name]
                return any("seed" in name.lower() for name in kept)
        return False


def _takes_item(outer: object, part: object) -> bool:
    """Whether an expression takes an item of a value: by a key, or as `value.item()` does."""
    if isinstance(outer, ir.Call):
        return outer.function is part and isinstance(part, ir.Attribute) and part.name == "item"
    if isinstance(outer, ir.Attribute):
        return outer.name == "item"
    return isinstance(outer, ir.Subscript) and outer.value is part


def _formatted(part: object) -> ir.Expression | None:
    """The text of which a call of `format` makes another."""
    method = part.function if isinstance(part, ir.Call) else None
    return method.value if isinstance(method, ir.Attribute) and method.name == "format" else None


def _last(target: object) -> str:
    """The last part of a name."""
    return target.name if isinstance(target, (ir.Attribute, ir.Local, ir.Global, ir.Captured)) else ""


def _following(statement: Around | None) -> ir.Statements:
    """The statements of a block after one of them."""
    block = statement.outer.part if statement is not None and statement.outer is not None else None
    for name in block.__struct_fields__ if block is not None else ():
        inner = getattr(block, name)
        for index, each in enumerate(inner if isinstance(inner, tuple) else ()):
            if statement is not None and each is statement.part:
                return tuple(inner[index + 1 :])
    return ()


def _assigned(statement: ir.Statement, owner: ir.Expression) -> str:
    """The attribute of `owner` that a statement sets to what is not made of it; "" if none."""
    if not isinstance(statement, ir.Assign) or len(statement.targets) > 1 or statement.operator != "=":
        return ""
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ir.Attribute) or not _are_one(target.value, owner):
        return ""
    return "" if any(_are_one(part, owner) for part in walk(value)) else target.name


def _are_one(one: ir.Expression, other: ir.Expression) -> bool:
    """Whether two expressions are the same variable or the same attribute of one."""
    if isinstance(one, ir.Attribute) and isinstance(other, ir.Attribute):
        return one.name == other.name and _are_one(one.value, other.value)
    return isinstance(one, (ir.Local, ir.Global, ir.Captured)) and one == other
