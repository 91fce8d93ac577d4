"""The syntax that rules read: a small tree that `tree.lower` builds from libcst, without what only lays code out.

Every node knows its parent, its place in evaluation order and the libcst node it came from (`origin`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from detlint.scopes import Scope


@dataclass(slots=True, eq=False)
class Node:
    """A piece of syntax. `order` grows in evaluation order within a file: operands before their operation."""

    children: ClassVar[tuple[str, ...]] = ()
    parent: Node | None = field(default=None, init=False, repr=False)
    order: int = field(default=-1, init=False, repr=False)
    origin: object = field(default=None, init=False, repr=False)

    def __iter__(self) -> Iterator[Node]:
        """The direct children, in evaluation order."""
        for name in self.children:
            value = getattr(self, name)
            if isinstance(value, Node):
                yield value
            elif isinstance(value, list):
                yield from value

    def ancestors(self) -> Iterator[Node]:
        """The nodes around this one, innermost first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class Expression(Node):
    """What has a value."""

    __slots__ = ()


class Statement(Node):
    """What is done, in a block."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Block(Node):
    """A run of statements: the body of a file, a function, a branch, a loop."""

    children = ("statements",)
    statements: list[Statement]


# Expressions


@dataclass(slots=True, eq=False)
class Name(Expression):
    """A name; `stored` where it is bound rather than read."""

    id: str
    scope: Scope
    stored: bool = False


@dataclass(slots=True, eq=False)
class Attribute(Expression):
    """`value.attribute`."""

    children = ("value",)
    value: Expression
    attribute: str
    stored: bool = False


@dataclass(slots=True, eq=False)
class Constant(Expression):
    """A literal: `None`, a bool, a number, a string, bytes or `...`."""

    value: object


@dataclass(slots=True, eq=False)
class Argument(Node):
    """One argument of a call. `star` is "", "*" or "**"."""

    children = ("value",)
    value: Expression
    keyword: str | None = None
    star: str = ""


@dataclass(slots=True, eq=False)
class Call(Expression):
    """`function(arguments)`."""

    children = ("function", "arguments")
    function: Expression
    arguments: list[Argument]


@dataclass(slots=True, eq=False)
class Subscript(Expression):
    """`value[indices]`."""

    children = ("value", "indices")
    value: Expression
    indices: list[Expression]
    stored: bool = False


@dataclass(slots=True, eq=False)
class Slice(Expression):
    """`lower:upper:step` in a subscript."""

    children = ("lower", "upper", "step")
    lower: Expression | None
    upper: Expression | None
    step: Expression | None


@dataclass(slots=True, eq=False)
class Collection(Expression):
    """A tuple, list or set display; `kind` is the name of its type."""

    children = ("elements",)
    kind: str
    elements: list[Expression]


@dataclass(slots=True, eq=False)
class Dictionary(Expression):
    """A dict display. A key of None marks `**value`."""

    children = ("values",)
    keys: list[Expression | None]
    values: list[Expression]

    def __iter__(self) -> Iterator[Node]:
        for key, value in zip(self.keys, self.values, strict=True):
            if key is not None:
                yield key
            yield value


@dataclass(slots=True, eq=False)
class Operation(Expression):
    """Operands joined by an operator: "+", "and", "not", "<", "in", "await", "yield", "f-string" ..."""

    children = ("operands",)
    operator: str
    operands: list[Expression]


@dataclass(slots=True, eq=False)
class Conditional(Expression):
    """`body if test else orelse`."""

    children = ("test", "body", "orelse")
    test: Expression
    body: Expression
    orelse: Expression


@dataclass(slots=True, eq=False)
class NamedExpression(Expression):
    """`target := value`."""

    children = ("value", "target")
    target: Expression
    value: Expression


@dataclass(slots=True, eq=False)
class Starred(Expression):
    """`*value` in a display."""

    children = ("value",)
    value: Expression


@dataclass(slots=True, eq=False)
class Clause(Node):
    """`for target in iterator if test ...` of a comprehension."""

    children = ("iterator", "target", "tests")
    target: Expression
    iterator: Expression
    tests: list[Expression]


@dataclass(slots=True, eq=False)
class Comprehension(Expression):
    """`kind` is "list", "set", "dict" or "generator"; a dict's elements are its key and its value."""

    children = ("clauses", "elements")
    kind: str
    clauses: list[Clause]
    elements: list[Expression]


@dataclass(slots=True, eq=False)
class Lambda(Expression):
    """A lambda, whose parameters and body its function holds."""

    children = ("function",)
    function: Function


# Statements


@dataclass(slots=True, eq=False)
class ExpressionStatement(Statement):
    """An expression by itself."""

    children = ("value",)
    value: Expression


@dataclass(slots=True, eq=False)
class Assign(Statement):
    """`targets operator value`; `operator` is "=" or an augmented one such as "+="."""

    children = ("value", "targets")
    targets: list[Expression]
    value: Expression | None
    operator: str = "="
    annotation: Expression | None = None


@dataclass(slots=True, eq=False)
class Leave(Statement):
    """`kind` is "return", "raise", "break" or "continue"."""

    children = ("values",)
    kind: str
    values: list[Expression]


@dataclass(slots=True, eq=False)
class Import(Statement):
    """`from module import name as alias, ...` with `level` leading dots; `module` is None in `import name as alias`."""

    module: str | None
    level: int
    names: list[tuple[str, str | None]]


@dataclass(slots=True, eq=False)
class Other(Statement):
    """`del`, `assert`, `global` and the rest: `kind` is the keyword."""

    children = ("values",)
    kind: str
    values: list[Expression]


@dataclass(slots=True, eq=False)
class If(Statement):
    """`if test: body else: orelse`; an `elif` is an `If` alone in `orelse`."""

    children = ("test", "body", "orelse")
    test: Expression
    body: Block
    orelse: Block | None


@dataclass(slots=True, eq=False)
class For(Statement):
    """`for target in iterator: body else: orelse`."""

    children = ("iterator", "target", "body", "orelse")
    target: Expression
    iterator: Expression
    body: Block
    orelse: Block | None


@dataclass(slots=True, eq=False)
class While(Statement):
    """`while test: body else: orelse`."""

    children = ("test", "body", "orelse")
    test: Expression
    body: Block
    orelse: Block | None


@dataclass(slots=True, eq=False)
class WithItem(Node):
    """`value as target` of a `with`."""

    children = ("value", "target")
    value: Expression
    target: Expression | None


@dataclass(slots=True, eq=False)
class With(Statement):
    """`with items: body`."""

    children = ("items", "body")
    items: list[WithItem]
    body: Block


@dataclass(slots=True, eq=False)
class Try(Statement):
    """`try: body`, the bodies of its `except` clauses, `else: orelse`, `finally: final`."""

    children = ("body", "handlers", "orelse", "final")
    body: Block
    handlers: list[Block]
    orelse: Block | None
    final: Block | None


@dataclass(slots=True, eq=False)
class Match(Statement):
    """`exhaustive` where the last case matches whatever is left."""

    children = ("subject", "cases")
    subject: Expression
    cases: list[Block]
    exhaustive: bool = False


@dataclass(slots=True, eq=False)
class Parameter(Node):
    """`star` is "", "*" or "**"; `default` and `annotation` belong to the scope around the function."""

    children = ("default",)
    name: str
    default: Expression | None
    annotation: Expression | None
    star: str = ""
    keyword_only: bool = False


@dataclass(slots=True, eq=False)
class Function(Statement):
    """A `def`, or a lambda (named "<lambda>", its body one return)."""

    children = ("decorators", "parameters", "body")
    name: str
    parameters: list[Parameter]
    decorators: list[Expression]
    returns: Expression | None
    body: Block
    scope: Scope


@dataclass(slots=True, eq=False)
class Class(Statement):
    """A `class`; `arguments` are its bases and keywords."""

    children = ("decorators", "arguments", "body")
    name: str
    arguments: list[Argument]
    decorators: list[Expression]
    body: Block
    scope: Scope


@dataclass(slots=True, eq=False)
class File(Node):
    """A whole file: its body, its scope, and the modules whose every name it imports (`import *`)."""

    children = ("body",)
    body: Block
    scope: Scope
    stars: list[str]


def walk(node: Node) -> Iterator[Node]:
    """`node` and all below it, in source order of statements; parents before children."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(list(current)) if current.children else ())


def is_main_guard(statement: Node) -> bool:
    """Whether a statement is `if __name__ == "__main__":`."""
    if not isinstance(statement, If) or not isinstance(statement.test, Operation):
        return False
    operands = statement.test.operands
    names = [o.id for o in operands if isinstance(o, Name)]
    texts = [o.value for o in operands if isinstance(o, Constant)]
    return statement.test.operator == "==" and names == ["__name__"] and texts == ["__main__"]
