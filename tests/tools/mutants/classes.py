"""The classes of mutants: what is undone, which findings concern that, and how many are drawn at most."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.tools.mutants import arguments, memory, objects, order, seeding, states
from tests.tools.mutants.edits import Site
from tests.tools.mutants.units import File


@dataclass(frozen=True)
class MutantClass:
    """What is undone, what finds the places of it, a pattern of the codes that concern its cause, and a limit of its own."""

    code: str
    title: str
    finder: Callable[[File], Iterator[Site]]
    fitting: str
    cap: int | None = None

    def concerns(self, code: str) -> bool:
        """Whether a finding with this code concerns what was undone."""
        return re.match(self.fitting, code) is not None


CLASSES = {
    each.code: each
    for each in (
        MutantClass("M1", "seeding call dropped", seeding.calls_dropped, "DET(10[1-7]|110|20[145]|702)"),
        MutantClass("M2", "generator= removed", arguments.generators, "DET(10[1-7]|112|20[145]|702)"),
        MutantClass("M3", "worker_init_fn removed", arguments.workers, "DET(20[238]|10[1-7])"),
        MutantClass("M4", "sorted() around a listing or a set removed", order.sorting, "DET60[1-4]"),
        MutantClass("M5", "random_state= / seed= / env.seed removed", arguments.seeds, "DET(10[1-7]|20[145])"),
        MutantClass("M6", "sampler.set_epoch removed", order.epochs, "DET206"),
        MutantClass("M7", "deterministic mode undone", states.switches, "DET(50[1-6]|30[1-6])"),
        MutantClass("M8", "own generator without its seed", arguments.own, "DET(10[1-7]|20[1458])"),
        MutantClass("M9", "zeros made empty", memory.zeros, "DET40[12]", cap=30),
        MutantClass("M10", "random state left out of a checkpoint", states.checkpoints, "DET701"),
        MutantClass("M11", "seed moved behind the model", seeding.calls_moved, "DET(10[1-7]|20[145])"),
        MutantClass("M12", "model.eval() dropped", states.evaluation, "DET(11[01]|10[1-7])", cap=18),
        MutantClass(
            "M13", "constant seed made time, pid or hash", seeding.numbers_replaced, "DET(10[1-7]|604|20[1345])"
        ),
        MutantClass("M14", "initialisation of a module dropped", objects.initialised, "DET40[12]"),
        MutantClass("M15", "zeros of an object made empty", objects.kept_zeros, "DET40[12]"),
    )
}
