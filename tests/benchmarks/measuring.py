"""Peers run on trees in turns: cold, with one file changed, warm."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.peers import Peer
from tests.benchmarks.results import CHANGED, COLD, WARM, Measured
from tests.benchmarks.runner import Cost, run
from tests.benchmarks.trees import Tree

_LONG = 20.0  # seconds: a run that takes longer is not repeated


@dataclass(frozen=True)
class Way:
    """How peers are run: where their environments are, how often, for how many seconds at most, who is told of it."""

    environments: Path
    repeats: int
    limit: float
    say: Callable[[str], None]


def measure(
    peers: Sequence[Peer], tree: Tree, name: str, way: Way, states: Sequence[str] = (COLD, CHANGED, WARM)
) -> list[Measured]:
    """Run each peer on a tree `way.repeats` times, in turns: what disturbs the machine meets all of them.

    `states` begins with COLD. The others are for peers that keep what they found: one file changed, and none.
    """
    costs: dict[tuple[Peer, str], list[Cost]] = {}
    for _ in range(way.repeats):
        for peer in peers:
            for state, cost in _runs(peer, tree, way, states, costs.get((peer, COLD), [])):
                costs.setdefault((peer, state), []).append(cost)
                way.say(f"{name}, {state}, {peer.name}: {cost.told or f'{cost.seconds:.2f} s'}")
    return [measured(peer.name, name, state, each) for (peer, state), each in costs.items()]


def _runs(
    peer: Peer, tree: Tree, way: Way, states: Sequence[str], before: Sequence[Cost]
) -> Iterator[tuple[str, Cost]]:
    """One round of a peer. `before` are its cold runs of earlier rounds, since when others may have used its cache."""
    command = peer.line(way.environments, ["."])
    if any(cost.told or cost.seconds > _LONG for cost in before):
        return
    tree.forget(peer.caches)
    tree.settle()
    cold = run(command, tree.folder, way.limit)
    yield COLD, cold
    if cold.told:
        return
    if CHANGED in states and peer.caches:
        tree.change()
        yield CHANGED, run(command, tree.folder, way.limit)
    if WARM in states and peer.caches:
        tree.settle()
        run(command, tree.folder, way.limit)  # notes that what changed has settled
        yield WARM, run(command, tree.folder, way.limit)


def measured(peer: str, tree: str, state: str, costs: Sequence[Cost]) -> Measured:
    """What these runs say together."""
    return Measured(
        peer,
        tree,
        state,
        tuple(round(cost.seconds, 3) for cost in costs),
        tuple(round(cost.cpu, 3) for cost in costs),
        round(max(cost.largest_mb for cost in costs), 1),
        round(max(cost.sum_mb for cost in costs), 1),
        next((cost.told for cost in costs if cost.told), ""),
    )
