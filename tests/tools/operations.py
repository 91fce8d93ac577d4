"""`docs/operations.md`: every row that speaks of an operation, how it is probed, and what measurements showed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from detlint import catalogue
from detlint.catalogue import Row
from detlint.verify import evidence
from detlint.verify.probe import Kind
from detlint.verify.probes import NOT_PROBED, PROBES
from detlint.verify.session import Session
from detlint.verify.verdicts import Verdict

TABLES = (("ops", "op"), ("memory", "allocator"), ("randomness", "consumer"))
_HEADS = {
    "ops": "Operations whose results or gradients may vary, and controls",
    "memory": "Uninitialised memory",
    "randomness": "Random draws",
}
_KINDS = {
    Kind.REPEATS: "runs",
    Kind.PROCESSES: "processes",
    Kind.DRAWS: "unseeded and seeded processes",
    Kind.BATCHES: "batches of other sizes",
    Kind.MEMORY: "poisoned memory",
}
_LONGEST = 3
_EVIDENCE = {"doc": "documentation", "src": "source", "source": "source", "issue": "report", "measured": "measured"} | {
    "derived": "derived",
    "PR": "report",
    "trace": "measured",
}
BEYOND = {  # probes of what rules speak of without a row of a table
    "python.random.generator": "`random.Random()` without a seed (DET104)",
    "dataloader.sampler_gen": "`DataLoader(sampler=RandomSampler(...), generator=g)`, whose sampler does not receive `g` (DET205)",
    "dataloader.workers": "`numpy.random.default_rng()` in the workers of a loader (DET104)",
    "dataloader.in_order": "`DataLoader(in_order=False)` (DET207)",
    "torch.empty.compiled": "`torch.empty` in compiled code, which the deterministic mode does not fill (DET401)",
}


def operations() -> str:
    """The text of the page."""
    return "\n".join(_page()) + "\n"


def counted(rows: Sequence[str]) -> str:
    """A table of how many results of how many runs differed, for the rows with these ids, on each device."""
    sessions = evidence.read_all([path] if (path := catalogue.folder() / "evidence").is_dir() else [])
    heads = ["operation", *(f"{mode}, on {_where(session)}" for session in sessions for mode in ("off", "on"))]
    table = {row.id: row for file, name in TABLES for row in own(file, name)}
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for name in rows:
        cells = [_count(name, session, mode) for session in sessions for mode in ("off", "strict")]
        lines.append(f"| `{table[name].list('names')[0]}` ({name}) | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _count(row: str, session: Session, mode: str) -> str:
    """What one dtype, the first that was measured, did in a mode."""
    found = (one.outcomes for one in session.measurements if one.subject.row == row and not one.subject.called)
    outcome = next((outcomes[mode] for outcomes in found if mode in outcomes), None)
    if outcome is None:
        return ""
    if outcome.verdict not in (Verdict.CONFIRMED, Verdict.NOT_OBSERVED, Verdict.DETERMINISTIC_PATH):
        return str(outcome.verdict.value)
    if outcome.distinct <= 1:
        return f"all {outcome.runs} runs equal"
    apart = f", {outcome.absolute:.3g} apart" if outcome.absolute else ""
    return f"{outcome.distinct} results of {outcome.runs} runs{apart}"


def own(file: str, table: str) -> list[Row]:
    """The rows of a table but for those of `rules/libraries/`, which are measured by programs of their own."""
    return [row for row in catalogue.load().rows(file, table) if not row.text("file")]


def probed(row: Row) -> bool:
    """Whether there is a probe for a row."""
    return row.id in PROBES


def _page() -> Iterator[str]:
    sessions = evidence.read_all([path] if (path := catalogue.folder() / "evidence").is_dir() else [])
    yield from _introduction(sessions)
    for file, table in TABLES:
        rows = own(file, table)
        of_ops = ("direction", "condition", _mode(), "in releases", "known by")
        heads = ["row", "operation", of_ops[0], "rule", *of_ops[1:], "probed by"]
        heads = [head for head in heads if file == "ops" or head not in of_ops]
        heads += [f"on {_where(session)}" for session in sessions]
        yield from ("", f"## {_HEADS[file]}", "", f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}")
        for row in rows:
            cells = {
                "row": f"`{row.id}`",
                "operation": _names(row),
                "direction": row.text("direction"),
                "rule": row.text("rule") or ("control" if row.data.get("control") else ""),
                "condition": row.text("condition").replace("|", "\\|"),
                _mode(): _effect(row),
                "in releases": _facts(row),
                "known by": _known(row),
                "probed by": _KINDS[PROBES[row.id].kind]
                if probed(row)
                else f"not probed: {NOT_PROBED.get(row.id, '')}",
            }
            shown = [cells[head] for head in heads if head in cells]
            shown += [_measured(row.id, session) for session in sessions]
            yield f"| {' | '.join(shown)} |"

    yield from _others(sessions)


def _others(sessions: Sequence[Session]) -> Iterator[str]:
    """Probes of rows of other tables, and of no row."""
    told = {row.id for file, table in TABLES for row in own(file, table)}
    rows = {
        row.id: f"{_names(row)} ({row.text('rule') or file})"
        for file, tables in catalogue.load().tables.items()
        for table in tables.values()
        for row in table
    }
    heads = ["probe", "of", "probed by", *(f"on {_where(session)}" for session in sessions)]
    yield from ("", "## Others", "", f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}")
    for name in (*PROBES, *NOT_PROBED):
        if name not in told:
            how = _KINDS[PROBES[name].kind] if name in PROBES else f"not probed: {NOT_PROBED[name]}"
            cells = [
                f"`{name}`",
                BEYOND.get(name) or rows[name],
                how,
                *(_measured(name, session) for session in sessions),
            ]
            yield f"| {' | '.join(cells)} |"


def _introduction(sessions: Sequence[Session]) -> Iterator[str]:
    rows = [row for file, table in TABLES for row in own(file, table)]
    plain = [row for row in rows if row.text("package") in ("", "torch")]
    yield "# Operations"
    yield ""
    yield "What is known of each operation that may vary: when, in which direction, what the deterministic mode does to it in"
    yield "which releases, on what that rests, and what measurements showed. On the site the tables can be filtered."
    yield ""
    yield "Generated from `rules/facts/`, `rules/evidence/` and the probes by `python -m tests.tools.docs`."
    yield "[verify.md](verify.md) says what the verdicts mean, and what they do not."
    yield ""
    yield f"{len(rows)} rows, {sum(map(probed, rows))} with a probe; of the {len(plain)} that need no other package than"
    yield f"PyTorch and NumPy, {sum(map(probed, plain))}. A cell of a device has the verdicts with the deterministic mode"
    yield "off and on, the worst over the dtypes. *Condition* says when an operation varies, *mode on* what"
    yield "`torch.use_deterministic_algorithms(True)` does to it, *known by* on what that rests."
    if sessions:
        yield ""
        yield "| measured on | date | confirmed | not observed | raises with the mode on | failed |"
        yield "|---|---|---|---|---|---|"
    for session in sessions:
        off = Counter(one.outcomes["off"].verdict for one in session.measurements if "off" in one.outcomes)
        on = Counter(one.outcomes["strict"].verdict for one in session.measurements if "strict" in one.outcomes)
        counts = [off[Verdict.CONFIRMED], off[Verdict.NOT_OBSERVED], on[Verdict.RAISES], off[Verdict.FAILED]]
        yield f"| {_where(session)} | {session.date} | {' | '.join(map(str, counts))} |"


def _where(session: Session) -> str:
    where = session.environment
    return ", ".join(
        filter(None, [where["device"], f"torch {where['torch']}", where.get("cuda") and f"CUDA {where['cuda']}"])
    )


def _names(row: Row) -> str:
    names = row.list("names")
    more = f" and {len(names) - _LONGEST} more" if len(names) > _LONGEST else ""
    return ", ".join(f"`{name}`" for name in names[:_LONGEST]) + more


def _facts(row: Row) -> str:
    found = [
        f"raises in {row.text('raises')}" if row.text("raises") else "",
        row.text("path") and f"path in {row.text('path')}",
    ]
    return "; ".join(filter(None, found)).replace("|", "\\|")


def _mode() -> str:
    return f"mode on, {catalogue.load().newest_release()}"


def _effect(row: Row) -> str:
    """What the deterministic mode does to an operation in the newest release."""
    newest = catalogue.load().newest_release()
    effects = {"raises": "raises", "path": "fixed order"}
    return next((word for key, word in effects.items() if row.text(key) and row.holds_for(newest, key)), "no change")


def _known(row: Row) -> str:
    """The kinds of evidence of a fact."""
    told = row.text("evidence")
    return ", ".join(dict.fromkeys(word for part, word in _EVIDENCE.items() if part in told))


def _measured(row: str, session: Session) -> str:
    """The verdicts with the mode off and on, of all dtypes."""
    found = [one.outcomes for one in session.measurements if one.subject.row == row and not one.subject.called]
    if not found:
        return ""
    worst = []
    for mode in ("off", "strict"):
        verdicts = {one[mode].verdict for one in found if mode in one}
        worst.append(next((verdict.value for verdict in _ORDER if verdict in verdicts), ""))
    return " / ".join(worst) if worst[0] != worst[1] else worst[0]


_ORDER = (
    Verdict.CONFIRMED,
    Verdict.RAISES,
    Verdict.DETERMINISTIC_PATH,
    Verdict.NOT_OBSERVED,
    Verdict.INCONCLUSIVE,
    Verdict.FAILED,
    Verdict.UNAVAILABLE,
)
