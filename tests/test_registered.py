"""What settings say of functions that detlint does not know: `seeds`, `draws` and `ordered`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from flake8.main.cli import main as flake8

from detlint import catalogue, config, fixing
from detlint.cli import cli
from detlint.config import ConfigError
from detlint.workspace import Workspace

from .project import entries, written
from .support import FLAKE8_PLUGIN, marks

_PARTS = re.compile(
    r'^## (?P<name>.+)$|^```(?:py title="(?P<path>.+)"|(?P<settings>toml))\n(?P<text>(?:.*\n)*?)```$', re.M
)


def cases() -> dict[str, dict[str, str]]:
    """The projects of registered.md: texts by path, the settings among them."""
    found: dict[str, dict[str, str]] = {}
    text = (Path(__file__).parent / "gauntlet" / "registered.md").read_text(encoding="utf-8")
    for part in _PARTS.finditer(text):
        if part["name"]:
            found[part["name"]] = {}
        else:
            found[list(found)[-1]][part["path"] or "detlint.toml"] = part["text"]
    return found


CASES = cases()
SELECTED = "DET1,DET202,DET6"


def checked(*arguments: str) -> Result:
    """A run of the command line."""
    return CliRunner().invoke(cli, ["--format", "json", "--jobs", "1", *arguments], catch_exceptions=False)


def found(path: str = ".") -> list[tuple[str, int, str]]:
    """Path, line and code of each finding in a file or the working folder that is an error or a warning."""
    result = checked("--select", SELECTED, "--severity", "warning", path)
    return sorted((f["path"], f["line"], f["code"]) for f in json.loads(result.stdout)["findings"])


@pytest.mark.parametrize("name", CASES)
def test_what_settings_say_goes_before_what_is_found_by_following(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = CASES[name]
    written(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    wanted = sorted((path, line, code) for path, text in files.items() for line, code in marks(text))
    assert found() == wanted
    (tmp_path / "detlint.toml").write_text("")
    assert found() != wanted, "which nothing has to say"


@pytest.mark.parametrize(
    "name", ["a function of the project in a src layout", "imported from another module", "too late", "a method"]
)
def test_a_file_alone_knows_what_others_are_said_to_do(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = CASES[name]
    written(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    assert found("train.py") == [("train.py", line, code) for line, code in marks(files["train.py"])]


SEEDS = {"names": ["acme.fix_seeds"], "seeds": ["torch"]}
DRAWS = {"names": ["acme.jitter"], "generator": "numpy"}
TAKES_SEED = {"names": ["acme.jitter"], "parameter": "seed"}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"seeds": SEEDS}, "seeds must be an array of tables, such as [[tool.detlint.seeds]]"),
        ({"draws": ["acme.jitter"]}, "draws must be an array of tables, such as [[tool.detlint.draws]]"),
        (
            {"seeds": [SEEDS, {**SEEDS, "paramter": "seed"}]},
            "seeds[2]: unknown key 'paramter', did you mean parameter?; known are names, seeds, parameter, none, restores, signature",
        ),
        ({"ordered": [{"names": ["a.b"], "kind": "free"}]}, "ordered[1]: unknown key 'kind'; known are names"),
        (
            {"ordered": [{}]},
            'ordered[1]: names is missing: a list of qualified names, such as ["acme.utils.fix_seeds"]',
        ),
        (
            {"ordered": [{"names": "acme.list_runs"}]},
            "ordered[1]: names must be a list of qualified names, such as [\"acme.utils.fix_seeds\"], not 'acme.list_runs'",
        ),
        (
            {"ordered": [{"names": ["list_runs"]}]},
            "ordered[1]: names must be a list of qualified names, such as [\"acme.utils.fix_seeds\"], not ['list_runs']",
        ),
        (
            {"ordered": [{"names": []}]},
            'ordered[1]: names must be a list of qualified names, such as ["acme.utils.fix_seeds"], not []',
        ),
        (
            {"seeds": [{"names": ["a.b"]}]},
            'seeds[1]: seeds is missing: the generators that are seeded, such as ["torch"]; [] for none',
        ),
        (
            {"seeds": [{**SEEDS, "seeds": ["pytorch"]}]},
            "seeds[1]: seeds must be a list of generators, each torch, numpy, python, dgl, monai or cuda, not ['pytorch']",
        ),
        ({"seeds": [{**SEEDS, "parameter": 0}]}, "seeds[1]: parameter must be the name of a parameter, not 0"),
        ({"seeds": [{**SEEDS, "none": "fails"}]}, "seeds[1]: none must be raises, default or nothing, not 'fails'"),
        ({"seeds": [{**SEEDS, "restores": "yes"}]}, "seeds[1]: restores must be true or false, not 'yes'"),
        (
            {"seeds": [{**SEEDS, "signature": "seed)"}]},
            'seeds[1]: signature must be what stands between the parentheses of a def, such as "seed, strict=False", '
            "not 'seed)'",
        ),
        (
            {"draws": [{"names": ["a.b"]}]},
            "draws[1]: generator or parameter is missing: what is drawn from, or what takes the seed",
        ),
        (
            {"draws": [{**DRAWS, "generator": "cuda"}]},
            "draws[1]: generator must be torch, numpy or python, or a list of several, not 'cuda'",
        ),
        (
            {"draws": [{**DRAWS, "kind": "sample"}]},
            "draws[1]: kind must be call, forward or iteration, not 'sample'",
        ),
        (
            {"draws": [{**TAKES_SEED, "kind": "call"}]},
            "draws[1]: kind does not go with parameter: what takes a seed draws when it is called",
        ),
        (
            {"draws": [{**DRAWS, "unless": "shuffle=False"}]},
            'draws[1]: unless must be a list of conditions, such as ["shuffle=True"] or ["seed"], not \'shuffle=False\'',
        ),
        (
            {"draws": [{**DRAWS, "when": ["shuffle is True"]}]},
            'draws[1]: when must be a list of conditions, such as ["shuffle=True"] or ["seed"], not [\'shuffle is True\']',
        ),
    ],
)
def test_what_is_wrong_is_told_in_one_line(table: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        config.from_table(Path("pyproject.toml"), table)
    assert str(raised.value) == f"pyproject.toml: {message}"


def test_a_wrong_setting_ends_the_run(tmp_path: Path) -> None:
    written(
        tmp_path,
        {"detlint.toml": '[[seeds]]\nnames = ["a.b"]\nseeds = "torch"\n', "train.py": "import torch\n"},
    )
    result = checked(str(tmp_path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(
        f"detlint: {tmp_path / 'detlint.toml'}: seeds[1]: seeds must be a list of generators"
    )
    assert result.stderr.count("\n") == 1


# What a run is


PROJECT = {
    "detlint.toml": '[[seeds]]\nnames = ["acme.fix_seeds"]\nseeds = ["torch"]\n',
    "acme.py": "def fix_seeds(seed):\n    for each in plugins():\n        each(seed)\n",
    "train.py": "import torch\nfrom acme import fix_seeds\n\nfix_seeds(0)\nprint(torch.rand(2))\n",
}
UNSEEDED = [("train.py", 5, "DET101")]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose seeds are registered."""
    monkeypatch.delenv("DETLINT_NO_CACHE")
    monkeypatch.chdir(tmp_path)
    written(tmp_path, PROJECT)
    return tmp_path


def test_entry_points_are_shown_with_what_is_registered(root: Path) -> None:
    written(root, {"train.py": PROJECT["train.py"] + "import random\nprint(random.random())\n"})
    (entry,) = entries(root)
    states = {name: stream["state"] for name, stream in entry["generators"].items()}
    assert states == {"torch": "seeded", "numpy": "unused", "python": "unseeded"}


@pytest.mark.parametrize(
    ("row", "call", "state"),
    [
        ('parameter = "seed"', "vendorlib.init(seed=0)", "seeded"),
        ('parameter = "seed"', "vendorlib.init(0)", "seeded"),
        ('parameter = "seed"', "vendorlib.init()", "seeded"),
        ('parameter = "seed"', "vendorlib.init(seed=None)", "optional"),
        ('parameter = "seed"\nnone = "raises"', "vendorlib.init(seed=None)", "seeded"),
        ('parameter = "seed"\nnone = "nothing"', "vendorlib.init(seed=None)", "unseeded"),
        ('parameter = "seed"\nsignature = "seed=None"', "vendorlib.init()", "optional"),
        ('parameter = "seed"\nsignature = "seed=1"', "vendorlib.init()", "seeded"),
        ('parameter = "seed"\nsignature = "steps, seed=None"', "vendorlib.init(1)", "optional"),
        ('parameter = "seed"\nsignature = "steps, seed=None"', "vendorlib.init(1, 2)", "seeded"),
    ],
)
def test_the_seed_that_a_function_is_given_decides(root: Path, row: str, call: str, state: str) -> None:
    settings = f'[[seeds]]\nnames = ["vendorlib.init"]\nseeds = ["torch"]\n{row}\n'
    program = f"import torch, vendorlib\n\n{call}\nprint(torch.rand(2))\n"
    written(root, {"detlint.toml": settings, "train.py": program})
    (entry,) = entries(root)
    assert entry["generators"]["torch"]["state"] == state


def test_no_seed_is_put_before_one_that_is_registered(root: Path) -> None:
    settings = config.for_paths([root])
    torch = config.target_torch("", root, catalogue.load())
    assert fixing.fix_paths([root], settings, torch, jobs=1).outcome.changes == ()
    (root / "detlint.toml").write_text("")
    changed = fixing.fix_paths([root], config.for_paths([root]), torch, jobs=1).outcome.changes
    assert [each.path for each in changed] == [(root / "train.py").as_posix()]


def test_a_cache_knows_what_is_registered(root: Path) -> None:
    assert found() == []
    (root / "detlint.toml").write_text("")
    assert found() == UNSEEDED
    written(root, PROJECT)
    assert found() == []
    (root / "detlint.toml").write_text(PROJECT["detlint.toml"].replace("torch", "numpy"))
    assert found() == UNSEEDED


def test_other_settings_share_what_is_kept_of_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> object:
        raise AssertionError("a file is analysed again")

    assert found() == []
    monkeypatch.setattr("detlint.gathering.analyse", fails)
    (root / "detlint.toml").write_text(f'severity = "error"\n{PROJECT["detlint.toml"]}')
    assert found() == []


@pytest.mark.slow
@pytest.mark.parametrize("forks", [True, False])
def test_processes_know_what_is_registered(root: Path, monkeypatch: pytest.MonkeyPatch, forks: bool) -> None:
    monkeypatch.setattr("detlint.support.processes.forks", lambda: forks)
    monkeypatch.setattr("detlint.gathering._SPAWNS", 0)
    settings = '[[draws]]\nnames = ["acme.jitter"]\nparameter = "seed"\n'
    files = {f"m{number}.py": "import acme\n\nprint(acme.jitter())\n" + "#" * 70_000 for number in range(3)}
    written(root, {"detlint.toml": settings, "acme.py": "def jitter(seed=None): return plugin(seed)\n", **files})
    result = CliRunner().invoke(cli, ["--format", "json", "--jobs", "2", "--no-cache", "."], catch_exceptions=False)
    assert [(f["path"], f["code"]) for f in json.loads(result.stdout)["findings"]] == [
        (path, "DET107") for path in sorted(files)
    ]


def test_projects_of_one_process_are_told_apart(root: Path) -> None:
    other = root.parent / "other"
    written(other, {**PROJECT, "detlint.toml": ""})
    seeded, unseeded = Workspace.of(root), Workspace.of(other)
    for _ in range(2):
        assert seeded.report().findings == ()
        assert [judged.finding.code for judged in unseeded.report().findings] == ["DET101"]
        for workspace, folder in ((seeded, root), (unseeded, other)):
            workspace.update(folder / "train.py", PROJECT["train.py"] + "print(torch.rand(3))\n")


def test_flake8_knows_what_is_registered(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    settings = '[[draws]]\nnames = ["acme.jitter"]\nparameter = "seed"\n'
    written(root, {"detlint.toml": settings, "train.py": "import acme\n\nprint(acme.jitter())\n"})
    (root / ".flake8").write_text(f"[flake8]\nselect = DET107\n{FLAKE8_PLUGIN}")
    flake8(["--jobs", "1", "."])
    assert "train.py:3:7: DET107" in capfd.readouterr().out
    (root / "detlint.toml").write_text("")
    flake8(["--jobs", "1", "."])
    assert capfd.readouterr().out == ""


def test_the_settings_of_the_documentation_do_what_it_says(root: Path) -> None:
    page = (Path(__file__).parent.parent / "docs" / "configuration.md").read_text(encoding="utf-8")
    _, _, section = page.partition("\n## Functions that detlint does not know\n")
    (settings,) = re.findall(r"^```toml\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    (root / "detlint.toml").unlink()
    written(root, {
        "pyproject.toml": settings,
        "acme/__init__.py": "",
        "acme/noise.py": "def wobble(x, scale=1): return plugin(x, scale)\n",
        "acme/utils.py": "def fix_seeds(seed): plugin(seed)\n",
        "draws.py": """
            import lab
            from acme.noise import wobble

            print(lab.jitter(1), lab.jitter(1, 2))
            print(wobble(2, scale=0))
            print(wobble(2))
            """,
        "seeds.py": """
            import random, torch
            from acme.noise import wobble
            from acme.utils import fix_seeds

            fix_seeds(seed=0)
            print(torch.rand(2), random.random(), wobble(2))
            """,
    })  # fmt: skip
    assert found() == [("draws.py", 4, "DET107"), ("draws.py", 6, "DET102")]
