"""Facts of a file besides its statements: whether it lasts, imports by computed names, sets epochs, resumes runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from detlint.analysis.loaders.own_orders import is_asked
from detlint.analysis.resuming import kept_states
from detlint.analysis.resuming.checkpoints import Checkpoints
from detlint.analysis.resuming.resumption import keeps_states, says_that_it_draws, seeds_anew
from detlint.analysis.training.contexts import is_module, named
from detlint.facts.facts import TOP
from detlint.facts.resumed import Resuming, Taken
from detlint.finding import Place
from detlint.generators import GENERATORS
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import is_main_guard


def lasts(module: Module) -> bool:
    """Return whether a file trains, saves or reads a command line, other than in what a `__main__` block leaves out."""
    outcomes = module.catalogue.names("randomness", "outcome")
    found = [c for c in module.calls_like(words=outcomes) if last_word(c.function) in outcomes]
    found = [call for call in found if not (_steps_aside(module, call) or _sets_mode(module, call))]
    unused = _unused(module) if found else set[s.Node]()
    return any(unused.isdisjoint(call.ancestors()) for call in found)


def _unused(module: Module) -> set[s.Node]:
    """Return the functions and classes that the code around them never mentions; none without a `__main__` block."""
    top = module.file.body.statements
    if not any(map(is_main_guard, top)):
        return set()
    defined: dict[str, s.Node] = {each.name: each for each in top if isinstance(each, (s.Function, s.Class))}
    left: list[s.Node] = [each for each in top if not isinstance(each, (s.Function, s.Class))]
    while left:
        names = {node.id for node in s.walk(left.pop()) if isinstance(node, s.Name)}
        left += [defined.pop(name) for name in names & defined.keys()]
    return set(defined.values())


def _steps_aside(module: Module, call: s.Call) -> bool:
    """Return whether the name of a method's object says that it does nothing that outlasts the program."""
    receiver = last_word(call.function.value).lower() if isinstance(call.function, s.Attribute) else ""
    return any(word in receiver for word in module.catalogue.names("randomness", "outcome", key="apart"))


def _sets_mode(module: Module, call: s.Call) -> bool:
    """Return whether a call puts a module of the file into training mode: `net = Net()` and `net.train()`."""
    function = call.function
    if not isinstance(function, s.Attribute) or function.attribute not in named(module, "modes"):
        return False
    made = [each for value in module.values(function.value) or () for each in _classes(module, value)]
    return bool(made) and all(is_module(module, klass) for klass in made)


def _classes(module: Module, value: s.Expression) -> Iterator[s.Class]:
    """Yield the classes of the file of which an expression makes an object."""
    names = module.callee(value) if isinstance(value, s.Call) else ()
    yield from (module.classes[name] for name in names if name in module.classes)


def telling(module: Module) -> Iterator[tuple[str, Place]]:
    """Yield where a file may pass the epoch to samplers, whether or not a program is seen to get there."""
    for name in sorted(module.catalogue.names("program", "sampler", "methods") & module.words):
        for node in module.attributes(name):
            call = node.parent
            called = call if isinstance(call, s.Call) and call.function is node else node
            yield module.point(node)[1], module.place(called)
        for text in module.every(s.Constant):
            if text.value == name and not is_asked(text):
                yield module.point(text)[1], module.place(text)


def samples(module: Module) -> bool:
    """Return whether a file mentions samplers that have an epoch."""
    named = module.catalogue.spellings(tuple(module.catalogue.names("program", "sampler")))
    return not module.words.isdisjoint(named) or any(True for _ in telling(module))


def convolving(module: Module) -> Iterator[str]:
    """Yield the qualified names of the functions of a file that use convolutions, `TOP` for its top level."""
    names = module.catalogue.names("switches", "convolution")
    spelled = module.catalogue.spellings(tuple(names))
    if module.words.isdisjoint(spelled):
        return
    nodes: list[s.Name | s.Attribute] = [*module.every(s.Name), *module.every(s.Attribute)]
    for node in nodes:
        if not names.isdisjoint(module.names(node)):
            function = module.function_of(node)
            while function is not None and function.name == "<lambda>":
                function = module.function_of(function)
            yield TOP if function is None else module.qualified(function)


def draws(module: Module) -> Iterator[str]:
    """Yield the global generators that calls in a file draw from."""
    for generator in GENERATORS:
        names = module.catalogue.names("randomness", "consumer", generator=generator, kind="call")
        if any(True for _ in module.calls_to(names)):
            yield generator


def finds(module: Module) -> bool:
    """Return whether a file imports modules, or looks up their contents, by names that it computes."""
    roles = (module.catalogue.names("program", "role", kind=kind) for kind in ("imports", "located", "targets"))
    calls = module.calls_to(frozenset().union(*roles))
    return any(not call.arguments or module.constants(call.arguments[0].value) is None for call in calls)


def uses_gpu(module: Module) -> bool:
    """Return whether a file speaks of a GPU or any device, or of a library that may use one by itself."""
    if not named(module, "gpu-words").isdisjoint(module.words):
        return True
    return _word_with(named(module, "gpu-parts")).search("\n".join(module.words)) is not None


@cache
def _word_with(parts: frozenset[str]) -> re.Pattern[str]:
    """Return an expression for a line that is one word and has one of these parts."""
    return re.compile(rf"(?im)^\S*(?:{'|'.join(sorted(map(re.escape, parts)))})\S*$")


def resuming(module: Module) -> Resuming | None:
    """Return what a file has to do with resumed runs; None if nothing."""
    taken = tuple(Taken(module.place(each.call), each.key) for each in Checkpoints(module).resumed)
    found = Resuming(
        taken,
        keeps_states(module),
        _generators(kept_states.taken(module)),
        _generators(kept_states.put_back(module)),
        seeds_anew(module),
        says_that_it_draws(module),
        "cuda" in module.words,
    )
    return None if found == Resuming() else found


def _generators(states: Iterable[kept_states.State]) -> tuple[str, ...]:
    return tuple(sorted({each.generator for each in states}))
