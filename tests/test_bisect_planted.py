"""Programs with one planted cause each: the report names its line and its kind, and finds nothing in the twin."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

from detlint import bisecting
from detlint.bisect.comparing import outcome
from detlint.bisect.comparing.outcome import DIVERGED, EQUAL, Outcome
from detlint.bisect.options import Options
from detlint.bisect.streams import Trace

from .planted import SCRIPT, Planted, Recorder, pages, recorders

pytestmark = pytest.mark.slow

PAGES = [pytest.param(page, id=page.name) for page in pages()]


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Recorder, Recorder]]:
    with recorders() as found:
        yield found


def compared(page: Planted, source: str, folder: Path, both: tuple[Recorder, Recorder]) -> Outcome:
    """The program run once by each recorder, in a folder of its own, and the two runs compared."""
    scripts = folder / "scripts"
    scripts.mkdir()
    (scripts / SCRIPT).write_text(source)
    if page.resumed:
        both[0].start(scripts, folder / "earlier.trace", Options())
        assert both[0].wait() == 0
    traces = [folder / "a.trace", folder / "b.trace"]
    for recorder, trace, options in zip(both, traces, page.plan().pair(), strict=True):
        place = folder / trace.stem / "run"
        shutil.copytree(scripts, place)
        recorder.start(place, trace, options)
    logs = [trace.with_suffix(".log") for trace in traces]
    assert [recorder.wait() for recorder in both] == [0, 0], "".join(log.read_text() for log in logs)
    return outcome.compare(Trace(traces[0]), Trace(traces[1]))


@pytest.mark.parametrize("page", PAGES)
def test_the_line_and_the_cause_are_named(page: Planted, tmp_path: Path, both: tuple[Recorder, Recorder]) -> None:
    found = compared(page, page.faulty, tmp_path, both)
    for attempt in range(4):  # a clock may give both runs as many steps, two hash seeds a set the same order
        if found.status != EQUAL:
            break
        (again := tmp_path / f"again-{attempt}").mkdir()
        with recorders() as others:  # with hash seeds of their own
            found = compared(page, page.faulty, again, others)
    assert found.status == DIVERGED
    first = found.found[0]
    assert (first.cause.kind, str(first.cause.line)) == (page.cause, f"{SCRIPT}:{page.line}"), first.cause.evidence
    advice = bisecting.advise(first, Path(found.metas[0].folder), SCRIPT, found.loaded)
    assert advice.code == page.rule or not page.rule


@pytest.mark.parametrize("page", PAGES)
def test_the_repaired_twin_is_equal(page: Planted, tmp_path: Path, both: tuple[Recorder, Recorder]) -> None:
    found = compared(page, page.repaired, tmp_path, both)
    assert found.status == EQUAL, [(one.stream, str(one.cause.line), one.cause.evidence) for one in found.found]
