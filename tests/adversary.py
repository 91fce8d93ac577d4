"""The regular expressions of detlint, and strings that are made to slow each of them down."""

from __future__ import annotations

import ast
import re
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as constants  # type: ignore[attr-defined, unused-ignore]
    from re import _parser as parser  # type: ignore[attr-defined, unused-ignore]
else:
    import sre_constants as constants
    import sre_parse as parser

ROOT = Path(__file__).parent.parent
_APART = ("runtime", "verify", "bisect", "plugins")  # what reads no stranger's text, or reads it by what is tested here
_EXTRA = " a1_.:,#\\\n\"'(="
_CALLS = ("compile", "match", "search", "fullmatch", "sub", "split", "findall", "finditer")


def patterns() -> dict[str, tuple[re.Pattern[Any], frozenset[str]]]:
    """All regular expressions by where they stand, those that modules hold and those that functions write, each with
    the ways in which it is used.
    """
    found: dict[str, tuple[re.Pattern[Any], frozenset[str]]] = {}
    everywhere = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "detlint").rglob("*.py"))
    for path in sorted((ROOT / "detlint").rglob("*.py")):
        name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        if name.split(".")[1:2] and name.split(".")[1] in _APART:
            continue
        for key, value in vars(import_module(name)).items():
            for number, each in enumerate(value.values() if isinstance(value, dict) else [value]):
                if isinstance(each, re.Pattern):
                    used = path.read_text(encoding="utf-8") if key.startswith("_") else everywhere
                    ways = frozenset(re.findall(rf"\b{key}\.(\w+)\(", used)) or frozenset(["match"])
                    found[f"{name}.{key}" + (f"[{number}]" if isinstance(value, dict) else "")] = each, ways
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in _CALLS
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and isinstance(node.args[0], ast.Constant)
            ):
                flags = re.DOTALL | re.MULTILINE if "DOTALL" in ast.unparse(node) else 0
                way = {"compile": "match"}.get(node.func.attr, node.func.attr)
                found[f"{name}:{node.lineno}"] = re.compile(node.args[0].value, flags), frozenset([way])
    return found


def _letters(parsed: Any) -> Iterator[str]:
    """The letters that a pattern speaks of, and runs of letters as words."""
    word = ""
    for op, value in parsed:
        if op is constants.LITERAL:
            word += chr(value)
            continue
        if word:
            yield word
        word = ""
        if op is constants.IN:
            yield from (chr(v) for o, v in value if o is constants.LITERAL)
            yield from (chr(v[0]) for o, v in value if o is constants.RANGE)
        elif op in (constants.MAX_REPEAT, constants.MIN_REPEAT):
            yield from _letters(value[2])
        elif op is constants.SUBPATTERN:
            yield from _letters(value[3])
        elif op is constants.BRANCH:
            for each in value[1]:
                yield from _letters(each)
        elif op in (constants.ASSERT, constants.ASSERT_NOT):
            yield from _letters(value[1])
        elif op is constants.NOT_LITERAL:
            yield chr(value)
    if word:
        yield word


def strings(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str]]:
    """A head and a part that is repeated behind it: what an attack on this pattern may be made of."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    words = list(dict.fromkeys(_letters(parser.parse(text, pattern.flags & (re.DOTALL | re.MULTILINE)))))
    parts = list(dict.fromkeys([*words[:8], *_EXTRA]))
    yield from product(dict.fromkeys(["", *words[:3], "".join(words[:2])]), parts)
    yield from (("", f"{word} ") for word in words[:8])
    for one, other in product(words[:4], parts[:8]):
        yield "", one + other


def slowness(
    pattern: re.Pattern[Any], ways: frozenset[str], head: str, part: str, length: int, times: int = 1
) -> float:
    """Seconds of the processor's time that its uses take on a text of such a length, at best."""
    text = head + part * (length // len(part)) + "\0"
    given: Any = text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")
    best = 1e9
    for _ in range(times):
        begun = time.process_time()
        if ways - {"match", "fullmatch"}:
            for _ in pattern.finditer(given):
                pass
        if "match" in ways:
            pattern.match(given)
        if "fullmatch" in ways:
            pattern.fullmatch(given)
        best = min(best, time.process_time() - begun)
    return best


def growth(pattern: re.Pattern[Any], ways: frozenset[str], head: str, part: str) -> float:
    """How many times as long it takes where a text has eight times the length, of lengths at which it can be measured."""
    short = 1_000
    while slowness(pattern, ways, head, part, short * 8) < 0.02 and short < 20_000:
        short *= 2
    long = slowness(pattern, ways, head, part, short * 8, 3)
    return long / max(slowness(pattern, ways, head, part, short, 3), 1e-5) if long > 0.02 else 1.0
