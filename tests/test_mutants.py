"""Mutants: what is undone in a small repository, and what comes of it when detlint reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tools.mutants.__main__ import main
from tests.tools.mutants.edits import mutated
from tests.tools.mutants.results import verdicts
from tests.tools.mutants.sampling import Limits, Mutant, all_mutants, planned

HEAD = "import torch\n"
# by class: a text with one site of it, and the text without what was done right
SITES = {
    "M1": ("torch.manual_seed(args.seed)\n", "pass\n"),
    "M2": ("x = torch.randperm(\n    9,\n    generator=g,\n)\n", "x = torch.randperm(\n    9\n,\n)\n"),
    "M3": ("loader = DataLoader(worker_init_fn=seeded, data=data)\n", "loader = DataLoader( data=data)\n"),
    "M4": ("import os\nfiles = sorted(os.listdir('data'))\n", "import os\nfiles = os.listdir('data')\n"),
    "M5": ("a, b = train_test_split(x, random_state=args.seed)\n", "a, b = train_test_split(x)\n"),
    "M6": ("for epoch in range(9):\n    sampler.set_epoch(epoch)\n", "for epoch in range(9):\n    pass\n"),
    "M7": ("torch.backends.cudnn.benchmark = False\n", "torch.backends.cudnn.benchmark = True\n"),
    "M8": ("g = torch.Generator()\ng.manual_seed(seed)\n", "g = torch.Generator()\ng.seed()\n"),
    "M9": ("total = torch.zeros(3).to(device)\ntotal += x\n", "total = torch.empty(3).to(device)\ntotal += x\n"),
    "M10": ("state = {\n    'rng': torch.get_rng_state(),\n    'x': x}\n", "state = {\n    \n    'x': x}\n"),
    "M14": (
        "class A:\n    def __init__(self):\n        self.w = Parameter(torch.empty(3))\n        ones_(self.w)\n",
        "class A:\n    def __init__(self):\n        self.w = Parameter(torch.empty(3))\n        pass\n",
    ),
    "M15": (
        "class A:\n    def __init__(self):\n        self.w = Parameter(torch.zeros(3))\n",
        "class A:\n    def __init__(self):\n        self.w = Parameter(torch.empty(3))\n",
    ),
    "M12": ("net = Dropout()\nnet.eval()\n", "net = Dropout()\npass\n"),
}
TWO = {  # and texts in which a site of one class is one of another, too
    "M11": (
        "set_seed(s)\nmodel = Net().to(d)  # new\nfit(model)\n",
        "pass\nmodel = Net().to(d)  # new\nset_seed(s)\nfit(model)\n",
    ),
    "M13": ("import time, os\nseed = 3\n", "import time, os\nseed = {}\n"),
}
NONE = {
    "it is seeded twice": "torch.manual_seed(0 + 1)\ntorch.manual_seed(1 + 1)\n",
    "a seed of None": "random.seed(None)\n",
    "a generator that the caller gives": "def draw(generator):\n    torch.rand(2, generator=generator)\n",
    "a worker function of None": "DataLoader(data, worker_init_fn=None)\n",
    "a list has an order": "files = sorted(names)\n",
    "a function of the file's own": "def train_test_split(x, random_state): ...\ntrain_test_split(x, random_state=a)\n",
    "zeros that are written as a whole": "x = torch.zeros(3)\nx[:] = y\nx += 1\n",
    "a model without dropout": "model.eval()\n",
    "no Python": "def\n",
}  # fmt: skip


def repository(root: Path, **files: str) -> Path:
    """A folder with files, named with two underscores for a slash."""
    for name, text in files.items():
        path = root / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def mutants_of(root: Path) -> list[Mutant]:
    return [mutant for some in all_mutants(root)[0].values() for mutant in some]


@pytest.mark.parametrize("code", [*SITES, *TWO])
def test_a_site_of_each_class_is_undone_and_nothing_else(code: str, tmp_path: Path) -> None:
    before, after = (SITES | TWO)[code]
    found = mutants_of(repository(tmp_path, train=HEAD + before))
    assert code in TWO or [mutant.code for mutant in found] == [code]
    (mutant,) = (mutant for mutant in found if mutant.code == code)
    text = mutated("train.py", (tmp_path / "train.py").read_bytes(), mutant.edits)
    values = ("int(time.time())", "os.getpid()", 'hash("run") % 2**32')
    assert text in [HEAD + after.format(value) if code == "M13" else HEAD + after for value in values]


@pytest.mark.parametrize("text", NONE.values(), ids=NONE)
def test_what_undoes_nothing_is_no_site(text: str, tmp_path: Path) -> None:
    assert mutants_of(repository(tmp_path, train=HEAD + text)) == []


def test_tests_and_programs_of_other_frameworks_are_left_alone(tmp_path: Path) -> None:
    root = repository(
        tmp_path,
        tests__train=HEAD + SITES["M1"][0],
        test_train=HEAD + SITES["M1"][0],
        node_modules__train=HEAD + SITES["M1"][0],
        flax="import jax\nimport random\nrandom.seed(0)\n",
    )
    assert mutants_of(root) == []


def test_a_cell_of_a_notebook_is_mutated_and_the_others_are_kept(tmp_path: Path) -> None:
    cells: list[dict[str, object]] = [
        {"cell_type": "markdown", "source": ["torch.manual_seed(0)"]},
        {"cell_type": "code", "source": ["!pip install torch\n", "import torch\n", "torch.manual_seed(a)"]},
        {"cell_type": "code", "source": "model = Net()\nmodel.fit()"},
        {"cell_type": "code", "source": "%%bash\ntorch.manual_seed(0)"},
    ]
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}}), encoding="utf-8")
    texts = {}
    for mutant in mutants_of(tmp_path):
        notebook = json.loads(mutated("train.ipynb", path.read_bytes(), mutant.edits))
        texts[mutant.code] = [cell["source"] for cell in notebook["cells"]]
    kept = [cell["source"] for cell in cells]
    first = ["!pip install torch\n", "import torch\n", "pass"]
    assert texts == {
        "M1": [kept[0], first, kept[2], kept[3]],
        "M11": [kept[0], first, "model = Net()\ntorch.manual_seed(a)\nmodel.fit()", kept[3]],
    }


def test_the_sample_is_the_same_each_time_and_keeps_its_limits(tmp_path: Path) -> None:
    many = "".join(f"net{n}.eval()\n" for n in range(9)) + "Dropout()\n"
    for name in ("a", "b", "c"):
        repository(tmp_path / name, train=HEAD + many, more=HEAD + many, seeded=HEAD + SITES["M1"][0])
    plan = planned(tmp_path, Limits())
    assert plan.sites == {"M1": 3, "M12": 54}
    assert [mutant.id for mutant in plan.mutants] == [mutant.id for mutant in planned(tmp_path, Limits(), 2).mutants]
    drawn = {name: [each for each in plan.mutants if each.repository == name] for name in ("a", "b", "c")}
    for mutants in drawn.values():
        assert [mutant.code for mutant in mutants] == ["M1"] + ["M12"] * 5
        assert {mutant.path for mutant in mutants[1:]} == {"train.py", "more.py"}
    assert len(planned(tmp_path, Limits(per_class=4)).mutants) == 3 + 4
    big = planned(tmp_path, Limits(big=100, per_big=2))
    assert len(big.mutants) == 3 * 2, "bytes of code from which a repository is big"
    assert sum(mutant.code == "M1" for mutant in big.mutants) == 3, "the rare class comes first"


def test_each_verdict_names_a_mutant_and_has_a_reason() -> None:
    assert all(id_[0] == "M" and not valid for id_, valid in verdicts().items())


PROGRAM = """\
import os
import torch
from torch import nn

torch.manual_seed(0 + 1)
torch.backends.cudnn.deterministic = True
files = sorted(os.listdir("data"))
model = nn.Linear(4, 4)
torch.save({"rng": torch.get_rng_state(), "model": model.state_dict()}, "out.pt")
labels = {name: number for number, name in enumerate(files)}
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    repository(folder / "owner+secret", hidden=PROGRAM)
    return folder


@pytest.mark.slow
def test_mutants_are_judged_by_what_detlint_newly_finds_and_are_run_once(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "open.json"
    command = [str(corpus), "--part", "open", "--jobs", "1", "--out", str(file)]
    assert main(command) == 0
    told = capsys.readouterr()
    stored = json.loads(file.read_text(encoding="utf-8"))
    results = {row["class"]: row["result"] for row in stored["mutants"].values()}
    assert results == {"M1": "caught", "M4": "caught", "M7": "noted", "M10": "missed"}
    assert stored["totals"]["M7"] == dict.fromkeys(stored["totals"]["M7"], 0) | {"sites": 1, "run": 1, "noted": 1}
    assert told.out.splitlines()[-1].split() == ["all", "4", "4", "0", "2", "1", "1", "0", "0"]
    assert len(told.err.splitlines()) == 4

    (sorting,) = (id_ for id_, row in stored["mutants"].items() if row["class"] == "M4")
    del stored["mutants"][sorting]
    file.write_text(json.dumps(stored), encoding="utf-8")  # as if it had been interrupted
    assert main(command) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert sorting in line
    assert set(json.loads(file.read_text(encoding="utf-8"))["mutants"]) == {*stored["mutants"], sorting}


@pytest.mark.slow
def test_of_the_counted_part_nothing_but_totals_is_told(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "counted.json"
    main([str(corpus), "--part", "counted", "--jobs", "1", "--limit-seconds", "0.01", "--out", str(file)])
    told = capsys.readouterr()
    text = file.read_text(encoding="utf-8") + told.out + told.err
    assert not any(word in text for word in ("secret", "hidden", "manual_seed", "listdir"))
    stored = json.loads(file.read_text(encoding="utf-8"))
    assert "mutants" not in stored
    assert {code: counts["failed"] for code, counts in stored["totals"].items() if counts["sites"]} == {
        "M1": 1, "M4": 1, "M7": 1, "M10": 1,
    }, "an analysis that takes too long is told"  # fmt: skip
    with pytest.raises(SystemExit):
        main([str(corpus), "--part", "counted", "--plan"])
