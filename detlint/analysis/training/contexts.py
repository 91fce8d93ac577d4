"""The context of a call: which switches are on, what kind of class it is in, whether it may be on a GPU."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from detlint.analysis.values.conditions import applies, subject
from detlint.analysis.values.tensors import is_on_cpu
from detlint.semantics.index import asked_once
from detlint.semantics.model import Module
from detlint.tree import syntax as s


@asked_once
def in_program(module: Module, effect: str) -> bool:
    """Return whether the file has a call with this effect."""
    return next(_calls(module, effect), None) is not None


def around(module: Module, node: s.Node, effect: str) -> bool:
    """Return whether `node` is in a `with` block or decorated function of this effect, or after a statement of it."""
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
    for row in module.rows_like("contexts", "context"):
        if row.text("effect") == effect:
            for call in module.calls_to(row.list("calls")):
                if applies(module, call, row.list("when"), row.list("unless")):
                    yield call


def _has(module: Module, mark: s.Expression, effect: str) -> bool:
    names = module.callee(mark) if isinstance(mark, s.Call) else module.names(mark)
    for row in module.catalogue.rows("contexts", "context"):
        if row.text("effect") == effect and names and names <= row.set("calls"):
            if not isinstance(mark, s.Call):  # a decorator without arguments
                return not row.list("when")
            return applies(module, mark, row.list("when"), row.list("unless"))
    return False


def is_module(module: Module, klass: s.Class) -> bool:
    """Return whether a class is a module, by its bases or by its methods."""
    return module.is_a(klass, "module") or any(module.method(klass, m) for m in named(module, "module-methods"))


def function_around(node: s.Node) -> s.Function | None:
    """Return the innermost `def` around a node, or None."""
    return next((a for a in node.ancestors() if isinstance(a, s.Function) and a.name != "<lambda>"), None)


def docstring(node: s.Function | s.Class) -> str:
    """Return the docstring of a function or a class; "" where there is none."""
    first = node.body.statements[0] if node.body.statements else None
    text = first.value if isinstance(first, s.ExpressionStatement) else None
    return text.value if isinstance(text, s.Constant) and isinstance(text.value, str) else ""


def named(module: Module, kind: str) -> frozenset[str]:
    """Return one of the lists of names in `contexts.toml`."""
    return module.catalogue.names("contexts", "code", id=kind)


def makes_object(names: Collection[str]) -> bool:
    """Return whether names are those of classes, by their capitals."""
    return bool(names) and all(name.rpartition(".")[2][:1].isupper() for name in names)


def may_be_on_gpu(module: Module, call: s.Call) -> bool:
    """Return whether `call` may run on a GPU: not if its tensor or index is on the CPU, nor where data is prepared."""
    klass = module.class_of(call)
    if klass is not None:
        if module.is_a(klass, "dataset") or not named(module, "data-bases").isdisjoint(module.ancestry(klass)):
            return False
        if not is_module(module, klass) and named(module, "data-methods") & klass.scope.bindings.keys():
            return False
    tensor = subject(module, call)
    given = [*module.argument(call, "index").values, *([] if tensor is None else [tensor])]
    return not any(is_on_cpu(module, each) for each in given)


def shown(module: Module, call: s.Call) -> str:
    """Return the text of what is called, on one line; a long receiver is left out."""
    text = module.short(call.function, 60)
    if text.endswith("...") and isinstance(call.function, s.Attribute):
        return f"(...).{call.function.attribute}"
    return text
