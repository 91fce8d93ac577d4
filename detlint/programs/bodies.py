"""Calls, imports, and bodies that something is around."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.domain import effects as e
from detlint.domain.atoms import FunctionRef, Node
from detlint.domain.codes import Code
from detlint.domain.effects import Stream
from detlint.domain.generators import SEEDABLE
from detlint.ir import nodes as ir
from detlint.programs import events as v
from detlint.programs.events import SEEDED, UNSURE
from detlint.programs.generators import draw, put
from detlint.programs.states import States, few, in_worker, merge, shown, together
from detlint.programs.walk import Walk, Ways, name_of

_DEEPEST = 20  # contexts that are managed in each other


def invoke(walk: Walk, ways: Ways, effect: e.Invoke) -> None:
    """A call: what any of its callees does; of one that is guessed, what it seeds makes words unsure.

    A call that Python makes has no place of its own: it is where what it calls is.
    """
    outer, walk.path = walk.path, (*walk.path, effect.code)
    start, ends = ways.states, list[States]()
    first = len(walk.trace)
    for node in effect.nodes:
        place = walk.place(effect.code if effect.code.node >= 0 else Code(node.function.file, node.function.name, -1))
        ways.states = dict(start)
        observations = dict(walk.observations)
        with walk.traced() as inner:
            walk.called(ways, node, name_of(node), place, start if effect.guess else {})
        if effect.guess:
            walk.observations = observations
        if effect.beside:
            inner[:] = v.beside_generators(inner)
            new = walk.observations.items() - observations.items()
            walk.observations = observations | {key: seen for key, seen in new if seen.stream not in SEEDABLE}
            ways.states = {c: s.with_generators_of(start.get(c) or shown(start)) for c, s in ways.states.items()}
        if inner and (effect.guess or len(effect.nodes) > 1):
            walk.add(v.Guarded("", tuple(inner), None if effect.guess else place))
        else:
            walk.trace += inner
        ends.append(ways.states)
    walk.pair(first)
    walk.path = outer
    ways.states = together(ends, walk.limits.states) if effect.nodes else start


def around(walk: Walk, ways: Ways, effect: e.Around) -> None:
    """A generator function around a body: walked anew, since the body is another one each time."""
    start = shown(ways.states)
    for node in effect.call.nodes[:1]:
        entry = walk.solver.table.get(node)
        if entry is None or len(walk.bodies) > _DEEPEST:
            walk.effects(ways, effect.body)
            return
        outer = Ways(ways.states)
        with walk.traced() as inner:
            walk.bodies.append((effect.body, ways))
            walk.effects(outer, walk.seen.own.get(node, entry.summary).effects)
            walk.bodies.pop()
        merge(outer.returned, outer.states)
        ways.states = few(outer.returned, walk.limits.states)
        trace = tuple(inner)
        if trace and ways.states and start is shown(ways.states):  # what is seeded within is put back at the end
            walk.add(v.Apart(trace))
        else:
            walk.add(v.Scope(trace) if trace else None)


def enter(walk: Walk, ways: Ways, effect: e.Enter) -> None:
    """A generator function up to where it yields, in the states that it has there."""
    entered = Ways({})
    with walk.traced() as inner:
        for node in effect.call.nodes[:1]:
            entry = walk.solver.table.get(node)
            if entry is not None and len(walk.bodies) <= _DEEPEST:
                walk.bodies.append((None, entered))
                walk.effects(Ways(ways.states), walk.seen.own.get(node, entry.summary).effects)
                walk.bodies.pop()
    ways.states = entered.states or ways.states
    walk.add(v.Scope(tuple(inner)) if inner else None)


def yields(walk: Walk, ways: Ways, _: e.Yield) -> None:
    """The body of a context, where its manager yields: what leaves there leaves the function that has the body."""
    if not walk.bodies:
        return
    if walk.bodies[-1][0] is None:
        merge(walk.bodies[-1][1].states, ways.states)
        ways.states = {}
        return
    (body, outer), walk.bodies = walk.bodies[-1], walk.bodies[:-1]
    assert body is not None
    inner = Ways(ways.states, outer.returned, outer.raised)
    walk.effects(inner, body)
    outer.reach = min(outer.reach, inner.reach)
    ways.states = inner.states
    walk.bodies = [*walk.bodies, (body, outer)]


def aside(walk: Walk, ways: Ways, effect: e.Apart | e.Restoring | e.Scope) -> None:
    """A body that other processes run, or after which something is as it was."""
    if isinstance(effect, e.Apart) and effect.spawned is not None and shown(ways.states)["start"] == "spawn":
        walk.spawned[effect.spawned] = None
        return
    start = ways.states
    names = tuple(str(stream) for stream in effect.streams) if isinstance(effect, e.Restoring) else ()
    if isinstance(effect, e.Apart):
        ways.states = {condition: in_worker(state, effect) for condition, state in start.items()}
    elif isinstance(effect, e.Restoring):
        for switch, word in effect.within:
            put(walk, ways, (switch,), word)
    with walk.traced() as inner:
        walk.effects(ways, effect.body)
    trace = tuple(inner)
    if isinstance(effect, e.Apart):
        ways.states = start
        walk.add(v.Apart(trace) if trace else None)
        if effect.base is not None and any(_draws_of(event, effect.seeded) for event in trace):
            with walk.traced() as drawn:
                draw(walk, ways, effect.base)
            walk.trace += [v.Guarded("", tuple(drawn))] if effect.perhaps and drawn else drawn
    elif isinstance(effect, e.Restoring):
        before = shown(start)
        for name in (*names, *(switch for switch, _ in effect.within)):
            put(walk, ways, (name,), before[name])
        if names and trace:
            walk.add(v.Apart(trace))
        else:
            walk.trace += trace
    else:
        walk.add(v.Scope(trace) if trace else None)


def _draws_of(event: v.Event, streams: Sequence[Stream]) -> bool:
    """Whether something is drawn from one of these generators, which are seeded there if there are workers."""
    if isinstance(event, v.Drawn):
        return event.word in (SEEDED, UNSURE) and event.generator in streams
    return isinstance(event, (v.Called, v.Guarded, v.Apart, v.Scope)) and any(
        _draws_of(each, streams) for each in event.trace
    )


def at(walk: Walk, ways: Ways, effect: e.At) -> None:
    """A call is here, in this state."""
    walk.visit.append((effect.code, shown(ways.states)))


def imported(walk: Walk, ways: Ways, effect: e.Import) -> None:
    """A file is imported: its top level runs, the first time."""
    if effect.file not in walk.imported:
        walk.imported[effect.file] = None
        walk.called(ways, Node(FunctionRef(effect.file, ir.TOP)), effect.file, None, {}, imports=True)


def main(walk: Walk, ways: Ways, effect: e.Main) -> None:
    """The block that a program runs as the main one."""
    if walk.is_main and effect.node.function.file == walk.file:
        walk.called(ways, effect.node, "", None, {}, within=True)


def spawn(walk: Walk, ways: Ways, effect: e.Spawn) -> None:
    """A process is started, unless threads take the place of those that tasks are sent to."""
    if not (effect.pickled and shown(ways.states)["start"] == "threads"):
        walk.spawned[effect] = None


def later(walk: Walk, ways: Ways, effect: e.Later) -> None:
    """Something is left for the end of the program."""
    walk.leaving[effect.body] = walk.sure
