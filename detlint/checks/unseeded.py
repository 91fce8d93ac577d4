"""DET101, DET102, DET103 and DET106: what an entry point draws before it seeds."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.catalogue import Rule
from detlint.facts import Invoke
from detlint.finding import Finding, Related
from detlint.project import Project

_SHOWN = 3


def check(project: Project, rule: Rule) -> Iterator[Finding]:
    """One finding for each entry point and generator: at the first draw, or at the seed that comes after it."""
    for entry in project.entries:
        for generator in rule.data["generators"]:
            draws = entry.draws.get(generator, [])
            late = entry.late.get(generator)
            if not draws:
                continue
            first, path = draws[0]
            low = entry.self_check
            details = {"what": first.what, "generator": generator}
            if rule.data.get("late") and late is not None:
                seed = late[0]
                related = (Related(first.place, f"`{first.what}` draws before it"), *_steps(path))
                message = rule.message.format(seed=seed.what, **details)
                yield Finding(rule.code, seed.place, message, details, related, lowered=low)
            elif not rule.data.get("late") and late is None:
                others = [Related(other.place, f"`{other.what}` draws too") for other, _ in draws[1 : _SHOWN + 1]]
                message = rule.message.format(**details)
                yield Finding(rule.code, first.place, message, details, (*_steps(path), *others), lowered=low)


def _steps(path: tuple[Invoke, ...]) -> tuple[Related, ...]:
    return tuple(Related(step.place, f"called from here: `{step.target.rpartition('.')[2]}`") for step in path)
