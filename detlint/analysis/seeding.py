"""What a fix may seed with at a place of the program, and how often what stands there runs."""

from __future__ import annotations

from collections.abc import Iterator

from detlint import edits
from detlint import syntax as s
from detlint.analysis.environment import always_before
from detlint.analysis.generators import ITEM_METHODS
from detlint.finding import Fix, Safety
from detlint.model import Module
from detlint.scopes import Binding, Scope, class_of
from detlint.values import literal

_SEEDS = frozenset(("seed", "random_seed", "manual_seed", "rng_seed", "global_seed", "rand_seed"))
_SEEDERS = frozenset(("set_seed", "set_seeds", "set_random_seed", "seed_everything", "seed_all", "fix_seed"))
_OFTEN = frozenset(
    (*ITEM_METHODS, "__call__", "forward", "collate_fn", "step", "training_step", "validation_step", "test_step")
)
_DEVICES = frozenset(("torch.set_default_device", "torch.set_default_tensor_type"))


def seed_at(module: Module, node: s.Node) -> str:
    """The text of the program's seed where `node` stands, "0" where none is known to be an integer there."""
    home = _home(node)
    scope: Scope | None = module.file.scope if home is None else home.scope
    while scope is not None:
        for name, bindings in scope.bindings.items() if scope.kind in ("function", "module") else ():
            if name.lower() in _SEEDS and all(_is_whole(module, b) and _is_bound(module, b, node) for b in bindings):
                return name
        scope = scope.parent
    whole = _whole_options(module)
    for read in module.nodes:
        name = _seed_name(read)
        if name and isinstance(read, s.Expression) and _home(read) is home and always_before(read, node):
            option = isinstance(read, s.Attribute) and read.attribute in whole
            if option or _has_seeded(module, read) or module.types(read) == {"builtins.int"}:
                return module.source(read)
    return "0"


def repeats(module: Module, node: s.Node, depth: int = 4) -> bool | None:
    """Whether what stands at `node` runs again and again: in a loop, for each item; None where that is not known."""
    child = node
    for around in node.ancestors():
        if isinstance(around, s.While) or (isinstance(around, s.For) and child is not around.iterator):
            return True
        if isinstance(around, s.Comprehension) and not (
            child is around.clauses[0] and any(a is around.clauses[0].iterator for a in (node, *node.ancestors()))
        ):
            return True
        if isinstance(around, s.Function) and child is around.body:
            return _is_called_again(module, around, depth)
        child = around
    return False


def generator_of_its_own(module: Module, call: s.Call) -> Fix | None:
    """Pass a seeded generator to a loader, a split or a sampler.

    That changes the order of a program whose generators are seeded, and what is made again for each epoch would give
    the same order each time; where another default device is set, a generator on the CPU may not fit.
    """
    if repeats(module, call) is True or any(True for _ in module.calls_to(_DEVICES)):
        return None
    value = f"make_generator({seed_at(module, call)})"
    return edits.fix(
        f"Pass `generator={value}`",
        edits.argument(module, call, "generator", value),
        imports=edits.runtime(module, "make_generator"),
        lowered=Safety.UNSAFE,
    )


def _home(node: s.Node) -> s.Function | None:
    """The function in whose body `node` runs: a default runs outside of its own."""
    child = node
    for around in node.ancestors():
        if isinstance(around, s.Function) and child is around.body:
            return around
        child = around
    return None


def _is_called_again(module: Module, function: s.Function, depth: int) -> bool | None:
    if function.name in _OFTEN:
        return True
    if function.name == "<lambda>" or depth == 0:
        return None
    klass = class_of(function)
    called: s.Function | s.Class = klass if function.name == "__init__" and klass is not None else function
    calls = list(module.calls_to({module.qualified(called)}))
    answers = [repeats(module, call, depth - 1) for call in calls]
    if True in answers:
        return True
    if isinstance(called, s.Class):
        return False
    if any(not isinstance(read.parent, s.Call) or read.parent.function is not read for read in _reads(module, called)):
        return None  # handed on to whoever calls it
    if not calls:
        return False if function.name == "main" else None
    return None if None in answers else False


def _reads(module: Module, function: s.Function) -> Iterator[s.Name]:
    scope = function.scope.parent
    yield from module.reads(scope, function.name) if scope is not None else ()


def _seed_name(node: s.Node) -> str:
    """The name of what is read, where it is one of a seed: a variable, or an attribute of one."""
    name = ""
    if isinstance(node, s.Name) and not node.stored:
        name = node.id
    elif isinstance(node, s.Attribute) and not node.stored and isinstance(node.value, s.Name):
        name = node.attribute
    return name if name.lower() in _SEEDS else ""


def _is_whole(module: Module, binding: Binding) -> bool:
    """Whether a binding surely gives its name an integer that may be a seed."""
    if isinstance(binding.node, s.Parameter):
        default, annotation = binding.node.default, binding.node.annotation
        if default is not None:
            return _is_seed(default)
        return annotation is not None and module.names(annotation) == {"builtins.int"}
    return binding.kind == "assign" and not binding.path and binding.value is not None and _is_seed(binding.value)


def _is_seed(node: s.Expression) -> bool:
    value = literal(node)
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_bound(module: Module, binding: Binding, node: s.Node) -> bool:
    """Whether the name is surely bound when the program gets to `node`."""
    if isinstance(binding.node, s.Parameter):
        return True
    return always_before(binding.node, node) and (_home(binding.node) is _home(node) or _home(binding.node) is None)


def _whole_options(module: Module) -> set[str]:
    """The options of the command line that are surely integers."""
    found = set()
    for call in module.calls:
        if isinstance(call.function, s.Attribute) and call.function.attribute == "add_argument":
            kinds = [module.names(a.value) for a in call.arguments if a.keyword == "type"]
            defaults = [a.value for a in call.arguments if a.keyword == "default"]
            if kinds == [{"builtins.int"}] and defaults and _is_seed(defaults[0]):
                flags = [
                    str(a.value.value) for a in call.arguments if isinstance(a.value, s.Constant) and not a.keyword
                ]
                found |= {flag.lstrip("-").replace("-", "_") for flag in flags}
    return found


def _has_seeded(module: Module, read: s.Expression) -> bool:
    """Whether what is read is passed as it is to a function that seeds, and takes no None."""
    call = read.parent.parent if isinstance(read.parent, s.Argument) else None
    if not isinstance(call, s.Call) or call.arguments[0].value is not read:
        return False
    rows = module.catalogue.rows("randomness", "seeder")
    strict = {name for row in rows if row.text("none") == "raises" for name in row.list("names")}
    called = call.function
    name = called.attribute if isinstance(called, s.Attribute) else called.id if isinstance(called, s.Name) else ""
    return not module.callee(call).isdisjoint(strict) or name in _SEEDERS
