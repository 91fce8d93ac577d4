"""Where the numbers of `hash()` and `id()` are made, and what they are used for."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.sets.elements import Elements
from detlint.analysis.sets.kinds import Kind
from detlint.analysis.values.messages import is_message
from detlint.editing import edits
from detlint.finding import Fix, Import, Safety
from detlint.orders.loops import Loops
from detlint.orders.parts import Out, Parts
from detlint.orders.rebound import Live
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s

_SOURCES = frozenset(("builtins.hash", "builtins.id"))
_ARITHMETIC = frozenset(("+", "-", "*", "//", "^", ">>", "<<", "|", "or", "and"))
_COMPARES = frozenset(("<", ">", "<=", ">=", "==", "!="))
_METHODS = frozenset(("__hash__", "__eq__", "__repr__", "__str__"))
_DEPTH = 6


@record(frozen=True, slots=True)
class Use:
    """A use. `kind`: "part" (a remainder decides what an item belongs to), "file" (it names one), "array", "order"."""

    node: s.Node
    kind: str


class Hashes:
    """Answers about the hashes and addresses of one file."""

    def __init__(self, module: Module) -> None:
        kinds = {row.text("kind"): row for row in module.catalogue.rows("order", "hashed")}
        self.module = module
        self.loops = Loops(module)
        self.parts = Parts(module, Live())
        self._arrays = module.catalogue.names("order", "use", kind="array")
        self._writes = module.catalogue.names("order", "use", kind="writes")
        self._files = frozenset(kinds["file"].list("names"))
        self._file_methods = frozenset(kinds["file"].list("methods"))
        self._numbers = module.python("functions", "number-of-number")
        self._texts = module.python("functions", "text-of-number")

    def found(self) -> Iterator[tuple[s.Expression, s.Expression | None]]:
        """Yield each use of `hash` or `id`, with what is hashed (None: it is an address)."""
        for call in self.module.calls_like(_SOURCES, keywords=("key",)):
            names = self.module.callee(call)
            if names and names <= _SOURCES and len(call.arguments) == 1:
                function = self.module.function_of(call)
                if function is None or function.name not in _METHODS:
                    yield call, call.arguments[0].value if names == {"builtins.hash"} else None
            for argument in call.arguments:
                if argument.keyword == "key" and self.module.names(argument.value) & _SOURCES:
                    yield argument.value, None

    def uses(self, node: s.Expression) -> list[Use]:
        """Return the uses of the number that decide a result."""
        if isinstance(node.parent, s.Argument) and node.parent.keyword == "key":
            return [Use(node, "order")]
        return list(self._uses(node, False, False, _DEPTH))

    def _uses(self, node: s.Expression, rest: bool, text: bool, depth: int) -> Iterator[Use]:
        """Yield uses; `rest` says that the number is a remainder of a division, `text` that it is part of a string."""
        parent = node.parent
        if depth == 0:
            return
        if isinstance(parent, s.Operation):
            yield from self._operation(node, parent, rest, text, depth)
        elif isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            yield from self._argument(parent, parent.parent, rest, text, depth)
        elif isinstance(parent, s.Attribute) and isinstance(parent.parent, s.Call) and text:
            yield from self._uses(parent.parent, rest, text, depth - 1)
        elif isinstance(parent, s.Leave) and self._ranks(parent):
            yield Use(node, "order")
        elif isinstance(parent, s.Subscript) and node is not parent.value:
            if rest:
                yield Use(parent, "part")
        elif isinstance(parent, s.Conditional) or (isinstance(parent, s.Subscript) and text):
            yield from self._uses(parent, rest, text, depth - 1)
        else:
            if isinstance(parent, s.Leave) and parent.kind == "return" and rest and not text:
                yield Use(parent, "part")
            elif isinstance(parent, (s.Collection, s.Comprehension)) and not text:
                yield from self._uses(parent, rest, text, depth - 1)
            yield from self._onward(node, rest, text, depth)

    def _ranks(self, leave: s.Leave) -> bool:
        """Return whether what a lambda returns is the key by which items are sorted."""
        function = self.module.function_of(leave)
        given = function.parent.parent if function is not None and isinstance(function.parent, s.Lambda) else None
        return isinstance(given, s.Argument) and given.keyword == "key"

    def _onward(self, node: s.Expression, rest: bool, text: bool, depth: int) -> Iterator[Use]:
        """Yield the uses of the number where it is read again."""
        if isinstance(node.parent, s.Assign) and any("seed" in _word(target) for target in node.parent.targets):
            return
        for part in self.parts.onward(node):
            if not isinstance(part, Out):
                yield from self._uses(part, rest, text, depth - 1)
                continue
            call = part.node.parent  # a call that is given a container of the number
            if isinstance(call, s.Call) and not text and self.module.callee(call) & self._arrays:
                yield Use(call, "part" if rest else "array")

    def _operation(self, node: s.Expression, parent: s.Operation, rest: bool, text: bool, depth: int) -> Iterator[Use]:
        if parent.operator == "f-string":
            yield from self._uses(parent, rest, True, depth - 1)
        elif parent.operator in ("%", "&") and node is parent.operands[0] and not text:
            yield from self._uses(parent, True, text, depth - 1)
        elif parent.operator in _COMPARES:
            if rest:
                yield Use(parent, "part")
        elif parent.operator == "/" and text:
            yield Use(parent, "file")
        elif parent.operator in _ARITHMETIC or parent.operator in ("/", "%"):
            yield from self._uses(parent, rest, text, depth - 1)

    def _argument(self, argument: s.Argument, call: s.Call, rest: bool, text: bool, depth: int) -> Iterator[Use]:
        names = self.module.callee(call)
        method = call.function.attribute if isinstance(call.function, s.Attribute) else ""
        if is_message(self.module, call) or "seed" in (argument.keyword or method):
            return
        if names and names <= self._numbers | self._texts:
            yield from self._uses(call, rest, text or names <= self._texts, depth - 1)
        elif text and (names & self._files or method in self._file_methods):
            yield Use(call, "file")
        elif text and method == "format":
            yield from self._uses(call, rest, text, depth - 1)
        elif names & self._arrays and not text:
            yield Use(call, "part" if rest else "array")
        elif not text:
            yield from self._onward(argument.value, rest, text, depth)


def _word(target: s.Expression) -> str:
    """Return the last word of an assignment target."""
    return target.attribute if isinstance(target, s.Attribute) else getattr(target, "id", "")


def checksum(module: Module, call: s.Call) -> Fix | None:
    """Return a fix that replaces the hash of a value by a checksum, which is the same in each run, or None for `id`."""
    value = call.arguments[0].value
    if module.callee(call) != {"builtins.hash"}:
        return None
    kind = Elements(module).one(value)
    data = {Kind.TEXT: "{value}.encode()", Kind.BYTES: "{value}"}.get(kind, "str({value}).encode()")
    change = edits.replaced(module, call, edits.new(f"zlib.crc32({data})", value=value))
    safety = Safety.SAFE if kind in (Kind.TEXT, Kind.BYTES) else Safety.UNSAFE
    return edits.fix("Take a checksum", change, safety=safety, imports=(Import(module.path, "zlib"),))
