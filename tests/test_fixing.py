"""`--fix` and `--diff` as a user types them: statuses, streams, and files on disk."""

from __future__ import annotations

import ast
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from detlint.cli import cli
from detlint.editing.vendoring import FILE

DRAW = "import torch\n\nprint(torch.rand(2))\n"
SEEDED = "import torch\n\ntorch.manual_seed(0)\nprint(torch.rand(2))\n"
BOTH = "import random\n\nimport torch\n\nprint(torch.rand(2), random.random())\n"
BOTH_SEEDED = """\
import random

import torch

from detlint_runtime import seed_everything

seed_everything(0)
print(torch.rand(2), random.random())
"""
IMPORTS_DRAW = 'from noise import X\n\nif __name__ == "__main__":\n    print(X)\n'
CHANCE = "import random\n\nrandom.seed(random.randint(0, 9) + random.randint(0, 9))\nprint(random.random())\n"
EMPTY = "import torch\n\nprint(torch.empty(2))\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def write(files: dict[str, str], folder: Path = Path()) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def detlint(*arguments: str) -> Result:
    done = CliRunner().invoke(cli, ["--jobs", "1", *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def tree() -> dict[str, bytes]:
    return {path.as_posix(): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def train() -> str:
    return Path("train.py").read_text(encoding="utf-8")


# Statuses and streams


def test_status_0_where_all_is_fixed() -> None:
    write({"train.py": BOTH})
    done = detlint("--fix", ".")
    assert (done.exit_code, train()) == (0, BOTH_SEEDED)
    assert done.stdout == "Nothing found in 2 files (1 entry point).\n"
    assert done.stderr.splitlines() == [
        "detlint: train.py:5:7: DET101 fixed: Seed with `seed_everything(0)`",
        "detlint: train.py:5:22: DET103 fixed: Seed with `seed_everything(0)`",
        f"detlint: new: {FILE}; the fixed files import it: commit all of these",
        "detlint: train.py: repeats now, as far as detlint sees",
        "detlint: fixed 2 in 1 file",
    ]


def test_one_generator_is_seeded_by_its_library() -> None:
    write({"train.py": DRAW})
    done = detlint("--fix", ".")
    assert (done.exit_code, train(), Path(FILE).exists()) == (0, SEEDED, False)
    assert done.stderr.splitlines() == [
        "detlint: train.py:3:7: DET101 fixed: Seed with `torch.manual_seed(0)`",
        "detlint: train.py: repeats now, as far as detlint sees",
        "detlint: fixed 1 in 1 file",
    ]


def test_a_second_run_has_nothing_to_do() -> None:
    write({"train.py": DRAW})
    detlint("--fix")
    before = tree()
    done = detlint("--fix")
    assert (done.exit_code, done.stderr) == (0, "detlint: fixed nothing\n")
    assert tree() == before


def test_status_1_where_something_is_left() -> None:
    write(
        {
            "train.py": DRAW,
            "noise.py": "import torch\n\nX = torch.rand(2)\n",
            "use.py": IMPORTS_DRAW,
        }
    )
    done = detlint("--fix", ".")
    assert (done.exit_code, train()) == (1, SEEDED)
    assert "noise.py:3:5: error DET101" in done.stdout
    assert "train.py" not in done.stdout
    assert done.stderr.splitlines()[-1] == "detlint: fixed 1 in 1 file; left 1: 1 no fix"


def test_what_is_unsafe_waits_for_its_own_option() -> None:
    write({"train.py": CHANCE})
    done = detlint("--fix", ".")
    assert (done.exit_code, train()) == (1, CHANCE)
    assert done.stderr.splitlines() == [
        "detlint: train.py:3:1: DET105 not fixed: unsafe fix: use --unsafe-fixes",
        "detlint: train.py: left: DET105; `--unsafe-fixes` mends it",
        "detlint: fixed nothing; left 1: 1 unsafe fix: use --unsafe-fixes",
    ]
    assert "DET105" in done.stdout
    done = detlint("--fix", "--unsafe-fixes", ".")
    assert (done.exit_code, "random.seed(0)" in train()) == (0, True)


def test_many_unsafe_fixes_of_a_rule_are_told_in_one_line() -> None:
    loaders = "".join(f"DataLoader(data, shuffle=True, batch_size={n})\n" for n in range(1, 8))
    write({"train.py": f"import torch\nfrom torch.utils.data import DataLoader\n\ntorch.manual_seed(0)\n{loaders}"})
    assert detlint("--fix", ".").stderr.splitlines() == [
        "detlint: DET201 not fixed at 7 places: unsafe fix: use --unsafe-fixes",
        "detlint: fixed nothing; left 7: 7 unsafe fix: use --unsafe-fixes",
    ]


def test_a_name_that_is_taken_is_named() -> None:
    write({"train.py": "from random import random\n\nseed = 3\nprint(random(), seed)\n"})
    done = detlint("--fix", ".")
    taken = "name taken: `seed` would be imported, and is another thing there"
    assert f"detlint: train.py:4:7: DET103 not fixed: {taken}" in done.stderr.splitlines()


def test_exit_zero_holds_for_fixes_too() -> None:
    write({"train.py": CHANCE})
    assert detlint("--fix", "--exit-zero", ".").exit_code == 0


def test_an_empty_project_is_no_failure() -> None:
    done = detlint("--fix", ".")
    assert done.exit_code == 0
    assert done.stderr.splitlines() == ["detlint: fixed nothing", "detlint: no Python files under ."]
    assert sorted(tree()) == ["pyproject.toml"]


def test_selected_rules_alone_are_fixed() -> None:
    text = DRAW + "print(torch.empty(2))\n"
    write({"train.py": text})
    done = detlint("--fix", "--select", "DET4", ".")
    assert train() == text.replace("torch.empty(2)", "torch.zeros(2)")
    assert (done.exit_code, Path(FILE).exists()) == (0, False)


def test_ignored_and_suppressed_findings_are_not_fixed() -> None:
    text = DRAW.replace("(2))\n", "(2))  # noqa: DET101\n")
    write({"train.py": text, "other.py": EMPTY})
    detlint("--fix", "--ignore", "DET401", ".")
    assert train() == text
    assert Path("other.py").read_text(encoding="utf-8") == EMPTY


# Files


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root writes what is read-only")
def test_a_read_only_file_is_told_and_the_others_are_written() -> None:
    write({"train.py": DRAW, "z.py": EMPTY})
    Path("train.py").chmod(0o444)
    _check_unwritten("train.py: not fixed, it is read-only")


def test_a_file_whose_folder_is_gone_is_told_and_the_others_are_written(folder: Path) -> None:
    (folder / "lib").mkdir()
    write({"train.py": BOTH, "z.py": EMPTY})
    (folder / FILE).symlink_to(folder / "nowhere" / FILE)
    done = detlint("--fix", ".")
    assert done.exit_code == 2
    assert "zeros" in Path("z.py").read_text(encoding="utf-8")
    assert (folder / FILE).is_symlink()


def _check_unwritten(line: str) -> None:
    done = detlint("--fix", ".")
    assert done.exit_code == 2
    assert f"detlint: {line}" in done.stderr.splitlines()
    assert train() == DRAW
    assert "zeros" in Path("z.py").read_text(encoding="utf-8")


def test_a_broken_file_is_left_alone_and_told() -> None:
    write({"train.py": DRAW, "broken.py": "def f(:\n"})
    done = detlint("--fix", ".")
    assert (done.exit_code, train()) == (1, SEEDED)
    assert Path("broken.py").read_text(encoding="utf-8") == "def f(:\n"
    assert "broken.py:1:7: error DET000" in done.stdout


def test_a_link_stays_one_and_its_file_is_fixed(folder: Path) -> None:
    write({"real/train.py": EMPTY})
    (folder / "train.py").symlink_to(folder / "real" / "train.py")
    done = detlint("--fix", "train.py")
    assert done.exit_code == 0
    assert Path("train.py").is_symlink()
    assert "zeros" in Path("real/train.py").read_text(encoding="utf-8")


def test_another_file_of_the_name_of_the_copy_is_told_and_kept() -> None:
    write({"train.py": BOTH, FILE: "X = 1\n"})
    done = detlint("--fix", ".")
    assert (done.exit_code, train()) == (1, BOTH)
    assert Path(FILE).read_text(encoding="utf-8") == "X = 1\n"
    assert "train.py:5:7: DET101 not fixed:" in done.stderr
    assert f"there is another {FILE}: rename that" in done.stderr


def test_the_runtime_is_imported_where_the_settings_say_so() -> None:
    write({"train.py": BOTH, "pyproject.toml": '[tool.detlint]\nruntime = "import"\n'})
    assert detlint("--fix", ".").exit_code == 0
    assert "from detlint.runtime import seed_everything" in train()
    assert not Path(FILE).exists()


def test_the_option_overrules_the_settings() -> None:
    write({"train.py": BOTH, "pyproject.toml": '[tool.detlint]\nruntime = "import"\n'})
    detlint("--fix", "--runtime", "vendor", ".")
    assert (train(), Path(FILE).exists()) == (BOTH_SEEDED, True)


# Patches

PROJECT = {
    "train.py": BOTH,
    "pkg/__init__.py": "",
    "pkg/noise.py": "import random\n\nimport torch\n\n\ndef noise():\n    return torch.rand(2), random.random()",
    "pkg/__main__.py": "from .noise import noise\n\nprint(noise())\n",
    "ümlaut folder/a.py": EMPTY.replace("\n", "\r\n"),
}


def test_a_patch_changes_nothing_and_makes_what_the_fixes_make() -> None:
    subprocess.run(["git", "init", "-q"], check=True)
    write(PROJECT)
    before = {path: content for path, content in tree().items() if not path.startswith(".git/")}
    done = detlint("--diff", ".")
    assert done.exit_code == 1
    assert "DET101 fixed: Seed with `seed_everything(0)`" in done.stderr
    new = [line.startswith("--- /dev/null") for line in done.stdout.splitlines() if line.startswith("--- ")]
    assert new == sorted(new)
    assert any(new)
    assert {path: content for path, content in tree().items() if not path.startswith(".git/")} == before
    detlint("--diff", "--output", "p.patch", ".")
    subprocess.run(["git", "apply", "p.patch"], check=True)
    Path("p.patch").unlink()
    patched = {path: content for path, content in tree().items() if not path.startswith(".git/")}
    for path in patched.keys() - before.keys():
        Path(path).unlink()
    for path, content in before.items():
        Path(path).write_bytes(content)
    assert detlint("--fix", ".").exit_code == 0
    assert {path: content for path, content in tree().items() if not path.startswith(".git/")} == patched
    assert sorted(patched.keys() - before.keys()) == [FILE, f"pkg/{FILE}"]


def test_an_empty_patch_is_status_0() -> None:
    write({"train.py": SEEDED})
    done = detlint("--diff", ".")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "detlint: fixed nothing\n")


# JSON


def findings(*arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(detlint("--format", "json", *arguments).stdout)["findings"]
    return found


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    """A text after edits, each from a line and a column to another, which count from 1."""
    lines = text.splitlines(keepends=True)

    def offset(place: list[int]) -> int:
        return sum(map(len, lines[: place[0] - 1])) + place[1] - 1

    for edit in sorted(edits, key=lambda e: e["start"], reverse=True):
        text = text[: offset(edit["start"])] + edit["text"] + text[offset(edit["end"]) :]
    return text


def test_json_with_fix_shows_what_is_left() -> None:
    write({"train.py": DRAW, "chance.py": CHANCE})
    found = findings("--fix", ".")
    assert [each["code"] for each in found] == ["DET105"]
    assert train() == SEEDED


@pytest.mark.parametrize("mode", ["vendor", "import"])
def test_the_edits_of_a_finding_bring_their_imports(mode: str) -> None:
    write({"train.py": BOTH})
    found = findings("--runtime", mode, "train.py")[0]
    assert found["fix"]["applicability"] == "safe"
    assert {edit["path"] for edit in found["fix"]["edits"]} == {"train.py"}
    text = applied(BOTH, found["fix"]["edits"])
    assert ast.parse(text)
    module = "detlint_runtime" if mode == "vendor" else "detlint.runtime"
    assert f"from {module} import seed_everything\n" in text
    assert text.index("import seed_everything") < text.index("seed_everything(0)") < text.index("torch.rand")


def test_an_edit_in_another_file_than_its_finding_names_that_file() -> None:
    write({"train.py": "from noise import noise\n\nprint(noise())\n", "noise.py": PROJECT["pkg/noise.py"]})
    found = findings(".")[0]
    assert (found["path"], {edit["path"] for edit in found["fix"]["edits"]}) == ("noise.py", {"train.py"})
    assert ast.parse(applied("from noise import noise\n\nprint(noise())\n", found["fix"]["edits"]))


def test_a_finding_without_a_fix_says_so() -> None:
    write({"noise.py": "import torch\n\nX = torch.rand(2)\n", "use.py": IMPORTS_DRAW})
    (found,) = findings(".")
    assert found["fix"] is None
