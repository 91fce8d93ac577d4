"""Expressions, statements, functions and files of the intermediate representation (IR).

It keeps what Python does, in order, with names resolved to scopes: the interpreter says what a name of a library is. It
holds no positions; `detlint.ir.places` does. What acts or makes an object has a `node`, counted within its function.
"""

from __future__ import annotations

from typing import Literal

from detlint.ir.counts import Counts, IrNode

TOP = ""  # the name of a file's top level among its functions
MAIN = "<main>"  # and that of the body of `if __name__ == "__main__":`
COMMAND = "<command>"  # begins the names of functions that console scripts run: import the file, call what it has

ConstantKind = Literal["None", "True", "False", "int", "float", "str", "bytes", "..."]
Star = Literal["", "*", "**"]
Leaving = Literal["return", "raise", "break", "continue"]


class Constant(IrNode, frozen=True, cache_hash=True):
    """A literal. `value` is a text as it is, a number as its repr: True, 1 and 1.0 are three constants."""

    kind: ConstantKind
    value: str = ""


class Local(IrNode, frozen=True):
    """A variable of the function, or of the class body, that is being run."""

    name: str


class Captured(IrNode, frozen=True):
    """A variable of a function around this one: `owner` is that function's qualified name."""

    name: str
    owner: str


class Global(IrNode, frozen=True):
    """A variable of the module, or a builtin."""

    name: str


class Attribute(IrNode, frozen=True):
    """`value.name`."""

    value: Expression
    name: str
    node: int


class Slice(IrNode, frozen=True):
    """`lower:upper:step` in a subscript."""

    lower: Expression | None = None
    upper: Expression | None = None
    step: Expression | None = None


class Subscript(IrNode, frozen=True):
    """`value[key]`; several keys are a tuple display."""

    value: Expression
    key: Expression
    node: int


class Argument(IrNode, frozen=True):
    """An argument of a call, by position without a `keyword`."""

    value: Expression
    keyword: str = ""
    star: Star = ""


class Call(IrNode, frozen=True):
    """`function(arguments)`."""

    function: Expression
    arguments: tuple[Argument, ...]
    node: int


class Starred(IrNode, frozen=True):
    """`*value` in a display or a target."""

    value: Expression


class Display(IrNode, frozen=True):
    """A tuple, list or set display; as a target, what is unpacked into."""

    kind: Literal["tuple", "list", "set"]
    elements: tuple[Expression, ...]
    node: int


class Mapping(IrNode, frozen=True):
    """A dict display; a key of None marks `**value`."""

    entries: tuple[tuple[Expression | None, Expression], ...]
    node: int


class Operation(IrNode, frozen=True):
    """Operands joined by an operator such as "+", "and", "not", "await" or "f-string"; an augmented one ends in "="."""

    operator: str
    operands: tuple[Expression, ...]
    node: int


class Compare(IrNode, frozen=True):
    """A comparison, or a chain: the operator between each two operands."""

    operators: tuple[str, ...]
    operands: tuple[Expression, ...]
    node: int


class Conditional(IrNode, frozen=True):
    """`body if test else orelse`."""

    test: Expression
    body: Expression
    orelse: Expression


class Clause(IrNode, frozen=True):
    """`for target in iterator if tests` of a comprehension; its number is that of what it goes over."""

    target: Expression
    iterator: Expression
    tests: tuple[Expression, ...]
    node: int


class Comprehension(IrNode, frozen=True):
    """A comprehension; that of a dict has a `key`."""

    kind: Literal["list", "set", "dict", "generator"]
    clauses: tuple[Clause, ...]
    element: Expression
    node: int
    key: Expression | None = None


class Named(IrNode, frozen=True):
    """`target := value`."""

    target: Expression
    value: Expression


class Lambda(IrNode, frozen=True):
    """A lambda, by the qualified name of its function."""

    function: str
    node: int


class Yield(IrNode, frozen=True):
    """`yield value`, or `yield from value` where it `delegates`."""

    value: Expression
    delegates: bool
    node: int


class Unread(IrNode, frozen=True):
    """An expression of a kind that is not read: its value is not known."""


Expression = (
    Constant | Local | Captured | Global | Attribute | Slice | Subscript | Call | Starred | Display | Mapping
    | Operation | Compare | Conditional | Comprehension | Named | Lambda | Yield | Unread
)  # fmt: skip


class Do(IrNode, frozen=True):
    """An expression by itself."""

    value: Expression


class Assign(IrNode, frozen=True):
    """`targets = value`, or `targets operator value` with an augmented `operator` such as "+="."""

    targets: tuple[Expression, ...]
    value: Expression
    node: int
    operator: str = "="


class Annotated(IrNode, frozen=True):
    """`target: annotation` without a value."""

    target: Expression


class Delete(IrNode, frozen=True):
    """`del targets`."""

    targets: tuple[Expression, ...]


class Define(IrNode, frozen=True):
    """A `def`, by the qualified name of its function; its defaults are evaluated here."""

    target: Expression
    function: str
    decorators: tuple[Expression, ...]
    node: int


class DefineClass(IrNode, frozen=True):
    """A `class`; `arguments` are its bases and keywords."""

    target: Expression
    qualified: str
    arguments: tuple[Argument, ...]
    decorators: tuple[Expression, ...]
    body: Statements
    node: int


class ImportModule(IrNode, frozen=True):
    """`import module as alias`; without an alias the first part of the module's name is bound."""

    module: str
    alias: str
    target: Expression
    node: int


class ImportNames(IrNode, frozen=True):
    """`from module import name as target, ...`; `level` counts the leading dots, a name of "*" imports all."""

    module: str
    level: int
    names: tuple[tuple[str, Expression | None], ...]
    node: int


class If(IrNode, frozen=True):
    """`if test: body else: orelse`."""

    test: Expression
    body: Statements
    orelse: Statements


class For(IrNode, frozen=True):
    """`for target in iterator: body else: orelse`; its number is that of what it goes over."""

    target: Expression
    iterator: Expression
    body: Statements
    orelse: Statements
    node: int


class While(IrNode, frozen=True):
    """`while test: body else: orelse`."""

    test: Expression
    body: Statements
    orelse: Statements


class WithItem(IrNode, frozen=True):
    """`value as target` of a `with`."""

    value: Expression
    target: Expression | None
    node: int


class With(IrNode, frozen=True):
    """`with items: body`."""

    items: tuple[WithItem, ...]
    body: Statements


class Try(IrNode, frozen=True):
    """`try`; `handlers` are the bodies of its `except` clauses."""

    body: Statements
    handlers: tuple[Statements, ...]
    orelse: Statements
    final: Statements


class Case(IrNode, frozen=True):
    """A case of a `match`: alternatives, each an operator and what the subject is compared with.

    None for what matches whatever is left, `asks` where a pattern or a guard asks for more than is said here.
    """

    patterns: tuple[tuple[str, Expression], ...]
    body: Statements
    asks: bool = False


class Match(IrNode, frozen=True):
    """`match subject`; `exhaustive` where the last case matches whatever is left."""

    subject: Expression
    cases: tuple[Case, ...]
    exhaustive: bool


class Leave(IrNode, frozen=True):
    """`return value`, `raise value`, `break` or `continue`."""

    kind: Leaving
    value: Expression | None = None


class Assert(IrNode, frozen=True):
    """`assert test, message`."""

    operands: tuple[Expression, ...]


class Main(IrNode, frozen=True):
    """`if __name__ == "__main__":`, whose body is the function `MAIN`."""

    orelse: Statements


Statement = (
    Do | Assign | Annotated | Delete | Define | DefineClass | ImportModule | ImportNames | If | For | While | With
    | Try | Match | Leave | Assert | Main
)  # fmt: skip
Statements = tuple[Statement, ...]


class Parameter(IrNode, frozen=True):
    """A parameter; of one that is annotated the `kind` of text or bytes, or the dotted name of what may be a class."""

    name: str
    default: Expression | None = None
    star: Star = ""
    keyword_only: bool = False
    kind: str = ""
    annotation: str = ""


class Function(IrNode, frozen=True):
    """A function: a `def`, a lambda, the top level or the `__main__` block.

    `klass` is the qualified name of the class whose body holds it, `owner` that of the function around it; `shared` are
    its variables that functions within it use, `caught` those that an `except` or a pattern binds, `tested` its
    parameters that tests and keys speak of, here or in functions within it.
    """

    name: str
    qualified: str
    parameters: tuple[Parameter, ...]
    body: Statements
    klass: str = ""
    owner: str = ""
    shared: tuple[str, ...] = ()
    caught: tuple[str, ...] = ()
    yields: bool = False
    tested: tuple[str, ...] = ()


class Class(IrNode, frozen=True):
    """What a class body binds, how many bases it has, and what its methods store on their first parameter.

    `fields` are the annotated attributes, which a constructor takes that is generated; `assigned` those that the body
    gives a value, in order, with the constants that some are; `metaclass` tells of one, `opens` of computed names.
    """

    qualified: str
    binds: tuple[str, ...]
    stores: tuple[str, ...]
    bases: int = 0
    fields: tuple[str, ...] = ()
    assigned: tuple[tuple[str, Constant | None], ...] = ()
    metaclass: bool = False
    opens: bool = False


class File(IrNode, frozen=True):
    """One file. `stars` are the modules all of which it imports, each with its leading dots counted."""

    path: str
    functions: dict[str, Function]
    classes: dict[str, Class]
    binds: tuple[str, ...]
    counts: Counts
    stars: tuple[tuple[int, str], ...] = ()
