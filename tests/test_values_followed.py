"""Programs are followed past attributes, items and arguments of which little is known: each draws in the end."""

from __future__ import annotations

import pytest

from tests.solved import solved

OPTIONS = (
    "import argparse, random\np = argparse.ArgumentParser()\np.add_argument('--size', default=3)\na = p.parse_args()\n"
)


def drawn(text: str) -> list[tuple[str, str]]:
    """What a program draws: streams and words, in order."""
    found = solved({"main.py": text}).draws("main.py", "seeded", "unseeded", "reseeded", "unsure")
    return [(stream, word) for stream, _, _, word, _ in found]


@pytest.mark.parametrize(
    "asks",
    [
        "if hasattr(a, 'seed'):\n    random.seed(a.seed)\n",
        "note = dict(seed=1)\nif hasattr(a, 'seed'):\n    random.seed(a.seed)\n",
        "if getattr(a, 'seed', None) is not None:\n    random.seed(a.seed)\n",
        "note = dict(seed=1)\nif getattr(a, 'seed', None) is not None:\n    random.seed(a.seed)\n",
    ],
)
def test_an_option_that_no_parser_has_is_missing(asks: str) -> None:
    assert drawn(f"{OPTIONS}{asks}random.random()\n") == [("python", "unseeded")]


def test_an_option_that_a_parser_has_is_there() -> None:
    assert drawn(f"{OPTIONS}if hasattr(a, 'size'):\n    random.seed(1)\nrandom.random()\n") == [("python", "seeded")]


@pytest.mark.parametrize(
    "program",
    [
        "import random\nnames = []\nif names and len(names[0]) > 2:\n    print(names)\nrandom.random()\n",
        "import random, sys\nseed = sys.argv[0]\nif seed in {'a', 'b'}:\n    random.random()\n",
        "import random, sys\nif 'b' not in {'a', 'b'}:\n    sys.exit()\nrandom.random()\n",
    ],
    ids=["a test whose first part may fail", "a member of a set", "a known member of a set"],
)
def test_a_program_goes_on_after_a_test(program: str) -> None:
    assert drawn(program) == [("python", "unseeded")]


@pytest.mark.parametrize("items", ["[A(), B()]", "(A(), B())", "[A(), *many(), B()]", "[each for each in many()]"])
def test_the_last_item_is_called(items: str) -> None:
    classes = "import random\nclass A:\n    def go(self):\n        pass\nclass B:\n    def go(self):\n        random.random()\n"
    program = f"{classes}def many():\n    return [A(), B()]\nitems = {items}\nitems[-1].go()\n"
    assert drawn(program) == [("python", "unseeded")]


def test_an_item_that_is_not_the_last_is_not_called() -> None:
    program = "import random\nitems = [random.random, len]\nitems[-1]()\nitems[-2]()\n"
    assert len(drawn(program)) == 1


@pytest.mark.parametrize(
    "made",
    [
        "self.register_buffer('held', torch.zeros(3))\n        self.held = self.held + 1",
        "self.held = nn.Sequential(*load(os.environ))[-1]",
    ],
    ids=["a buffer", "layers that are unpacked"],
)
def test_a_module_is_followed_past_what_it_holds(made: str) -> None:
    program = (
        "import os, torch\nfrom torch import nn\nfrom elsewhere import load\nclass Net(nn.Module):\n"
        f"    def __init__(self):\n        super().__init__()\n        {made}\n        if self.held is not None:\n"
        "            torch.rand(3)\n\ntorch.manual_seed(0)\nNet()\n"
    )
    assert drawn(program) == [("torch", "seeded")]


@pytest.mark.parametrize("more", ["", "    a.more = 1\n"])
def test_a_namespace_has_what_a_function_gives_it(more: str) -> None:
    setup = "def setup(args):\n    args.seeded = True\n    args.seed = 3\n"
    main = f"def main(a):\n{more}    setup(a)\n    if a.seeded:\n        random.seed(a.seed)\n    random.random()\nmain(a)\n"
    assert drawn(f"{OPTIONS}{setup}{main}") == [("python", "seeded")]


def test_a_namespace_that_a_function_makes_is_not_the_one_that_it_is_given() -> None:
    setup = "def setup(args):\n    args = p.parse_args(['--size=4'])\n    args.size = None\n"
    main = "def main(a):\n    a.size = 3\n    setup(a)\n    random.seed(a.size)\n    random.random()\nmain(a)\n"
    assert drawn(f"{OPTIONS}{setup}{main}") == [("python", "seeded")]


def test_an_option_chooses_a_class() -> None:
    classes = "class A:\n    def __init__(self):\n        random.random()\nclass B:\n    pass\n"
    program = f"{OPTIONS.replace('default=3', 'type=int')}{classes}kind = A if a.size else B\nkind()\n"
    found = solved({"main.py": program}).draws("main.py")
    assert [(word, terms) for *_, word, terms in found] == [("unseeded", (("--size", True),))]


@pytest.mark.parametrize("named", ["super()", "super(B, self)"])
def test_a_method_of_a_base_is_called(named: str) -> None:
    program = (
        "import random\nclass A:\n    def __init__(self, n, **more):\n        random.seed(n)\nclass B(A):\n"
        f"    def __init__(self, *args, **more):\n        {named}.__init__(3, *args, **more)\nB()\nrandom.random()\n"
    )
    assert drawn(program) == [("python", "seeded")]


def test_a_name_of_a_library_is_looked_up_in_its_namespace() -> None:
    program = OPTIONS.replace("default=3", "default='resnet18'") + "from torchvision import models\n"
    assert drawn(f"{program}models.__dict__[a.size]()\n") == [("torch", "unseeded")]


def test_a_script_in_a_package_imports_what_lies_beside_it() -> None:
    files = {
        "a/__init__.py": "", "a/b/__init__.py": "", "a/b/net.py": "import random\nclass Net:\n    n = random.random()\n",
        "a/b/main.py": "from net import Net\nNet()\n", "a/c/other.py": "import net\n",
    }  # fmt: skip
    assert [word for *_, word, _ in solved(files, {"a/b/main.py", "a/c/other.py"}).draws("a/b/main.py")] == ["unseeded"]
    assert not solved(files, {"a/b/main.py", "a/c/other.py"}).draws("a/c/other.py")


def test_modules_that_a_loop_replaces_are_gone_through_on() -> None:
    program = (
        "import random\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.one = nn.Linear(2, 2)\ndef patch(model, new):\n"
        "    for name, child in model.named_children():\n        if isinstance(child, nn.Linear):\n"
        "            model._modules[name] = new\n        for key in model._modules:\n            print(key)\n"
        "patch(Net(), nn.ReLU())\nrandom.random()\n"
    )
    assert ("python", "unseeded") in drawn(program)


def test_one_of_more_classes_than_are_kept_is_made() -> None:
    classes = "".join(f"class A{i}:\n    def __init__(self, n):\n        pass\n" for i in range(70))
    drawing = (
        "import random\nfrom elsewhere import load\nclass B:\n    def __init__(self, n):\n        random.random()\n"
    )
    program = f"{drawing}{classes}made = eval(load())\nmade(3)\n"
    assert drawn(program) == [("python", "unseeded")]


UNPACKED = """
import random
from torch import nn

class Noise(nn.Module):
    def forward(self, x):
        return random.random()

def run(*layers):
    for layer in layers:
        layer(3)

layers = []
layers.append(Noise())
held = nn.Sequential(Noise(), nn.ReLU())
{call}
"""


@pytest.mark.parametrize(
    "call",
    [
        "run(*layers)",
        "run(*[layer for layer in layers])",
        "nn.Sequential(*layers)(3)",
        "nn.Sequential(*held)(3)",
        "nn.Sequential(*list(held.children())[:-1])(3)",
    ],
)
def test_what_is_unpacked_is_called_whatever_its_number(call: str) -> None:
    found = solved(UNPACKED.format(call=call)).draws("train.py")
    assert [(stream, line) for stream, _, line, _, _ in found] == [("python", 7)]


@pytest.mark.parametrize(
    ("made", "word"),
    [
        ("[each for each in [1, 2]]", "seeded"),
        ("[each for each in (1, 2)]", "seeded"),
        ("[each + 1 for each in [each for each in [1, 2]]]", "seeded"),
        ("{each for each in [1, 2]}", "seeded"),
        ("[each for each in [1, 2] if each > 1]", "unsure"),
        ("[each for each in open('x')]", "unsure"),
        ("[each for each in []]", "unsure"),
    ],
)
def test_what_is_made_of_each_item_has_items_if_there_are_any(made: str, word: str) -> None:
    assert drawn(f"import random\nmade = {made}\nif made:\n    random.seed(0)\nrandom.random()\n") == [("python", word)]


@pytest.mark.parametrize(
    "imports",
    [
        "from help.seed import start",
        "import help.seed\nstart = help.seed.start",
        "from help import seed\nstart = seed.start",
        "from seeds import start",
    ],
)
def test_what_is_called_of_a_file_that_was_not_read_may_seed(imports: str) -> None:
    files = {
        "train.py": f"import random\n{imports}\nstart()\nrandom.random()\n",
        "seeds.py": "from help.seed import start\n",
    }
    unread = frozenset(("help/__init__.py", "help/seed.py"))
    found = (solved(files, {"train.py"}, unread=each) for each in (unread, frozenset[str]()))
    assert [word for each in found for *_, word, _ in each.draws("train.py", "unsure", "unseeded")] == [
        "unsure",
        "unseeded",
    ]


@pytest.mark.parametrize(
    ("given", "drawn_from"),
    [
        ("random.Random(0)", []),
        ("Held()", []),
        ("held", []),
        ("Sized()", ["python"]),
        ("Of(Held)", []),
        ("Of(Unknown)", ["python"]),
    ],
)
def test_objects_that_do_not_say_otherwise_are_true(given: str, drawn_from: list[str]) -> None:
    classes = (
        "import random\nfrom elsewhere import Unknown\nclass Held:\n    def random(self):\n        return 3\n"
        "def held():\n    pass\nheld.random = print\n"
        "class Sized(Held):\n    def __len__(self):\n        return load()\n"
        "def Of(base):\n    class Made(base):\n        def random(self):\n            return 3\n    return Made()\n"
    )
    program = f"{classes}def one(rng=None):\n    rng = rng or random\n    return rng.random()\none({given})\n"
    assert [stream for stream, _ in drawn(program)] == drawn_from


READ = "import json\nread = json.load(open('settings.json'))\n"


@pytest.mark.parametrize(
    "gives",
    [
        "a.__dict__.update(read)",
        "vars(a).update(read)",
        "for name, value in read.items():\n    setattr(a, name, value)",
        "p.set_defaults(**read)\na = p.parse_args()",
    ],
)
@pytest.mark.parametrize(("default", "word"), [("None", "unsure"), ("1", "seeded"), ("0", "unseeded")])
def test_what_a_file_may_give_is_not_known_where_it_is_none_by_default(gives: str, default: str, word: str) -> None:
    parser = f"import argparse, random\np = argparse.ArgumentParser()\np.add_argument('--seed', default={default})\n"
    uses = "if a.seed:\n    random.seed(a.seed)\nrandom.random()\n"
    assert ("python", word) in drawn(f"{READ}{parser}a = p.parse_args()\n{gives}\n{uses}")


@pytest.mark.parametrize(("default", "word"), [("None", "unsure"), ("1", "seeded")])
def test_a_field_that_a_file_may_give_is_not_known_where_it_is_none_by_default(default: str, word: str) -> None:
    config = (
        f"import random\nfrom dataclasses import dataclass\n@dataclass\nclass Config:\n    seed: int = {default}\n"
        "config = Config(**read)\nif config.seed is not None:\n    random.seed(config.seed)\nrandom.random()\n"
    )
    assert drawn(f"{READ}{config}") == [("python", word)]


@pytest.mark.parametrize("body", ["step = step", "if size > 3:\n        pass\n    step = step", "step = keep(step)"])
def test_a_class_body_sees_what_the_module_has_until_it_binds_the_name(body: str) -> None:
    program = (
        "import random\nfrom elsewhere import size\ndef keep(function):\n    return function\ndef step(self):\n"
        f"    return random.random()\nclass Held:\n    {body}\nHeld().step()\n"
    )
    assert drawn(program) == [("python", "unseeded")]


@pytest.mark.parametrize("chosen", ["", "{'job': job, 'seed': seed}", "Jobs"])
def test_a_command_line_that_is_made_of_functions_runs_one_of_them(chosen: str) -> None:
    functions = "def job(self=3):\n    print(random.random())\ndef seed(self=3):\n    random.seed(3)\n"
    program = f"import fire, random\n{functions}class Jobs:\n    job = job\n    seed = seed\nfire.Fire({chosen})\nrandom.random()\n"
    assert drawn(program) == [("python", "unseeded"), ("python", "unsure")]


CLICK = "import click, random\n@click.group()\n@click.option('--seed', default=3)\ndef cli(seed):\n    {}\n"
COMMANDS = (
    "@cli.command()\ndef job():\n    random.random()\n",
    "@cli.group('in')\ndef inner():\n    pass\n@inner.command()\ndef job():\n    random.random()\n",
    "def job():\n    random.random()\ncli.add_command(job)\n",
)


@pytest.mark.parametrize("commands", COMMANDS)
@pytest.mark.parametrize("start", ["cli()", "cli.main()", "cli(obj={})"])
@pytest.mark.parametrize(("body", "word"), [("random.seed(seed)", "seeded"), ("pass", "unseeded")])
def test_a_group_of_commands_runs_its_function_and_then_a_command(
    commands: str, start: str, body: str, word: str
) -> None:
    assert drawn(f"{CLICK.format(body)}{commands}{start}\n") == [("python", word)]


def test_the_callback_of_an_application_comes_before_its_commands() -> None:
    program = (
        "import typer, random\napp = typer.Typer()\n@app.command()\ndef job(n: int = 3):\n    random.random()\n"
        "@app.command()\ndef other(n: int = 3):\n    pass\n@app.callback()\ndef main(seed: int = 3):\n"
        "    random.seed(seed)\napp()\n"
    )
    assert drawn(program) == [("python", "seeded")]


OPENED = {
    "by a loop": "class Config:\n    def __init__(self, held):\n        for name, value in held.items():\n"
    "            setattr(self, name, value)\n",
    "by its dict": "class Config:\n    def __init__(self, held):\n        self.__dict__.update(held)\n",
    "by vars": "class Config:\n    def __init__(self, held):\n        vars(self).update(held)\n",
    "by items": "class Config:\n    def __init__(self, held):\n        for name in held:\n"
    "            self.__dict__[name] = held[name]\n",
    "as a dict": "class Config(dict):\n    def __init__(self, held):\n        super().__init__(held)\n"
    "        self.__dict__ = self\n",
    "as another dict": "class Config:\n    def __init__(self, held):\n        self.__dict__ = held\n",
}


@pytest.mark.parametrize("how", list(OPENED))
@pytest.mark.parametrize(
    ("held", "words"),
    [("{'seed': 3}", ["seeded"]), ("{'seed': None}", ["unseeded"]), ("read", ["unsure"])],
)
def test_objects_have_the_attributes_that_they_are_given_by_name_and_no_others(
    how: str, held: str, words: list[str]
) -> None:
    uses = f"config = Config({held})\nif config.seed is not None:\n    random.seed(config.seed)\nrandom.random()\n"
    assert [word for _, word in drawn(f"import random\n{READ}{OPENED[how]}{uses}")] == words


def test_a_call_looks_up_the_attribute_that_it_names() -> None:
    program = (
        "import random\nclass Jobs:\n    def seed(self):\n        random.seed(3)\n    def job(self):\n"
        "        random.random()\ndef run(name):\n    getattr(Jobs(), name)()\nrun('job')\nrun('seed')\nrun('job')\n"
    )
    assert drawn(program) == [("python", "unseeded"), ("python", "seeded")]


def test_the_names_are_told_that_programs_look_for() -> None:
    files = {
        "main.py": "import lib\nfrom lib import seed\nfrom other import *\nlib.more\ndef run():\n    seed()\nrun()\n",
        "lib.py": "def seed():\n    helper()\ndef helper():\n    print(3)\ndef unused():\n    hidden()\n",
        "other.py": "size = 4\n",
    }
    asked = solved(files, {"main.py"}).solution.asked
    assert {("lib.py", name) for name in ("seed", "helper", "more", "print")} | {("other.py", "*")} <= asked
    assert ("lib.py", "hidden") not in asked


@pytest.mark.parametrize(
    ("test", "word"),
    [
        ("all(name in os.environ for name in ('RANK', 'SIZE'))", "unseeded"),
        ("any(name in os.environ for name in ('RANK', 'SIZE'))", "unseeded"),
        ("not any(name in os.environ for name in ('RANK', 'SIZE'))", "seeded"),
        ("any((0, 3))", "seeded"),
        ("all((0, 3))", "unseeded"),
        ("all(size for size in (3, 4) if size > limit)", "unsure"),
        ("any(size == limit for size in (3, 4))", "unsure"),
        ("any(sizes)", "unsure"),
    ],
)
def test_whether_all_or_any_items_are_true_is_told_where_they_are_written_down(test: str, word: str) -> None:
    start = "import os, random\nfrom elsewhere import limit\nsizes = [0]\nsizes.append(limit)\n"
    assert ("python", word) in drawn(f"{start}if {test}:\n    random.seed(1)\nrandom.random()\n")


@pytest.mark.parametrize(("seed", "word"), [("None", "unseeded"), ("3", "seeded")])
def test_a_field_of_a_configuration_is_the_one_that_it_refers_to(seed: str, word: str) -> None:
    program = (
        "from dataclasses import dataclass, field\nimport random\nfrom hydra import compose\n"
        "from hydra.core.config_store import ConfigStore\nfrom omegaconf import II\n"
        f"@dataclass\nclass Common:\n    seed: int = {seed}\n@dataclass\nclass Data:\n    seed: int = II('common.seed')\n"
        "@dataclass\nclass Config:\n    common: Common = field(default_factory=Common)\n"
        "    data: Data = field(default_factory=Data)\nConfigStore.instance().store(name='config', node=Config)\n"
        "config = compose('config')\nif config.data.seed is not None:\n    random.seed(config.data.seed)\nrandom.random()\n"
    )
    assert ("python", word) in drawn(program)
