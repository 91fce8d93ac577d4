"""Settings: where they are found, what they may say, and the version of PyTorch that a project targets."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from detlint import catalogue, config
from detlint.catalogue import CatalogueError
from detlint.config import Config, ConfigError
from detlint.finding import Severity

RULES = catalogue.load()


def test_the_nearest_settings_win_and_detlint_toml_goes_first(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert config.find(inner) is None
    (tmp_path / "pyproject.toml").write_text('[tool.detlint]\nselect = ["DET1"]\n')
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\n")
    assert config.find(inner) == (tmp_path / "pyproject.toml", {"select": ["DET1"]})
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.detlint]\n")
    (tmp_path / "a" / "detlint.toml").write_text('ignore = ["DET2"]\n')
    file = inner / "train.py"
    file.touch()
    assert config.find(file) == (tmp_path / "a" / "detlint.toml", {"ignore": ["DET2"]})


@pytest.mark.parametrize(
    "text", ["tool = 1", "project = 1", "[project]\ndependencies = 1", "[project]\noptional-dependencies = ['torch']"]
)
def test_what_others_wrote_wrong_is_theirs_to_tell(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert config.find(tmp_path) is None
    assert config.requirements(tmp_path) == []


def test_settings_that_are_no_table_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\ndetlint = 1\n")
    with pytest.raises(ConfigError, match=r"tool\.detlint must be a table"):
        config.find(tmp_path)


def test_every_setting_is_read() -> None:
    table = {
        "select": ["DET1", "DET5"], "ignore": ["DET501"], "exclude": ["build"], "severity": "warning", "respect-gitignore": False,
        "per-file-ignores": {"tests/*": ["ALL"]}, "breaks": ["run-to-run"], "torch-version": "2.4",
        "cache-dir": "caches/detlint",
    }  # fmt: skip
    assert config.from_table(Path("root/pyproject.toml"), table) == Config(
        select=("DET1", "DET5"),
        ignore=("DET501",),
        exclude=("build",),
        respect_gitignore=False,
        per_file_ignores={"tests/*": ("ALL",)},
        severity=Severity.WARNING,
        breaks=("run-to-run",),
        torch_version="2.4",
        root=Path("root"),
        cache_dir=Path("root/caches/detlint"),
    )


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({}, str(RULES.releases[-1])),
        ({"requirements.txt": "torch\n"}, str(RULES.releases[-1])),
        ({"requirements.txt": "torch>=1.8\n"}, str(RULES.releases[-1])),
        ({"requirements.txt": "numpy\ntorch<2.5,>=2  # old\n"}, "2.4.1"),
        ({"requirements.txt": "torch==2.4\n"}, "2.4"),
        ({"requirements/requirements.txt": "torch==1.11.0\n"}, "1.11.0"),
        ({"requirements/runtime.txt": "torch==1.11.0\n", "requirements/docs.txt": "torch==2.4\n"}, "1.11.0"),
        ({"requirements.txt": "torch==2.4\n", "requirements/base.txt": "torch==1.11.0\n"}, "2.4"),
        ({"requirements.txt": "torch==1.13.1+cu117 ; python_version < '3.12'\n"}, "1.13.1"),
        ({"requirements.txt": "torch==2.4.*\n"}, "2.4.1"),
        ({"requirements.txt": "torchvision==0.15\ntorch-scatter==2\n-r other.txt\n"}, str(RULES.releases[-1])),
        ({"requirements.txt": "torch @ https://example.org/torch.whl\n"}, str(RULES.releases[-1])),
        ({"pyproject.toml": '[project]\ndependencies = ["torch~=2.2.0"]\n'}, "2.2.2"),
        ({"pyproject.toml": '[project.optional-dependencies]\ngpu = ["torch<2"]\n'}, "1.13.1"),
        ({"requirements.txt": "numpy\n", "pyproject.toml": '[project]\ndependencies = ["torch<2"]\n'}, "1.13.1"),
    ],
)
def test_the_target_is_the_newest_release_that_the_project_admits(
    tmp_path: Path, files: dict[str, str], version: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert config.target_torch("", tmp_path, RULES) == Version(version)
    assert config.target_torch("1.9", tmp_path, RULES) == Version("1.9")


def test_the_root_of_a_project_without_settings(tmp_path: Path) -> None:
    inner = tmp_path / "src" / "package"
    inner.mkdir(parents=True)
    (tmp_path / "setup.py").touch()
    assert config.project_root(inner) == tmp_path
    (inner / "requirements.txt").touch()
    assert config.project_root(inner) == inner


# Selection


def chosen(select: str = "", ignore: str = "") -> frozenset[str]:
    return RULES.choose(select.split(), ignore.split())


def test_the_default_selection_is_every_rule_that_is_on_by_default() -> None:
    assert chosen() == {code for code, rule in RULES.rules.items() if rule.default}
    assert chosen("ALL") == set(RULES.rules)


def test_the_longest_selector_decides_and_ignore_wins_a_draw() -> None:
    fifth = {code for code in RULES.rules if code.startswith("DET5")}
    assert chosen("DET5") == fifth
    assert chosen("DET5", "DET501") == fifth - {"DET501"}
    assert chosen("DET501", "DET5") == {"DET501"}
    assert chosen("DET501", "DET501") == frozenset()
    assert chosen("ALL", "DET5") == set(RULES.rules) - fifth
    assert chosen("cudnn-benchmark-on", "DET5") == {"DET501"}


@pytest.mark.parametrize("selector", ["DET9", "X", "", "cudnn"])
def test_a_selector_that_matches_nothing_is_an_error(selector: str) -> None:
    with pytest.raises(CatalogueError, match="no rule matches"):
        RULES.choose([selector], [])
