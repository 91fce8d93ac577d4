"""`detlint entries`: what programs do by protocols of their objects, and by devices that tensors are on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import states

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
    ("loop", "iterator", "state"),
    [
        *(
            (loop, "for _ in range(3): yield random.random()", "unseeded")
            for loop in (
                "for _ in Noise(): pass",
                "list(Noise())",
                "[x for x in Noise()]",
                "for _, x in enumerate(Noise()): pass",
                "for _ in DataLoader(Noise()): pass",
                "for _ in DataLoader(Noise(), num_workers=2): pass",
                "for _ in DataLoader([1], sampler=Noise()): pass",
                "for _ in DataLoader([1], batch_sampler=Noise()): pass",
            )
        ),
        ("list(Noise())", "yield from [random.random()]", "unseeded"),
        ("list(Noise())", "yield from drawn()", "unseeded"),
        ("list(Noise())", "return drawn()", "unseeded"),
        ("list(Noise())", "for _ in range(3): yield random.Random(0).random()", "unused"),
        ("for _ in DataLoader(Noise(), num_workers=2): pass", "yield random.Random(0).random()", "unused"),
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
    found = states(tmp_path, program)
    if "num_workers" in loop and state == "unseeded":  # what seeds the workers is drawn from torch's generator
        assert (found["torch"], found["python"]) == ("unseeded", "seeded")
    else:
        assert found["python"] == state


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
