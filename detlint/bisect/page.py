"""An outcome as one page of HTML that needs no network. Pure, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from detlint.bisect.align import Divergence
from detlint.bisect.outcome import Found, Outcome
from detlint.bisect.records import End, Event, Op
from detlint.bisect.spread import Spread

_CELL, _GAP, _LEFT, _TOP = 14, 2, 260, 24  # pixels
_EQUAL, _DIFFERS, _NOTHING = "#9ecae1", "#d94801", "#eeeeee"
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 1100px; padding: 0 1em; color: #222; }
pre { background: #f6f6f6; padding: 1em; overflow-x: auto; font-size: 13px; white-space: pre-wrap; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
td, th { border: 1px solid #ddd; padding: 4px 8px; vertical-align: top; text-align: left; overflow-wrap: anywhere; }
.differs { background: #fdd0a2; } .key span { display: inline-block; width: 1em; height: 1em; margin: 0 .3em 0 1em; }
svg text { font: 11px system-ui, sans-serif; }
"""


def build(outcome: Outcome, program: str, text: str, spread: Spread) -> str:
    """The page: the report as text, the two runs side by side where they part, and how the difference spreads."""
    title = f"{program}: {outcome.verdict}"
    parts = [f"<h1>{escape(title)}</h1>", f"<pre>{escape(text)}</pre>"]
    for found in outcome.found[:8]:
        parts.append(_side_by_side(found))
    if spread.steps:
        parts += ["<h2>Steps</h2>", _key(), _drawn(spread)]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(parts) + "\n</body></html>\n"


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
    return f"<h2>{escape(head)}</h2><p>{divergence.equal:,} equal records come before.</p><table>{cells}</table>"


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
    return f"<tr{differs}>" + "".join(f"<{cell}>{escape(one)}</{cell}>" for one in row) + "</tr>"


def _record(record: Op | Event | End | None) -> str:
    if record is None:
        return ""
    if isinstance(record, End):
        return f"the end, status {record.status} {record.exception}".strip()
    what = record.name if isinstance(record, Op) else f"{record.kind} {record.what}".strip()
    return f"{what} at {record.line or 'an unknown line'}"


def _key() -> str:
    words = ((_EQUAL, "equal in both runs"), (_DIFFERS, "differs"), (_NOTHING, "nothing recorded"))
    spans = "".join(f'<span style="background:{color}"></span>{told}' for color, told in words)
    return f'<p class="key">One column for each step of an optimizer, from the left:{spans}</p>'


def _drawn(spread: Spread) -> str:
    """The grid of steps and what they changed."""
    pitch = _CELL + _GAP
    width, height = _LEFT + pitch * len(spread.steps) + 10, _TOP + pitch * len(spread.names) + 10
    parts = [f'<text x="{_LEFT + pitch * i}" y="14">{i}</text>' for i in range(0, len(spread.steps), 10)]
    for j, name in enumerate(spread.names):
        y = _TOP + pitch * j
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 11}" text-anchor="end">{escape(name[-40:])}</text>')
        for i, step in enumerate(spread.steps):
            color = _NOTHING if name not in step else _EQUAL if step[name] else _DIFFERS
            told = f"{escape(name)}, step {i}"
            parts.append(
                f'<rect x="{_LEFT + pitch * i}" y="{y}" width="{_CELL}" height="{_CELL}" fill="{color}">'
                f"<title>{told}</title></rect>"
            )
    drawn = "".join(parts)
    return f'<div style="overflow-x:auto"><svg width="{width}" height="{height}" role="img">{drawn}</svg></div>'
