"""The documentation says what is: generated parts are fresh, shown output is real, examples have known causes."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint import __version__, config
from detlint.cli import cli
from detlint.output import formats
from detlint.support import toml
from tests.tools import course, docs

ROOT = Path(__file__).parent.parent
GENERATED = ("contributing.md",)  # by the site's configuration
PAGES = [path for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in GENERATED]
PAGES += [path for folder in ("commands", "recipes") for path in sorted((ROOT / "docs" / folder).glob("*.md"))]
EXAMPLES = {
    "language_model/text.py": ["DET601"],
    "language_model/train.py": ["DET701", "DET105", "DET201"],
    "processes/train.py": ["DET102", "DET201"],
    "segmentation/data.py": ["DET104", "DET208", "DET204", "DET201", "DET202", "DET402"],
    "segmentation/train.py": ["DET501", "DET302", "DET505", "DET106"],
}


@pytest.fixture(scope="module")
def shown() -> str:
    """What `detlint docs/examples` prints."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        result = CliRunner().invoke(cli, ["docs/examples"])
    assert result.exit_code == 1
    return result.stdout


def test_generated_files_are_fresh() -> None:
    assert docs.generate(write=False) == [], "run python -m tests.tools.docs"


def test_the_numbers_of_the_course_were_measured_with_the_programs_as_they_are() -> None:
    page = course.PAGE.read_text(encoding="utf-8")
    assert course.stale(page, course.Measured.read()) == [], "run python -m tests.tools.course"


def test_the_examples_have_their_causes_and_the_mended_one_has_none(shown: str) -> None:
    found = re.findall(r"^docs/examples/(\S+?):\d+:\d+: \w+ (DET\d+) ", shown, re.MULTILINE)
    assert found == [(path, code) for path, codes in EXAMPLES.items() for code in codes]


@pytest.mark.parametrize("page", ["README.md", "docs/start.md"])
def test_the_output_that_is_shown_first_is_real(page: str, shown: str) -> None:
    (block,) = re.findall(r"^```text\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)
    for finding in block.strip().split("\n\n"):
        assert finding in shown


def test_the_first_fixes_are_those_that_the_tutorial_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "docs" / "examples" / "segmentation", tmp_path / "segmentation")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, ["--fix", "--no-cache", "segmentation"])
    (told,) = re.findall(
        r"^```console\n(.*?)^```$", (ROOT / "docs" / "start.md").read_text(encoding="utf-8"), re.M | re.S
    )
    assert result.stderr.endswith(told)


def test_the_program_of_the_integrations_page_reports_what_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```py\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text("import torch\n\ntorch.backends.cudnn.benchmark = True\n")
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "integrations.md", "exec"), {})
    assert "DET501" in capsys.readouterr().out


def test_the_changelog_begins_with_this_version() -> None:
    text = (ROOT / "docs" / "changelog.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", text, re.MULTILINE)[0] == __version__


def test_configuration_names_every_setting() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    settings, _, _ = text.partition("\n## Options\n")
    assert re.findall(r"^\| `([\w-]+)` \|", settings, re.MULTILINE) == list(dict.fromkeys(config.KNOWN))
    (example,) = re.findall(r"^```toml\n(.*?)^```$", settings, re.MULTILINE | re.DOTALL)
    assert set(toml.loads(example)["tool"]["detlint"]) == set(config.KNOWN)


@pytest.mark.parametrize("page", ["docs/formats.md", "docs/commands/check.md"])
def test_the_pages_name_every_format(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert not [name for name in formats.NAMES if f"`{name}`" not in text]


def test_a_page_begins_with_what_its_reader_gets() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in PAGES}
    wrong = [str(path) for path, text in texts.items() if not re.match(r"# \S.*\n\n[\w\[`](?!``)", text)]
    assert texts and wrong == [], "a title, and then prose"


def test_links_of_pages_lead_somewhere() -> None:
    dead, found = {}, 0
    for path in PAGES:
        prose = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        links = re.findall(r"\]\((?!https?:)([^)#]+)", prose)
        found += len(links)
        dead[str(path)] = [link for link in links if not (path.parent / link).exists()]
    assert found and {path: links for path, links in dead.items() if links} == {}


def test_the_contents_name_every_page_once() -> None:
    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    named = re.findall(r"^- \[[^]]+\]\(([\w-]+)\.md\)", contents, re.MULTILINE)
    assert sorted(named) == sorted(path.stem for path in PAGES if path.parent.name == "docs" and path.stem != "index")


def test_the_readme_is_short_and_its_links_lead_somewhere() -> None:
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docs" / "index.md", ROOT / "docs" / "rules.md"):
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) < (170 if path.name == "README.md" else 150)
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (path.parent / target).exists(), target
