"""`docs/libraries.md`: what was measured of each row on libraries, and what that says of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.tools.libraries import programs
from tests.tools.libraries.claims import DIFFERS, ELSEWHERE, FAILED, REFUTED, REPEATS, UNMEASURED, verdict
from tests.tools.libraries.programs import Library, Program

KEPT = Path(__file__).parents[3] / "docs" / "libraries.json"

Data = Mapping[str, Any]

_INTRODUCTION = """\
# Libraries

What the rows say of libraries, measured: a small program of each row is run twice in fresh processes, with random hashes
and as many threads as usual, under five ways of seeding: nothing; `random`; NumPy; torch; all three. Where the row has a
parameter for the seed, a sixth gives that alone. The bits of the results are compared. Where two runs agree with nothing
seeded, or differ with all, the ways between come out the same and are not run, nor is a seed of torch where nothing loads
it.

Generated from `docs/libraries.json` and `rules/` by `python -m tests.tools.docs`; measured by
`python -m tests.tools.measure_libraries FOLDER` with the programs of `tests/tools/libraries/programs/`.

A row is *confirmed* where it says what came of each way; *refuted*, and by which ways, where it says otherwise; *not seen*
where two runs that it says may differ did not. *Outside* a row is what its conditions leave out, and outside all rows what
none speaks of: *confirmed* where the runs agree, *no row says so* where they do not, often because the size of the data
decides, which detlint does not see. Rows *of other releases* say nothing of this one. Two runs that agree prove nothing of
other sizes, threads or releases.
"""


def read() -> dict[str, Any]:
    """What was measured last, by release; nothing where there was none."""
    kept: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    return kept


def keep(
    library: Library, release: str, about: Data, found: Mapping[str, Mapping[str, str]], errors: Mapping[str, str]
) -> None:
    """Keep what was measured of programs with a release, beside what was of the others."""
    kept, known = read(), {program.digest for program in library.programs}
    before = kept.get(release, {}).get("programs", {})
    rows = {digest: told for digest, told in before.items() if digest in known} | {
        program.digest: {"program": program.name, "ways": found[program.name]}
        | ({"error": errors[program.name]} if program.name in errors else {})
        for program in library.programs
        if program.name in found
    }
    KEPT.write_text(_written(kept | {release: {**about, "programs": rows}}), encoding="utf-8")


def _written(kept: Data) -> str:
    """JSON with a line for each program."""
    releases, between = [], ",\n"
    for release, measured in sorted(kept.items()):
        rows = [f"   {_line(name)}: {_line(found)}" for name, found in measured["programs"].items()]
        about = "".join(f"  {_line(name)}: {_line(told)},\n" for name, told in measured.items() if name != "programs")
        releases.append(f' {_line(release)}: {{\n{about}  "programs": {{\n{between.join(rows)}\n  }}\n }}')
    return f"{{\n{between.join(releases)}\n}}\n"


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def stale(libraries: Sequence[Library], data: Data) -> list[str]:
    """The programs that were changed, or left out, since they were measured."""
    known = {
        (release, program.digest)
        for library in libraries
        for release in library.releases
        for program in library.programs
    }
    return [
        f"{release}: {found['program']}"
        for release, measured in data.items()
        for digest, found in measured["programs"].items()
        if (release, digest) not in known
    ]


def render(libraries: Sequence[Library], data: Data) -> str:
    """The page."""
    return "\n".join(_page(libraries, data)) + "\n"


def _page(libraries: Sequence[Library], data: Data) -> Iterator[str]:
    rows = [name for name, _ in programs.third_party()]
    found = [
        (program, verdict(program, release, measured["ways"])[0])
        for library in libraries
        for release in library.releases
        for program in library.programs
        if (measured := _measured(data, release, program)) is not None
    ]
    seen = {
        row
        for program, told in found
        if not program.outside and told not in (UNMEASURED, ELSEWHERE)
        for row in program.rows
    }
    yield _INTRODUCTION
    yield f"{len(seen & {*rows})} of {len(rows)} rows were measured. Of programs, each with each release:"
    yield f"{', '.join(f'{count} {told}' for told, count in Counter(told for _, told in found).most_common())}."
    for library in libraries:
        for release in library.releases:
            yield from _release(library, release, data)
    yield from _unmeasured(rows, seen)


def _release(library: Library, release: str, data: Data) -> Iterator[str]:
    if release not in data:
        return
    yield from (
        "",
        f"## {release}",
        "",
        f"Measured on {data[release]['date']}, with Python {data[release]['python']}.",
        "",
    )
    yield from ("| row | what | repeats | differs | verdict |", "|---|---|---|---|---|")
    for program in library.programs:
        measured = _measured(data, release, program)
        if measured is None:
            continue
        told, against = verdict(program, release, measured["ways"])
        names = ", ".join(f"`{row.partition(' ')[2]}`" for row in program.rows)
        row = f"{'outside ' * program.outside}{names or 'all rows'}"
        ways = measured["ways"]
        shown = told
        if told == REFUTED:
            shown = f"**refuted** under {', '.join(_named(program, way) for way in against)}"
        elif told == UNMEASURED:
            shown = f"not measured: {_error(measured)}"
        elif ways.get("given") == FAILED:
            shown = f"{told}; `{program.parameter}` fails: {_error(measured)}"
        cells = [row, program.about, *(_list(program, ways, outcome) for outcome in (REPEATS, DIFFERS)), shown]
        yield f"| {' | '.join(cells)} |"


def _error(measured: Data) -> str:
    return str(measured.get("error", "")).replace("|", "\\|")


def _list(program: Program, ways: Data, outcome: str) -> str:
    if FAILED in (ways[way] for way in ways if way != "given"):
        return ""
    plain = [way for way in ways if way != "given"]
    if all(ways[way] == outcome for way in plain):
        told = ["always"] if plain else []
    else:
        told = [_named(program, way) for way in plain if ways[way] == outcome]
    if ways.get("given") == outcome and (told != ["always"] or outcome == DIFFERS):
        told.append(_named(program, "given"))
    return ", ".join(told)


def _named(program: Program, way: str) -> str:
    return f"`{program.parameter}`" if way == "given" else way


def _unmeasured(rows: Sequence[str], seen: set[str]) -> Iterator[str]:
    yield from ("", "## Not measured", "", "Rows without a program, by table.", "")
    for table in programs.TABLES:
        left = [name.partition(" ")[2] for name in rows if name not in seen and name.startswith(f"{table} ")]
        if left:
            yield f"- {table}: {', '.join(f'`{name}`' for name in left)}"


def _measured(data: Data, release: str, program: Program) -> Data | None:
    found: Data | None = data.get(release, {}).get("programs", {}).get(program.digest)
    return found
