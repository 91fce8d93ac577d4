"""Calls that evaluate a model, as far as a file shows: by names, by code without gradients, by loops."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from detlint.analysis.training.contexts import around, docstring, function_around, is_module, named
from detlint.analysis.training.meant import MEANT, comments
from detlint.catalogue import Catalogue
from detlint.semantics.index import asked_once, last_word
from detlint.semantics.libraries import PYTHON
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_EVALUATES = frozenset(("eval", "evaluate", "evaluation", "val", "valid", "validate", "validation", "test", "testing"))
_PREDICTS = frozenset(("predict", "infer", "inference", "generate"))
_USES = _PREDICTS | frozenset(("prediction", "predictions", "sample", "samples", "sampling"))
_DATA = frozenset(("loader", "dataloader", "dataset", "batches"))
TRAINS = frozenset(("train", "training", "fit"))
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
STEPS = frozenset(("backward", "zero_grad"))
_LOADS = ("load_state_dict", "load_from_checkpoint")
_DROPS = re.compile(r"(?i)drop_?out")


def may_evaluate(module: Module, marks: Iterable[str]) -> bool:
    """Return whether a file has one of these words or a function named for evaluation, and has no test runner."""
    if is_for_a_runner(module):
        return False
    said = _EVALUATES | _USES
    return not module.words.isdisjoint(marks) or any(said & words(one.name) for one in module.every(s.Function))


def is_for_a_runner(module: Module) -> bool:
    """Return whether a file is run by a test runner."""
    return not module.words.isdisjoint(module.catalogue.names("program", "runner"))


@cache
def words(name: str) -> frozenset[str]:
    """Return the words of a name, in lower case."""
    return frozenset(word.lower() for word in _WORD.findall(name))


def is_named_so(function: s.Function) -> bool:
    """Return whether the name of a function says that it evaluates a model, or makes it predict."""
    return bool(words(function.name) & (_EVALUATES | _PREDICTS))


def evaluates(module: Module, call: s.Call) -> str:
    """Return how a call of a model evaluates it; "" where it does not seem to.

    It is "named" for it, comes "behind" the training, or is in a program that is "idle", which trains nothing.
    """
    function = function_around(call)
    if function is not None and _is_run_by_others(module, function):
        return ""
    how = _how(module, call, function)
    return "" if how and _is_meant(module, call, function) else how


def _how(module: Module, call: s.Call, function: s.Function | None) -> str:
    free = _is_free(module, call, function)
    said = words(function.name) if function is not None else frozenset()
    steps = _steps(module, function)
    if not free and not steps and not said & _EVALUATES:
        return "idle" if _loads(module, call, function) else ""
    loops = list(_loops(call))
    if free and any(map(_is_over_evaluation, loops)):
        return "named"
    if steps:
        return "behind" if _is_behind(call, loops, steps, free=free) else ""
    if said & TRAINS:
        return ""
    if said & _EVALUATES and (free or loops or _drops_gradients(module, function)):
        return "named"
    if free and any(not isinstance(loop, s.While) and said_of(loop.iterator) & _DATA for loop in loops):
        return "named"
    if said & _USES and free:
        return "named"
    return "idle" if free or _loads(module, call, function) else ""


@asked_once
def _calls(module: Module) -> Mapping[s.Function | None, list[s.Call]]:
    """Return the calls of each function, and of the top level."""
    found: dict[s.Function | None, list[s.Call]] = defaultdict(list)
    for call in module.calls:
        found[function_around(call)].append(call)
    return found


@asked_once
def _steps(module: Module, function: s.Function | None) -> list[s.Call]:
    """Return the calls by which a function, or the top level, takes gradients."""
    return [one for one in _calls(module)[function] if last_word(one.function) in STEPS]


def said_of(node: s.Expression) -> frozenset[str]:
    """Return the words of all names and strings in an expression."""
    found = frozenset[str]()
    for part in s.walk(node):
        if isinstance(part, (s.Name, s.Attribute)):
            found |= words(last_word(part))
        elif isinstance(part, s.Constant) and isinstance(part.value, str):
            found |= words(part.value)
    return found


@asked_once
def _is_run_by_others(module: Module, function: s.Function) -> bool:
    """Return whether a function is part of a model, or a method that a library's base of its class may call."""
    klass = module.class_of(function)
    if klass is None or is_module(module, klass):
        return klass is not None
    return any(name not in module.classes and _is_of_library(module, name) for name in module.ancestry(klass))


def _is_of_library(module: Module, name: str) -> bool:
    root = name.partition(".")[0]
    return root in _roots(module.catalogue) and root not in PYTHON


@cache
def _free(catalogue: Catalogue) -> tuple[str, ...]:
    """Return the names of calls that switch gradients off."""
    return tuple(sorted(catalogue.names("contexts", "context", "calls", effect="no-gradient")))


@cache
def _roots(catalogue: Catalogue) -> frozenset[str]:
    """Return the libraries that the tables know."""
    return frozenset(name.partition(".")[0] for name in catalogue.known_names)


def _loops(node: s.Node) -> Iterator[s.For | s.While | s.Clause]:
    """Yield the loops around a node in its function."""
    for ancestor in node.ancestors():
        if isinstance(ancestor, s.Function):
            return
        if isinstance(ancestor, (s.For, s.While)):
            yield ancestor
        elif isinstance(ancestor, s.Comprehension):
            yield from ancestor.clauses


def _is_over_evaluation(loop: s.For | s.While | s.Clause) -> bool:
    """Return whether a loop is over something that its name says is for evaluation."""
    said = frozenset[str]() if isinstance(loop, s.While) else said_of(loop.iterator)
    return bool(said & _EVALUATES) and not said & TRAINS


def _is_behind(call: s.Call, loops: Sequence[s.Node], steps: Sequence[s.Call], *, free: bool) -> bool:
    """Return whether a call follows training steps that are all in loops, and is outside these or without gradients."""
    training = [loop for step in steps for loop in _loops(step)]
    looped = all(any(True for _ in _loops(step)) for step in steps)
    done = free or not any(loop in training for loop in loops)
    return looped and all(step.order < call.order for step in steps) and done


def _is_free(module: Module, call: s.Call, function: s.Function | None) -> bool:
    """Return whether no gradients are taken where a call is, or wherever the file calls its function."""
    if not module.speaks_of(_free(module.catalogue)):
        return False
    if _has_free(module, function) and around(module, call, "no-gradient"):
        return True
    return function is not None and _is_called_free(module, function)


@asked_once
def _has_free(module: Module, function: s.Function | None) -> bool:
    """Return whether a function, the top level, or what is around it, switches gradients off anywhere."""
    wanted = {name.rpartition(".")[2] for name in _free(module.catalogue)}
    here = [] if function is None else [function, *function.ancestors()]
    marks = [mark for node in here if isinstance(node, (s.Function, s.Class)) for mark in node.decorators]
    callers = {node for node in here if isinstance(node, s.Function)} | {None}
    calls = [one.function for each in callers for one in _calls(module)[each]]
    return any(last_word(mark.function if isinstance(mark, s.Call) else mark) in wanted for mark in (*marks, *calls))


@asked_once
def _is_called_free(module: Module, function: s.Function) -> bool:
    calls = list(module.calls_to({module.qualified(function)}))
    return bool(calls) and all(around(module, one, "no-gradient") for one in calls)


@asked_once
def _drops_gradients(module: Module, function: s.Function | None) -> bool:
    """Return whether a function takes something without a gradient from its tensors."""
    parts = (part for part in s.walk(function) if isinstance(part, s.Attribute)) if function is not None else ()
    return any(part.attribute in named(module, "drops-gradient") for part in parts)


def _loads(module: Module, call: s.Call, function: s.Function | None) -> bool:
    """Return whether weights are loaded before a call, in the same function."""
    before = (one for one in module.calls_named(_LOADS) if one.order < call.order and last_word(one.function) in _LOADS)
    return any(function_around(one) is function for one in before)


def _is_meant(module: Module, call: s.Call, function: s.Function | None) -> bool:
    """Return whether names, texts or calls around show that layers draw on purpose, or that the mode is set."""
    for above in call.ancestors():
        if isinstance(above, (s.Function, s.Class)) and (
            MEANT.search(above.name) or MEANT.search(docstring(above)) or _DROPS.search(docstring(above))
        ):
            return True
    if MEANT.search(comments(module, call)):
        return True
    before = [one for one in _calls(module)[function] if one.order < call.order]
    if function is not None and not any(last_word(one.function) in STEPS for one in before):
        chosen = (one.function for one in before if isinstance(one.function, s.Attribute))
        if any(one.attribute in named(module, "modes") for one in chosen):
            return True
    return any(_DROPS.search(last_word(one.function)) and not _is_made(module, one) for one in before)


def _is_made(module: Module, call: s.Call) -> bool:
    """Return whether a call makes a layer."""
    return any(name.startswith("torch.") or name in module.classes for name in module.callee(call))
