"""Whether a gradient may be taken through a call: where autograd records, of what, and where it goes."""

from __future__ import annotations

from detlint.analysis.training.constants import is_constant
from detlint.analysis.training.contexts import around, function_around, is_module, makes_object, named
from detlint.analysis.training.destinations import goes_back, takes_back
from detlint.analysis.training.evaluations import is_named_so
from detlint.analysis.training.first_use import uses
from detlint.analysis.training.phases import only_evaluates
from detlint.analysis.values.conditions import subject
from detlint.analysis.values.tensors import is_integer
from detlint.semantics.index import asked_once
from detlint.semantics.model import Module
from detlint.sources.source import is_test
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, is_main_guard, reaching

_DEPTH = 4


def may_have_gradient(module: Module, call: s.Call, *, weights: bool = False) -> bool:
    """Return whether a gradient may be taken through `call`; False where it is plain that none is.

    With `weights`, the gradient may be that of the called object's weights, for any argument.
    """
    if not _is_recorded(module, call) or (module.class_of(call) is not None and _only_applies(module)):
        return False
    if is_test(module.path) and not _speaks_of_training(module) and not _is_of_module(module, call):
        return False  # nobody imports it from there
    if goes_back(module, call) is False:
        return False
    runs = [run for run in uses(module, call) if isinstance(run, s.Call)] if makes_object(module.callee(call)) else []
    if runs and not any(_is_recorded(module, run) for run in runs):
        return False
    return weights or any(
        tensor is None or not (is_integer(module, tensor) or is_constant(module, tensor))
        for tensor in operands(module, call)
    )


def operands(module: Module, call: s.Call) -> list[s.Expression | None]:
    """Return the tensors that a call, or the layer without weights that it makes, is given; None: not known."""
    return _applied_to(module, call) or [subject(module, call)]


def _is_of_module(module: Module, node: s.Node) -> bool:
    """Return whether a node belongs to a module, which another file may train."""
    klass = module.class_of(node)
    return klass is not None and is_module(module, klass)


def _applied_to(module: Module, call: s.Call) -> list[s.Expression | None]:
    """Return what a layer without weights that `call` makes is given, at once or by its name; None: not known."""
    weights = module.catalogue.names("randomness", "consumer", weights="yes")
    assign, names = call.parent, module.callee(call)
    if isinstance(assign, s.Call) and assign.function is call:
        return [assign.arguments[0].value if assign.arguments else None]
    target = assign.targets[0] if isinstance(assign, s.Assign) and len(assign.targets) == 1 else None
    layer = makes_object(names) and names.isdisjoint(weights)
    found: list[s.Expression | None] = []
    for read in _reads_of(module, target, call) if target is not None and layer else ():
        use = read.parent
        applied = isinstance(use, s.Call) and use.function is read
        if applied and isinstance(use, s.Call) and not _is_recorded(module, use):
            continue
        given = use.arguments[:1] if applied and isinstance(use, s.Call) else []
        found.append(given[0].value if given and not given[0].star else None)
    return found


def _reads_of(module: Module, target: s.Expression, value: s.Expression) -> list[s.Expression]:
    """Return the reads of a variable that may have a value, or of the attribute that it is assigned to."""
    if isinstance(target, s.Attribute):
        klass = module.class_of(target)
        return [] if klass is None else [x for x in module.attributes(target.attribute) if not x.stored]
    scope = target.scope.find(target.id) if isinstance(target, s.Name) else None
    reads = module.reads(scope, target.id) if isinstance(target, s.Name) and scope is not None else []
    return [read for read in reads if any(b.value is value for b in reaching(read) or ())]


def _is_recorded(module: Module, call: s.Call, depth: int = _DEPTH) -> bool:
    """Return whether autograd may record a call, by what is around it and by who calls its function."""
    if around(module, call, "no-gradient") or only_evaluates(module, call):
        return False
    function = function_around(call)
    if function is None:
        return True
    klass = class_of(function)
    if klass is not None and module.is_a(klass, "autograd-function"):
        return False  # autograd records nothing inside the forward or backward of a Function
    if function.name in named(module, "no-gradient-functions"):
        return False
    if any(word in p.name for word in named(module, "no-gradient-parameters") for p in function.parameters):
        return False
    return _is_called_with_gradient(module, function, depth)


def _is_called_with_gradient(module: Module, function: s.Function, depth: int) -> bool:
    """Return whether a function may be used where autograd records: in the file, or elsewhere if unused there."""
    if depth == 0 or function.name in named(module, "module-methods") or function.name.startswith("__"):
        return True
    spelled = [*module.names_of(function.name), *module.attributes(function.name)]
    uses = [node for node in spelled if _is_use(module, node, function)]
    outside = [node for node in uses if function_around(node) is not function]
    if not outside:
        never = module.path.endswith(".ipynb") and class_of(function) is None and not function.decorators
        if never:  # nobody imports what a notebook does not use
            return False
        return _steps(module, function) or not is_named_so(function)
    return any(_use_records(module, use, depth) for use in outside)


@asked_once
def _steps(module: Module, function: s.Function) -> bool:
    """Return whether a function takes gradients itself."""
    return any(isinstance(each, s.Call) and takes_back(module, each) for each in s.walk(function))


def _is_use(module: Module, node: s.Node, function: s.Function) -> bool:
    """Return whether a node is a name of `function`; for a method, an attribute of an unknown object may be."""
    if not isinstance(node, (s.Name, s.Attribute)) or node.stored:
        return False
    if (node.id if isinstance(node, s.Name) else node.attribute) != function.name:
        return False
    names = module.names(node)
    if names:
        return module.qualified(function) in names
    return isinstance(node, s.Attribute) and class_of(function) is not None


def _use_records(module: Module, use: s.Node, depth: int) -> bool:
    parent = use.parent
    if isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
        taker = parent.parent.function
        return not (isinstance(taker, s.Attribute) and taker.attribute in named(module, "no-gradient-hooks"))
    if not isinstance(parent, s.Call) or parent.function is not use:
        return True
    return _is_recorded(module, parent, depth - 1)


@asked_once
def _only_applies(module: Module) -> bool:
    """Return whether a script or test runs its models without gradients and has no training words."""
    script = any(is_main_guard(statement) for statement in module.file.body.statements)
    if not script and not is_test(module.path):
        return False
    nodes: list[s.Function | s.With] = [*module.every(s.Function), *module.every(s.With)]
    if not any(_applies_models(module, node) for node in nodes):
        return False
    return not _speaks_of_training(module)


@asked_once
def _speaks_of_training(module: Module) -> bool:
    """Return whether a file has a word that only training code has."""
    names = [name.lower() for name in module.identifiers]
    return any(word in name for word in named(module, "training-words") for name in names)


def _applies_models(module: Module, node: s.Function | s.With) -> bool:
    """Return whether a function, or the one around a `with`, is in no module and switches gradients off."""
    function = node if isinstance(node, s.Function) else function_around(node)
    klass = None if function is None else module.class_of(function)
    if function is None or (klass is not None and is_module(module, klass)):
        return False
    inner = node.body.statements[0] if node.body.statements else node
    return around(module, inner, "no-gradient")
