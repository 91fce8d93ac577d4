"""The shortest code that seeds some global generators: the libraries' own lines, or one call of the runtime."""

from __future__ import annotations

from collections.abc import Sequence

from detlint import catalogue as catalogues
from detlint.editing import edits
from detlint.editing.edits import Code
from detlint.editing.names import is_another, library_name
from detlint.editing.vendoring import is_runtime
from detlint.finding import Import
from detlint.registered import NOTHING
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s

SEED = "seed_everything"


@record(frozen=True)
class Lines:
    """Statements that seed, the imports that they need, and a title; `all` says that they seed all generators."""

    lines: tuple[Code, ...]
    imports: tuple[Import, ...]
    title: str
    all: bool = False


def seeding(
    module: Module,
    generators: Sequence[str],
    seed: s.Expression | str,
    before: s.Statement,
    *,
    inline: bool,
    local: bool,
) -> Lines:
    """Return lines that seed these generators ahead of a statement.

    One generator gets its library's own line. More get a call of the runtime, unless the lines are to be `inline` or
    its name means another thing in the file. `local` says that the runtime is to be imported right there.
    """
    text = seed if isinstance(seed, str) else module.source(seed)
    taken = any(not isinstance(binding.node, s.Import) for binding in module.file.scope.bindings.get(SEED, ()))
    if len(generators) > 1 and not inline and not (taken or _imports_another(module)):
        lines = [f"from {edits.RUNTIME} import {SEED}", ""] if local else []
        call = edits.new(f"{SEED}({{seed}})", seed=seed)
        imports = edits.runtime(module, SEED, inline=local)
        return Lines((*lines, call), imports, f"{SEED}({text})", all=True)
    calls: list[Code] = []
    needs: list[Import] = []
    for generator in generators:
        library, _, inner = seeder(generator).partition(".")
        name, need = library_name(module, library, before)
        if need and is_another(module, name, library):
            owner, _, inner = seeder(generator).rpartition(".")
            need, name = (Import(module.path, owner, inner),), ""
        inner = f"{name}.{inner}".lstrip(".")
        calls.append(edits.new(f"{inner}({{seed}})", seed=seed))
        needs += need
        title = f"{inner}({text})"
    return Lines(tuple(calls), tuple(needs), title if len(calls) == 1 else f"{', '.join(generators)} with {text}")


def seeder(generator: str) -> str:
    """Return the full name of the function that seeds one global generator and nothing else."""
    rows = catalogues.read(NOTHING).rows("randomness", "seeder")
    return next(row.list("names")[0] for row in rows if row.text("completes") and [*row.list("seeds")] == [generator])


def _imports_another(module: Module) -> bool:
    """Return whether a file imports a function of the same name from elsewhere."""
    nodes = [b.node for b in module.file.scope.bindings.get(SEED, ()) if isinstance(b.node, s.Import)]
    return not all(node.module is not None and is_runtime(node.module) for node in nodes)
