"""Causes outside torch's operations: generators and their seeds, listings, leftovers of a run. Pure, without torch."""

from __future__ import annotations

from dataclasses import replace

from detlint.bisect.comparing.align import Evidence
from detlint.bisect.comparing.case import Case, Cause
from detlint.bisect.comparing.history import named
from detlint.bisect.records import Event, Meta, Op

_UNSEEDED = {"torch": "DET101", "numpy": "DET102", "python": "DET103"}
_SEED = {
    "torch": "torch.manual_seed(0)",
    "numpy": "numpy.random.seed(0)",
    "python": "random.seed(0)",
}
_SHUFFLES = frozenset(
    {"shuffle", "sample", "choice", "choices", "permutation"}
)  # their results depend on their arguments
_LOADER = ("DET201", "DET205", "DET204", "DET206")


def from_outside(known: Case, at: Op | Event | None, told: str) -> Cause:
    """Return the cause where a value that no operation made differs: that of the nearest event that differs before it.

    `at` is the record where the value came in, `told` the evidence for it.
    """
    found = sorted((one for one in known.evidence if _speaks(one)), key=lambda one: _near(one, at))
    if found:
        cause = _told_by(known, found[0], found)
        events = cause.events or (found[0].a, found[0].b)
        return replace(cause.with_evidence(told), events=events)
    return Cause(
        "host-value",
        "something that comes from outside torch differs",
        (told, "no draw, seed or listing that differs was seen before", *hash_evidence(known.metas)),
        at.line if at is not None else None,
        ("DET105", "DET604", "DET601", "DET104", "DET603", "DET602"),
        "look for what it is made from: entropy, the time, a process's number, a hash, the order of a set, a file",
    )


def _near(one: Evidence, at: Op | Event | None) -> tuple[int, int, int]:
    """Return a sort key: seeds first, as they explain draws; then events on a line that led to `at`; then the last."""
    lines = set(at.stack) if at is not None else set()
    kind = 0 if one.event.kind == "seed" else 1
    return kind, 0 if lines & set(one.event.stack[:1]) else 1, -one.last


def _speaks(one: Evidence) -> bool:
    """Return whether an event that differs can explain another difference."""
    event = one.event
    if event.kind == "listing":
        if one.a is None or one.b is None or one.a.data.get("path") != one.b.data.get("path"):
            return False  # a listing of another path follows from an earlier listing
        return one.a.digests != one.b.digests
    if event.kind == "seed":
        return one.a is None or one.b is None or one.a.digests != one.b.digests
    return event.kind in ("draw", "generator", "resume")


def _told_by(known: Case, one: Evidence, found: list[Evidence]) -> Cause:
    event = one.event
    match event.kind:
        case "draw":
            draws = [each for each in found if each.event.kind == "draw" and each.event.what == event.what]
            first = min(draws, key=lambda each: each.event.number)
            if _of_data(known, first):
                return replace(_given(known, first.event), events=(first.a, first.b))
            return replace(random_stream(known, event.what, first.event), events=(first.a, first.b))
        case "seed":
            return _seed_value(one)
        case "generator":
            return _private(one)
        case "listing":
            return _listing(one)
        case _:
            return _left(one)


def random_stream(known: Case, generator: str, at: Op | Event) -> Cause:
    """Return the cause where a generator was in a different state when `at` drew from it."""
    own = any(one.event is at for one in known.comparison.evidence)  # record numbers compare within one stream
    seeds = [side.seeded(generator, at.number if own else None) for side in (known.a, known.b)]
    changed = _changed_seed(known, generator)
    if changed is not None:
        return _seed_value(changed)
    name, seed = named(generator), seeds[0] or seeds[1]
    told = [f"{name} was in another state in each run when `{_name(at)}` drew at {at.line}"]
    codes: tuple[str, ...] = (_UNSEEDED[generator], "DET106")
    advice = f"call `{_SEED[generator]}` before the first draw"
    if seed is None:
        told.append(f"{name} was never seeded before that")
        if known.process:
            told.append("this process was started anew: it has generators of its own, which no seed elsewhere sets")
        title = f"{name} was never seeded"
    else:
        told.append(f"it was last seeded at {seed.line} ({seed.data.get('function')}, value {seed.data.get('value')})")
        title = f"{name} was used another number of times since its seed"
        advice = "find the draws that only one run makes; what follows them gets other numbers"
    last = known.a.agreed.get(generator)
    told.append(
        f"the last draw on which both runs agree: {last.line}"
        if last is not None
        else "no draw from it was recorded before"
    )
    resumed = known.a.resumed or known.b.resumed
    if resumed is not None and seed is None:
        path = resumed.data.get("path")
        told.append(f"a checkpoint was loaded at {resumed.line}{f' ({path})' if path else ''}, without this state")
        title = f"{name} was not restored when the run was resumed"
        codes = ("DET701", *codes)
        advice = "save the states of the generators with the checkpoint, and restore them (or `detlint --fix`)"
    if generator == "torch":
        codes += _LOADER
    return Cause("random-stream", title, tuple(told), at.line, codes, advice, generator=generator)


def _of_data(known: Case, draw: Evidence) -> bool:
    """Return whether a draw differs because of its argument, and not of its generator, which was seeded alike."""
    a, b = draw.a, draw.b
    if a is None or b is None or a.data != b.data or a.data.get("function") not in _SHUFFLES:
        return False
    return known.a.seeded(a.what) is not None and _changed_seed(known, a.what) is None


def _given(known: Case, event: Event) -> Cause:
    function = event.data.get("function")
    return Cause(
        "host-value",
        f"`{function}` is given data in another order, or other data",
        (
            f"what `{function}` at {event.line} gave differs, and {named(event.what)} had been seeded alike",
            *hash_evidence(known.metas),
        ),
        event.line,
        ("DET601", "DET602", "DET604", "DET603"),
        "look where the data come from, such as a set or a folder's files, and sort them before that",
    )


def _changed_seed(known: Case, generator: str) -> Evidence | None:
    seeds = [one for one in known.evidence if one.event.kind == "seed" and one.event.what == generator and _speaks(one)]
    return seeds[0] if seeds else None


def _seed_value(one: Evidence) -> Cause:
    event = one.event
    values = [side.data.get("value") if side is not None else None for side in (one.a, one.b)]
    function = str(event.data.get("function"))
    if None in values:
        told = f"{function} at {event.line} was called in {'A' if one.a else 'B'} alone"
    elif function.endswith("state"):
        told = f"{function} at {event.line} put it into another state in each run"
    elif values[0] == values[1] == "":
        told = f"{function} at {event.line} was called without a value: it takes one from the system"
    else:
        told = f"{function} at {event.line} was called with {values[0]} in A and {values[1]} in B"
    return Cause(
        "seed-value",
        f"{named(event.what)} is seeded with another value in each run",
        (told,),
        event.line,
        ("DET105", "DET604", "DET104"),
        "seed with a constant; derive others from it without hash(), the time or the process's number",
        events=(one.a, one.b),
    )


def _private(one: Evidence) -> Cause:
    event = one.event
    if event.data.get("seeded"):
        told, title = "with a value that differs", f"`{event.what}` is seeded with another value in each run"
        return Cause(
            "seed-value",
            title,
            (f"it is made at {event.line}, {told}",),
            event.line,
            ("DET105", "DET604"),
            "seed with a constant",
            events=(one.a, one.b),
        )
    return Cause(
        "private-generator",
        f"a generator of its own (`{event.what}`) has no seed",
        (f"it is made at {event.line} without a seed, so it takes one from the system",),
        event.line,
        ("DET104", "DET208", "DET105"),
        "give it a seed where it is made",
    )


def _listing(one: Evidence) -> Cause:
    a, b, event = one.a, one.b, one.event
    assert a is not None and b is not None
    same = len(a.digests) > 1 and len(b.digests) > 1 and a.digests[1] == b.digests[1]
    where = f"`{event.what}` of {event.data.get('path')} at {event.line}"
    if same:
        told = (f"{where} gave the same {event.data.get('count')} names in another order",)
        return Cause(
            "file-order", "files are listed in another order", told, event.line, ("DET602",), "sort what is listed"
        )
    told = (f"{where} gave {a.data.get('count')} names in A and {b.data.get('count')} in B, and others",)
    advice = "give both runs the same files: the first run may have left some (run in a copy of the folder)"
    return Cause("files", "the runs find other files", told, event.line, (), advice)


def _left(one: Evidence) -> Cause:
    event, run = one.event, "A" if one.a else "B"
    told = (f"{event.data.get('path')} was loaded at {event.line} in {run} alone",)
    advice = "remove what a run leaves before the next one begins, or run in a copy of the folder"
    return Cause("leftover", "one run goes on from what another left", told, event.line, (), advice)


def hash_evidence(metas: tuple[Meta, Meta]) -> tuple[str, ...]:
    """Return the evidence that strings hash differently in the two runs; empty if they do not."""
    a, b = (one.start.get("hash") for one in metas)
    if a is None or b is None or a == b:
        return ()
    return ("strings hash differently in the two runs (PYTHONHASHSEED is not set), so sets of them have another order",)


def _name(at: Op | Event) -> str:
    if isinstance(at, Op):
        return at.name.rpartition(".")[0]
    return str(at.data.get("function") or at.what or at.kind)
