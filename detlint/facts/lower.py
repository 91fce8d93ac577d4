"""Expressions of a file, reduced to those of its facts."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from detlint.analysis.sets.salted import Salted
from detlint.analysis.values.folders import folders
from detlint.analysis.values.inert import Inert
from detlint.analysis.values.numbers import Numbers, folded
from detlint.catalogue import Catalogue
from detlint.facts import facts as f
from detlint.facts.paths import JOIN, Paths
from detlint.semantics import libraries
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope

_ABSTRACT = ("typing.", "collections.abc.", "builtins.type.", "builtins.object.")  # types that say little about a value
_JOINING = (f.Library("builtins.list"), f.Library("builtins.tuple"), f.Library("itertools.chain"))
_PART = f.Library(f.SLICE)
_PRINT = "builtins.print"
_COMPARED = frozenset(("==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"))
_OPERATORS = frozenset(("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>", "~"))
_GIVEN = (f.Local, f.Global, f.Computed)  # may be looked at without side effects
_INDEXED = (f.Local, f.Global, f.Member, f.Call, f.Item)  # may be of a class of the project, which has `__getitem__`
_ASSIGNED = frozenset(("assign", "augment", "for", "with"))
T = TypeVar("T")


class _Once(dict[str, T]):
    """Records that hold only a name, one of each, since a file repeats the same names."""

    def __init__(self, kind: Callable[[str], T]) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, name: str) -> T:
        made = self[name] = self._kind(name)
        return made


class Expressions:
    """A lowering of the expressions of one file. What neither acts nor can be called becomes None."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.inert = Inert(module)
        self.numbers = Numbers(module)
        self.salted = Salted(module)
        self.known = _known(module.catalogue)
        self.paths = Paths(module)
        catalogue = module.catalogue
        self.search = catalogue.names("program", "role", id="search-path")
        self.specs = catalogue.names("program", "role", id="spec")
        self.relative = catalogue.names("program", "role", "folders")
        self.holders = (
            catalogue.names("program", "role", kind="container")
            | catalogue.names("program", "role", kind="attributes")
            | catalogue.names("randomness", "object", id="generators")
        )
        self.attended = catalogue.names("program", "role", "methods", kind="evaluates")
        self.telling = catalogue.names("program", "sampler", "methods")
        self.inner = catalogue.names("program", "inner")
        self.functions: dict[str, f.Function] = {}
        self.captured: list[tuple[s.Function, set[str]]] = []  # of those being lowered, outermost first
        self._locals = _Once(f.Local)
        self._globals = _Once(f.Global)
        self._libraries = _Once(f.Library)
        self._strings = _Once(f.Literal)
        self._chosen: dict[frozenset[str], str] = {}
        self._homes: dict[tuple[Scope, str], tuple[str, object]] = {}
        self._set_within = _set_within(module)

    def function(self, node: s.Function) -> str:
        """Lower a function and return its qualified name; left to the subclass for statements."""
        raise NotImplementedError

    def lower(self, node: s.Expression | None) -> f.Expression:
        """Return an expression as it is in the facts."""
        lowered = _EXPRESSIONS.get(type(node))
        return None if lowered is None else lowered(self, node)

    def element(self, node: s.Expression) -> f.Expression:
        """Return an element of a display; for an unpacked one, an item of what is unpacked."""
        return f.Item(self.lower(node.value), None) if isinstance(node, s.Starred) else self.lower(node)

    def _constant(self, node: s.Constant) -> f.Expression:
        value = node.value
        if isinstance(value, str):
            return self._strings[value]
        return f.Literal(value) if isinstance(value, (int, float, bytes, type(None))) else None

    def _collection(self, node: s.Collection) -> f.Expression:
        return f.Display(node.kind, tuple([self.element(e) for e in node.elements]), node.order)

    def _dictionary(self, node: s.Dictionary) -> f.Expression:
        pairs = zip(node.keys, node.values, strict=True)
        return f.Table(tuple([(self.lower(k), self.lower(v)) for k, v in pairs]), node.order)

    def _subscript(self, node: s.Subscript) -> f.Expression:
        index = node.indices[0] if len(node.indices) == 1 else None
        key = _PART if isinstance(index, s.Slice) else self.lower(index)
        value = self.lower(node.value)
        return f.Item(value, key) if value is not None else computed([value, key])

    def _conditional(self, node: s.Conditional) -> f.Expression:
        return f.Conditional(self.lower(node.test), self.lower(node.body), self.lower(node.orelse))

    def _named(self, node: s.NamedExpression) -> f.Expression:
        return f.Named(self.target(node.target), self.lower(node.value))

    def _comprehension(self, node: s.Comprehension) -> f.Expression:
        clauses = tuple([(self.target(c.target), self.lower(c.iterator)) for c in node.clauses])
        tests = tuple([self.lower(test) for clause in node.clauses for test in clause.tests])
        *keys, value = map(self.lower, node.elements)  # a dict's elements have keys
        return f.Each(node.kind, clauses, value, node.order, keys[0] if keys else None, tests)

    def _lambda(self, node: s.Lambda) -> f.Expression:
        return f.Closure(self.function(node.function))

    def _starred(self, node: s.Starred) -> f.Expression:
        return self.lower(node.value)

    def _operation(self, node: s.Operation) -> f.Expression:
        if (path := self.paths.document(node)) is not None:
            return path
        operands = [self.lower(operand) for operand in node.operands]
        if node.operator in ("and", "or", "not"):
            return f.Junction(node.operator, tuple(operands))
        if node.operator in _COMPARED:
            return self.compared((node.operator, *node.rest), operands, node.order)
        if node.operator == "await":
            return operands[0]
        if node.operator in ("yield", "yield from"):
            return f.Yield(operands[0] if operands else None)
        if node.operator == "-" and len(operands) == 1 and isinstance(operands[0], f.Literal):
            value = operands[0].value
            return f.Literal(-value) if isinstance(value, (int, float)) else None
        if node.operator == "f-string":
            return f.Joined(tuple(operands)) if operands else f.Literal("")
        number = folded(node.operator, [each.value for each in operands if isinstance(each, f.Literal)])
        if number is not None:
            return f.Literal(number)
        if node.operator == "/" and len(operands) == 2:
            operands[0] = self.paths.beside(node.operands[0]) or operands[0]
        return f.Computed(tuple(operands), node.operator if node.operator in _OPERATORS else "")

    def compared(self, operators: tuple[str, ...], operands: list[f.Expression], order: int) -> f.Expression:
        """Return a comparison or a chain of them; an operand between two of them is evaluated once, for the first."""
        found: list[f.Expression] = []
        left = operands[0]
        for index, (operator, right) in enumerate(zip(operators, operands[1:], strict=True), 1):
            again = right
            if index < len(operators) and not idle(right):
                again = f.Local(f"{order}:{index}")
                right = f.Named(again, right)
            found.append(f.Compare(operator, left, right))
            left = again
        return found[0] if len(found) == 1 else f.Junction("and", tuple(found))

    def target(self, node: s.Expression) -> f.Expression:
        """Return a target of an assignment."""
        if isinstance(node, s.Name):
            return self._variable(node)
        if isinstance(node, s.Attribute):
            name = self.library(node) if self.module.names(node.value) else ""
            return self._libraries[name] if name else f.Member(self.lower(node.value), node.attribute)
        if isinstance(node, s.Subscript):
            return f.Item(self.lower(node.value), self.lower(node.indices[0]))
        if isinstance(node, s.Collection):
            elements = [self.target(e) for e in node.elements]
            if node.rest is not None:
                elements[node.rest] = f.Display(f.REST, (elements[node.rest],), node.order)
            return f.Display(node.kind, tuple(elements), node.order)
        return self.target(node.value) if isinstance(node, s.Starred) else None

    # Names

    def _name(self, node: s.Name) -> f.Expression:
        name = self.library(node)
        if name in self.numbers.named:
            return f.Literal(self.numbers.named[name])
        return self._libraries[name] if name and not self.says_little(name) else self._variable(node)

    def says_little(self, name: str) -> bool:
        """Return whether a name is a limit, or an attribute of an abstract type that the project may implement."""
        prefix = next((prefix for prefix in _ABSTRACT if name.startswith(prefix)), None)
        if prefix is None:
            return name.rpartition(".")[0] in self.numbers.asking
        return prefix.startswith("builtins.") or "." in name.removeprefix(prefix)

    def _attribute(self, node: s.Attribute) -> f.Expression:
        name = self.library(node)
        number = self.numbers.of(node, name)
        if number is not None:
            return f.Literal(number)
        if name and self.module.names(node.value) and node.attribute not in self.telling:
            return self._libraries[name]
        return f.Member(
            self.lower(node.value), node.attribute, "" if name.startswith(_ABSTRACT) or _lacks(name) else name
        )

    def _variable(self, node: s.Name) -> f.Expression:
        key = node.scope, node.id
        home = self._homes.get(key)
        if home is None:
            home = self._homes[key] = self._home(node)
        shared, owner = home
        if shared:
            return self._globals[shared]
        for function, captured in reversed(self.captured):
            if function is owner:
                break
            captured.add(node.id)
        return self._locals[node.id]

    def library(self, node: s.Expression) -> str:
        """Return the name of something of torch, numpy or the standard library; "" for anything else."""
        names = self.module.names(node)
        if not names:
            return ""
        chosen = self._chosen.get(names)
        if chosen is None:
            chosen = self._chosen[names] = self._choose(sorted(names))
        return chosen

    def _choose(self, names: list[str]) -> str:
        if not all(name.partition(".")[0] in libraries.KNOWN for name in names):
            return ""
        if names == ["builtins.__name__"] or any(
            name in self.module.functions or name in self.module.classes for name in names
        ):
            return ""
        if any(name.startswith(f"{inner}.") or name == inner for inner in self.inner for name in names):
            return ""  # the wrapped model, which may be the project's
        return next((name for name in names if name in self.known), names[0])

    def _home(self, node: s.Name) -> tuple[str, object]:
        """Return the name of a shared variable, or "" and the owner of one that is not shared.

        A variable is shared if it is the module's or not of the file, or if functions within its function assign to it.
        """
        scope = node.scope.find(node.id)
        if scope is None or scope.kind == "module":
            return node.id, None
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        if (scope, node.id) in self._set_within and isinstance(scope.owner, s.Function):
            return f"{self.module.qualified(scope.owner)}.{node.id}", None
        return "", scope.owner

    # Calls

    def _call(self, node: s.Call) -> f.Expression:
        if (path := self.paths.document(node)) is not None:
            return path
        function = self.lower(node.function)
        arguments = tuple([self._argument(argument) for argument in node.arguments])
        if isinstance(function, f.Library) and function.name in self.search:
            found = [path for argument in node.arguments for path in folders(self.module, argument.value)]
            arguments = tuple(f.Argument(f.Literal(path)) for path in found)
        elif isinstance(function, f.Library) and function.name in self.specs:
            arguments = tuple([self._argument(argument, located=True) for argument in node.arguments])
        name = function.name if isinstance(function, f.Library) else ""
        if name == JOIN and (path := self.paths.joined(node, [a.value for a in arguments])) is not None:
            return path
        relation = name.removeprefix("builtins.")
        if relation in f.KINSHIP and len(arguments) == 2:
            return f.Compare(relation, arguments[0].value, arguments[1].value)
        if name in f.ASKING and len(arguments) == 1 and not arguments[0].star:
            return f.Computed((arguments[0].value,), name)
        if name == _PRINT:
            return computed([f.Computed((a.value,), _PRINT) for a in arguments if not a.star])
        pairs = _merged(arguments[0].value) if name == "builtins.dict" and len(arguments) == 1 else ()
        if len(pairs) > 1:
            return f.Table(tuple((None, mapping) for mapping in pairs), node.order)
        if isinstance(function, f.Member):
            name = "" if function.name in self.attended | self.telling else function.library
        if name and not self.speaks_of(name):
            receiver = function.value if isinstance(function, f.Member) else function
            return made([receiver, *(a.value for a in arguments)])
        if function is None and not arguments:
            return None
        if name in self.salted.names:
            inert = "salted" if self.salted.is_hash(node) else ""
        else:
            inert = self.inert.kind(node) if name else ""
        return f.Call(function, arguments, self.module.place(node), node.order, inert)

    def speaks_of(self, name: str) -> bool:
        """Return whether the tables have a library's name; classes of layers also have what every module has."""
        if name in self.known:
            return True
        owner, _, method = name.removesuffix(".__dict__").rpartition(".")  # a container may hold what has the method
        return owner in self.holders or (owner.startswith("torch.nn.") and f"torch.nn.Module.{method}" in self.known)

    def _argument(self, argument: s.Argument, located: bool = False) -> f.Argument:
        """Return an argument; if it is a path, the path is kept whatever it is relative to."""
        path = self.paths.location(argument.value) if located or argument.keyword in self.relative else None
        return f.Argument(path or self.lower(argument.value), argument.keyword, argument.star)


_E = Expressions
_EXPRESSIONS: dict[type, Callable[[Any, Any], f.Expression]] = {
    s.Name: _E._name, s.Attribute: _E._attribute, s.Call: _E._call, s.Constant: _E._constant,
    s.Collection: _E._collection, s.Dictionary: _E._dictionary, s.Subscript: _E._subscript,
    s.Operation: _E._operation, s.Conditional: _E._conditional, s.NamedExpression: _E._named,
    s.Comprehension: _E._comprehension, s.Lambda: _E._lambda, s.Starred: _E._starred,
}  # fmt: skip


def _lacks(name: str) -> bool:
    """Return whether a name is of a method that its type lacks, as the 0 that a loss begins with has no `backward`."""
    owner, _, method = name.rpartition(".")
    kind = getattr(builtins, owner.removeprefix("builtins."), None) if owner.startswith("builtins.") else None
    return isinstance(kind, type) and not hasattr(kind, method)


def _merged(value: f.Expression) -> tuple[f.Expression, ...]:
    """Return the mappings whose pairs `list(a.items()) + list(b.items())` has, in order; () for anything else."""
    parts: tuple[f.Expression, ...] = ()
    if isinstance(value, f.Computed) and value.operation == "+":
        parts = value.operands
    elif isinstance(value, f.Call) and value.function in _JOINING and not any(a.star for a in value.arguments):
        parts = tuple(argument.value for argument in value.arguments)
    elif isinstance(value, f.Call) and isinstance(value.function, f.Member) and value.function.name == "items":
        return () if value.arguments else (value.function.value,)
    found = [_merged(part) for part in parts]
    return tuple(mapping for part in found for mapping in part) if all(found) else ()


def idle(value: f.Expression) -> bool:
    """Return whether evaluating an expression neither calls nor binds anything."""
    if isinstance(value, f.Member):
        return idle(value.value)
    if isinstance(value, f.Item):
        if value.key not in (None, _PART) and isinstance(value.value, _INDEXED):
            return False
        return idle(value.value) and idle(value.key)
    if isinstance(value, (f.Computed, f.Joined, f.Junction)):
        if isinstance(value, f.Computed) and value.operation == _PRINT and _looks(value.operands[0]):
            return False
        return all(idle(operand) for operand in value.operands)
    if isinstance(value, f.Compare):
        return idle(value.left) and idle(value.right)
    if isinstance(value, f.Display):
        return all(idle(element) for element in value.elements)
    return isinstance(value, (f.Local, f.Global, f.Library, f.Literal, f.Closure)) or value is None


def _looks(value: f.Expression) -> bool:
    """Return whether something is an attribute, perhaps a property, or a text with one in it."""
    return isinstance(value, f.Member) or (isinstance(value, f.Joined) and any(map(_looks, value.operands)))


def computed(operands: list[f.Expression]) -> f.Expression:
    """Return operands that are evaluated for their side effects; None if they have none."""
    acting = tuple(operand for operand in operands if not idle(operand))
    return f.Computed(acting) if acting else None


def made(operands: list[f.Expression]) -> f.Expression:
    """Return what a library's function makes of operands, or a method of the first one."""
    acting = computed(operands) or f.Computed(())
    given = tuple(x for x in operands if isinstance(x, _GIVEN) and idle(x) and x != f.Computed(()))
    return f.Computed((acting, *given), f.MADE) if given else acting


def _set_within(module: Module) -> frozenset[tuple[Scope, str]]:
    """Return the variables of functions that inner functions assign to with `nonlocal`."""
    found = set[tuple[Scope, str]]()
    for function in module.every(s.Function):
        for name in (name for name, where in function.scope.outside.items() if where == "nonlocal"):
            home = function.scope.find(name)
            if home is not None and all(binding.kind in _ASSIGNED for binding in home.bindings[name]):
                found.add((home, name))
    return frozenset(found)


@cache
def _known(catalogue: Catalogue) -> frozenset[str]:
    """Return all library names in the tables of random numbers, switches, programs, operations and what steps."""
    found = set(catalogue.left_to_programs)
    tables = [rows for file in ("randomness", "switches", "program") for rows in catalogue.tables[file].values()]
    for row in (row for rows in tables for row in rows):
        names = [*row.list("names"), *row.list("calls")]
        found.update(names)
        found.update(f"{name}.{method}" for name in names for method in row.list("methods"))
        found.update(owner for name in names if (owner := name.rpartition(".")[0]).rpartition(".")[2][:1].isupper())
    for row in catalogue.rows("checkpoints", "stepped"):
        ways = ("", *(f".{method}" for method in (*row.list("methods"), *row.list("restoring"))))
        found.update(f"{name}{way}" for name in row.list("names") for way in ways)
    for row in catalogue.rows("ops", "op"):  # deterministic algorithms affect these
        if row.text("rule") or row.text("raises"):
            found.update(row.list("names"))
    return frozenset(found)
