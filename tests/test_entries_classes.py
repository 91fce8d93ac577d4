"""`detlint entries`: what programs do by their classes, and by modules that they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import states, states_of, written

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
        import one, two, three, four


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
    parts = {f"{name}.py": "" for name in ("one", "two", "three", "four")}  # programs that share most are one group
    written(
        tmp_path,
        {"pyproject.toml": "", "shared.py": shared, **parts, "a.py": quiet, "b.py": loud, "c.py": quiet, "d.py": loud},
    )
    found = {name: states["python"] for name, states in states_of(tmp_path).items()}
    assert found == {"a.py": "unused", "b.py": "unseeded", "c.py": "unused", "d.py": "unseeded"}


# Functions that an object holds

HOLDER = """
    import random
    from dataclasses import dataclass
    from typing import Callable


    def drawn(count):
        return random.random() if count == 3 else 0


    @dataclass
    class Field:
        function: Callable = drawn


    class Holder:
        def __init__(self):
            self.function = drawn


    class Owner:
        function = lambda self, count: drawn(count)


    {}.function({})
    """


@pytest.mark.parametrize("holder", ["Holder()", "Field()", "Field(drawn)", "Owner()"])
@pytest.mark.parametrize(("count", "state"), [(3, "unseeded"), (2, "unused")])
def test_a_function_that_an_object_holds_is_no_method(tmp_path: Path, holder: str, count: int, state: str) -> None:
    assert states(tmp_path, HOLDER.format(holder, count))["python"] == state


KIND = """
    import enum
    import random


    class Kind(enum.Enum):
        NOISY = "noisy"
        STILL = "still"


    {{Kind.NOISY: random.random, Kind.STILL: print}}[Kind["{}"]]()
    """


@pytest.mark.parametrize(("name", "state"), [("NOISY", "unseeded"), ("STILL", "unused")])
def test_a_member_of_an_enumeration_is_looked_up_by_its_name(tmp_path: Path, name: str, state: str) -> None:
    assert states(tmp_path, KIND.format(name))["python"] == state


# Registries

REGISTRY = """
    import argparse
    import random
    from typing import Callable

    MAKERS = {{}}


    def register(function: Callable[..., object]) -> Callable[..., object]:
        name = function.__name__
        MAKERS[name] = function
        return function


    @register
    def quiet():
        return 1


    @register
    def noisy():
        return random.random()


    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="{}")
    args = parser.parse_args()
    {}
    MAKERS[args.model]()
    """


@pytest.mark.parametrize("overridden", ["", "if open('bulk').read(): args.model = input()"])
@pytest.mark.parametrize(("name", "state"), [("quiet", "unused"), ("noisy", "unseeded")])
def test_a_registry_keeps_functions_by_their_names(tmp_path: Path, name: str, overridden: str, state: str) -> None:
    assert states(tmp_path, REGISTRY.format(name, overridden))["python"] == state
