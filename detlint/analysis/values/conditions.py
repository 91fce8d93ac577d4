"""Conditions of the tables of facts on a call's arguments: `mode=bilinear`, `!generator`, `@rank=1` ..."""

from __future__ import annotations

import re
from collections.abc import Iterable

from detlint.analysis.values.element_types import element_type
from detlint.analysis.values.held import held
from detlint.analysis.values.indices import index_values, is_one_a_row, literal_argument
from detlint.analysis.values.layouts import no_fused_kernel
from detlint.analysis.values.parameters import usual_values
from detlint.analysis.values.tensors import is_integer, is_whole, is_zeros, listed, rank
from detlint.semantics.infer import TENSOR
from detlint.semantics.model import Module, Passed
from detlint.semantics.values import UNKNOWN, among, literal
from detlint.tree import syntax as s

_PATTERN = re.compile(r"(?P<not>!)?(?P<name>@?!?\w+(?:\.\w+)*)(?:(?P<operator>!=|>=|=|:)(?P<values>.*))?")
_DEVICE = "torch.device"
_TENSOR = ["Tensor"]


def applies(module: Module, call: s.Call, when: Iterable[str], unless: Iterable[str], *, usual: bool = False) -> bool:
    """Return whether all of `when` are known to hold and all of `unless` are known not to.

    With `usual`, a parameter counts as known: it is what the calls in the file pass for it, else its default.
    """
    if any(holds(module, call, condition, usual) is not True for condition in when):
        return False
    return all(holds(module, call, condition, usual) is False for condition in unless)


def verdict(module: Module, call: s.Call, when: Iterable[str], unless: Iterable[str]) -> bool | None:
    """Return whether all of `when` hold and none of `unless` does; None where one is not known and none decides."""
    known: bool | None = True
    for conditions, wanted in ((when, True), (unless, False)):
        for condition in conditions:
            answer = holds(module, call, condition)
            if answer is None:
                known = None
            elif answer is not wanted:
                return False
    return known


def holds(module: Module, call: s.Call, condition: str, usual: bool = False) -> bool | None:
    """Return whether a condition holds for `call`; None where that cannot be decided. Raises ValueError if malformed.

    `p=a|b`: p's constant value, or the qualified name of what it is, is one of these, `p!=a`: none of these, `p`: given
    and not None, `!p`: absent or None, `p:Tensor`: a tensor, `p:a|b`: made by a call of one of these. `p.q=a` is about
    what p holds: its entry `q` where it is a dict, else what the call that made it was given for `q`. `@known:p=a`: p=a
    is known to hold. `@rank=1` and `@rank>=3` are about the tensor's dimensions, `@float` about its element type,
    `@repeats:p` and `@unique:p` about the values of an index (`@!unique:p`: not known to be unique), `@length:p=4`
    about the number of elements of a tuple or list, `@one_way:p` about a padding known to be along one dimension.
    `@zeros`: the tensor is made of zeros, `@inexact:p`: not known to hold whole numbers, whose sum is exact.
    `@dtype:p!=int32|int64`: p's element type is not known to be one of these. `@unfused`: no fused kernel can take the
    shapes that the attention is given. `@says:a|b`: the file has one of these words.
    """
    match = _PATTERN.fullmatch(condition)
    if match is None:
        raise ValueError(f"not a condition: {condition!r}")
    name, operator, values = match["name"], match["operator"], match["values"] or ""
    if name.startswith("@"):
        return _about_value(module, call, name, operator, values)
    answers = {_answer(module, passed, operator, values.split("|"), usual) for passed in held(module, call, name)}
    answer = answers.pop() if len(answers) == 1 else None
    return answer if not match["not"] or answer is None else not answer


def _answer(module: Module, passed: Passed, operator: str | None, wanted: list[str], usual: bool) -> bool | None:
    """Return whether what may be passed satisfies a condition; None where that is not known."""
    if operator == ":":
        if not passed.values:
            return None if passed.given is None else False
        if wanted == _TENSOR:
            return True if all(module.is_tensor(value) for value in passed.values) else None
        return _is_made_by(module, passed, wanted)
    possible = _possible(module, passed, usual)
    if operator is None:
        if possible is not None:
            given = {value != "None" for value in possible}
            return given.pop() if len(given) == 1 else None
        return True if passed.given else None
    if possible is None:
        return None
    answers = {among(value, wanted) for value in possible}
    if len(answers) != 1:
        return None
    return answers.pop() is (operator != "!=")


def _is_made_by(module: Module, passed: Passed, wanted: list[str]) -> bool | None:
    """Return whether what is passed was made by calls of some names; None where it may come from elsewhere."""
    answers = {
        _makes(module, value, wanted)
        for expression in passed.values
        for value in module.values(expression) or [expression]
    }
    return answers.pop() if len(answers) == 1 and passed.given else None


def _makes(module: Module, value: s.Expression, wanted: list[str]) -> bool | None:
    """Return whether a value is a call of one of some names: False for another class or a constant, None if unknown."""
    if not isinstance(value, s.Call):
        return None if literal(value) is UNKNOWN else False
    callee = module.callee(value)
    if callee and callee.issubset(wanted):
        return True
    other = bool(callee) and callee.isdisjoint(wanted) and all(n.rpartition(".")[2][:1].isupper() for n in callee)
    return False if other else None


def _possible(module: Module, passed: Passed, usual: bool) -> list[str] | None:
    """Return all values that a parameter may have, as the tables spell them; None where one is not known."""
    if passed.given is False:
        return ["None" if passed.default is UNKNOWN else _spelled(passed.default)]
    if not passed.values:
        return None
    found = [] if passed.given else [passed.default]
    if UNKNOWN in found:
        return None
    spelled = [_spelled(value) for value in found]
    for expression in passed.values:
        values = usual_values(module, expression) if usual else module.values(expression)
        for value in values or [expression]:
            text = _text(module, value)
            if text is None:
                return None
            spelled.append(text)
    return spelled


def _text(module: Module, node: s.Expression) -> str | None:
    """Return a constant, a qualified name, or the one element that a tuple or list repeats; None: not known."""
    value = literal(node)
    if value is not UNKNOWN:
        return _spelled(value)
    if isinstance(node, s.Call) and module.callee(node) == {_DEVICE} and len(node.arguments) == 1:
        value = literal(node.arguments[0].value)
        return value if isinstance(value, str) else None
    if isinstance(node, s.Collection):
        texts = {_text(module, element) for element in node.elements}
        return texts.pop() if len(texts) == 1 else None
    name = module.name(node)
    owner = "" if name is None else name.rpartition(".")[0]
    return None if owner in module.classes else name  # an attribute of an object is not the class's default


def _spelled(value: object) -> str:
    """Return a constant as the tables write it; a tuple of equal elements is that element."""
    if isinstance(value, tuple) and value and all(item == value[0] for item in value):
        value = value[0]
    return str(value)


def _about_value(module: Module, call: s.Call, name: str, operator: str | None, values: str) -> bool | None:
    if name == "@known":
        return holds(module, call, values) is True
    if name == "@says":
        return not module.words.isdisjoint(values.split("|"))
    if name == "@length":
        parameter, _, wanted = values.partition("=")
        length = _length(module, module.argument(call, parameter))
        return None if length is None else length == int(wanted)
    if name == "@one_way":
        pads = module.argument(call, values).values
        return bool(pads) and all(_is_one_way(each) for pad in pads for each in module.values(pad) or [pad])
    if name == "@unfused":
        return no_fused_kernel(module, call)
    if name == "@inexact":
        given = module.argument(call, values).values
        return not given or not all(is_whole(module, value) for value in given)
    if name == "@dtype":
        parameter, _, types = values.partition("!=")
        given = module.argument(call, parameter).values
        return {element_type(module, value) for value in given}.isdisjoint(types.split("|"))
    if name in ("@repeats", "@unique", "@!unique"):
        dim = literal_argument(module, call, "dim")
        along = dim if isinstance(dim, int) else None
        kinds = {
            "unique" if is_one_a_row(module, value, along) else index_values(module, value, along)
            for value in module.argument(call, values).values
        }
        if name == "@!unique":
            return kinds != {"unique"}
        if not kinds or None in kinds:
            return None
        return kinds == {name[1:]}
    tensor = subject(module, call)
    if name == "@zeros":
        return None if tensor is None else is_zeros(module, tensor) or None
    if name == "@float":
        return tensor is None or not is_integer(module, tensor)
    if name == "@rank":
        found = None if tensor is None else rank(module, tensor)
        if found is None:
            return None
        exact, least = found
        if operator == ">=":
            return True if least >= int(values) else False if exact is not None else None
        return exact == int(values) if exact is not None else False if least > int(values) else None
    raise ValueError(f"not a condition: {name!r}")


def _length(module: Module, passed: Passed) -> int | None:
    lengths = set()
    for expression in passed.values:
        for value in module.values(expression) or [expression]:
            if not isinstance(value, s.Collection) or any(isinstance(e, s.Starred) for e in value.elements):
                return None
            lengths.add(len(value.elements))
    return lengths.pop() if len(lengths) == 1 else None


def _is_one_way(node: s.Expression) -> bool:
    """Return whether a padding, two numbers for each dimension, is of zeros for all dimensions but one."""
    if not isinstance(node, s.Collection) or any(isinstance(e, s.Starred) for e in node.elements):
        return False
    pairs = [node.elements[at : at + 2] for at in range(0, len(node.elements), 2)]
    return sum(any(literal(element) != 0 for element in pair) for pair in pairs) <= 1


def subject(module: Module, call: s.Call) -> s.Expression | None:
    """Return the tensor that a call is about: a method's receiver, a table's weight, else the first argument.

    A constructor has none, and None is returned where the tensor is not known.
    """
    callee = module.callee(call)
    if isinstance(call.function, s.Attribute) and any(name.startswith(f"{TENSOR}.") for name in callee):
        return call.function.value
    if any(name.rpartition(".")[2][:1].isupper() for name in callee):
        return None
    signature = module.signature(callee)
    if signature:
        looks_up = callee <= listed(module, "table-of-weight")
        passed = module.argument(call, "weight" if looks_up else signature[0][0])
        return passed.values[0] if passed.given and passed.values else None
    first = call.arguments[0] if call.arguments else None
    return first.value if first is not None and not first.star and first.keyword is None else None
