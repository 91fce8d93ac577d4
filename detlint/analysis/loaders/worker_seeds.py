"""What the seeds that a worker_init_fn sets depend on: the worker, fixed values, or something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from detlint.catalogue import Rule
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, class_of, reaching

WORKER, FIXED = "worker", "fixed"


def functions(module: Module, node: s.Expression) -> Iterator[tuple[s.Function, Mapping[str, s.Expression | None]]]:
    """Yield the functions of this file that an expression may be, with the arguments bound by `functools.partial`."""
    if isinstance(node, s.Lambda):
        yield node.function, {}
        return
    made = module.partial(node)
    if made is not None:
        for function, _ in functions(module, made.arguments[0].value):
            free = [p.name for p in function.parameters if not p.star]
            positional = [a.value for a in made.arguments[1:] if a.keyword is None and not a.star]
            bound: dict[str, s.Expression | None] = dict(zip(free, positional, strict=False))
            bound |= {a.keyword: a.value for a in made.arguments if a.keyword is not None}
            yield function, bound
        return
    for name in module.names(node):
        if name in module.functions:
            yield module.functions[name], {}
    for value in module.values(node) or ():
        if isinstance(value, s.Lambda):
            yield value.function, {}
        elif isinstance(value, s.Call):
            for factory in (module.functions[n] for n in module.callee(value) if n in module.functions):
                for leave in (n for n in s.walk(factory.body) if isinstance(n, s.Leave) and n.kind == "return"):
                    if leave.values and module.function_of(leave) is factory:
                        yield from functions(module, leave.values[0])


class WorkerSeed:
    """What the seeds inside one worker_init_fn depend on."""

    def __init__(
        self, module: Module, rule: Rule, function: s.Function, bound: Mapping[str, s.Expression | None]
    ) -> None:
        self.module = module
        self.words: list[str] = rule.data["fixed"]
        self.varying: list[str] = rule.data["varying"]
        self.info = frozenset(rule.data["worker_info"])
        self.pure = frozenset(rule.data["pure"])
        self.function = function
        self.bound = bound
        method = class_of(function) is not None and function.name != "<lambda>" and not module.is_static(function)
        own = function.parameters[1:] if method else function.parameters
        self.worker = next((p for p in own if p.name not in bound), None)

    def of_call(self, call: s.Call, seeders: Mapping[str, str]) -> set[str] | None:
        """Return what the seed of a seeding call depends on: WORKER, FIXED; None for something else, or unknown."""
        names = self.module.callee(call)
        parameters = {seeders.get(name) or self._passed_on(name, seeders) for name in names}
        values = [v for p in parameters if p is not None for v in self.module.argument(call, p).values]
        if None in parameters:
            return None
        return self.of(values[0]) if len(values) == 1 else None

    def _passed_on(self, name: str, seeders: Mapping[str, str]) -> str | None:
        """Return the parameter that a function of this file passes on to a seeder, or None."""
        function = self.module.functions.get(name)
        for call in s.walk(function.body) if function is not None else ():
            if isinstance(call, s.Call):
                for seeder in self.module.callee(call) & seeders.keys():
                    for value in self.module.argument(call, seeders[seeder]).values:
                        if isinstance(value, s.Name):
                            return value.id
        return None

    def of(self, node: s.Expression) -> set[str] | None:
        """Return what a value depends on: WORKER, FIXED; None for something else, or unknown."""
        if isinstance(node, s.Constant):
            return {FIXED} if isinstance(node.value, (int, float, str)) else None
        if isinstance(node, s.Name):
            return self._join([self._of_binding(b) for b in reaching(node) or ()])
        if isinstance(node, s.Attribute):
            return self._of_attribute(node)
        if isinstance(node, s.Subscript):
            key = node.indices[0] if isinstance(node.value, (s.Name, s.Attribute)) else None
            return self._by_name(str(key.value)) if isinstance(key, s.Constant) else None
        if isinstance(node, s.Operation):
            return self._join([self.of(part) for part in node.operands])
        if isinstance(node, s.Collection):
            return self._join([self.of(part) for part in node.elements])
        if isinstance(node, s.Call):
            names = self.module.callee(node)
            if names and names <= self.pure and all(a.keyword is None and not a.star for a in node.arguments):
                return self._join([self.of(a.value) for a in node.arguments])
        return None

    def _join(self, kinds: list[set[str] | None]) -> set[str] | None:
        found: set[str] = set()
        for kind in kinds:
            if kind is None:
                return None
            found |= kind
        return found or None

    def _of_binding(self, binding: Binding) -> set[str] | None:
        node = binding.node
        if isinstance(node, s.Parameter):
            if node is self.worker:
                return {WORKER}
            if node.parent is self.function:
                value = self.bound.get(node.name) or node.default
                return None if value is None else self.of(value)
            return self._by_name(node.name)
        if binding.kind != "assign" or binding.value is None or binding.path:
            return None
        return self.of(binding.value)

    def _of_attribute(self, node: s.Attribute) -> set[str] | None:
        made = self.module.values(node.value) or []
        if made and all(isinstance(m, s.Call) and self.module.callee(m) & self.info for m in made):
            return {"id": {WORKER}, "num_workers": {FIXED}}.get(node.attribute)
        root = node.value
        while isinstance(root, s.Attribute):
            root = root.value
        owner = self.module.owner(node.value)
        for assign in self.module.attribute_assignments(owner, node.attribute) if owner is not None else ():
            function = self.module.function_of(assign)
            if function is None or function.name != "__init__":
                return None
        return self._by_name(node.attribute) if isinstance(root, s.Name) else None

    def _by_name(self, name: str) -> set[str] | None:
        lower = name.lower()
        varying = any(word in lower for word in self.varying)
        return {FIXED} if not varying and any(word in lower for word in self.words) else None
