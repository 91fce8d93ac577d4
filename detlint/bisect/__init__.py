"""Two runs of a program recorded, aligned, and the first operation that differs named, with its cause.

The program runs in a process of its own; torch is imported there once the program has imported it.

    records, writer, streams   what a trace says; its streams written, and read
    options                    what is recorded, and what is made different
    lines                      the user's lines, without those of libraries
    startup, starting          a record that a program makes of itself as Python starts
    recorded/                  the process while it is recorded: `child` begins it, `session` holds its threads,
                               `installing` has it watched, `recorder` sees operations, `inside` records a block
    following/                 the user's code followed statement by statement, there
    comparing/                 two records: `align` lays streams side by side, `causes` says why they differ in torch,
                               `hosts` outside of it, `outcome` what all streams came to
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
    """`recording`, of which the other modules need not know."""
    if name != "recording":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from detlint.bisect.recorded.inside import recording

    return recording
