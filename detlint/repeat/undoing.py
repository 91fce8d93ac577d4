"""Taking a change out of texts to which others were made after it."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher

Contents = Mapping[str, bytes]
"""What changed files hold, by path; one that is not there is as it was."""


def undone(before: Contents, after: Contents, last: Contents, original: Contents) -> dict[str, bytes] | None:
    """Return the `last` contents without the change from `before` to `after`; None if later changes touch it.

    `original` has the contents of files as they were; a file that is neither there nor changed is a new one.
    """
    made = dict(last)
    for path in after:
        old, new = before.get(path, original.get(path)), after[path]
        if old == new:
            continue
        if old is None:
            if last[path] != new:
                return None
            del made[path]
            continue
        lines = _undone(old.splitlines(True), new.splitlines(True), last[path].splitlines(True))
        if lines is None:
            return None
        made[path] = b"".join(lines)
        if made[path] == original.get(path):
            del made[path]
    return made


def _undone(before: list[bytes], after: list[bytes], last: list[bytes]) -> list[bytes] | None:
    places = {-1: -1, len(after): len(last)}  # lines of `after` that remain, with their numbers in `last`
    for start, now, count in SequenceMatcher(None, after, last, autojunk=False).get_matching_blocks():
        places.update((start + i, now + i) for i in range(count))
    made = list(last)
    for kind, start, end, old_start, old_end in reversed(
        SequenceMatcher(None, after, before, autojunk=False).get_opcodes()
    ):
        if kind == "equal":
            continue
        first = places[start] if start < end and start in places else places.get(start - 1, -2) + 1
        if first < 0 or any(places.get(start + i) != first + i for i in range(end - start)):
            return None
        if start == end and places.get(start) != first:
            return None
        made[first : first + end - start] = before[old_start:old_end]
    return made
