"""Programs followed in groups of those that share code, and in processes: what is found is the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import pytest

from detlint import catalogue
from detlint.analyse import Source, analyse
from detlint.link.runs.following import Followed, follow
from detlint.link.runs.groups import grouped
from detlint.link.runs.starts import Start
from detlint.listing import Around
from detlint.programs.entries import Entry
from detlint.project.project import Project
from detlint.settling.settling import link
from detlint.sources.console_scripts import Command
from detlint.support import processes
from detlint.support.packing import pack, unpack

MAIN = "import torch\nif __name__ == '__main__':\n"
SPAWNS = (
    "import torch.multiprocessing as mp\nimport jobs\nif __name__ == '__main__':\n    mp.spawn(jobs.work, nprocs=2)\n"
)
FILES = {
    "one/train.py": f"{MAIN}    torch.manual_seed(0)\n    torch.rand(1)\n",
    "two/data.py": "import torch\ndef noise():\n    return torch.rand(1)\n",
    "two/train.py": "from data import noise\nif __name__ == '__main__':\n    noise()\n",
    "two/test.py": "from data import noise\nif __name__ == '__main__':\n    noise()\n",
    "three/a.py": f"{MAIN}    torch.use_deterministic_algorithms(True)\n    torch.rand(1)\n",
    "jobs.py": "import torch\ndef work(rank):\n    torch.rand(1)\n",
    "spawn_a.py": SPAWNS,
    "spawn_b.py": f"import left, right\n{SPAWNS}",
    "left.py": "LEFT = 1\n",
    "right.py": "RIGHT = 1\n",
    "pkg/__init__.py": "",
    "pkg/cli.py": "import torch\ndef main():\n    torch.rand(1)\nif __name__ == '__main__':\n    main()\n",
}
COMMANDS = (Command("tool", "pkg.cli:main"),)


def linked(jobs: int = 1) -> Project:
    release = catalogue.load().newest_release()
    names = {path: path.removesuffix(".py").replace("/", ".") for path in FILES}
    collected = [analyse(Source(path, names[path], text), frozenset(), release) for path, text in FILES.items()]
    return link(collected, release, Around(commands=COMMANDS), jobs)


def told(project: Project) -> list[tuple[object, ...]]:
    """All that is told of programs, in order."""
    return [(entry.path, entry.kind, entry.function, entry.met, entry.end, entry.streams) for entry in project.entries]


def came_to(project: Project) -> tuple[object, ...]:
    return project.program.walks, project.program.asked, project.reached()


def start(path: str, kind: str = "main") -> Start:
    return Start(path, kind, path)


def groups_of(imports: dict[str, set[str]], *paths: str) -> list[list[str]]:
    """The paths of grouped starts. What is imported imports nothing unless `imports` says so."""
    every = {path: frozenset(imports.get(path, ())) for path in (*imports, *set().union(*imports.values()))}
    return [[start.path for start in group.starts] for group in grouped(map(start, paths), every)]


def test_programs_that_load_much_the_same_files_are_in_one_group() -> None:
    imports = {"a": {"core"}, "b": {"core"}, "core": {"x", "y"}, "c": {"z"}, "z": set[str]()}
    assert groups_of(imports, "a", "b", "c") == [["a", "b"], ["c"]]


def test_programs_that_share_little_are_in_groups_of_their_own() -> None:
    imports = {"a": {"util", "a1", "a2"}, "b": {"util", "b1", "b2"}}
    assert groups_of(imports, "a", "b") == [["a"], ["b"]]


def test_programs_join_the_group_that_is_most_like_them() -> None:
    imports = {"a": {"util", "a1"}, "b": {"util", "b1", "b2", "b3"}, "c": {"b", "util"}}
    assert groups_of(imports, "a", "b", "c") == [["a"], ["b", "c"]]


def test_a_program_that_loads_the_code_of_two_groups_does_not_make_them_one() -> None:
    imports = {"one": {f"a{n}" for n in range(30)}, "two": {f"b{n}" for n in range(10)}}
    imports |= {"both": {*imports["one"], *imports["two"]}, "again": {*imports["two"]}}
    assert groups_of(imports, "one", "two", "both", "again") == [["one", "both"], ["two", "again"]]


def test_a_group_with_enough_work_gets_no_other_files() -> None:
    core = {f"core{n}" for n in range(999)}
    imports = {f"program{n}": core for n in range(20)}
    found = groups_of(imports, *imports, "program0")
    assert found == [
        [*[f"program{n}" for n in range(8)], "program0"],
        *([f"program{n}" for n in range(8 * k, min(8 * k + 8, 20))] for k in (1, 2)),
    ]


def test_imports_in_circles_come_to_an_end() -> None:
    chain = {f"m{number}": {f"m{(number + 1) % 500}"} for number in range(500)}
    assert [group.work for group in grouped([start("m7")], {k: frozenset(v) for k, v in chain.items()})] == [500]


def test_programs_that_start_in_one_file_are_in_one_group() -> None:
    every = {path: frozenset[str]() for path in "ab"}
    (group, other) = grouped([start("a"), start("b"), start("a", "command")], every)
    assert [each.kind for each in group.starts] == ["main", "command"]
    assert len(other.starts) == 1


def test_entry_points_are_in_the_order_of_files_with_their_processes_after_them() -> None:
    paths = [(entry.path, entry.kind) for entry in linked().entries]
    mains = [(path, "main") for path, text in FILES.items() if "__main__" in text]
    mains.insert(mains.index(("spawn_a.py", "main")) + 1, ("jobs.py", "process"))
    assert paths == [*mains, ("pkg/cli.py", "command")]


def test_a_process_that_programs_of_two_groups_start_is_one_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def watched(*given: object) -> Followed:
        asked.append([each.path for each in given[2]])  # type: ignore[attr-defined]
        return follow(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("detlint.project.programs.follow", watched)
    kinds = [entry.kind for entry in linked().entries]
    assert ["spawn_a.py"] in asked
    assert ["spawn_b.py"] in asked
    assert kinds.count("process") == 1


def test_processes_find_what_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = linked()
    assert any(stream.draws for entry in alone.entries for stream in entry.streams)
    started: list[int] = []
    spread = processes.spread

    def watched(work: Callable[[int], bytes], batches: Iterable[list[int]], jobs: int, once: bool) -> object:
        started.append(jobs)
        return spread(work, batches, jobs, once)

    monkeypatch.setattr("detlint.support.processes.spread", watched)
    monkeypatch.setattr("detlint.project.programs._SPREADS", 0)
    monkeypatch.setattr("detlint.project.programs._BATCH", 1)
    together = linked(jobs=3)
    assert started == [3]
    assert told(together) == told(alone)
    assert came_to(together) == came_to(alone)


def test_few_files_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("detlint.support.processes.spread", None)
    assert linked(jobs=4).entries


@pytest.mark.parametrize("fail", [lambda: os._exit(1), lambda: [].pop()], ids=["it ends", "it fails"])
def test_a_process_that_ends_or_fails_costs_nothing(
    fail: Callable[[], object], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    alone, here = linked(), os.getpid()

    def failing(*given: object) -> Followed:
        if os.getpid() != here and any("one/train.py" in each.path for each in given[2]):  # type: ignore[attr-defined]
            fail()
        return follow(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("detlint.project.programs.follow", failing)
    monkeypatch.setattr("detlint.project.programs._SPREADS", 0)
    assert told(linked(jobs=2)) == told(alone)
    assert capfd.readouterr() == ("", "")


def test_what_fails_in_every_process_is_told_by_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> Followed:
        raise LookupError("a damaged cache")

    monkeypatch.setattr("detlint.project.programs.follow", failing)
    monkeypatch.setattr("detlint.project.programs._SPREADS", 0)
    with pytest.raises(LookupError, match="a damaged cache"):
        linked(jobs=2)


def test_what_was_learned_of_a_group_is_forgotten_with_it() -> None:
    program = linked().program
    assert not program.environments
    assert not program.records.size
    assert not program.memo


def test_an_entry_point_that_travels_is_the_same() -> None:
    entries: list[Entry] = linked().entries
    arrived = unpack(pack(entries))
    assert arrived == entries
    assert arrived[0].met == entries[0].met
