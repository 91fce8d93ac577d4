"""A divergence joined with the static analysis: the finding at its cause, or else the rule about such a cause."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from packaging.version import Version

from detlint import catalogue, config, engine
from detlint.bisect.comparing.case import Cause
from detlint.bisect.comparing.outcome import Found
from detlint.bisect.records import End, Line, Op
from detlint.bisect.showing.report import Static
from detlint.catalogue import Row
from detlint.finding import Operation, Safety
from detlint.report import Judged

_NEAR = 2  # lines
_MOST_FILES = 500  # files of a project to analyse; in a larger one, only those that the divergence names
_ANYWHERE = frozenset({"random-stream", "seed-value", "private-generator", "file-order", "uninitialised"})
_HASHED = frozenset({"order", "host-value", "control-flow"})  # what differing hashes can cause from anywhere
_UNCERTAIN = frozenset({"control-flow", "host-value", "environment", "kernel"})  # only a finding shows which rule


def advise(found: Found, folder: Path, program: str, loaded: Iterable[str]) -> Static:
    """Return what the static analysis says about a divergence in a program run in `folder`.

    `program` is its script, or "". `loaded` lists the program's own files that it loaded, with paths as in `Line`. A
    finding in any other file does not concern this program.
    """
    cause = found.cause
    lines = named(found)
    row = _row(cause)
    table = f"{row.id}: {row.text('mechanism')}; {row.text('condition')}" if row is not None else ""
    known = Static(row=table, operation=row.id if row is not None else "")
    own = {str((folder / path).resolve()) for path in (*loaded, *([program] if program else ()))}
    ranked = belonging(cause, lines, folder, own, _findings(lines, folder, program))
    if ranked:
        return _of_finding(*ranked[0], known)
    rules = catalogue.load().rules
    rule = next((rules[code] for code in cause.codes if code in rules), None)
    if rule is None or cause.kind in _UNCERTAIN:
        return known
    return replace(known, code=rule.code, name=rule.name, help=rule.summary if "{" in rule.help else rule.help)


def verified(static: Static, cause: Cause, processes: int = 3, repeats: int = 10) -> Static:
    """Return `static` with the result of running the operation alone, on its own device, as `detlint verify --op` does.

    Raises pool.StartError if the device cannot be used.
    """
    from detlint.verify import join, session
    from detlint.verify.probes import NOT_PROBED, PROBES

    if cause.kind != "kernel" or not static.operation:
        return static
    operation, op = Operation(static.operation), cause.operation
    device = "cuda" if op is not None and "cuda" in op.signature else "cpu"
    subjects = join.of_operations([operation], PROBES)
    settings = session.Settings(device, processes, repeats, stops=True, seconds=session.SECONDS)
    held = session.hold(subjects, settings) if subjects else None
    told = join.shown(operation, held, PROBES, NOT_PROBED)
    if told is None:
        return static
    where = f" ({held.environment['device']})" if held is not None else ""
    return replace(static, verified=f"{told.verdict}: {told.text}{where}")


def _of_finding(judged: Judged, near: bool, known: Static) -> Static:
    finding, rule = judged.finding, judged.rule
    fix = ""
    if finding.fix is not None and finding.fix.safety is not Safety.DISPLAY:
        unsafe = " --unsafe-fixes" if finding.fix.safety is Safety.UNSAFE else ""
        fix = f"`detlint --fix{unsafe} --select {rule.code}` ({finding.fix.title})"
    place = str(Line(_shown(finding.place.path), finding.place.line, cell=finding.place.cell))
    return replace(
        known,
        code=rule.code,
        name=rule.name,
        place=place,
        message=finding.message,
        help=judged.help,
        fix=fix,
        near=near,
    )


def _shown(path: str) -> str:
    """Return a path relative to the working folder if it lies inside."""
    full = Path(path).resolve()
    return str(full.relative_to(Path.cwd())) if Path.cwd() in full.parents else path


def named(found: Found) -> list[Line]:
    """Return the lines that the divergence names, the likeliest place of its cause first."""
    divergence = found.comparison.divergence
    sides = (divergence.a, divergence.b) if divergence is not None else ()
    stacks = [line for one in sides if one is not None and not isinstance(one, End) for line in one.stack]
    every = [found.cause.line, found.cause.related, *stacks]
    return list(dict.fromkeys(line for line in every if line is not None))


def _findings(lines: Sequence[Line], folder: Path, program: str) -> tuple[Judged, ...]:
    """Return the findings of the program's project, including those that comments or a baseline withhold."""
    paths = [path for path in dict.fromkeys(folder / line.path for line in lines) if path.is_file()]
    script = folder / program
    around = script.parent if program and script.is_file() else paths[0].parent if paths else folder
    if few_files(around):
        paths = [around, *(path for path in paths if around not in path.parents)]
    try:
        settings, torch = everything(paths)
        return engine.check_paths(paths, settings, torch).findings if paths else ()
    except config.ConfigError:
        return ()


def everything(paths: Sequence[Path]) -> tuple[config.Config, Version]:
    """Return settings that find everything in these files and folders, and the release of torch to judge by.

    Raises ConfigError.
    """
    settings = config.for_paths(paths or [Path()])
    settings = replace(settings, baseline=None, select=("ALL",), ignore=(), per_file_ignores={}, comments=False)
    return settings, config.target_torch(settings.torch_version, settings.root, catalogue.load())


def few_files(folder: Path) -> bool:
    """Return whether a folder has so few files of code that all of them can be analysed on the way."""
    return len(list(islice(_sources(folder), _MOST_FILES + 1))) <= _MOST_FILES


def _sources(folder: Path) -> Iterable[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "site-packages"]
        yield from (Path(place, name) for name in files if name.endswith((".py", ".ipynb")))


def belonging(
    cause: Cause, lines: Sequence[Line], folder: Path, own: Collection[str], findings: Iterable[Judged]
) -> list[tuple[Judged, bool]]:
    """Return the findings about a cause, the likeliest first, each with whether it is at or near one of its lines.

    Elsewhere, only findings in files of the program's `own` count.
    """
    places = [(str((folder / line.path).resolve()), line) for line in lines]
    own = {*own, *(path for path, _ in places)}
    ranked = []
    for number, judged in enumerate(findings):
        code, place = judged.finding.code, judged.finding.place
        if code not in cause.codes:
            continue
        path = str(Path(place.path).resolve())
        near = [
            (i, max(place.line - line.line, line.line - place.end_line, 0))
            for i, (other, line) in enumerate(places)
            if other == path and line.cell == place.cell
        ]
        close = [(i, away) for i, away in near if away <= _NEAR]
        wanted = cause.codes.index(code)
        if close:
            ranked.append(((wanted, 0, *min(close), number), judged))
        elif path in own and _may_be_elsewhere(cause, code):
            ranked.append(((wanted, 1, 0 if near else 1, 0, number), judged))
    return [(judged, rank[1] == 0) for rank, judged in sorted(ranked, key=lambda one: one[0])]


def _may_be_elsewhere(cause: Cause, code: str) -> bool:
    """Return whether what a rule finds far from the known lines can be behind a cause."""
    if cause.kind in _ANYWHERE:
        return cause.codes.index(code) < 2
    return cause.kind in _HASHED and code in ("DET601", "DET604")


def _row(cause: Cause) -> Row | None:
    """Return the row of facts that best fits the operation whose kernel is the cause; None if there is none."""
    op = cause.operation
    words = op.name.split(".") if op is not None else []
    if op is None or len(words) < 2:
        return None
    name = words[1].rstrip("_")
    forward = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", re.sub(r"Backward\d*$", "", op.node)).lower()
    rows = [row for row in catalogue.load().rows("ops", "op") if not row.data.get("control")]
    for asked, direction in (({forward} - {""}, "backward"), ({name, f"{name}_"}, "forward")):
        named = [row for row in rows if asked & {known.rpartition(".")[2] for known in row.list("names")}]
        fitting = [row for row in named if row.text("direction") == direction]
        if fitting:
            return max(fitting, key=lambda row: _fit(row, op))
    return None


def _fit(row: Row, op: Op) -> tuple[int, int]:
    """Return how well a row fits an operation: the values of its conditions that are given, and its device."""
    given = set(op.scalars.replace("=", " ").split())
    values = [condition.partition("=")[2] for condition in row.list("when") if re.fullmatch(r"\w+=\w+", condition)]
    device = "cuda" if "cuda" in op.signature else "cpu"
    fits = 2 * row.id.endswith(f".{device}") + (device in row.text("condition").lower())
    return sum(1 if value in given else -1 for value in values), fits
