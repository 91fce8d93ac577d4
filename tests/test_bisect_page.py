"""How a difference spreads over steps, and the page that shows it: from records made by hand and written."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

from detlint.bisect.comparing import outcome, spread
from detlint.bisect.records import VERSION
from detlint.bisect.showing import page, report
from detlint.bisect.streams import META, Trace
from detlint.bisect.writer import SUFFIX, Writer

PLACE = [("train.py", 3, "<module>", None)]
NAMES = "head.weight head.bias"


def trace(folder: Path, steps: list[tuple[str, str, str]], what: str = "SGD") -> Trace:
    """A record of steps: for each the digests of the loss, of the weight and of the bias."""
    folder.mkdir()
    described = {"version": VERSION, "argv": ["train.py"], "folder": str(folder), "options": {}, "digest": "test"}
    (folder / META).write_text(json.dumps({**described, "environment": {}, "final": {}, "start": {}}))
    writer = Writer(folder / f"main{SUFFIX}")
    stack = writer.stack("key", PLACE)
    for number, (loss, *parameters) in enumerate(steps):
        if number == 0:
            writer.event("parameters", what, stack, (), {"optimizer": 0, "names": NAMES})
        writer.event("loss", "", stack, (loss,), {})
        writer.event("step", what, stack, parameters, {"optimizer": 0, "step": number})
    writer.end({"reason": "exit", "status": 0, "exception": "", "seen": {}, "unseen": []})
    return Trace(folder)


def both(folder: Path, what: str = "SGD") -> tuple[Trace, Trace]:
    a = trace(folder / "a", [("1" * 16, "2" * 16, "3" * 16), ("4" * 16, "5" * 16, "6" * 16)], what)
    b = trace(folder / "b", [("1" * 16, "2" * 16, "3" * 16), ("4" * 16, "7" * 16, "6" * 16)], what)
    return a, b


def test_the_first_step_and_the_parameter_that_differ_are_named(tmp_path: Path) -> None:
    found = spread.spread(*both(tmp_path))
    assert found.names == ["loss", "head.weight", "head.bias"]
    assert found.first == 1
    assert found.steps[1] == {"loss": True, "head.weight": False, "head.bias": True}


def test_a_step_that_differs_is_a_divergence_where_steps_alone_were_recorded(tmp_path: Path) -> None:
    found = outcome.compare(*both(tmp_path))
    assert found.status == outcome.DIVERGED
    divergence = found.found[0].comparison.divergence
    assert divergence is not None
    assert (divergence.differs, found.found[0].a.steps) == (("digests",), 1)


class Tags(HTMLParser):
    """Whether tags are closed in the order in which they were opened, what they are, and their addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.seen: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag != "meta":
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag


def test_a_record_does_not_speak_to_the_terminal(tmp_path: Path) -> None:
    found = outcome.compare(*both(tmp_path, "\x1b[2J"))
    shown = report.text(found, "train.py", lambda line: ["\tx\x07"] * 5)
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert ">" in shown


def test_the_page_is_whole_needs_no_network_and_runs_nothing_from_a_record(tmp_path: Path) -> None:
    a, b = both(tmp_path, "<script>alert(1)</script>")
    found = outcome.compare(a, b)
    made = page.build(found, "train.py --name '<img src=x>'", "1 < 2", spread.spread(a, b))
    tags = Tags()
    tags.feed(made)
    assert tags.opened == []
    assert {"script", "img", "link"}.isdisjoint(tags.seen)
    assert tags.addresses == []
    assert tags.seen.count("rect") == 6
    assert made.count("class=differs></i>") == made.count("class=differs><title>") == 1  # the key, one parameter
