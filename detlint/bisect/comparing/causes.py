"""Why two runs differ at a record, decided from what was recorded. Pure, without torch.

The first difference, and the kind of cause that it leads to:

    a seed's value                                         seed-value
    the state of a generator where an operation draws      random-stream
    a number or data from outside torch, after             random-stream, seed-value, private-generator, file-order,
        a draw, seed, generator or listing that differs      leftover: depending on that event
    the same, with no such event before it                 host-value
    a batch of workers whose seeds are equal               worker-data, or the cause in the worker's own stream
    an input that a different record made in each run      order
    an input whose memory was never written                uninitialised
    an input not written to since it was equal             hidden-write
    only the result of an operation                        kernel, or environment where the environments differ
    the result of compiled code for equal inputs           compiled
    which operations run                                   control-flow, or a cause of data from outside
    a loss, or parameters after a step                     step (only where operations were not recorded)
    how the program ends                                   crash
"""

from __future__ import annotations

from detlint.bisect.comparing.align import Divergence
from detlint.bisect.comparing.case import Case, Cause
from detlint.bisect.comparing.hosts import from_outside, hash_evidence, random_stream
from detlint.bisect.records import COLLECTIVES, End, Event, Flag, Op

_ORDER = ("DET601", "DET602", "DET603")


def wanted(divergence: Divergence) -> tuple[set[int], set[int]]:
    """Return the numbers of the records, in A and in B, that the cause of a divergence is decided from."""
    found: list[set[int]] = []
    for one in (divergence.a, divergence.b):
        inputs = one.inputs if isinstance(one, Op) else ()
        found.append({number for one_input in inputs for number in (one_input.producer, one_input.allocation)} - {-1})
    return found[0], found[1]


def decide(case: Case) -> Cause:
    """Return the cause of the divergence of a case, which must have one."""
    divergence = case.comparison.divergence
    assert divergence is not None
    a, b = divergence.a, divergence.b
    if not divergence.differs:
        return _parted(case, divergence)
    if isinstance(a, Event) and isinstance(b, Event):
        return _event(case, a, b)
    assert isinstance(a, Op) and isinstance(b, Op)
    if {"state", "device state"} & set(divergence.differs):
        return random_stream(case, "torch", a)
    if any(one.startswith("generator") for one in divergence.differs):
        return _given_generator(case, a)
    inputs = [int(one.split()[1]) for one in divergence.differs if one.startswith("input ")]
    if inputs:
        return min((_input(case, divergence, a, b, i) for i in inputs), key=_specific)
    if "scalars" in divergence.differs or "signature" in divergence.differs:
        told = f"`{_short(a.name)}` was given {a.scalars or a.signature!s} in A and {b.scalars or b.signature!s} in B"
        return from_outside(case, a, told)
    if "phase" in divergence.differs:
        return _control_flow(case, divergence)
    return _kernel(case, a)


def _specific(cause: Cause) -> int:
    order = ("random-stream", "seed-value", "order", "uninitialised", "hidden-write")
    return order.index(cause.kind) if cause.kind in order else len(order)


def _given_generator(case: Case, op: Op) -> Cause:
    told = f"the generator that `{_short(op.name)}` is given was in another state in each run"
    found = from_outside(case, op, told)
    if found.kind != "host-value":
        return found
    return Cause(
        "random-stream",
        "a generator of its own was in another state",
        (told,),
        op.line,
        ("DET104", "DET105", "DET201", "DET205"),
        "seed the generator with a constant where it is made",
    )


def _input(case: Case, divergence: Divergence, a: Op, b: Op, i: int) -> Cause:
    """Return the cause for input `i`, which differs."""
    one, other = a.inputs[i], b.inputs[i]
    partner = divergence.producers[i] if i < len(divergence.producers) else None
    name = f"input {i} of `{_short(a.name)}`"
    if Flag.UNINITIALISED in one.flags and Flag.UNINITIALISED in other.flags:
        return _uninitialised(case, a, one.allocation)
    made = case.a.wanted.get(one.producer)
    if one.producer < 0 and other.producer < 0:
        return from_outside(case, a, f"{name} came from outside torch and differs")
    if partner != other.producer or (Flag.LIST in one.flags and one.fold != other.fold):
        both = [_describe(made), _describe(case.b.wanted.get(other.producer))]
        told = (
            f"{name} is another tensor in each run: A took {both[0]}, B {both[1]}",
            "what made either of them was equal in both runs",
            *hash_evidence(case.metas),
        )
        return Cause(
            "order",
            "the same tensors are taken in another order",
            told,
            a.line,
            _ORDER,
            "take them in an order that does not depend on hashes, addresses or timing: sort, or use a list or a dict",
        )
    if isinstance(made, Event):
        if made.kind == "batch":
            return _batch(case, made)
        return from_outside(case, made, f"{name} came in at {made.line or 'an unknown line'} and differs")
    return _hidden_write(case, a, name, made)


def _hidden_write(case: Case, op: Op, name: str, made: Op | Event | None) -> Cause:
    told = f"{name} was equal when {_describe(made)} had made it, and no operation wrote to it since"
    found = from_outside(case, op, told)
    if found.kind != "host-value":
        return found
    return Cause(
        "hidden-write",
        "memory changed without an operation",
        (told, "what writes so: numpy through shared memory, another thread or process, a kernel of the user's own"),
        op.line,
        (),
        "find what shares the memory (`.numpy()`, `from_numpy`, `share_memory_`), and give it a copy",
    )


def _uninitialised(case: Case, op: Op, allocation: int) -> Cause:
    made = case.a.wanted.get(allocation)
    where = made.line if isinstance(made, Op) and made.line is not None else None
    return Cause(
        "uninitialised",
        "memory is read that was never written",
        (
            f"`{_short(made.name)}` at {where} allocates it without a content"
            if isinstance(made, Op)
            else "it was allocated without a content",
            f"`{_short(op.name)}` at {op.line} reads it, and its result differs with what happened to lie there",
        ),
        where or op.line,
        ("DET401", "DET402", "DET403", "DET404"),
        "allocate with zeros, or write all of it before it is read",
        related=op.line,
    )


def _collective(op: Op) -> Cause:
    return Cause(
        "collective",
        "what other ranks contributed differs",
        (f"what this rank gave to `{_short(op.name)}` is equal, and what came of it is not",),
        op.line,
        (),
        "look at the streams of the other ranks; where none differs before this, at the order of the backend's sums",
        operation=op,
    )


def _kernel(case: Case, op: Op) -> Cause:
    if op.name.partition(".")[0] in COLLECTIVES:
        return _collective(op)
    same = f"its {len(op.inputs)} inputs are equal" if op.inputs else "it has no inputs"
    state = ", and so is the state of the generator" if op.draw else ""
    told = [f"`{_short(op.name)}` gave another result: {same}{state}, and so are all other arguments"]
    if op.node:
        told.append(f"it belongs to the backward of this line ({op.node})")
    code = "DET302" if op.phase == "backward" else "DET301"
    if case.environment:
        return _environment(case, op, told)
    threads = case.metas[0].final.get("threads") or case.metas[0].environment.get("threads", "")
    if threads:
        told.append(f"torch used {threads} thread{'s' * (threads != '1')}")
    other = "DET301" if code == "DET302" else "DET302"
    return Cause(
        "kernel",
        "a kernel gives another result for equal inputs",
        tuple(told),
        op.line,
        (code, other, "DET303", "DET304"),
        "`torch.use_deterministic_algorithms(True)` selects another kernel, or raises where there is none",
        operation=op,
    )


def _environment(case: Case, op: Op | None, told: list[str]) -> Cause:
    differing = [f"{name} was {a or 'not set'} in A and {b or 'not set'} in B" for name, a, b in case.environment[:6]]
    what = ", ".join(name for name, _, _ in case.environment[:3])
    return Cause(
        "environment",
        f"the runs had another environment: {what}",
        (*told, *differing),
        op.line if op is not None else None,
        ("DET505", "DET501", "DET503"),
        "give both runs the same environment; where results must not depend on it, pin it at the top of the program",
    )


def _event(case: Case, a: Event, b: Event) -> Cause:
    if a.kind == "batch":
        return _batch(case, a)
    if a.kind == "compiled":
        if a.digests[:1] != b.digests[:1]:
            return from_outside(case, a, f"what compiled code ({a.what}) was given differs")
        return Cause(
            "compiled",
            "compiled code gives another result for equal inputs",
            (f"`{a.what}` was given equal inputs; what it does inside is not seen",),
            a.line,
            ("DET506",),
            "run again with --compile eager: where that is equal, it is the compiled kernels that differ",
        )
    cause = from_outside(case, a, f"the {a.kind} differs")
    if cause.kind != "host-value":
        return cause
    return Cause(
        "step",
        f"a step gives another result: its {'loss' if a.kind == 'loss' else 'parameters'}",
        (f"{case.a.steps} steps before it agree; operations were not recorded there",),
        a.line,
        (),
        f"record operations from there: --from-step {case.a.steps}",
    )


def _batch(case: Case, batch: Event) -> Cause:
    """Return the cause for a batch that differs. If workers made it, their own streams may show a more precise one."""
    begun = [one for one in case.comparison.evidence if one.event.kind == "iterator"]
    for one in begun:
        if one.a and one.b and one.a.data.get("state") != one.b.data.get("state"):
            return random_stream(case, "torch", one.a)
    workers = batch.data.get("workers")
    if workers:
        cause = from_outside(case, batch, f"batch {batch.data.get('index')} of a loader with {workers} workers differs")
        if cause.kind != "host-value":
            return cause
        return Cause(
            "worker-data",
            "the workers of a loader made another batch",
            (
                f"batch {batch.data.get('index')} differs, though the workers' seeds are equal",
                "so they drew from a generator of their own, or read something that changes (entropy, time, files)",
            ),
            batch.line,
            ("DET208", "DET202", "DET104", "DET105", "DET207"),
            "seed what the data set draws from by the worker, from torch's own seed",
        )
    return from_outside(case, batch, f"batch {batch.data.get('index')} differs")


def _parted(case: Case, divergence: Divergence) -> Cause:
    """Return the cause where the two sequences of records part."""
    a, b = divergence.a, divergence.b
    if isinstance(a, End) and isinstance(b, End):
        told = tuple(
            f"{run} ended with status {end.status}" + (f": {end.exception}" if end.exception else "")
            for run, end in (("A", a), ("B", b))
        )
        what = "the runs end in different ways after the same operations"
        return Cause("crash", what, told, None, (), "look at the error; run again to see whether it stays")
    failed = [(run, end) for run, end in (("A", a), ("B", b)) if isinstance(end, End) and end.exception]
    if failed:
        run, end = failed[0]
        told = (f"{run} ended with {end.exception}", "what came before was equal in both runs")
        return Cause(
            "crash", "one run fails where the other one goes on", told, divergence.line, (), "look at the error"
        )
    return _control_flow(case, divergence)


def _control_flow(case: Case, divergence: Divergence) -> Cause:
    told = [_more("A", divergence.only_a), _more("B", divergence.only_b)]
    for name, end in (("A", divergence.a), ("B", divergence.b)):
        if isinstance(end, End):
            told.append(f"{name} ends there" + (f" with {end.exception}" if end.exception else ""))
    if divergence.only_a or divergence.only_b:
        told.append("after that the same operations follow again" if divergence.meet else "they do not meet again")
    item = case.a.item
    if item is not None:
        told.append(f"the last number that was taken out of a tensor, at {item.line}, was equal in both runs")
    at = next((one for one in (divergence.a, divergence.b) if isinstance(one, (Op, Event))), None)
    outside = from_outside(case, at, "other operations are carried out")
    told = [one for one in told if one]
    if outside.kind != "host-value":
        return outside.with_evidence(*told)
    if case.environment:
        return _environment(case, None, told)
    return Cause(
        "control-flow",
        "other operations are carried out",
        (*told, "no draw, seed or listing that differs came before", *hash_evidence(case.metas)),
        divergence.line,
        ("DET601", "DET603", "DET604", "DET105", "DET602"),
        "look for what decides here: the time, the order of a set, a hash, a number of cores, the order of completion",
    )


def _more(name: str, records: tuple[Op | Event, ...]) -> str:
    ops = [one for one in records if isinstance(one, Op)]
    if not ops:
        return ""
    listed = ", ".join(f"`{_short(op.name)}` at {op.line or 'an unknown line'}" for op in ops[:2])
    return f"in {name} alone: {listed}" + (" and more" if len(ops) > 2 else "")


def _describe(record: Op | Event | None) -> str:
    if record is None:
        return "one that nothing recorded made"
    name = _short(record.name) if isinstance(record, Op) else record.kind
    return f"that of `{name}` at {record.line or 'an unknown line'} (record {record.number})"


def _short(name: str) -> str:
    """Return an operation's name without its overload."""
    return name.rpartition(".")[0] if name.count(".") > 1 else name
