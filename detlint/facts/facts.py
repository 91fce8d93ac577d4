"""What one file tells the others: its functions, reduced to what may reach a generator, a switch or a data loader.

The statements keep the order in which a program runs them; the expressions record calls and their arguments. Pure data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from detlint.facts.resumed import Resuming
from detlint.facts.touches import Memory
from detlint.finding import Place
from detlint.programs.events import CAUGHT as CAUGHT
from detlint.programs.events import FUNCTION as FUNCTION
from detlint.programs.events import PROGRAM as PROGRAM
from detlint.questions import Flow
from detlint.support.records import record

ASKING: dict[str, tuple[str, ...]] = {
    "builtins.int": ("__int__", "__index__"), "builtins.float": ("__float__",), "builtins.bool": ("__bool__",),
    "builtins.str": ("__str__", "__repr__"), "builtins.print": ("__str__", "__repr__"), "builtins.repr": ("__repr__",),
    "builtins.len": ("__len__",), "builtins.abs": ("__abs__",),
}  # fmt: skip
"""Functions that call a method of their argument, and these methods: the first one that it has."""
KINSHIP = ("isinstance", "issubclass")
TOP = ""  # the name of a file's top level among its functions
BESIDE = "beside"  # the path of what is next to the file, seen from its folder
ARM, MADE, COUNTED = "arm", "made", "counted"
SLICE = "builtins.slice"  # the name of the key of a slice, whatever its bounds
REST, ALL = "rest", "*"  # the kind of a target that takes what remains; the name for all variables of a module


# Expressions


@record(frozen=True, slots=True)
class Local:
    """A variable of the function, or of one around it."""

    name: str


@record(frozen=True, slots=True)
class Global:
    """A variable of the module, or a builtin."""

    name: str


@record(frozen=True, slots=True)
class Library:
    """Something of torch, numpy or the standard library, by qualified name."""

    name: str


@record(frozen=True, slots=True)
class Literal:
    """A constant."""

    value: object


@record(frozen=True, slots=True)
class Member:
    """`value.name`; `library` is its qualified name if the file shows that the value is a library's object."""

    value: Expression
    name: str
    library: str = ""


@record(frozen=True, slots=True)
class Item:
    """`value[key]`; the key is None for a tuple."""

    value: Expression
    key: Expression | None


@record(frozen=True, slots=True)
class Argument:
    """An argument of a call. `star` is "", "*" or "**"."""

    value: Expression
    keyword: str | None = None
    star: str = ""


@record(frozen=True, slots=True)
class Call:
    """`function(arguments)`. What an `inert` one draws decides nothing, in an "example" only a shape, in a "seed" what
    others draw; a "salted" one takes the hash of a text. An `ARM` is no call: a program takes the branch at `place`.
    """

    function: Expression
    arguments: tuple[Argument, ...]
    place: Place
    order: int
    inert: str = ""


@record(frozen=True, slots=True)
class Display:
    """A tuple, list or set display."""

    kind: str
    elements: tuple[Expression, ...]
    order: int


@record(frozen=True, slots=True)
class Table:
    """A dict display; a key of None marks `**value`."""

    entries: tuple[tuple[Expression | None, Expression], ...]
    order: int


@record(frozen=True, slots=True)
class Conditional:
    """`body if test else orelse`."""

    test: Expression
    body: Expression
    orelse: Expression


@record(frozen=True, slots=True)
class Junction:
    """Operands joined by "and" or "or"; "not" has one."""

    operator: str
    operands: tuple[Expression, ...]


@record(frozen=True, slots=True)
class Compare:
    """`left operator right`, or `isinstance(left, right)` and `issubclass(left, right)`."""

    operator: str
    left: Expression
    right: Expression


@record(frozen=True, slots=True)
class Computed:
    """A value that is computed from the operands, not None.

    `operation` is an operator, such as "+" or "+=", or one of the functions in `ASKING`; "" if it is not known. `MADE`
    is what a library's function makes of the operands, the first of which stands for all that happens. `COUNTED` is the
    operand, or any number if the operand is a number, since it is counted up or down later.
    """

    operands: tuple[Expression, ...]
    operation: str = ""


@record(frozen=True, slots=True)
class Joined:
    """A string that is assembled from the operands."""

    operands: tuple[Expression, ...]


@record(frozen=True, slots=True)
class Each:
    """A comprehension: `element`, with a `key` for a dict, for the items of the iterators that pass the `tests`."""

    kind: str
    clauses: tuple[tuple[Expression, Expression], ...]
    element: Expression
    order: int
    key: Expression = None
    tests: tuple[Expression, ...] = ()


@record(frozen=True, slots=True)
class Named:
    """`target := value`."""

    target: Expression
    value: Expression


@record(frozen=True, slots=True)
class Closure:
    """A lambda, by the qualified name of its function."""

    function: str


@record(frozen=True, slots=True)
class Yield:
    """`yield value`."""

    value: Expression


Expression = (
    Local
    | Global
    | Library
    | Literal
    | Member
    | Item
    | Call
    | Display
    | Table
    | Conditional
    | Junction
    | Compare
    | Computed
    | Joined
    | Each
    | Named
    | Closure
    | Yield
    | None  # not known, and without effect
)


# Statements


@record(frozen=True, slots=True)
class Do:
    """An expression by itself."""

    value: Expression


@record(frozen=True, slots=True)
class Bind:
    """`target = ... = value`, for variables, members, items and displays; `place` is where a library's is set."""

    targets: tuple[Expression, ...]
    value: Expression
    place: Place | None = None


@record(frozen=True, slots=True)
class Define:
    """A `def`, by the qualified name of its function."""

    name: str
    function: str
    decorators: tuple[Expression, ...]


@record(frozen=True, slots=True)
class DefineClass:
    """A `class` statement; `fields` are annotated attributes, which a generated constructor takes.

    `keywords` are its metaclass and what it passes to the `__init_subclass__` of its bases.
    """

    name: str
    qualified: str
    bases: tuple[Expression, ...]
    body: Statements
    decorators: tuple[Expression, ...]
    fields: tuple[str, ...] = ()
    keywords: tuple[Argument, ...] = ()


@record(frozen=True, slots=True)
class Import:
    """`import module as name`, or `from module import ...` with pairs of a name and what it is bound to.

    `names` is None for the first kind; a name of "*" imports all. `level` counts the leading dots.
    """

    module: str
    level: int
    names: tuple[tuple[str, str], ...] | None
    alias: str | None
    order: int


@record(frozen=True, slots=True)
class Branch:
    """`if test: body else: orelse`."""

    test: Expression
    body: Statements
    orelse: Statements


@record(frozen=True, slots=True)
class Fork:
    """Arms of which exactly one runs, which is not known; it is the last one if there are `numbers`, and all of them
    are numbers or texts. With `handles`, the arms are for when the statement before fails.
    """

    arms: tuple[Statements, ...]
    numbers: tuple[Expression, ...] = ()
    handles: bool = False


@record(frozen=True, slots=True)
class Loop:
    """A body that runs any number of times; `place` is that of `iterator`, None for `while`; `counts` bound a range."""

    target: Expression
    iterator: Expression
    body: Statements
    place: Place | None = None
    counts: tuple[Expression, ...] | None = None


@record(frozen=True, slots=True)
class Scoped:
    """`with context as target: body`."""

    context: Expression
    target: Expression
    body: Statements


@record(frozen=True, slots=True)
class Leave:
    """`return value`, or a `raise`. `reach` says what ends there: CAUGHT if a `try` around it may go on."""

    value: Expression
    raises: bool = False
    reach: int = FUNCTION


Statement = Do | Bind | Define | DefineClass | Import | Branch | Fork | Loop | Scoped | Leave
Statements = tuple[Statement, ...]


def walk(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Yield statements and those within them, but not those of functions."""
    for statement in statements:
        yield statement
        if isinstance(statement, Branch):
            yield from walk((*statement.body, *statement.orelse))
        elif isinstance(statement, Fork):
            yield from walk([each for arm in statement.arms for each in arm])
        elif isinstance(statement, (Loop, Scoped, DefineClass)):
            yield from walk(statement.body)


@record(frozen=True, slots=True)
class Parameter:
    """A parameter of a function. `annotation` is kept if it may be a class."""

    name: str
    default: Expression
    has_default: bool
    star: str
    keyword_only: bool
    annotation: Expression


@record(frozen=True, slots=True)
class Function:
    """A function. `kind` is "method" for one in a class body, "static", "class" or "property" for these decorators,
    "setter" and "deleter" for those of a property. `captured` are variables of functions around it that it uses."""

    name: str
    qualified: str
    parameters: tuple[Parameter, ...]
    body: Statements
    kind: str
    captured: tuple[str, ...]
    yields: bool
    returns: Expression
    place: Place


@record(frozen=True, slots=True)
class Facts:
    """The facts of one file. `guarded`: has a `__main__` block; `acts`: its top level does more than define; `lasting`:
    trains, saves or reads a command line; `learns`: it or a trainer takes gradients; `finds`: imports computed names;
    `tests`: is for a test runner; `telling`: where it may set a sampler's epoch; `resuming`: its part in resumed runs;
    `samples`: mentions samplers with an epoch; `convolving`: functions with convolutions; `memory`: uses of unfilled
    memory; `draws`: generators that it calls; `holding`: classes that its modules speak of; `gpu`: mentions a GPU."""

    module: str
    path: str
    top: Sequence[Statement]
    functions: Mapping[str, Function]
    guarded: bool
    acts: bool
    lasting: bool
    learns: bool
    finds: bool
    tests: bool
    flows: tuple[Flow, ...] = ()
    telling: tuple[tuple[str, Place], ...] = ()
    resuming: Resuming | None = None
    samples: bool = False
    convolving: tuple[str, ...] = ()
    memory: Memory = Memory()
    draws: tuple[str, ...] = ()
    holding: tuple[str, ...] = ()
    gpu: bool = False
