"""Operators: what they make of texts, numbers and containers, and how comparisons end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from detlint.domain import taints as t
from detlint.domain.atoms import (
    NOT_NONE,
    TRUE,
    Atom,
    Choice,
    ClassRef,
    Constant,
    Cut,
    Formal,
    FunctionRef,
    Instance,
    IteratorOver,
    LibraryRef,
    ModuleRef,
    Option,
    TupleOf,
    Unknown,
)  # fmt: skip
from detlint.domain.choices import chooses_objects
from detlint.domain.folding import COMPARISONS, OPERATORS, SIGNS, folded, known, read
from detlint.domain.outcomes import (
    EITHER,
    FAILS,
    HOLDS,
    NEVER,
    Outcome,
    answer,
    both,
    chosen,
    decided,
    either,
    is_none,
    told,
    truth,
)
from detlint.domain.slots import ANY_KEY, CONTENTS, FILLED, Key
from detlint.domain.values import NOTHING, Value, is_container, is_member, value_of
from detlint.interpreter import containers, protocols, unsettled
from detlint.interpreter.frames import Frame
from detlint.interpreter.frames import Key as PathKey
from detlint.ir import nodes as ir

_KEPT = (Instance, IteratorOver, TupleOf)
_FLAT = (FunctionRef, ClassRef, ModuleRef)  # what equals no constant
_ENVIRONMENT = LibraryRef("os.environ")


def computed(frame: Frame, operator: str, operands: list[Value], *, counts: bool = False) -> Value:
    """What an operator makes of operands: what differs in them differs in it.

    Of numbers nothing is made that `counts` up or down: it would go on for ever.
    """
    if not all(operand.atoms for operand in operands):
        return NOTHING
    taints = certain = t.NONE
    for operand in operands:
        taints, certain = taints | operand.taints, certain | operand.certain
    name = operator.removesuffix("=")
    if operator == "f-string":
        found = folded(lambda *parts: "".join(map(str, parts)), [frame.resolve(operand) for operand in operands])
    elif len(operands) == 1:
        found = _of_one(frame, name, operands[0], counts)
    else:
        found = _of_two(frame, name, operands, counts)
    return Value(frame.solver.lattice.kept(found.atoms), taints, certain)


def _of_one(frame: Frame, name: str, operand: Value, counts: bool) -> Value:
    if name == "not":
        return told(truth_of(frame, operand).inverted())
    function = SIGNS.get(name)
    return value_of(NOT_NONE) if function is None or counts else folded(function, [frame.resolve(operand)])


def _with_origin(frame: Frame, operand: Value) -> list[tuple[Atom, bool]]:
    """The atoms of an operand, and whether each is the function's own: what is given may be what it counts."""
    given = operand.of(atom for atom in operand.atoms if isinstance(atom, Formal))
    own = operand.of(operand.atoms - given.atoms)
    return [*((atom, True) for atom in frame.each(own)), *((atom, False) for atom in frame.each(given))]


def _of_two(frame: Frame, name: str, operands: list[Value], counting: bool) -> Value:
    """What an operator makes of two operands, atom by atom: containers may be either where it joins these."""
    found: set[Atom] = set()
    pairs = product(*(_with_origin(frame, operand) for operand in operands))
    for (left, mine), (right, others) in pairs:
        counts = counting or not (mine and others)
        kept = [atom for atom in (left, right) if isinstance(atom, _KEPT)]
        if name == "%" and _is_text(left):
            parts = right.items if isinstance(right, TupleOf) else (value_of(right),)
            found |= folded(lambda text, *given: text % given, [value_of(left), *parts]).atoms
        elif kept and name in ("+", "|", "*"):
            found.update(kept)
            found.update(atom for atom in (left, right) if isinstance(atom, (Unknown, Cut)))  # and all its items
            if name != "+":
                found.update(NOT_NONE for atom in (left, right) if not isinstance(atom, _KEPT))
        elif kept or name not in OPERATORS or (counts and not (_is_text(left) and name in ("+", "*"))):
            found.add(NOT_NONE)
        else:
            found |= folded(OPERATORS[name], [value_of(left), value_of(right)]).atoms
    return Value(frozenset(found))


def _is_text(atom: Atom) -> bool:
    if isinstance(atom, Choice):
        return any(map(_is_text, atom.default.atoms))
    return isinstance(atom, Constant) and atom.kind in ("str", "bytes")


# Tests


def truth_of(frame: Frame, value: Value, node: int = -1, path: PathKey | None = None) -> Outcome:
    """Whether a value is true, as objects say themselves; what is written down with items in it is.

    A dict that a `path` is given here without entries is not.
    """
    resolved = frame.resolve(value)
    choices = [a for a in frame.solver.lattice.each(resolved) if isinstance(a, Choice) and chooses_objects(a)]
    if choices:
        others = resolved.of(resolved.atoms.difference(choices))
        outcomes = [chosen(a, *(truth_of(frame, part, node) for part in (a.default, a.other))) for a in choices]
        return either([*outcomes, truth_of(frame, others, node, path)] if others.atoms else outcomes)
    if not any(isinstance(atom, Instance) for atom in resolved.atoms):
        return truth(resolved)
    own, rest = protocols.judged(frame, resolved, node)
    return either([*own, *(truth_of_atom(frame, atom, path) for atom in rest)])


def truth_of_atom(frame: Frame, atom: Atom, path: PathKey | None = None) -> Outcome:
    """The same of an atom, which is not asked itself."""
    if isinstance(atom, Instance) and atom.site.kind == containers.DICT:
        return containers.is_filled(frame, atom, path)
    display = frame.solver.index.display(atom.site) if isinstance(atom, Instance) else None
    if not isinstance(atom, Instance) or (display is not None and frame.solver.index.shrinks(atom.site)):
        return truth(value_of(atom))
    starred = isinstance(display, ir.Display) and any(isinstance(x, ir.Starred) for x in display.elements)
    listed = isinstance(display, ir.Display) and bool(display.elements) and not starred
    filled = isinstance(display, ir.Comprehension) and frame.read((atom.site, FILLED)) == value_of(TRUE)
    if isinstance(display, ir.Display) and not display.elements:
        return _of_empty(frame, atom)
    return HOLDS if listed or filled else protocols.is_true(frame, atom)


def _of_empty(frame: Frame, atom: Instance) -> Outcome:
    """Whether a list that is made empty is true: once it has surely got an item it is."""
    if unsettled.waits(frame, atom.site):
        return NEVER
    held = frame.join(frame.read((atom.site, CONTENTS)), unsettled.contents(frame, atom.site))
    filled = held.atoms and all(isinstance(each, TupleOf) and each.items for each in held.atoms)
    return HOLDS if filled else protocols.is_true(frame, atom)


def is_filled(frame: Frame, value: Value) -> bool:
    """Whether a value is a container, or one of some, that surely has an item."""
    atoms = frame.each(value)
    return bool(atoms) and all(
        (isinstance(each, TupleOf) or is_container(each)) and truth_of_atom(frame, each) == HOLDS for each in atoms
    )


def comparison(frame: Frame, operator: str, left: Value, right: Value, node: int) -> Value:
    """What a comparison gives: of what is not known it may be an array, too."""
    outcomes, left, right = protocols.compared(frame, operator, frame.resolve(left), frame.resolve(right), node)
    found = told(either(outcomes)) if outcomes else NOTHING
    for one, other in product(frame.each(left), frame.each(right)):
        outcome = _compared(frame, operator, one, other)
        certain = outcome.options or not (outcome.may_hold and outcome.may_fail)
        plain = certain or operator in ("in", "not in")  # which are always True or False
        found = frame.join(found, told(outcome) if plain else value_of(NOT_NONE))
    return found


def judged(frame: Frame, operator: str, left: Value, right: Value, node: int) -> Outcome:
    """How a comparison ends: by methods of objects of the project, or by what its operands are."""
    outcomes, left, right = protocols.compared(frame, operator, frame.resolve(left), frame.resolve(right), node)
    if not outcomes:
        return compared(frame, operator, left, right)
    both_left = left.atoms and right.atoms
    return either([*outcomes, compared(frame, operator, left, right)] if both_left else outcomes)


def compared(frame: Frame, operator: str, left: Value, right: Value) -> Outcome:
    """How a comparison of two values ends."""
    if not (left.atoms and right.atoms):
        return NEVER
    pairs = product(*(frame.solver.lattice.each(frame.resolve(side)) for side in (left, right)))
    return either([_compared(frame, operator, one, other) for one, other in pairs])


def _compared(frame: Frame, operator: str, left: Atom, right: Atom) -> Outcome:
    choice = left if isinstance(left, Choice) else right
    if isinstance(choice, Choice):
        one, other = (
            compared(frame, operator, _part(left, choice.option, set_), _part(right, choice.option, set_))
            for set_ in (False, True)
        )
        return chosen(choice, one, other)
    if operator in ("in", "not in"):
        found = _contained(frame, left, right)
    elif isinstance(right, Constant) and right.kind == "None" and operator in _SAME:
        found = is_none(value_of(left))
    elif isinstance(left, Constant) and left.kind == "None" and operator in _SAME:
        found = is_none(value_of(right))
    elif isinstance(left, Constant) and isinstance(right, Constant):
        return _of_constants(_SAME.get(operator, operator), left, right)
    elif is_member(left) and is_member(right) and operator in _SAME:
        found = answer(left == right)
    elif isinstance(left, _FLAT) and isinstance(right, Constant):
        found = FAILS if operator in _SAME else EITHER
    else:
        found = EITHER
    return found.inverted() if operator in ("!=", "is not", "not in") else found


_SAME = {"==": "==", "!=": "!=", "is": "==", "is not": "!="}


def _part(atom: Atom, option: Option, set_: bool) -> Value:
    """What an atom is where an option is set, or is not."""
    if isinstance(atom, Choice) and atom.option == option:
        return atom.other if set_ else atom.default
    return value_of(atom)


def _of_constants(operator: str, left: Constant, right: Constant) -> Outcome:
    if not (known(left) and known(right)):
        return EITHER
    try:
        return answer(bool(COMPARISONS[operator](read(left), read(right))))
    except TypeError:
        return EITHER


def _contained(frame: Frame, item: Atom, whole: Atom) -> Outcome:
    """Whether something is in a text, a tuple or a list that is written down, or among the keys of such a dict."""
    if isinstance(item, Constant) and isinstance(whole, Constant):
        return _of_constants("in", item, whole)
    if isinstance(whole, TupleOf):
        return _among(frame, item, whole.items)
    if whole == _ENVIRONMENT and isinstance(item, Constant):
        return decided((Option(item.value, frame.code(-1)),), False, True)  # a variable that nobody has set
    if not isinstance(whole, Instance):
        return EITHER
    if not isinstance(item, Constant):
        return containers.has(frame, whole, item)
    display = frame.solver.index.display(whole.site)
    if isinstance(display, ir.Display):
        return _among(frame, item, [frame.read((whole.site, slot)) for slot in _places(display)], whole)
    return containers.has(frame, whole, item)


def _places(display: ir.Display) -> list[Key]:
    return [Key(Constant("int", str(index))) for index in range(len(display.elements))]


def _among(frame: Frame, item: Atom, values: Sequence[Value], whole: Instance | None = None) -> Outcome:
    """Whether something is one of some values, or of what else may be in a list."""
    outcomes = [compared(frame, "==", value_of(item), value) for value in values]
    if whole is not None and (rest := frame.read((whole.site, ANY_KEY))).atoms:
        outcomes.append(either((FAILS, compared(frame, "==", value_of(item), rest))))
    return both(outcome.inverted() for outcome in outcomes).inverted()


Judge = Callable[[Value], Outcome]


def judge(frame: Frame, operator: str, right: Value) -> Judge:
    """What a comparison asks of its left side."""
    return lambda value: compared(frame, operator, value, right)
