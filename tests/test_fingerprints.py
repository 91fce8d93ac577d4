"""What a finding is known by."""

from __future__ import annotations

from detlint.review.fingerprints import fingerprints
from tests.support import report

TEXT = "import torch\ntorch.backends.cudnn.benchmark = True\n"


def known(text: str, path: str = "train.py", names: dict[str, str] | None = None) -> list[str]:
    found = [judged.finding for judged in report({path: text}, ("DET501",)).findings]
    return fingerprints(found, lambda _: {None: text}, names)


def test_a_finding_is_known_again_where_its_line_has_moved() -> None:
    moved = TEXT.replace("torch\n", "torch\n\nprint(1)\nif True:\n    pass\n", 1)
    assert known(moved) == known(TEXT)
    assert known(TEXT.replace(" = ", "  =   ")) == known(TEXT)


def test_another_line_and_another_file_are_known_as_others() -> None:
    assert known(TEXT.replace("benchmark = True", "benchmark = True  # slow")) != known(TEXT)
    assert known(TEXT, "other.py") != known(TEXT)


def test_a_renamed_file_is_known_by_the_name_that_is_given() -> None:
    assert known(TEXT, "new.py", {"new.py": "train.py"}) == known(TEXT)


def test_findings_that_are_alike_are_counted() -> None:
    first, second = known(TEXT + TEXT.splitlines()[1] + "\n")
    assert first != second
    assert known(TEXT) == [first]
