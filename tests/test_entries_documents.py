"""`detlint entries` and configuration files: how they are read, what their values count as, and that edits count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from detlint import config as configs
from detlint.cli import cli
from detlint.documents import documents
from detlint.workspace import Workspace

PROGRAM = """
import argparse, json, os, random, yaml
from pathlib import Path
{load}
if {seed} is not None:
    random.seed({seed})
random.random()
"""
WITH_OPTION = """
parser = argparse.ArgumentParser()
parser.add_argument("--config", {})
args = parser.parse_args()
with open(args.config) as file:
    c = yaml.safe_load(file)
"""
LOADS = {
    "opened": ('c = yaml.safe_load(open("conf/x.yaml"))', 'c["seed"]'),
    "in a context": ('with open("conf/x.yaml", "r") as f:\n    c = yaml.load(f, Loader=yaml.FullLoader)', 'c.get("seed")'),
    "as a text": ('with open("conf/x.yaml") as f:\n    c = yaml.safe_load(f.read())', 'c["seed"]'),
    "beside the file": (
        'c = yaml.safe_load(open(os.path.join(os.path.dirname(__file__), "conf", "x.yaml")))', 'c["seed"]',
    ),
    "by a path": ('c = yaml.safe_load((Path(__file__).parent / "conf" / "x.yaml").read_text())', 'c["seed"]'),
    "by a path that opens": ('with Path("conf/x.yaml").open() as f:\n    c = yaml.safe_load(f)', 'c["seed"]'),
    "by a text that is put together": ('name = "x"\nc = yaml.safe_load(open(f"conf/{name}.yaml"))', 'c["seed"]'),
    "by the default of an option": (WITH_OPTION.format('default="./conf/x.yaml"'), 'c["seed"]'),
    "by a path that is the default": (
        WITH_OPTION.format('type=Path, default=Path(__file__).parent / "conf/x.yaml"'), 'c["seed"]',
    ),
    "by a function": (
        'def load(path):\n    with open(path) as f:\n        return yaml.safe_load(f)\nc = load("conf/x.yaml")',
        'c["train"]["seed"]',
    ),
    "by a name that is given": (
        "def load(name):\n"
        '    return yaml.safe_load(open(os.path.join(os.path.dirname(__file__), "conf", name + ".yaml")))\n'
        'c = load("x")',
        'c["seed"]',
    ),
    "beside a folder": (
        'def load(name):\n    return yaml.safe_load(open(Path(__file__).parent / "conf" / (name + ".yaml")))\nc = load("x")',
        'c["seed"]',
    ),
    "merged by yacs": (
        "from yacs.config import CfgNode\nc = CfgNode()\nc.train = CfgNode()\nc.train.seed = -1\n"
        'c.merge_from_file("conf/x.yaml")\nc.freeze()',
        "c.train.seed",
    ),
    "by getattr": ('from omegaconf import OmegaConf\nc = OmegaConf.load("conf/x.yaml")', 'getattr(c, "seed", None)'),
    "into a class of fields": (
        "from dataclasses import dataclass\nfrom omegaconf import OmegaConf\n"
        "@dataclass\nclass Config:\n    seed: int = None\n    other: int = None\n    train: dict = None\n"
        'c = OmegaConf.merge(OmegaConf.structured(Config), OmegaConf.load("conf/x.yaml"))',
        "c.seed",
    ),
    "as JSON": ('c = json.load(open("conf/x.json"))', 'c["seed"]'),
    "as TOML, which has no null": ('import toml\nc = toml.load("conf/x.toml")', 'c["seed"]'),
    "with attributes": ('from easydict import EasyDict\nc = EasyDict(yaml.safe_load(open("conf/x.yaml")))', "c.train.seed"),
    "as a namespace": ('c = argparse.Namespace(**yaml.safe_load(open("conf/x.yaml")))', "c.seed"),
    "as defaults": (
        'parser = argparse.ArgumentParser()\nparser.add_argument("--seed", type=int)\n'
        'parser.set_defaults(**yaml.safe_load(open("conf/x.yaml")))\nc = parser.parse_args()', "c.seed",
    ),
    "by OmegaConf": ('from omegaconf import OmegaConf\nc = OmegaConf.load("conf/x.yaml")', "c.train.seed"),
    "by a reference": ('from omegaconf import OmegaConf\nc = OmegaConf.load("conf/x.yaml")', "c.other"),
    "laid over another": (
        "from omegaconf import OmegaConf\n"
        'c = OmegaConf.merge(OmegaConf.create({"train": {"seed": None}}), OmegaConf.load("conf/x.yaml"))', "c.train.seed",
    ),
    "with what the command line says": (
        "from omegaconf import OmegaConf\n"
        'c = OmegaConf.merge(OmegaConf.load("conf/x.yaml"), OmegaConf.from_cli())', "c.train.seed",
    ),
}  # fmt: skip


def told(folder: Path, files: dict[str, str], *arguments: str) -> dict[str, Any]:
    """What is told of the one program among some files."""
    for path, text in {"pyproject.toml": "", **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    run = ["entries", "--all", "--format", "json", *(arguments or ("--no-cache",)), str(folder)]
    result = CliRunner().invoke(cli, run, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    (entry,) = json.loads(result.stdout.replace(f"{folder}/", ""))["entries"]
    found: dict[str, Any] = entry["generators"]["python"]
    return found


def files(load: str, seed: str, value: int | None) -> dict[str, str]:
    """A program that seeds by a value of a file, and these files."""
    said = {"seed": value, "other": "${train.seed}", "train": {"seed": value}}
    return {
        "train.py": PROGRAM.format(load=load, seed=seed),
        "conf/x.yaml": json.dumps(said),
        "conf/x.json": json.dumps(said),
        "conf/x.toml": "" if value is None else f"seed = {value}\n",
    }


@pytest.mark.parametrize(("load", "seed"), LOADS.values(), ids=LOADS)
def test_a_seed_in_a_file_counts_as_the_default_of_an_option(tmp_path: Path, load: str, seed: str) -> None:
    assert told(tmp_path, files(load, seed, 3))["state"] == "seeded"
    entry = told(tmp_path, files(load, seed, None))
    assert entry["state"] == "optional"
    if "toml" not in load:
        assert entry["option"] in {
            f"{name} of conf/x.{form}" for name in ("seed", "train.seed") for form in ("yaml", "json")
        }


UNKNOWN = {
    "a file that is not there": ('c = yaml.safe_load(open("conf/y.yaml"))', "conf/x.yaml", "seed: 3"),
    "a file outside": ('c = yaml.safe_load(open("/etc/x.yaml"))', "conf/x.yaml", "seed: 3"),
    "a path that climbs out": ('c = yaml.safe_load(open("../../x.yaml"))', "conf/x.yaml", "seed: 3"),
    "a file that is written": ('c = yaml.safe_load(open("conf/x.yaml", "w+"))', "conf/x.yaml", "seed: 3"),
    "no option has a default": (WITH_OPTION.format("required=True"), "conf/x.yaml", "seed: 3"),
    "broken": ('c = yaml.safe_load(open("conf/x.yaml"))', "conf/x.yaml", "seed: 3\n\t: ["),
    "no mapping": ('c = yaml.safe_load(open("conf/x.yaml"))', "conf/x.yaml", "3"),
    "an object of Python": (
        'c = yaml.unsafe_load(open("conf/x.yaml"))', "conf/x.yaml", "seed: !!python/object/apply:os.getpid []",
    ),
    "in itself": ('c = yaml.safe_load(open("conf/x.yaml"))', "conf/x.yaml", "&a {seed: *a, x: 3, y: *a}"),
    "aliases that grow": (
        'c = yaml.safe_load(open("conf/x.yaml"))', "conf/x.yaml",
        "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)) + "seed: 3",
    ),
    "too long": ('c = yaml.safe_load(open("conf/x.yaml"))', "conf/x.yaml", "seed: 3\n" + "#" * 300_000),
}  # fmt: skip


@pytest.mark.parametrize(("load", "path", "text"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_known_of_a_file_says_nothing(tmp_path: Path, load: str, path: str, text: str) -> None:
    found = told(tmp_path, {"train.py": PROGRAM.format(load=load, seed='c["seed"]'), path: text})
    assert (found["state"], found["option"]) == ("optional", None)


@pytest.mark.parametrize(
    ("test", "state"),
    [
        ('"seed" in c', "seeded"), ('"other" in c', "unseeded"), ('"other" not in c', "seeded"),
        ('hasattr(c, "seed")', "seeded"), ('hasattr(c, "other")', "unseeded"),
        ('c.get("other") is None', "seeded"), ('getattr(c, "other", 3) == 3', "seeded"),
    ],
)  # fmt: skip
def test_keys_that_a_file_has_and_lacks_are_known(tmp_path: Path, test: str, state: str) -> None:
    program = (
        "import random\nfrom omegaconf import OmegaConf\n"
        f'c = OmegaConf.load("x.yaml")\nif {test}:\n    random.seed(1)\nrandom.random()\n'
    )
    assert told(tmp_path, {"train.py": program, "x.yaml": "seed: 3"})["state"] == state


def test_what_is_laid_over_by_something_unknown_lacks_nothing(tmp_path: Path) -> None:
    program = (
        "import random, torch\nfrom omegaconf import OmegaConf\n"
        'c = OmegaConf.merge(OmegaConf.load("x.yaml"), OmegaConf.from_cli())\n'
        'if c.get("other") is not None:\n    random.seed(1)\nrandom.random()\n'
    )
    assert told(tmp_path, {"train.py": program, "x.yaml": "seed: 3"})["state"] == "optional"


def test_of_two_files_of_a_name_none_is_taken(tmp_path: Path) -> None:
    program = PROGRAM.format(load='c = yaml.safe_load(open("x.yaml"))', seed='c["seed"]')
    assert told(tmp_path, {"tools/train.py": program, "x.yaml": "seed: 3"})["state"] == "seeded"
    assert told(tmp_path, {"tools/x.yaml": "seed: 4"})["state"] == "optional"


def test_a_link_does_not_lead_out_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("seed: 3")
    project = tmp_path / "project"
    project.mkdir()
    (project / "x.yaml").symlink_to(tmp_path / "x.yaml")
    program = PROGRAM.format(load='c = yaml.safe_load(open("x.yaml"))', seed='c["seed"]')
    assert told(project, {"train.py": program})["state"] == "optional"


CHECKED = """
import torch, yaml
c = yaml.safe_load(open("conf/x.yaml"))
if c["seed"] is not None:
    torch.manual_seed(c["seed"])
layer = torch.nn.Linear(2, 2)
layer(torch.ones(2)).sum().backward()
"""


def test_an_edit_of_the_file_alone_is_seen_with_a_warm_cache(tmp_path: Path) -> None:
    def codes() -> set[str]:
        result = CliRunner().invoke(cli, ["check", "--format", "json", str(tmp_path)], catch_exceptions=False)
        return {finding["code"] for finding in json.loads(result.stdout)["findings"]}

    loaded = files('c = yaml.safe_load(open("conf/x.yaml"))', 'c["seed"]', 3)
    assert told(tmp_path, loaded, "--jobs", "1")["state"] == "seeded"
    (tmp_path / "conf/x.yaml").write_text("seed: null")
    assert told(tmp_path, {}, "--jobs", "1")["state"] == "optional"
    (tmp_path / "train.py").write_text(CHECKED)
    for text, found in (
        ("seed: 3", False),
        ("noise: true\nseed: [1]", False),
        ("seed: null", True),
        ("seed: 3", False),
    ):
        (tmp_path / "conf/x.yaml").write_text(text)
        for _ in range(2):
            assert ("DET101" in codes()) is found, text
    (tmp_path / "conf/x.yaml").unlink()
    assert "DET101" not in codes()


def test_a_workspace_sees_an_edit_of_the_file(tmp_path: Path) -> None:
    told(tmp_path, {"train.py": CHECKED, "conf/x.yaml": "seed: 3"})
    workspace = Workspace(configs.for_paths([tmp_path]), Workspace.of(tmp_path).torch)
    before = {judged.finding.code for judged in workspace.report().findings}
    assert not workspace.refresh()
    (tmp_path / "conf/x.yaml").write_text("seed: null")
    assert workspace.refresh()
    assert {judged.finding.code for judged in workspace.report().findings} - before == {"DET101"}


def test_texts_of_a_command_line_are_read_as_values() -> None:
    assert [documents.scalar(text) for text in ("3", "true", "null", "a b", "[1]", "{")] == [
        3,
        True,
        None,
        "a b",
        "[1]",
        "{",
    ]


def test_mappings_that_are_merged_again_and_again_are_given_up_or_merged_once() -> None:
    few = "a: &a {k: 1}\nb: {<<: [*a, *a], m: 2}\n"
    doubling = "a0: &a0 {k: 1}\n" + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 60))
    given = documents.Documents(documents.Given({"few.yaml": few, "many.yaml": doubling}))
    assert given.parsed("few.yaml", "yaml") == {"a": {"k": 1}, "b": {"k": 1, "m": 2}}
    once = {f"a{i}": {"k": 1} for i in range(60)}  # PyYAML from 6.0.4 on merges equal keys once
    assert given.parsed("many.yaml", "yaml") in (None, once)
