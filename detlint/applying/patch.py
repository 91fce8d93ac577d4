"""Changes as a patch that `git apply` and `patch -p1` accept."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

_ODD = re.compile(rb'[\x00-\x1f"\\\x7f-\xff]')
_ESCAPES = {b"\a": b"a", b"\b": b"b", b"\t": b"t", b"\n": b"n", b"\v": b"v", b"\f": b"f", b"\r": b"r"}
_NO_NEWLINE = b"\n\\ No newline at end of file\n"


def diff(path: str, old: bytes | None, new: bytes) -> bytes:
    """Return the unified diff of a file at `path`, named from the current directory; `old` is None where it is new.

    It has no `diff --git` line: with one, git would take the names to start at the root of the repository.
    """
    name = Path(os.path.relpath(path)).as_posix()
    before = b"/dev/null" if old is None else _quoted(f"a/{name}")
    hunks = difflib.diff_bytes(difflib.unified_diff, _lines(old or b""), _lines(new), before, _quoted(f"b/{name}"))
    return b"".join(line if line.endswith(b"\n") else line + _NO_NEWLINE for line in hunks)


def _lines(content: bytes) -> list[bytes]:
    """Return the lines as git counts them: they end at \\n alone."""
    return re.findall(rb"[^\n]*\n|[^\n]+\Z", content)


def _quoted(name: str) -> bytes:
    """Return a name as git writes it: odd bytes escaped, and a tab after one with a space, which would end it there."""
    raw = os.fsencode(name)
    if _ODD.search(raw):
        return b'"' + _ODD.sub(_escape, raw) + b'"'
    return raw + b"\t" if b" " in raw else raw


def _escape(match: re.Match[bytes]) -> bytes:
    byte = match[0]
    return b"\\" + (byte if byte in b'"\\' else _ESCAPES.get(byte) or b"%03o" % byte[0])
