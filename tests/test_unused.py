"""DET001: which suppressions are told as unused, and what the fix makes of their comments."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from packaging.version import Version

from detlint import catalogue, engine
from detlint.analyse import Source
from detlint.applying import fixer
from detlint.cli import cli
from detlint.config import Config
from detlint.finding import Finding
from detlint.sources import notebook
from detlint.sources.directives import directives, without
from detlint.sources.suppressions import Suppressions
from detlint.sources.unused import unused

NEWEST = catalogue.load().newest_release()
ALL = Config(select=("ALL",))
BENCHMARK = "torch.backends.cudnn.benchmark = True"


def told(text: str, config: Config = ALL, path: str = "a.py", torch: Version = NEWEST) -> list[str]:
    """The messages of DET001, without what they have in common."""
    report = engine.check_sources([Source(path, "a", text)], config, torch)
    found = [judged.finding for judged in report.findings if judged.finding.code == "DET001"]
    return [finding.message.removeprefix("unused suppression: ") for finding in found]


def fixed(text: str, path: str = "a.py", used: str = "DET501") -> str:
    """The text after the fixes of DET001, where each suppression of `used` is one that covers a finding."""
    rules = catalogue.load()

    def check(new: str) -> list[Finding]:
        all_ = Suppressions.of(path, notebook.texts(path, new)).all
        return list(unused(rules, all_, {each for each in all_ if each.code == used}, frozenset(rules.rules)))

    outcome = fixer.fix_project(lambda new: check(new.get(path, text)), lambda _: text)
    assert outcome.converged
    assert not outcome.left
    return outcome.changes[0].new if outcome.changes else text


# What is told


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("x = 1  # noqa: DET501", ["`DET501` covers no finding"]),
        ("x = 1  # noqa: DET501, det401", ["`DET501` covers no finding", "`DET401` covers no finding"]),
        ("x = 1  # noqa: DET3", ["`DET3` covers no finding"]),
        ("x = 1  # noqa: DET999", ["`DET999` is no rule"]),
        ("x = 1  # noqa: DET9", ["`DET9` is no rule"]),
        ("x = 1  # noqa", []),
        ("x = 1  # noqa: E501, DETR101", []),
        ("x = 1  # noqa: DET001, DET501", []),
        ("x = 1  # noqa: DET0, DET501", []),
        ("x = '# noqa: DET501'", []),
        ("# detlint: noqa: DET501", ["`DET501` covers no finding"]),
        ("# detlint: noqa", []),
        ("# detlint: off DET501", ["`DET501` covers no finding"]),
        ("# detlint: off E501", ["`E501` is no rule"]),
        ("# detlint: off\n# detlint: on", []),
        ("# detlint: off DET501\n# detlint: on DET401", ["`DET501` covers no finding", "`on` ends no `off`"]),
        ("# detlint: off\nx = 1  # noqa: DET501", []),
        ("# detlint: noqa: DET001\nx = 1  # noqa: DET501", []),
    ],
)
def test_what_suppresses_nothing_is_told(text: str, messages: list[str]) -> None:
    assert told(f"{text}\n") == messages


@pytest.mark.parametrize("comment", ["# noqa: DET501", "# noqa: DET5", "# noqa: DET501, DET5  # noqa: DET50"])
def test_what_suppresses_something_is_not_told(comment: str) -> None:
    assert told(f"import torch\n{BENCHMARK}  {comment}\n") == []
    assert told(f"import torch\n# detlint: noqa: DET501\n# detlint: off DET5\n{BENCHMARK}  {comment}\n") == []


def test_a_code_is_told_where_it_stands() -> None:
    report = engine.check_sources([Source("a.py", "a", "x = 1  # noqa: E501, DET501 - x\n")], ALL, NEWEST)
    (judged,) = report.findings
    place = judged.finding.place
    assert (place.line, place.column, place.end_line, place.end_column) == (1, 22, 1, 28)
    assert judged.severity.value == "note"


TWO = "x = 1  # noqa: DET201, DET501, DET999, DET2\n"


@pytest.mark.parametrize(
    ("select", "codes"),
    [
        (("DET201",), []),
        (("DET001",), ["DET999"]),
        (("DET001", "DET201"), ["DET201", "DET999"]),
        (("DET001", "DET2"), ["DET201", "DET999", "DET2"]),
        (("ALL",), ["DET201", "DET501", "DET999", "DET2"]),
        ((), ["DET201", "DET501", "DET999", "DET2"]),
    ],
)
def test_only_rules_that_ran_are_told(select: tuple[str, ...], codes: list[str]) -> None:
    assert [re.findall("DET[0-9]+", message)[0] for message in told(TWO, Config(select=select))] == codes


def test_a_rule_of_another_release_is_not_told() -> None:
    text = "x = 1  # noqa: DET504\n"
    assert [told(text, torch=Version(version)) for version in ("2.4", "2.13")] == [["`DET504` covers no finding"], []]


def test_a_finding_that_is_not_shown_needs_its_suppression() -> None:
    text = f"import torch\n{BENCHMARK}  # noqa: DET501\n"
    ignored = replace(ALL, per_file_ignores={"a.py": ("DET501",)})
    assert told(text, ignored) == told(text, replace(ALL, breaks=("resume",))) == []


def test_promises_do_not_ask_for_it_and_settings_leave_it_out() -> None:
    assert told(TWO, replace(ALL, breaks=("run-to-run",))) == []
    assert told(TWO, replace(ALL, per_file_ignores={"a.py": ("DET0",)})) == []


def test_what_is_left_to_another_tool_is_not_told() -> None:
    text = "# detlint: noqa: DET501\nx = 1  # noqa: DET501, DET999\n"
    assert told(text, replace(ALL, noqa=False)) == ["`DET501` covers no finding"]
    assert told(text, replace(ALL, comments=False)) == []


# What a run does not know


LIBRARY = "import torch\n\ndef noise():\n    return torch.rand(2)  # noqa: DET101\n"
SCRIPT = "from pkg.noise import noise\n\nif __name__ == '__main__':\n    print(noise())\n"
SEEDED = SCRIPT.replace("    print", "    import torch; torch.manual_seed(0)\n    print")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write({"pyproject.toml": "", "pkg/__init__.py": "", "pkg/noise.py": LIBRARY, "train.py": SEEDED})
    return tmp_path


def write(files: dict[str, str]) -> None:
    for path, text in files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(text.encode())


def detlint(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, ["--jobs", "1", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def codes(*arguments: str) -> list[str]:
    return [each["code"] for each in json.loads(detlint("--format", "json", *arguments).stdout)["findings"]]


def test_a_run_over_the_whole_project_knows_what_seeds(project: Path) -> None:
    assert codes(".") == codes("train.py", str(project)) == ["DET001"]
    write({"train.py": SCRIPT})
    assert codes(".") == []


def test_a_run_over_a_part_does_not(project: Path) -> None:
    assert [codes(path) for path in ("pkg", "pkg/noise.py")] == [[], []]
    assert codes("--exclude", "tests", ".") == codes("pkg", "train.py") == []
    write({"broken.py": "x = (\n"})
    assert codes(".") == ["DET000"]
    write({"broken.py": "", "pyproject.toml": '[tool.detlint]\nexclude = ["pkg/old"]\n'})
    assert codes(".") == []


def test_a_folder_with_requirements_of_its_own_is_a_part_where_no_settings_say_so(project: Path) -> None:
    """The rest of the repository says whether `seed_all` seeds."""
    seeds = "from pkg.seeds import seed_all\nimport torch\n\nseed_all()\nprint(torch.rand(2))  # noqa: DET101\n"
    write(
        {
            "pkg/seeds.py": "def seed_all():\n    pass\n",
            "examples/train.py": seeds,
            "examples/requirements.txt": "torch\n",
        }
    )
    assert [codes(path) for path in ("examples", "examples/train.py", ".")] == [[], [], ["DET001"]], "of pkg/noise.py"
    write({"examples/detlint.toml": ""})
    assert codes("examples") == ["DET001"]


def test_what_the_whole_project_would_have_to_confirm_is_left_alone(project: Path) -> None:
    """The finding is there, and waits for a program that comes by without a seed."""
    split = (
        "import sklearn.model_selection as m\n\ndef noise(x=()):\n    return m.train_test_split(x)  # noqa: DET107\n"
    )
    write({"pkg/noise.py": split, "train.py": SEEDED.replace("torch", "numpy").replace("manual_", "random.")})
    assert (codes("."), codes("pkg")) == (["DET001"], [])
    write({"train.py": SCRIPT})
    assert codes(".") == []
    assert told(split) == []
    assert told(split.replace("m.train_test_split(x)", "x")) == ["`DET107` covers no finding"]


def test_a_notebook_with_a_broken_cell_is_left_alone_but_for_codes_of_no_rule() -> None:
    def of(*cells: str) -> list[str]:
        text = json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]})
        return told(text, path="a.ipynb")

    assert of("x = 1  # noqa: DET501, DET999", "x = ()") == ["`DET501` covers no finding", "`DET999` is no rule"]
    assert of("x = 1  # noqa: DET501, DET999", "x = (") == ["`DET999` is no rule"]


def test_what_may_be_text_is_left_alone() -> None:
    text = json.dumps({"cells": [{"cell_type": "code", "source": "!ls # noqa: DET999\nx = !ls # noqa: DET501"}]})
    assert told(text, path="a.ipynb") == []


# The fix


FIXED = [
    ("x = 1  # noqa: DET201", "x = 1"),
    ("x = 1  # noqa: DET201   ", "x = 1"),
    ("x = 1 \t # noqa: DET201, DET401", "x = 1"),
    ("x = 1  # noqa: E501, DET201  # keep this comment", "x = 1  # noqa: E501  # keep this comment"),
    ("x = 1  # noqa: DET201, E501", "x = 1  # noqa: E501"),
    ("x = 1  # noqa:E501,DET201,F401 DET401,W1", "x = 1  # noqa:E501,F401,W1"),
    ("x = 1  # noqa: DET201 - order does not matter", "x = 1  # order does not matter"),
    ("x = 1  # noqa: DET201 (on purpose)", "x = 1  # (on purpose)"),
    ("x = 1  # noqa: DET201: on purpose", "x = 1  # on purpose"),
    ("x = 1  # noqa: DET201  # keep", "x = 1  # keep"),
    ("x = 1  # type: ignore  # noqa: DET201", "x = 1  # type: ignore"),
    ("x = 1  # type: ignore # noqa: DET201 # keep", "x = 1  # type: ignore # keep"),
    ("x = 1  # noqa: DET201  # noqa: E501", "x = 1  # noqa: E501"),
    ("x = 1  # noqa: DET201  # noqa: DET3 - b  # noqa: DET401", "x = 1  # b"),
    ("if x:\n    # noqa: DET201\n    y = 1", "if x:\n    y = 1"),
    ("# noqa: DET201 - why", "# why"),
    ("x = [\n    1,  # noqa: DET201\n    # noqa: DET201\n]", "x = [\n    1,\n]"),
    ("# detlint: noqa: DET201\nx = 1", "x = 1"),
    ("# detlint: off DET201 -- why\nx = 1\n# detlint: on\ny = 1", "# why\nx = 1\ny = 1"),
    ("# detlint: off DET201, DET9\nx = 1\n# detlint: on\ny = 1", "x = 1\ny = 1"),
    ("# detlint: off DET9\nx = 1\n# detlint: on DET9\ny = 1", "x = 1\ny = 1"),
    ("# detlint: off DET9\n# detlint: off DET8\nx = 1\n# detlint: on DET9, DET8\ny = 1", "x = 1\ny = 1"),
    ("x = 1\n# detlint: on", "x = 1\n"),
]


@pytest.mark.parametrize(("before", "after"), FIXED)
def test_what_the_fix_leaves(before: str, after: str) -> None:
    assert fixed(before) == after


def test_the_fix_leaves_the_ends_of_lines() -> None:
    heads = [(before.replace("\n", "\r\n"), after.replace("\n", "\r\n")) for before, after in FIXED if "\n" in before]
    assert {before: fixed(before) for before, _ in heads} == dict(heads)


def test_a_used_code_keeps_its_place_and_its_reason() -> None:
    text = "x = 1  # noqa: DET501{} - measured\n"
    assert fixed(text.format(", DET401")) == text.format("")
    text = "# detlint: off DET501{} - measured\nx = 1\n# detlint: on\n"
    assert fixed(text.format(", DET401")) == text.format("")


def test_a_block_goes_with_its_end_and_the_blocks_around_it_stay() -> None:
    text = "# detlint: off DET501\n{}x = 1\n{}y = 1\n# detlint: on\n"
    off, on = "# detlint: off DET401\n", "# detlint: on\n"
    assert fixed(text.format(off, on)) == fixed(text.format("", off + on)) == text.format("", "")
    assert fixed(f"{off}{text.format('', '')}{on}") == text.format("", "")
    assert fixed(text.format("", "").replace(on, off + on + on)) == text.format("", "")


def test_words_that_would_suppress_are_not_set_free() -> None:
    assert without("# noqa: DET201 - noqa", alone=False, gone={(8, 14)}) is None
    assert without("# noqa: DET201 - detlint: off", alone=True, gone={(8, 14)}) is None


def test_cells_are_fixed_and_magics_are_left_alone() -> None:
    cells = ["%time x = 1  # noqa: DET201", "# noqa: DET201\n%matplotlib inline\ny = 2  # noqa: DET401 - kept\n", "!ls"]
    book = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    new = json.loads(fixed(json.dumps(book), "a.ipynb"))
    assert [cell["source"] for cell in new["cells"]] == ["%time x = 1", "%matplotlib inline\ny = 2  # kept\n", "!ls"]


def test_no_fix_loses_what_is_not_its_own() -> None:
    """Random comments: other tools' codes, other comments and reasons are there before and after."""
    choose = random.Random(0)
    for _ in range(1000):
        parts, words = [], []
        for number in range(choose.randint(1, 3)):
            if choose.random() < 0.4:
                words.append(f"word{'abc'[number]}")
                parts.append(f"# {words[-1]} here")
                continue
            listed = choose.choices(("DET201", "DET3", "E501", "F401", "DET501"), k=choose.randint(1, 4))
            reason = choose.choice(("", " - ", " -- ", ": ", "; "))
            words += [f"reason{'abc'[number]}"] if reason else []
            parts.append(f"# noqa:{choose.choice(('', ' '))}{choose.choice((', ', ',', ' ')).join(listed)}")
            parts[-1] += f"{reason}{words[-1]}" if reason else ""
        comment = choose.choice(("  ", " ")).join(parts)
        found = [span for each in directives(comment, alone=False) for span in each.codes]
        gone = [span for span in found if comment[slice(*span)].startswith("DET") and choose.random() < 0.7]
        text = without(comment, alone=False, gone=gone)
        assert text is not None, comment
        left = [text[slice(*span)] for each in directives(text, alone=False) for span in each.codes]
        assert left == [comment[slice(*span)] for span in found if span not in gone], comment
        assert [word for word in words if word not in text] == [], comment
        assert text == text.rstrip(), comment
        assert text.startswith("#") or not text, comment
        assert without(text, alone=False, gone=()) == text, comment


def test_what_a_fix_makes_needless_goes_in_the_next_round(project: Path) -> None:
    text = "import random\nimport torch\n\nprint(torch.rand(2))\nprint(random.random())  # noqa: DET103\n"
    write({"train.py": text, "pkg/noise.py": ""})
    assert codes(".") == ["DET101"]
    detlint("--fix", ".")
    after = Path("train.py").read_text(encoding="utf-8")
    assert "noqa" not in after
    assert "seed_everything(0)" in after
    assert codes(".") == []


def test_what_is_suppressed_is_not_fixed(project: Path) -> None:
    text = f"import torch\n\n{BENCHMARK}  # noqa: DET501 - measured\n# detlint: off\n{BENCHMARK}\nx = 1\n"
    write({"train.py": text, "pkg/noise.py": ""})
    result = detlint("--fix", "--unsafe-fixes", ".")
    assert (result.exit_code, Path("train.py").read_text(encoding="utf-8")) == (0, text)
    assert detlint("--ignore-noqa", "--fix", "--unsafe-fixes", ".").exit_code == 0
    assert "True" not in Path("train.py").read_text(encoding="utf-8")
