"""Whether a gradient is taken through a call: where autograd records, and which code trains."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.conditions import subject
from detlint.analysis.constants import is_constant
from detlint.analysis.contexts import around, function_around, is_module, named
from detlint.analysis.tensors import is_integer, method_of
from detlint.semantics.index import asked_once, last_word
from detlint.semantics.model import Module
from detlint.sources.source import is_test
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, is_main_guard, reaching

_DEPTH = 4


def may_have_gradient(module: Module, call: s.Call, *, weights: bool = False) -> bool:
    """Whether a gradient may be taken through `call`; False where it is plain that none is.

    With `weights` that of what is called, whatever it is given.
    """
    if not _is_recorded(module, call) or (module.class_of(call) is not None and _only_applies(module)):
        return False
    if is_test(module.path) and not _speaks_of_training(module) and not _is_of_module(module, call):
        return False  # nobody imports it from there
    given = _applied_to(module, call) or [subject(module, call)]
    return weights or any(
        tensor is None or not (is_integer(module, tensor) or is_constant(module, tensor)) for tensor in given
    )


def _is_of_module(module: Module, node: s.Node) -> bool:
    """Whether a node belongs to a module, which another file may train."""
    klass = module.class_of(node)
    return klass is not None and is_module(module, klass)


def _applied_to(module: Module, call: s.Call) -> list[s.Expression | None]:
    """What a layer without weights, which `call` makes under a name, is called with; None among it: not known."""
    weights = module.catalogue.names("randomness", "consumer", weights="yes")
    assign, names = call.parent, module.callee(call)
    target = assign.targets[0] if isinstance(assign, s.Assign) and len(assign.targets) == 1 else None
    layer = all(name.rpartition(".")[2][:1].isupper() for name in names) and names.isdisjoint(weights)
    scope = target.scope.find(target.id) if isinstance(target, s.Name) and layer else None
    found: list[s.Expression | None] = []
    for read in module.reads(scope, target.id) if scope is not None and isinstance(target, s.Name) else ():
        bindings = reaching(read)
        if bindings is None or any(binding.value is call for binding in bindings):
            use = read.parent
            given = use.arguments[:1] if isinstance(use, s.Call) and use.function is read else []
            found.append(given[0].value if given and not given[0].star else None)
    return found


def _is_recorded(module: Module, call: s.Call, depth: int = _DEPTH) -> bool:
    """Whether autograd may record a call, from what is around it, what is made of it and who calls its function."""
    if around(module, call, "no-gradient") or _evaluates(module, call) or _is_dropped(module, call):
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
    """Whether a function may be used where autograd records: in the file, or where that does not use it, elsewhere."""
    if depth == 0 or function.name in named(module, "module-methods") or function.name.startswith("__"):
        return True
    spelled = [*module.names_of(function.name), *module.attributes(function.name)]
    uses = [node for node in spelled if _is_use(module, node, function)]
    outside = [node for node in uses if function_around(node) is not function]
    if not outside:
        never = module.path.endswith(".ipynb") and class_of(function) is None and not function.decorators
        return not never  # what a notebook does not use nobody imports
    return any(_use_records(module, use, depth) for use in outside)


def _is_use(module: Module, node: s.Node, function: s.Function) -> bool:
    """Whether a node is a name of `function`; for a method, an attribute of an unknown object may be."""
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


def is_learning(module: Module, node: s.Node, depth: int = _DEPTH) -> bool:
    """Whether `node` is plainly in code that takes gradients.

    That is a module's method, a program or function of a file that calls `backward()`, and what these call.
    """
    function = function_around(node)
    if function is None:
        return _trains(module) and not _is_data(module, node)
    if depth == 0 or around(module, node, "no-gradient") or function.name in named(module, "no-gradient-functions"):
        return False
    klass = module.class_of(function)
    if klass is not None:
        return is_module(module, klass)
    if _is_data(module, node):
        return False
    calls = list(module.calls_to((module.qualified(function),)))
    if not calls:
        return _trains(module)
    return any(may_have_gradient(module, call) and is_learning(module, call, depth - 1) for call in calls)


def _is_data(module: Module, node: s.Node) -> bool:
    """Whether the tensor that a call is about is a sample of the data, as a loop gives it or a name tells."""
    tensor = subject(module, node) if isinstance(node, s.Call) else None
    return tensor is not None and _is_sample(module, tensor)


def _is_sample(module: Module, node: s.Expression, depth: int = 6) -> bool:
    if depth == 0:
        return False
    if isinstance(node, s.Operation):
        return any(_is_sample(module, operand, depth - 1) for operand in node.operands)
    if isinstance(node, s.Call):
        of = node.function.value if isinstance(node.function, s.Attribute) else None
        tensor = subject(module, node) if module.callee(node) else of
        return tensor is not None and _is_sample(module, tensor, depth - 1)
    if isinstance(node, (s.Attribute, s.Subscript)):
        return _is_sample(module, node.value, depth - 1)
    if not isinstance(node, s.Name):
        return False
    if node.id in named(module, "data"):
        return True
    bindings = reaching(node) or ()
    values = [binding.value for binding in bindings if binding.kind == "assign" and binding.value is not None]
    looped = any(binding.kind == "for" for binding in bindings)
    return looped or any(_is_sample(module, value, depth - 1) for value in values)


@asked_once
def _trains(module: Module) -> bool:
    """Whether the file takes gradients itself: something in it calls `backward()`."""
    names = named(module, "backward")
    if next(module.calls_to(names), None) is not None:
        return True
    calls = module.calls_like(words=names)
    return any(isinstance(call.function, s.Attribute) and call.function.attribute in names for call in calls)


@asked_once
def _only_applies(module: Module) -> bool:
    """Whether the file is a script, or a test, that runs its models without gradients and has no word of training."""
    script = any(is_main_guard(statement) for statement in module.file.body.statements)
    if not script and not is_test(module.path):
        return False
    nodes: list[s.Function | s.With] = [*module.every(s.Function), *module.every(s.With)]
    if not any(_applies_models(module, node) for node in nodes):
        return False
    return not _speaks_of_training(module)


@asked_once
def _speaks_of_training(module: Module) -> bool:
    """Whether a file has a word that only code which trains has."""
    names = [name.lower() for name in module.identifiers]
    return any(word in name for word in named(module, "training-words") for name in names)


def _applies_models(module: Module, node: s.Function | s.With) -> bool:
    """Whether a node is a function that is no method of a module, or is in one, and switches gradients off."""
    function = node if isinstance(node, s.Function) else function_around(node)
    klass = None if function is None else module.class_of(function)
    if function is None or (klass is not None and is_module(module, klass)):
        return False
    inner = node.body.statements[0] if node.body.statements else node
    return around(module, inner, "no-gradient")


def _is_dropped(module: Module, value: s.Expression, depth: int = _DEPTH) -> bool:
    """Whether all that is made of a value has no gradient: it is compared, or goes through `argmax()`, `numpy()` ..."""
    node: s.Node = value
    while node.parent is not None:
        parent = node.parent
        if isinstance(parent, s.Operation):
            return parent.operator in ("<", "<=", ">", ">=", "==", "!=")
        if isinstance(parent, s.Assign):
            reads = _reads_of(module, parent) if parent.value is node else []
            return bool(reads) and depth > 0 and all(_is_dropped(module, read, depth - 1) for read in reads)
        if isinstance(parent, s.Subscript):
            node = parent
            continue
        if isinstance(parent, s.Attribute):
            method, call = parent.attribute, parent.parent
        elif isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            call = parent.parent
            method, receiver, _ = method_of(module, call)
            if receiver is not node:
                return False
        else:
            return False
        if method in named(module, "drops-gradient"):
            return True
        if not isinstance(call, s.Call) or method not in named(module, "keeps-gradient"):
            return False
        node = call
    return False


def _reads_of(module: Module, assign: s.Assign) -> list[s.Name]:
    """Where the value of an assignment to one name may be read."""
    target = assign.targets[0]
    if len(assign.targets) > 1 or assign.operator != "=" or not isinstance(target, s.Name):
        return []
    scope = target.scope.find(target.id)
    reads = module.reads(scope, target.id) if scope is not None else []
    return [read for read in reads if any(b.value is assign.value for b in reaching(read) or ())]


def taken_back(module: Module, value: s.Expression) -> s.Call | None:
    """Return the first call of `backward` that takes the gradient of a value, or of what variables are made of it."""
    found: list[s.Call] = []
    queue, seen = [value], {value}
    while queue:
        for node in queue.pop().ancestors():
            if isinstance(node, s.Block):
                break
            if isinstance(node, s.Call) and last_word(node.function) in named(module, "backward"):
                found.append(node)
            if isinstance(node, s.Assign) and node.value is not None:
                new = [read for read in _reads_of_parts(module, node) if read not in seen]
                seen.update(new)
                queue += new
    return min(found, key=lambda call: call.order, default=None)


def _reads_of_parts(module: Module, assign: s.Assign) -> Iterator[s.Name]:
    """Yield where variables are read that an assignment gives a value, or a part of one."""
    for target in (node for each in assign.targets for node in s.walk(each)):
        scope = target.scope.find(target.id) if isinstance(target, s.Name) and target.stored else None
        for read in module.reads(scope, target.id) if isinstance(target, s.Name) and scope is not None else ():
            if any(binding.node is target or binding.value is assign.value for binding in reaching(read) or ()):
                yield read


def _evaluates(module: Module, node: s.Node) -> bool:
    """Whether `node` is in a branch that is not taken in training, or follows one that training leaves by."""
    below: s.Node = node
    for ancestor in node.ancestors():
        if isinstance(ancestor, s.If):
            in_training = _asks_training(module, ancestor.test)
            if in_training is not None and below is (ancestor.orelse if in_training else ancestor.body):
                return True
        if isinstance(ancestor, s.Block) and below in ancestor.statements:
            before = ancestor.statements[: ancestor.statements.index(below)]
            if any(isinstance(one, s.If) and _returns_in_training(module, one) for one in before):
                return True
        below = ancestor
    return False


def _asks_training(module: Module, test: s.Expression) -> bool | None:
    """Whether a test holds in training (True) or in evaluation (False); None: it asks something else."""
    negated = isinstance(test, s.Operation) and test.operator == "not"
    asked = test.operands[0] if isinstance(test, s.Operation) and negated else test
    if isinstance(asked, s.Attribute) and asked.attribute in named(module, "training"):
        return not negated
    return None


def _returns_in_training(module: Module, choice: s.If) -> bool:
    leaves = [one for one in choice.body.statements if isinstance(one, s.Leave) and one.kind in ("return", "raise")]
    return bool(leaves) and _asks_training(module, choice.test) is True
