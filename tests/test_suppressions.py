"""Comments that suppress: what they cover, what stands in them, and what a report says of it."""

from __future__ import annotations

import json
import random
import tokenize
from collections.abc import Iterator
from dataclasses import replace

import pytest

from detlint import catalogue, engine
from detlint.analyse import Source
from detlint.config import Config
from detlint.finding import Place, Severity
from detlint.report import Report
from detlint.sources.suppressions import Coverage, Suppression, Suppressions

BENCHMARK = "torch.backends.cudnn.benchmark = True"
OFF = "torch.backends.cudnn.deterministic = False"
CODES = ("DET101", "DET501")
ALL = Config(select=("ALL",))
USED = Config(select=("ALL",), ignore=("DET001",))


def at(first: int, last: int | None = None, cell: int | None = None) -> Place:
    return Place("a.py", first, 1, last or first, 2, cell)


def covered(text: str, code: str = "DET501") -> list[int]:
    """The lines of a text on which a finding of `code` is suppressed."""
    suppressions = Suppressions.of("a.py", {None: text})
    return [line for line in range(1, len(text.splitlines()) + 1) if suppressions.covering(code, at(line))]


def run(files: dict[str, str], config: Config = ALL) -> Report:
    sources = [Source(path, path.partition(".")[0], text) for path, text in files.items()]
    return engine.check_sources(sources, config, catalogue.load().newest_release())


def shown(text: str, config: Config = USED) -> list[tuple[int, str]]:
    """Line and code of what is reported, beside suppressions that are not used."""
    return [(j.finding.place.line, j.finding.code) for j in run({"a.py": text}, config).findings]


def book(*cells: str, kind: str = "code") -> str:
    made = [{"cell_type": kind, "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made})


def in_book(text: str) -> list[tuple[int | None, int, str]]:
    """Cell, line and code of what is reported of a notebook, beside suppressions that are not used."""
    report = run({"a.ipynb": text}, USED)
    return [(j.finding.place.cell, j.finding.place.line, j.finding.code) for j in report.findings]


# A line


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# noqa", {"DET101", "DET501"}),
        ("#noqa", {"DET101", "DET501"}),
        ("# NoQA", {"DET101", "DET501"}),
        ("# noqa: DET", {"DET101", "DET501"}),
        ("# noqa: nothing to see", {"DET101", "DET501"}),
        ("# noqa: DET101", {"DET101"}),
        ("# noqa:det101", {"DET101"}),
        ("# noqa : DET101", {"DET101"}),
        ("# noqa: DET1", {"DET101"}),
        ("# noqa: E501,DET101", {"DET101"}),
        ("# noqa: E501 ,, DET101", {"DET101"}),
        ("# noqa: E501 DET101, DET501", {"DET101", "DET501"}),
        ("# noqa: E501, det101", {"DET101"}),
        ("# noqa: E501  # noqa: DET101", {"DET101"}),
        ("# type: ignore  # noqa: DET501 the loader is seeded", {"DET501"}),
        ("# type: ignore # noqa: DET501", {"DET501"}),
        ("# noqa: E501", set()),
        ("# nothing", set()),
        ("# noqable", set()),
        ("# DET501", set()),
        ("# flake8: noqa", set()),
    ],
)
def test_noqa(comment: str, codes: set[str]) -> None:
    suppressions = Suppressions.of("a.py", {None: f"x = 1\ny = 2  {comment}\nz = 3\n"})

    def covers(code: str, first: int, last: int) -> bool:
        return bool(suppressions.covering(code, at(first, last)))

    assert {code for code in CODES if covers(code, 2, 2)} == codes
    assert not any(covers("DET101", line, line) for line in (1, 3))
    assert covers("DET101", 1, 2) == covers("DET101", 2, 3) == ("DET101" in codes)
    assert not covers("DET101", 1, 3)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_noqa_counts_lines_as_python_does(newline: str) -> None:
    suppressions = Suppressions.of("a.py", {None: newline.join(["x = '\x0b\x85\u2028'", "\fy = 2  # noqa", "z"])})
    assert [bool(suppressions.covering("DET101", at(line))) for line in (1, 2, 3)] == [False, True, False]
    assert suppressions.all[0].comment.place == Place("a.py", 2, 9, 2, 15)


def test_noqa_counts_on_the_first_and_the_last_line_of_a_span() -> None:
    call = "import torch\ntorch.use_deterministic_algorithms(  {}\n    True,  {}\n    warn_only=True)  {}\n"
    for place, seen in enumerate((False, True, False)):
        comments = ["# noqa: DET503" if i == place else "#" for i in range(3)]
        assert shown(call.format(*comments)) == ([(2, "DET503")] if seen else [])


def test_text_in_a_string_suppresses_nothing() -> None:
    assert shown(f'import torch\n{BENCHMARK}; x = "# noqa"\n') == [(2, "DET501")]
    assert shown(f'import torch\nx = """\n# detlint: noqa\n# detlint: off\n"""\n{BENCHMARK}\n') == [(6, "DET501")]
    assert shown(f'import torch\n{BENCHMARK}; x = "# noqa"  # noqa: DET501\n') == []


def test_a_comment_behind_a_string_of_many_lines_covers_all_of_them() -> None:
    text = 'import os, random\nrandom.seed(os.urandom(4)); x = """\n  # noqa\n"""{}\n'
    assert shown(text.format("")) == [(2, "DET105")]
    assert shown(text.format("  # noqa: DET105")) == []


def test_a_comment_behind_joined_lines_covers_all_of_them_and_no_more() -> None:
    assert covered("a\nx = 1 + \\\n  2 + \\\n  3  # noqa\nb\n") == [2, 3, 4]
    assert covered("x = [\n  1,\n  2,  # noqa\n  3,\n]\n") == [3]
    assert covered("x = [\n  1, '''\n\n''', # noqa\n  3,\n]\n") == [2, 3, 4]
    assert covered("def f():\n    '''\n    a\n    '''  # noqa\n    x\n") == [2, 3, 4]


def test_a_text_whose_tokens_cannot_be_told_is_read_by_its_lines() -> None:
    text = "x = 1  # noqa: DET501\n# detlint: off DET1\ny = (\n"
    with pytest.raises((tokenize.TokenError, SyntaxError)):
        list(tokenize.generate_tokens(iter(text.splitlines(True)).__next__))
    assert (covered(text), covered(text, "DET101")) == ([1], [3])


# A file


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("# detlint: noqa", {"DET101", "DET501"}),
        ("#detlint:noqa", {"DET101", "DET501"}),
        ("    # detlint: noqa", {"DET101", "DET501"}),
        ("# detlint: noqa -- generated", {"DET101", "DET501"}),
        ("# detlint: noqa: DET5", {"DET501"}),
        ("# detlint: noqa DET5", {"DET501"}),
        ("# detlint: noqa: DET5 (measured)", {"DET501"}),
        ("# detlint: noqa is for files", set()),
        ("# detlint: noqa: DET20l", set()),
        ("# flake8: noqa", set()),
        ("x = 1  # detlint: noqa", set()),
    ],
)
def test_noqa_for_a_whole_file(line: str, codes: set[str]) -> None:
    suppressions = Suppressions.of("a.py", {None: f"import torch\n{line}\nx = 1\n"})
    assert {code for code in CODES if suppressions.covering(code, at(9))} == codes


# Blocks


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\n# detlint: off\nb\nc\n# detlint: on\nd\n", [3, 4]),
        ("a\n# detlint: off DET501\nb\n# detlint: on DET501\nd\n", [3]),
        ("a\n#detlint:off:det5\nb\n# DETLINT: ON\nd\n", [3]),
        ("a\n# detlint: off E501, DET501 -- reason\nb\n# detlint: on\nd\n", [3]),
        ("a\n# detlint: off DET1\nb\n# detlint: on\nd\n", []),
        ("a\n# detlint: off DET501\nb\n# detlint: on DET101\nd\n", [3, 4, 5]),
        ("a\nif b:\n    # detlint: off\n    c\nd\n", [4, 5]),
        ("f(\n    # detlint: off\n    a,\n    # detlint: on\n    b,\n)\n", [3]),
        ("a\nx = 1  # detlint: off\nb\n", []),
        ("a\n# detlint: offside\n# detlint: off because\n# detlint: off DET20l\nb\n", []),
        ("a\n# detlint: on\n# detlint: off\nb\n", [4]),
        # blocks in blocks
        ("# detlint: off\na\n# detlint: off DET501\nb\n# detlint: on\nc\n# detlint: on\nd\n", [2, 3, 4, 5, 6]),
        ("# detlint: off DET5\n# detlint: off DET501\nb\n# detlint: on\nc\n# detlint: on\nd\n", [2, 3, 4, 5]),
        ("# detlint: off DET5\n# detlint: off DET1\nb\n# detlint: on DET5\nc\n# detlint: on\nd\n", [2, 3]),
        ("# detlint: off DET501, DET1\na\n# detlint: on DET501\nb\n# detlint: on\nc\n", [2]),
    ],
)
def test_blocks(text: str, lines: list[int]) -> None:
    assert covered(text) == lines


def test_a_block_covers_what_begins_in_it() -> None:
    suppressions = Suppressions.of("a.py", {None: "a\n# detlint: off\nb\nc\n# detlint: on\nd\n"})
    assert [bool(suppressions.covering("DET501", at(*lines))) for lines in ((1, 3), (3, 4), (4, 6), (5, 6))] == [
        False,
        True,
        True,
        False,
    ]


def test_blocks_nest_as_brackets_do() -> None:
    """Random blocks, by a stack beside them."""
    wrong: dict[str, object] = {}
    for seed in range(20):
        text, wanted = nested(random.Random(seed))
        lines = text.splitlines()
        found = [line for line in covered(text) if lines[line - 1] == "x"]
        wrong |= {text: (found, wanted)} if found != wanted else {}
    assert wrong == {}


def nested(choose: random.Random) -> tuple[str, list[int]]:
    """A text of random blocks, and the lines of code in those of DET501."""
    stack: list[str] = []
    lines: list[str] = []
    wanted = []
    for number in range(1, 60):
        act = choose.choice(("code", "code", "off", "on"))
        if act == "off":
            stack.append(choose.choice(("", " DET501", ": DET1", " DET5, DET1")))
            lines.append(f"# detlint: off{stack[-1]}")
        elif act == "on" and stack:
            stack.pop()
            lines.append("# detlint: on")
        else:
            lines.append("x")
            wanted += [number] if any(not codes or "DET5" in codes for codes in stack) else []
    return "\n".join(lines), wanted


# Notebooks


def test_noqa_counts_in_its_cell() -> None:
    plain = f"import torch\n{BENCHMARK}"
    assert in_book(book(plain + "  # noqa: DET501", plain, "\nx = 1  # noqa")) == [(1, 2, "DET501")]
    assert in_book(book("x = (  # noqa: DET000")) == []


@pytest.mark.parametrize(
    "cell",
    [
        f"%time {BENCHMARK}  # noqa",
        f"  %time {BENCHMARK}  # noqa",
        f"%%time\n\n{BENCHMARK}  # noqa: DET501",
        f"  {BENCHMARK}  # noqa\n  x = 1",
        f"!ls '*\nx = !ls *\n?x\n{BENCHMARK}  # noqa",
        f"# detlint: off\n!echo don't\n{BENCHMARK}",
    ],
)
def test_noqa_in_cells_with_magics(cell: str) -> None:
    without = "\n".join(line.partition("#")[0] for line in cell.split("\n"))
    assert (in_book(book("import torch", cell)), len(in_book(book("import torch", without)))) == ([], 1)


def test_what_seems_to_be_a_comment_on_the_line_of_a_magic_is_one() -> None:
    text = "%env CUBLAS_WORKSPACE_CONFIG=0  # noqa: DET504\nx = !ls  # noqa: DET1"
    assert [(each.code, each.comment.sure) for each in Suppressions.of("a.ipynb", {0: text}).all] == [
        ("DET504", False),
        ("DET1", False),
    ]


def test_a_cell_in_another_language_suppresses_nothing() -> None:
    assert in_book(book("%%bash\n# detlint: noqa", "import torch", BENCHMARK)) == [(2, 1, "DET501")]


@pytest.mark.parametrize("cell", [0, 1, 2])
def test_a_comment_in_any_code_cell_may_suppress_in_all(cell: int) -> None:
    cells = ["import torch", BENCHMARK, OFF]
    cells[cell] += "\n# detlint: noqa: DET501"
    assert in_book(book(*cells)) == [(2, 1, "DET502")]


def test_a_heading_suppresses_nothing() -> None:
    text = json.loads(book("import torch", BENCHMARK))
    text["cells"][:0] = json.loads(book("# detlint: noqa", kind="markdown"))["cells"]
    assert in_book(json.dumps(text)) == [(2, 1, "DET501")]


def test_a_block_ends_with_its_cell() -> None:
    assert in_book(book("import torch\n# detlint: off", BENCHMARK)) == [(1, 1, "DET501")]
    assert in_book(book(f"import torch\n# detlint: off\n{BENCHMARK}", "# detlint: on")) == []


# What a report says


def suppressed(text: str, config: Config = ALL) -> Iterator[tuple[str, int | None, str]]:
    """Kind, line of the comment and reason of what is withheld."""
    for each in run({"a.py": text}, config).suppressed:
        yield each.kind, each.place.line if each.place else None, each.reason


@pytest.mark.parametrize(
    ("behind", "reason"),
    [
        ("", ""),
        (" - throughput is measured", "throughput is measured"),
        (" -- throughput, measured", "throughput, measured"),
        (" throughput: measured", "throughput: measured"),
        (": measured", "measured"),
        (" (benchmarked on purpose)", "benchmarked on purpose"),
        (" (benchmarked) on purpose (here)", "(benchmarked) on purpose (here)"),
        ("  # measured", "measured"),
        (" fp16 only", "fp16 only"),
        (", E501 - measured  # noqa: F401 - other", "measured"),
    ],
)
def test_reasons_are_kept(behind: str, reason: str) -> None:
    assert list(suppressed(f"import torch\n{BENCHMARK}  # noqa: DET501{behind}\n")) == [("noqa", 2, reason)]


def test_blocks_and_files_have_reasons_too() -> None:
    block = f"import torch\n# detlint: off DET501 -- reason\n{BENCHMARK}\n"
    assert list(suppressed(block)) == [("block", 2, "reason")]
    assert list(suppressed(block.replace(" DET501", ""))) == [("block", 2, "reason")]
    assert list(suppressed(block.replace("off", "noqa:"))) == [("file", 2, "reason")]


def test_the_narrowest_that_covers_is_named() -> None:
    lines = ["# detlint: noqa: DET501 - f", "import torch", "# detlint: off - b1", "# detlint: off DET5 - b2"]
    config = replace(ALL, per_file_ignores={"a.py": ("DET5",)})
    text = "\n".join([*lines, f"{BENCHMARK}  # noqa - n"])
    found: list[tuple[str, int | None, str]] = []
    for gone in (" # noqa - n", "# detlint: off DET5 - b2", "# detlint: off - b1", lines[0], "nothing"):
        found += suppressed(text, config)
        text = text.replace(gone, "#")
    assert found == [("noqa", 5, "n"), ("block", 4, "b2"), ("block", 3, "b1"), ("file", 1, "f"), ("config", None, "")]
    assert shown(text) == [(5, "DET501")]


def test_what_is_withheld_is_sorted_and_settled_as_what_is_shown() -> None:
    text = f"import torch\n{OFF}  # noqa\n{BENCHMARK}  # noqa\nx = torch.empty(3)\nprint(x)  # noqa\n"
    found = run({"b.py": text, "a.py": text}).suppressed
    assert [(s.judged.finding.place.path, s.judged.finding.place.line) for s in found] == [
        ("a.py", 2),
        ("a.py", 3),
        ("b.py", 2),
        ("b.py", 3),
    ]
    plain = run({"a.py": text.replace("  # noqa", "")}).findings
    assert [s.judged for s in found[:2]] == list(plain[:2])


def test_what_is_not_asked_for_is_not_withheld_either() -> None:
    text = f"import torch\n{BENCHMARK}  # noqa\n"
    for other in (
        replace(ALL, severity=Severity.ERROR),
        replace(ALL, select=("DET1",)),
        replace(ALL, breaks=("batch-invariance",)),
    ):
        assert run({"a.py": text}, other).suppressed == ()


# Switched off


FOUR = f"import torch\n{BENCHMARK}  # noqa\n# detlint: off DET502\n{OFF}\n# detlint: noqa: DET503\n" + (
    "torch.use_deterministic_algorithms(False)\n"
)


def test_noqa_can_be_left_to_another_tool() -> None:
    config = replace(ALL, noqa=False)
    assert shown(FOUR, config) == [(2, "DET501")]
    assert [kind for kind, *_ in suppressed(FOUR, config)] == ["block", "file"]


def test_all_comments_can_be_ignored_and_settings_still_hold() -> None:
    config = replace(ALL, comments=False, per_file_ignores={"*": ("DET503",)})
    assert shown(FOUR, config) == [(2, "DET501"), (4, "DET502")]
    assert list(suppressed(FOUR, config)) == [("config", None, "")]


def test_a_finding_is_compared_with_the_comments_of_its_lines_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    covers = Suppression.covers
    compared = []

    def counted(each: Suppression, code: str, place: Place) -> bool:
        compared.append(each)
        return covers(each, code, place)

    coverage = Coverage(Suppressions.of("a.py", {None: "x = 1  # noqa: DET101\n" * 50}))
    monkeypatch.setattr(Suppression, "covers", counted)
    assert all(len(coverage("DET101", at(line))) == 1 for line in range(1, 51))
    assert len(compared) == 50
