"""What surrounds a call: whether autograd records there, whether it prepares data, which switches are on."""

from __future__ import annotations

from collections.abc import Iterator

from detlint import syntax as s
from detlint.conditions import applies, subject
from detlint.model import Module
from detlint.scopes import class_of, reaching
from detlint.tensors import is_constant, is_integer, is_on_cpu


def in_program(module: Module, effect: str) -> bool:
    """Whether the file has a call with this effect."""
    return next(_calls(module, effect), None) is not None


def around(module: Module, node: s.Node, effect: str) -> bool:
    """Whether `node` is in a `with` block or decorated function of this effect, or after a statement of it."""
    inside = {id(ancestor) for ancestor in node.ancestors()}
    for ancestor in node.ancestors():
        marks: list[s.Expression] = []
        if isinstance(ancestor, s.With):
            marks = [item.value for item in ancestor.items]
        elif isinstance(ancestor, (s.Function, s.Class)):
            marks = ancestor.decorators
        for mark in marks:
            if any(_has(module, value, effect) for value in module.values(mark) or [mark]):
                return True
    for call in _calls(module, effect):
        statement = call.parent
        if isinstance(statement, s.ExpressionStatement) and call.order < node.order and id(statement.parent) in inside:
            return True
    return False


def _calls(module: Module, effect: str) -> Iterator[s.Call]:
    for row in module.catalogue.rows("contexts", "context"):
        if row.text("effect") == effect:
            for call in module.calls_to(row.list("calls")):
                if applies(module, call, row.list("when"), row.list("unless")):
                    yield call


def _has(module: Module, mark: s.Expression, effect: str) -> bool:
    names = module.callee(mark) if isinstance(mark, s.Call) else module.names(mark)
    for row in module.catalogue.rows("contexts", "context"):
        if row.text("effect") == effect and names and names <= set(row.list("calls")):
            if not isinstance(mark, s.Call):  # a decorator without arguments
                return not row.list("when")
            return applies(module, mark, row.list("when"), row.list("unless"))
    return False


def may_have_gradient(module: Module, call: s.Call) -> bool:
    """Whether a gradient may be taken through `call`; False where it is plain that none is."""
    if around(module, call, "no-gradient") or _evaluates(module, call) or _is_dropped(module, call):
        return False
    function = _function(call)
    if function is not None:
        klass = class_of(function)
        if klass is not None and module.is_a(klass, "autograd-function"):
            return False  # autograd records nothing inside the forward or backward of a Function
        if function.name in _names(module, "no-gradient-functions"):
            return False
        if any(word in p.name for word in _names(module, "no-gradient-parameters") for p in function.parameters):
            return False
    tensor = subject(module, call)
    return tensor is None or not (is_integer(module, tensor) or is_constant(module, tensor))


def is_learning(module: Module, node: s.Node, depth: int = 4) -> bool:
    """Whether `node` is plainly in code that takes gradients.

    That is a module's method, a program or function of a file that calls `backward()`, and what these call.
    """
    function = _function(node)
    if function is None:
        return _trains(module) and not _is_data(module, node)
    if depth == 0 or around(module, node, "no-gradient") or function.name in _names(module, "no-gradient-functions"):
        return False
    klass = module.class_of(function)
    if klass is not None:
        return _is_module(module, klass)
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
    if node.id in _names(module, "data"):
        return True
    bindings = reaching(node) or ()
    values = [binding.value for binding in bindings if binding.kind == "assign" and binding.value is not None]
    looped = any(binding.kind == "for" for binding in bindings)
    return looped or any(_is_sample(module, value, depth - 1) for value in values)


def _trains(module: Module) -> bool:
    """Whether the file takes gradients itself: something in it calls `backward()`."""
    names = _names(module, "backward")
    if next(module.calls_to(names), None) is not None:
        return True
    return any(isinstance(call.function, s.Attribute) and call.function.attribute in names for call in module.calls)


def _is_module(module: Module, klass: s.Class) -> bool:
    return module.is_a(klass, "module") or any(module.method(klass, m) for m in _names(module, "module-methods"))


def _function(node: s.Node) -> s.Function | None:
    return next((a for a in node.ancestors() if isinstance(a, s.Function) and a.name != "<lambda>"), None)


def _names(module: Module, kind: str) -> frozenset[str]:
    return module.catalogue.names("contexts", "code", id=kind)


def _is_dropped(module: Module, call: s.Call) -> bool:
    """Whether what is made of the result has no gradient: it is compared, or goes through `argmax()`, `numpy()` ..."""
    node: s.Node = call
    while node.parent is not None:
        parent = node.parent
        if isinstance(parent, s.Operation):
            return parent.operator in ("<", "<=", ">", ">=", "==", "!=")
        if isinstance(parent, s.Attribute):
            if parent.attribute in _names(module, "drops-gradient"):
                return True
            if not isinstance(parent.parent, s.Call) or parent.attribute not in _names(module, "keeps-gradient"):
                return False
            parent = parent.parent
        elif not isinstance(parent, s.Subscript):
            return False
        node = parent
    return False


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
    if isinstance(asked, s.Attribute) and asked.attribute in _names(module, "training"):
        return not negated
    return None


def _returns_in_training(module: Module, choice: s.If) -> bool:
    leaves = [one for one in choice.body.statements if isinstance(one, s.Leave) and one.kind in ("return", "raise")]
    return bool(leaves) and _asks_training(module, choice.test) is True


def may_be_on_gpu(module: Module, call: s.Call) -> bool:
    """Whether `call` may work on a GPU; False where its tensor is on the CPU, and where data is prepared."""
    klass = module.class_of(call)
    if klass is not None:
        if module.is_a(klass, "dataset") or not _names(module, "data-bases").isdisjoint(module.ancestry(klass)):
            return False
        if not _is_module(module, klass) and _names(module, "data-methods") & klass.scope.bindings.keys():
            return False
    tensor = subject(module, call)
    return tensor is None or not is_on_cpu(module, tensor)
