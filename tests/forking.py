"""Pages that hold programs, and processes that fork for each program they run: what tests of whole runs share."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_PAGE = re.compile(r"\A\+\+\+\n(?P<header>.*?)^\+\+\+\n(?P<about>.*?)(?=^```)", re.S | re.M)


def read_page(path: Path) -> tuple[dict[str, Any], str]:
    """The header of a page, and all of its text."""
    text = path.read_text(encoding="utf-8")
    page = _PAGE.match(text)
    assert page and page["about"].strip(), f"{path.name} needs a header and a word on what is in it"
    return tomllib.loads(page["header"]), text


class Forking:
    """A fresh process of a script that forks for each job that it is sent, and tells how each ends."""

    def __init__(self, script: Path, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(script)], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def send(self, job: Mapping[str, object]) -> None:
        """Sends a job, whose exit status `wait` returns."""
        assert self._process.stdin
        print(json.dumps(job), file=self._process.stdin, flush=True)

    def wait(self) -> int:
        """The exit status of the job that was sent last, once it has ended."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        return self.wait() if line == "ready\n" else int(line)

    def stop(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.communicate()
