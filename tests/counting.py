"""Run detlint in this process again and again, and count what it does: `python -m tests.counting FOLDER PLAN`.

The plan is JSON: for the name of each run a file to write before it and its text, or none, and its arguments. Printed
are the counts of each run, as JSON. Files are known by their first line, `# whole: NAME`, so that texts are counted by
the file that they are of, whatever parses them.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import libcst

from detlint import __main__ as command
from detlint.cache import cache, snapshot

_MARK = re.compile(r"# whole: (\S+)")
_STARTS = frozenset(("fork", "fork_exec", "posix_spawn"))
# What a function's call counts as, by its file below `detlint` and its name.
_CALLS = {
    ("facts/collect.py", "collect"): "collected",
    ("project/project.py", "Project.__init__"): "linked",
    ("facts/codec.py", "Codec.decode"): "decoded",
}


class Counts:
    """Counts one run at a time."""

    def __init__(self, folder: Path) -> None:
        """`folder` has the files that count."""
        self.found: Counter[str] = Counter()
        self._files = {str(path) for path in folder.rglob("*.*")}
        self._package = str(Path(command.__file__).parent) + os.sep
        self._kinds: dict[CodeType, str] = {}
        parse = libcst.parse_module

        def noted(source: Any, *given: Any) -> Any:
            self._text(source)
            return parse(source, *given)

        setattr(libcst, "parse_module", noted)  # noqa: B010 - of another type, for all that is known
        sys.addaudithook(self._audit)

    def run(self, arguments: list[str]) -> Counter[str]:
        """What `detlint` does with these arguments."""
        self.found = Counter()
        sys.argv = ["detlint", *arguments]
        with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
            sys.setprofile(self._profile)
            try:
                command.main()
            finally:
                sys.setprofile(None)
        self.found["findings"] = sum(map(int, re.findall(r"^ *(\d+) +DET", said.getvalue(), re.MULTILINE)))
        return self.found

    def _text(self, source: Any) -> None:
        text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
        mark = _MARK.search(text) if isinstance(text, str) else None
        if mark is not None:
            self.found["parsed"] += 1
            self.found[f"parsed {mark[1].rstrip('0123456789')}"] += 1

    def _audit(self, event: str, given: tuple[Any, ...]) -> None:
        if event == "compile":
            self._text(given[0])
        elif event == "open" and isinstance(given[0], (str, bytes)) and not given[2] & (os.O_WRONLY | os.O_RDWR):
            path = os.path.abspath(os.fsdecode(given[0]))  # noqa: PTH100 - pathlib would count
            if path in self._files and path.endswith((".py", ".ipynb")):
                self.found["opened"] += 1

    def _profile(self, frame: FrameType, event: str, given: Any) -> None:
        if event == "c_call":
            if given.__name__ in _STARTS:
                self.found["processes"] += 1
        elif event == "call":
            kind = self._kinds.get(frame.f_code)
            if kind is None:
                kind = self._kinds[frame.f_code] = self._kind(frame)
            self.found["calls"] += bool(kind)
            if kind not in ("", "call"):
                self.found[kind] += 1

    def _kind(self, frame: FrameType) -> str:
        """What the call of a function of detlint counts as, besides a call; nothing for those of others."""
        path = frame.f_code.co_filename
        if not path.startswith(self._package):
            return ""
        inner, name = path.removeprefix(self._package).replace(os.sep, "/"), frame.f_code.co_name
        if "self" in frame.f_locals:
            name = f"{type(frame.f_locals['self']).__name__}.{name}"
        if inner.startswith("checks/") and name == "check":
            return "rules run"
        return _CALLS.get((inner, name), "call")


def main() -> None:
    """Carry out the plan."""
    folder, plan = Path(sys.argv[1]).resolve(), json.loads(sys.argv[2])
    os.chdir(folder)
    counts, found = Counts(folder), {}
    for module in (cache, snapshot):
        setattr(module, "_SETTLES", -(10**12))  # noqa: B010 - however slow the machine, no file is too new to be trusted
    for name, (changed, text, arguments) in plan.items():
        if changed:
            Path(changed).write_text(text, encoding="utf-8")
        found[name] = counts.run(arguments)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
