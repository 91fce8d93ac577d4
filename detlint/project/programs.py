"""Following the programs of a project: those that share code in one process, the others in separate processes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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

_BATCH = 500  # files that the programs of a batch may load in total: a tenth of a second of work
_SPREADS = 1000  # files that programs outside the largest group load, from which starting processes pays off


@dataclass(slots=True)
class Ran:
    """The results of all programs: their entry points, with those of processes right after the ones that start them.

    `ends` holds pairs: the file that a program with an outcome starts with, and the state that it ends in. `errors`
    lists what could not be followed.
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
    """Follow the programs at `starts` in up to `jobs` processes (0: one per core).

    The results are recorded in `program`, and do not depend on the number of processes. `imports` maps each file to the
    files that it imports. Programs whose results are `kept` and still valid are not followed again.
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
    program.walks, program.tried = _walks(courses.values())
    program.asked = asked.union(*(each.asked for each in courses.values()))
    return _joined(courses[start].outcome for start in starts)


def _walks(courses: Collection[Course]) -> tuple[dict[Name, dict[Walk, None]], frozenset[Name]]:
    """Return the walks of all functions, each walk once, and the functions that only run as files are tried out.

    What only tries out a file tells nothing of functions that other programs run.
    """
    found: dict[Name, dict[Walk, None]] = defaultdict(dict)
    known = frozenset[Name]()
    for trying in (False, True):
        some = [each for each in courses if _only_tries(each) is trying]
        known = frozenset(found)
        for name, walk in {id(walked): walked for course in some for walked in course.walks}.values():
            if name not in known:
                walks = found[name]
                if walk is not None:
                    walks[walk] = None
    return found, frozenset(found) - known


def _only_tries(course: Course) -> bool:
    entry = course.outcome.entry
    return entry is not None and entry.self_check


def _package(program: Program, path: str) -> frozenset[str]:
    """Return the package of a file, which is loaded before it; empty if it has none."""
    package = program.package(path)
    return frozenset() if package is None else frozenset((package,))


def _joined(outcomes: Iterator[Outcome]) -> Ran:
    """Return the results of all programs, leaving out processes that an earlier program starts too."""
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
    """Return the results of each group of programs."""
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
    """Return the results of a group as bytes; None if it fails, as it will again in the process that can report it."""
    try:
        return pack(follow_group(number))
    except Exception:
        return None


def _batches(groups: Sequence[Group]) -> Iterator[list[int]]:
    """Yield the numbers of groups in batches of some work, largest first, so that processes end at about one time."""
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
