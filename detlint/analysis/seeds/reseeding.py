"""Edits that replace the entropy in a seed with a number."""

from __future__ import annotations

from collections.abc import Collection

from detlint.analysis.seeds.entropy import Tracer
from detlint.analysis.seeds.ranks import depends_on_rank
from detlint.editing import edits
from detlint.finding import Edit, Fix, Import, Safety
from detlint.semantics import libraries
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, reaching

_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "~", "f-string"))
_MANUAL = {"seed": "manual_seed", "seed_all": "manual_seed_all"}  # torch's names


class Reseeding:
    """A rewriter of the seeds of one file, which replaces the widest expressions of nothing but entropy and constants.

    A variable is followed to its assignment if its name says that it is a seed. Otherwise its use is replaced, because
    it may serve other purposes.
    """

    def __init__(self, module: Module, tracer: Tracer, *, none: bool, leaves: Collection[s.Expression] = ()) -> None:
        """Set up the edits; `none` says that None stands for entropy, `leaves` are other calls that count as it."""
        self.module = module
        self.tracer = tracer
        self.none = none
        self.leaves = leaves
        self.number = "0"
        self.replaced: list[s.Expression] = []
        self.hashed = False
        self._depth = 0

    def fix(self, seed: s.Expression, number: str) -> Fix | None:
        """Return the fix of a seed, or None where no fix is known; `number` is the seed to use."""
        self.number = number
        found = self._edits(seed)
        if not found:
            return None
        imports = (Import(self.module.path, "zlib"),) if self.hashed else ()
        title = "Hash the text alike in each run" if self.hashed else f"Seed with {number}"
        found = list(dict.fromkeys(found))  # an augmented variable has been set before
        return edits.fix(title, *found, *edits.unused(self.module, self.replaced), imports=imports)

    def _zero(self, node: s.Expression) -> list[Edit | None]:
        self.replaced.append(node)
        return [edits.replaced(self.module, node, self.number)]

    def _differs(self, node: s.Expression) -> bool:
        if self.leaves and isinstance(node, s.Name) and depends_on_rank(self.module, node):
            return False  # the file does not show that function either
        return bool(self.tracer.origin(node, none=self.none)[0])

    def _edits(self, node: s.Expression) -> list[Edit | None] | None:
        self._depth += 1
        if self._depth > 50:  # a cycle of assignments
            return None
        if isinstance(node, s.Name) and "seed" in node.id.lower():
            bindings = [b for b in reaching(node) or () if any(map(self._differs, _parts(b)))]
            if any(b.kind not in ("assign", "augment") or b.path for b in bindings):
                return None
            values = [part for binding in bindings for part in _parts(binding)]
            return None if any(isinstance(value, s.Constant) for value in values) else self._each(values)
        if self._is_entropy(node) or (node in self.leaves and isinstance(node, s.Call) and not node.arguments):
            return self._zero(node)
        if isinstance(node, s.Constant):
            return self._zero(node) if self.none and node.value is None else None
        if isinstance(node, s.Conditional):
            return self._each([node.body, node.orelse])
        if isinstance(node, s.Operation):
            return self._each(node.operands)
        if isinstance(node, s.Collection):
            return self._each(node.elements)
        if isinstance(node, (s.NamedExpression, s.Subscript)):
            return self._each([node.value])
        if isinstance(node, s.Attribute):
            return self._attribute(node)
        return self._call(node) if isinstance(node, s.Call) else None

    def _each(self, nodes: list[s.Expression]) -> list[Edit | None] | None:
        """Return the edits of the expressions that differ; None where none does, or one of them cannot be edited."""
        found: list[Edit | None] = []
        for node in nodes:
            if self._differs(node):
                made = self._edits(node)
                if made is None:
                    return None
                found += made
        return found or None

    def _attribute(self, node: s.Attribute) -> list[Edit | None] | None:
        if "seed" not in node.attribute.lower():
            return None
        text = self.module.source(node)
        assigns = [a for a in self.module.assignments if any(self.module.source(t) == text for t in a.targets)]
        return self._each([a.value for a in assigns if a.value is not None and not isinstance(a.value, s.Constant)])

    def _call(self, call: s.Call) -> list[Edit | None] | None:
        names = self.module.callee(call)
        if names == {"builtins.hash"}:
            return self._hash(call)
        own = [self.module.functions[name] for name in names if name in self.module.functions]
        if own:
            if not all("seed" in function.name.lower() for function in own):
                return None
            leaves = [n for f in own for n in s.walk(f.body) if isinstance(n, s.Leave) and n.kind == "return"]
            return self._each([n.values[0] for n in leaves if n.values and self.module.function_of(n) in own])
        receiver = [call.function.value] if isinstance(call.function, s.Attribute) else []
        return self._each([*receiver, *(argument.value for argument in call.arguments)])

    def _hash(self, call: s.Call) -> list[Edit | None] | None:
        """Replace the `hash` of a string, bytes or a plain tuple with a checksum."""
        node = call.arguments[0].value
        kinds = self.module.proven(node)
        if isinstance(node, s.Collection) and node.kind == "tuple" and all(map(self._is_plain, node.elements)):
            data = "repr(({text})).encode()"
        elif kinds == {"builtins.str"}:
            data = "{text}.encode()"
        elif kinds == {"builtins.bytes"}:
            data = "{text}"
        else:
            return None
        self.hashed = True
        return [edits.replaced(self.module, call, edits.new(f"zlib.crc32({data})", text=node))]

    def _is_plain(self, node: s.Expression) -> bool:
        kinds = self.module.types(node)
        return bool(kinds) and kinds <= self.module.python("types", "plain") | {"builtins.NoneType"}

    def _is_entropy(self, node: s.Expression) -> bool:
        """Return whether an expression consists of entropy and constants alone."""
        return self._differs(node) and self._is_alone(node)

    def _is_alone(self, node: s.Expression) -> bool:
        if isinstance(node, s.Constant):
            return node.value is not None
        if isinstance(node, s.Name):
            bindings = reaching(node)
            if bindings is None:
                return True
            known = len(bindings) == 1 and not bindings[0].path
            value = bindings[0].value if known and bindings[0].kind == "assign" else None
            return bool(self.module.names(node)) or (value is not None and self._is_alone(value))
        if isinstance(node, s.Operation):
            return node.operator in _ARITHMETIC and all(self._is_alone(part) for part in node.operands)
        if isinstance(node, s.Attribute):
            return bool(self.module.names(node)) or self._is_alone(node.value)
        if isinstance(node, s.Collection):
            return all(self._is_alone(element) for element in node.elements)
        if isinstance(node, s.Subscript):
            parts = [part for index in node.indices for part in s.walk(index) if isinstance(part, s.Name)]
            return not parts and self._is_alone(node.value)
        if not isinstance(node, s.Call) or not self._differs(node):
            return False
        names = self.module.callee(node)
        own = [self.module.functions[name] for name in names if name in self.module.functions]
        if own and not node.arguments:
            bodies = [function.body.statements for function in own]
            leaves = [body[0] for body in bodies if len(body) == 1 and isinstance(body[0], s.Leave)]
            return len(leaves) == len(own) and all(v and self._is_alone(v[0]) for v in (leaf.values for leaf in leaves))
        library = bool(names) and all(name.partition(".")[0] in libraries.KNOWN for name in names)
        method = not names and isinstance(node.function, s.Attribute) and self._is_alone(node.function.value)
        return (library or method) and all(self._is_alone(argument.value) for argument in node.arguments)


def _parts(binding: Binding) -> list[s.Expression]:
    """Return what a variable is given; for an augmented assignment its old value, and what is added."""
    added = binding.node.targets if binding.kind == "augment" and isinstance(binding.node, s.Assign) else []
    return [*added, *([binding.value] if binding.value is not None else [])]


def reseeded(module: Module, call: s.Call, number: str) -> Fix | None:
    """Return the fix of a call that takes its seed from the operating system: pass `number` to it."""
    title = f"Seed with {number}"
    if not _is_of_torch(module, call):
        return edits.fix(title, edits.first(module, call, number))
    function = call.function
    name = function.attribute if isinstance(function, s.Attribute) else ""
    if name not in _MANUAL or call.arguments:
        return None
    assert isinstance(function, s.Attribute)
    if isinstance(call.parent, s.ExpressionStatement):
        return edits.fix(title, edits.renamed(module, function, _MANUAL[name]), edits.first(module, call, number))
    # `seed()` returns the seed, `manual_seed` the generator
    seeded = edits.new(f"{{generator}}.{_MANUAL[name]}({number}).initial_seed()", generator=function.value)
    return edits.fix(title, edits.replaced(module, call, seeded))


def redrawn(module: Module, call: s.Call) -> Fix | None:
    """Return a fix that draws a new seed each time from torch's generator, which the program may seed.

    It replaces a seed from the operating system, in a call whose result is used. Ranks whose generators are seeded
    alike get the same seeds. None for any other call.
    """
    if not _is_of_torch(module, call) or isinstance(call.parent, s.ExpressionStatement):
        return None
    drawn, imports = edits.new("int(torch.randint(2**63 - 1, ()))"), (Import(module.path, "torch"),)
    title = "Draw the seed from torch's generator"
    return edits.fix(title, edits.replaced(module, call, drawn), safety=Safety.UNSAFE, imports=imports)


def _is_of_torch(module: Module, call: s.Call) -> bool:
    return any(name.partition(".")[0] == "torch" for name in module.callee(call))
