"""What the text of a project says, whatever its values are: what is stored, decorated and made where."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from posixpath import dirname
from typing import Any

from detlint.domain.atoms import AllocationSite
from detlint.domain.codes import FAR
from detlint.interpreter import made_classes
from detlint.ir import counting
from detlint.ir import nodes as ir
from detlint.ir.uses import Uses
from detlint.sources.imports import Imports

_DISPLAYS = (ir.Display, ir.Mapping, ir.Comprehension)
_TAKING = ("pop", "popitem", "popleft", "clear", "remove", "discard", "difference_update", "intersection_update")
_PLAIN = (ir.Constant, ir.Operation)
_NAMES = (ir.Global, ir.Local, ir.Captured, ir.Attribute)
_LEAVING = ("break", "continue")
_PUBLIC = "__all__"


ALL = "*"
"""The name that stands for all names of a module."""


class Index:
    """Questions about the text of a project's files, from what was counted in each.

    `asked` are the names that were looked for in modules, by path, `ALL` where all of a module were looked at.
    """

    def __init__(self, files: Mapping[str, ir.File]) -> None:
        self.files = files
        self.asked: dict[tuple[str, str], None] = {}
        self._shrinking: dict[str, bool] = {}
        self._unrolled: dict[int, bool] = {}
        self._parts: dict[int, tuple[ir.Expression, ...] | None] = {}  # of operands, those that may count
        self._displays: dict[tuple[str, str], dict[int, ir.Expression]] = {}
        self._handed: dict[tuple[str, str], frozenset[str]] = {}
        self._uses: dict[str, Uses] = {}
        self._classes: dict[tuple[str, str], ir.Class] = {}
        self._imported: frozenset[str] | None = None
        self._options: frozenset[str] | None = None
        self._targets: dict[tuple[str, str], frozenset[str]] = {}
        self._taken: dict[str, frozenset[str]] = {}
        self._given: dict[tuple[str, str], frozenset[str]] = {}
        self._rebound: dict[str, frozenset[str]] = {}
        self._captures: dict[tuple[str, str], tuple[str, ...]] = {}
        self._nonlocal: dict[str, frozenset[ir.Captured]] = {}
        self._public: dict[str, frozenset[str] | None] = {}

    def display(self, site: AllocationSite) -> ir.Expression | None:
        """The display or the comprehension by which the containers of a site are written down."""
        code = site.code
        if code is None or code.file not in self.files:
            return None
        key = (code.file, code.function)
        if key not in self._displays:
            function = self.files[code.file].functions.get(code.function)
            parts = counting.walk(function.body if function is not None else ())
            self._displays[key] = {part.node: part for part in parts if isinstance(part, _DISPLAYS)}
        return self._displays[key].get(code.node % FAR)

    def shrinks(self, site: AllocationSite) -> bool:
        """Whether the file in which the containers of a site are made takes anything out of some container."""
        path = site.code.file if site.code is not None else ""
        if path not in self._shrinking:
            file = self.files.get(path)
            parts = (
                counting.walk(tuple(function.body for function in file.functions.values())) if file is not None else ()
            )
            self._shrinking[path] = any(
                isinstance(part, ir.Delete) or (isinstance(part, ir.Attribute) and part.name in _TAKING)
                for part in parts
            )
        return self._shrinking[path]

    @cached_property
    def spelled(self) -> frozenset[str]:
        """The names that texts of the project spell, as those of options are, and the keywords of calls.

        Where the project lists the fields of classes, they are spelled, too.
        """
        found = {counting.option(text) for file in self.files.values() for text in file.counts.spelled}
        if "fields" in self.names_of("dataclasses"):
            classes = (klass for file in self.files.values() for klass in file.classes.values())
            found.update(name for klass in classes for name in klass.fields)
        return frozenset(found)

    def options(self, methods: frozenset[str]) -> frozenset[str]:
        """The names that only options have by their texts, and those that calls of some methods give options."""
        if self._options is None:
            texts = (text for file in self.files.values() for text in file.counts.spelled)
            found = {counting.option(text) for text in texts if text.startswith("-")}
            for method in methods:
                found.update(map(counting.option, self.texts_given(method, "dest")))
            self._options = frozenset(found)
        return self._options

    def unrolls(self, statement: ir.For) -> bool:
        """Whether a loop is gone through item by item: no way leaves it, or goes on in it, before its end."""
        key = id(statement)
        if key not in self._unrolled:
            parts = counting.walk(statement.body)
            self._unrolled[key] = not any(isinstance(part, ir.Leave) and part.kind in _LEAVING for part in parts)
        return self._unrolled[key]

    def counts(self, operands: tuple[ir.Expression, ...], settled: Callable[[ir.Expression], bool]) -> bool:
        """Whether operands may count: they have a variable or an attribute in them that is made of itself somewhere and
        is not `settled`, or something else than constants and such.
        """
        key = id(operands)
        if key not in self._parts:
            parts = list(counting.walk(operands))
            others = any(not isinstance(part, (*_NAMES, *_PLAIN)) for part in parts)
            named = [part for part in parts if isinstance(part, _NAMES) and part.name in self._counting]
            self._parts[key] = None if others else tuple(named)
        found = self._parts[key]
        return found is None or not all(map(settled, found))

    def rebound(self, file: ir.File) -> frozenset[str]:
        """The variables of a module that its functions may give other values."""
        if file.path not in self._rebound:
            bodies = tuple(each.body for each in file.functions.values() if each.qualified not in (ir.TOP, ir.MAIN))
            parts = (part for part in counting.walk(bodies) if isinstance(part, ir.Assign))
            self._rebound[file.path] = frozenset(
                x.name for part in parts for x in part.targets if isinstance(x, ir.Global)
            )
        return self._rebound[file.path]

    def captures(self, path: str, code: ir.Function) -> tuple[str, ...]:
        """The variables of the function around a function that this reads, and no function within that one binds.

        What yields goes on later, with what they are then.
        """
        key = path, code.qualified
        if key not in self._captures:
            read = (part for part in counting.walk(code.body) if isinstance(part, ir.Captured))
            names = {part.name for part in read if part.owner == code.owner and part not in self._bound_within(path)}
            self._captures[key] = () if code.yields else tuple(sorted(names))
        return self._captures[key]

    def _bound_within(self, path: str) -> frozenset[ir.Captured]:
        """The variables of functions of a file that functions within these bind."""
        if path not in self._nonlocal:
            bodies = tuple(each.body for each in self.files[path].functions.values() if each.owner)
            self._nonlocal[path] = frozenset(x for part in counting.walk(bodies) for x in _bound(part))
        return self._nonlocal[path]

    def public(self, file: ir.File) -> frozenset[str] | None:
        """The names that a module lists as those that a star brings; None where it lists none, or not all at once."""
        if file.path not in self._public:
            self._public[file.path] = _listed(file) if _PUBLIC in file.binds else None
        return self._public[file.path]

    @cached_property
    def _counting(self) -> frozenset[str]:
        """The names of variables and attributes that are assigned anew from what they were."""
        return frozenset(name for file in self.files.values() for name in file.counts.counting)

    def texts_given(self, method: str, keyword: str) -> frozenset[str]:
        """The texts that calls of a method give it by a keyword or first."""
        key = (method, keyword)
        if key not in self._given:
            found = set[str]()
            for file in self.files.values():
                for part in _parts(file) if method in file.counts.called else ():
                    if isinstance(part, ir.Call) and counting.last(part.function) == method:
                        first = part.arguments[:1] if part.arguments and not part.arguments[0].keyword else ()
                        named = [argument for argument in part.arguments if argument.keyword == keyword]
                        values = [argument.value for argument in (*first, *named)]
                        found.update(x.value for x in values if isinstance(x, ir.Constant) and x.kind == "str")
            self._given[key] = frozenset(found)
        return self._given[key]

    def names_of(self, package: str) -> frozenset[str]:
        """The names that files take from a package: that they import from it, or read of it by its own name."""
        if package not in self._taken:
            found = set[str]()
            for file in self.files.values():
                imports = any(name.partition(".")[0] == package for level, name in file.counts.imports if not level)
                for part in _parts(file) if imports else ():
                    if isinstance(part, ir.ImportNames) and part.module.partition(".")[0] == package:
                        found.update(name for name, _ in part.names)
                    elif isinstance(part, ir.Attribute) and part.value == ir.Global(package):
                        found.add(part.name)
            self._taken[package] = frozenset(found)
        return self._taken[package]

    def decorates(self, decorator: ir.Expression) -> int:
        """How many functions and classes have a decorator of the name of one."""
        return self._decorating[counting.decorator(decorator)]

    @cached_property
    def _decorating(self) -> Counter[str]:
        """How many functions and classes each name decorates."""
        found = Counter[str]()
        for file in self.files.values():
            found.update(file.counts.decorating)
        return found

    @cached_property
    def stored(self) -> frozenset[str]:
        """The attributes that are stored on anything anywhere; "" among them, any that is spelled somewhere."""
        found = frozenset(name for file in self.files.values() for name in file.counts.stored)
        return found | self.spelled if "" in found else found

    def goes_through(self, file: str, function: ir.Function, value: ir.Expression) -> bool:
        """Whether an expression is a variable, or of one, that a loop or a comprehension of a function goes through."""
        key = file, function.qualified
        if key not in self._targets:
            loops = (part for part in counting.walk(function.body) if isinstance(part, (ir.For, ir.Clause)))
            parts = (part for loop in loops for part in counting.walk(loop.target))
            self._targets[key] = frozenset(part.name for part in parts if isinstance(part, (ir.Local, ir.Global)))
        while isinstance(value, ir.Attribute):
            value = value.value
        return isinstance(value, (ir.Local, ir.Global)) and value.name in self._targets[key]

    @cached_property
    def folders(self) -> frozenset[str]:
        """The folders that hold files of the project, and those around them."""
        found = set[str]()
        for path in self.files:
            while path := dirname(path):
                if path in found or path == "/":
                    break
                found.add(path)
        return frozenset(found)

    def imported(self, imports: Imports) -> frozenset[str]:
        """The files that the text of another one imports."""
        if self._imported is None:
            self._imported = frozenset(
                found for path, file in self.files.items() for found in _imported(imports, file) if found != path
            )
        return self._imported

    def makers(self, klass: str) -> tuple[int, int] | None:
        """How many places, in how many files, make objects of a class; None where it is handed on as a value.

        Told from the names that are called: who makes an object of a class that is handed on, no text tells.
        """
        name = klass.rpartition(".")[2]
        return None if self._used[name] > 0 else self._made.get(name, (0, 0))

    @cached_property
    def _used(self) -> Counter[str]:
        """How often each name is used as a value."""
        found = Counter[str]()
        for file in self.files.values():
            found.update(file.counts.used)
        return found

    @cached_property
    def _made(self) -> Mapping[str, tuple[int, int]]:
        """In how many places, and in how many files, each name is called."""
        found: dict[str, tuple[int, int]] = {}
        for file in self.files.values():
            for name, count in file.counts.called.items():
                places, files = found.get(name, (0, 0))
                found[name] = places + count, files + 1
        return found

    @cached_property
    def classes(self) -> frozenset[str]:
        """The names of the classes of the project."""
        return frozenset(name.rpartition(".")[2] for file in self.files.values() for name in file.classes)

    @cached_property
    def special(self) -> frozenset[str]:
        """The special methods that classes of the project have, and the accessors that properties are given."""
        bound = (name for file in self.files.values() for klass in file.classes.values() for name in klass.binds)
        setters = frozenset(("setter",)) if self._decorating["setter"] or "property" in self._made else frozenset()
        return frozenset(name for name in bound if name.startswith("__")) | setters

    def made(self, file: str, name: str) -> ir.Class:
        """What the text says of a class that a call makes, which has the name of its place."""
        found = self._classes.get((file, name))
        if found is None:
            call = self.call(file, name)
            assert call is not None
            found = self._classes[file, name] = made_classes.read(name, call)
        return found

    def call(self, file: str, place: str) -> ir.Call | None:
        """The call of a place: the name of a function and a number."""
        function, _, node = place.rpartition(":")
        parts = counting.walk(self.files[file].functions[function].body)
        return next((part for part in parts if isinstance(part, ir.Call) and part.node == int(node)), None)

    @cached_property
    def methods(self) -> Mapping[str, list[tuple[str, str]]]:
        """The methods of each name, by their file and qualified name."""
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for file in self.files.values():
            for function in file.functions.values():
                if function.klass:
                    found[function.name].append((file.path, function.qualified))
        return found

    def uses(self, file: ir.File) -> Uses:
        """Where the values of a file go."""
        if file.path not in self._uses:
            self._uses[file.path] = Uses(file)
        return self._uses[file.path]

    def handed(self, file: str, function: ir.Function, callees: Mapping[str, frozenset[str | int]]) -> frozenset[str]:
        """The parameters of a function that it gives straight to some parameters of what is called by some names."""
        key = (file, function.qualified)
        if key not in self._handed:
            names = {parameter.name for parameter in function.parameters}
            calls = (part for part in counting.walk(function.body) if isinstance(part, ir.Call)) if names else ()
            given = [
                argument.value
                for call in calls
                for place, argument in enumerate(call.arguments)
                if (argument.keyword or place) in callees.get(counting.last(call.function), ())
            ]
            self._handed[key] = frozenset(each.name for each in given if isinstance(each, ir.Local)) & names
        return self._handed[key]


def _imported(imports: Imports, file: ir.File) -> Iterator[str]:
    """The files that the text of a file imports."""
    for level, target in file.counts.imports:
        found = imports.relative(file.path, level, target) if level else imports.find(target, file.path)
        if found is not None:
            yield found


def _listed(file: ir.File) -> frozenset[str] | None:
    """The texts that a module gives its list of names at its only mention."""
    parts = list(_parts(file))
    given = [part for part in parts if isinstance(part, ir.Assign) and part.targets == (ir.Global(_PUBLIC),)]
    if len(given) != 1 or given[0].operator != "=" or parts.count(ir.Global(_PUBLIC)) > 1:
        return None
    names = given[0].value.elements if isinstance(given[0].value, ir.Display) else ()
    known = [each.value for each in names if isinstance(each, ir.Constant) and each.kind == "str"]
    return frozenset(known) if known and len(known) == len(names) else None


def _parts(file: ir.File) -> Iterator[Any]:
    """The parts of all functions of a file."""
    return counting.walk(tuple(function.body for function in file.functions.values()))


def _bound(part: object) -> Iterator[ir.Captured]:
    """The variables of functions around it to which a part gives values."""
    targets = part.targets if isinstance(part, (ir.Assign, ir.Delete)) else getattr(part, "target", None)
    yield from (x for x in counting.walk(targets) if isinstance(x, ir.Captured))
