"""Real programs run twice: what counts as a difference, what is kept of a run, and whose a finding is."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from .tools.run_twice import recipes, standing
from .tools.run_twice.child.masking import masked
from .tools.run_twice.comparing import Comparison, compare
from .tools.run_twice.fixed import Fixed
from .tools.run_twice.measuring import Measure
from .tools.run_twice.recipes import Program
from .tools.run_twice.running import Place, Run
from .tools.run_twice.totals import line, totals

RECIPES = [each for part in recipes.PARTS for each in recipes.read(part)]


def runs(folder: Path, script: str, *, seconds: float = 600) -> tuple[Run, Run]:
    """Two runs of a script in a repository that has a folder of twelve files, too."""
    checkout = folder / "repository"
    (checkout / "data").mkdir(parents=True)
    (checkout / "main.py").write_text(script, encoding="utf-8")
    for name in "abcdefghijkl":
        (checkout / "data" / f"{name}.txt").write_text(name, encoding="utf-8")
    place = Place(Program("one", "owner/name", ("main.py",)), checkout, folder / "place", sys.executable)
    return place.run(seconds), place.run(seconds)


def twice(folder: Path, script: str, *, seconds: float = 600) -> Comparison:
    """What two runs of a script differ in."""
    return compare(*runs(folder, script, seconds=seconds))


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        pytest.param("import os\nprint(os.listdir('data'))", id="listdir"),
        pytest.param("import os\nprint([each.name for each in os.scandir('data')])", id="scandir"),
        pytest.param("import os\nprint([files for _, _, files in os.walk('data')])", id="walk"),
        pytest.param("import glob\nprint(glob.glob('data/*.txt'))", id="glob"),
        pytest.param("import pathlib\nprint(list(pathlib.Path('data').iterdir()))", id="iterdir"),
        pytest.param("import pathlib\nprint(list(pathlib.Path('data').rglob('*.txt')))", id="rglob"),
        pytest.param("print(set('abcdefghijkl'))", id="hashes"),
        pytest.param("import random\nprint(random.random())", id="unseeded"),
    ],
)
def test_output_differs_by_what_differs_between_runs(script: str, tmp_path: Path) -> None:
    assert twice(tmp_path, script).differs == ("output",)


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        pytest.param("import os\nprint(sorted(os.listdir('data')))", id="sorted"),
        pytest.param("import random\nrandom.seed(0)\nprint(random.random())", id="seeded"),
        pytest.param("import time\nprint('took', time.perf_counter(), 's')", id="duration"),
        pytest.param("import pathlib\nprint(pathlib.Path('data').resolve())", id="path"),
        pytest.param("import os\nprint(os.environ['HOME'], os.environ['TMPDIR'])", id="folders"),
    ],
)
def test_output_is_equal(script: str, tmp_path: Path) -> None:
    found = twice(tmp_path, script)
    assert found.equal
    assert found.seen["output"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("raise KeyError('such')", "exit status 1: KeyError: 'such'"),
        ("import time\ntime.sleep(60)", "timed out"),
        ("import os\nos._exit(0)", "ended without a record"),
    ],
)
def test_what_does_not_run_is_not_compared(script: str, error: str, tmp_path: Path) -> None:
    found = twice(tmp_path, script, seconds=1 if "sleep" in script else 600)
    assert (found.error, found.equal, found.differs) == (error, False, ())


@pytest.mark.slow
def test_each_run_begins_with_fresh_files(tmp_path: Path) -> None:
    found = twice(tmp_path, "import os\nprint(os.path.exists('left'))\nopen('left', 'w').close()")
    assert found.equal


@pytest.mark.slow
def test_files_that_are_loaded_are_recorded(tmp_path: Path) -> None:
    (tmp_path / "repository/package").mkdir(parents=True)
    (tmp_path / "repository/package/__init__.py").touch()
    (tmp_path / "repository/package/inner.py").write_text("import os\nos.chdir('/')\n", encoding="utf-8")
    (tmp_path / "repository/package/unused.py").touch()
    (tmp_path / "repository/main.py").write_text("import package.inner", encoding="utf-8")
    program = Program("one", "owner/name", ("main.py",))
    run = Place(program, tmp_path / "repository", tmp_path / "place", sys.executable).run(60)
    assert run.loaded == ("main.py", "package/__init__.py", "package/inner.py")


TRAINING = """
import gzip, json, pickle, time
import numpy as np
import torch

class Own:
    def __init__(self, value):
        self.value = value

def train():
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(torch.ones(4, 2)).sum().backward()
    optimizer.step()
    return model

"""
SEEDED = """
torch.nn.Linear(2, 1)
torch.manual_seed(0)
kept = torch.nn.Linear(2, 1)
train()
torch.save(train().state_dict(), "model.pt")

torch.save({"x": torch.ones(3), "names": {"a", "b", "c"}}, "x.pt")
np.savez("x.npz", x=np.ones(3))
pickle.dump([Own(1), {"a", "b", "c"}], open("x.pkl", "wb"))
with gzip.GzipFile("x.gz", "wb", mtime=time.time_ns() // 1000 % 2**32) as file:
    file.write(b"text")
open("log.txt", "w").write(time.strftime("%Y-%m-%d %H:%M:%S") + f" {time.perf_counter()} s, loss 0.5")
print("done")
"""
UNSEEDED = """
train()
torch.save(train(), "model.pt")

torch.save([torch.rand(1)], "x.pt")
np.save("x.npy", torch.rand(1).numpy())
pickle.dump(Own(torch.rand(1).item()), open("x.pkl", "wb"))
open("x.json", "w").write(json.dumps(torch.rand(1).item()))
print("done")
"""
Runs = tuple[Run, Run]


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Two runs that make the same, of all kinds: one for all, as each imports torch, and so does reading its files."""
    return runs(tmp_path_factory.mktemp("seeded"), TRAINING + SEEDED)


@pytest.fixture(scope="module")
def unseeded(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Two runs that make something else each time."""
    return runs(tmp_path_factory.mktemp("unseeded"), TRAINING + UNSEEDED)


def compared(two: Runs, *files: str, parameters: bool = False) -> Comparison:
    """What two runs differ in, had they saved these files alone, and perhaps no model."""
    one, other = (
        replace(
            run,
            parameters=run.parameters if parameters else (),
            saved=tuple(each for each in run.saved if each[0] in files),
        )
        for run in two
    )
    return compare(one, other)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "saved", "differs"),
    [
        pytest.param("seeded", "", (), id="seeded"),
        pytest.param("unseeded", "", ("parameters",), id="unseeded"),
        pytest.param("unseeded", "model.pt", ("parameters", "saved"), id="saved"),
        pytest.param("seeded", "model.pt", (), id="saved-seeded"),
    ],
)
def test_parameters_of_models_that_are_gone(
    of: str, saved: str, differs: Sequence[str], request: pytest.FixtureRequest
) -> None:
    found = compared(request.getfixturevalue(of), saved, parameters=True)
    assert not found.error
    assert found.differs == differs
    kept = 2 if of == "seeded" else 0
    assert found.seen == {"parameters": 2 * 4 + kept, "saved": bool(saved), "output": 1}
    assert not differs or found.first.startswith("4 tensors")  # the momenta are the same


@pytest.mark.slow
def test_a_model_that_is_thrown_away_is_no_result(seeded: Runs) -> None:
    found = compared(seeded, parameters=True)
    assert found.equal, (found.error, found.first)
    assert found.seen["parameters"] == 2 + 2 * 4


@pytest.mark.slow
def test_files_are_compared_by_what_they_hold(seeded: Runs) -> None:
    found = compare(*seeded)
    assert found.equal, (found.error, found.first)
    assert found.seen["saved"] == 5 + 1
    same = [path for path, _ in seeded[0].saved]
    assert same == ["log.txt", "model.pt", "x.gz", "x.npz", "x.pkl", "x.pt"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "saved",
    [
        pytest.param("x.pt", id="torch"),
        pytest.param("x.npy", id="numpy"),
        pytest.param("x.pkl", id="pickle"),
        pytest.param("x.json", id="text"),
    ],
)
def test_files_differ_by_a_number(saved: str, unseeded: Runs) -> None:
    found = compared(unseeded, saved)
    assert (found.error, found.differs) == ("", ("saved",))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("iter 3: loss 2.1, time 12.30ms, mfu 1.20%", "iter 3: loss 2.1, time 1048.1ms, mfu -100.00%"),
        ("| ms/batch  5.12 | loss 3.10", "| ms/batch 115.12 | loss 3.10"),
        ("Epoch: 0020 (0.1234s) loss: 1.5", "Epoch: 0020 (12.34s) loss: 1.5"),
        ("10/10 [00:01<00:00, 7.21it/s]", "10/10 [01:01<00:10,  2.38s/it]"),
        ("2024-05-01 10:11:12,345 - root - INFO - on", "2026-11-01 20:11:12,001 - root - INFO - on"),
        ("It took 0.5 seconds to load", "It took 1.25e-05 seconds to load"),
        ("Time per iteration: 3.5", "Time per iteration: 12"),
        ('{"train_time": 1, "elapsed (s)": 2.5}', '{"train_time": 1, "elapsed (s)": 3}'),
        ("lr:1e-07 tokens_per_second_per_gpu:1129.5", "lr:1e-07 tokens_per_second_per_gpu:87"),
        (
            "{'eval_runtime': '0.01', 'eval_steps_per_second': '861.2'}",
            "{'eval_runtime': '1', 'eval_steps_per_second': '3'}",
        ),
        ("Batch (t): 9.920, 0.41/s, 0.41/s/gpu", "Batch (t): 30.9, 0.13/s, 0.13/s/gpu"),
        ("12m 3s (- 1m 2s)", "1m 13s (- 0m 2s)"),
        ("1,234 tokens/sec", "834.5 tokens/sec"),
        ("runs/May01_10-11-12_host", "runs/Nov23_20-01-02_host"),
        ("<Net object at 0x7f3a5c0d1e80>", "<Net object at 0x7fa41b0d1e81>"),
        ("pid 1234: done", "pid 77: done"),
        ("\r10%\r50%\rdone", "\r33%\rdone"),
    ],
)
def test_timings_are_no_difference(one: str, other: str) -> None:
    assert masked(one) == masked(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("loss 0.123", "loss 0.124"),
        ("step 3", "step 4"),
        ("time step 3", "time step 4"),
        ("accuracy: 12.5%", "accuracy: 12.6%"),
        ("parameters: 10.65M", "parameters: 10.66M"),
        ("[1, 2, 3]", "[1, 3, 2]"),
        ("iter 3: loss 2.1, time 12.30ms", "iter 3: loss 2.2, time 12.30ms"),
        ("5 samples", "6 samples"),
        ("accuracy(s) 0.5, loss 3/4", "accuracy(s) 0.6, loss 3/4"),
        ("psnr: 12.5 dB", "psnr: 13.5 dB"),
    ],
)
def test_numbers_are_a_difference(one: str, other: str) -> None:
    assert masked(one) != masked(other)


def test_runs_are_compared_by_kind() -> None:
    one = Run(1.0, parameters=("a", "a", "b"), saved=(("x", "1"),), output=("loss 1",))
    other = Run(2.0, parameters=("a", "b", "b"), saved=(("x", "1"), ("y", "2")), output=("loss 1",))
    assert compare(one, one).equal
    assert compare(one, other).differs == ("parameters", "saved")
    assert compare(one, other).first == "1 tensors; saved: y"
    assert compare(one, Run(1.0, "timed out")).error == "timed out"


def finding(path: str, code: str = "DET201", severity: str = "error", breaks: str = "run-to-run") -> dict[str, Any]:
    return {"code": code, "severity": severity, "path": path, "related": [], "breaks": [breaks]}


def test_a_finding_is_a_programs_where_it_lies_in_what_it_loads() -> None:
    found = [finding("main.py"), finding("other.py"), finding("library.py"), finding("main.py", "DET101")]
    assert standing.of_program(found, ["main.py", "library.py"]) == [found[0], found[2]]


def test_generators_are_seeded_or_not_by_the_row_of_the_script() -> None:
    def row(path: str, **states: str) -> dict[str, Any]:
        return {"path": path, "generators": {name: {"state": state} for name, state in states.items()}}

    rows = [row("a.py", torch="late", numpy="seeded", python="unused"), row("a.py", python="optional")]
    assert standing.not_seeded([*rows, row("b.py", numpy="unseeded")], "a.py") == ["python", "torch"]
    assert standing.not_seeded(rows, "") == []


def test_the_script_is_a_file_or_a_module_that_was_loaded() -> None:
    def script(*command: str) -> str:
        return Program("a", "b/c", command, folder="examples").script(["src/pkg/main.py", "src/pkg/tool/__main__.py"])

    assert script("../train.py", "-m", "x") == "train.py"
    assert (script("-m", "pkg.main"), script("-m", "pkg.tool")) == ("src/pkg/main.py", "src/pkg/tool/__main__.py")
    assert script("-m", "elsewhere") == ""


def test_notes_resuming_and_kernels_of_gpus_name_no_cause_of_two_runs() -> None:
    assert standing.names_a_cause([finding("a.py")])
    assert standing.names_a_cause([finding("a.py", severity="warning", breaks="cross-machine")])
    assert not standing.names_a_cause([finding("a.py", severity="note"), finding("a.py", breaks="resume")])
    assert not standing.names_a_cause([finding("a.py", "DET301"), finding("a.py", "DET501")])


def test_totals_set_runs_beside_what_is_named() -> None:
    def row(name: str, differs: Sequence[str], named: bool, **more: Any) -> dict[str, Any]:
        ran = {"ran": True, "equal": not differs, "differs": differs, "named": named, "not seeded": []}
        return {"name": name, "repository": "owner/name", "codes": {"error": {}}, **ran, **more}

    counted = totals(
        [
            row("a", ["output"], True, bisect={"verdict": "diverged", "code": "DET101"}, repeat={"verdict": "repeats"}),
            row(
                "b",
                ["parameters", "output"],
                False,
                bisect={"verdict": "equal"},
                repeat={"verdict": "differs", "causes": ["the time decides"]},
                fixed={"ran": True, "equal": True},
            ),
            row("c", [], True, fixed={"ran": True, "equal": True, "as before": True}),
            row("d", [], False, fixed={"ran": False}),
            row("f", [], True, codes={"error": {"DET301": 1, "DET401": 1}}),
            row("g", [], True, codes={"error": {"DET301": 1}}, **{"not seeded": ["torch"]}),
            {"name": "e", "repository": "owner/other", "ran": False, "error": "timed out"},
        ]
    )
    assert counted == {
        "programs": 7,
        "repositories": 2,
        "did not run": 1,
        "equal": 4,
        "differ": 2,
        "differ in": {"parameters": 1, "saved": 0, "output": 2},
        "differ, named": 1,
        "differ, silent": 1,
        "equal, named": 3,
        "equal, silent": 1,
        "equal, an error": 1,
        "equal, a generator that is not seeded in time": 1,
        "bisect": {"diverged, names a rule": 1, "equal": 1},
        "repeat": {"differs, a cause is named": 1, "repeats": 1},
        "differ, fixed": {"equal": 1},
        "equal, fixed": {"as before": 1, "did not run": 1},
    }


@pytest.mark.slow
def test_programs_run_again_with_their_repository_fixed(tmp_path: Path) -> None:
    checkout, folder = tmp_path / "owner+name", tmp_path / "fixed"
    checkout.mkdir()
    folder.mkdir()
    scripts = {
        "unseeded": "import random\nprint(random.random())\n",
        "seeded": "import random\nrandom.seed(3)\nprint(random.random())\n",
        "timed": "import time\nprint(hash(time.time()))\n",
        "ordered": "import torch\nfrom torch.utils.data import DataLoader\n\ntorch.manual_seed(3)\n"
        "print(list(DataLoader(torch.arange(9), shuffle=True)))\n",  # an unsafe fix would give another order
    }
    for name, text in scripts.items():
        (checkout / f"{name}.py").write_text(text, encoding="utf-8")
    measure = Measure(tmp_path, sys.executable, static=False, fixed=Fixed(folder, "both"))
    rows = [measure.row(Program(name, "owner/name", (f"{name}.py",))) for name in scripts]
    counted = totals(rows)
    assert (counted["differ, fixed"], counted["equal, fixed"]) == ({"differs": 1, "equal": 1}, {"as before": 2})
    assert "after fixes: differs [output:" in line(rows[2])


def test_recipes_name_repositories_and_data_that_can_be_made() -> None:
    assert [each.name for each in RECIPES if each.repository.count("/") != 1] == []
    made = set()
    for path in (recipes.FOLDER / "data").glob("*.py"):
        functions = re.findall(r"^def (\w+)\(root: Path", path.read_text(encoding="utf-8"), re.M)
        made |= {f"{path.stem}.{function}" for function in functions}
    assert [each.name for each in RECIPES if each.data and each.data not in made] == []


def test_a_recipe_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open.toml").write_text(
        '[[program]]\nname = "a"\nrepository = "b/c"\ncommand = []\nseed = 1\n', "utf-8"
    )
    with pytest.raises(ValueError, match="seed"):
        recipes.read("open", tmp_path)
