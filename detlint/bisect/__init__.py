"""Two runs of a program recorded, aligned, and the first operation that differs named, with its cause.

The program runs in a process of its own; torch is imported there once the program has imported it. The recorder:

    records, writer, streams                what a trace says; its streams written, and read
    launch, options                         a program recorded in a fresh process; what is recorded and made different
    inside, startup, starting               a record that a program makes of itself: a block, or as Python starts
    child, programs, watch                  that process; programs of every form entered; imports waited for
    session, track                          a process and its threads while they are recorded
    recorder, operations, signatures        operations; what their schemas say; the texts of their arguments
    digests, storages, lines                content as 64 bits; who wrote which memory last; the user's lines
    hooks_host, hooks_torch, hooks_loader,  everything else that may tell why two runs differ
    hooks_process, compiling, patching
    parameters, fingerprint, keeping        parameters by name; the environment; values put in place of others
    warm, origin, hidden                    which processes of `forking` fork for each run; a fork; out of its sight
    tracing, follower, statements, values   the user's code followed: threads, steps, what they read and bind

What is made of two records, without torch:

    align, history                          two streams laid side by side; what came before in each
    case, causes, hosts                     why they differ: within torch; from outside of it
    outcome, runs, explain, repairs         all streams; two runs; runs with one suspect equal; the next difference
    locate, steps, pairing, provenance      the line of a cause: runs followed, steps read, laid side by side, gone back
    reasons, shown                          why that line makes a difference; two values in words
    report, document, spread, page          text; JSON; how a difference spreads over steps; HTML
"""

from __future__ import annotations

from typing import Any

__all__ = ["recording"]


def __getattr__(name: str) -> Any:
    """`recording`, of which the other modules need not know."""
    if name != "recording":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from detlint.bisect.inside import recording

    return recording
