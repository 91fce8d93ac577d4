"""What else in a file decides whether a resumed run continues as it would have: its draws, seeds and kept states."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from detlint.analysis.values.conditions import holds
from detlint.catalogue import Catalogue, Row
from detlint.semantics import libraries
from detlint.semantics.index import asked_once
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s

Patterns = tuple[re.Pattern[str], ...]


@cache
def patterns(catalogue: Catalogue, table: str, key: str = "words", **where: str) -> Patterns:
    """Return the regular expressions of a table of `checkpoints.toml`."""
    return tuple(re.compile(word) for word in sorted(catalogue.names("checkpoints", table, key, **where)))


def any_of(words: Patterns, texts: Iterable[str]) -> bool:
    """Return whether one of the texts matches one of the patterns."""
    return any(word.search(text) for text in texts for word in words)


@asked_once
def keeps_states(module: Module) -> bool:
    """Return whether a file handles states of generators somewhere, by itself or through a framework."""
    words = patterns(module.catalogue, "state")
    if any_of(words, module.words) and any_of(words, _identifiers(module)):
        return True
    states = module.catalogue.names("checkpoints", "state")
    return any(not states.isdisjoint(module.callee(call)) for call in module.calls_like(states))


@asked_once
def seeds_anew(module: Module) -> bool:
    """Return whether something is seeded with the training progress, so that each epoch starts afresh."""
    seeders = module.catalogue.names("randomness", "seeder")
    words = patterns(module.catalogue, "word", id="seeds")
    progress = patterns(module.catalogue, "word", id="progress")
    for call in module.calls_like(seeders, words=[word for word in module.words if any_of(words, [word])]):
        seeds = not seeders.isdisjoint(module.callee(call)) or any_of(words, [last(call.function)])
        if seeds and any(any_of(progress, names_in(argument.value)) for argument in call.arguments):
            return True
    return False


@asked_once
def draws(module: Module) -> bool | None:
    """Return whether training draws random numbers; None where the file does not show it."""
    if _draws_here(module):
        return True
    trains = any(last(call.function) == "backward" for call in module.calls)
    trains = trains or any(function.name == "training_step" for function in module.every(s.Function))
    known = libraries.STANDARD | module.catalogue.names("checkpoints", "whole", "modules")
    imports = module.every(s.Import)
    roots = {name for i in imports for name in ([i.module] if i.module is not None else [n for n, _ in i.names])}
    whole = not any(i.level for i in imports) and all((root or "").partition(".")[0] in known for root in roots)
    return False if trains and whole else None


def _draws_here(module: Module) -> bool:
    rows = [
        (row, frozenset(row.list("names")))
        for row in module.catalogue.rows("randomness", "consumer")
        if row.text("kind") != "constructor" and not row.text("weights")
    ]
    for call in module.calls:
        names = module.callee(call)
        if any(argument.keyword == "shuffle" and _may_be_true(argument.value) for argument in call.arguments):
            return True
        if any(names & known and _may_draw(module, call, row) for row, known in rows):
            return True
    return says_that_it_draws(module)


def says_that_it_draws(module: Module) -> bool:
    """Return whether a file has words for what draws while a model is trained."""
    words = patterns(module.catalogue, "word", id="draws")
    return any_of(words, module.words) and any_of(words, _identifiers(module))


def _may_draw(module: Module, call: s.Call, row: Row) -> bool:
    """Return whether no condition of a row is known to keep a call from drawing."""
    missed = any(holds(module, call, condition) is False for condition in row.list("when"))
    return not missed and not any(holds(module, call, condition) is True for condition in row.list("unless"))


def has_ranks(module: Module) -> bool:
    """Return whether the program may run in several processes, each with random streams of its own."""
    return any_of(patterns(module.catalogue, "word", id="ranks"), _identifiers(module))


@asked_once
def _identifiers(module: Module) -> frozenset[str]:
    """Return the names and short strings of a file, without the keywords that its calls pass."""
    found = set(module.identifiers)
    found.update(parameter.name for parameter in module.every(s.Parameter))
    found.update(function.name for function in module.every(s.Function))
    texts = (node.value for node in module.every(s.Constant) if isinstance(node.value, str))
    found.update(text for text in texts if re.fullmatch(r"[\w.-]+", text))
    for node in module.every(s.Import):
        found.update((node.module or "", *(name for name, _ in node.names)))
    return frozenset(found)


def last(node: s.Expression) -> str:
    """Return the last part of a name, through subscripts, or "" for anything else."""
    while isinstance(node, s.Subscript):
        node = node.value
    if isinstance(node, s.Attribute):
        return node.attribute
    return node.id if isinstance(node, s.Name) else ""


def names_in(node: s.Expression) -> list[str]:
    """Return the names and strings in an expression."""
    found = [last(part) for part in s.walk(node) if isinstance(part, (s.Name, s.Attribute))]
    return found + [part.value for part in s.walk(node) if isinstance(part, s.Constant) and isinstance(part.value, str)]


def _may_be_true(node: s.Expression) -> bool:
    return literal(node) not in (False, None)


def is_number(module: Module, value: s.Expression | None) -> bool:
    """Return whether an expression is a number that is written down: `0`, `-1.5`, `float("inf")`, `math.inf`."""
    if value is None:
        return False
    if isinstance(value, s.Operation) and len(value.operands) == 1:
        return is_number(module, value.operands[0])
    if isinstance(value, s.Call):
        given = [literal(argument.value) for argument in value.arguments]
        return module.callee(value) == {"builtins.float"} and all(isinstance(each, str) for each in given)
    if isinstance(value, s.Attribute):
        return any(name.rpartition(".")[2].lower() == "inf" for name in module.names(value))
    return type(literal(value)) in (int, float)
