"""The seed that a program offers at a place: an option, a parameter, a constant."""

from __future__ import annotations

import re

from detlint import syntax as s
from detlint.model import Module
from detlint.scopes import Scope, block_of

DEFAULT = "0"
LARGEST = 2**32 - 1  # NumPy takes no larger one

_NAME = re.compile(r"((random|rng|rand|manual|global|base|train|training|np|numpy|torch|my)_?)?seed", re.IGNORECASE)
_UNKNOWN = object()


def seed_at(module: Module, statement: s.Node) -> str | None:
    """The expression for the program's own seed right before a statement, None where it has none that is a number.

    For one that is None unless the user gives it, the expression has a default of its own.
    """
    function = module.function_of(statement)
    scope = module.file.scope if function is None else function.scope
    for name, constant in _candidates(module, scope, statement):
        if constant is None:
            return f"{DEFAULT} if {name} is None else {name}"
        if isinstance(constant, int) and not isinstance(constant, bool) and 0 <= constant <= LARGEST:
            return name
    return None


def _candidates(module: Module, scope: Scope, statement: s.Node) -> list[tuple[str, object]]:
    """Expressions that are named like a seed and can be read before a statement, with what they are by default."""
    found: list[tuple[str, object]] = []
    around: Scope | None = scope
    while around is not None:
        if around.kind in ("module", "function"):
            for name in around.bindings:
                if not _bound(around, name, statement, around is scope):
                    continue
                if _NAME.fullmatch(name):
                    found.append((name, _constant(module, around, name)))
                found += [(f"{name}.{field}", constant) for field, constant in _fields(module, around, name)]
        around = around.parent
    return found


def _bound(scope: Scope, name: str, statement: s.Node, own: bool) -> bool:
    """Whether a variable is certainly bound before a statement, in its own scope or in one around it."""
    bindings = [b for b in scope.bindings[name] if b.kind in ("assign", "parameter", "with")]
    around = {id(node) for node in statement.ancestors()}
    if own:
        return any(b.order < _first(statement) and id(block_of(b.node)) in around for b in bindings)
    return scope.kind == "module" and any(id(_home(b.node)) == id(_file(statement)) for b in bindings)


def _first(statement: s.Node) -> int:
    """The place of what a statement evaluates first."""
    return min(node.order for node in s.walk(statement))


def _home(node: s.Node) -> s.Node | None:
    """The file whose top level, or main block, holds a node without a condition."""
    block = block_of(node)
    while block is not None and isinstance(block.parent, s.If) and _is_main(block.parent):
        block = block_of(block.parent)
    return block.parent if block is not None else None


def _file(node: s.Node) -> s.Node:
    return list(node.ancestors())[-1]


def _is_main(node: s.If) -> bool:
    """Whether an `if` asks for the main program."""
    operands = node.test.operands if isinstance(node.test, s.Operation) else []
    return any(isinstance(o, s.Name) and o.id == "__name__" for o in operands)


def _constant(module: Module, scope: Scope, name: str) -> object:
    """What a variable is: the one constant that it is set to, or a parameter's default."""
    constants: list[object] = []
    for binding in scope.bindings[name]:
        node = binding.node
        value = node.default if isinstance(node, s.Parameter) else binding.value
        known = None if value is None or binding.path else module.constants(value)
        if known is None:
            return _UNKNOWN
        constants += known
    return constants[0] if len(set(map(repr, constants))) == 1 else _UNKNOWN


def _fields(module: Module, scope: Scope, name: str) -> list[tuple[str, object]]:
    """The options named like a seed of a variable that holds a command line's arguments."""
    for binding in scope.bindings[name]:
        value = binding.value
        if binding.path and binding.path != (0,):
            return []
        parsed = isinstance(value, s.Call) and _parses(value)
        if not parsed and not (isinstance(binding.node, s.Parameter) and _passed_on(module, name)):
            return []
    return _options(module)


def _parses(call: s.Call) -> bool:
    function = call.function
    return isinstance(function, s.Attribute) and function.attribute in ("parse_args", "parse_known_args")


def _passed_on(module: Module, name: str) -> bool:
    """Whether a parameter has the name of a variable that holds a command line's arguments elsewhere in the file."""
    assigned = (node for node in module.assignments if isinstance(node.value, s.Call) and _parses(node.value))
    return any(isinstance(t, s.Name) and t.id == name for node in assigned for t in node.targets)


def _is_subcommand(parser: s.Expression) -> bool:
    """Whether an expression makes the parser of one command of several: the others lack its options."""
    function = parser.function if isinstance(parser, s.Call) else None
    return isinstance(function, s.Attribute) and function.attribute == "add_parser"


def _options(module: Module) -> list[tuple[str, object]]:
    """The options of the file's command line that are named like a seed, with their defaults."""
    found: list[tuple[str, object]] = []
    for call in module.calls:
        if not isinstance(call.function, s.Attribute) or call.function.attribute != "add_argument":
            continue
        if any(_is_subcommand(parser) for parser in module.values(call.function.value) or ()):
            continue
        flags = [a.value.value for a in call.arguments if not a.keyword and isinstance(a.value, s.Constant)]
        given = {a.keyword: a.value for a in call.arguments if a.keyword}
        longest = next((flag for flag in flags if isinstance(flag, str) and flag.startswith("--")), "")
        named = given.get("dest")
        destination = named.value if isinstance(named, s.Constant) else longest[2:].replace("-", "_")
        kind = given.get("type")
        if not isinstance(destination, str) or not _NAME.fullmatch(destination) or "action" in given:
            continue
        if kind is None or module.names(kind) != {"builtins.int"}:
            continue
        default = given.get("default")
        constants = [None] if default is None else module.constants(default)
        if constants is not None and len(constants) == 1:
            found.append((destination, constants[0]))
    return found
