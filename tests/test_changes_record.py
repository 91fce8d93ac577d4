"""What detlint says of repositories is recorded, and what two records differ in needs a reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.project import written
from tests.tools.changes import reasons
from tests.tools.changes.__main__ import main
from tests.tools.changes.asking import COMMANDS, Asked, ask_here
from tests.tools.changes.records import Record, row

DRAW = "import torch\n\nprint(torch.rand(2))\n"
SEEDED = "import torch\n\ntorch.manual_seed(0)\nprint(torch.rand(2))\n"
TWO = "import torch\n\nprint(torch.rand(2))\ntorch.backends.cudnn.benchmark = True\n"


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Records what is said of a program, a repository's only one, in a folder of that name."""

    def record(folder: str, program: str, repository: str = "one") -> Path:
        root = tmp_path / "checkouts" / folder / repository
        written(root, {"train.py": program, "pyproject.toml": ""})
        (tmp_path / folder).mkdir(exist_ok=True)
        with monkeypatch.context() as patch:
            patch.chdir(root)
            answers = {command: ask_here(command, Asked(60))[0] for command in COMMANDS}
        Record(repository, [row(**answers)]).write(tmp_path / folder)
        return tmp_path / folder

    return record


@pytest.fixture
def compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Compares the records `old` and `new`, with reasons: the exit status, and what is printed."""

    def compare(text: str = "", *more: str) -> tuple[int, str]:
        file = tmp_path / "reasons.toml"
        file.write_text(text, encoding="utf-8")
        status = main(["compare", str(tmp_path / "old"), str(tmp_path / "new"), "--reasons", str(file), *more])
        told = capsys.readouterr()
        return status, told.out + told.err

    return compare


def reason(code: str, line: int, verdict: str, **more: object) -> str:
    """A reason, as a file has it."""
    given = {"repository": "one", "path": "train.py", "code": code, "lines": [line], "verdict": verdict, **more}
    return "[[difference]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in {**given, "reason": "so it is"}.items())


def counts(text: str, verdict: str) -> list[int]:
    """How many are lost, gained and changed, of a verdict."""
    (line,) = (line for line in text.splitlines() if line.startswith(f"{verdict}  "))
    return [int(word) for word in line.removeprefix(verdict).split()]


Recorded = Callable[..., Path]
Compared = Callable[..., tuple[int, str]]


# Comparing


def test_equal_records_pass(recorded: Recorded, compared: Compared) -> None:
    recorded("old", TWO)
    recorded("new", TWO)
    assert (recorded("old", TWO) / "one.json").read_bytes() == (recorded("new", TWO) / "one.json").read_bytes()
    status, text = compared()
    assert status == 0
    assert counts(text, "no reason") == [0, 0, 0]
    assert "without a reason" not in text


def test_what_is_lost_gained_or_changed_is_listed(recorded: Recorded, compared: Compared) -> None:
    recorded("old", TWO)
    recorded("new", TWO.replace("print(torch.rand(2))", "print(torch.randn(2))").replace("True", "False"))
    status, text = compared()
    assert status == 1
    assert counts(text, "no reason") == [1, 0, 2]
    lines = text.splitlines()
    at = lines.index("one DET101: 1 changed")
    assert (
        lines[at + 1].startswith("  changed train.py:3:7 fix.edits: ") or "message: `torch.rand` draws" in lines[at + 1]
    )
    assert "one DET501: 1 lost" in lines
    assert "  lost    train.py:4:1 warning: " in text
    assert "cudnn_benchmark.state: on -> off" in lines[lines.index("one entry: 1 changed") + 1]


def test_a_finding_in_another_column_is_another(recorded: Recorded, compared: Compared) -> None:
    recorded("old", DRAW)
    recorded("new", DRAW.replace("print(", "print (  "))
    assert counts(compared()[1], "no reason")[:2] == [1, 1]


def test_a_difference_with_a_reason_passes_unless_what_is_lost_was_right(
    recorded: Recorded, compared: Compared
) -> None:
    recorded("old", TWO)
    recorded("new", DRAW)
    entry = reason("entry", 1, "right and gained")
    status, text = compared(entry + reason("DET501", 4, "wrong and lost"))
    assert status == 0
    assert "          wrong and lost: so it is" in text
    assert (counts(text, "wrong and lost"), counts(text, "right and gained")) == ([1, 0, 0], [0, 0, 1])
    status, text = compared(entry + reason("DET501", 4, "right and lost"))
    assert (status, counts(text, "right and lost"), counts(text, "no reason")) == (1, [1, 0, 0], [0, 0, 0])


def test_those_without_a_reason_are_shown_in_the_form_of_reasons(recorded: Recorded, compared: Compared) -> None:
    recorded("old", TWO)
    recorded("new", DRAW)
    _, text = compared()
    form = text.partition("without a reason:\n\n")[2].partition("\n  ")[0]
    assert '[[difference]]\nrepository = "one"\npath = "train.py"\ncode = "DET501"\nlines = [4]\n' in form
    filled = form.replace('""', '"wrong and lost"').replace("... and", "wrong and")
    assert compared(filled[: filled.rindex('"wrong') + len('"wrong and lost"')])[0] == 0


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(reason("DET501", 5, "wrong and lost"), id="line"),
        pytest.param(reason("DET502", 4, "wrong and lost"), id="code"),
        pytest.param(reason("DET501", 4, "wrong and gained"), id="verdict"),
        pytest.param(reason("DET501", 4, "wrong and lost", cell=0), id="cell"),
        pytest.param(reason("DET501", 4, "wrong and lost", path="other.py"), id="path"),
    ],
)
def test_a_reason_for_something_else_is_none_and_is_told(other: str, recorded: Recorded, compared: Compared) -> None:
    recorded("old", TWO)
    recorded("new", DRAW)
    status, text = compared(other + reason("entry", 1, "right and gained"))
    assert (status, counts(text, "no reason")) == (1, [1, 0, 0])
    assert "a reason matches nothing any more: one DET50" in text


def test_a_reason_about_a_repository_that_is_not_compared_is_left_alone(recorded: Recorded, compared: Compared) -> None:
    recorded("old", DRAW)
    recorded("new", DRAW)
    status, text = compared(reason("DET501", 4, "wrong and lost", repository="other"))
    assert (status, "matches nothing" in text) == (0, False)


def test_a_repository_that_one_record_lacks_is_a_difference(recorded: Recorded, compared: Compared) -> None:
    recorded("old", DRAW)
    recorded("old", DRAW, "two")
    recorded("new", DRAW)
    status, text = compared()
    assert (status, counts(text, "no reason")) == (1, [1, 0, 0])
    assert "two record: 1 lost" in text
    assert compared("", "--only", "one")[0] == 0
    status, text = compared("", "--only", "three")
    assert (status, text) == (2, "error: neither record has three\n")


def test_where_a_run_failed_nothing_else_is_compared(recorded: Recorded, compared: Compared) -> None:
    recorded("old", TWO)
    file = recorded("new", TWO) / "one.json"
    data = json.loads(file.read_bytes())
    data["asked"][0]["check"] = {"failed": "ended by SIGSEGV"}
    file.write_text(json.dumps(data), encoding="utf-8")
    status, text = compared()
    assert (status, counts(text, "no reason")) == (1, [0, 1, 0])
    assert "  gained  check ended by SIGSEGV" in text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1", "reasons.toml: only [[difference]] is known"),
        (reason("DET501", 4, "fine"), "difference 1: a verdict is one of"),
        (reason("DET501", 4, "wrong and lost", place=4), "difference 1 needs repository, code, lines"),
        (reason("DET501", 4, "wrong and lost").replace("so it is", ""), "difference 1 needs"),
        ("[[difference", "reasons.toml: "),
    ],
)
def test_reasons_that_are_not_written_so_are_an_error(
    text: str, told: str, recorded: Recorded, compared: Compared
) -> None:
    recorded("old", DRAW)
    recorded("new", DRAW)
    status, said = compared(text)
    assert status == 2
    assert told in said


def test_a_folder_without_records_is_an_error(recorded: Recorded, compared: Compared, tmp_path: Path) -> None:
    recorded("old", DRAW)
    assert compared() == (2, f"error: {tmp_path / 'new'} has no records\n")


def test_the_reasons_that_are_kept_can_be_read() -> None:
    assert all(each.reason for each in reasons.read(reasons.REASONS))


# Recording


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps what processes compile for those that come after them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.mktemp("compiled")))
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield


@pytest.fixture
def corpus(tmp_path: Path, compiled: None) -> Path:
    """A corpus of two repositories."""
    written(tmp_path / "corpus", {"owner+one/train.py": TWO, "owner+two/hidden.py": SEEDED})
    for name in ("one", "two"):
        (tmp_path / "corpus" / f"owner+{name}" / "pyproject.toml").touch()
    return tmp_path / "corpus"


def record(corpus: Path, out: Path, *more: str) -> int:
    return main(["record", "--out", str(out), *more, "--", str(corpus)])


@pytest.mark.slow
def test_a_record_is_the_same_anywhere_and_is_made_once(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    assert record(corpus, old) == 0
    assert capsys.readouterr().err.count("\n") == 2
    moved = corpus.rename(tmp_path / "elsewhere")
    assert record(moved, new, "--jobs", "2") == 0
    names = ["owner+one.json", "owner+two.json"]
    assert sorted(path.name for path in new.iterdir()) == ["costs.json", *names]
    assert [(old / name).read_bytes() for name in names] == [(new / name).read_bytes() for name in names]
    assert str(tmp_path) not in "".join((new / name).read_text() for name in names)
    cost = json.loads((new / "costs.json").read_bytes())["owner+one"]["check"]
    assert all(cost[name] > 0 for name in ("seconds", "cpu", "megabytes"))

    (moved / "owner+one" / "train.py").write_text(SEEDED, encoding="utf-8")
    capsys.readouterr()
    record(moved, new)
    assert capsys.readouterr().err.count("recorded before, by ") == 2
    assert main(["compare", str(old), str(new)]) == 0
    record(moved, new, "--again", "--only", "owner+one")
    assert capsys.readouterr().err.startswith("owner+one: 0 findings in ")
    assert main(["compare", str(old), str(new)]) == 1
    text = capsys.readouterr().out
    assert "owner+one DET501: 1 lost" in text
    assert "owner+two" in text.partition("megabytes\n")[2], "its costs are shown"
    assert record(moved, new, "--only", "owner+three") == 2
    assert record(moved, new, "--programs", "--again") == 2


@pytest.mark.slow
def test_runs_that_fail_or_take_too_long_are_recorded(corpus: Path, tmp_path: Path) -> None:
    (corpus / "owner+two" / "detlint.toml").write_text("selct = []\n", encoding="utf-8")
    record(corpus, tmp_path / "out", "--only", "owner+two")
    failed = answers(tmp_path / "out" / "owner+two.json")["check"]["failed"]
    assert failed.startswith("exit status 2: detlint: ./detlint.toml: unknown setting 'selct'")
    record(corpus, tmp_path / "late", "--timeout", "0.05", "--only", "owner+one")
    late = answers(tmp_path / "late" / "owner+one.json")
    assert late == {"check": {"failed": "took more than 0.05 s"}, "entries": {"failed": "took more than 0.05 s"}}


def answers(path: Path) -> dict[str, Any]:
    """The answers about a repository in its record."""
    (found,) = json.loads(path.read_bytes())["asked"]
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
def test_of_what_nobody_may_read_counts_alone_are_told(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "totals"
    assert record(corpus, out, "--totals") == 0
    told = capsys.readouterr()
    text = (out / "totals.json").read_text(encoding="utf-8")
    assert [path.name for path in out.iterdir()] == ["totals.json"]
    assert not any(word in text + told.out + told.err for word in ("owner", "train", "hidden", "draws"))
    assert {"DET101 error: 1", "repositories: 2", "entries: torch seeded: 1"} <= {*told.out.splitlines()}
    assert record(corpus, out, "--totals") == 0
    assert capsys.readouterr() == (told.out, ""), "what is counted is not counted again"

    (corpus / "owner+one" / "train.py").write_text(SEEDED, encoding="utf-8")
    record(corpus, tmp_path / "new", "--totals")
    capsys.readouterr()
    assert main(["compare", str(out), str(tmp_path / "new")]) == 0
    assert "DET101 error: 1 -> 0\n" in capsys.readouterr().out
    assert record(corpus, out, "--totals", "--only", "owner+one") == 2


TESTS = """
import pytest
from pathlib import Path

from detlint import engine
from detlint.config import Config
from tests.project import told
from tests.support import report

DRAW = "import torch\\nprint(torch.rand(2))\\n"


@pytest.mark.parametrize("number", [1, 2])
def test_texts(number):
    assert report({"train.py": DRAW, "more/other.py": ""}, ("DET501",), torch="2.1").findings == ()


def test_folder(tmp_path):
    told(tmp_path, DRAW + "x = 1\\n")


@pytest.mark.slow
def test_that_fails(tmp_path):
    assert not report({"train.py": DRAW}).findings
"""


@pytest.mark.slow
def test_programs_that_tests_hand_over_are_asked_all(
    tmp_path: Path, compiled: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # other plugins take longer than the tests
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    file = tmp_path / "test_some.py"
    file.write_text(TESTS, encoding="utf-8")
    folders = [tmp_path / "old", tmp_path / "new"]
    for folder, jobs in zip(folders, "21", strict=True):
        assert main(["record", "--programs", "--out", str(folder), "--jobs", jobs, str(file)]) == 1
        assert "1 failed, 3 passed" in capsys.readouterr().err
    old, new = ((folder / "test_some.json").read_bytes() for folder in folders)
    assert old == new
    rows = {tuple(row["tests"]): row for row in json.loads(old)["asked"]}
    assert {name: [each["code"] for each in row["check"]["findings"]] for name, row in rows.items()} == {
        ("test_texts[1]", "test_texts[2]"): ["DET101"],
        ("test_folder",): ["DET101"],
        ("test_that_fails",): ["DET101"],
    }
    assert rows["test_texts[1]", "test_texts[2]"]["torch"] == "2.1"
    assert rows["test_folder",]["entries"]["entries"][0]["generators"]["torch"]["state"] == "unseeded"

    file.write_text(TESTS.replace("x = 1", "x = 2"), encoding="utf-8")
    main(["record", "--programs", "--out", str(folders[1]), str(file)])
    assert main(["compare", *map(str, folders)]) == 1
    text = capsys.readouterr().out
    assert "test_some program: 1 lost, 1 gained" in text
    assert "          in test_folder\n" in text
