"""Expressions, statements, functions and files of the intermediate representation (IR).

It keeps what Python does, in order, with names resolved to scopes and nothing else: what a name of a library stands for
is for the interpreter to say. It holds no positions. What acts or makes an object has a number, `node`, counted within
its function, so that moved lines and edits elsewhere change nothing here; `detlint.ir.places` has the lines.
"""

from __future__ import annotations

from itertools import count
from typing import Literal

from msgspec import Struct

TOP = ""
"""The name of a file's top level among its functions."""
MAIN = "<main>"
"""The name of the body of `if __name__ == "__main__":` among the functions of a file."""
COMMAND = "<command>"  # begins the names of functions that console scripts run: import the file, call what it has

ConstantKind = Literal["None", "True", "False", "int", "float", "str", "bytes", "..."]
Star = Literal["", "*", "**"]
Leaving = Literal["return", "raise", "break", "continue"]


_NUMBERS = count()


class _Node(Struct, frozen=True, tag=lambda _: next(_NUMBERS), gc=False, array_like=True, omit_defaults=True):
    """What all nodes share: they never change, and are packed as arrays that begin with the number of their kind."""


class Constant(_Node, frozen=True, cache_hash=True):
    """A literal. `value` is a text as it is, a number as its repr: True, 1 and 1.0 are three constants."""

    kind: ConstantKind
    value: str = ""


class Local(_Node, frozen=True):
    """A variable of the function, or of the class body, that is being run."""

    name: str


class Captured(_Node, frozen=True):
    """A variable of a function around this one: `owner` is that function's qualified name."""

    name: str
    owner: str


class Global(_Node, frozen=True):
    """A variable of the module, or a builtin."""

    name: str


class Attribute(_Node, frozen=True):
    """`value.name`."""

    value: Expression
    name: str
    node: int


class Slice(_Node, frozen=True):
    """`lower:upper:step` in a subscript."""

    lower: Expression | None = None
    upper: Expression | None = None
    step: Expression | None = None


class Subscript(_Node, frozen=True):
    """`value[key]`; several keys are a tuple display."""

    value: Expression
    key: Expression
    node: int


class Argument(_Node, frozen=True):
    """An argument of a call, by position without a `keyword`."""

    value: Expression
    keyword: str = ""
    star: Star = ""


class Call(_Node, frozen=True):
    """`function(arguments)`."""

    function: Expression
    arguments: tuple[Argument, ...]
    node: int


class Starred(_Node, frozen=True):
    """`*value` in a display or a target."""

    value: Expression


class Display(_Node, frozen=True):
    """A tuple, list or set display; as a target, what is unpacked into."""

    kind: Literal["tuple", "list", "set"]
    elements: tuple[Expression, ...]
    node: int


class Mapping(_Node, frozen=True):
    """A dict display; a key of None marks `**value`."""

    entries: tuple[tuple[Expression | None, Expression], ...]
    node: int


class Operation(_Node, frozen=True):
    """Operands joined by an operator such as "+", "and", "not", "await" or "f-string"; an augmented one ends in "="."""

    operator: str
    operands: tuple[Expression, ...]
    node: int


class Compare(_Node, frozen=True):
    """A comparison, or a chain: the operator between each two operands."""

    operators: tuple[str, ...]
    operands: tuple[Expression, ...]
    node: int


class Conditional(_Node, frozen=True):
    """`body if test else orelse`."""

    test: Expression
    body: Expression
    orelse: Expression


class Clause(_Node, frozen=True):
    """`for target in iterator if tests` of a comprehension."""

    target: Expression
    iterator: Expression
    tests: tuple[Expression, ...]


class Comprehension(_Node, frozen=True):
    """A comprehension; that of a dict has a `key`."""

    kind: Literal["list", "set", "dict", "generator"]
    clauses: tuple[Clause, ...]
    element: Expression
    node: int
    key: Expression | None = None


class Named(_Node, frozen=True):
    """`target := value`."""

    target: Expression
    value: Expression


class Lambda(_Node, frozen=True):
    """A lambda, by the qualified name of its function."""

    function: str
    node: int


class Yield(_Node, frozen=True):
    """`yield value`, or `yield from value` where it `delegates`."""

    value: Expression
    delegates: bool
    node: int


class Unread(_Node, frozen=True):
    """An expression of a kind that is not read: its value is not known."""


Expression = (
    Constant | Local | Captured | Global | Attribute | Slice | Subscript | Call | Starred | Display | Mapping
    | Operation | Compare | Conditional | Comprehension | Named | Lambda | Yield | Unread
)  # fmt: skip


class Do(_Node, frozen=True):
    """An expression by itself."""

    value: Expression


class Assign(_Node, frozen=True):
    """`targets = value`, or `targets operator value` with an augmented `operator` such as "+="."""

    targets: tuple[Expression, ...]
    value: Expression
    node: int
    operator: str = "="


class Annotated(_Node, frozen=True):
    """`target: annotation` without a value."""

    target: Expression


class Delete(_Node, frozen=True):
    """`del targets`."""

    targets: tuple[Expression, ...]


class Define(_Node, frozen=True):
    """A `def`, by the qualified name of its function; its defaults are evaluated here."""

    target: Expression
    function: str
    decorators: tuple[Expression, ...]
    node: int


class DefineClass(_Node, frozen=True):
    """A `class`; `arguments` are its bases and keywords."""

    target: Expression
    qualified: str
    arguments: tuple[Argument, ...]
    decorators: tuple[Expression, ...]
    body: Statements
    node: int


class ImportModule(_Node, frozen=True):
    """`import module as alias`; without an alias the first part of the module's name is bound."""

    module: str
    alias: str
    target: Expression
    node: int


class ImportNames(_Node, frozen=True):
    """`from module import name as target, ...`; `level` counts the leading dots, a name of "*" imports all."""

    module: str
    level: int
    names: tuple[tuple[str, Expression | None], ...]
    node: int


class If(_Node, frozen=True):
    """`if test: body else: orelse`."""

    test: Expression
    body: Statements
    orelse: Statements


class For(_Node, frozen=True):
    """`for target in iterator: body else: orelse`."""

    target: Expression
    iterator: Expression
    body: Statements
    orelse: Statements
    node: int


class While(_Node, frozen=True):
    """`while test: body else: orelse`."""

    test: Expression
    body: Statements
    orelse: Statements


class WithItem(_Node, frozen=True):
    """`value as target` of a `with`."""

    value: Expression
    target: Expression | None
    node: int


class With(_Node, frozen=True):
    """`with items: body`."""

    items: tuple[WithItem, ...]
    body: Statements


class Try(_Node, frozen=True):
    """`try`; `handlers` are the bodies of its `except` clauses."""

    body: Statements
    handlers: tuple[Statements, ...]
    orelse: Statements
    final: Statements


class Case(_Node, frozen=True):
    """A case of a `match`: alternatives, each an operator and what the subject is compared with.

    None for what matches whatever is left, `asks` where a pattern or a guard asks for more than is said here.
    """

    patterns: tuple[tuple[str, Expression], ...]
    body: Statements
    asks: bool = False


class Match(_Node, frozen=True):
    """`match subject`; `exhaustive` where the last case matches whatever is left."""

    subject: Expression
    cases: tuple[Case, ...]
    exhaustive: bool


class Leave(_Node, frozen=True):
    """`return value`, `raise value`, `break` or `continue`."""

    kind: Leaving
    value: Expression | None = None


class Assert(_Node, frozen=True):
    """`assert test, message`."""

    operands: tuple[Expression, ...]


class Main(_Node, frozen=True):
    """`if __name__ == "__main__":`, whose body is the function `MAIN`."""

    orelse: Statements


Statement = (
    Do | Assign | Annotated | Delete | Define | DefineClass | ImportModule | ImportNames | If | For | While | With
    | Try | Match | Leave | Assert | Main
)  # fmt: skip
Statements = tuple[Statement, ...]


class Parameter(_Node, frozen=True):
    """A parameter of a function."""

    name: str
    default: Expression | None = None
    star: Star = ""
    keyword_only: bool = False


class Function(_Node, frozen=True):
    """A function: a `def`, a lambda, the top level or the `__main__` block.

    `klass` is the qualified name of the class whose body holds it, `owner` that of the function around it; `shared` are
    its variables that functions within it use, `caught` those that an `except` or a pattern binds, `tested` its
    parameters that its tests speak of.
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


class Class(_Node, frozen=True):
    """What a class body binds, how many bases it has, and what its methods store on their first parameter.

    `fields` are the annotated attributes, which a constructor takes that is generated; `assigned` are those that the
    body gives a value, in order, with the constants that some are; `metaclass` tells whether it names one.
    """

    qualified: str
    binds: tuple[str, ...]
    stores: tuple[str, ...]
    bases: int = 0
    fields: tuple[str, ...] = ()
    assigned: tuple[tuple[str, Constant | None], ...] = ()
    metaclass: bool = False


class Counts(_Node, frozen=True):
    """How often the text of a file calls a name, uses it as a value and decorates with it; the attributes it stores.

    `spelled` are the names that its texts spell, as those of options are, and the keywords of calls; `counting` the
    variables and attributes that are assigned anew from what they were; `imports` what it may import, at its top level
    or in a function: modules and names in them, each with its leading dots counted; `assigned` how often variables, and
    attributes after a dot, are given None or False, and how often something else.
    """

    called: dict[str, int]
    used: dict[str, int]
    decorating: dict[str, int]
    stored: tuple[str, ...]
    spelled: tuple[str, ...] = ()
    counting: tuple[str, ...] = ()
    imports: tuple[tuple[int, str], ...] = ()
    assigned: dict[str, tuple[int, int]] = {}


class File(_Node, frozen=True):
    """One file: its functions and classes by qualified name, and the names that its top level binds.

    `stars` are the modules all of which it imports, each with its leading dots counted.
    """

    path: str
    functions: dict[str, Function]
    classes: dict[str, Class]
    binds: tuple[str, ...]
    counts: Counts
    stars: tuple[tuple[int, str], ...] = ()
