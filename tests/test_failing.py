"""What a user can get wrong, and what can go wrong around a run: one line that says what to do, and exit status 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from detlint import analyse
from detlint.cli import cli
from detlint.settling import settling

ROOT = Path(__file__).parent.parent
SWITCH = "import torch\n\ntorch.backends.cudnn.benchmark = True\n"
_FULL = Path("/dev/full")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project that is the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DETLINT_DEBUG", "")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "a.py").write_text(SWITCH)
    (tmp_path / "folder").mkdir()
    yield tmp_path


# Arguments

MISTAKES = {
    "nowhere.py": "nowhere.py does not exist; give files or folders that do",
    "chek .": "'chek' is neither a command nor a file or folder, did you mean check?",
    "--context nowhere .": "nowhere does not exist",
    "--select DET5O1 .": "no rule matches 'DET5O1', did you mean DET501?; `detlint rule` lists them",
    "--ignore cudnn-benchmrk-on .": "did you mean cudnn-benchmark-on?",
    "--breaks speed .": "--breaks must be among run-to-run, resume",
    "--severity fatal .": "--severity: 'fatal' is not one of 'error', 'warning', 'note'",
    "--torch-version new .": "torch version 'new' is not a version such as 2.4 or 2.4.1",
    "--jobs -1 .": "-1 is not in the range",
    "--jobs many .": "'many' is not a valid integer",
    "--format xml .": "'xml' is not one of 'text', 'concise'",
    "--formt json .": "no such option --formt, did you mean --format?; `detlint check --help` tells more",
    "--format consise .": "--format: 'consise' is not one of 'text', 'concise', 'grouped', 'json'",
    "--format=gitlub .": "'html', did you mean gitlab?",
    "--select , .": "--select is given nothing",
    "--select DET1,DET5O1 .": "--select: no rule matches 'DET5O1', did you mean DET501?",
    "--extend-select DET5O1 .": "--extend-select: no rule matches 'DET5O1', did you mean DET501?",
    "--config none.toml .": "none.toml does not exist; --config takes a file such as detlint.toml",
    "--config pyproject.toml .": "pyproject.toml has no table [tool.detlint]",
    "--config a.py .": "a.py:1:8: it is not TOML: Expected '=' after a key",
    "--config pyproject.toml --isolated .": "--isolated reads no settings: not with --config",
    "--quiet --verbose .": "--quiet says less: not with --verbose",
    "--add-noqa --fix .": "--add-noqa suppresses what is found: not with --fix",
    "--show-files --diff .": "--show-files checks nothing: not with --diff",
    "--watch --add-noqa .": "--watch checks again and again: not with --add-noqa",
    "--watch -": "`-` is standard input: not with --watch",
    "- a.py": "`-` is standard input, which is checked by itself: not with a.py",
    "--stdin-filename folder": "--stdin-filename: folder is a folder; name a file",
    "--watch nowhere.py": "nowhere.py does not exist",
    "--output no/report .": "no/report cannot be written (No such file or directory); name another file with --output",
    "--output folder .": "is a directory",
    "--diff --output no/patch .": "no/patch cannot be written (No such file or directory)",
    "--baseline none.json .": "none.json does not exist; `--write-baseline` writes a baseline",
    "--baseline a.py .": "a.py is no baseline (line 1: Expecting value); mend it, or delete it and write it again",
    "--write-baseline .": "--write-baseline needs a file: give --baseline FILE",
    "--write-baseline --baseline no/b.json .": "no/b.json cannot be written (No such file or directory)",
    "--write-baseline --fix --baseline b.json .": "not with --fix",
    "--write-baseline --baseline b.json --changed-since HEAD .": "not with --changed-since",
    "--changed-since HEAD .": "git cannot tell what changed: not a git repository",
    "--unsafe-fixes .": "--unsafe-fixes needs --fix or --diff",
    "--statistics --format json .": "leave out --format json",
    "--evidence none .": "Path 'none' does not exist",
    "--evidence a.py .": "a.py is not evidence of `detlint verify --format json`",
    "--evidence folder .": "no JSON files in folder; `detlint verify --output` writes them",
    "--exclude": "requires an argument",
    "--runtime copy .": "'copy' is not one of 'auto', 'vendor', 'import', 'inline'",
    "entries nowhere": "nowhere does not exist",
    "entries --torch-version new": "torch version 'new' is not a version",
    "entries --output no/report": "no/report cannot be written",
    "entries --format sarif": "'sarif' is not one of",
    "entries --config none.toml": "none.toml does not exist; --config takes",
    "entries --config a.py --isolated": "--isolated reads no settings: not with --config",
    "rule DET999": "no rule matches 'DET999'",
    "rule cudnn-benchmark-of": "did you mean cudnn-benchmark-on?",
    "runtime --write a.py": "a.py was not written by detlint and stays as it is",
    "runtime --write no/copy.py": "no/copy.py cannot be written (No such file or directory)",
    "cache cleen": "no such command 'cleen'",
    "cache clean nowhere": "nowhere does not exist",
    "completion": "missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish; `detlint completion --help` tells",
    "entries --format jsn .": "--format: 'jsn' is not one of 'text', 'json', did you mean json?",
    "server now": "got unexpected extra argument (now)",
}  # fmt: skip


def detlint(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def one_line(stderr: str, complaint: str) -> None:
    """That a complaint is all that is said."""
    (line,) = stderr.splitlines()
    assert complaint in line
    assert line.startswith("detlint: ")


@pytest.mark.parametrize("arguments", MISTAKES)
def test_a_mistake_is_one_line_and_status_2(arguments: str, project: Path) -> None:
    before = sorted(path.name for path in project.iterdir())
    result = detlint(*arguments.split())
    assert (result.exit_code, result.stdout) == (2, "")
    one_line(result.stderr, MISTAKES[arguments])
    assert sorted(path.name for path in project.iterdir() if path.name != ".detlint_cache") == before


def test_a_group_without_a_command_shows_its_help() -> None:
    result = detlint("cache")
    assert "Commands:\n  clean " in result.output
    assert "detlint: " not in result.output


OTHERS = {
    "verify nowhere": "nowhere does not exist",
    "verify --op nothing": "no row that can be run has the id, or speaks of, 'nothing'",
    "verify --repeats 0": "'0' is not a number from 1 to 1000000",
    "verify --timeout nan": "'nan' is not a number of seconds",
    "verify --evidence none .": "none: No such file or directory",
    "verify --all .": "--all and --op take no paths",
    "bisect": "no program is given; name one behind `--`, as in `-- train.py ARGUMENTS`",
    "bisect nowhere.py": "nowhere.py is neither a file nor a command",
    "bisect folder folder": "folder is no trace: meta.json cannot be read",
    "bisect --all some a.py": "'some' is not a whole number",
    "bisect --perturb luck a.py": "'luck' is none of hashseed",
    "bisect --timeout 0 a.py": "'0' is not a number of seconds above 0",
}  # fmt: skip


@pytest.mark.parametrize("arguments", OTHERS)
def test_a_mistake_with_what_runs_something_is_one_line_and_status_2(arguments: str) -> None:
    result = detlint(*arguments.split())
    assert (result.exit_code, result.stdout) == (2, "")
    one_line(result.stderr, OTHERS[arguments])


# Settings

SETTINGS = {
    "select = [": "pyproject.toml: it is not TOML: Invalid value (at end of document)",
    'select == "DET1"': "pyproject.toml:2:9: it is not TOML: Invalid value",
    'extend-select = "DET1"': "extend-select must be a list of strings",
    'extend-select = ["DET5O1"]': "select: no rule matches 'DET5O1'",
    'selct = ["DET1"]': "pyproject.toml: unknown setting 'selct', did you mean select?; known are select, extend-select",
    'exlude = ["a"]': "did you mean exclude?",
    'colour = "red"': "unknown setting 'colour'; known are",
    'select = "DET1"': "select must be a list of strings",
    "ignore = [1]": "ignore must be a list of strings",
    'ignore = ["DET9"]': "pyproject.toml: ignore: no rule matches 'DET9'",
    'exclude = "build"': "exclude must be a list of strings",
    'per-file-ignores = ["a"]': "per-file-ignores must be a table of lists",
    'per-file-ignores = {"tests/*" = "ALL"}': "per-file-ignores.tests/* must be a list of strings",
    'per-file-ignores = {"a.py" = ["DET5O1"]}': "per-file-ignores.a.py: no rule matches 'DET5O1', did you mean DET501?",
    'select = ["DET5O1"]': "select: no rule matches 'DET5O1', did you mean DET501?",
    'severity = "fatal"': "severity must be error, warning or note, not 'fatal'",
    'severity = ["note"]': "severity must be error, warning or note, not ['note']",
    'breaks = ["all"]': "breaks must be among run-to-run",
    "torch-version = 2.4": "torch-version must be a string",
    'torch-version = "new"': "torch version 'new' is not a version",
    'runtime = "copy"': "runtime must be auto, vendor, import or inline, not 'copy'",
    'respect-gitignore = "no"': "respect-gitignore must be true or false",
    "runtime = {}": "runtime must be auto, vendor, import or inline",
    "cache-dir = 1": "cache-dir must be the name of a folder",
    "baseline = 1": "baseline must be a string",
    'baseline = "none.json"': "none.json does not exist",
}  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_wrong_setting_names_the_file_and_the_key(setting: str, project: Path) -> None:
    (project / "pyproject.toml").write_text(f"[tool.detlint]\n{setting}\n")
    result = detlint(".")
    assert (result.exit_code, result.stdout) == (2, "")
    one_line(result.stderr, SETTINGS[setting])


@pytest.mark.parametrize("content", [b"\xff\xfe", b"\0", b"[tool\r", b"a = 1\na = 2\n"])
def test_settings_that_cannot_be_read_are_named(content: bytes, project: Path) -> None:
    (project / "detlint.toml").write_bytes(content)
    result = detlint(".")
    assert (result.exit_code, result.stdout) == (2, "")
    one_line(result.stderr, "detlint.toml:")


def test_settings_that_are_a_folder_are_none(project: Path) -> None:
    (project / "detlint.toml").mkdir()
    assert detlint(".").exit_code == 1


# Around a run


def process(
    *arguments: str, before: str = "", stdout: int | None = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[str]:
    """detlint in a process of its own that first does something to itself."""
    code = f"import sys\n{before}\nfrom detlint.__main__ import main\nsys.argv[0] = 'detlint'\nmain()"
    left_out = ("DETLINT_NO_CACHE", "DETLINT_DEBUG", "PYTHONUNBUFFERED")  # most users do not have the last
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env={**kept, "PYTHONPATH": str(ROOT), **environment},
    )


@pytest.mark.slow
def test_nobody_who_reads_on_is_no_failure_to_tell_of() -> None:
    for name in range(300):
        Path(f"file{name}.py").write_text(SWITCH)
    for _ in range(2):  # a run, and the same one said again
        read, write = os.pipe()
        os.close(read)
        done = process("--jobs", "1", stdout=write)
        os.close(write)
        assert (done.returncode, done.stderr) == (2, "")


@pytest.mark.slow
def test_a_program_without_stdout_and_stderr_still_says_by_its_status_what_it_found() -> None:
    closing = "import os; os.close(1); os.close(2); sys.stdout = sys.stderr = None"
    for arguments in ((), ("--format", "json"), ("entries",), ("rule", "DET501")):
        done = process(*arguments, before=closing)
        assert (done.returncode, done.stderr) == (1 if arguments in ((), ("--format", "json")) else 0, "")


@pytest.mark.slow
@pytest.mark.skipif(not _FULL.exists(), reason="there is no device that is full")
def test_a_full_disk_below_the_report_is_one_line(project: Path) -> None:
    done = process("--output", str(_FULL))
    assert done.returncode == 2
    one_line(done.stderr, "/dev/full cannot be written (No space left on device)")
    with _FULL.open("w") as full:
        for _ in range(2):  # a run, and the same one said again
            done = process(stdout=full.fileno())
            assert done.returncode == 2
            one_line(done.stderr, "No space left on device")
            assert process().returncode == 1


def test_an_interrupt_is_one_line() -> None:
    stopping = "import detlint.analyse, os, signal\ndef analyse(*given): os.kill(os.getpid(), signal.SIGINT)\n"
    done = process("--jobs", "1", "--no-cache", before=f"{stopping}import detlint.gathering as g; g.analyse = analyse")
    assert (done.returncode, done.stdout) == (2, "")
    one_line(done.stderr, "detlint: interrupted")


@pytest.mark.slow
def test_no_home_and_no_writable_folder_are_no_matter(project: Path, tmp_path: Path) -> None:
    nobody = "import os; os.environ.pop('HOME', None); os.environ.pop('USER', None)\nimport pwd, detlint.cache.cache\n"
    nobody += "def gone(number): raise KeyError(number)\npwd.getpwuid = gone\n"
    assert process(before=nobody, HOME="").returncode == 1
    (project / ".detlint_cache").mkdir(exist_ok=True)
    (project / ".detlint_cache" / "cache.db").unlink(missing_ok=True)
    (project / ".detlint_cache" / "cache.db").mkdir()
    done = process()
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.slow
def test_a_read_only_cache_is_done_without(project: Path) -> None:
    first = process()
    failing = "import sqlite3, os\nopen_ = os.open\ndef refuse(*given, **named): raise sqlite3.OperationalError('x')\n"
    done = process("--statistics", before=failing + "sqlite3.connect = refuse\n")
    assert (first.returncode, done.returncode, done.stderr) == (1, 1, "")


def test_a_working_folder_that_is_gone_is_one_line(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = process("--no-cache", ".", before=f"import os; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})")
    assert done.returncode == 2
    one_line(done.stderr, "No such file or directory")


# Defects of detlint's own


def broken(*given: object, **named: object) -> None:
    raise ZeroDivisionError("a defect")


def test_a_defect_in_a_rule_costs_that_rule_in_that_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "a.py").write_text(f"{SWITCH}print(torch.empty(2))\n")
    find = analyse.check_of
    monkeypatch.setattr(analyse, "check_of", lambda rule: broken if rule.code == "DET501" else find(rule))
    result = detlint("--no-cache", "--jobs", "1", "--format", "json", ".")
    assert result.exit_code == 1
    found = [(each["code"], each["message"]) for each in json.loads(result.stdout)["findings"]]
    assert [code for code, _ in found] == ["DET000", "DET401"]
    assert found[0][1] == "not analysed: DET501 failed on it (ZeroDivisionError: a defect); please report this"


def test_a_defect_elsewhere_is_one_line_that_asks_for_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "link", broken)
    monkeypatch.setattr("detlint.settling.answering.answer", broken)
    result = detlint("--no-cache", "--jobs", "1", ".")
    assert (result.exit_code, result.stdout) == (2, "")
    one_line(result.stderr, "internal error, please report it with the command (ZeroDivisionError: a defect)")
    assert result.stderr.endswith("`detlint --debug ...` shows where it came from\n")


@pytest.mark.parametrize("arguments", [["--debug", "check", "none"], ["check", "none", "--debug"], ["none", "--debug"]])
def test_debug_shows_where_an_error_came_from(arguments: list[str]) -> None:
    result = detlint(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("Traceback (most recent call last):\n")
    assert result.stderr.endswith("detlint: none does not exist; give files or folders that do\n")


def test_debug_may_be_a_variable_and_goes_ahead_of_what_runs_a_program(tmp_path: Path) -> None:
    assert process("none.py", DETLINT_DEBUG="1").stderr.startswith("Traceback")
    done = process("--debug", "bisect", "none.py")
    assert done.returncode == 2
    assert done.stderr.startswith("Traceback") and done.stderr.endswith("or `torchrun ...`\n")
    assert "Traceback" not in process("bisect", "none.py", "--debug").stderr, "it is an option of the program"
