"""What rows say of two runs under each way of seeding, and how that compares with what was measured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from detlint import releases
from detlint.catalogue import Row
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
ELSEWHERE = "of other releases"
CONFIRMED, REFUTED, MISSED, UNSEEN, UNMEASURED = "confirmed", "refuted", "no row says so", "not seen", "not measured"


def claims(program: Program) -> Mapping[Way, str]:
    """What its rows say of two runs, by way."""
    if program.outside:
        return dict.fromkeys(WAYS, REPEATS)
    told: dict[Way, str] = {}
    for way, seeded in WAYS.items():
        each = [_claim(row, way, frozenset(seeded)) for row in program.rows]
        told[way] = DIFFERS if DIFFERS in each else REPEATS
    return told


def verdict(program: Program, release: str, measured: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """How the rows fare by what was measured with a release, and the ways that tell against them.

    A release that does not know the argument says nothing of it.
    """
    if not all(_speaks_of(find(row), release) for row in program.rows):
        return ELSEWHERE, ()
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


def _speaks_of(row: Row, release: str) -> bool:
    """Whether a row speaks of what pip installs for `release` ("albumentations==1.4.18 opencv-python-headless")."""
    own = row.text("release")
    library = re.split("[<>=!~]", own)[0]
    return not own or releases.holds(own, releases.required(release.split(), {library}))


def _claim(name: str, way: Way, seeded: frozenset[str]) -> str:
    table, row = name.partition(" ")[0], find(name)
    if table == "seeder":
        return REPEATS
    if way == "given":
        return REPEATS
    if table == "consumer":
        return REPEATS if set(row.list("generator")) <= seeded else DIFFERS
    generators = set(row.list("generators"))
    if table in ("entropy", "generator", "compiled") or not generators <= seeded or not generators:
        return DIFFERS
    return REPEATS
