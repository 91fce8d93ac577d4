"""The user's code followed statement by statement: what each reads and binds, what is told of values, where they come from."""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections import OrderedDict, deque
from pathlib import Path

import pytest

from detlint.bisect.following import statements, values
from detlint.bisect.locating import pairing, provenance, shown, steps
from detlint.bisect.locating.reasons import Reasons
from detlint.bisect.locating.steps import Steps, Value
from detlint.bisect.options import Options
from detlint.bisect.running import launch

PYTHONS = sorted(str(path) for path in Path("~/.pyenv/versions").expanduser().glob("3.1[0-9].*/bin/python"))


def read(tmp_path: Path, text: str) -> dict[int, statements.Statement]:
    path = tmp_path / "train.py"
    path.write_text(text)
    return statements.of_file(str(path))


@pytest.mark.parametrize(
    ("text", "reads", "binds"),
    [
        ("x = a.b[0] + f(c)", ["a.b[0]", "c"], ["x"]),
        ("ids = {n: i for i, n in enumerate(names)}", ["names"], ["ids"]),
        ("x = [ids[w] for w in words]", ["ids", "words"], ["x"]),
        ("table[k] = v", ["v", "k", "table"], ["table[k]", "table"]),
        ("self.order += rng.sample(items, 3)", ["rng", "items", "self.order"], ["self.order"]),
        ("out[i, : len(row)] = row", ["row", "i", "out"], ["out"]),
        ("for i, (a, b) in enumerate(pairs):\n    pass", ["pairs"], ["i", "a", "b"]),
        ("with open(path) as file, lock:\n    pass", ["path", "lock"], ["file"]),
        ("x = layers[name](y)", ["layers", "name", "y"], ["x"]),
        ("@cached(size)\ndef f(x=start):\n    return x", ["size", "start"], []),
    ],
)
def test_a_statement_is_known_by_what_it_reads_and_binds(
    tmp_path: Path, text: str, reads: list[str], binds: list[str]
) -> None:
    found = read(tmp_path, text)[1]
    known = {
        name for one in found.reads if (name := statements.text(one)) not in ("f", "enumerate", "open", "cached", "len")
    }
    assert known >= set(reads) and known - set(reads) <= {"w"}
    assert {statements.text(one) for one in found.writes} == set(binds)


def test_the_lines_of_a_statement_are_all_its_own(tmp_path: Path) -> None:
    found = read(tmp_path, "x = f(\n    a,\n    b,\n)\nif x:\n    y = 1; z = 2\n")
    assert found[1] is found[4]
    assert (found[5].first, found[5].last) == (5, 5)
    assert {statements.text(one) for one in found[6].writes} == {"y", "z"}


def test_order_counts_where_there_is_one() -> None:
    digest = values.digest
    assert digest([1, 2]) != digest([2, 1])
    assert digest({"a": 1, "b": 2}) != digest({"b": 2, "a": 1})
    assert digest({"a", "b", "c"}) == digest({"c", "b", "a"}) != digest({"c", "b"})
    assert digest(deque([1])) != digest(deque([2]))
    assert digest(OrderedDict(a=1)) == digest({"a": 1})
    assert digest(argparse.Namespace(lr=1)) != digest(argparse.Namespace(lr=2))
    assert digest(random.Random(1)) == digest(random.Random(1)) != digest(random.Random(2))
    assert digest("1") != digest(1) != digest(1.0)
    assert digest(object()) == digest(print) == ""
    assert digest([object(), 1]) == digest([object(), 1]) != ""


def test_no_code_of_the_programs_is_run_to_look_at_a_value() -> None:
    class Loud:
        def __getattr__(self, name: str) -> None:
            raise AssertionError(name)

        __len__ = __iter__ = __repr__ = __eq__ = __hash__ = __bool__ = None  # type: ignore[assignment]

        @property
        def state(self) -> None:
            raise AssertionError

    loud = Loud()
    frame = sys._getframe()
    assert values.digest(loud) == ""
    assert values.shape(loud)[0] == "object"
    assert statements.value(frame, ("loud", ".state")) is statements.MISSING
    assert statements.value(frame, ("loud", ".missing")) is statements.MISSING


def test_an_array_and_the_tensor_that_shares_its_memory_are_the_same(torch: object) -> None:
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(6, dtype="float32").reshape(2, 3)
    tensor = torch.from_numpy(array)  # type: ignore[attr-defined]
    assert values.digest(array) == values.digest(tensor) != values.digest(array + 1)
    assert values.digest(array.T) != values.digest(array)


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        (17, 4, "x: 17 / 4"),
        ({"w1": 0, "w3": 17}, {"w3": 4, "w1": 0}, "x['w3']: 17 / 4"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "x: its keys are ['a', 'b'] / ['b', 'a'], the same in another order"),
        (["a", "b"], ["b", "a"], "x: ['a', 'b'] / ['b', 'a'], the same in another order"),
        ([1, [2, 3]], [1, [2, 4]], "x[1][1]: 3 / 4"),
        ([1], [1, 2], "len(x): 1 / 2"),
        ({"a"}, {"b"}, "x: ['a'] in A alone, ['b'] in B alone"),
        (argparse.Namespace(lr=1), argparse.Namespace(lr=2), "x.'lr': 1 / 2"),
    ],
)
def test_a_difference_is_told_by_the_first_part_that_differs(a: object, b: object, told: str) -> None:
    one, other = (Value(values.digest(each), False, values.shape(each)) for each in (a, b))
    assert shown.difference("x", one, other).replace(".lr", ".'lr'") == told


PROGRAM = """
import os

class Vocabulary:
    def __init__(self, words):
        self.words = list(words)

    def __iter__(self):
        for word in self.words:
            yield word.upper()

def number(vocabulary):
    table = {}
    for word in vocabulary:
        table[word] = len(table)
    return table

begun = os.getpid()
table = number(Vocabulary({"red", "green", "blue", "pink", "grey", "teal", "gold"}))
first = table["RED"]
late = first > 3
"""


TIMED = """import time


def turns():
    end = time.monotonic() + 0.2
    done = 0
    while time.monotonic() < end:
        yield done
        done += 1
        time.sleep(0.15)


started = time.monotonic()
total = 0
for turn in turns():
    total += turn
    print(time.monotonic() - started)
    if turn > 100:
        total = 0
"""


def followed(folder: Path, python: str = sys.executable, seed: str = "1", program: str = PROGRAM) -> Steps:
    """The steps of a program, as a Python with this hash seed takes them."""
    folder.mkdir()
    (folder / "train.py").write_text(program)
    options = Options(steps=True, watched=("os.getpid", "time.monotonic"), hash_seed=seed)
    if python == sys.executable:
        assert launch.record(["train.py"], folder / "trace", options, cwd=folder).status == 0
    else:
        code = [python, "-c", launch._BEGIN, str(launch._PACKAGE), str(folder / "trace"), options.dump(), "train.py"]
        (folder / "trace").mkdir()
        environment = {"PYTHONHASHSEED": seed, "PATH": ""}
        subprocess.run(code, check=True, cwd=folder, env=environment, capture_output=True)
    return steps.read(folder / "trace" / f"main{steps.SUFFIX}")


@pytest.mark.slow
def test_a_value_is_traced_to_the_statement_that_made_it_in_another_function(tmp_path: Path) -> None:
    a, b = (followed(tmp_path / seed, seed=seed) for seed in ("1", "2"))
    stream = pairing.pair("main", a, b)
    last = next(one for one in a.steps if one.statement.line.line == 20)
    other = next(one for one in b.steps if one.statement.line.line == 20)
    roots = provenance.Search(stream, {}, Reasons([stream])).run(last, other, parts=False)
    assert [(root.pair.step.statement.line.line, root.why.reason.kind if root.why else "") for root in roots] == [
        (6, "set-order")
    ]
    assert roots[0].name == "self.words"


@pytest.mark.slow
def test_a_branch_that_the_time_decides_is_known_where_both_runs_take_it_alike(tmp_path: Path) -> None:
    a, b = (followed(tmp_path / name, program=TIMED) for name in "ab")
    stream = pairing.pair("main", a, b)
    line = next(one.statement.line for one in a.steps if one.statement.line.line == 16)
    roots = provenance.Search(stream, {}, Reasons([stream])).from_branch(line)
    assert [(root.pair.step.statement.line.line, root.why.name if root.why else "") for root in roots] == [
        (7, "time.monotonic")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("python", PYTHONS or [sys.executable])
def test_each_python_takes_the_same_steps(python: str, tmp_path: Path) -> None:
    def told(found: Steps) -> list[tuple[object, ...]]:
        return [(one.statement.line.line, sorted(one.read), sorted(one.bound)) for one in found.steps]

    own = followed(tmp_path / "own")
    other = followed(tmp_path / "other", python)
    assert told(own) == told(other)
    assert [one.asked for one in other.steps if one.asked] == [[("posix.getpid", "")]]
