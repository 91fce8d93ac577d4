"""Records, evidence, baselines and caches that are damaged or were written by somebody else: one line, or no matter."""

from __future__ import annotations

import gzip
import json
import random
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from detlint import catalogue, config
from detlint.bisect.streams import META
from detlint.cli import cli
from detlint.config import ConfigError
from detlint.review import baseline
from detlint.review.baseline import Baseline
from detlint.verify import evidence
from tests.bisecting import recorded
from tests.entered import bisect, verify

SWITCH = "import torch\n\ntorch.backends.cudnn.benchmark = True\nx = torch.zeros(3).index_add_(0, i, y)\n"
STRANGE: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**30, 2**63, 1e400, "", "x" * 5000, "\x1b[2J", "\ud800", [], {}, [[]], {"a": {}}, "../../x",
)  # fmt: skip


def changed(value: Any, luck: random.Random) -> Any:
    """A document with one value in it, at random, as another one, gone, or there twice."""
    if isinstance(value, dict) and value and luck.random() < 0.95:
        key = luck.choice(sorted(value))
        if luck.random() < 0.15:
            return {name: each for name, each in value.items() if name != key}
        return value | {key: changed(value[key], luck)}
    if isinstance(value, list) and value and luck.random() < 0.95:
        number = luck.randrange(len(value))
        if luck.random() < 0.15:
            return value[:number] + value[number + 1 :]
        if luck.random() < 0.1:
            return [*value, value[number]]
        return [*value[:number], changed(value[number], luck), *value[number + 1 :]]
    return luck.choice(STRANGE)


def scratched(content: bytes, luck: random.Random) -> bytes:
    """Bytes with some of them others, gone, or there twice."""
    place, length = luck.randrange(len(content) + 1), luck.choice((1, 2, 9, 100))
    way = luck.randrange(4)
    if way == 0:
        return content[:place] + luck.randbytes(length) + content[place + length :]
    if way == 1:
        return content[:place] + content[place + length :]
    if way == 2:
        return content[:place] + content[place : place + length] + content[place:]
    return content[:place]


# Records of `detlint bisect`


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory, torch: ModuleType) -> Path:
    """Two records of a small training, of which one has another seed."""
    folder = tmp_path_factory.mktemp("traces")
    for name, seed in (("a", 0), ("b", 1)):

        def train(seed: int = seed) -> None:
            torch.manual_seed(seed)
            net = torch.nn.Linear(3, 2)
            step = torch.optim.SGD(net.parameters(), 0.1)
            net(torch.ones(4, 3)).sum().backward()
            step.step()

        recorded(folder / name, train)
        described = {"version": 1, "argv": ["train.py"], "folder": str(folder), "options": {}, "digest": "test"}
        (folder / name / META).write_text(json.dumps({**described, "environment": {}, "final": {}, "start": {}}))
    return folder


@pytest.mark.slow
def test_a_record_with_something_else_in_it_is_one_line_or_is_compared(
    traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    luck = random.Random(0)
    whole = bisect(["--no-static", str(traces / "a"), str(traces / "b")])
    assert whole == 1
    capsys.readouterr()
    statuses = []
    for number in range(120):
        folder = tmp_path / str(number)
        shutil.copytree(traces, folder)
        _damage(folder / "b", luck)
        more = (
            ["--html", str(tmp_path / "page.html")]
            if number % 3 == 0
            else ["--format", "json"]
            if number % 3 == 1
            else []
        )
        statuses.append(bisect(["--no-static", *more, str(folder / "a"), str(folder / "b")]))
        captured = capsys.readouterr()
        assert "internal error" not in captured.err and "Traceback" not in captured.err, captured.err
        assert "\x1b" not in captured.out + captured.err
        if statuses[-1] == 2:
            assert captured.err.count("\n") == 1, captured.err
            assert captured.out == "" or "--html" in more, "the page needs all of a record"
            assert str(folder) in captured.err
        shutil.rmtree(folder)
    assert {0, 1, 2, 3, 4}.issuperset(statuses)
    assert statuses.count(2) > 20 and statuses.count(1) > 10


def _damage(trace: Path, luck: random.Random) -> None:
    if luck.random() < 0.25:
        document = json.loads((trace / META).read_text())
        (trace / META).write_text(json.dumps(changed(document, luck)))
        return
    path = trace / "main.jsonl.gz"
    lines = _lines(path)
    if luck.random() < 0.3:
        path.write_bytes(scratched(path.read_bytes(), luck))
        return
    if luck.random() < 0.3:
        path.write_bytes(gzip.compress(scratched(b"".join(lines), luck)))
        return
    number = luck.randrange(len(lines))
    lines[number] = json.dumps(changed(json.loads(lines[number]), luck), separators=(",", ":")).encode() + b"\n"
    path.write_bytes(gzip.compress(b"".join(lines)))


def _lines(path: Path) -> list[bytes]:
    with gzip.open(path, "rb") as file:
        return file.readlines()


# Evidence of `detlint verify`


def test_evidence_with_something_else_in_it_is_one_line_or_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "a.py").write_text(SWITCH)
    source = min((catalogue.folder() / "evidence").glob("*.json"), key=lambda path: path.stat().st_size)
    whole = json.loads(source.read_text(encoding="utf-8"))
    rows = [one for one in whole["measurements"] if "index_add" in one["row"]][:2] + whole["measurements"][:3]
    document = {**whole, "measurements": rows, "controls": whole["controls"][:1]}
    file = tmp_path / "evidence.json"
    luck = random.Random(0)
    refused = shown = 0
    for number in range(150):
        text = json.dumps(changed(document, luck)).encode()
        file.write_bytes(scratched(text, luck) if number % 5 == 0 else text)
        try:
            evidence.read(file)
        except evidence.EvidenceError as error:
            refused += 1
            assert str(error).startswith(str(file)) and "\n" not in str(error)
            continue
        shown += 1
        if shown % 10 == 0:
            assert verify(["--evidence", str(file), "a.py"]) in (0, 1, 2)
            captured = capsys.readouterr()
            assert "internal error" not in captured.err, captured.err
            assert "\x1b" not in captured.out + captured.err
    assert refused > 20 and shown > 20


# Baselines


def test_a_baseline_with_something_else_in_it_is_one_line_or_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "a.py").write_text(SWITCH)
    file = tmp_path / "b.json"
    arguments = ["--jobs", "1", "--baseline", str(file), "."]
    assert CliRunner().invoke(cli, ["--write-baseline", *arguments]).exit_code == 0
    text = file.read_bytes()
    settings = config.for_paths([Path()])
    luck = random.Random(0)
    refused = used = 0
    for number in range(150):
        document = json.dumps(changed(json.loads(text), luck)).encode()
        file.write_bytes(scratched(text, luck) if number % 3 == 0 else document)
        try:
            Baseline.read(file, settings)
        except ConfigError as error:
            refused += 1
            assert str(file) in str(error) and "\n" not in str(error)
            continue
        used += 1
        if used % 6 == 0:
            result = CliRunner().invoke(cli, arguments)
            assert result.exit_code in (0, 1), result.output
    assert refused > 20 and used > 20
    assert baseline.VERSION


# The cache


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project whose cache is filled."""
    monkeypatch.delenv("DETLINT_NO_CACHE")
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "pyproject.toml").touch()
    (folder / "a.py").write_text(SWITCH)
    (folder / "b.py").write_text("import a\nimport torch\n\nif __name__ == '__main__':\n    print(torch.rand(2))\n")
    yield folder


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, ["--format", "github", "--jobs", "1", *arguments], obj=arguments)
    assert result.exit_code == 1 and result.stderr == "", result.output
    return result.stdout


@pytest.mark.slow
def test_a_cache_damaged_anywhere_gives_the_answers_of_none(cached: Path) -> None:
    expected = run("--no-cache")
    assert run() == expected
    file = cached / ".detlint_cache" / "cache.db"
    content = file.read_bytes()
    size = len(content) // 32
    luck = random.Random(0)
    for region in range(32):
        file.write_bytes(content[: region * size] + luck.randbytes(size) + content[(region + 1) * size :])
        assert run() == expected, f"region {region}"
    for _ in range(20):
        file.write_bytes(scratched(content, luck))
        assert run() == expected


def test_a_cache_with_its_rows_swapped_or_more_in_it_gives_the_answers_of_none(cached: Path) -> None:
    expected = run("--no-cache")
    run()
    file = cached / ".detlint_cache" / "cache.db"
    content = file.read_bytes()
    plans = (
        "CREATE TABLE other (x); INSERT INTO other VALUES (1)",
        "CREATE VIEW v AS SELECT * FROM results",
        "CREATE TRIGGER t AFTER UPDATE ON results BEGIN DELETE FROM results; END",
        "PRAGMA user_version = 2",
        "PRAGMA application_id = 1",
        "DROP TABLE files",
        "DELETE FROM results",
        "UPDATE files SET digest = x'00'",
        "UPDATE files SET stamp = 1, digest = 'text'",
        "UPDATE results SET value = x'00'",
        "UPDATE results SET value = 'text', day = 'never'",
        "UPDATE results SET day = 99999999",
    )
    for plan in plans:
        with sqlite3.connect(file) as connection:
            connection.executescript(plan)
        connection.close()
        assert run() == expected, plan
        if "TRIGGER" in plan:
            with sqlite3.connect(file) as connection:
                assert not connection.execute("SELECT * FROM sqlite_master WHERE type = 'trigger'").fetchall()
            connection.close()
        file.write_bytes(content)
    with sqlite3.connect(file) as connection:
        rows = connection.execute("SELECT key, value FROM results").fetchall()
        assert len(rows) >= 3
        values = [value for _, value in rows]
        for (key, _), value in zip(rows, [*values[1:], values[0]], strict=True):
            connection.execute("UPDATE results SET value = ? WHERE key = ?", (value, key))
    connection.close()
    assert run() == expected


@pytest.mark.parametrize("what", ["folder", "file", "nowhere"])
def test_a_cache_that_is_a_link_is_written_nowhere_else(cached: Path, tmp_path: Path, what: str) -> None:
    expected = run("--no-cache")
    target = tmp_path / "elsewhere"
    if what == "folder":
        target.mkdir()
        (target / "notes").write_text("mine")
    elif what == "file":
        target.write_text("mine")
    (cached / ".detlint_cache").symlink_to(target)
    for _ in range(2):
        assert run() == expected
    if what == "folder":
        assert [path.name for path in target.iterdir()] == ["notes"]
    elif what == "file":
        assert target.read_text() == "mine"
    else:
        assert not target.exists()


def test_a_run_that_somebody_else_wrote_down_is_not_said_again_on_another_disk(cached: Path, tmp_path: Path) -> None:
    expected = run("--no-cache")
    run()
    copy = tmp_path / "copy"
    shutil.copytree(cached, copy)
    (copy / "a.py").write_text("x = 1\n")
    assert CliRunner().invoke(cli, ["--format", "github", str(copy / "a.py")]).stdout != expected
