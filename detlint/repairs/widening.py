"""Whether a call that seeds one generator may seed others with the same number."""

from __future__ import annotations

from collections.abc import Iterator

from detlint import catalogue as catalogues
from detlint.analysis.seeds.seeds import is_number_at, is_whole
from detlint.semantics.model import Module
from detlint.semantics.values import UNKNOWN, literal
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching


def takes(module: Module, call: s.Call) -> bool:
    """Return whether the argument of a seeding call may seed all generators: one whole number that NumPy accepts.

    torch accepts only numbers. Python and NumPy accept many types, such as text and arrays: an argument of unknown
    value must then be called a seed, and the file must show that it is a number.
    """
    if len(call.arguments) != 1 or call.arguments[0].star or call.arguments[0].keyword:
        return False
    seed = call.arguments[0].value
    if isinstance(seed, s.Call) and any(name.startswith("torch.") for name in module.callee(seed)):
        return False  # a seed of torch may have 64 bits
    constants = [literal(v) for v in module.values(seed) or ()]
    if any(c is not UNKNOWN and not (is_whole(c) or (c is None and _of_torch(module, call))) for c in constants):
        return False
    plain = isinstance(seed, (s.Name, s.Attribute, s.Subscript)) or (isinstance(seed, s.Operation) and _is_sum(seed))
    known = bool(constants) and UNKNOWN not in constants
    if known or _of_torch(module, call):
        return True
    return plain and "seed" in module.source(seed).lower() and _is_number(module, call, seed)


def _is_number(module: Module, call: s.Call, seed: s.Expression) -> bool:
    """Return whether the file shows that a seed is a number: by its type, its values or another call seeded with it."""
    if isinstance(seed, s.Operation) and any(_is_number(module, call, operand) for operand in seed.operands):
        return True
    text = module.source(seed)
    if module.proven(seed) == {"builtins.int"} or is_number_at(module, call, text):
        return True
    bindings = (reaching(seed) or ()) if isinstance(seed, s.Name) else ()
    given = [constant for binding in bindings for constant in _given(module, binding.node)]
    if given and all(map(is_whole, given)):
        return True
    names = catalogues.load().names
    strict = names("randomness", "seeder", none="raises") | names("randomness", "seeder", id="numpy.seed")
    others = [c for c in module.calls_to(strict) if len(c.arguments) == 1]
    return None not in given and any(module.source(other.arguments[0].value) == text for other in others)


def _given(module: Module, node: s.Node) -> Iterator[object]:
    """Yield the constants that a parameter is given in its file, and UNKNOWN for anything else."""
    function = node.parent
    if not isinstance(node, s.Parameter) or not isinstance(function, s.Function):
        yield UNKNOWN
        return
    if node.default is not None:
        yield literal(node.default)
    for call in module.calls_to({module.qualified(function)}):
        passed = module.argument(call, node.name)
        if passed.given is not False:
            yield from module.possible(passed) or [UNKNOWN]


def _of_torch(module: Module, call: s.Call) -> bool:
    return module.callee(call) == {"torch.manual_seed"}


def _is_sum(seed: s.Operation) -> bool:
    return seed.operator in ("+", "-", "*", "%")
