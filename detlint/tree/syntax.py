"""The syntax that rules read: a small tree of a file, without tokens of mere layout. `reading` builds it."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from detlint.support.records import record
from detlint.tree.nodes import Block as Block
from detlint.tree.nodes import Enclosing, present
from detlint.tree.nodes import Expression as Expression
from detlint.tree.nodes import Node as Node
from detlint.tree.nodes import Statement as Statement
from detlint.tree.nodes import walk as walk

if TYPE_CHECKING:
    from detlint.tree.scopes import Scope


@record(slots=True, eq=False)
class Name(Expression):
    """A name; `stored` is true where it is bound rather than read."""

    id: str
    scope: Scope
    stored: bool = False


@record(slots=True, eq=False)
class Attribute(Expression):
    """`value.attribute`."""

    value: Expression
    attribute: str
    stored: bool = False

    def below(self) -> list[Node]:
        return [self.value]


@record(slots=True, eq=False)
class Constant(Expression):
    """A literal: `None`, a bool, a number, a string, bytes or `...`."""

    value: object


@record(slots=True, eq=False)
class Argument(Node):
    """One argument of a call. `star` is "", "*" or "**"."""

    value: Expression
    keyword: str | None = None
    star: str = ""

    def below(self) -> list[Node]:
        return [self.value]


@record(slots=True, eq=False)
class Call(Expression):
    """`function(arguments)`."""

    function: Expression
    arguments: list[Argument]

    def below(self) -> list[Node]:
        return [self.function, *self.arguments]


@record(slots=True, eq=False)
class Subscript(Expression):
    """`value[indices]`."""

    value: Expression
    indices: list[Expression]
    stored: bool = False

    def below(self) -> list[Node]:
        return [self.value, *self.indices]


@record(slots=True, eq=False)
class Slice(Expression):
    """`lower:upper:step` in a subscript."""

    lower: Expression | None
    upper: Expression | None
    step: Expression | None

    def below(self) -> list[Node]:
        return present(self.lower, self.upper, self.step)


@record(slots=True, eq=False)
class Collection(Expression):
    """A tuple, list or set display; `kind` is the name of its type, `rest` the index of a starred target."""

    kind: str
    elements: list[Expression]
    rest: int | None = None

    def below(self) -> list[Node]:
        return [*self.elements]


@record(slots=True, eq=False)
class Dictionary(Expression):
    """A dict display. A key of None marks `**value`."""

    keys: list[Expression | None]
    values: list[Expression]

    def below(self) -> list[Node]:
        return [part for pair in zip(self.keys, self.values, strict=True) for part in pair if part is not None]


@record(slots=True, eq=False)
class Operation(Expression):
    """Operands joined by an operator: "+", "and", "yield from" ...; `rest` are a comparison chain's other operators."""

    operator: str
    operands: list[Expression]
    rest: tuple[str, ...] = ()

    def below(self) -> list[Node]:
        return [*self.operands]


@record(slots=True, eq=False)
class Conditional(Expression):
    """`body if test else orelse`."""

    test: Expression
    body: Expression
    orelse: Expression

    def below(self) -> list[Node]:
        return [self.test, self.body, self.orelse]


@record(slots=True, eq=False)
class NamedExpression(Expression):
    """`target := value`."""

    target: Expression
    value: Expression

    def below(self) -> list[Node]:
        return [self.value, self.target]


@record(slots=True, eq=False)
class Starred(Expression):
    """`*value` in a display."""

    value: Expression

    def below(self) -> list[Node]:
        return [self.value]


@record(slots=True, eq=False)
class Clause(Node):
    """`for target in iterator if test ...` of a comprehension."""

    target: Expression
    iterator: Expression
    tests: list[Expression]

    def below(self) -> list[Node]:
        return [self.iterator, self.target, *self.tests]


@record(slots=True, eq=False)
class Comprehension(Expression):
    """A comprehension; `kind` is "list", "set", "dict" or "generator". The elements of a dict are its key and value."""

    kind: str
    clauses: list[Clause]
    elements: list[Expression]

    def below(self) -> list[Node]:
        return [*self.clauses, *self.elements]


@record(slots=True, eq=False)
class Lambda(Expression):
    """A lambda, whose parameters and body are those of `function`."""

    function: Function

    def below(self) -> list[Node]:
        return [self.function]


@record(slots=True, eq=False)
class ExpressionStatement(Statement):
    """An expression by itself."""

    value: Expression

    def below(self) -> list[Node]:
        return [self.value]


@record(slots=True, eq=False)
class Assign(Statement):
    """`targets operator value`; `operator` is "=" or an augmented one such as "+="."""

    targets: list[Expression]
    value: Expression | None
    operator: str = "="
    annotation: Expression | None = None

    def below(self) -> list[Node]:
        return present(self.value, *self.targets)


@record(slots=True, eq=False)
class Leave(Statement):
    """A statement that leaves a block; `kind` is "return", "raise", "break" or "continue"."""

    kind: str
    values: list[Expression]

    def below(self) -> list[Node]:
        return [*self.values]


@record(slots=True, eq=False)
class Import(Statement):
    """`from module import name as alias, ...` with `level` leading dots; `module` is None in `import name as alias`."""

    module: str | None
    level: int
    names: list[tuple[str, str | None]]


@record(slots=True, eq=False)
class Other(Statement):
    """`del`, `assert`, `global` and the other statements; `kind` is the keyword."""

    kind: str
    values: list[Expression]

    def below(self) -> list[Node]:
        return [*self.values]


@record(slots=True, eq=False)
class If(Statement):
    """`if test: body else: orelse`; an `elif` is an `If` alone in `orelse`."""

    test: Expression
    body: Block
    orelse: Block | None

    def below(self) -> list[Node]:
        return present(self.test, self.body, self.orelse)


@record(slots=True, eq=False)
class For(Statement):
    """`for target in iterator: body else: orelse`."""

    target: Expression
    iterator: Expression
    body: Block
    orelse: Block | None

    def below(self) -> list[Node]:
        return present(self.iterator, self.target, self.body, self.orelse)


@record(slots=True, eq=False)
class While(Statement):
    """`while test: body else: orelse`."""

    test: Expression
    body: Block
    orelse: Block | None

    def below(self) -> list[Node]:
        return present(self.test, self.body, self.orelse)


@record(slots=True, eq=False)
class WithItem(Node):
    """`value as target` of a `with`."""

    value: Expression
    target: Expression | None

    def below(self) -> list[Node]:
        return present(self.value, self.target)


@record(slots=True, eq=False)
class With(Statement):
    """`with items: body`."""

    items: list[WithItem]
    body: Block

    def below(self) -> list[Node]:
        return [*self.items, self.body]


@record(slots=True, eq=False)
class Try(Statement):
    """`try: body`, the bodies of its `except` clauses, `else: orelse`, `finally: final`."""

    body: Block
    handlers: list[Block]
    orelse: Block | None
    final: Block | None

    def below(self) -> list[Node]:
        return present(self.body, *self.handlers, self.orelse, self.final)


@record(slots=True, eq=False)
class Match(Statement):
    """A `match`; `exhaustive` is true if the last case matches everything that is left.

    `patterns` has one entry for each case: a list of alternatives, each an operator ("isinstance" for a class) and what
    the subject is compared with. The list is empty if the case matches everything that is left. The entry is None for a
    pattern or a guard that tests anything else.
    """

    subject: Expression
    cases: list[Block]
    exhaustive: bool = False
    patterns: list[list[tuple[str, Expression]] | None] = field(default_factory=list)

    def below(self) -> list[Node]:
        pairs = zip(self.patterns, self.cases, strict=True)
        return [self.subject, *(node for p, case in pairs for node in (*(each for _, each in p or ()), case))]


@record(slots=True, eq=False)
class Parameter(Node):
    """A parameter; `star` is "", "*" or "**"; `default` and `annotation` belong to the scope around the function."""

    name: str
    default: Expression | None
    annotation: Expression | None
    star: str = ""
    keyword_only: bool = False

    def below(self) -> list[Node]:
        return present(self.default)


@record(slots=True, eq=False)
class Function(Enclosing):
    """A `def`, or a lambda (named "<lambda>", with a single return as its body)."""

    name: str
    parameters: list[Parameter]
    decorators: list[Expression]
    returns: Expression | None
    body: Block
    scope: Scope

    def below(self) -> list[Node]:
        return [*self.decorators, *self.parameters, self.body]


@record(slots=True, eq=False)
class Class(Enclosing):
    """A `class`; `arguments` are its bases and keyword arguments."""

    name: str
    arguments: list[Argument]
    decorators: list[Expression]
    body: Block
    scope: Scope

    def below(self) -> list[Node]:
        return [*self.decorators, *self.arguments, self.body]


@record(slots=True, eq=False)
class File(Node):
    """A whole file: its body, its scope, and the modules that it star-imports (`import *`).

    `nodes` are all of its nodes, parents before children, except those of its `annotations`.
    """

    body: Block
    scope: Scope
    stars: list[str]
    nodes: list[Node] = field(default_factory=list, init=False, repr=False)
    annotations: list[Node] = field(default_factory=list, init=False, repr=False)

    def below(self) -> list[Node]:
        return [self.body]
