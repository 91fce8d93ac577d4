"""DET101, DET102, DET103 and DET106: what an entry point draws before it seeds."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.catalogue import Rule
from detlint.facts import Invoke
from detlint.finding import Finding, Place, Related
from detlint.project import Project

_SHOWN = 3


def check(project: Project, rule: Rule) -> Iterator[Finding]:
    """One finding for each entry point and generator: at the first draw, or at the seed that comes after it."""
    told: set[Place] = set()  # a function may be called, and started as a process too
    for entry in project.entries:
        for generator in rule.data["generators"]:
            draws = entry.draws.get(generator, [])
            late = entry.late.get(generator)
            if not draws or bool(rule.data.get("late")) is (late is None):
                continue
            first, path = draws[0]
            details = {"what": first.what, "generator": generator}
            if late is not None:
                place = late[0].place
                details["seed"] = late[0].what
                related = (Related(first.place, f"`{first.what}` draws before it"), *_steps(path))
            else:
                place = first.place
                others = [Related(other.place, f"`{other.what}` draws too") for other, _ in draws[1 : _SHOWN + 1]]
                related = (*_steps(path), *others)
            if place not in told:
                told.add(place)
                message = rule.message.format(**details)
                yield Finding(rule.code, place, message, details, related, lowered=entry.self_check)


def _steps(path: tuple[Invoke, ...]) -> tuple[Related, ...]:
    return tuple(Related(step.place, f"called from here: `{step.target.rpartition('.')[2]}`") for step in path)
