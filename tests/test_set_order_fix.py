"""The safe fix of DET601 sorts only what can be sorted, and otherwise keeps the order in which the items come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .test_rule_fixes import fixed

HEAD = """\
import os
from enum import Enum
from pathlib import Path


class Split(Enum):
    TRAIN = "train"
    TEST = "test"


class Named(str, Enum):
    TRAIN = "train"
    TEST = "test"


def f(rows, more):
"""


class Splitting:
    """Has methods that text has, too, and does something else."""

    def split(self, size: int) -> list[object]:
        return [object() for _ in range(size)]

    def join(self, other: set[str]) -> int:
        return len(other & {"a"})


# what is made and taken, what the safe fix writes in its place (None: it leaves it), and rows and more to call it with
SETS = [
    ("text", "return list({row.lower() for row in rows})", "sorted({row.lower() for row in rows})", "bA", None),
    ("text or a default", "return list({row.lower() or 'x' for row in rows})", "sorted(", "bA", None),
    ("bytes", "return list({b'b', b'a'})", "sorted({b'b', b'a'})", "", None),
    ("paths", "return list({Path(row) / 'a' for row in rows})", "sorted(", "ab", None),
    ("members that are text", "return list({Named.TRAIN, Named.TEST})", "list({", "", None),
    ("tuples that are alike", "return list({(row.lower(), len(row)) for row in rows})", "sorted(", "bA", None),
    ("text and tuples", "return list({'a', ('b', 'c')})", "list(dict.fromkeys(['a', ('b', 'c')]))", "", None),
    ("text and tuples, of a list", "keys = ['a', ('b', 'c')]\n    return list(set(keys))", "list(dict.fromkeys(keys))", "", None),
    ("text and numbers", "return list({'a', 1})", "list(dict.fromkeys(['a', 1]))", "", None),
    ("text and bytes", "return list({'a', b'a'})", "list(dict.fromkeys(['a', b'a']))", "", None),
    ("text and paths", "return list({'a', Path('a')})", "list(dict.fromkeys(['a', Path('a')]))", "", None),
    ("text and None", "return list({row.lower() or None for row in rows})", "list(dict.fromkeys(row.lower() or None for row in rows))", ["", "a"], None),
    ("text or None", "option: str | None = more\n    found = {option, 'a'}\n    return list(found)", None, "", None),
    ("text that is not None", "option: str | None = more\n    found = {'a'}\n    if option is not None:\n"
     "        found.add(option)\n    return list(found)", "sorted(found)", "", None),
    ("what the environment may lack", "found = {os.getenv('NO_SUCH'), 'a'}\n    return list(found)", None, "", None),
    ("what has the name of text", "words = set(rows)\n    return {w: i for i, w in enumerate(words)}", None, ["a", 1], None),
    ("what is split by a number", "found = set(more.split(2))\n    return list(found)", None, "", Splitting()),
    ("text that is split", "found = set(more.split(','))\n    return list(found)", "sorted(found)", "", "b,a"),
    ("another sorted", "sorted = len\n    found = {'b', 'a'}\n    return list(found)", None, "", None),
    ("another dict", "return [list({'a', 1}) for dict in rows]", None, "ab", None),
    ("what is joined by something else", "found = {'b', 'a'}\n    return more.join(found)", None, "", Splitting()),
    ("text that is joined", "found = {'b', 'a'}\n    return ','.join(found)", "','.join(sorted(found))", "", None),
    ("members", "return list({Split.TRAIN, Split.TEST})", "list(dict.fromkeys([Split.TRAIN, Split.TEST]))", "", None),
    ("members, by name", "found = {Split.TRAIN, Split.TEST}\n    return list(found)", None, "", None),
    ("what is put in later", "found = {'a'}\n    found.add(more)\n    return list(found)", None, "", 1),
    ("parts of tuples", "found = {(row.lower(), more) for row in rows}\n    return list(found)", None, "aA", None),
    ("sets of text", "return list({frozenset(row.split()) for row in rows})", "list(dict.fromkeys(", "ab", None),
    ("a set of a set", "keys = {'a', 1}\n    return list({key for key in keys})", None, "", None),
    ("what is called", "return [row() for row in set(rows)]", "for row in dict.fromkeys(rows)]", [str, int], None),
    ("what is called, in a loop", "done = []\n    for row in set(rows):\n        done.append(row())\n    return done",
     "for row in dict.fromkeys(rows):", [str, int], None),
    ("what is called, by name", "found = set(rows)\n    return [row() for row in found]", None, [str, int], None),
]  # fmt: skip


@pytest.mark.parametrize(("body", "after", "rows", "more"), [c[1:] for c in SETS], ids=[c[0] for c in SETS])
def test_the_safe_fix_sorts_only_what_can_be_sorted(body: str, after: str | None, rows: Any, more: Any) -> None:
    text = f"{HEAD}    {body}\n"
    new = fixed(text, "DET601", unsafe=False)
    assert (new == text) if after is None else (after in new)
    names: dict[str, Any] = {"Path": Path}
    exec(compile(new, "example.py", "exec"), names)
    names["f"](rows, more)


def test_what_is_called_is_never_sorted() -> None:
    text = f"{HEAD}    found = set(rows)\n    return [row() for row in found]\n"
    assert fixed(text, "DET601", unsafe=True) == text
