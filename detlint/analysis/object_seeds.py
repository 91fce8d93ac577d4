"""A seed for an object that draws, given once, right after the object is made."""

from __future__ import annotations

from detlint.analysis.generators import kept_as
from detlint.analysis.seeding import repeats
from detlint.analysis.seeds import seed_at
from detlint.editing import edits
from detlint.finding import Fix, Safety
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def seeded_once(module: Module, made: s.Expression, call: str, sure: bool) -> Fix | None:
    """A statement `object.call` behind the one that makes the object, where that is made once and under one name.

    `call` is the text of the method's call, with `{seed}` in it; `sure` says that nothing else comes of the call. Where
    it is not known how often the object is made, each might get the same seed: that is unsafe.
    """
    targets = kept_as(made) if isinstance(made, s.Call) else []
    statement = targets[0].parent if len(targets) == 1 else None
    if not isinstance(statement, s.Assign) or statement.value is not made:
        return None
    again = repeats(module, statement)
    if again is True:
        return None
    known = seed_at(module, made)
    seed = "0" if known is None or known.optional else known.name
    change = edits.behind(module, statement, edits.new(f"{{made}}.{call}", made=targets[0], seed=seed))
    title = f"Call `{module.source(targets[0])}.{call.format(seed=seed)}` once"
    return edits.fix(title, change, safety=Safety.SAFE if sure and again is False else Safety.UNSAFE)
