"""Regular expressions take no longer than in proportion to a text, whatever is in it: each is attacked by its own letters."""

from __future__ import annotations

import re

import pytest

from detlint.reading import ast_strings
from tests.adversary import growth, patterns, slowness, strings

_LINEAR = 20.0  # times, for eight times the text: what grows with its square takes 64
_EVER = (
    0.02  # seconds for 22 characters, of which a pattern that doubles with each takes some, at best of several tries
)
_NOTHING = 0.0004  # seconds for a thousand characters: some nanoseconds for each


@pytest.mark.slow
def test_the_attacks_find_what_is_slow() -> None:
    for pattern in (r"\w*é\w*", r"/\*.*?\*/"):
        slow, ways = re.compile(pattern), frozenset(["search"])
        _, *worst = max((slowness(slow, ways, *each, 1_000), *each) for each in strings(slow))
        assert growth(slow, ways, *worst) > _LINEAR, pattern
    doubled = re.compile(r"(?:[^x]+|y)*z")
    assert slowness(doubled, frozenset(["match"]), "", "a", 22) > 20 * slowness(
        doubled, frozenset(["match"]), "", "a", 11
    )


@pytest.mark.slow
def test_no_expression_takes_longer_than_in_proportion_to_the_text() -> None:
    found = patterns()
    assert len(found) > 120
    for where, (pattern, ways) in found.items():
        worst = (0.0, "", "")
        for head, part in strings(pattern):
            taken = (
                slowness(pattern, ways, head, part, 22) < _EVER or slowness(pattern, ways, head, part, 22, 5) < _EVER
            )
            assert taken, f"{where} takes for ever on {head!r} and {part!r}"
            worst = max(worst, (slowness(pattern, ways, head, part, 1_000), head, part))
        if worst[0] > _NOTHING:
            assert growth(pattern, ways, *worst[1:]) < _LINEAR, f"{where} on {worst[1]!r} and many {worst[2]!r}"


def test_strings_are_read_as_before() -> None:
    for quote in ast_strings._PLAIN:
        for text in ("", "a", r"\\", r"\'", r"\\\\", "é\\\n", "{x}", "'" if quote[0] == '"' else '"'):
            match = ast_strings._PLAIN[quote].match(f"{text}{quote} rest{quote}")
            assert match is not None and match[0] == f"{text}{quote}"
        if len(quote) == 3:
            match = ast_strings._PLAIN[quote].match(f"a{quote[0]}b{quote[:2]}c{quote}")
            assert match is not None and match[0] == f"a{quote[0]}b{quote[:2]}c{quote}"
