"""The texts of `rules/`, parsed once and kept as one document."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from detlint import catalogue, rulebook
from detlint.catalogue import CatalogueError

PAGE = "DET501-cudnn-benchmark-on.md"
CHECK = "checks/DET501.toml"


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page and a table of `rules/`, copied, and a document that was made from them."""
    folder = tmp_path / "rules"
    for name in (PAGE, "facts/memory.toml", CHECK):
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        shutil.copyfile(rulebook.folder() / name, folder / name)
    monkeypatch.setattr(rulebook, "folder", lambda: folder)
    monkeypatch.setattr(rulebook, "FILE", tmp_path / "made" / "catalogue.json")
    rulebook.FILE.parent.mkdir()
    rulebook.content()
    return folder


def fails(*_: object) -> None:
    raise AssertionError("it was parsed")


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), encoding="utf-8")


def test_what_is_kept_says_what_the_texts_say_and_spares_parsing_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rulebook, "FILE", tmp_path / "catalogue.json")
    rulebook.content()
    texts = {path: path.read_bytes() for path in (*rulebook.pages(), *rulebook.facts(), *rulebook.checks())}
    parsed = rulebook._parsed(texts)
    monkeypatch.setattr("detlint.support.toml.loads", fails)
    assert rulebook.content() == parsed
    assert (
        parsed.all_signatures() and parsed.tables_of("ops")["op"] and len(parsed.headers) == len(catalogue.load().rules)
    )


def test_every_edit_of_the_rules_is_noticed(rules: Path) -> None:
    edit(rules / PAGE, 'name = "', 'name = "no-')
    assert rulebook.content().headers[PAGE]["name"].startswith("no-")
    edit(rules / "facts" / "memory.toml", 'id = "', 'id = "other-')
    tables = rulebook.content().tables_of("memory")
    assert any(row["id"].startswith("other-") for rows in tables.values() for row in rows)
    edit(rules / CHECK, 'usual = "benchmark on"', 'usual = "benchmark off"')
    assert rulebook.content().headers[PAGE]["data"]["usual"] == "benchmark off"
    assert catalogue.read_page(rules / PAGE).data["usual"] == "benchmark off"
    (rules / PAGE).unlink()
    assert PAGE not in rulebook.content().headers


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"digest": 1}', b"\xff"])
def test_a_damaged_document_is_made_anew(rules: Path, damage: bytes) -> None:
    whole, kept = rulebook.content(), rulebook.FILE.read_bytes()
    rulebook.FILE.write_bytes(damage)
    assert rulebook.content() == whole
    assert rulebook.FILE.read_bytes() == kept


def test_where_it_cannot_be_kept_the_texts_are_parsed(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rulebook.content()
    monkeypatch.setattr(rulebook, "FILE", rules / "no such folder" / "catalogue.json")
    assert rulebook.content() == whole


def test_what_is_installed_is_not_compared_with_the_texts_it_was_made_from(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = rulebook.content()
    rulebook.FILE.replace(installed := rules.parent / "catalogue.json")
    monkeypatch.setattr(rulebook, "FILE", installed)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "glob", fails)
        assert rulebook.content() == whole
    installed.write_bytes(b"{")
    assert rulebook.content() == whole


@pytest.mark.parametrize(
    "change",
    [("severity =", "severity"), ("+++", "---"), ('severity = "', 'severity = "very '), ('fix = "', 'data = "')],
)
def test_a_page_that_is_not_well_formed_is_named(rules: Path, change: tuple[str, str]) -> None:
    edit(rules / PAGE, *change)
    catalogue.read.cache_clear()
    try:
        with pytest.raises(CatalogueError, match=f"^{PAGE}: "):
            catalogue.load()
    finally:
        catalogue.read.cache_clear()
    with pytest.raises(CatalogueError, match=f"^{PAGE}: "):
        catalogue.read_page(rules / PAGE)
