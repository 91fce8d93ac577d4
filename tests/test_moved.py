"""Code that moves to other lines: what a project has is renewed without linking it again, and comes out the same."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from detlint import catalogue
from detlint.analyse import Collected, Models, Source, analyse
from detlint.listing import ALONE
from detlint.report import Answered
from detlint.settling.confirming import renewed, signature, unmoved
from detlint.settling.settling import answer

from .support import Several, projects

RULES = catalogue.load()
TORCH = RULES.newest_release()
CODES = frozenset(RULES.rules)
CASES = [each for each in projects() if all(path.endswith(".py") for path in each.files)][::6]
TRAIN = """
import random
import torch
from lib import seed
def draw():
    return torch.rand(random.choice([1, 2]))
class Model(torch.nn.Module):
    scale = lambda self, x: x * 2
    def forward(self, x):
        return torch.nn.functional.dropout(x) + self.scale(x)
if __name__ == "__main__":
    seed(); draw()
    Model()(draw())
"""
LIB = "import torch\ndef seed():\n    torch.manual_seed(0)\n"
BOTH = {"train.py": TRAIN, "lib.py": LIB}


def read(path: str, text: str) -> Collected:
    return analyse(source(path, text), CODES, TORCH)


def source(path: str, text: str) -> Source:
    return Source(path, path.removesuffix(".py").removesuffix("/__init__").replace("/", "."), text)


def asked(files: dict[str, str]) -> tuple[Answered, dict[str, Collected]]:
    """What a project of these files has, and what came of each."""
    collected = {path: read(path, text) for path, text in sorted(files.items())}
    return answer(list(collected.values()), CODES, TORCH, models(files), replace(ALONE, whole=True)), collected


def models(files: dict[str, str]) -> Models:
    return Models({path: source(path, text) for path, text in files.items()}, TORCH)


def moved(text: str) -> str:
    """A text with comments and strings, which do nothing, between the statements of its top level.

    What is on the first line stays there: the interpreter takes that for the place of what has none.
    """
    lines = text.splitlines()
    starts = [min([x.lineno, *(d.lineno for d in getattr(x, "decorator_list", []))]) for x in ast.parse(text).body]
    for number, line in enumerate(sorted({*starts} - {1}, reverse=True)):
        if "__future__" not in text:
            lines.insert(line - 1, '"""text"""' if number % 2 else "\n# a comment" * 12)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("project", CASES, ids=lambda project: project.name)
def test_what_is_renewed_is_what_would_be_linked(project: Several) -> None:
    before, collected = asked(dict(project.files))
    for path, text in project.files.items():
        files = {**project.files, path: moved(text)}
        new = read(path, files[path])
        assert signature(new) == signature(collected[path])
        assert renewed(before, [(collected[path], new)], models(files), replace(ALONE, whole=True)) == asked(files)[0]


def test_answers_are_renewed_again_and_again() -> None:
    answered, collected = asked(BOTH)
    files = dict(BOTH)
    for path in ("train.py", "lib.py", "train.py"):
        files[path] = moved(files[path])
        old, collected[path] = collected[path], read(path, files[path])
        answered = renewed(answered, [(old, collected[path])], models(files), replace(ALONE, whole=True))
    assert answered == asked(files)[0]
    assert "DET103" in {each.finding.code for each in answered.findings}


def test_a_fix_is_made_anew_where_the_text_that_it_changes_has_moved() -> None:
    answered, collected = asked(BOTH)
    files = BOTH | {"lib.py": moved(LIB)}
    after = renewed(
        answered, [(collected["lib.py"], read("lib.py", files["lib.py"]))], models(files), replace(ALONE, whole=True)
    )
    before, now = (
        [edit.place.line for each in found.findings if each.finding.fix for edit in each.finding.fix.edits]
        for found in (answered, after)
    )
    assert before != now


SPLIT = "from sklearn.utils import shuffle\ndef mixed():\n    return shuffle([1, 2])\n"
MIXES = "import torch\nfrom split import mixed\ntorch.rand\nfor _ in range(2):\n    mixed()\n"


def test_programs_that_are_seeded_for_a_file_of_theirs_are_known_where_that_moves() -> None:
    files = {"split.py": SPLIT, "train.py": MIXES}
    answered, collected = asked(files)
    assert [e.place.path for each in answered.findings if each.finding.fix for e in each.finding.fix.edits] == [
        "train.py"
    ]
    files["split.py"] = moved(SPLIT)
    pair = unmoved(collected["split.py"], read("split.py", files["split.py"]), answered)
    assert pair is not None
    assert renewed(answered, [pair], models(files), replace(ALONE, whole=True)) == asked(files)[0]
    assert unmoved(collected["train.py"], read("train.py", moved(MIXES)), answered) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed(); draw()", "draw(); seed()"),
        ("manual_seed(0)", "manual_seed()"),
        ("torch.rand(", "torch.arange("),
        ("def draw():", "def draw(size=1):"),
        ("if __name__", "torch.backends.cudnn.benchmark = True\nif __name__"),
        ("dropout(x)", "dropout(x, training=False)"),
        ("seed(); draw()", "seed()\n    draw()"),  # what one line makes is one object, what two make are two
        ("return torch", "return not torch"),
    ],
)
def test_what_the_project_may_learn_of_is_signed(old: str, new: str) -> None:
    path = "train.py" if old in TRAIN else "lib.py"
    text = BOTH[path]
    assert old in text
    assert signature(read(path, text)) != signature(read(path, text.replace(old, new, 1)))


def test_a_text_that_cannot_be_read_has_another_signature() -> None:
    assert signature(read("lib.py", LIB)) != signature(read("lib.py", LIB + "def\n"))


def test_questions_are_signed_and_findings_that_ask_nothing_are_not() -> None:
    collected = read("train.py", TRAIN)
    asking = [each for each in collected.findings if each.only_if or each.full_if or each.unless]
    assert asking
    silent = replace(collected, findings=tuple(asking))
    assert signature(silent) == signature(collected)
    assert signature(replace(collected, findings=())) != signature(collected)
