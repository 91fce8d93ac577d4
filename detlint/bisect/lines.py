"""Which line of the user's code an operation comes from: the frames of the call stack, without those of libraries."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import TypeAlias

Place: TypeAlias = "tuple[str, int, str, int | None]"  # path, line, function, cell
Key: TypeAlias = "tuple[int, ...]"  # pairs of a code object's id and an instruction in it, innermost first

DEPTH = 8
_CELL = re.compile(r"(.+\.ipynb)\[(\d+)\]")
_OWN = str(Path(__file__).resolve().parents[1])
_INSTALLED = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
_STANDARD = tuple({str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "platstdlib")})
_ENGINES = {("graph.py", "_engine_run_backward"), ("__init__.py", "backward"), ("__init__.py", "grad")}
_WRAPPERS = tuple(os.path.join("torch", *one) for one in (("_compile.py",), ("_dynamo", "eval_frame.py")))  # noqa: PTH118
_TEMPORARY = os.path.realpath(tempfile.gettempdir())
_LIBRARY, _ENGINE, _USER = range(3)


class Lines:
    """A finder of the user's lines. `folder` is that of the run; `user` has installed folders that count as theirs."""

    def __init__(self, folder: str, user: Sequence[str] = ()) -> None:
        self._folder = folder
        self._user = tuple(str(Path(path).resolve()) for path in user)
        self._installed = (*_INSTALLED, *_targets(folder))
        self._torch = tuple(f"{part}torch{os.sep}" for part in self._installed)
        self._codes: dict[int, tuple[int, CodeType]] = {}  # keeps the code objects alive: an id must not be reused
        self._places: dict[tuple[int, int], Place] = {}

    def key(self, frame: FrameType | None, past_engine: bool = True) -> Key | None:
        """Return the innermost lines of the user's code from a frame outwards, as a key for `places`.

        Without `past_engine`, return None if autograd's engine comes before all of them: the operation is one of its
        own.
        """
        found: list[int] = []
        codes = self._codes
        while frame is not None:
            code = frame.f_code
            known = codes.get(id(code))
            kind = known[0] if known is not None else self._classify(code)
            if kind == _USER:
                found += (id(code), frame.f_lasti)
                if len(found) == 2 * DEPTH:
                    break
            elif kind == _ENGINE and not found and not past_engine:
                return None
            frame = frame.f_back
        return tuple(found)

    def places(self, key: Key) -> list[Place]:
        """Return the lines that a key stands for."""
        return [self._place(key[i], key[i + 1]) for i in range(0, len(key), 2)]

    def is_aside(self, frame: FrameType | None) -> bool:
        """Return whether what a frame does is not part of the computation.

        This holds for what the standard library and torch do for themselves: torch restores states and lists folders
        where it compiles code or launches ranks. What it does in `torch.utils`, as in data loaders, is the program's.
        """
        if frame is None:
            return False
        path = frame.f_code.co_filename
        inner = next((path.partition(part)[2] for part in self._torch if part in path), "")
        return self._standard(path) or bool(inner and not inner.startswith(f"utils{os.sep}"))

    def is_import(self, frame: FrameType | None) -> bool:
        """Return whether a frame is library code that runs while the library is imported."""
        while frame is not None and not self.is_user(frame):
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                return True
            frame = frame.f_back
        return False

    def is_user(self, frame: FrameType | None) -> bool:
        """Return whether a frame runs the user's own code."""
        if frame is None:
            return False
        code = frame.f_code
        known = self._codes.get(id(code))
        return (known[0] if known is not None else self._classify(code)) == _USER

    def loaded(self) -> list[str]:
        """Return the files of the user's code that this process has loaded, as they are shown, sorted.

        They are the files of its modules and of code that was seen running outside modules: code executed in other
        ways, and the cells of notebooks.
        """
        seen = {code.co_filename for kind, code in list(self._codes.values()) if kind == _USER}
        paths = [vars(one).get("__file__") for one in list(sys.modules.values()) if isinstance(one, ModuleType)]
        modules = [(os.path.dirname(path), path) for path in paths if isinstance(path, str)]  # noqa: PTH120
        own = {folder: self._is_user(path) for folder, path in dict(modules).items()}  # there are thousands of modules
        return sorted({self._file(path) for path in (*seen, *(path for folder, path in modules if own[folder]))})

    def _place(self, code_id: int, instruction: int) -> Place:
        found = self._places.get((code_id, instruction))
        if found is None:
            code = self._codes[code_id][1]
            line = next((n for start, end, n in code.co_lines() if start <= instruction < end and n), None)
            cell = _CELL.fullmatch(code.co_filename)
            name = getattr(code, "co_qualname", code.co_name)  # from Python 3.11 on
            found = (self._file(code.co_filename), line or code.co_firstlineno, name, int(cell[2]) if cell else None)
            self._places[code_id, instruction] = found
        return found

    def file(self, code: CodeType) -> tuple[str, int | None]:
        """Return the file of a code object, as it is shown, and the number of its cell in a notebook, or None."""
        cell = _CELL.fullmatch(code.co_filename)
        return self._file(code.co_filename), int(cell[2]) if cell else None

    def _file(self, path: str) -> str:
        """Return the path of a code file as it is shown. A relative one starts at the folder of the run."""
        return self.relative(os.path.join(self._folder, _CELL.sub(r"\1", path)))  # noqa: PTH118

    def relative(self, path: str) -> str:
        """Return a path as it is shown: relative to the folder of the run if it lies inside."""
        full = os.path.abspath(path)  # noqa: PTH100 - Path.absolute keeps `..`
        if full == self._folder:
            return "."
        inside = full.startswith(self._folder + os.sep)
        return full[len(self._folder) + 1 :].replace(os.sep, "/") if inside else full

    def _classify(self, code: CodeType) -> int:
        path = code.co_filename
        kind = _USER if self._is_user(path) else _LIBRARY
        if kind == _LIBRARY and f"torch{os.sep}autograd{os.sep}" in path:
            kind = _ENGINE if (os.path.basename(path), code.co_name) in _ENGINES else _LIBRARY  # noqa: PTH119
        self._codes[id(code)] = (kind, code)
        return kind

    def _is_user(self, path: str) -> bool:
        if path.startswith("<") or "torchinductor" in path:
            return False
        full = os.path.realpath(_CELL.sub(r"\1", path))
        if any(full.startswith(one) for one in self._user):
            return True
        installed = any(part in full for part in self._installed) or self._generated(full)
        return not (installed or full.startswith(_OWN + os.sep) or self._standard(full))

    def _generated(self, path: str) -> bool:
        """Return whether a library generated a code file during the run, as torch_geometric does.

        Such a file has another name in each run. It lies in the temporary folder, outside all folders of modules.
        """
        if not path.startswith(_TEMPORARY + os.sep):
            return False
        known = {os.path.realpath(one) for one in (self._folder, *sys.path)}
        return not any(str(folder) in known for folder in Path(path).parents)

    def _standard(self, path: str) -> bool:
        return path.startswith(("<frozen", *(one + os.sep for one in _STANDARD))) and not any(
            part in path for part in _INSTALLED
        )


def _targets(folder: str) -> set[str]:
    """Return the folders on the path that `pip install --target` filled: those that hold descriptions of packages."""
    found = {os.path.realpath(one) for one in sys.path if one} - {os.path.realpath(folder)}
    return {one + os.sep for one in found if next(Path(one).glob("*.dist-info"), None)}


def caller() -> FrameType | None:
    """Return the frame that called the asking function; None if no Python code called it, as at exit.

    Wrappers that `torch._dynamo` puts around functions that it does not look into are skipped: its import wraps
    `torch.manual_seed`, and torchvision imports it.
    """
    try:
        frame: FrameType | None = sys._getframe(2)
    except ValueError:
        return None
    while frame is not None and frame.f_code.co_filename.endswith(_WRAPPERS):
        frame = frame.f_back
    return frame
