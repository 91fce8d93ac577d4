"""What rows say of libraries, measured: programs, their runs, verdicts, and the page that shows them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.tools.libraries import child, page, programs, running
from tests.tools.libraries.claims import (
    CONFIRMED,
    DIFFERS,
    ELSEWHERE,
    FAILED,
    MISSED,
    REFUTED,
    REPEATS,
    UNSEEN,
    Way,
    claims,
    verdict,
)
from tests.tools.libraries.programs import Library, Program

PAGE = """\
# random

- `random==1.0`
- `random==0.9 numpy<2`

Words about it.

## consumer python.random: a number

```py
import random

result = random.random()
```

## outside consumer python.random: a generator with a seed

```py
import random

result = random.Random(0).random()
```

## outside all rows

```py
result = 1
```
"""


def program(text: str, *rows: str, outside: bool = False) -> Program:
    return Program(rows, outside, "", text)


def ran(*texts: str, way: Way = "nothing") -> tuple[dict[str, str], dict[str, str]]:
    """What two runs of programs did, and their errors, by their numbers."""
    runs = running.Runs(Path(sys.executable))
    asked = [Program((), True, str(number), text) for number, text in enumerate(texts)]
    found = runs.twice(asked, way)
    return {name[-1]: told for name, told in found.items()}, {name[-1]: told for name, told in runs.errors.items()}


def test_a_file_holds_releases_and_programs() -> None:
    library = programs.parse("random", PAGE)
    assert library.releases == ("random==1.0", "random==0.9 numpy<2")
    named = [(each.rows, each.outside, each.about) for each in library.programs]
    drawn = ("consumer python.random",)
    assert named == [(drawn, False, "a number"), (drawn, True, "a generator with a seed"), ((), True, "")]
    assert library.programs[0].text == "import random\n\nresult = random.random()\n"


def test_a_heading_needs_a_program_and_a_row() -> None:
    with pytest.raises(ValueError, match="without a program"):
        programs.parse("random", PAGE + "\n## outside all rows: more\n\nWords.\n")
    with pytest.raises(ValueError, match="no row consumer"):
        programs.parse("random", PAGE.replace("consumer python.random", "consumer of.nothing"))


@pytest.mark.parametrize(
    ("row", "repeating"),
    [
        ("method pandas.sample", ("numpy", "all", "given")),
        ("draw networkx.graphs", ("random", "all", "given")),
        ("draw umap", ("given",)),  # from entropy
        ("consumer lightly.views", ("all", "given")),  # from torch and from numpy
        ("seeder transformers", ("nothing", "random", "numpy", "torch", "all", "given")),
    ],
)
def test_a_row_says_which_ways_repeat(row: str, repeating: tuple[str, ...]) -> None:
    told = claims(program("", row))
    assert tuple(way for way, claim in told.items() if claim == REPEATS) == repeating
    assert len(told) == 6


def test_rows_of_which_each_draws_must_all_be_seeded() -> None:
    told = claims(program("", "draw node2vec.python", "draw node2vec.numpy"))
    assert [way for way, claim in told.items() if claim == DIFFERS] == ["nothing", "random", "numpy", "torch"]


def test_a_row_says_nothing_of_releases_that_it_does_not_speak_of() -> None:
    row, measured = program("", "draw albumentations"), dict.fromkeys(("nothing", "random"), DIFFERS)
    assert verdict(row, "albumentations==2.0.8 opencv-python-headless", measured)[0] == CONFIRMED
    assert verdict(row, "albumentations==1.4.18 opencv-python-headless", measured) == (ELSEWHERE, ())


def test_verdicts() -> None:
    sampled = program("", "method pandas.sample")
    measured = dict.fromkeys(("nothing", "random", "torch"), DIFFERS) | dict.fromkeys(("numpy", "all"), REPEATS)
    assert verdict(sampled, "pandas==3.1.0", measured) == (CONFIRMED, ())
    assert verdict(sampled, "pandas==3.1.0", measured | {"numpy": DIFFERS}) == (REFUTED, ("numpy",))
    assert verdict(sampled, "pandas==3.1.0", measured | {"nothing": FAILED})[0] == "not measured"
    assert verdict(sampled, "pandas==3.1.0", measured | {"given": FAILED}) == (CONFIRMED, ())  # an older release
    unsure = program("", "draw sklearn.trees")
    assert verdict(unsure, "scikit-learn==1.9.1", dict.fromkeys(measured, REPEATS)) == (
        UNSEEN,
        ("nothing", "random", "torch"),
    )
    assert verdict(program("", outside=True), "pandas==3.1.0", measured) == (MISSED, ("nothing", "random", "torch"))


def test_programs_are_run_twice_in_fresh_processes() -> None:
    draw = "import random\n\nresult = [random.random() for _ in range(3)]\n"
    fixed, hashed = "result = {'a': [1.0, None]}\n", "result = list(set('abcdefghijkl'))\n"
    ends, fails, unknown = "import os\n\nos._exit(3)\n", "result = no\n", "result = object()\n"
    found, errors = ran(draw, fixed, hashed, ends, fails, unknown, draw)
    assert found == dict(zip("0123456", (DIFFERS, REPEATS, DIFFERS, FAILED, FAILED, FAILED, DIFFERS), strict=True))
    assert errors == {
        "3": "exit status 3",
        "4": "NameError: name 'no' is not defined",
        "5": "TypeError: cannot compare a object",
    }
    assert ran(draw, fixed, way="random")[0] == {"0": REPEATS, "1": REPEATS}


def test_seeds_come_after_the_imports_and_an_argument_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing = tmp_path / "drawing.py"
    drawing.write_text("import random\n\nrandom.random()\n")
    monkeypatch.syspath_prepend(tmp_path)
    first = "import random\n\nresult = random.random() if seed == {'random_state': 0} else 0\n"
    digest = child.run(first, {"random_state": 0}, ["python"], again=True)
    assert digest == child.run(f"import drawing\n{first}", {"random_state": 0}, ["python"], again=False)
    assert digest != child.run(first, {}, ["python"], again=False)


def test_all_bits_count() -> None:
    import numpy as np

    def digest(text: str) -> str:
        return child.run(f"import numpy as np\n\nresult = {text}\n", {}, [], again=False)

    same = digest("np.array([1.0, 0.0])")
    assert same == digest("np.ones(2) - np.array([0.0, 1.0])")
    others = ("np.array([1.0, -0.0])", "np.float32([1.0, 0.0])", "np.array([[1.0, 0.0]])", "[1.0, 0.0]")
    assert len({same, *map(digest, others)}) == 5
    assert np.array(0.0) == np.array(-0.0)


def test_the_page_shows_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "KEPT", tmp_path / "libraries.json")
    library = programs.parse("random", PAGE)
    drawn = {"nothing": DIFFERS, "random": REPEATS, "numpy": DIFFERS, "torch": DIFFERS, "all": REPEATS}
    always, never = dict.fromkeys(drawn, REPEATS), dict.fromkeys(drawn, DIFFERS)
    names = [each.name for each in library.programs]
    about = {"date": "2026-01-02", "python": "3.11.7"}
    page.keep(library, "random==1.0", about, dict(zip(names, (drawn, always, never), strict=True)), {})
    text = page.render([library], page.read())
    assert "| `python.random` | a number | random, all | nothing, numpy, torch | confirmed |" in text
    assert "| outside `python.random` | a generator with a seed | always |  | confirmed |" in text
    assert "| outside all rows |  |  | always | no row says so |" in text
    assert "## random==1.0" in text and "## random==0.9" not in text
    page.keep(library, "random==1.0", about, dict(zip(names, (never, always, always), strict=True)), {})
    assert "| **refuted** under random, all |" in page.render([library], page.read())
    assert page.stale([library], page.read()) == []
    (first, *others) = library.programs
    changed = Library(
        "random", library.releases, (Program(first.rows, first.outside, first.about, "result = 2\n"), *others)
    )
    assert page.stale([changed], page.read()) == [f"random==1.0: {first.name}"]


def test_the_programs_were_measured_as_they_are() -> None:
    assert page.stale(programs.read(), json.loads(page.KEPT.read_text(encoding="utf-8"))) == []
