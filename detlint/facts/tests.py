"""Detection of files with tests: a script may be named like a test but be run like any other."""

from __future__ import annotations

from detlint.semantics.model import Module
from detlint.sources.source import is_test
from detlint.tree import syntax as s
from detlint.tree.scopes import is_main_guard

# What pytest collects: https://docs.pytest.org/en/stable/explanation/goodpractices.html#test-discovery
_FUNCTION = "test"
_CLASS = "Test"
_BASE = "TestCase"  # what unittest and the frameworks derived from it collect


def holds_tests(module: Module) -> bool:
    """Return whether a test runner imports a file for its contents: tests, or what they share."""
    if not is_test(module.path):
        return False
    return (
        module.path.endswith("conftest.py")
        or _imports_runner(module)
        or any(_is_test(module, function) for function in module.every(s.Function))
        or any(_is_test_case(klass) for klass in module.every(s.Class))
    )


def _imports_runner(module: Module) -> bool:
    runners = module.catalogue.names("program", "runner")
    imported = (name for node in module.every(s.Import) if not node.level for name in _names(node))
    return any(name.partition(".")[0] in runners for name in imported)


def _names(node: s.Import) -> list[str]:
    return [name for name, _ in node.names] if node.module is None else [node.module]


def _is_test(module: Module, function: s.Function) -> bool:
    """Return whether a function is left to a test runner: the file itself does not call it with arguments."""
    if not function.name.startswith(_FUNCTION) or not _is_at_top(function):
        return False
    reads = module.reads(module.file.scope, function.name)
    calls = [read.parent for read in reads if isinstance(read.parent, s.Call) and read.parent.function is read]
    return not any(call.arguments or function.name == _FUNCTION for call in calls if not _is_trial(call))


def _is_at_top(node: s.Node) -> bool:
    return not any(isinstance(each, (s.Function, s.Class)) for each in node.ancestors())


def _is_trial(call: s.Call) -> bool:
    """Return whether a call is a statement of its own in a `__main__` block."""
    block = call.parent.parent if isinstance(call.parent, s.ExpressionStatement) else None
    return block is not None and block.parent is not None and is_main_guard(block.parent)


def _is_test_case(klass: s.Class) -> bool:
    """Return whether a class has tests, or inherits them from a class that does."""
    bases = [_last(each.value) for each in klass.arguments if each.keyword is None]
    own = [each.name for each in klass.body.statements if isinstance(each, s.Function)]
    if any(name.startswith(_FUNCTION) for name in own):
        return any(_CLASS in name for name in (klass.name, *bases))
    return any(base.endswith(_BASE) or (_CLASS in base and not own) for base in bases)


def _last(node: s.Expression) -> str:
    """Return the last part of a dotted name; "" for any other expression."""
    return node.attribute if isinstance(node, s.Attribute) else node.id if isinstance(node, s.Name) else ""
