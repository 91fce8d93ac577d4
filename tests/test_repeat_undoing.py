"""A change taken out of texts to which others were made after it."""

from __future__ import annotations

import pytest

from detlint.repeat.undoing import undone

ORIGINAL = b"a\nb\nc\nd\n"


@pytest.mark.parametrize(
    ("before", "after", "last", "left"),
    [
        (ORIGINAL, b"a\nB\nc\nd\n", b"a\nB\nc\nD\n", b"a\nb\nc\nD\n"),
        (ORIGINAL, b"a\nnew\nb\nc\nd\n", b"first\na\nnew\nb\nc\nD\n", b"first\na\nb\nc\nD\n"),
        (ORIGINAL, b"a\nc\nd\n", b"a\nc\nD\n", b"a\nb\nc\nD\n"),
        (b"a\nb\nC\nd\n", b"A\nb\nC\nd\n", b"A\nb\nC\nd\ne\n", b"a\nb\nC\nd\ne\n"),
        (ORIGINAL, b"a\nB\nc\nd\n", b"a\nother\nc\nd\n", None),
        (ORIGINAL, b"a\nc\nd\n", b"a\nbetween\nc\nd\n", None),
    ],
)
def test_later_changes_stay(before: bytes, after: bytes, last: bytes, left: bytes | None) -> None:
    earlier = {} if before == ORIGINAL else {"x": before}
    found = undone(earlier, {"x": after}, {"x": last}, {"x": ORIGINAL})
    assert found == (None if left is None else {"x": left})


def test_what_is_as_it_was_is_no_change_and_a_new_file_goes() -> None:
    original = {"x": ORIGINAL}
    after = {"x": b"a\nB\nc\nd\n", "new": b"1\n"}
    assert undone({}, after, after, original) == {}
    assert undone({}, after, {**after, "new": b"2\n"}, original) is None
