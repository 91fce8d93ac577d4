"""How often a place in the program runs, and the generators that a fix may make there."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.resuming.checkpoints import Checkpoints
from detlint.analysis.seeds.generators import ITEM_METHODS
from detlint.analysis.seeds.seeds import seed_at
from detlint.analysis.training.contexts import named
from detlint.editing import edits
from detlint.editing.names import library_name
from detlint.finding import Fix, Safety
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of


def repeats(module: Module, node: s.Node, depth: int = 4) -> bool | None:
    """Return whether `node` runs repeatedly: in a loop, or for each item; None where that is not known."""
    child = node
    for around in node.ancestors():
        if isinstance(around, s.While) or (isinstance(around, s.For) and child is not around.iterator):
            return True
        if isinstance(around, s.Comprehension) and not (
            child is around.clauses[0] and any(a is around.clauses[0].iterator for a in (node, *node.ancestors()))
        ):
            return True
        if isinstance(around, s.Function) and child is around.body:
            return _is_called_again(module, around, depth)
        child = around
    return False


def generator_of_its_own(module: Module, call: s.Call) -> Fix | None:
    """Return a fix that passes a seeded generator to a loader, a split or a sampler, or None.

    It changes the order of a program whose generators are seeded. There is none for an object that is made again for
    each epoch, whose order would be the same each time, nor where another default device is set, which a generator on
    the CPU may not fit.
    """
    if repeats(module, call) is True or any(True for _ in module.calls_to(named(module, "default-device"))):
        return None
    seed = seed_at(module, call)
    if seed is not None and seed.optional:
        return None  # once that has a default, or all is seeded, there is nothing left to fix
    number = "0" if seed is None else seed.name
    torch, imports = library_name(module, "torch", call)
    value = f"{torch}.Generator().manual_seed({number})"
    if Checkpoints(module).resumed:  # its random state includes the generators that the runtime made
        value, imports = f"make_generator({number})", edits.runtime(module, "make_generator")
    edit = edits.argument(module, call, "generator", value)
    return edits.fix(f"Pass `generator={value}`", edit, imports=imports, lowered=Safety.UNSAFE)


def _is_called_again(module: Module, function: s.Function, depth: int) -> bool | None:
    often = named(module, "forward") | named(module, "each-step")
    if function.name in often or function.name in ITEM_METHODS:
        return True
    if function.name == "<lambda>" or depth == 0:
        return None
    klass = class_of(function)
    called: s.Function | s.Class = klass if function.name == "__init__" and klass is not None else function
    calls = list(module.calls_to({module.qualified(called)}))
    answers = [repeats(module, call, depth - 1) for call in calls]
    if True in answers:
        return True
    if any(not isinstance(read.parent, s.Call) or read.parent.function is not read for read in _reads(module, called)):
        return None  # passed on to code that may call it
    if not calls:
        return False if function.name == "main" else None
    return None if None in answers else False


def _reads(module: Module, function: s.Function | s.Class) -> Iterator[s.Name]:
    scope = function.scope.parent
    yield from module.reads(scope, function.name) if scope is not None else ()
