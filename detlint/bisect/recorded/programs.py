"""Programs started in this process as Python would start them: scripts, modules, notebooks, tests, rank launchers."""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import linecache
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

_LAUNCHERS = ("torch.distributed.run", "torch.distributed.launch")
_PYTHONS = ("python", "python3")


class ProgramError(Exception):
    """Raised if a command names nothing that can be run. The message says what to do."""


def check(command: list[str], cwd: Path | None = None) -> list[str]:
    """Return a command in the form that `find` takes, without a leading `python`. Raises ProgramError."""
    folder = cwd or Path()
    if command and (Path(command[0]).name in _PYTHONS or command[0] == sys.executable):
        command = command[1:]
    if not command:
        raise ProgramError("no program is given; name one behind `--`, as in `-- train.py ARGUMENTS`")
    first = command[0]
    if first == "-m":
        if len(command) < 2:
            raise ProgramError("-m needs the name of a module")
        return command
    if first.startswith("-"):
        raise ProgramError(f"options of python such as {first} are not passed on; set variables such as PYTHONOPTIMIZE")
    path, _, test = first.partition("::")
    if test:
        if not (folder / path).is_file():
            raise ProgramError(f"there is no file {path}")
        return ["-m", "pytest", *command]
    if (folder / first).is_file():
        return command
    if first == "torchrun":
        return ["-m", "torch.distributed.run", *command[1:]]
    found = shutil.which(first)
    if found is not None and _is_python(Path(found)):
        return [found, *command[1:]]
    reason = "is no script of Python" if found else "is neither a file nor a command"
    raise ProgramError(f"{first} {reason}; give a script, `-m module`, a notebook, a test or `torchrun ...`")


def find(command: list[str], for_ranks: Callable[[list[str]], list[str]]) -> Callable[[], None]:
    """Return a function that runs the program of a command. `for_ranks` changes the script that each rank runs."""
    if command[0] == "-m":
        if command[1] in _LAUNCHERS:
            return lambda: _launch(command[2:], for_ranks)
        return lambda: _module(command[1], command[2:])
    if command[0].endswith(".ipynb"):
        return lambda: _notebook(command)
    return lambda: _script(command)


def _script(command: list[str]) -> None:
    path = command[0]
    sys.argv = list(command)
    sys.path.insert(0, str(Path(path).resolve().parent))
    code = compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)
    main = _main_module(path)
    main.__dict__["__cached__"] = None
    _run(code, main)


def _module(name: str, arguments: list[str]) -> None:
    sys.path.insert(0, str(Path.cwd()))
    sys.argv = ["-m", *arguments]
    spec = _find_module(name)
    code = spec.loader.get_code(spec.name) if spec.loader is not None and hasattr(spec.loader, "get_code") else None
    if code is None:
        sys.exit(f"detlint: {name} has no code that can be run")
    sys.argv[0] = spec.origin or name
    main = _main_module(spec.origin or name)
    main.__spec__ = spec
    main.__loader__ = spec.loader
    main.__package__ = spec.parent
    _run(code, main)


def _find_module(name: str) -> importlib.machinery.ModuleSpec:
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ImportError as error:
        sys.exit(f"detlint: no module {name} ({error})")
    if spec is None:
        sys.exit(f"detlint: no module {name} that can be run")
    return spec


def _notebook(command: list[str]) -> None:
    """Run the cells in order, each compiled on its own: lines count within a cell, as people see them."""
    from detlint.sources import notebook

    path = command[0]
    try:
        document = notebook.read(path, Path(path).read_text(encoding="utf-8"))
    except notebook.NotebookError as error:
        sys.exit(f"detlint: {path}: {error}")
    for broken in document.broken:
        sys.exit(f"detlint: {path}: cell {broken.cell} cannot be run: {broken.reason}")
    sys.argv = [path, *command[1:]]
    sys.path.insert(0, str(Path(path).resolve().parent))
    os.environ.setdefault("MPLBACKEND", "Agg")  # no window
    main = _main_module(path)
    del main.__file__  # as in a notebook: a spawned process must not take it for a script
    main.__dict__["get_ipython"] = lambda: None
    builtins.__dict__.setdefault("display", lambda *shown, **options: None)
    cells: dict[int, list[str]] = {}
    for line, origin in zip(document.text.splitlines(keepends=True), document.origins, strict=True):
        cells.setdefault(origin.cell, []).append(line)
    sys.modules["__main__"] = main
    for number, lines in cells.items():
        name = f"{path}[{number}]"
        linecache.cache[name] = (len(lines), None, lines, name)  # so that its lines can be shown
        exec(compile("".join(lines), name, "exec", dont_inherit=True), main.__dict__)


def _launch(arguments: list[str], for_ranks: Callable[[list[str]], list[str]]) -> None:
    """Run torch's launcher of ranks, told to start each rank's script under the recorder."""
    from torch.distributed import run

    options: Any = run.get_args_parser().parse_args(arguments)
    script = [options.training_script, *options.training_script_args]
    if options.module:
        script.insert(0, "-m")
    replaced = for_ranks(script)
    options.module, options.no_python = True, False
    options.training_script, options.training_script_args = replaced[1], replaced[2:]
    sys.argv = ["torchrun", *arguments]
    run.run(options)  # type: ignore[no-untyped-call]


def _main_module(path: str) -> ModuleType:
    main = ModuleType("__main__")
    main.__file__ = path
    main.__builtins__ = builtins  # type: ignore[attr-defined]
    return main


def _run(code: CodeType, main: ModuleType) -> None:
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def _is_python(path: Path) -> bool:
    with path.open("rb") as file:
        return b"python" in file.readline(200) and path.read_bytes()[:2] == b"#!"
