"""A fix that seeds an object that draws, once, right after the object is made."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.analysis.seeds.generators import kept_as
from detlint.analysis.seeds.seeding import repeats
from detlint.analysis.seeds.seeds import seed_at
from detlint.editing import edits
from detlint.finding import Fix, Safety
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_LOOPS = (s.For, s.While, s.Comprehension, s.Lambda)


def seeded_once(module: Module, made: Sequence[s.Expression], call: str, sure: bool) -> Fix | None:
    """Return a fix that adds a statement `object.call` after the one that makes the object, if that has one name.

    `made` is the object and its wrappers, the outermost first. `call` is the text of the method's call, with `{seed}`
    in it; `sure` says that the call has no other effect. Where the object is or may be made repeatedly, each one gets
    the same seed: that is unsafe, and so is a call of a wrapper, which may record it.
    """
    kept = next((each for each in reversed(made) if isinstance(each.parent, s.Assign)), None)
    targets = kept_as(kept) if isinstance(kept, s.Call) else []
    statement = kept.parent if kept is not None else None
    if len(targets) != 1 or isinstance(targets[0], s.Collection) or not isinstance(statement, s.Assign):
        return None
    known = seed_at(module, statement)
    seed = "0" if known is None or known.optional else known.name
    change = edits.behind(module, statement, edits.new(f"{{made}}.{call}", made=targets[0], seed=seed))
    title = f"Call `{module.source(targets[0])}.{call.format(seed=seed)}` once"
    safe = sure and kept is made[-1] and repeats(module, statement) is False
    return edits.fix(title, change, safety=Safety.SAFE if safe else Safety.UNSAFE)


def is_once_for(module: Module, call: s.Call, made: s.Expression) -> bool:
    """Return whether a call runs at most once for each object that is made: in the same function, in no loop."""
    around = set(made.ancestors())
    inner = [node for node in call.ancestors() if node not in around]
    return module.function_of(call) is module.function_of(made) and not any(isinstance(n, _LOOPS) for n in inner)
