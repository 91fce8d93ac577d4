"""`detlint entries`: what programs do by protocols of their objects, by their classes, and by modules that they name."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli


def states(folder: Path, program: str) -> dict[str, str]:
    """The states of the generators of a program, which draws from numpy's at its end."""
    text = f"{textwrap.dedent(program).lstrip()}\nimport numpy\nnumpy.random.rand()\n"
    written(folder, {"pyproject.toml": "", "program.py": text})
    return entries(folder)["program.py"]


def entries(folder: Path) -> dict[str, dict[str, str]]:
    """The states of the generators of all programs."""
    arguments = ["entries", "--no-cache", "--format", "json", "--jobs", "1", str(folder)]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    found = {Path(each["path"]).name: each["generators"] for each in json.loads(result.stdout)["entries"]}
    return {name: {key: each["state"] for key, each in streams.items()} for name, streams in found.items()}


def written(folder: Path, files: dict[str, str]) -> None:
    """Write files of a project."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")


# Items


PAIRS = """
    import random


    class Pairs:
        def __getitem__(self, index):
            return random.random()


    pairs = Pairs()
    {}
    """


@pytest.mark.parametrize(
    "statement",
    ["print(pairs[0])", "pairs[0]", "if pairs[0]: pass", "str(pairs[len('a') - 1])", "print([pairs][0][0])"],
)
def test_an_item_is_looked_up_wherever_it_stands(tmp_path: Path, statement: str) -> None:
    assert states(tmp_path, PAIRS.format(statement))["python"] == "unseeded"


def test_an_item_that_is_set_is_set_by_the_class(tmp_path: Path) -> None:
    program = """
        import random


        class Settings(dict):
            def __setitem__(self, key, value):
                super().__setitem__(key, value)
                if key == "seed":
                    random.seed(value)


        settings = Settings()
        settings["{}"] = 3
        print(random.random())
        """
    assert states(tmp_path, program.format("seed"))["python"] == "seeded"
    assert states(tmp_path, program.format("steps"))["python"] == "unseeded"


def test_what_a_method_keeps_for_an_item_is_what_is_held(tmp_path: Path) -> None:
    program = """
        import random


        class Noise:
            def draw(self):
                return random.random()


        class Table:
            def __init__(self):
                self.held = {}

            def __setitem__(self, key, value):
                self.held[key] = value


        table = Table()
        table["noise"] = Noise()
        for key, value in table.held.items():
            value.draw()
        """
    assert states(tmp_path, program)["python"] == "unseeded"


# Iteration


@pytest.mark.parametrize(
    "loop",
    [
        "for _ in Noise(): pass",
        "list(Noise())",
        "[x for x in Noise()]",
        "for _, x in enumerate(Noise()): pass",
        "for _ in DataLoader(Noise()): pass",
        "for _ in DataLoader(Noise(), num_workers=2): pass",
        "for _ in DataLoader([1], sampler=Noise()): pass",
        "for _ in DataLoader([1], batch_sampler=Noise()): pass",
    ],
)
@pytest.mark.parametrize(
    ("iterator", "state"),
    [
        ("for _ in range(3): yield random.random()", "unseeded"),
        ("yield from [random.random()]", "unseeded"),
        ("yield from drawn()", "unseeded"),
        ("return drawn()", "unseeded"),
        ("for _ in range(3): yield random.Random(0).random()", "unused"),
    ],
)
def test_an_iterator_that_is_a_generator_is_run(tmp_path: Path, loop: str, iterator: str, state: str) -> None:
    program = f"""
        import random
        from torch.utils.data import DataLoader, IterableDataset


        def drawn():
            yield random.random()


        class Noise(IterableDataset):
            def __iter__(self):
                {iterator}


        {loop}
        """
    assert states(tmp_path, program)["python"] == state


def test_an_iterator_that_nobody_iterates_over_is_not_run(tmp_path: Path) -> None:
    program = """
        import random


        class Noise:
            def __iter__(self):
                yield random.random()


        print(Noise())
        """
    assert states(tmp_path, program)["python"] == "unused"


@pytest.mark.parametrize(
    "iterator", ["for item in self.held: yield 1, item", "return iter([(1, item) for item in self.held])"]
)
def test_what_an_iterator_gives_is_what_is_gone_through(tmp_path: Path, iterator: str) -> None:
    program = f"""
        import random


        class Noise:
            def draw(self):
                return random.random()


        class View:
            def __init__(self, held):
                self.held = held

            def __iter__(self):
                {iterator}


        for number, noise in View([Noise()]):
            noise.draw()
        """
    assert states(tmp_path, program)["python"] == "unseeded"


# Keywords


@pytest.mark.parametrize(
    "loop",
    [
        "for noise in self.held.values(): noise.draw()",
        "for name, noise in self.held.items(): noise.draw()",
        "for name in self.held.keys(): self.held[name].draw()",
    ],
)
def test_keywords_that_are_kept_are_gone_through(tmp_path: Path, loop: str) -> None:
    program = f"""
        import random


        class Noise:
            def draw(self):
                return random.random()


        class Several:
            def __init__(self, **held):
                self.held = held

            def draw(self):
                {loop}


        Several(noise=Noise()).draw()
        """
    assert states(tmp_path, program)["python"] == "unseeded"


# Modules


@pytest.mark.parametrize("name", ["f'models.{name}'", "'models.' + name"])
@pytest.mark.parametrize(("default", "state"), [("small", "unseeded"), ("still", "unused"), ("other", "unused")])
def test_a_module_is_imported_by_the_name_that_an_option_has_by_default(
    tmp_path: Path, name: str, default: str, state: str
) -> None:
    written(
        tmp_path,
        {
            "models/__init__.py": "",
            "models/small.py": "import random\ndef build():\n    return random.random()\n",
            "models/still.py": "def build():\n    return 0\n",
        },
    )
    program = f"""
        import argparse, importlib


        def built(name):
            return importlib.import_module({name}).build()


        parser = argparse.ArgumentParser()
        parser.add_argument("--model", default="{default}")
        print(built(parser.parse_args().model))
        """
    assert states(tmp_path, program)["python"] == state


@pytest.mark.parametrize(
    ("path", "state"),
    [
        ("os.path.join(os.path.dirname(__file__), 'conf', 'seeds.py')", "seeded"),
        ("Path(__file__).parent / 'conf' / 'seeds.py'", "seeded"),
        ("'conf/seeds.py'", "seeded"),
        ("location=os.path.join(ROOT, 'conf', 'seeds.py')", "seeded"),
        ("'conf/others.py'", "unseeded"),
        ("sys.argv[1]", "unseeded"),
    ],
)
def test_a_module_is_loaded_from_its_file(tmp_path: Path, path: str, state: str) -> None:
    written(tmp_path, {"conf/seeds.py": "import random\nrandom.seed(0)\nWIDTH = 3\n"})
    program = f"""
        import importlib.util
        import os, random, sys
        from pathlib import Path
        ROOT = os.path.dirname(os.path.abspath(__file__))


        def loaded():
            spec = importlib.util.spec_from_file_location("conf", {path})
            module = importlib.util.module_from_spec(spec)
            sys.modules["conf"] = module
            spec.loader.exec_module(module)
            return module


        print(loaded().WIDTH, random.random())
        """
    assert states(tmp_path, program)["python"] == state


# Classes


@pytest.mark.parametrize(
    ("given", "made", "state"),
    [
        ("", "KINDS['Noisy']()", "unseeded"),
        ("", "KINDS['Still']()", "unused"),
        (", name='plain'", "KINDS['plain']()", "unseeded"),
        (", **{'name': 'plain'}", "KINDS['plain']()", "unseeded"),
        (", metaclass=type", "KINDS['Noisy']()", "unseeded"),
    ],
)
def test_a_class_is_told_of_those_that_derive_from_it(tmp_path: Path, given: str, made: str, state: str) -> None:
    program = f"""
        import random
        KINDS = {{}}


        class Base:
            def __init_subclass__(cls, name=None, **kwargs):
                super().__init_subclass__(**kwargs)
                if name is None:
                    name = cls.__name__
                KINDS[name] = cls


        class Noisy(Base{given}):
            def __init__(self):
                random.random()


        class Still(Base):
            pass


        {made}
        """
    assert states(tmp_path, program)["python"] == state


@pytest.mark.parametrize("given", ["Config.owner = Noisy", "setattr(Config, 'owner', Noisy)"])
@pytest.mark.parametrize("before", ["owner = None", "pass"])
@pytest.mark.parametrize("kind", ["Config", "Derived"])
def test_an_object_has_what_its_class_was_given(tmp_path: Path, given: str, before: str, kind: str) -> None:
    program = f"""
        import random


        class Config:
            {before}

            def build(self):
                return self.owner()


        class Derived(Config):
            pass


        class Noisy:
            def __init__(self):
                random.random()


        {given}
        {kind}().build()
        """
    assert states(tmp_path, program)["python"] == "unseeded"


def test_what_a_class_declares_itself_hides_what_its_base_was_given(tmp_path: Path) -> None:
    program = """
        import random


        class Config:
            seed = None


        class Derived(Config):
            seed = 0


        Config.seed = 3
        if Derived().seed > 2:
            print(random.random())
        """
    assert states(tmp_path, program)["python"] == "unused"


def test_a_program_does_not_find_what_another_one_gave_a_class(tmp_path: Path) -> None:
    shared = """
        class Config:
            noise = None


        def build(kind):
            made = kind()
            if made.noise is not None:
                made.noise()
        """
    script = """
        import random
        import torch
        from shared import Config, build


        def main():
            {}
            build(Config)
            print(torch.rand(1))


        if __name__ == "__main__":
            main()
        """
    quiet, loud = script.format("pass"), script.format("Config.noise = random.random")
    written(
        tmp_path, {"pyproject.toml": "", "shared.py": shared, "a.py": quiet, "b.py": loud, "c.py": quiet, "d.py": loud}
    )
    found = {name: states["python"] for name, states in entries(tmp_path).items()}
    assert found == {"a.py": "unused", "b.py": "unseeded", "c.py": "unused", "d.py": "unseeded"}


# Devices


@pytest.mark.parametrize(
    ("device", "state"), [("device='cuda'", "unused"), ("device='cpu'", "unseeded"), ("dtype=None", "unseeded")]
)
@pytest.mark.parametrize(
    "drawn",
    [
        "torch.nn.init.normal_(torch.empty(3, {device}))",
        "made = torch.empty(3, {device}); torch.nn.init.normal_(made)",
        "made = torch.empty(3, {device}); made.normal_(0, 1)",
        "torch.empty(3, {device}).uniform_()",
    ],
)
def test_a_tensor_is_filled_from_the_generator_of_its_device(
    tmp_path: Path, drawn: str, device: str, state: str
) -> None:
    seeded = f"import torch\ntorch.cuda.manual_seed_all(0)\n{drawn.format(device=device)}\n"
    assert states(tmp_path, seeded)["torch"] == state
    assert states(tmp_path, seeded.replace("torch.cuda.manual_seed_all(0)\n", ""))["torch"] == "unseeded"
