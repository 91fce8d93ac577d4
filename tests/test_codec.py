"""Records as text: they come back as they were, and what does not fit is an error."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from detlint import catalogue
from detlint.analyse import Collected, Source, analyse
from detlint.facts.codec import Codec, CodecError
from detlint.facts.facts import Call, Do, Literal
from detlint.facts.packed import packed
from detlint.finding import Finding

TORCH = catalogue.load().newest_release()
CODES = frozenset(catalogue.load().rules)
BENCHMARK = "import torch\ntorch.backends.cudnn.benchmark = True\n"
AWKWARD = r"""
import torch
torch.manual_seed(-0.0, 0.0, 1, True, 1.0, False, 0, b"\xff\x00", None, "\ud800 \u2028 é", 1e400, 10**30, 123456789012345678901234567890)
torch.use_deterministic_algorithms(mode=True, **options)
class A(B, metaclass=C):
    x: int = 1
    def f(self, a, *b, c=lambda: 1, **d): yield [i for i in a if (k := i)]
for x in {1: 2, **y}: pass
with open("f") as f, torch.no_grad(): raise SystemExit(f"{x!r}")
"""


def test_facts_come_back_as_they_were_to_the_type_of_each_constant() -> None:
    codec = Codec(Collected)
    collected = analyse(Source("a/b.py", "a.b", AWKWARD), CODES, TORCH)
    assert collected.facts is not None
    back = codec.decode(codec.encode(collected), "a/b.py")
    assert repr(back.facts) == repr(collected.facts)
    assert back.facts == collected.facts
    moved = codec.decode(codec.encode(collected), "c.py")
    assert repr(moved.facts) == re.sub(r"'a/b\.py'", "'c.py'", repr(collected.facts))


def test_what_json_cannot_hold_is_said() -> None:
    collected = analyse(Source("a.py", "a", BENCHMARK), CODES, TORCH)
    strange = replace(collected.findings[0], details={"a": 3j})  # type: ignore[dict-item]
    with pytest.raises(CodecError):
        Codec(Collected).encode(replace(collected, findings=(strange,)))
    with pytest.raises(CodecError):
        Codec(Finding).decode(Codec(Collected).encode(collected), "a.py")


def test_numbers_too_long_to_be_read_as_decimals_come_back() -> None:
    collected = analyse(Source("a.py", "a", f"f(0x{'f' * 5000}, {2**64}, -{2**70}, {2**64 - 1})"), CODES, TORCH)
    assert collected.facts is not None
    (statement,) = packed(collected.facts).top
    assert isinstance(statement, Do) and isinstance(statement.value, Call)
    values = [each.value.value for each in statement.value.arguments if isinstance(each.value, Literal)]
    assert values == [16**5000 - 1, 2**64, -(2**70), 2**64 - 1]
