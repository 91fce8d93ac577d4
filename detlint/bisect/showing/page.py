"""An outcome as one HTML page that needs no network. Pure, without torch."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.bisect.comparing.align import Divergence
from detlint.bisect.comparing.outcome import Found, Outcome
from detlint.bisect.comparing.spread import Spread
from detlint.bisect.records import End, Event, Op
from detlint.support import page

_CELL, _GAP, _TOP, _LETTER = 14, 2, 24, 6.5  # pixels, the last one the width of a letter
_LONGEST = 40  # letters shown of a name
_EQUAL, _DIFFERS, _NOTHING = "equal", "differs", "nothing"  # CSS classes
_STYLE = """
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
th, td { border: 1px solid var(--line); padding: .25rem .5rem; vertical-align: top; text-align: left; }
th:first-child, td:first-child { width: 7rem; color: var(--faint); }
tr.differs { background: var(--bad-back); }
pre.report { white-space: pre-wrap; }
.key span { white-space: nowrap; margin-left: 1em; }
.key i { display: inline-block; width: 1em; height: 1em; margin-right: .3em; vertical-align: -.1em; }
.key .equal { background: var(--equal); } .key .differs { background: var(--differs); }
.key .nothing { background: var(--nothing); }
.steps { overflow-x: auto; }
svg text { font: 11px system-ui, sans-serif; fill: var(--text); }
rect.equal { fill: var(--equal); } rect.differs { fill: var(--differs); } rect.nothing { fill: var(--nothing); }
@media (max-width: 40rem) { th:first-child, td:first-child { width: 4.5rem; } table { font-size: .85rem; } }
@media print { rect, .key i, tr.differs { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""


def build(outcome: Outcome, program: str, text: str, spread: Spread) -> str:
    """Return the page: the report as text, the runs side by side where they part, and how the difference spreads."""
    title = f"{program}: {outcome.verdict}"
    parts = [f"<h1>{page.text(title)}</h1>", f"<pre class=report>{page.text(text)}</pre>"]
    for found in outcome.found[:8]:
        parts.append(_side_by_side(found))
    if spread.steps:
        parts += ["<h2>Steps</h2>", _key(), _drawn(spread)]
    return page.whole(title, "\n".join(parts), _STYLE)


def _side_by_side(found: Found) -> str:
    divergence = found.comparison.divergence
    assert divergence is not None
    rows = [("", "A", "B")]
    if divergence.differs:
        rows += _of_pair(divergence)
    else:
        sides = [divergence.only_a, divergence.only_b]
        longest = max(len(side) for side in sides)
        for i in range(longest):
            one, other = (_record(side[i]) if i < len(side) else "" for side in sides)
            rows.append(("more", one, other))
        if not longest:
            rows.append(("end", _record(divergence.a), _record(divergence.b)))
    cells = "".join(_row(row, head=i == 0) for i, row in enumerate(rows))
    place = f" at {divergence.line}" if divergence.line is not None else ""
    head = f"Stream {found.stream}{place}: {found.cause.title}"
    return f"<h2>{page.text(head)}</h2><p>{divergence.equal:,} equal records come before.</p><table>{cells}</table>"


def _of_pair(divergence: Divergence) -> list[tuple[str, str, str]]:
    a, b = divergence.a, divergence.b
    rows = [("record", _record(a), _record(b))]
    if isinstance(a, Op) and isinstance(b, Op):
        rows.append(("arguments", a.scalars, b.scalars))
        rows.append(("shapes", a.signature, b.signature))
        rows.append(("generator", a.state, b.state))
        for i, (one, other) in enumerate(zip(a.inputs, b.inputs, strict=False)):
            first, second = (f"{side.digest or '(not read)'} of record {side.producer}" for side in (one, other))
            rows.append((f"input {i}", first, second))
        for i, (first, second) in enumerate(zip(a.outputs, b.outputs, strict=False)):
            rows.append((f"output {i}", first, second))
    elif isinstance(a, Event) and isinstance(b, Event):
        rows.append(("content", " ".join(a.digests), " ".join(b.digests)))
    return [row for row in rows if row[1] or row[2]]


def _row(row: Sequence[str], head: bool) -> str:
    cell = "th" if head else "td"
    differs = ' class="differs"' if not head and row[1] != row[2] else ""
    return f"<tr{differs}>" + "".join(f"<{cell}>{page.text(one)}</{cell}>" for one in row) + "</tr>"


def _record(record: Op | Event | End | None) -> str:
    if record is None:
        return ""
    if isinstance(record, End):
        return f"the end, status {record.status} {record.exception}".strip()
    what = record.name if isinstance(record, Op) else f"{record.kind} {record.what}".strip()
    return f"{what} at {record.line or 'an unknown line'}"


def _key() -> str:
    words = ((_EQUAL, "equal in both runs"), (_DIFFERS, "differs"), (_NOTHING, "nothing recorded"))
    spans = "".join(f"<span><i class={kind}></i>{told}</span>" for kind, told in words)
    return f'<p class="key">One column for each step of an optimizer, from the left:{spans}</p>'


def _drawn(spread: Spread) -> str:
    """Draw the grid of steps and of what they changed."""
    pitch = _CELL + _GAP
    left = round(_LETTER * min(max(map(len, spread.names), default=0), _LONGEST)) + 16
    width, height = left + pitch * len(spread.steps) + 10, _TOP + pitch * len(spread.names) + 10
    parts = [f'<text x="{left + pitch * i}" y="14">{i}</text>' for i in range(0, len(spread.steps), 10)]
    for j, name in enumerate(spread.names):
        y = _TOP + pitch * j
        parts.append(f'<text x="{left - 8}" y="{y + 11}" text-anchor="end">{page.text(name[-_LONGEST:])}</text>')
        for i, step in enumerate(spread.steps):
            kind = _NOTHING if name not in step else _EQUAL if step[name] else _DIFFERS
            told = f"{page.text(name)}, step {i}"
            parts.append(
                f'<rect x="{left + pitch * i}" y="{y}" width="{_CELL}" height="{_CELL}" class={kind}>'
                f"<title>{told}</title></rect>"
            )
    drawn = "".join(parts)
    return f'<div class=steps><svg width="{width}" height="{height}" role="img" aria-label="Steps">{drawn}</svg></div>'
