"""Somebody at work, for `tests.tools.soak`: files opened, typed in, saved, renamed and broken, at random by a seed.

What is on the disk and what is open in the editor is known at all times, so that it can be written down elsewhere.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsprotocol import types

from detlint import reading
from detlint.reading.lowering import NotPythonError
from detlint.sources import notebook
from tests.editor import Editor, position, range_of

SETTINGS = "detlint.toml"  # makes one project of a folder of many
_MOST_OPEN = 12
_LINES = (
    "import torch",
    "import random",
    "import numpy as np",
    "torch.manual_seed(0)",
    "random.seed(0)",
    "np.random.seed(0)",
    "torch.backends.cudnn.benchmark = True",
    "torch.use_deterministic_algorithms(True)",
    "x = torch.rand(2)",
    "x = torch.empty(3)  # noqa: DET401",
    "random.shuffle([1, 2])",
    "def helper(n): return torch.randn(n)",
    "# noqa",
    "print('\N{GAME DIE} é')",
    "",
)
_BREAKS = ("def (:", ")", '"""', "    x =", "if True", "\t\x0c", "print(", "]", "lambda")
_SETTINGS = (
    "",
    'select = ["ALL"]\n',
    'ignore = ["DET2"]\n',
    'severity = "warning"\n',
    'exclude = ["*main*"]\n',
    'per-file-ignores = {"*.py" = ["DET101"]}\n',
    'torch-version = "2.1"\n',
    '[[seeds]]\nnames = ["main.seed"]\nseeds = ["torch"]\n',
)
_WRONG_SETTINGS = ("select = [", 'selekt = ["ALL"]\n', "select = 1\n", 'select = ["DET9"]\n')
_OPTIONS: tuple[Any, ...] = (
    None,
    {},
    {"ignore": ["DET3"]},
    {"select": ["DET1", "DET5"]},
    {"severity": "warning"},
    {"selekt": 1},
)


class Desk:
    """A folder and an editor that has it open."""

    def __init__(self, editor: Editor, folder: Path, seed: int) -> None:
        self.editor = editor
        self.folder = folder
        self.options: object = None  # the settings of the editor that are in force
        self.told: list[str] = []  # what was done
        self._random = random.Random(seed)
        self._open: dict[Path, str] = {}  # URIs of files
        self._books: dict[Path, list[str]] = {}  # URIs of cells
        self._made = 0
        self._what: list[tuple[int, Callable[[], str]]] = [
            (30, self._type),
            (10, self._type_much),
            (6, self._break),
            (12, self._open_one),
            (4, self._close_one),
            (8, self._save),
            (5, self._write_beside),
            (2, self._create),
            (2, self._delete),
            (3, self._rename),
            (2, self._settings),
            (1, self._configure),
            (5, self._ask),
        ]

    def act(self) -> None:
        """Do something."""
        weights = [weight for weight, _ in self._what]
        (do,) = self._random.choices([do for _, do in self._what], weights)
        done = do()
        if done:
            self.told.append(done)

    def texts(self) -> dict[Path, str]:
        """What is open, by path: of a notebook the JSON that it would be saved as."""
        found = {path: self.editor.texts[uri] for path, uri in self._open.items()}
        return found | {path: self._book(uris) for path, uris in self._books.items()}

    def parts(self) -> dict[str, tuple[Path, int | None]]:
        """The documents of the editor by URI: their file, and the cell."""
        files: dict[str, tuple[Path, int | None]] = {uri: (path, None) for path, uri in self._open.items()}
        cells = {uri: (path, cell) for path, uris in self._books.items() for cell, uri in enumerate(uris)}
        return files | cells

    def finish(self) -> None:
        """Come to an end with what is half typed: it is mended, or written to the disk as it is.

        What is open and gone from the disk is closed, for no other run knows of it.
        """
        for path in [each for each in self.texts() if not each.exists()]:
            self._close(path)
        for path, text in self.texts().items():
            if is_python(path, text):
                continue
            if self._random.random() < 0.5 and path in self._open:
                uri = self._open[path]
                self.editor.replace(uri, 0, len(self.editor.texts[uri]), "import torch\n\nprint(torch.rand(2))\n")
                self.told.append(f"mended {path.name}")
            else:
                self._save_one(path)
                self.told.append(f"saved {path.name} broken")

    def settle(self) -> None:
        """Wait until all that was told is analysed and published."""
        uri = next(iter(self.parts()), (self.folder / "none.py").as_uri())
        for _ in range(3):  # the answer to a question of the server's has to get through, too
            self.editor.hover(uri, types.Position(0, 0))

    # What is done

    def _some(self, found: list[Path]) -> Path | None:
        return self._random.choice(sorted(found)) if found else None

    def _files(self) -> list[Path]:
        return [path for kind in ("*.py", "*.ipynb") for path in self.folder.rglob(kind) if ".detlint" not in str(path)]

    def _open_one(self) -> str:
        shut = [path for path in self._files() if path not in self._open and path not in self._books]
        path = self._some(shut)
        if path is None or len(self._open) + len(self._books) >= _MOST_OPEN:
            return self._close_one()
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == ".py":
            self._open[path] = self.editor.open(path, text)
            return f"opened {path.name}"
        try:
            cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
        except (ValueError, LookupError, TypeError):
            return ""
        self._books[path] = self.editor.open_notebook(path, cells)
        return f"opened {path.name}"

    def _close_one(self) -> str:
        path = self._some([*self._open, *self._books])
        if path is None:
            return ""
        self._close(path)
        return f"closed {path.name}"

    def _close(self, path: Path) -> None:
        if path in self._open:
            self.editor.close(self._open.pop(path))
        else:
            del self._books[path]
            self.editor.close_notebook(path.as_uri())

    def _type(self) -> str:
        return self._edit(self._random.choice(_LINES))

    def _break(self) -> str:
        return self._edit(self._random.choice(_BREAKS))

    def _edit(self, line: str) -> str:
        """A line more, less, or in place of another, indented as that one is."""
        parts = self.parts()
        if not parts:
            return self._open_one()
        uri = self._random.choice(sorted(parts))
        path, cell = parts[uri]
        text = self.editor.texts[uri]
        lines = text.split("\n")
        number = self._random.randrange(len(lines))
        start = sum(len(each) + 1 for each in lines[:number])
        before = lines[number]
        indent = before[: len(before) - len(before.lstrip())]
        way = self._random.choice(("before", "instead", "away", "twice"))
        new = {
            "before": f"{indent}{line}\n{before}",
            "instead": f"{indent}{line}",
            "away": "",
            "twice": f"{before}\n{before}",
        }[way]
        if cell is None:
            self.editor.replace(uri, start, start + len(before), new)
        else:
            self.editor.replace_in_cell(path, uri, start, start + len(before), new)
        return f"{path.name}:{number + 1}: {line!r} {way}"

    def _type_much(self) -> str:
        """Key by key, as fast as the editor can."""
        if not self._open:
            return self._open_one()
        path = self._random.choice(sorted(self._open))
        uri = self._open[path]
        word = self._random.choice(_LINES) + "\n"
        for number, letter in enumerate(word):
            self.editor.replace(uri, number, number, letter)
        return f"{path.name}: {word!r} key by key"

    def _save(self) -> str:
        path = self._some([*self._open, *self._books])
        if path is None:
            return self._open_one()
        self._save_one(path)
        return f"saved {path.name}"

    def _save_one(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        there = path.exists()
        if path in self._open:
            self.editor.save(self._open[path], path)
        else:
            path.write_text(self._book(self._books[path]), encoding="utf-8", newline="")
        self.editor.changed(path, types.FileChangeType.Changed if there else types.FileChangeType.Created)

    def _write_beside(self) -> str:
        """Another program writes a file."""
        path = self._some([path for path in self._files() if path.suffix == ".py"])
        if path is None:
            return ""
        text = path.read_text(encoding="utf-8", errors="replace")
        text = f"{self._random.choice(_LINES)}\n{text}" if self._random.random() < 0.7 else text.partition("\n")[2]
        path.write_text(text, encoding="utf-8", newline="")
        self.editor.changed(path)
        return f"wrote {path.name} beside the editor"

    def _create(self) -> str:
        self._made += 1
        folder = self._random.choice(sorted({path.parent for path in self._files()} | {self.folder}))
        path = folder / f"made{self._made}.py"
        path.write_text("\n".join(self._random.choices(_LINES, k=8)) + "\n", encoding="utf-8", newline="")
        self.editor.changed(path, types.FileChangeType.Created)
        return f"made {path.name}"

    def _delete(self) -> str:
        made = [path for path in self._files() if path.stem.startswith(("made", "moved"))]
        path = self._some(made)
        if path is None:
            return ""
        path.unlink()
        self.editor.changed(path, types.FileChangeType.Deleted)
        return f"removed {path.name}"

    def _rename(self) -> str:
        path = self._some([path for path in self._files() if path not in self._open and path not in self._books])
        if path is None:
            return ""
        self._made += 1
        new = path.with_name(f"moved{self._made}{path.suffix}")
        path.rename(new)
        self.editor.changed(path, types.FileChangeType.Deleted)
        self.editor.changed(new, types.FileChangeType.Created)
        return f"renamed {path.name} to {new.name}"

    def _settings(self) -> str:
        wrong = self._random.random() < 0.3
        text = self._random.choice(_WRONG_SETTINGS if wrong else _SETTINGS)
        (self.folder / SETTINGS).write_text(text, encoding="utf-8")
        self.editor.changed(self.folder / SETTINGS)
        return f"settings {text!r}"

    def _configure(self) -> str:
        options = self._random.choice(_OPTIONS)
        self.editor.configure(options)
        if not (options and "selekt" in options):  # wrong ones are told, and those before stay
            self.options = options
        return f"the editor's settings {options}"

    def _ask(self) -> str:
        """A menu, the fixes of a whole file, and a page."""
        parts = self.parts()
        if not parts:
            return ""
        uri = self._random.choice(sorted(parts))
        text = self.editor.texts[uri]
        place = self._random.randrange(len(text) + 1)
        only = self._random.choice(((), ("source.fixAll",), ("quickfix",)))
        self.editor.actions(uri, range_of(text, place, len(text)), *only)
        self.editor.hover(uri, position(text, place))
        return f"asked of {parts[uri][0].name}"

    def _book(self, uris: list[str]) -> str:
        cells = [{"cell_type": "code", "source": self.editor.texts[uri]} for uri in uris]
        return json.dumps({"cells": cells})


def is_python(path: Path, text: str) -> bool:
    """Whether a file, or all cells of a notebook, can be parsed."""
    try:
        document = notebook.read(str(path), text)
        reading.check(document.text)
    except (notebook.NotebookError, NotPythonError, RecursionError):
        return False
    return not document.broken
