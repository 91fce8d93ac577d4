"""What tests of the recorder share: functions recorded in this process, and traces read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detlint.bisect.options import Options
from detlint.bisect.records import Op, Record
from detlint.bisect.streams import Trace


def recorded(folder: Path, function: Callable[[], Any], options: Options | None = None) -> list[Op]:
    """The operations of a function, recorded in this process without the hooks that stay in libraries."""
    pytest.importorskip("torch")
    from detlint.bisect.recorded import keeping
    from detlint.bisect.recorded.recorder import Recorder
    from detlint.bisect.recorded.session import Session

    folder.mkdir(exist_ok=True)
    held = Session(folder, options or Options())
    held.keeper = keeping.Keeper.of(held.options)
    try:
        with Recorder():  # type: ignore[no-untyped-call]
            function()
    finally:
        held.finish()
    return [one for one in records(folder) if isinstance(one, Op)]


def records(folder: Path, stream: str = "main") -> list[Record]:
    """All records of a stream."""
    return list(Trace(folder).stream(stream).records())


def named(ops: list[Op], name: str) -> Op:
    """The last operation of a name."""
    return [op for op in ops if op.name == name][-1]
