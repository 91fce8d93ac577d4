"""Programs of every form entered and recorded, without torch, which takes seconds to start."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from detlint.bisect.options import Options
from detlint.bisect.recorded import programs
from detlint.bisect.records import End, Event, Line, Record
from detlint.bisect.running import launch
from detlint.bisect.running.launch import Recording, record
from detlint.bisect.streams import Trace
from tests.bisecting import records

pytestmark = pytest.mark.slow

DRAW = "import random\nrandom.seed(1)\nrandom.random()\n"


def run(folder: Path, files: dict[str, str], *command: str, **more: object) -> tuple[Recording, list[Record]]:
    """A command recorded in a folder of files; the records of its main stream."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    recording = record(command, folder / "trace", cwd=folder, **more)  # type: ignore[arg-type]
    return recording, records(recording.folder)


def events(found: list[Record], kind: str) -> list[Event]:
    return [one for one in found if isinstance(one, Event) and one.kind == kind]


def end(found: list[Record]) -> End:
    last = found[-1]
    assert isinstance(last, End)
    return last


def test_a_script_sees_what_it_would_see_of_python_itself(tmp_path: Path) -> None:
    script = """
import json, pickle, sys
import beside
class Own: pass
pickle.loads(pickle.dumps(Own()))
print(json.dumps([sys.argv, __name__, __file__, sys.path[0], __spec__ is None, "torch" in sys.modules,
                  "numpy" in sys.modules, beside.__name__, sys.modules["__main__"].__dict__ is globals()]),
      file=open("seen.json", "w"))
"""
    recording, _ = run(tmp_path, {"sub/train.py": script, "sub/beside.py": ""}, "sub/train.py", "--lr", "1")
    assert recording.status == 0, recording.errors
    argv, name, file, path, *rest = json.loads((tmp_path / "seen.json").read_text())
    assert (argv, name, file) == (["sub/train.py", "--lr", "1"], "__main__", "sub/train.py")
    assert path == str(tmp_path / "sub")
    assert rest == [True, False, False, "beside", True]


def test_a_module_is_run_as_python_runs_it(tmp_path: Path) -> None:
    main = "import random, sys\nfrom . import part\nrandom.seed(1)\nassert sys.argv[1:] == ['x']\nassert __package__ == 'pack'\n"
    recording, found = run(
        tmp_path, {"pack/__init__.py": "", "pack/part.py": "", "pack/__main__.py": main}, "-m", "pack", "x"
    )
    assert recording.status == 0, recording.errors
    assert events(found, "seed")[0].line == Line("pack/__main__.py", 3, "<module>")


def test_the_cells_of_a_notebook_are_run_in_order_and_lines_count_within_them(tmp_path: Path) -> None:
    cells = [
        "%matplotlib inline\nimport random\nrandom.seed(1)",
        "# text",
        "def f():\n    return random.random()\n\nf()",
    ]
    kinds = ("code", "markdown", "code")
    notebook = {
        "cells": [{"cell_type": kind, "source": text} for kind, text in zip(kinds, cells, strict=True)],
        "metadata": {"kernelspec": {"name": "python3", "language": "python"}},
    }
    recording, found = run(tmp_path, {"nb.ipynb": json.dumps(notebook)}, "nb.ipynb")
    assert recording.status == 0, recording.errors
    assert events(found, "seed")[0].stack == (Line("nb.ipynb", 3, "<module>", 0),)
    assert [str(line) for line in events(found, "draw")[0].stack] == ["nb.ipynb[2]:2", "nb.ipynb[2]:4"]
    assert end(found).loaded == ("nb.ipynb",)


def test_one_test_of_pytest_is_run(tmp_path: Path) -> None:
    test = "import random\n\ndef test_a():\n    random.seed(1)\n\ndef test_b():\n    assert random.seed(2)\n"
    recording, found = run(tmp_path, {"test_it.py": test}, "test_it.py::test_a")
    assert recording.status == 0, recording.errors
    assert [str(one.line) for one in events(found, "seed")] == ["test_it.py:4"]
    again = run(tmp_path, {}, "test_it.py::test_a")[1]
    assert found == again, "what the first run leaves in the folder is no difference"


@pytest.mark.slow
def test_the_files_that_were_loaded_are_told_and_no_others(tmp_path: Path) -> None:
    script = """
import multiprocessing, os, random, runpy
import part
from pack import inner

def work():
    import of_process

if __name__ == "__main__":
    runpy.run_path("run.py")
    exec(compile(open("executed.py").read(), "executed.py", "exec"))
    os.chdir("pack")
    random.seed(1)
    started = multiprocessing.get_context("spawn").Process(target=work)
    started.start()
    started.join()
"""
    files = {"train.py": script, "real.py": "", "of_process.py": ""}
    files |= {"run.py": DRAW, "executed.py": DRAW, "other.py": DRAW}
    files |= {"pack/__init__.py": "", "pack/inner.py": "", "pack/train.py": DRAW, "site-packages/installed.py": ""}
    (tmp_path / "part.py").symlink_to("real.py")
    recording, found = run(tmp_path, files, "train.py")
    assert recording.status == 0, recording.errors
    own = ["executed.py", "pack/__init__.py", "pack/inner.py", "part.py", "run.py", "train.py"]
    assert list(end(found).loaded) == own
    assert [str(one.line) for one in events(found, "seed")] == ["run.py:2", "executed.py:2", "train.py:13"]
    of_process = end(records(recording.folder, "process0")).loaded
    assert list(of_process) == ["of_process.py", "pack/__init__.py", "pack/inner.py", "part.py", "train.py"]


def test_draws_in_a_row_at_one_line_are_one_event(tmp_path: Path) -> None:
    script = "import random\nrandom.seed(1)\nx = [random.random() for _ in range(5)]\nrandom.gauss(0, 1)\n"
    _, found = run(tmp_path, {"a.py": script}, "a.py")
    assert [(one.data["function"], one.data["count"]) for one in events(found, "draw")] == [("random", 5), ("gauss", 1)]


def test_values_drawn_are_what_tells_two_runs_apart(tmp_path: Path) -> None:
    script = "import random\nrandom.random()\nrandom.Random(1)\nrandom.Random()\n"
    _, first = run(tmp_path / "a", {"a.py": script}, "a.py")
    _, second = run(tmp_path / "b", {"a.py": script}, "a.py")
    differing = [a for a, b in zip(first, second, strict=True) if a != b]
    assert [str(one.line) for one in differing if isinstance(one, Event)] == ["a.py:2", "a.py:4"]
    assert [one.data["seeded"] for one in events(first, "generator")] == [True, False]


def test_what_a_library_draws_while_it_is_imported_is_left_out(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    library = """
import random
import numpy
def draw():
    numpy.random.default_rng()
    return random.random()
first = draw()
"""
    script = "import sys\nsys.path.insert(0, 'site-packages')\nimport library\nlibrary.draw()\n"
    _, found = run(tmp_path, {"a.py": script, "site-packages/library.py": library}, "a.py")
    for kind in ("draw", "generator"):
        assert [str(one.line) for one in events(found, kind)] == ["a.py:4"]


def test_a_seed_is_told_where_dynamo_has_wrapped_the_function_that_sets_it(tmp_path: Path, torch: ModuleType) -> None:
    script = "import torch\nimport torch._dynamo\ntorch.manual_seed(3)\n"
    _, found = run(tmp_path, {"a.py": script}, "a.py")
    assert [(str(one.line), one.data["value"]) for one in events(found, "seed")] == [("a.py:3", "3")]


def test_seeds_can_be_given_to_a_run(tmp_path: Path) -> None:
    options = Options(seed_python=7, hash_seed="5")
    script = "import random, os\nrandom.random()\nprint(hash('a'), file=open('hash', 'w'))\n"
    found, hashes = [], []
    for name in "ab":
        found.append(run(tmp_path / name, {"a.py": script}, "a.py", options=options)[1])
        hashes.append((tmp_path / name / "hash").read_text())
    assert found[0] == found[1]
    assert hashes[0] == hashes[1]
    assert Trace(tmp_path / "a" / "trace").meta.options == {"seed_python": 7, "hash_seed": "5"}


LISTED = """
import glob, os
from pathlib import Path
found = [os.listdir("in"), glob.glob("in/*"), list(Path("in").iterdir()), [e.name for e in os.scandir("in")]]
with os.scandir("in") as entries:
    next(entries)
for _, folders, files in os.walk("in"):
    found.append(folders + files)
print(*(os.path.basename(x) for names in found for x in names), file=open("order", "w"))
"""


def test_listings_are_told_with_order_and_content_and_can_be_turned_round(tmp_path: Path) -> None:
    files = {"a.py": LISTED, "in/x": "", "in/y": "", "in/z": ""}
    _, forward = run(tmp_path / "a", files, "a.py", options=Options(listing="sorted"))
    _, backward = run(tmp_path / "b", files, "a.py", options=Options(listing="reversed"))
    assert (tmp_path / "a" / "order").read_text().split() == ["x", "y", "z"] * 5
    assert (tmp_path / "b" / "order").read_text().split() == ["z", "y", "x"] * 5
    pairs = list(zip(events(forward, "listing"), events(backward, "listing"), strict=True))
    assert [a.what for a, _ in pairs] == [
        "os.listdir",
        "glob.glob",
        "Path.iterdir",
        "os.scandir",
        "os.scandir",
        "os.walk",
    ]
    for a, b in pairs:
        assert a.digests[0] != b.digests[0]
        assert a.digests[1] == b.digests[1]
        assert a.data["count"] == 3


@pytest.mark.parametrize(
    ("script", "status", "exception"),
    [
        ("raise SystemExit(3)", 3, ""),
        ("raise SystemExit('words')", 1, ""),
        ("raise ValueError('why')", 1, "ValueError: why"),
        ("import os; os._exit(4)", 4, ""),
        ("import atexit, random; atexit.register(random.seed, 1)", 0, ""),
    ],
)
def test_the_end_of_a_program_is_told(tmp_path: Path, script: str, status: int, exception: str) -> None:
    recording, found = run(tmp_path, {"a.py": script}, "a.py")
    assert (recording.status, end(found).status, end(found).exception) == (status, status, exception)
    assert "bisect" not in recording.errors, "the traceback is the program's own"
    assert ("words" in recording.errors, "why" in recording.errors) == ("words" in script, "why" in script)


def test_a_program_that_was_killed_leaves_a_readable_trace(tmp_path: Path) -> None:
    script = "import os, random\nfor i in range(1500):\n    random.seed(i)\nos.kill(os.getpid(), 9)\n"
    recording, found = run(tmp_path, {"a.py": script}, "a.py")
    assert recording.status == -9
    assert 1024 <= len(found) < 1500
    assert not any(isinstance(one, End) for one in found)


def test_a_program_that_takes_too_long_is_ended_and_its_trace_is_whole(tmp_path: Path) -> None:
    script = "import random, time\nrandom.seed(1)\ntime.sleep(60)\n"
    recording, found = run(tmp_path, {"a.py": script}, "a.py", timeout=2)
    assert recording.timed_out
    assert len(events(found, "seed")) == 1
    assert end(found).reason == "signal"


def test_threads_and_processes_have_streams_of_their_own(tmp_path: Path) -> None:
    script = """
import multiprocessing, random, threading
from concurrent.futures import ThreadPoolExecutor

def work(): random.seed(1)

class Own(multiprocessing.Process):
    def run(self): random.seed(2)

if __name__ == "__main__":
    for start in (threading.Thread(target=work), multiprocessing.get_context("fork").Process(target=work),
                  multiprocessing.get_context("spawn").Process(target=work), Own()):
        start.start()
        start.join()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.apply(work)
        pool.close()
        pool.join()
"""
    recording, found = run(tmp_path, {"a.py": script}, "a.py")
    assert recording.status == 0, recording.errors
    trace = Trace(recording.folder)
    assert trace.names == ("main", "pool0", "pool1", "process0", "process1", "process2", "thread0")
    for name in trace.names[1:]:
        first, last = trace.stream(name).records()
        assert isinstance(first, Event)
        assert (first.kind, first.line is not None, type(last)) == ("seed", True, End)
    started = [one.what for one in found if isinstance(one, Event)]
    assert started == ["thread0", "process0", "process1", "process2"]


def test_threads_of_libraries_have_no_stream(tmp_path: Path) -> None:
    script = (
        "import multiprocessing, random\nqueue = multiprocessing.Queue()\nqueue.put(1)\nqueue.get()\nrandom.seed(1)\n"
    )
    recording, found = run(tmp_path, {"a.py": script}, "a.py")
    assert recording.status == 0, recording.errors
    assert Trace(recording.folder).names == ("main",)
    assert len(found) == 2


def test_two_recordings_of_one_program_are_equal(tmp_path: Path) -> None:
    for name in "ab":
        folder = tmp_path / name / "same"
        run(folder, {"a.py": DRAW + "import os\nos.listdir('.')\n"}, "a.py", options=Options(listing="sorted"))
    lines = [list(Trace(tmp_path / name / "same" / "trace").stream("main").lines()) for name in "ab"]
    assert lines[0] == lines[1]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ([], "no program is given"),
        (["missing.py"], "missing.py is neither a file nor a command"),
        (["-m"], "-m needs the name"),
        (["-O", "a.py"], "options of python such as -O"),
        (["missing.py::test"], "there is no file missing.py"),
        (["ls"], "ls is no script of Python"),
    ],
)
def test_what_cannot_be_run_is_told_before_it_is(tmp_path: Path, command: list[str], told: str) -> None:
    with pytest.raises(programs.ProgramError, match=told):
        record(command, tmp_path / "trace", cwd=tmp_path)
    assert not (tmp_path / "trace").exists()


def test_commands_are_brought_to_one_form(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    assert programs.check(["python", "a.py", "x"], tmp_path) == ["a.py", "x"]
    assert programs.check([sys.executable, "-m", "a"], tmp_path) == ["-m", "a"]
    assert programs.check(["a.py::test_b[1]", "-x"], tmp_path) == ["-m", "pytest", "a.py::test_b[1]", "-x"]
    assert programs.check(["torchrun", "--nproc_per_node", "2", "a.py"]) == [
        *("-m", "torch.distributed.run", "--nproc_per_node", "2", "a.py")
    ]


def test_nothing_is_imported_from_the_working_folder_before_the_program(tmp_path: Path) -> None:
    files = {"a.py": DRAW, "json.py": "open('marker', 'w').close()\n", "sub/a.py": "import enum\n"}
    recording, _ = run(tmp_path, files, "sub/a.py")
    assert recording.status == 0, recording.errors
    assert not (tmp_path / "marker").exists()


def test_the_launcher_needs_neither_torch_nor_numpy() -> None:
    import subprocess

    parts = "detlint.bisect.running.launch, detlint.bisect.streams, detlint.bisect.recorded.child"
    code = f"import sys, {parts}\nprint(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(Path(launch.__file__).parents[3])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert {"torch", "numpy", "libcst"}.isdisjoint(done.stdout.split())
