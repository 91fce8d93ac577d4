"""The programs of a project, followed: those that share code together, the others in processes of their own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from detlint.link.runs.following import Course, Followed, Outcome, follow
from detlint.link.runs.groups import Group, grouped
from detlint.link.runs.kept import Kept
from detlint.link.runs.starts import Imported, Start
from detlint.link.state.program import Program
from detlint.link.state.spans import Name, Walk
from detlint.link.state.tables import Tables
from detlint.programs.entries import Entry
from detlint.programs.events import State
from detlint.support import processes
from detlint.support.packing import pack, unpack

_BATCH = 500  # files that the programs of a batch may load, in all: a tenth of a second of work
_SPREADS = 1000  # files that programs beside the largest group may load, for which it pays to start processes


@dataclass(slots=True)
class Ran:
    """What comes of all programs: their entry points, those of processes right after what starts these.

    `ends` are the files that programs with an outcome start with, and the states that they end in. `errors` says what
    could not be followed.
    """

    entries: list[Entry] = field(default_factory=list)
    ends: list[tuple[str, State]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def run(
    program: Program,
    tables: Tables,
    starts: Sequence[Start],
    imports: Imported,
    jobs: int,
    kept: Kept | None = None,
) -> Ran:
    """Follow the programs that start there, in up to `jobs` processes (0: one a core). What they come to is noted in
    `program`, and the same whatever the number of processes.

    `imports` has the files that each file imports. What is `kept` is not followed again where that would be the same.
    """
    groups = grouped(starts, {path: each | _package(program, path) for path, each in imports.items()})
    asked, program.asked = program.asked, set()
    known = {} if kept is None else kept.courses(program, starts)
    courses: dict[Start, Course] = {}
    for group, followed in zip(groups, _followed(program, tables, groups, jobs, known), strict=True):
        courses.update(zip(group.starts, followed.courses, strict=True))
        program.documents.looked.update(followed.looked)
    if kept is not None:
        kept.keep(program, courses, sum(course is not known.get(start) for start, course in courses.items()))
    program.walks, program.asked = _walks(courses.values()), asked.union(*(each.asked for each in courses.values()))
    return _joined(courses[start].outcome for start in starts)


def _walks(courses: Iterable[Course]) -> dict[Name, dict[Walk, None]]:
    """The walks of all functions, each once."""
    found: dict[Name, dict[Walk, None]] = defaultdict(dict)
    for name, walk in {id(walked): walked for course in courses for walked in course.walks}.values():
        walks = found[name]
        if walk is not None:
            walks[walk] = None
    return found


def _package(program: Program, path: str) -> frozenset[str]:
    """What is loaded before a file, as the package that it belongs to."""
    package = program.package(path)
    return frozenset() if package is None else frozenset((package,))


def _joined(outcomes: Iterator[Outcome]) -> Ran:
    """All that comes of programs, but for processes that an earlier program starts too."""
    found = Ran()
    known: set[object] = set()
    for outcome in outcomes:
        found.errors += outcome.errors
        if outcome.entry is not None:
            found.entries.append(outcome.entry)
        if outcome.end is not None:
            found.ends.append(outcome.end)
        for given, process in outcome.processes:
            if given not in known:
                known.add(given)
                found.entries.append(process)
                found.ends.append((process.path, process.end))
    return found


def _followed(
    program: Program, tables: Tables, groups: Sequence[Group], jobs: int, known: Mapping[Start, Course]
) -> list[Followed]:
    """What comes of each group of programs."""
    follow_group = partial(_follow, program, tables, groups, known)
    work = [0] if known else sorted(group.work for group in groups)
    jobs = min(jobs or processes.usable_cores(), len(groups))
    if jobs < 2 or sum(work[:-1]) < _SPREADS or not processes.forks():
        return [follow_group(number) for number in range(len(groups))]
    packed = dict(processes.spread(partial(_packed, follow_group), _batches(groups), jobs, once=True))
    found = (packed[number] for number in range(len(groups)))
    return [follow_group(number) if content is None else unpack(content) for number, content in enumerate(found)]


def _follow(
    program: Program, tables: Tables, groups: Sequence[Group], known: Mapping[Start, Course], number: int
) -> Followed:
    return follow(program, tables, groups[number].starts, known)


def _packed(follow_group: Callable[[int], Followed], number: int) -> bytes | None:
    """What comes of a group, as bytes; None where it fails, as it will in the process that can tell of it."""
    try:
        return pack(follow_group(number))
    except Exception:
        return None


def _batches(groups: Sequence[Group]) -> Iterator[list[int]]:
    """The numbers of groups in batches of some work, the most first: so processes end at about the same time."""
    batch: list[int] = []
    work = 0
    for number in sorted(range(len(groups)), key=lambda number: groups[number].work, reverse=True):
        batch.append(number)
        work += groups[number].work
        if work >= _BATCH:
            yield batch
            batch, work = [], 0
    if batch:
        yield batch
