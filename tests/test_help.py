"""Help in one screen, the manual, what shells complete, and colours."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from detlint.cli import COMMANDS, cli
from detlint.commands.help import pages

ROOT = Path(__file__).parent.parent
EXAMPLE = str(ROOT / "docs" / "examples" / "segmentation")
START = "import sys; sys.argv[0] = 'detlint'; from detlint.__main__ import main; main()"  # as the installed command


def detlint(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    kept |= {"PYTHONPATH": str(ROOT), "DETLINT_NO_CACHE": "1"} | environment
    return subprocess.run([sys.executable, "-c", START, *arguments], capture_output=True, text=True, env=kept)


def completed(line: str) -> list[str]:
    """What a shell is offered where `line` ends."""
    *words, begun = line.split(" ")
    found = ShellComplete(cli, {}, "detlint", "_DETLINT_COMPLETE").get_completions(words[1:], begun)
    return [item.type if item.type != "plain" else item.value for item in found]


@pytest.fixture(scope="module")
def helps() -> dict[str, str]:
    """What `--help` says, by command."""
    run = CliRunner(env={"COLUMNS": "80"})
    said = {name: run.invoke(cli, [*name.split(), "--help"]) for name in ("", *COMMANDS)}
    assert all(result.exit_code == 0 for result in said.values())
    return {name: result.output for name, result in said.items()}


def test_help_fits_a_screen(helps: dict[str, str]) -> None:
    for command, text in helps.items():
        _, *lines = text.splitlines()
        assert len(lines) < (52 if command == "check" else 40)
        assert all(len(line) <= 80 and not line.endswith("...") for line in lines)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_manual_has_every_option_and_no_other(command: str, helps: dict[str, str]) -> None:
    listed = set(re.findall(r"^- `(--[a-z-]+)", pages()[command].read_text(encoding="utf-8"), re.MULTILINE))
    described = set(re.findall(r"^  +(?:-\w, )?(--[a-z-]+)", helps[command], re.MULTILINE))
    assert listed == described


def test_the_manual_has_a_page_for_every_command_and_no_other() -> None:
    assert set(pages()) == set(COMMANDS)


def test_the_manual_is_shown() -> None:
    assert detlint("help", "verify").stdout == (ROOT / "docs/commands/verify.md").read_text(encoding="utf-8")
    asked = detlint("help", "verfy")
    assert asked.returncode == 2
    assert asked.stderr.count("\n") == 1 and "'verfy'" in asked.stderr and "verify" in asked.stderr


def test_help_without_a_command_lists_them(helps: dict[str, str]) -> None:
    assert CliRunner(env={"COLUMNS": "80"}).invoke(cli, ["help"]).output == helps[""]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("detlint e", ["entries"]),
        ("detlint --sel", ["--select"]),
        ("detlint --select DET50", [f"DET50{n}" for n in range(1, 9)]),
        ("detlint --select DET101,DET10", [f"DET101,DET10{n}" for n in (1, 2, 3, 4, 5, 6, 7, 8, 9)]),
        ("detlint check src --format gi", ["github", "gitlab"]),
        ("detlint rule unseeded-t", ["unseeded-torch"]),
        ("detlint bisect --le", ["--level"]),
        ("detlint bisect --level ", ["op", "step"]),
        ("detlint verify --proc", ["--processes"]),
        ("detlint help b", ["bisect"]),
        ("detlint completion z", ["zsh"]),
        ("detlint bisect -- tr", ["file"]),
        ("detlint repeat tr", ["file"]),
        ("detlint sr", ["file"]),  # which the shell looks for
    ],
)
def test_a_shell_is_offered_what_may_follow(line: str, offered: list[str]) -> None:
    assert completed(line) == offered


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_with_what_is_printed(tmp_path: Path) -> None:
    script = detlint("completion", "bash").stdout
    command = tmp_path / "detlint"
    command.write_text(f'#!/bin/sh\nexec \'{sys.executable}\' -c "{START}" "$@"\n')
    command.chmod(0o755)
    words = 'COMP_WORDS=(detlint entries --form); COMP_CWORD=2; _detlint_completion detlint; echo "${COMPREPLY[@]}"'
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", f"{script}\n{words}"], capture_output=True, text=True, env=path)
    assert done.stdout.strip() == "--format", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
@pytest.mark.parametrize("command", ["check", "entries"])
def test_colours_heed_the_environment(command: str, environment: dict[str, str], coloured: bool) -> None:
    assert ("\x1b[" in detlint(command, EXAMPLE, **environment).stdout) is coloured


@pytest.mark.slow
def test_a_terminal_gets_colours_unless_they_are_refused() -> None:
    pty = pytest.importorskip("pty")
    for environment, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        leader, follower = pty.openpty()
        kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
        kept |= {"PYTHONPATH": str(ROOT), "DETLINT_NO_CACHE": "1", "TERM": "xterm"} | environment
        command = [sys.executable, "-m", "detlint", EXAMPLE, "--select", "DET501"]
        with subprocess.Popen(command, stdout=follower, env=kept) as process:
            os.close(follower)
            said = b""
            while b"entry point" not in said:
                said += os.read(leader, 4096)
            assert process.wait() == 1
        os.close(leader)
        assert (b"\x1b[" in said) is coloured
