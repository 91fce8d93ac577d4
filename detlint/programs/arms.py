"""Arms of which one runs, loops, and what leaves them."""

from __future__ import annotations

from detlint.domain import effects as e
from detlint.domain.effects import Effects
from detlint.domain.modes import asked
from detlint.programs import events as v
from detlint.programs.events import CAUGHT, FUNCTION, PROGRAM, UNSURE
from detlint.programs.states import States, merge, together, where
from detlint.programs.walk import Walk, Ways

_REACH = {"return": FUNCTION, "raise": FUNCTION, "exit": PROGRAM}


def branch(walk: Walk, ways: Ways, effect: e.Branch) -> None:
    """Both arms: one only where the user sets an option, the other by default; without an option either."""
    if effect.option is None:
        walk.fork(ways, (effect.body, effect.orelse))
        return
    by_state = asked(effect.option)
    if by_state is not None:
        _by_state(walk, ways, effect, *by_state)
        return
    arms = {effect.set: effect.body, not effect.set: effect.orelse}
    if effect.option.is_parameter:
        walk.fork(ways, (arms[False], arms[True]), ("", effect.option.name))
        return
    start, ends = ways.states, list[States]()
    must = _refuses(arms[False]) and not _refuses(arms[True])  # an option that the user has to set
    options = (effect.option, *effect.others)
    first = len(walk.trace)
    for set_ in (False, True):
        ways.states = {} if must and not set_ else start if must else where(start, options, set_, walk.limits.terms)
        begun = ways.states
        reach, ways.reach = ways.reach, PROGRAM
        with walk.traced() as inner:
            walk.effects(ways, arms[set_])
        gone = ways.reach if begun and not ways.states else CAUGHT
        ways.reach = min(reach, ways.reach)
        if set_ and not must:
            walk.add(v.Guarded(effect.option.name, tuple(inner), reach=gone) if inner else None)
        elif gone != CAUGHT and inner:
            walk.add(v.Guarded("", tuple(inner), reach=gone, sure=True))
        else:
            walk.trace += inner
        ends.append(ways.states)
        if set_ and not (must or effect.sure):  # an option that is set may leave all as it is
            ways.states = begun
            with walk.traced():
                walk.effects(ways, arms[False])
            ends.append(ways.states)
    walk.pair(first)
    ways.states = together(ends, walk.limits.states)


def _by_state(walk: Walk, ways: Ways, effect: e.Branch, switch: str, words: frozenset[str]) -> None:
    """One of two arms, as a switch has some words or has not; both where that is not known."""
    arms = (effect.body, effect.orelse) if effect.set else (effect.orelse, effect.body)
    listed = [set(state[switch].split()) for state in ways.states.values()]
    found = {words <= names or UNSURE in names for names in listed}
    lacking = {not words <= names for names in listed}
    chosen = [arm for arm, taken in zip(arms, (True in found, True in lacking), strict=True) if taken]
    if len(chosen) == 1:
        walk.effects(ways, chosen[0])
    else:
        walk.fork(ways, chosen)


def repeat(walk: Walk, ways: Ways, effect: e.Repeat) -> None:
    """A loop's body, until no pass finds another state; it is taken to run, for that is what it is written for."""
    returned, ways.returned = ways.returned, {}
    start = entered = dict(ways.states)
    ends: list[States] = []
    for _ in range(walk.limits.states):
        ways.states, begun = dict(entered), len(walk.begun)
        walk.effects(ways, effect.body)
        ends.append(ways.states)
        first = len(walk.begun) > begun  # what is done once alone, no later pass finds undone
        again = together([*([] if first else [entered]), ways.states], walk.limits.states)
        if again == entered:
            break
        entered = again
    ways.states = together(ends, walk.limits.states) or together([ways.returned], walk.limits.states) or start
    merge(ways.returned, returned)


def leave(walk: Walk, ways: Ways, effect: e.Leave) -> None:
    """What leaves the function or the program; a loop goes on, for some pass of it comes to what follows."""
    if effect.how in ("break", "continue"):
        return
    ways.reach = min(ways.reach, CAUGHT if effect.caught else _REACH[effect.how])
    if effect.how == "return":
        merge(ways.returned, ways.states)
    elif effect.how == "raise":
        merge(ways.raised, ways.states)
    elif effect.how == "exit":
        merge(walk.exits, ways.states)
    ways.states = {}


def _refuses(effects: Effects) -> bool:
    """Whether an arm does nothing but end in an error."""
    last = effects[-1] if effects else None
    return isinstance(last, e.Leave) and last.how in ("raise", "exit")


def dispatch(walk: Walk, ways: Ways, effect: e.Dispatch) -> None:
    """A call of one of several callees, in arms."""
    walk.fork(ways, effect.arms, (), walk.place(effect.code) if effect.several else None, pairs=False)


def first(walk: Walk, ways: Ways, effect: e.First) -> None:
    """What is done the first time alone; later either."""
    if effect in walk.begun:
        walk.fork(ways, (effect.body, effect.orelse))
    else:
        walk.begun.add(effect)
        walk.effects(ways, effect.body)
