"""What rows say of two runs under each way of seeding, and how that compares with what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tests.tools.libraries.programs import Program, find

Way = Literal["nothing", "random", "numpy", "torch", "all", "given"]
WAYS: Mapping[Way, tuple[str, ...]] = {
    "nothing": (),
    "random": ("python",),
    "numpy": ("numpy",),
    "torch": ("torch",),
    "all": ("python", "numpy", "torch"),
    "given": (),  # nothing but the argument
}
REPEATS, DIFFERS, FAILED = "repeats", "differs", "failed"
CONFIRMED, REFUTED, MISSED, UNSEEN, UNMEASURED = "confirmed", "refuted", "no row says so", "not seen", "not measured"


def claims(program: Program) -> Mapping[Way, str]:
    """What its rows say of two runs, by way; nothing of the ways that they leave open."""
    if program.outside:
        return dict.fromkeys(WAYS, REPEATS)
    told: dict[Way, str] = {}
    for way, seeded in WAYS.items():
        each = [_claim(row, way, frozenset(seeded)) for row in program.rows]
        if DIFFERS in each:
            told[way] = DIFFERS
        elif all(claim == REPEATS for claim in each):
            told[way] = REPEATS
    return told


def verdict(program: Program, measured: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """How the rows fare by what was measured, and the ways that tell against them.

    A release that does not know the argument says nothing of it.
    """
    told = claims(program)
    if FAILED in (measured[way] for way in measured if way != "given") or not measured:
        return UNMEASURED, ()
    against = tuple(way for way, claim in told.items() if measured.get(way, FAILED) not in (FAILED, claim))
    if not against:
        return CONFIRMED, ()
    if program.outside:
        return MISSED, against
    unsure = any(find(row).text("sure") == "no" for row in program.rows)
    if unsure and all(told[way] == DIFFERS for way in WAYS if way in against):
        return UNSEEN, against
    return REFUTED, against


def _claim(name: str, way: Way, seeded: frozenset[str]) -> str | None:
    table, row = name.partition(" ")[0], find(name)
    if table == "seeder":
        return REPEATS
    if way == "given":
        return REPEATS
    if table == "consumer":
        return REPEATS if set(row.list("generator")) <= seeded else DIFFERS
    generators = set(row.list("generators"))
    if table in ("entropy", "generator", "compiled") or not generators & seeded:
        return DIFFERS
    return REPEATS if len(generators) == 1 else None
