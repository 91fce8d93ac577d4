"""The fix for unseeded programs: each text of tests/gauntlet/seeding_fix.md before and after it, and awkward layouts."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from detlint import catalogue, fixing
from detlint.applying.fixer import Outcome
from detlint.config import Config
from detlint.editing.vendoring import FILE

SEEDING = ("DET101", "DET102", "DET103", "DET106")
_CASE = re.compile(
    r"^# (?P<section>.+)$|^## (?P<name>.+)\n(?P<files>(?:```diff title=\".+\"\n(?:.*\n)*?```$\n?)+)", re.M
)
_FILE = re.compile(r'^```diff title="(?P<path>.+)"\n(?P<text>(?:.*\n)*?)```$', re.M)


@dataclass(frozen=True)
class Case:
    """A project before and after, texts by path. `left` is the reason why it stays as it is, if it does."""

    section: str
    name: str
    before: Mapping[str, str]
    after: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.section}: {self.name}"

    @property
    def left(self) -> str:
        return self.section.partition("Left: ")[2]


def cases() -> list[Case]:
    """The projects: in each file a line after "+" is there after the fix alone, one after "-" before it alone."""
    found = []
    section = ""
    text = (Path(__file__).parent / "gauntlet" / "seeding_fix.md").read_text(encoding="utf-8")
    for match in _CASE.finditer(text):
        section = match["section"] or section
        if match["name"]:
            files = {file["path"]: file["text"] for file in _FILE.finditer(match["files"])}
            before = {path: _side(text, "-", "+") for path, text in files.items()}
            after = {path: _side(text, "+", "-") for path, text in files.items()}
            found.append(Case(section, match["name"], before, after))
    return found


def _side(text: str, own: str, other: str) -> str:
    return "".join(line.removeprefix(own) for line in text.splitlines(keepends=True) if not line.startswith(other))


CASES = cases()
FIXED = [case for case in CASES if case.before != case.after]
LEFT = [case for case in CASES if case.left]
SEEDED = [case for case in CASES if case.section == "Seeded"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(files: Mapping[str, str]) -> None:
    for path, text in files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(text.encode())


def fix(unsafe: bool = True) -> tuple[Outcome, list[str]]:
    """What the fixes did in the working directory, written to it, and the codes of the findings that are left."""
    config = Config(select=SEEDING, root=Path())
    fixed = fixing.fix_paths([Path()], config, catalogue.load().newest_release(), unsafe=unsafe, jobs=1)
    assert fixed.files.write(fixed.outcome.changes) == {}
    assert fixed.outcome.converged
    return fixed.outcome, [judged.finding.code for judged in fixed.report.findings]


def texts() -> dict[str, str]:
    """The texts of all files but copies of the runtime."""
    paths = (path for path in Path().rglob("*") if path.is_file() and path.name != FILE)
    return {path.as_posix(): path.read_bytes().decode() for path in paths}


def fixed(text: str) -> str:
    write({"train.py": text})
    _, left = fix()
    assert left == []
    return texts()["train.py"]


@pytest.mark.parametrize("case", FIXED, ids=str)
def test_a_program_is_seeded_once_and_then_left_alone(case: Case) -> None:
    write(case.before)
    outcome, left = fix()
    assert texts() == case.after
    assert left == []
    for path, text in case.after.items():
        assert not path.endswith(".py") or ast.parse(text)
    assert outcome.fixed
    again, _ = fix()
    assert again.changes == ()


@pytest.mark.parametrize("case", LEFT, ids=str)
def test_what_cannot_be_fixed_stays_and_is_reported_with_the_reason(case: Case) -> None:
    write(case.before)
    outcome, left = fix()
    assert texts() == case.before
    assert left
    assert {each.reason for each in outcome.left} == {case.left}


@pytest.mark.parametrize("case", SEEDED, ids=str)
def test_a_seeded_program_is_left_alone(case: Case) -> None:
    write(case.before)
    outcome, left = fix()
    assert (outcome.changes, left) == ((), [])


def test_the_table_holds_what_it_seems_to_hold() -> None:
    text = (Path(__file__).parent / "gauntlet" / "seeding_fix.md").read_text(encoding="utf-8")
    assert len(CASES) == text.count("\n## ") == len(FIXED) + len(LEFT) + len(SEEDED)
    assert sum(len(case.before) for case in CASES) == text.count("```diff")


@pytest.mark.parametrize(
    ("seed", "line"),
    [("3", "    torch.manual_seed(seed)"), ("'run-a'", "torch.manual_seed(0)"), ("1.5", "torch.manual_seed(0)")],
)
def test_only_a_whole_number_seeds_another_generator_too(seed: str, line: str) -> None:
    body = "def run(seed):\n    random.seed(seed)\n    print(random.random(), torch.rand(2))\n\n\n"
    new = fixed(f"import random\n\nimport torch\n\n\n{body}run({seed})\n")
    assert [each for each in new.splitlines() if "manual_seed" in each] == [line]


def test_an_option_that_may_be_text_does_not_seed_all() -> None:
    text = (
        "import argparse\nimport random\n\nimport torch\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--seed', default='run-a'{})\nargs = parser.parse_args()\n"
        "random.seed(args.seed)\nprint(torch.rand(2))\n"
    )
    assert "\nrandom.seed(args.seed)\ntorch.manual_seed(0)\n" in fixed(text.format(""))
    assert "\nrandom.seed(args.seed)\ntorch.manual_seed(args.seed)\n" in fixed(
        text.format(", type=int").replace("'run-a'", "3")
    )


# Layouts


def test_lines_end_as_in_the_rest_of_the_file() -> None:
    text = "import torch\r\n\r\n\r\ndef main():\r\n    print(torch.rand(2), {})\r\n\r\n\r\nmain()\r\n"
    assert fixed(text.format(1)) == text.format(1).replace("\nmain()", "\ntorch.manual_seed(0)\r\nmain()")
    two = f"import numpy as np\r\n{text.format('np.random.rand()')}"
    head = "import torch\r\n\r\nfrom detlint_runtime import seed_everything\r\n"
    seeded = two.replace("\nmain()", "\nseed_everything(0)\r\nmain()")
    assert fixed(two) == seeded.replace("import torch\r\n", head)


def test_tabs_are_kept() -> None:
    text = "import torch\n\nif __name__ == '__main__':\n\tfor i in range(2):\n\t\tprint(torch.rand(2))\n"
    assert fixed(text) == text.replace("'__main__':\n\tfor i", "'__main__':\n\ttorch.manual_seed(0)\n\tfor i")


def test_a_last_line_may_lack_its_end() -> None:
    assert fixed("import torch\nprint(torch.rand(2))").endswith("\ntorch.manual_seed(0)\nprint(torch.rand(2))")


def test_a_mark_at_the_head_is_kept() -> None:
    assert fixed("\ufeffimport torch\nprint(torch.rand(2))\n").startswith("\ufeffimport torch\n")


def test_in_a_notebook_only_the_cell_that_draws_first_changes() -> None:
    def cell(*lines: str) -> dict[str, object]:
        return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": list(lines)}

    cells = [cell("%matplotlib inline\n", "import torch"), cell("width = 2"), cell("# draw\n", "torch.rand(width)")]
    text = json.dumps({"cells": cells, "metadata": {"a": "ü"}, "nbformat": 4, "nbformat_minor": 4}, indent=1)
    write({"a.ipynb": text})
    _, left = fix()
    changed = json.loads(texts()["a.ipynb"])
    assert left == []
    assert changed["cells"][:2] == cells[:2]
    assert "".join(changed["cells"][2]["source"]) == "torch.manual_seed(0)\n# draw\ntorch.rand(width)"
    assert changed["metadata"] == {"a": "ü"}


def test_an_option_is_given_a_default_in_a_project_of_many_parsers() -> None:
    parsers = "import argparse\n\nparser = argparse.ArgumentParser()\nargs, _ = parser.parse_known_args()\n"
    names = [f"part{number}" for number in range(40)]
    for name in names:
        write({f"{name}.py": parsers})
    text = (
        "import argparse\n\nimport numpy as np\nimport torch\n"
        + "".join(f"import {name}\n" for name in names)
        + "\nparser = argparse.ArgumentParser()\nparser.add_argument('--seed', type=int)\nargs = parser.parse_args()\n"
        "if args.seed is not None:\n    torch.manual_seed(args.seed)\nprint(torch.rand(2), np.random.rand())\n"
    )
    assert "'--seed', type=int, default=0)" in fixed(text)


def test_a_program_whose_weights_come_from_a_file_stays_as_it_is() -> None:
    model = "from torch import nn\n\n\ndef build():\n    return nn.Linear(2, 2)\n"
    head = "import torch\n\nfrom model import build\n\n"
    train = "model = build()\ntorch.optim.SGD(model.parameters(), lr=0.1).step()\ntorch.save(model, 'model.pt')\n"
    show = f"{head}model = build()\nmodel.load_state_dict(torch.load('model.pt'))\nprint(model(torch.ones(2)))\n"
    write({"model.py": model, "show.py": show, "train.py": head + train})
    fix()
    assert texts() == {"model.py": model, "show.py": show, "train.py": f"{head}torch.manual_seed(0)\n{train}"}


def test_a_program_is_seeded_at_its_start_where_python_calls_a_method_of_another_file() -> None:
    data = "import torch\n\n\nclass Data:\n    def __getitem__(self, index):\n        return torch.rand(2)\n"
    head = "import torch\n\nfrom data import Data\n\ntorch.set_num_threads(1)\n"
    rest = "data = Data()\nfirst = data[0]\nprint(first)\n"
    guarded = (
        "import torch\n\nfrom data import Data\n\nif __name__ == '__main__':\n    data = Data()\n    print(data[0])\n"
    )
    write({"data.py": data, "train.py": head + rest, "main.py": guarded})
    fix()
    seeded = guarded.replace("    data = Data()", "    torch.manual_seed(0)\n    data = Data()")
    assert texts() == {"data.py": data, "train.py": f"{head}torch.manual_seed(0)\n{rest}", "main.py": seeded}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("    if seed is None:\n        return\n    random.seed(seed)\n", "0 if config.seed is None else config.seed"),
        ("    if seed is not None:\n        random.seed(seed)\n", "0 if config.seed is None else config.seed"),
        ("    random.seed(seed)\n", "config.seed"),
    ],
)
def test_what_a_function_of_the_file_takes_none_for_may_be_none(body: str, text: str) -> None:
    head = f"import random\n\nimport torch\n\n\ndef set_seed(seed):\n{body}\n\ndef train(config):\n"
    rest = "    set_seed(config.seed)\n    print(torch.rand(2))\n\n\ntrain(load())\n"
    write({"train.py": head + rest})
    fix()
    assert texts() == {"train.py": f"{head}    torch.manual_seed({text})\n{rest}"}


def test_an_unsafe_fix_of_one_program_does_not_keep_others_from_a_safe_one() -> None:
    option = (
        "import argparse\n\nimport torch\n\nfrom noise import noise\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--seed', type=int)\nargs = parser.parse_args()\n"
        "if args.seed is not None:\n    torch.manual_seed(args.seed)\nprint(noise())\n"
    )
    noise = "import torch\n\n\ndef noise():\n    return torch.rand(2)\n"
    plain = "from noise import noise\n\nprint(noise())\n"
    write({"a_option.py": option, "noise.py": noise, "plain.py": plain})
    _, left = fix(unsafe=False)
    assert (texts()["a_option.py"], left) == (option, ["DET101"])
    assert "torch.manual_seed(0)\nprint(noise())\n" in texts()["plain.py"]
