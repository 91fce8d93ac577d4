"""Rows of programs counted, and said in lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from . import standing
from .comparing import KINDS

_Row = Mapping[str, Any]


def totals(rows: Iterable[_Row]) -> dict[str, Any]:
    """How many programs ran, how many differ and in what, and how that stands to what detlint says of them."""
    rows = list(rows)
    ran = [row for row in rows if row["ran"]]
    told = [row for row in ran if "named" in row]
    differing = [row for row in ran if not row["equal"]]
    return {
        "programs": len(rows),
        "repositories": len({row["repository"] for row in rows}),
        "did not run": len(rows) - len(ran),
        "equal": len(ran) - len(differing),
        "differ": len(differing),
        "differ in": {kind: sum(kind in row["differs"] for row in differing) for kind in KINDS},
        "differ, named": sum(row["named"] for row in told if not row["equal"]),
        "differ, silent": sum(not row["named"] for row in told if not row["equal"]),
        "equal, named": sum(row["named"] for row in told if row["equal"]),
        "equal, silent": sum(not row["named"] for row in told if row["equal"]),
        "equal, an error": sum(standing.has_error(row["codes"]) for row in told if row["equal"]),
        "equal, a generator that is not seeded in time": sum(bool(row["not seeded"]) for row in told if row["equal"]),
        "bisect": _counted(_bisected(row["bisect"]) for row in differing if "bisect" in row),
        "repeat": _counted(_repeated(row["repeat"]) for row in differing if "repeat" in row),
        "differ, fixed": _counted(after_fixes(row) for row in differing if "fixed" in row),
        "equal, fixed": _counted(after_fixes(row) for row in ran if "fixed" in row and row["equal"]),
    }


def line(row: _Row) -> str:
    """A line for a program: what two runs came to, and what detlint says."""
    if not row["ran"]:
        return f"{row['name']}: did not run ({row['error'].strip().splitlines()[-1]})"
    seen = ", ".join(f"{count} {kind}" for kind, count in row["seen"].items())
    parts = [f"{row['name']}: " + (f"equal [{seen}]" if row["equal"] else f"differs [{row['first']}]")]
    if "codes" in row:
        said = [f"{name} not seeded" for name in row["not seeded"]]
        said += [f"{code} {severity}" for severity, codes in row["codes"].items() for code in codes]
        parts.append(f"detlint {'names a cause' if row['named'] else 'is silent'} [{', '.join(said)}]")
    if "bisect" in row:
        found = row["bisect"]
        about = [str(found[key]) for key in ("operation", "line", "cause", "code", "reason") if found.get(key)]
        parts.append(f"bisect: {found['verdict']} [{', '.join(about)}]")
    if "repeat" in row:
        found = row["repeat"]
        about = [*found.get("changes", ()), *filter(None, (found.get("remains"), found.get("reason")))]
        parts.append(f"repeat: {found['verdict']} [{'; '.join(about)}]")
    if "fixed" in row:
        word = after_fixes(row)
        first = f" [{row['fixed']['first']}]" if word in ("differs", "changed") else ""
        parts.append(f"after fixes: {word}{first}")
    return "; ".join(parts) + f"; {max(row['seconds']):.0f} s"


def _bisected(found: _Row) -> str:
    """What bisect says, in a class: the first difference with or without a rule, equal, or no answer."""
    if found["verdict"] != "diverged":
        return str(found["verdict"])
    return "diverged, names a rule" if found["code"] else f"diverged, {found['cause']}"


def _repeated(found: _Row) -> str:
    """What came of `repeat`, in a class: equal, or left with a cause that it names, or with none."""
    if found["verdict"] == "differs":
        return f"differs, {'a cause is named' if found['causes'] else 'no cause is named'}"
    return str(found["verdict"])


def after_fixes(row: _Row) -> str:
    """What came of a program by the fixes, in a class."""
    found = row["fixed"]
    if not found["ran"] or not found["equal"]:
        return "differs" if found["ran"] else "did not run"
    return "equal" if not row["equal"] else "as before" if found["as before"] else "changed"


def _counted(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))
