"""The seed that a program offers at a place: an option, a parameter, a constant, or one that it already seeds with."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from detlint.analysis.seeds.environment import always_before
from detlint.analysis.values.parsers import COMMANDS, GROUPS, OPTIONS, PARSING, methods
from detlint.semantics.index import asked_once, last_word
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, Scope, block_of

LARGEST = 2**32 - 1  # NumPy takes no larger one

_BINDS = frozenset(("assign", "parameter", "with"))
_NAME = re.compile(r"((random|rng|rand|manual|global|base|train|training|np|numpy|torch|my)_?)?seed", re.IGNORECASE)
_SEEDERS = re.compile(r"(set|fix|setup|init)_(\w+_)?seeds?|seed_(everything|all)")
_IDENTITY = ("is", "is not")
_UNKNOWN = object()


@record(frozen=True)
class Seed:
    """A program's own seed: `name` is the expression that reads it; if `optional`, it is None unless the user gives it.

    `option` is the call that adds it to the command line, or None if it does not come from there.
    """

    name: str
    optional: bool = False
    option: s.Call | None = None

    @property
    def text(self) -> str:
        """An expression that is a number in any case."""
        return f"0 if {self.name} is None else {self.name}" if self.optional else self.name


def seed_at(module: Module, node: s.Node) -> Seed | None:
    """Return the program's own seed where `node` stands; None where none is known to be a number or None."""
    variables = list(_variables(module, node))
    used = list(_used_before(module, node, {seed.name for seed in variables if seed.optional}))
    sums = [seed for seed in used if not re.fullmatch(r"[\w.]+", seed.name)]  # one for each rank, or each trial
    found = (*sums, *variables, *used)
    certain = (seed for seed in found if not seed.optional)
    return next(certain, next(iter(found), None))


def may_be_none(module: Module, call: s.Call, parameter: str) -> bool:
    """Return whether the seed that a call passes for a parameter may be None, or not, as far as its file shows."""
    passed = module.argument(call, parameter)
    known = module.possible(passed) if passed.given else []
    return known is None or (None in known and any(each is not None for each in known))


def is_number_at(module: Module, node: s.Node, name: str) -> bool:
    """Return whether a variable or option that is named like a seed is certainly a number where `node` stands."""
    return any(seed.name == name and not seed.optional for seed in _variables(module, node))


def _variables(module: Module, node: s.Node) -> Iterator[Seed]:
    """Yield variables named like a seed, and command-line options, that can be read before `node`."""
    function = module.function_of(node)
    own = module.file.scope if function is None else function.scope
    scope: Scope | None = own
    hidden: set[str] = set()  # by a variable of the same name in an inner scope
    while scope is not None:
        names = scope.bindings if scope.kind in ("module", "function") else ()
        before = _bound_before(own, node) if scope is own else ()
        for name in names:
            if name not in hidden and (name in before or (scope is not own and _is_bound(module, scope, name, node))):
                if _NAME.fullmatch(name):
                    yield from _seed(name, _constant(module, scope, name))
                parsers = _parsed(module, scope, name)
                for field, default, call in _options(module, parsers) if parsers else ():
                    yield from _seed(f"{name}.{field}", default, call)
        hidden |= set(names)
        scope = scope.parent


def _used_before(module: Module, node: s.Node, optional: Container[str]) -> Iterator[Seed]:
    """Yield the seeds passed unchanged, before `node` in the same function, to functions that seed and accept no None.

    Functions that are only named like seeders also accept an `optional` seed, and do not show that a sum is a number.
    """
    function = module.function_of(node)
    for call, certain in _seeding(module):
        if module.function_of(call) is not function:
            continue
        value = call.arguments[0].value
        if always_before(call, node):
            if isinstance(value, s.Constant):
                yield from _seed(module.source(value), value.value)
            text = module.source(value)
            named = isinstance(value, (s.Name, s.Attribute)) and _NAME.fullmatch(text.rpartition(".")[2])
            if (certain and (named or _is_sum(value))) or (named and text not in optional):
                yield Seed(text, optional=not certain and _takes_none(module, call))


def _takes_none(module: Module, call: s.Call) -> bool:
    """Return whether a function of the file that is called with a seed tests it for None, or defaults to None."""
    function = next((module.functions[name] for name in module.callee(call) if name in module.functions), None)
    if not isinstance(function, s.Function) or not function.parameters:
        return False
    parameter = function.parameters[0]
    tests = (node for node in s.walk(function.body) if isinstance(node, s.Operation) and node.operator in _IDENTITY)
    asked = any(isinstance(o, s.Name) and o.id == parameter.name for test in tests for o in test.operands)
    return asked or (isinstance(parameter.default, s.Constant) and parameter.default.value is None)


def _is_sum(value: s.Expression) -> bool:
    """Return whether a value is a sum or product of names and numbers, one of them named like a seed."""
    parts = list(s.walk(value))
    if not isinstance(value, s.Operation) or value.operator not in ("+", "*"):
        return False
    plain = all(isinstance(part, (s.Operation, s.Name, s.Attribute, s.Constant)) for part in parts)
    return plain and any(isinstance(p, (s.Name, s.Attribute)) and _NAME.fullmatch(last_word(p)) for p in parts)


@asked_once
def _seeding(module: Module) -> list[tuple[s.Call, bool]]:
    """Return the one-argument calls that seed, in order, each with whether it is known to accept no None."""
    rows = module.catalogue.rows("randomness", "seeder")
    seeders = {name for row in rows if row.text("parameter") == "seed" for name in row.list("names")}
    strict = frozenset(name for name in seeders if name.startswith("torch."))  # other libraries' seeders accept None
    certain = {call for call in module.calls_like(strict) if not module.callee(call).isdisjoint(strict)}
    named = (call for call in module.calls if call in certain or _SEEDERS.fullmatch(last_word(call.function)))
    return [(call, call in certain) for call in named if len(call.arguments) == 1]


def _seed(name: str, default: object, option: s.Call | None = None) -> Iterator[Seed]:
    if default is None:
        yield Seed(name, True, option)
    elif is_whole(default):
        yield Seed(name, False, option)


def is_whole(seed: object) -> bool:
    """Return whether a constant is a number that can seed all generators."""
    return isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed <= LARGEST


# Variables


def _bound_before(scope: Scope, node: s.Node) -> set[str]:
    """Return the variables of `node`'s own scope that are certainly bound before it."""
    around = {id(each) for each in node.ancestors()}
    first = min(each.order for each in s.walk(node))
    return {
        name
        for name, bindings in scope.bindings.items()
        if any(b.kind in _BINDS and b.order < first and id(block_of(b.node)) in around for b in bindings)
    }


def _is_bound(module: Module, scope: Scope, name: str, node: s.Node) -> bool:
    """Return whether a variable of a scope around that of `node` is certainly bound before it."""
    if scope.kind != "module":
        return False
    bindings = [b for b in scope.bindings[name] if b.kind in _BINDS]
    if any(_is_at_top(binding, main=False) for binding in bindings):
        return True
    return any(_is_at_top(binding, main=True) for binding in bindings) and _reads(module, scope, name, node)


def _reads(module: Module, scope: Scope, name: str, node: s.Node) -> bool:
    """Return whether the function around `node` reads a variable of `scope` directly."""
    function = module.function_of(node)
    return any(around is function for read in module.reads(scope, name) for around in read.ancestors())


def _is_at_top(binding: Binding, main: bool) -> bool:
    """Return whether the top level of a file, or with `main` its main block, binds a name unconditionally.

    The main block does not run where a function is imported, or started in a process of its own.
    """
    block = block_of(binding.node)
    while main and block is not None and isinstance(block.parent, s.If):
        operands = block.parent.test.operands if isinstance(block.parent.test, s.Operation) else []
        if not any(isinstance(o, s.Name) and o.id == "__name__" for o in operands):
            return False
        block = block_of(block.parent)
    return block is not None and isinstance(block.parent, s.File)


def _constant(module: Module, scope: Scope, name: str) -> object:
    """Return the one constant that a variable is set to, or a parameter's default; None if it may also be None."""
    constants: list[object] = []
    for binding in scope.bindings[name]:
        if isinstance(binding.node, s.Parameter):
            known = _passed(module, binding.node)
        else:
            known = None if binding.value is None or binding.path else module.constants(binding.value)
        if known is None:
            return _UNKNOWN
        constants += known
    if None in constants and all(c is None or is_whole(c) for c in constants):
        return None
    return constants[0] if len(set(map(repr, constants))) == 1 else _UNKNOWN


def _passed(module: Module, parameter: s.Parameter) -> list[object] | None:
    """Return the default of a parameter, and the constants other than seeds that calls of this file pass for it.

    A number that is certain but not known counts as 0. None where the parameter may be anything.
    """
    function, annotation = parameter.parent, parameter.annotation
    whole = annotation is not None and module.names(annotation) == {"builtins.int"}
    odd = annotation is not None and not re.search(r"\bint\b", module.source(annotation))
    if not isinstance(function, s.Function) or parameter.star or odd:
        return None
    known = _default(module, function, parameter, whole)
    if known is None:
        return None
    place = function.parameters.index(parameter)
    for call in module.calls_to({module.qualified(function)}):
        for index, argument in enumerate(call.arguments):
            if argument.keyword == parameter.name or (index == place and not argument.keyword and not argument.star):
                known = [*known, *(c for c in module.constants(argument.value) or () if not is_whole(c))]
    return known


def _default(module: Module, function: s.Function, parameter: s.Parameter, whole: bool) -> list[object] | None:
    """Return the defaults of a parameter, or of its click or typer option: [0] for some number, None if unknown."""
    default = parameter.default
    number: list[object] = [0]
    options = (d for d in function.decorators if isinstance(d, s.Call) and _is_option_of(d, parameter.name))
    option = next(options, default if isinstance(default, s.Call) else None)
    if option is None:
        known = None if default is None else module.constants(default)
        return known if known is not None else number if whole else None
    given = {a.keyword: a.value for a in option.arguments if a.keyword}
    first = option.arguments[0].value if option is default and option.arguments else None
    value = given.get("default", first)
    known = [None] if value is None else module.constants(value)
    kind = given.get("type")
    if not whole and (kind is None or module.names(kind) != {"builtins.int"}) and not all(map(is_whole, known or ())):
        return None
    required = given.get("required")
    must = known == [...] or (isinstance(required, s.Constant) and required.value is True)
    return number if must else known


def _is_option_of(call: s.Call, name: str) -> bool:
    """Return whether a decorator adds the click option that a parameter receives."""
    last = call.function.attribute if isinstance(call.function, s.Attribute) else ""
    flags = [a.value.value for a in call.arguments if not a.keyword and isinstance(a.value, s.Constant)]
    return last == "option" and any(str(flag).lstrip("-").replace("-", "_") == name for flag in flags)


# Options


def _parsed(module: Module, scope: Scope, name: str) -> list[s.Expression]:
    """Return the parsers whose options a variable holds, or a parameter named like a variable that holds them."""
    bindings = scope.bindings[name]
    if any(isinstance(binding.node, s.Parameter) and binding.node.star for binding in bindings):
        return []
    if all(isinstance(binding.node, s.Parameter) for binding in bindings):
        named = (a for a in module.assignments if any(isinstance(t, s.Name) and t.id == name for t in a.targets))
        values = [assignment.value for assignment in named]
    else:
        values = [binding.value if binding.path in ((), (0,)) else None for binding in bindings]
        if not all(value is not None and _parses(value) for value in values):
            return []
    calls = (value for value in values if isinstance(value, s.Call) and _parses(value))
    return [call.function.value for call in calls if isinstance(call.function, s.Attribute)]


def _parses(value: s.Expression) -> bool:
    function = value.function if isinstance(value, s.Call) else None
    return isinstance(function, s.Attribute) and function.attribute in methods(PARSING)


def _options(module: Module, parsers: list[s.Expression]) -> Iterator[tuple[str, object, s.Call]]:
    """Yield the integer options of parsers that are named like a seed: attribute, default, and the call that adds it.

    A required option counts as a number.
    """
    made = {root for parser in parsers for root in _roots(module, parser)}
    for call in module.calls:
        if not isinstance(call.function, s.Attribute) or call.function.attribute not in methods(OPTIONS):
            continue
        if any(_is_of_subcommand(parser) for parser in module.values(call.function.value) or ()):
            continue
        own = _roots(module, call.function.value)
        if made and own and made.isdisjoint(own):
            continue
        flags = [a.value.value for a in call.arguments if not a.keyword and isinstance(a.value, s.Constant)]
        given = {a.keyword: a.value for a in call.arguments if a.keyword}
        texts = [flag for flag in flags if isinstance(flag, str)]
        named_by = next((flag for prefix in ("--", "-") for flag in texts if flag.startswith(prefix)), "")
        positional = next((flag for flag in texts if not flag.startswith("-")), "")
        named, must = given.get("dest"), given.get("required")
        field = named.value if isinstance(named, s.Constant) else named_by.lstrip("-").replace("-", "_") or positional
        kind, default = given.get("type"), given.get("default")
        alone = given.keys().isdisjoint(("action", "nargs")) and not any(a.star for a in call.arguments)
        whole = kind is not None and module.names(kind) == {"builtins.int"} and alone
        constants: list[object] | None = [None] if default is None else module.constants(default)
        if positional or (isinstance(must, s.Constant) and must.value is True):
            constants = [0]  # some number
        if isinstance(field, str) and _NAME.fullmatch(field) and whole and constants and len(constants) == 1:
            yield field, constants[0], call


def _roots(module: Module, parser: s.Expression) -> set[int]:
    """Return the ids of the expressions that may have made a parser, or the parser that a group of options is of."""
    found = set()
    for value in module.values(parser) or ():
        function = value.function if isinstance(value, s.Call) else None
        if isinstance(function, s.Attribute) and function.attribute in methods(GROUPS):
            found |= _roots(module, function.value)
        else:
            found.add(id(value))
    return found


def _is_of_subcommand(parser: s.Expression) -> bool:
    """Return whether an expression makes the parser of one command of several: the others lack its options."""
    function = parser.function if isinstance(parser, s.Call) else None
    return isinstance(function, s.Attribute) and function.attribute in methods(COMMANDS)
