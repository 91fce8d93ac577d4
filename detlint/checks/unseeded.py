"""DET101, DET102, DET103 and DET106: what an entry point draws before it seeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from detlint.catalogue import Rule
from detlint.finding import Finding, Place, Related
from detlint.programs.entries import Entry, Stream
from detlint.programs.events import FORKED, RESEEDED, UNSEEDED, Drawn, Perhaps, Seeded, Switched, is_parameter
from detlint.programs.met import Met
from detlint.project.project import Project

_SHOWN = 3


def check(project: Project, rule: Rule) -> Iterator[Finding]:
    """Yield one finding per place where an entry point first draws from a generator, or seeds it after that.

    Programs that share the place share the finding, which has the severity for the program that it harms most.
    """
    found: dict[Place, list[tuple[Entry, Finding]]] = {}
    for entry in project.entries:
        for stream in entry.own_streams:
            late = bool(rule.data.get("late"))
            if stream.generator in rule.data["generators"] and stream.draws and late is (stream.late is not None):
                finding = (_seeded_late if late else _drawn)(rule, entry, stream)
                found.setdefault(finding.place, []).append((entry, finding))
            elif not late and stream.generator in rule.data["generators"] and not stream.draws:
                for finding in (*_reseeded(project, rule, entry, stream), *_perhaps_drawn(rule, entry, stream)):
                    found.setdefault(finding.place, []).append((entry, finding))
    for each in found.values():
        worst, finding = min(each, key=lambda pair: pair[1].lowered)
        others = dict.fromkeys(_file(entry) for entry, _ in each if _file(entry) != _file(worst))
        more = [Related(Place(path, 1, 1, 1, 1), "this program gets there too") for path in list(others)[:_SHOWN]]
        # a program stays as it is where nothing that it draws decides anything
        alike = (entry for entry, its in each if its.lowered is finding.lowered)
        remedies = project.remedies(entry for entry in alike if any(stream.draws for stream in entry.own_streams))
        details = {**finding.details, "programs": "\n".join(sorted({entry.path for entry, _ in each}))}
        yield replace(finding, details=details, related=(*finding.related, *more), remedies=remedies)


def _file(entry: Entry) -> str:
    """Return the file that somebody runs to get a program; for a process, the file that starts it."""
    return entry.path if entry.starter is None else entry.starter.path


def _seeded_late(rule: Rule, entry: Entry, stream: Stream) -> Finding:
    first, lowered = _first(entry, stream)
    assert stream.late is not None
    place, seed, inner = _too_late(entry, stream.late, first)
    details = {"what": first.event.what, "generator": stream.generator, "seed": seed}
    message = rule.message.format(**details, subject=_subject(rule, first, dispatched=False))
    related = (Related(first.event.place, f"`{first.event.what}` draws before it"), *_steps(first), *inner)
    return Finding(rule.code, place, message, details, related, lowered=lowered)


def _too_late(entry: Entry, late: Met[Seeded], first: Met[Drawn]) -> tuple[Place, str, tuple[Related, ...]]:
    """Return the place and name of the call that comes too late, and where the seeding in it is.

    This is the script's own call if that only seeds, otherwise the seeding call itself: many programs may share the
    function that seeds, and each has its own first draw.
    """
    call, depth = next(reversed(late.path), None), len(late.path)
    own = call is not None and call.place.path == entry.path and not (call.imports or call.name.startswith("__"))
    if call is not None and own and first.path[:depth] != late.path:
        within = (met for met in entry.met if met.path[:depth] == late.path)
        if all(isinstance(met.event, (Seeded, Switched)) for met in within):
            return call.place, call.name, (Related(late.event.place, f"`{late.event.what}` seeds here"),)
    return late.event.place, late.event.what, ()


def _drawn(rule: Rule, entry: Entry, stream: Stream) -> Finding:
    first, lowered = _first(entry, stream)
    place = first.dispatch or first.event.place
    details = {"what": first.event.what, "generator": stream.generator}
    draws = {m.event.place: m.event.what for m in stream.draws if m.event.place != first.event.place}
    others = [Related(where, f"`{what}` draws too") for where, what in list(draws.items())[:_SHOWN]]
    related = (*_steps(first), *others)
    message, details["remedy"] = rule.message, rule.data.get("remedy", "")
    if first.event.word == FORKED:
        message, details["remedy"] = rule.data["forked"]
    elif entry.pickled and stream.optional is None:
        message, details["remedy"] = rule.data["pickled"]
    elif stream.optional is not None and stream.optional.option:
        message, details["option"] = rule.data["optional"], stream.optional.option
        seeded = f"seeded here where `{stream.optional.option}` is given"
        related = (Related(stream.optional.event.place, seeded), *related)
    program = "this program" if place.path == _file(entry) else f"`{_file(entry).rpartition('/')[2]}`"
    message = message.format(**details, subject=_subject(rule, first), program=program)
    return Finding(rule.code, place, message, details, related, lowered=lowered)


def _reseeded(project: Project, rule: Rule, entry: Entry, stream: Stream) -> Iterator[Finding]:
    """Yield a finding if a program seeds with what differs in each run, and no rule reports that where it is made."""
    first = stream.drawn
    if stream.state != UNSEEDED or first is None or first.event.word != RESEEDED:
        return
    told, remedy, elsewhere = rule.data["reseeded"]
    if project.tells(elsewhere, entry):
        return
    place, where = first.dispatch or first.event.place, _file(entry).rpartition("/")[2]
    details = {"what": first.event.what, "generator": stream.generator, "remedy": remedy}
    seeds = [met.event for met in stream.seeds if met.event.entropy]
    related = (*(Related(seed.place, f"`{seed.what}` seeds it") for seed in seeds[:1]), *_steps(first))
    program = "this program" if place.path == _file(entry) else f"`{where}`"
    message = told.format(**details, subject=_subject(rule, first), program=program)
    lowered = entry.self_check or not entry.telling((first,))
    yield Finding(rule.code, place, message, details, related, lowered=lowered)


def _perhaps_drawn(rule: Rule, entry: Entry, stream: Stream) -> Iterator[Finding]:
    """Yield a finding if a program draws at most through something that cannot be seen, such as a checkpoint."""
    for met in entry.of(Perhaps) if "perhaps" in rule.data else ():
        if met.event.generator == stream.generator and met.event.word == UNSEEDED and not met.option:
            place = met.dispatch or met.event.place
            details = {"what": met.event.what, "generator": stream.generator, "remedy": rule.data.get("remedy", "")}
            program = "this program" if place.path == _file(entry) else f"`{_file(entry).rpartition('/')[2]}`"
            words = {"what": met.event.what, "where": met.event.where, "program": program}
            message = rule.data["perhaps"].format(**words)
            yield Finding(rule.code, place, message, details, _steps(met), lowered=True)
            return


def _subject(rule: Rule, first: Met[Drawn], *, dispatched: bool = True) -> str:
    """Return what draws, in words; at a call that may run one of several things, what that may run."""
    place, what = first.event.place, f"`{first.event.what}`"
    if dispatched and first.dispatch is not None and first.dispatch != place:
        return f"what this call may run ({what}, in `{place.path.rpartition('/')[2]}`)"
    return f"iterating this {what}" if what.rstrip("`").endswith(rule.data["iterated"]) else what


def _first(entry: Entry, stream: Stream) -> tuple[Met[Drawn], bool]:
    """Return the first draw that decides something, and whether to lower the finding.

    It is lowered if no draw decides anything, options at their defaults, or if the program only tries something out.
    """
    telling = entry.telling(stream.draws)
    first = (telling or list(stream.draws))[0]
    chosen = bool(first.option) and not is_parameter(first.option)
    return first, entry.self_check or not telling or chosen


def _steps(met: Met[Drawn] | Met[Perhaps]) -> tuple[Related, ...]:
    steps = tuple(
        Related(step.place, "while this is imported" if step.imports else f"called from here: `{step.name}`")
        for step in met.path
    )
    return steps if met.dispatch is None else (*steps, Related(met.event.place, f"`{met.event.what}` draws here"))
