"""Random numbers that decide nothing.

They are examples of a shape, waiting times, parts of an address where processes meet, numbers never drawn, seeds,
numbers on another device, and weights that are replaced at once.
"""

from __future__ import annotations

from detlint.semantics.model import Module
from detlint.tree import syntax as s

_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "%", "**"))


class Inert:
    """The calls of a file that draw numbers which do not count."""

    def __init__(self, module: Module) -> None:
        names = module.catalogue.names
        self.module = module
        self.examples = names("randomness", "example_input")
        self._rounding = module.python("functions", "rounds")
        self.waiting = names("randomness", "waiting")
        self.addresses = {key: names("randomness", "address", key) for key in ("variables", "parameters", "schemes")}
        self.undrawn = names("randomness", "undrawn", kind="context")
        self.seeders = names("randomness", "seeder")
        self.consumers = names("randomness", "consumer")
        self.layers = module.catalogue.by_name("randomness", "initialised")
        devices = names("randomness", "seeder", id="torch.cuda") | names("randomness", "entropy", id="torch.cuda-seed")
        self.seeds_devices = any(True for _ in module.calls_to(devices))

    def kind(self, call: s.Call) -> str:
        """Return why a drawing call decides nothing: "example" of a shape, "seed" or "inert"; "" where it may decide.

        A call that draws from the seeded generator of another device is "inert", too.
        """
        if self.consumers.isdisjoint(self.module.callee(call)):
            return ""
        elsewhere = self.seeds_devices and (self.is_elsewhere(call) or self.is_elsewhere(self.filled(call)))
        if elsewhere or self.is_undrawn(call) or self.is_replaced(call):
            return "inert"
        if self.is_example(call):
            return "example"
        if self.is_delay(call) or self.is_address(call):
            return "inert"
        return "seed" if self.chooses_seed(call) else ""

    def is_elsewhere(self, call: s.Expression | None) -> bool:
        """Return whether a call makes a tensor on a device passed to it, other than the CPU."""
        if not isinstance(call, s.Call):
            return False
        device = self.module.argument(call, "device")
        return bool(device.given) and self.module.possible(device) != ["cpu"]

    def filled(self, call: s.Call) -> s.Expression | None:
        """Return what makes the tensor that a call fills with its draws, such as `torch.nn.init.normal_(made)`."""
        names = self.module.callee(call)
        if not all(name.endswith("_") for name in names):
            return None
        if isinstance(call.function, s.Attribute) and all(name.startswith("torch.Tensor.") for name in names):
            node = call.function.value
        elif call.arguments and not call.arguments[0].star:
            node = call.arguments[0].value
        else:
            return None
        values = self.module.values(node) if isinstance(node, s.Name) else [node]
        return values[0] if values and len(values) == 1 else None

    def is_undrawn(self, call: s.Call) -> bool:
        """Return whether a call stands in a context in which nothing is drawn, such as that of the meta device."""
        for around in call.ancestors():
            for item in around.items if isinstance(around, s.With) else ():
                context = item.value
                if isinstance(context, s.Call):
                    names = self.module.callee(context)
                    meta = names == {"torch.device"} and self.module.constants(context.arguments[0].value) == ["meta"]
                    if meta or not names.isdisjoint(self.undrawn):
                        return True
        return False

    def is_replaced(self, call: s.Call) -> bool:
        """Return whether a call makes a layer all of whose parameters are assigned right after it."""
        made, rows = call.parent, [self.layers[name] for name in self.module.callee(call) if name in self.layers]
        block = made.parent if isinstance(made, s.Assign) and len(made.targets) == 1 else None
        if not rows or not isinstance(made, s.Assign) or not isinstance(block, s.Block):
            return False
        layer = self.module.source(made.targets[0])
        without = self.module.possible(self.module.argument(call, "bias")) == [False]
        parameters = set(rows[0].list("parameters")) - ({"bias"} if without else set())
        left = set(parameters)
        for statement in block.statements[block.statements.index(made) + 1 :]:
            attribute = self.assigned(statement, layer)
            left.discard(attribute)
            if not left or not attribute:
                break
        return bool(parameters) and not left

    def assigned(self, statement: s.Statement, owner: str) -> str:
        """Return the attribute of `owner`, given as text, that a statement sets independently of it; "" if none."""
        if not isinstance(statement, s.Assign) or len(statement.targets) > 1 or statement.operator != "=":
            return ""
        target, value = statement.targets[0], statement.value
        if not isinstance(target, s.Attribute) or value is None or self.module.source(target.value) != owner:
            return ""
        parts = (part for part in s.walk(value) if isinstance(part, s.Expression))
        return "" if any(self.module.source(part) == owner for part in parts) else target.attribute

    def is_example(self, call: s.Call) -> bool:
        """Return whether the numbers of a call only serve as an example of a shape, in tracing or counting."""
        uses = self.uses(call)
        return bool(uses) and all(self.is_traced(use) for use in uses)

    def is_traced(self, node: s.Expression) -> bool:
        """Return whether a value is passed to a function that only looks at its shape."""
        outer = next((a for a in node.ancestors() if not isinstance(a, (s.Argument, s.Collection))), None)
        return isinstance(outer, s.Call) and not self.examples.isdisjoint(self.module.callee(outer))

    def is_delay(self, call: s.Call) -> bool:
        """Return whether the number that a call draws is only a waiting time, as before a download is retried."""
        uses = self.uses(self.whole(call))
        return bool(uses) and all(self.is_waited(use) for use in uses)

    def is_waited(self, node: s.Expression) -> bool:
        """Return whether a value is passed to a function that waits for that time."""
        argument = self.whole(node).parent
        outer = argument.parent if isinstance(argument, s.Argument) else None
        return isinstance(outer, s.Call) and not self.waiting.isdisjoint(self.module.callee(outer))

    def is_address(self, call: s.Call) -> bool:
        """Return whether the number that a call draws is only part of where processes meet: a port or an address."""
        uses = self.uses(self.whole(call))
        return bool(uses) and all(self.is_met(use) for use in uses)

    def is_met(self, node: s.Expression, depth: int = 3) -> bool:
        """Return whether a value only makes an address, by the name of what receives it or by the text around it."""
        inner: s.Node = node
        for outer in node.ancestors():
            if isinstance(outer, s.Argument) and outer.keyword in self.addresses["parameters"]:
                return True
            if isinstance(outer, s.Argument) and self.is_default_of_address(outer):
                return True
            if isinstance(outer, s.Assign):
                return inner is outer.value and self.is_kept_as_address(outer, depth)
            method = outer.function if isinstance(outer, s.Call) else None
            text = method.value if isinstance(method, s.Attribute) and method.attribute == "format" else outer
            if not isinstance(outer.parent, s.Operation) and self.begins_address(_beginning(text)):
                return True
            made = self.module.callee(outer) if isinstance(outer, s.Call) else frozenset[str]()
            rounds = "builtins.str" in made or not self._rounding.isdisjoint(made)
            if not (rounds or isinstance(outer, (s.Argument, s.Operation))):
                return False
            inner = outer
        return False

    def is_default_of_address(self, argument: s.Argument) -> bool:
        """Return whether an argument is the default of an option with the name of an address."""
        call = argument.parent
        if argument.keyword != "default" or not isinstance(call, s.Call):
            return False
        given = [each.value for each in call.arguments if not (each.keyword or each.star)]
        texts = [text for value in given for text in self.module.constants(value) or () if isinstance(text, str)]
        names = {text.lstrip("-").replace("-", "_") for text in texts if text.startswith("-")}
        return not names.isdisjoint(self.addresses["parameters"])

    def is_kept_as_address(self, assign: s.Assign, depth: int) -> bool:
        """Return whether a value is assigned to something with the name of an address, or only read as one."""
        (target, *others) = assign.targets
        if others or assign.operator != "=":
            return False
        if isinstance(target, s.Subscript):
            held = self.module.names(target.value) == {"os.environ"} and len(target.indices) == 1
            return held and set(self.module.constants(target.indices[0]) or ()) <= self.addresses["variables"]
        if isinstance(target, s.Attribute):
            return target.attribute in self.addresses["parameters"]
        uses = self.uses(assign.value) if depth and assign.value is not None else []
        return bool(uses) and all(self.is_met(use, depth - 1) for use in uses)

    def begins_address(self, node: s.Node) -> bool:
        """Return whether a string is the beginning of an address."""
        return isinstance(node, s.Constant) and str(node.value).startswith(tuple(self.addresses["schemes"]))

    def whole(self, node: s.Expression) -> s.Expression:
        """Return the largest arithmetic expression that a value stands in, through roundings and taken items."""
        for outer in node.ancestors():
            rounds = isinstance(outer, s.Call) and not self._rounding.isdisjoint(self.module.callee(outer))
            if isinstance(outer, s.Expression) and (rounds or _is_arithmetic(outer) or _takes_item(outer, node)):
                node = outer
            elif not isinstance(outer, s.Argument):
                break
        return node

    def uses(self, value: s.Expression) -> list[s.Expression]:
        """Return the uses of a value: the reads of the name that it is assigned to, else the value itself."""
        statement = value.parent
        if not isinstance(statement, s.Assign) or not isinstance(statement.targets[0], s.Name):
            return [value]
        target = statement.targets[0]
        scope = target.scope.find(target.id)
        alone = len(statement.targets) == 1
        return list(self.module.reads(scope, target.id)) if scope is not None and alone else []

    def chooses_seed(self, call: s.Call) -> bool:
        """Return whether the number that a call draws is a seed, for which the question is where it comes from."""
        for outer in call.ancestors():
            if isinstance(outer, s.Call) and not self.seeders.isdisjoint(self.module.callee(outer)):
                return True
            if isinstance(outer, s.Statement):
                kept = [_last(target) for target in outer.targets] if isinstance(outer, s.Assign) else []
                if isinstance(outer, s.Leave) and outer.kind == "return":
                    kept = [around.name for around in outer.ancestors() if isinstance(around, s.Function)][:1]
                return any("seed" in name.lower() for name in kept)
        return False


def _beginning(text: s.Node) -> s.Node:
    """Return the first part of a string that is put together."""
    while isinstance(text, s.Operation):
        text = text.operands[0]
    return text


def _is_arithmetic(node: s.Expression) -> bool:
    return isinstance(node, s.Operation) and node.operator in _ARITHMETIC


def _takes_item(outer: s.Expression, node: s.Expression) -> bool:
    """Return whether an expression takes an item of a value: by a key, or as `value.item()` does."""
    if isinstance(outer, s.Call):
        return outer.function is node and isinstance(node, s.Attribute) and node.attribute == "item"
    if isinstance(outer, s.Attribute):
        return outer.value is node and outer.attribute == "item"
    return isinstance(outer, s.Subscript) and outer.value is node


def _last(node: s.Expression) -> str:
    """Return the last part of a name, or "" for anything else."""
    if isinstance(node, s.Attribute):
        return node.attribute
    return node.id if isinstance(node, s.Name) else ""
