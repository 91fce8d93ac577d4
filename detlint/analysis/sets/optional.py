"""Values that may be None."""

from __future__ import annotations

from detlint.semantics.model import Module
from detlint.tree import syntax as s


def may_be_none(module: Module, node: s.Expression) -> bool:
    """Return whether a value may be None by its type, and no test around it has told that it is not."""
    if "builtins.NoneType" not in module.proven(node):
        return False
    text = module.source(node)
    below: s.Node = node
    for around in node.ancestors():
        tests = [around.test] if isinstance(around, (s.If, s.Conditional)) and below is around.body else []
        if isinstance(around, s.Comprehension):
            tests = [test for clause in around.clauses for test in clause.tests]
        if any(_is_told(module, test, text) for test in tests):
            return False
        below = around
    return True


def _is_told(module: Module, test: s.Expression, text: str) -> bool:
    """Return whether a test only holds where the value of a text of the program is not None."""
    if isinstance(test, s.Operation) and test.operator == "and":
        return any(_is_told(module, operand, text) for operand in test.operands)
    if isinstance(test, s.Operation) and test.operator == "is not":
        return [module.source(operand) for operand in test.operands] == [text, "None"]
    return module.source(test) == text
