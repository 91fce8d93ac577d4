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
