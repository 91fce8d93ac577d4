"""The programs of docs/recipes/: detlint finds nothing in them, and two runs of them agree in every bit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.forking import Forking
from tests.support import report

pytest.importorskip("torch")

from tests.repeating import FILLS, FOLDER, environment

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PAGES = {path.stem: path for path in sorted((ROOT / "docs" / "recipes").glob("*.md"))}
DIGEST = re.compile(r"^[0-9a-f]{16}\b.*$", re.MULTILINE)
RUN: dict[str, list[list[str]]]  # the arguments of the runs
RUN = {"script": [[]], "loader": [["0"], ["2"]], "inference": [[]], "compile": [[]]}
ELSEWHERE = {"lightning", "transformers"}  # what needs a package that is not installed here


def files(page: str) -> dict[str, str]:
    """The programs of a page, by name."""
    text = PAGES[page].read_text(encoding="utf-8")
    return dict(re.findall(r'^```py title="([^"]+)"\n(.*?)^```$', text, re.MULTILINE | re.DOTALL))


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Forking, Forking]]:
    """Two fresh processes that run programs, with hashes, addresses and the filling of memory of their own."""
    eager = {"TORCH_COMPILE_DISABLE": "1"}  # compiling takes longer than all the rest
    started = [Forking(FOLDER / "server.py", environment(fill) | eager) for fill in FILLS]
    yield started[0], started[1]
    for one in started:
        one.stop()


def write(page: str, folder: Path) -> str:
    """Write the program of a page into a new folder; gives its name."""
    folder.mkdir()
    ((name, text),) = files(page).items()
    (folder / name).write_text(text, encoding="utf-8")
    return name


def run(server: Forking, folder: Path, *command: str, **variables: str) -> None:
    server.send({"folder": str(folder), "command": command, "environment": variables})


def printed(server: Forking, folder: Path) -> list[str]:
    """The lines with digests that a run prints, once it has ended."""
    status = server.wait()
    log = (folder / "log.txt").read_text(encoding="utf-8")
    assert status == 0, log
    return DIGEST.findall(log)


def test_every_recipe_is_listed_and_is_run_or_said_not_to_be() -> None:
    contents = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^- \[[^]]+\]\(recipes/(\w+)\.md\)", contents, re.MULTILINE)) == set(PAGES)
    assert set(PAGES) == {*RUN, *ELSEWHERE, "resume", "ddp"}
    for page in ELSEWHERE:
        assert "is not run here" in re.sub(r"\s+", " ", PAGES[page].read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_detlint_finds_nothing_in_a_recipe(page: str) -> None:
    texts = files(page)
    assert texts
    found = report(texts).findings
    assert [(one.rule.code, one.finding.place.line, one.finding.message) for one in found] == []


@pytest.mark.parametrize("page", RUN)
def test_two_runs_of_a_recipe_agree_in_every_bit(page: str, servers: tuple[Forking, Forking], tmp_path: Path) -> None:
    shown: list[list[str]] = []
    for arguments in RUN[page]:
        for server in servers:
            folder = tmp_path / str(len(shown))
            run(server, folder, write(page, folder), *arguments)
            shown.append(printed(server, folder))
    assert shown[0]
    assert all(lines == shown[0] for lines in shown), shown


@pytest.mark.parametrize("restores", [True, False])
def test_a_resumed_run_agrees_with_one_that_was_not_interrupted_if_it_restores_the_random_state(
    restores: bool, servers: tuple[Forking, Forking], tmp_path: Path
) -> None:
    one, other = servers
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    name = write("resume", whole)
    write("resume", parts)
    if not restores:
        text = (parts / name).read_text(encoding="utf-8")
        changed = re.sub(r"^ +restore\(.*\n", "", text, flags=re.MULTILINE)
        assert changed != text
        (parts / name).write_text(changed, encoding="utf-8")
    run(one, whole, name, "4")
    run(other, parts, name, "2")
    (uninterrupted,) = printed(one, whole)
    (halfway,) = printed(other, parts)
    run(other, parts, name, "4")
    (resumed,) = printed(other, parts)
    assert halfway != uninterrupted
    assert (resumed == uninterrupted) is restores


def test_two_distributed_runs_agree_in_every_bit(servers: tuple[Forking, Forking], tmp_path: Path) -> None:
    distributed: Any = import_module("torch.distributed")

    shown = []
    for number in range(2):
        store = distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        variables = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.port), "WORLD_SIZE": "2"}
        variables |= {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0"}  # as torchrun says it
        ranks = servers if number == 0 else servers[::-1]
        for rank, server in enumerate(ranks):
            folder = tmp_path / f"{number}-{rank}"
            name = write("ddp", folder)
            run(server, folder, name, RANK=str(rank), LOCAL_RANK=str(rank), **variables)
        shown += [printed(server, tmp_path / f"{number}-{rank}") for rank, server in enumerate(ranks)]
        del store
    assert shown[0]
    assert shown == [shown[0], [], shown[0], []]
