"""DET107: how grave its findings are, how safe its fixes, and that its tables are well formed."""

from __future__ import annotations

import pytest

from detlint import catalogue
from detlint.finding import Safety, Severity

from .support import report
from .test_rule_fixes import changes, fixed

KEYS = {
    "draw": "names parameter also position generators later sure grade noted varargs elements only held by_itself used holders "
    "loaders alone beside silencers fixed fixed_as fix origin remedy when unless",
    "element": "names unless",
    "use": "methods names",
    "stepped": "methods",
    "method": "made methods derived after never_after wrappers unwrapped parameter also generators position origin made_when "
    "made_unless through kept first result sure grade noted "
    "seedless newer older older_once silencers fixed fixed_as fix once remedy when unless",
}
NUMPY = "Seed with `np.random.seed(0)`"
PROGRAM = "Seed with `seed_everything(0)`"
ROWS = [(table, row) for table, rows in catalogue.load().tables["libraries"].items() for row in rows]


@pytest.mark.parametrize(
    ("call", "severity"),
    [
        ("ensemble.RandomForestClassifier()", Severity.ERROR),
        ("tree.DecisionTreeClassifier()", Severity.WARNING),
        ("linear_model.LogisticRegression(solver='saga')", Severity.WARNING),
    ],
)
def test_what_only_ties_and_rounding_leave_open_is_a_warning(call: str, severity: Severity) -> None:
    package = call.partition(".")[0]
    found = report({"train.py": f"from sklearn import {package}\n\n{call}.fit(x, y)\n"}, ("DET107",)).findings
    assert [judged.severity for judged in found] == [severity]


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("from sklearn.preprocessing import KBinsDiscretizer\nKBinsDiscretizer(5).fit(x)", Severity.NOTE),
        ("import wandb\nwandb.sweep({'method': 'random', 'parameters': {}})", Severity.NOTE),
        ("import wandb\nwandb.sweep({'method': 'grid', 'parameters': {}})", None),
        ("import gymnasium\nenv = gymnasium.make('CliffWalking-v1')\nenv.reset()", Severity.NOTE),
        ("import gymnasium\nenv = gymnasium.make('PongNoFrameskip-v4')\nenv.reset()", Severity.NOTE),
        ("import gymnasium\nenv = gymnasium.make('Pong-v5')\nenv.reset()", Severity.WARNING),
    ],
)
def test_what_mostly_repeats_is_a_note(text: str, severity: Severity | None) -> None:
    found = report({"train.py": text}, ("DET107",)).findings
    assert [judged.severity for judged in found] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("text", "safety", "title"),
    [
        ("shuffle([1, 2])\n", Safety.SAFE, "Pass `random_state=0`"),
        ("def main():\n    shuffle([1, 2])\n\n\nmain()\n", Safety.SAFE, "Pass `random_state=0`"),
        ("def mixed():\n    return shuffle([1, 2])\n\n\nprint(map(mixed, [1]), mixed())\n", Safety.SAFE, NUMPY),
        ("for _ in range(2):\n    shuffle([1, 2])\n", Safety.SAFE, NUMPY),
        ("from sklearn.cluster import KMeans\nfor k in range(2):\n    KMeans(k).fit(x)\n", Safety.SAFE, NUMPY),
        ("import optuna\nfor k in range(2):\n    optuna.create_study()\n", None, None),
        ("import dgl\nfor k in range(2):\n    dgl.sampling.random_walk(g, [0])\n", None, None),
        ("import networkx as nx\nnx.draw(graph)\n", Safety.SAFE, NUMPY),
        ("import torch\nfor _ in range(2):\n    shuffle([1, 2])\ntorch.rand(2)\n", Safety.SAFE, PROGRAM),
        (
            "import torch\nfor _ in range(2):\n    shuffle([1, 2])\n\n\ndef f():\n    torch.rand(2)\n\n\nf()\n",
            Safety.SAFE,
            PROGRAM,
        ),
        ("import torch\nfor _ in range(2):\n    shuffle([1, 2])\nimport os\ntorch.rand(2)\n", None, None),
    ],
)
def test_a_seed_is_passed_where_the_call_runs_once_else_the_program_is_seeded(
    text: str, safety: Safety | None, title: str | None
) -> None:
    found = report({"train.py": f"from sklearn.utils import shuffle\n\n{text}"}, ("DET107",)).findings
    fixes = [judged.finding.fix for judged in found]
    assert [(fix and fix.safety, fix and fix.title) for fix in fixes] == [(safety, title)]


def test_all_programs_that_draw_are_seeded_with_what_they_seed_torch_with() -> None:
    split = "from sklearn.utils import shuffle\n\n\ndef mixed():\n    return shuffle([1, 2])\n"
    main = "import torch\nfrom split import mixed\n\ntorch.manual_seed({})\nfor _ in range(2):\n    mixed()\n"
    other = "import numpy as np\nfrom split import mixed\n\nnp.random.seed(0)\nprint(mixed())\n"
    files = {"split.py": split, "train.py": main.format(1), "test.py": main.format(2), "seeded.py": other}
    (judged,) = report(files, ("DET107",)).findings
    fix = judged.finding.fix
    assert fix is not None
    texts = [(edit.place.path, edit.text) for edit in fix.edits]
    assert texts == [("train.py", "\nnp.random.seed(1)"), ("test.py", "\nnp.random.seed(2)")]


MADE = """
import gym
import gymnasium
from gym.wrappers import TimeLimit
import torch


"""
OLD, NEW = "state, reward, done, info = env.step(0)\n", "state, reward, done, cut, info = env.step(0)\n"
ENVIRONMENTS = [  # what is made and used, and the line that comes of the safe fix, of the unsafe one, or of none
    ("env = gym.make('A')\nstate = env.reset()\n" + OLD, "safe", "env.seed(0)"),
    ("env = gym.make('A')\nstate = env.reset()\n" + NEW, "safe", "state = env.reset(seed=0)"),
    ("env = gym.make('A')\nstate, info = env.reset()\n", "safe", "state, info = env.reset(seed=0)"),
    ("env = gym.make('A')\nstate = torch.tensor(env.reset())\n", "safe", "env.seed(0)"),
    ("env = gym.make('A')\nstate = env.reset()\ntorch.tensor(state)\n", "safe", "env.seed(0)"),
    ("env = gym.make('A')\nstate = env.reset()\nprint(state)\n", "", ""),
    ("env = gym.make('A')\nstate = env.reset()\nx, y = state\nprint(torch.tensor(state))\n", "", ""),
    ("env = gym.make('A')\nfor i in range(2):\n    env.reset()\n" + OLD + NEW, "", ""),
    ("env = gym.make('A')\nfor i in range(2):\n    env.reset()\n" + OLD, "safe", "env.seed(0)"),
    ("env = gym.make('A')\nfor i in range(2):\n    env.reset()\n" + NEW, "safe", "env.reset(seed=0)"),
    ("env = gymnasium.make('A')\nenv.reset()\n" + OLD, "safe", "env.reset(seed=0)"),
    ("env = TimeLimit(gym.make('A'))\nstate = env.reset()\n" + OLD, "unsafe", "env.seed(0)"),
    ("def play():\n    env = gymnasium.make('A')\n    env.reset()\n", "unsafe", "env.reset(seed=0)"),
    ("for name in 'AB':\n    env = gymnasium.make(name)\n    env.reset()\n", "unsafe", "env.reset(seed=0)"),
    ("class Agent:\n    def __init__(self):\n        self.env = gymnasium.make('A')\n\n    def reset(self):\n"
     "        self.env.reset()\n\n\nif __name__ == '__main__':\n    Agent().reset()\n", "safe", "self.env.reset(seed=0)"),
    ("if torch.rand(1) > 0:\n    env = gym.make('A')\nelse:\n    env = gym.make('B')\nenv.reset()\n" + OLD, "", ""),
    ("env = gym.make('A')\nenv.action_space.sample()\n", "safe", "env.action_space.seed(0)"),
    ("for name in 'AB':\n    env = gym.make(name)\n    env.action_space.sample()\n", "unsafe", "env.action_space.seed(0)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "safety", "line"), ENVIRONMENTS)
def test_an_environment_is_seeded_as_its_release_takes_it(text: str, safety: str, line: str) -> None:
    (judged,) = report({"train.py": MADE + text}, ("DET107",)).findings
    fix = judged.finding.fix
    assert (fix.safety.value if fix else "") == safety
    new = fixed(MADE + text, "DET107")
    assert changes(MADE + text, new) == ([line] if line else [])
    assert not report({"train.py": new}, ("DET107",)).findings or not line


@pytest.mark.parametrize(
    ("head", "call", "line", "safety"),
    [
        ("import optuna", "optuna.create_study(directions=['a', 'b'])",
         "optuna.create_study(directions=['a', 'b'], sampler=NSGAIISampler(seed=0))", "safe"),
        ("from hyperopt import fmin", "fmin(f, space, max_evals=3)", "fmin(f, space, max_evals=3, rstate=default_rng(0))",
         "unsafe"),
        ("from gensim.models import Word2Vec", "[Word2Vec(text, seed=n) for n in range(2)]",
         "[Word2Vec(text, seed=n, workers=1) for n in range(2)]", "unsafe"),
        ("import webdataset as wds", "wds.shuffle(5000, initial=10)", "wds.shuffle(5000, initial=10, rng=Random(0))", "unsafe"),
        ("import webdataset as wds", "wds.WebDataset('a').shuffle(5000)", "wds.WebDataset('a').shuffle(5000, rng=Random(0))",
         "unsafe"),
    ],
)  # fmt: skip
def test_what_takes_no_number_is_given_what_has_one(head: str, call: str, line: str, safety: str) -> None:
    text = f"{head}\n\nmade = {call}\n"
    (judged,) = report({"train.py": text}, ("DET107",)).findings
    assert judged.finding.fix is not None
    assert judged.finding.fix.safety.value == safety
    assert f"made = {line}" in changes(text, fixed(text, "DET107"))


def test_the_seed_that_the_program_has_is_passed() -> None:
    text = "from sklearn.utils import shuffle\n\nSEED = 7\nprint(shuffle([1, 2]))\n"
    (judged,) = report({"train.py": text}, ("DET107",)).findings
    assert judged.finding.fix is not None
    assert [edit.text for edit in judged.finding.fix.edits] == [", random_state=SEED"]


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("wds.DataPipeline(wds.shuffle(5000, initial=1000))", ["warning"]),
        ("wds.WebDataset('a.tar').shuffle(1000).decode('pil')", ["warning"]),
        ("wds.DataPipeline(wds.shuffle(5000, seed=1))", []),
        ("wds.DataPipeline(wds.shuffle(5000, rng=random.Random(1)))", []),
        ("wds.WebDataset('a.tar').shuffle(1000, seed=1)", []),
        ("wds.DataPipeline(wds.shuffle(5000, **options))", []),
    ],
)
def test_shards_are_shuffled_by_process_and_time_whatever_is_seeded(made: str, found: list[str]) -> None:
    text = f"import random\nimport torch\nimport webdataset as wds\n\ntorch.manual_seed(0)\nrandom.seed(0)\ndata = {made}\n"
    judged = report({"train.py": text}, ("DET107",)).findings
    assert [each.severity.value for each in judged] == found
    assert all("the number of the process and the time" in each.finding.message for each in judged)


@pytest.mark.parametrize(("used", "found"), [("data.Augment()", 1), ("data.load()", 0)])
def test_what_no_program_of_those_that_import_it_gets_to_draws_nothing(used: str, found: int) -> None:
    data = (
        "import albumentations as A\n\n\nclass Augment:\n    def __init__(self):\n"
        "        self.t = A.Compose([A.RandomCrop(8, 8)])\n\n\ndef load():\n    return 1\n"
    )
    main = f"import data\n\nif __name__ == '__main__':\n    print({used})\n"
    assert len(report({"data.py": data}, ("DET107",)).findings) == 1  # a library, which others may use
    assert len(report({"data.py": data, "train.py": main}, ("DET107",)).findings) == found


def test_a_row_has_known_keys_and_refers_to_what_there_is() -> None:
    elements = {row.id for row in catalogue.load().rows("libraries", "element")}
    generators = catalogue.load().rules["DET107"].data.keys()
    wrong = {}
    for table, row in ROWS:
        unknown = set(row.data) - {"id", "file", "release", "sources", "note", *KEYS[table].split()}
        unknown |= {*row.list("elements"), *row.list("by_itself")} - elements | {*row.list("generators")} - generators
        if not (row.text("parameter") or row.text("remedy") or table in ("element", "stepped", "use")):
            unknown.add("neither a parameter nor a remedy")
        if unknown:
            wrong[f"{table}: {row.id}"] = unknown
    assert len(ROWS) > 50 and wrong == {}
