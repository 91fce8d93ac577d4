"""What a run holds, counted and not weighed: facts that nobody asked for are bytes, and what is learned has bounds."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

import pytest

from detlint import analyse, catalogue, gathering
from detlint.analyse import Collected, Models, Source
from detlint.cache.cache import Cache
from detlint.facts import packed
from detlint.facts.facts import TOP, Function
from detlint.facts.signatures import signature
from detlint.link.state import program
from detlint.link.state.records import Record, Records
from detlint.settling.settling import link

TORCH = catalogue.load().newest_release()
CODES = frozenset(catalogue.load().rules)
LIBRARY = "import torch\nfrom .other import a as b\n\n" + "".join(
    f"def f{i}(x=1):\n    import os.path\n\n    def inner():\n        return x\n\n    return torch.rand(inner())\n\n\n"
    for i in range(9)
)
SCRIPT = "from p.lib import f3\n\nif __name__ == '__main__':\n    f3()\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Collected]:
    """What came of the files of a package and of a script that enters one function of it."""
    monkeypatch.chdir(tmp_path)
    Path("p").mkdir()
    files = {"p/__init__.py": "", "p/lib.py": LIBRARY, "p/other.py": "a = 1\n", "main.py": SCRIPT}
    for path, text in files.items():
        Path(path).write_text(text)
    cache = Cache(None, TORCH)
    names = {path: path.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for path in files}
    return gathering.collect(cache.read(Source(path, names[path]) for path in files), CODES, TORCH, cache, jobs=1)


def plain(path: str) -> Collected:
    return analyse.analyse(Source(path, path.removesuffix(".py").replace("/", ".")), CODES, TORCH)


def test_only_functions_that_a_program_comes_to_are_unpacked(
    project: list[Collected], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    read = packed.Body.function

    def noted(body: packed.Body, qualified: str) -> Function:
        opened.append(qualified)
        return read(body, qualified)

    monkeypatch.setattr(packed.Body, "function", noted)
    found = link(project, TORCH)
    assert [each.event for each in found.entries[0].met]
    assert set(opened) == {TOP, "p.lib.f3", "p.lib.f3.inner"}


def test_packed_facts_are_equal_and_tell_the_same_of_their_file(project: list[Collected]) -> None:
    packed_facts, facts = project[1].facts, plain("p/lib.py").facts
    assert packed_facts is not None
    assert facts is not None
    assert packed_facts == facts
    assert signature(packed_facts, ()) == signature(facts, ())
    assert set(packed.imports(packed_facts)) == set(packed.imports(facts))
    assert {(1, "other"), (1, "other.a"), (0, "os.path")} <= set(packed.imports(facts))
    assert packed_facts.functions.keys() == facts.functions.keys()
    for name in facts.functions:
        assert packed.head(packed_facts.functions, name) == packed.head(facts.functions, name)
    assert packed_facts != replace(facts, top=())


def objects(value: object) -> int:
    """How many objects there are in a value, its classes aside."""
    seen: dict[int, object] = {}
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if id(one) not in seen and not isinstance(one, type):
            seen[id(one)] = one
            waiting += gc.get_referents(one)
    return len(seen)


def test_packed_facts_are_a_few_objects_for_a_function(project: list[Collected]) -> None:
    facts = plain("p/lib.py").facts
    assert facts is not None
    assert objects(project[1].facts) < 4 * len(facts.functions) + 20 < objects(facts) / 3


def test_facts_from_the_cache_are_packed_too(project: list[Collected], tmp_path: Path) -> None:
    for _ in range(2):
        cache = Cache(tmp_path / "cache", TORCH)
        contents = cache.read(Source(each.path, "") for each in project)
        made = gathering.collect(contents, CODES, TORCH, cache, jobs=1)
        assert all(each.facts and isinstance(each.facts.functions, packed.PackedFunctions) for each in made)
    assert len(cache.find(contents)) == len(project)


def test_lines_of_a_few_files_are_held(project: list[Collected]) -> None:
    facts = plain("p/lib.py").facts
    assert facts is not None
    for _ in range(2 * packed._MOST_OPEN):
        assert packed.packed(facts).functions["p.lib.f3"] == facts.functions["p.lib.f3"]
    assert packed._opened.cache_info().currsize == packed._MOST_OPEN


def test_lines_are_unpacked_to_a_bound(monkeypatch: pytest.MonkeyPatch, project: list[Collected]) -> None:
    monkeypatch.setattr(packed, "_LONGEST", 100)
    facts = plain("p/lib.py").facts
    assert facts is not None
    with pytest.raises(ValueError):
        packed.packed(facts).functions["p.lib.f3"]


def test_texts_that_were_read_are_held_to_a_bound(project: list[Collected], monkeypatch: pytest.MonkeyPatch) -> None:
    items = [Source(each.path, "") for each in project]
    assert all(each.item.text is not None for each in Cache(None, TORCH).read(items))
    monkeypatch.setattr("detlint.cache.cache._HELD", 0)
    read = Cache(None, TORCH).read(items)
    assert [each.item.text for each in read if each.digest and Path(each.item.path).stat().st_size] == [None] * 3


def test_answers_are_the_same_however_little_is_held(project: list[Collected], monkeypatch: pytest.MonkeyPatch) -> None:
    def answers() -> list[object]:
        found = link(project, TORCH)
        return [(each.path, each.trace, each.end) for each in found.entries] + [found.program.walks]

    before = answers()
    monkeypatch.setattr(program, "_MOST_UNPACKED", 0)
    monkeypatch.setattr("detlint.link.state.contents._MOST_VERSIONS", -1)
    monkeypatch.setattr("detlint.sources.imports._MOST_ANSWERS", 0)
    monkeypatch.setattr("detlint.link.state.records._MOST", 0)
    assert answers() == before


def record(size: int) -> Record:
    made = object.__new__(Record)
    made.size = size
    return made


def test_records_that_were_not_needed_for_longest_are_dropped_where_all_are_too_many() -> None:
    kept = Records(most=100)
    keys = "abc"
    for key in keys:
        kept.keep(key, record(40))  # type: ignore[arg-type]
        kept.prefer("a")  # type: ignore[arg-type]
    assert [bool(kept.find(key)) for key in keys] == [True, False, True]  # type: ignore[arg-type]
    assert kept.size == 80
    kept.keep("d", record(1000))  # type: ignore[arg-type]
    assert [bool(kept.find(key)) for key in "acd"] == [False, False, True]  # type: ignore[arg-type]
    kept.clear()
    assert (kept.size, kept.find("d")) == (0, ())  # type: ignore[arg-type]


def test_models_are_let_go_of_but_for_the_last(project: list[Collected], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyse, "_MODELS", 2)
    models = Models({each.path: Source(each.path, "") for each in project}, TORCH)
    made = [models(each.path) for each in project]
    again = [models(each.path) for each in project[2:]]
    assert again == made[2:]
    assert models(project[0].path) is not made[0]
