"""DET101, DET102, DET103 and DET106: what an entry point draws before it seeds."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.catalogue import Rule
from detlint.finding import Finding, Place, Related
from detlint.link.entries import Met
from detlint.link.state import Drawn
from detlint.project import Project

_SHOWN = 3


def check(project: Project, rule: Rule) -> Iterator[Finding]:
    """One finding for each entry point and generator: at the first draw, or at the seed that comes after it."""
    told: set[Place] = set()  # a function may be called, and started as a process too
    for entry in project.entries:
        for stream in entry.streams:
            draws = entry.telling(stream.draws) or stream.draws
            if stream.generator not in rule.data["generators"] or not draws:
                continue
            if bool(rule.data.get("late")) is (stream.late is None):
                continue
            first = draws[0]
            lowered = entry.self_check or not entry.telling(stream.draws)
            details = {"what": first.event.what, "generator": stream.generator}
            message = rule.message
            if stream.late is not None:
                place = stream.late.event.place
                details["seed"] = stream.late.event.what
                related = (Related(first.event.place, f"`{first.event.what}` draws before it"), *_steps(first))
            else:
                place = first.dispatch or first.event.place
                others = [Related(m.event.place, f"`{m.event.what}` draws too") for m in draws[1 : _SHOWN + 1]]
                related = (*_steps(first), *others)
                if stream.optional is not None and stream.optional.option:
                    message = rule.data["optional"]
                    details["option"] = stream.optional.option
                    seeds = Related(stream.optional.event.place, f"seeded here where `{details['option']}` is given")
                    related = (seeds, *related)
            if place not in told:
                told.add(place)
                yield Finding(rule.code, place, message.format(**details), details, related, lowered=lowered)


def _steps(met: Met[Drawn]) -> tuple[Related, ...]:
    steps = tuple(
        Related(step.place, "while this is imported" if step.imports else f"called from here: `{step.name}`")
        for step in met.path
    )
    return steps if met.dispatch is None else (*steps, Related(met.event.place, f"`{met.event.what}` draws here"))
