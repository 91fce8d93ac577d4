"""Effects in program order, entry points, and what they draw before they seed."""

from __future__ import annotations

import pytest

from detlint import catalogue
from detlint.analyse import Models, Source, analyse
from detlint.link.libraries.library import Interpreter
from detlint.listing import Around
from detlint.settling.settling import answer, link, may_say_anything
from detlint.sources.console_scripts import Command
from tests.support import codes, projects, report

HEAD = "import random\nimport numpy as np\nimport torch\nfrom torch import nn\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("torch.rand(1)", ["DET101"]),
        ("torch.manual_seed(0)\ntorch.rand(1)", []),
        ("torch.manual_seed(0)\nnp.random.rand(1)\nrandom.random()", ["DET102", "DET103"]),
        ("torch.rand(1)\ntorch.manual_seed(0)", ["DET106"]),
        ("if c:\n    torch.manual_seed(0)\ntorch.rand(1)", []),
        ("if c:\n    torch.manual_seed(0)\nelse:\n    torch.manual_seed(1)\ntorch.rand(1)", []),
        ("if c:\n    raise SystemExit\ntorch.rand(1)", ["DET101"]),
        ("try:\n    torch.rand(1)\nexcept E:\n    pass", ["DET101"]),
        ("for i in range(3):\n    torch.rand(1)\n    torch.manual_seed(i)", ["DET106"]),
        ("while True:\n    torch.rand(1)", ["DET101"]),
        ("with open('x') as f:\n    torch.rand(1)", ["DET101"]),
        ("def seed():\n    torch.manual_seed(0)\nseed()\ntorch.rand(1)", []),
        ("def draw():\n    torch.rand(1)\ndraw()\ndraw()", ["DET101"]),
        ("def draw():\n    torch.rand(1)\nprint(draw)", []),
        ("def f(n):\n    f(n - 1)\n    torch.rand(1)\nf(3)", ["DET101"]),
        ("def f():\n    return\n    torch.rand(1)\nf()", []),
        ("class A:\n    def __init__(self):\n        self.w = torch.rand(1)\nprint(A())", ["DET101"]),
        ("class A:\n    def go(self):\n        torch.rand(1)\na = A()\na.go()", ["DET101"]),
        ("class A(nn.Module):\n    def forward(self, x):\n        return torch.rand(1)\nm = A()\nprint(m(1))", ["DET101"]),
        ("print(torch.rand(1, generator=torch.Generator()))", []),
        ("print([torch.rand(1) for _ in range(3)])", ["DET101"]),
        ("print(nn.Dropout(0.5), nn.BatchNorm1d(3), nn.Linear(1, 1, device='meta'))", []),
        ("from torch.utils.data import DataLoader\nfor x in DataLoader(d, shuffle=True):\n    pass", ["DET101", "DET201"]),
        ("from torch.utils.data import DataLoader\nfor x in DataLoader(d):\n    pass", []),
        ("from helpers_of_others import set_seed\nset_seed(1)\ntorch.rand(1)", []),
        ("np.random.seed()\nnp.random.rand(1)", ["DET105"]),
        ("torch.seed()\ntorch.rand(1)", ["DET105"]),
        ("seed = random.randint(0, 9)\nrandom.seed(seed)\nprint(random.random())", ["DET105"]),
        ("def main():\n    torch.rand(1)\nif __name__ == '__main__':\n    main()", ["DET101"]),
        ("def main():\n    torch.rand(1)", []),
    ],
)  # fmt: skip
def test_what_a_script_draws_before_it_seeds(body: str, expected: list[str]) -> None:
    selected = ("DET101", "DET102", "DET103", "DET105", "DET106", "DET201")
    assert sorted(code for _, code in codes(HEAD + body + "\n", *selected)) == expected


def test_the_first_draw_is_reported_with_the_path_to_it() -> None:
    found = report(
        {
            "train.py": "import torch\ndef main():\n    torch.rand(1)\n    torch.randn(1)\nif __name__ == '__main__':\n    main()\n"
        }
    )
    (judged,) = found.findings
    assert judged.finding.place.line == 3
    assert [(r.place.line, r.message) for r in judged.finding.related] == [
        (6, "called from here: `main`"),
        (4, "`torch.randn` draws too"),
    ]


def test_scripts_of_one_name_are_entry_points_each() -> None:
    text = "import torch\nprint(torch.rand(1))\n"
    found = report({"a/main.py": text, "b/main.py": text})
    assert found.entry_points == 0  # both are modules of packages here: nothing runs them
    sources = {"a.py": text, "b.py": text}
    assert [j.finding.place.path for j in report(sources).findings] == ["a.py", "b.py"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"train.py": "import torch\nfrom lib import f\nf()\nprint(torch.rand(1))\n", "lib.py": "def f(): ...\n"}, ["train.py"]),
        ({"train.py": "import torch\nfrom lib import f\nf()\nprint(torch.rand(1))\n",
          "lib.py": "import torch\ndef f():\n    torch.manual_seed(0)\n"}, []),
        ({"train.py": "import torch\nfrom lib import f\nf()\nprint(torch.rand(1))\n", "lib.py": "from deep import f\n",
          "deep.py": "import random, torch\ndef f():\n    if c:\n        torch.manual_seed(0)\n"}, []),
        ({"train.py": "import torch\nfrom lib import f\nf()\nprint(torch.rand(1))\n",
          "lib.py": "import random\ndef f():\n    random.seed(0)\n"}, ["train.py"]),
        ({"train.py": "import torch\nimport lib\nprint(torch.rand(1))\n", "lib.py": "def f(): ...\n"}, ["train.py"]),
        ({"train.py": "import torch\nimport lib\nprint(torch.rand(1))\n",
          "lib.py": "import torch\ntorch.manual_seed(0)\n"}, []),
    ],
)  # fmt: skip
def test_what_may_seed_elsewhere_keeps_silent(files: dict[str, str], expected: list[str]) -> None:
    assert [j.finding.place.path for j in report(files, ("DET101",)).findings] == expected


def test_a_self_check_is_a_note() -> None:
    layer = "import torch\nif __name__ == '__main__':\n    print(torch.rand(1))\n"
    found = report({"pkg/layer.py": layer, "train.py": layer}, ("DET101",))
    assert [j.severity.value for j in found.findings] == ["note", "error"]


def test_a_mode_is_tried_out_too() -> None:
    layer = "from torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        self.a = nn.Linear(1, 1)\n"
    block = "if __name__ == '__main__':\n    net = Net()\n    net.train()\n    print(net)\n"
    found = report({"pkg/layer.py": layer + block, "train.py": layer + block.replace("train()", "step()")}, ("DET101",))
    assert [j.severity.value for j in found.findings] == ["note", "error"]


_TRIED = """import torch
def zeros():
    return torch.nn.Linear(2, 2)
def trial():
    torch.backends.cudnn.benchmark = True
    torch.nn.Conv2d(1, 1, 1).cuda()
    x = torch.empty(2)
    print(x, {word: number for number, word in enumerate(set(["a", "b"]))})
"""


@pytest.mark.parametrize(
    ("block", "train", "severities"),
    [
        ("trial()", "from layer import zeros\nprint(zeros())\n", {"note"}),
        ("trial()", "import layer\nprint(layer.zeros())\nlayer.trial()\n", {"warning", "error"}),
        ("trial()\n    torch.save({}, 'x.pt')", "from layer import zeros\nprint(zeros())\n", {"warning", "error"}),
    ],
    ids=["tried out", "run by a program", "saves"],
)
def test_what_only_tries_out_a_file_is_noted(block: str, train: str, severities: set[str]) -> None:
    layer = f"{_TRIED}if __name__ == '__main__':\n    {block}\n"
    found = report({"layer.py": layer, "train.py": train}, ("DET401", "DET501", "DET601")).findings
    assert {j.finding.code for j in found} == {"DET401", "DET501", "DET601"}
    assert {j.severity.value for j in found} == severities


_CHOICE = """import argparse
import numpy as np
from settings import Settings
def mixed(wanted):
    if {test}:
        return np.random.default_rng(0).beta(1.0, 1.0)
    return np.random.default_rng().beta(1.0, 1.0)
parser = argparse.ArgumentParser()
parser.add_argument("--free", action="store_true")
print(mixed(parser.parse_args()))
"""


@pytest.mark.parametrize(
    ("test", "severity"),
    [
        ("Settings.fixed", "note"),
        ("not Settings.fixed", "error"),
        ("not wanted.free", "error"),
        ("Settings.kind == 'beta'", "error"),
        ("wanted.unknown()", "error"),
    ],
    ids=["never", "always", "with an option", "chosen by a name", "unknown"],
)
def test_what_no_program_runs_is_a_note(test: str, severity: str) -> None:
    settings = "class Settings:\n    fixed = True\n    kind = 'beta'\n"
    (judged,) = report({"train.py": _CHOICE.format(test=test), "settings.py": settings}, ("DET104",)).findings
    assert judged.severity.value == severity


def test_a_script_that_only_copies_files_runs_what_it_calls() -> None:
    text = "import glob, random, shutil\ndef go(test):\n    if test:\n        return\n    files = glob.glob('*')\n"
    text += "    random.Random(0).shuffle(files)\n    shutil.copy(files[0], 'first')\ngo(False)\n"
    (judged,) = report({"copy_files.py": text}, ("DET602",)).findings
    assert judged.severity.value == "warning"


@pytest.mark.parametrize(("seed", "severity"), [("", "warning"), ("torch.manual_seed(0)", "note")])
def test_an_open_question_decides_the_severity(seed: str, severity: str) -> None:
    text = f"import torch\nfrom torch.utils.data import random_split\n{seed}\nprint(random_split(d, [1, 2]))\n"
    found = report({"train.py": text}, ("DET204",))
    assert [j.severity.value for j in found.findings] == [severity]


@pytest.mark.parametrize(("seed", "found"), [("", ("warning", "safe")), ("torch.manual_seed(0)", ("note", "unsafe"))])
@pytest.mark.parametrize("made", ["DataLoader(d, shuffle=True)", "DataLoader(d, sampler=RandomSampler(d))"])
def test_a_seed_after_a_loader_is_made_decides_its_order(made: str, seed: str, found: tuple[str, str]) -> None:
    text = f"import torch\nfrom torch.utils.data import DataLoader, RandomSampler\nloader = {made}\n{seed}\nprint([*loader])\n"
    (judged,) = report({"train.py": text}, ("DET201", "DET205")).findings
    fix = judged.finding.fix
    assert fix is not None
    assert (judged.severity.value, fix.safety.value) == found


@pytest.mark.parametrize("before", ["print(next(iter(loader)))", "for batch in loader:\n    print(batch)"])
def test_a_loader_that_is_iterated_before_the_seed_too_stays_a_warning(before: str) -> None:
    made = "import torch\nfrom torch.utils.data import DataLoader\nloader = DataLoader(d, shuffle=True)\n"
    found = report({"train.py": f"{made}{before}\ntorch.manual_seed(0)\nprint([*loader])\n"}, ("DET201",))
    assert [j.severity.value for j in found.findings] == ["warning"]


def test_a_program_that_is_too_deep_to_follow_costs_that_program_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_deep(self: Interpreter, statements: object) -> None:
        if self.script == "deep.py":
            raise RecursionError
        original(self, statements)  # type: ignore[arg-type]

    original = Interpreter.block
    monkeypatch.setattr(Interpreter, "block", too_deep)
    text = "import torch\nprint(torch.rand(1))\n"
    found = report({"deep.py": text, "train.py": text}, ("DET101",))
    assert [j.finding.place.path for j in found.findings] == ["train.py"]
    assert found.errors == ("deep.py: the program that starts here is nested too deeply to be followed",)


def test_a_process_is_the_program_that_starts_it() -> None:
    found = report(
        {
            "main.py": "import torch\nfrom multiprocessing import Process\nfrom work import collect\n"
            "print(torch.rand(1))\ntorch.manual_seed(0)\nprocess = Process(target=collect)\nprocess.start()\n",
            "work.py": "import torch\ndef collect():\n    print(torch.rand(2))\n",
        },
        ("DET106",),
    )
    (judged,) = found.findings
    assert [related.message for related in judged.finding.related] == ["`torch.rand` draws before it"]


def test_the_gravest_program_speaks_for_a_place_that_several_share() -> None:
    load = "import torch\nfrom net import make\nif __name__ == '__main__':\n    net = make()\n"
    found = report(
        {
            "net.py": "from torch import nn\ndef make():\n    return nn.Linear(2, 2)\n",
            "a_eval.py": f"{load}    net.load_state_dict(torch.load('x'))\n    print(net(torch.ones(2)))\n",
            "b_train.py": f"{load}    net(torch.ones(2)).sum().backward()\n    torch.save(net, 'x')\n",
        },
        ("DET101",),
    )
    (judged,) = found.findings
    assert (judged.finding.place.path, judged.finding.place.line) == ("net.py", 3)
    assert judged.severity.value == "error"
    assert ("a_eval.py", "this program gets there too") in {(r.place.path, r.message) for r in judged.finding.related}


@pytest.mark.parametrize("commands", [(), (Command("train", "pkg.train:main"),)])
def test_files_that_may_start_or_ask_nothing_are_answered_without_being_linked(
    commands: tuple[Command, ...],
) -> None:
    torch, around = catalogue.load().newest_release(), Around(commands)
    every, spared = frozenset(catalogue.load().rules), 0
    for number, (path, text) in enumerate(file for each in projects() for file in each.files.items()):
        source = Source(path, path.removesuffix(".py").replace("/", "."), text)
        collected = [analyse(source, every, torch)] if number % 5 == 0 else []
        if collected and not may_say_anything(collected, around):
            spared += 1
            models = Models({path: source}, torch)
            linked = link(collected, torch, around)
            assert answer(collected, every, torch, models, around, linked) == answer(
                collected, every, torch, models, around
            )
    assert spared > 5
