"""Values whose hash is salted in each process: texts, bytes, paths and tuples with one of these."""

from __future__ import annotations

from detlint.catalogue import Catalogue
from detlint.domain import taints as t
from detlint.domain.atoms import Atom, Choice, Constant, TupleOf
from detlint.domain.step import Step
from detlint.domain.taints import Taint
from detlint.domain.values import SOMETHING, Value
from detlint.ir import nodes as ir
from detlint.ir.counting import last
from detlint.ir.uses import Uses

_FURTHEST = 3  # variables that a text is handed on by
_TEXTS = ("str", "bytes")


class Salted:
    """Tells what the hash of a value is, by what the value may be and by the text."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        one = {"kind": "text", "gives": "one"}
        self._made = catalogue.names("order", "element", **one) | catalogue.names("order", "element", "types", **one)
        self._methods = catalogue.names("order", "element", "methods", **one)
        self._adds = {name.rpartition(".")[2] for name in catalogue.names("program", "role", kind="option")}
        self._held = catalogue.names("order", "element", kind="text", gives="item")

    def hashed(self, step: Step, value: Value) -> Value:
        """The hash of a value: a number that differs where that is a text."""
        taints = frozenset((Taint("entropy", step.code, "number"),))
        call = step.uses.calls.get((step.code.function, step.code.node))
        given = call.part.arguments if call is not None else ()
        if given and self._is_text(step.uses, given[0].value, step.code.function, _FURTHEST):
            return SOMETHING.with_taints(taints, taints)
        told = [_has_text(atom) for atom in step.each(value)]
        perhaps = any(told) or any(self._may_be_given(step.uses, atom) for atom in step.each(value))
        own = SOMETHING.with_taints(taints, taints if all(told) else t.NONE) if perhaps else SOMETHING
        return own.with_taints(own.taints | t.numbers(value.taints), own.certain | t.numbers(value.certain))

    def _is_text(self, uses: Uses, expression: ir.Expression, function: str, further: int) -> bool:
        """Whether an expression is known, by the text, to be or to hold a text."""
        if isinstance(expression, ir.Constant):
            return expression.kind in _TEXTS and bool(expression.value)  # the hash of no text is 0
        if isinstance(expression, ir.Display):
            return any(self._is_text(uses, each, function, further) for each in expression.elements)
        if isinstance(expression, ir.Operation):
            return expression.operator == "f-string"
        if isinstance(expression, ir.Subscript):
            whole = isinstance(expression.key, ir.Slice)
            return not whole and self._named(uses, expression.value, function) in self._held
        if isinstance(expression, ir.Call):
            method = expression.function
            by_name = isinstance(method, ir.Attribute) and method.name in self._methods
            return by_name or self._named(uses, method, function) in self._made
        variable = uses.variable(expression, function)
        given = uses.given.get(variable, []) if variable is not None and further else []
        if variable is not None and not given:
            return self._is_annotated(uses, *variable)
        return len(given) == 1 and given[0] is not None and self._is_text(uses, given[0], function, further - 1)

    def _may_be_given(self, uses: Uses, atom: Atom) -> bool:
        """Whether an atom is an option of this file that a user gives a text."""
        code = atom.option.code if isinstance(atom, Choice) and atom.other == SOMETHING else None
        call = uses.calls.get((code.function, code.node)) if code is not None and code.file == uses.file.path else None
        if code is None or call is None or last(call.part.function) not in self._adds:
            return False
        given = {argument.keyword: argument.value for argument in call.part.arguments}
        text = "type" not in given or self._named(uses, given["type"], code.function) == "builtins.str"
        return text and "action" not in given

    @staticmethod
    def _is_annotated(uses: Uses, function: str, name: str) -> bool:
        """Whether a variable is a parameter that is annotated as a text."""
        found = uses.file.functions.get(function)
        return found is not None and any(each.name == name and each.kind for each in found.parameters)

    def _named(self, uses: Uses, expression: ir.Expression, function: str) -> str:
        return self._catalogue.canonical(uses.named(expression, function))


def _has_text(atom: Atom) -> bool:
    """Whether an atom is a text, or a tuple that holds one; of an option the default."""
    if isinstance(atom, TupleOf):
        return any(item.atoms and all(map(_has_text, item.atoms)) for item in atom.items)
    if isinstance(atom, Choice):
        return bool(atom.default.atoms) and all(map(_has_text, atom.default.atoms))
    return isinstance(atom, Constant) and atom.kind in _TEXTS and bool(atom.value)
