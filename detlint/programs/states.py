"""The states that a program may be in: one for each condition on its options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from detlint.domain import effects as e
from detlint.domain.atoms import Option
from detlint.domain.effects import Stream
from detlint.domain.generators import SEEDABLE
from detlint.domain.path_conditions import PathCondition
from detlint.programs import events as v
from detlint.programs.events import FORKED, SEEDED, START, UNSURE, State

States = dict[PathCondition, State]
"""In which states a program may be here: one for each condition on its options."""


def merge(into: States, states: States) -> None:
    """Add states to those that a program may be in."""
    for condition, state in states.items():
        old = into.get(condition)
        into[condition] = state if old is None else v.merged((old, state)) or state


def together(ends: Iterable[States], most: int) -> States:
    """The states of several ways; a state that is there whether an option is set or not does not depend on it."""
    found: States = {}
    for states in ends:
        merge(found, states)
    return few(found, most)


def few(states: States, most: int) -> States:
    """States with conditions that make no difference left out: `most` of them, or their join."""
    found = dict(states)
    again = True
    while again and len(found) > 1:
        again = False
        for condition, state in list(found.items()):
            for option, set_ in condition.terms:
                rest = condition.terms - {(option, set_)}
                other = PathCondition(rest | {(option, not set_)}, condition.perhaps)
                if condition in found and found.get(other) is state:
                    del found[condition], found[other]
                    merge(found, {PathCondition(rest, condition.perhaps): state})
                    again = True
                    break
            if again:
                break
    if len(found) > most:
        whole: States = {}
        for state in found.values():
            merge(whole, {PathCondition(frozenset(), True): state})
        return whole
    return found


def shown(states: States) -> State:
    """The state by default, else that of any of the ways."""
    default = [state for condition, state in states.items() if condition.by_default]
    return v.merged(default or states.values()) or START


def by_default(states: States) -> bool:
    """Whether one of the states is that by default."""
    return any(condition.by_default for condition in states)


def word_of(state: State, stream: Stream) -> str:
    """The word of a stream in a state; that of one which nothing seeds is not known."""
    return state[str(stream)] if stream in SEEDABLE else UNSURE


def in_worker(state: State, effect: e.Apart) -> State:
    """The state in which a worker, or a process that is forked, begins."""
    if effect.forks:
        return state.but(("python",), FORKED)
    seeded = state.but(map(str, effect.seeded), state[effect.like] if effect.like else SEEDED)
    return (v.merged((seeded, state)) or state) if effect.perhaps else seeded


def where(states: States, options: Sequence[Option], set_: bool, terms: int) -> States:
    """The states in which one of some options is set, or none is; conditions are on so many `terms`."""
    found: States = {}
    for condition, state in states.items():
        rest: PathCondition | None = condition
        for option in options:
            if rest is not None and set_:
                _merge_under(found, rest.and_then(option, True, terms), state)
            rest = rest.and_then(option, False, terms) if rest is not None else None
        if not set_:
            _merge_under(found, rest, state)
    return found


def _merge_under(into: States, condition: PathCondition | None, state: State) -> None:
    if condition is not None:
        merge(into, {condition: state})
