"""Two runs of a program recorded and aligned, and the first operation that differs named, with its cause.

The program runs in its own process; torch is imported there once the program has imported it.

    records, writer, streams   what a trace contains; writing and reading its streams
    options                    what is recorded, and what is made different
    lines                      the user's lines, without those of libraries
    startup, starting          a record that a program makes of itself as Python starts
    recorded/                  the process while it is recorded: `child` begins it, `session` holds its threads,
                               `installing` has it watched, `recorder` sees operations, `inside` records a block
    following/                 the user's code followed statement by statement in that process
    comparing/                 two records: `align` lays streams side by side, `causes` says why they differ in torch,
                               `hosts` outside of it, `outcome` sums up all streams
    running/                   `runs`: two runs, in fresh processes (`launch`) or in forks of a warmed one (`warm`)
    locating/                  `locate`: the line of a cause; `explain`: runs with one suspect equal; `repairs`: what
                               differs after the first
    showing/                   text, JSON, HTML

Only `recorded/` and `following/` run with torch.
"""

from __future__ import annotations

from typing import Any

__all__ = ["recording"]


def __getattr__(name: str) -> Any:
    """Return `recording`, imported on first use: other modules do not need it. Raises AttributeError for others."""
    if name != "recording":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from detlint.bisect.recorded.inside import recording

    return recording
