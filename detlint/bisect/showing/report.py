"""An outcome as a person reads it: one screen of text. Pure, without torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from detlint.bisect.comparing.align import Divergence
from detlint.bisect.comparing.history import named
from detlint.bisect.comparing.outcome import DIVERGED, EQUAL, FAILED, Found, Outcome
from detlint.bisect.records import Event, Line, Op

_AROUND = 2  # lines of the source before and after
_WIDEST = 110
_GENERATORS = ("torch", "numpy", "python")
_SEEN = {
    "loader": "iterations of loaders",
    "compiled": "compiled calls",
    "thread": "threads",
    "process": "processes",
    "autograd": "threads of autograd",
}
Reader = Callable[[Line], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Static:
    """What the static analysis says about the cause, in words: the rule, its finding's place and message, and a fix.

    `row` is what the tables of facts say about the operation, `operation` that row's id, and `verified` what running it
    showed. `near` says that the finding is at a line named here.
    """

    code: str = ""
    name: str = ""
    place: str = ""
    message: str = ""
    help: str = ""
    fix: str = ""
    row: str = ""
    near: bool = True
    operation: str = ""
    verified: str = ""


def text(outcome: Outcome, program: str, read: Reader, static: Static | None = None, notes: Sequence[str] = ()) -> str:
    """Return the report. `program` is what was run; `read` returns the lines of the file that a line is in, or none."""
    if outcome.status == DIVERGED:
        lines = _diverged(outcome, program, read, static)
    elif outcome.status == EQUAL:
        lines = [f"{program}: equal, {_count(outcome.equal, 'record')} in {_count(len(outcome.streams), 'stream')}"]
    elif outcome.status == FAILED:
        lines = [f"{program}: {outcome.reason}", f"equal until then: {_count(outcome.equal, 'record')}"]
    else:
        lines = [f"{program}: inconclusive: {outcome.reason}"]
    lines += [f"note: {note}" for note in notes]
    lines += _apart(outcome) if outcome.status != DIVERGED else []
    whole = "\n".join([*lines, *coverage(outcome)]) + "\n"
    return "".join(one if one.isprintable() or one == "\n" else "?" for one in whole)  # a record may come from anywhere


def _apart(outcome: Outcome) -> list[str]:
    """Describe the known differences between the runs' environments; empty if there are none."""
    told = [f"{name} ({a or 'not set'} / {b or 'not set'})" for name, a, b in outcome.environment[:8]]
    more = f" and {len(outcome.environment) - 8} more" if len(outcome.environment) > 8 else ""
    return [f"their environments differ: {', '.join(told)}{more}"] if told else []


def where(found: Found) -> str:
    """Describe where a stream differs, in a few words: the operation, its number, the step and the phase."""
    divergence = found.comparison.divergence
    assert divergence is not None
    one = divergence.a if isinstance(divergence.a, (Op, Event)) else divergence.b
    if not isinstance(one, (Op, Event)):
        return f"at its end, after {_count(divergence.equal, 'record')}"
    what = one.name if isinstance(one, Op) else _event(one)
    words = [f"at record {one.number} of stream {found.stream}", what]
    if found.a.steps or found.a.losses:
        words.append(f"after {_count(found.a.steps, 'step')} of an optimizer{_part(found)}")
    if isinstance(one, Op) and one.phase != "forward":
        words.append(f"{one.phase} ({one.node})" if one.node else one.phase)
    return ", ".join(words)


def briefly(found: Found) -> str:
    """Describe in one line a difference that was found after those before it were repaired."""
    divergence, cause = found.comparison.divergence, found.cause
    place = divergence.line if divergence is not None else None
    because = f" (made at {cause.line})" if cause.line not in (place, None) else ""
    return f"next difference: {place or 'the end'}: {cause.title}  [{cause.kind}]{because}"


def coverage(outcome: Outcome) -> list[str]:
    """Describe what was seen, what was not, and how far that carries."""
    seen = [f"{_SEEN.get(name, name)}: {count}" for name, count in outcome.seen if count]
    lines = [f"seen: {', '.join([*_streams(outcome), *seen])}"] if outcome.streams else []
    if outcome.unseen:
        lines.append(f"not seen: {'; '.join(outcome.unseen[:4])}")
    if outcome.status == EQUAL:
        lines.append(
            "Two runs are one comparison on one machine: it says nothing of other hardware, versions or numbers of\n"
            "threads, nor of a race that did not show."
        )
    return lines


def _streams(outcome: Outcome) -> list[str]:
    shown = ", ".join(outcome.streams[:6]) + (" ..." if len(outcome.streams) > 6 else "")
    return [f"{_count(len(outcome.streams), 'stream')} ({shown})"]


def _diverged(outcome: Outcome, program: str, read: Reader, static: Static | None) -> list[str]:
    first = outcome.found[0]
    divergence, cause = first.comparison.divergence, first.cause
    assert divergence is not None
    lines = [f"{program} diverged {where(first)}", *_apart(outcome), ""]
    place = divergence.line
    if place is not None:
        lines += [*excerpt(place, read), ""]
    kind = f"{cause.kind}: {cause.why}" if cause.why else cause.kind
    lines.append(f"cause: {cause.title}  [{kind}]")
    if cause.line is not None and cause.line != place:
        lines += excerpt(cause.line, read, around=0)
    lines += [f"  - {one}" for one in cause.evidence]
    lines += ["", f"do: {cause.advice}"]
    lines += _rule(static)
    lines += ["", f"before it: {_count(divergence.equal, 'record')} equal; {_seeds(first)}"]
    lines += [_differing(divergence)] if divergence.differs else []
    for one in outcome.found[1:4]:
        other = one.comparison.divergence
        at = other.line if other is not None else None
        lines.append(f"also: stream {one.stream} differs at {at or 'its end'}: {one.cause.title}  [{one.cause.kind}]")
    if len(outcome.found) > 4:
        lines.append(f"also: {len(outcome.found) - 4} more streams")
    return lines


def excerpt(line: Line, read: Reader, around: int = _AROUND) -> list[str]:
    """Return a line of the source with the lines around it."""
    source = read(line)
    function = f" in {line.function}" if line.function and line.function != "<module>" else ""
    lines = [f"  {line}{function}"]
    first, last = max(line.line - around, 1), min(line.line + around, len(source))
    width = len(str(last))
    for number in range(first, last + 1):
        mark = ">" if number == line.line else " "
        lines.append(f"  {mark} {number:{width}} | {source[number - 1].expandtabs(4).rstrip()[:_WIDEST]}".rstrip())
    return lines


def _rule(static: Static | None) -> list[str]:
    if static is None:
        return []
    if not static.code:
        return [f"{head}: {told}" for head, told in (("table", static.row), ("verified", static.verified)) if told]
    if static.place:
        found = "found" if static.near else "found elsewhere,"
        lines = [f"rule: {static.code} {static.name}, {found} at {static.place}: {static.message}"]
    else:
        lines = [f"rule: {static.code} {static.name} speaks of this; the static analysis has no finding here"]
    lines.append(f"  help: {static.help}")
    if static.fix:
        lines.append(f"  fix: {static.fix}")
    if static.row:
        lines.append(f"  table: {static.row}")
    if static.verified:
        lines.append(f"  verified: {static.verified}")
    return lines


def _differing(divergence: Divergence) -> str:
    one = divergence.a
    same = ""
    if isinstance(one, Op):
        equal = [i for i in range(len(one.inputs)) if f"input {i}" not in divergence.differs]
        same = f"; equal: {len(equal)} of {_count(len(one.inputs), 'input')}" if one.inputs else ""
    return f"what differs: {', '.join(divergence.differs)}{same}"


def _seeds(found: Found) -> str:
    told = []
    for generator in _GENERATORS:
        seed = found.a.seeded(generator)
        if seed is not None:
            told.append(f"{named(generator)} last seeded at {seed.line}")
    return "; ".join(told) or "no generator was seeded"


def _event(event: Event) -> str:
    return f"{event.kind} of {event.what}" if event.what else f"the {event.kind}"


def _part(found: Found) -> str:
    """Describe which of the losses of a step differs; empty unless a step is known to have several."""
    divergence = found.comparison.divergence
    one = divergence.a if divergence is not None else None
    if not (isinstance(one, Event) and one.kind == "loss" and (found.a.parts or found.a.losses > found.a.steps)):
        return ""
    return f", loss {found.a.parts + 1} of the next"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
