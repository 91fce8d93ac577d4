"""What `--fix` leaves of each program, in a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from detlint.finding import Finding, Safety
from detlint.records import record
from detlint.report import Judged

_MOST = 20  # programs that get a line each
_SHOWN = ("error", "warning")


@record(frozen=True)
class Standing:
    """A program after the fixes: the file that starts it, whether it was changed, and what is left of it by code.

    `unsafe` says how many of these have an unsafe fix.
    """

    path: str
    changed: bool
    left: Mapping[str, int]
    unsafe: int


def standings(
    programs: Mapping[str, Collection[str]], changed: Collection[str], left: Iterable[Judged]
) -> Iterator[Standing]:
    """Say how each program stands; `programs` are the files that each reaches, by the file that starts it."""
    findings = [each for each in left if each.severity.value in _SHOWN]
    for path, reached in sorted(programs.items()):
        own = [each.finding for each in findings if _is_of(each.finding, path, reached)]
        unsafe = sum(each.fix is not None and each.fix.safety is Safety.UNSAFE for each in own)
        yield Standing(path, not set(changed).isdisjoint(reached), Counter(each.code for each in own), unsafe)


def _is_of(finding: Finding, path: str, reached: Collection[str]) -> bool:
    """Whether a finding is a program's: by the programs that it names, else by its file."""
    named = finding.details.get("programs")
    return path in named.splitlines() if named else finding.place.path in reached


def lines(found: Iterable[Standing]) -> Iterator[str]:
    """Say what was reached of each program that was changed or has something left, and count the others."""
    told = [each for each in found if each.changed or each.left]
    for each in told[:_MOST]:
        yield f"{each.path}: {_line(each)}"
    rest = told[_MOST:]
    if rest:
        open_ = sum(bool(each.left) for each in rest)
        yield f"and {len(rest)} more programs: {len(rest) - open_} repeat now, as far as detlint sees, {open_} do not"


def _line(standing: Standing) -> str:
    if not standing.left:
        return "repeats now, as far as detlint sees"
    codes = ", ".join(f"{code} ({count})" if count > 1 else code for code, count in sorted(standing.left.items()))
    rest = sum(standing.left.values()) - standing.unsafe
    ways = [f"`--unsafe-fixes` mends {standing.unsafe if rest else 'all' if standing.unsafe > 1 else 'it'}"]
    ways = ways if standing.unsafe else []
    if rest and standing.path.endswith(".py"):
        ways.append(f"`detlint bisect -- python {standing.path}` shows where two runs part")
    return f"left: {codes}" + (f"; {', '.join(ways)}" if ways else "")
