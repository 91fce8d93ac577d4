"""DET107: how grave its findings are, how safe its fixes, and that its tables are well formed."""

from __future__ import annotations

import pytest

from detlint import catalogue
from detlint.finding import Safety, Severity

from .support import report

KEYS = {
    "draw": "names parameter also generators later sure varargs elements silencers fixed fix origin remedy when unless",
    "element": "names unless",
    "use": "methods names",
    "method": "made methods wrappers parameter also generators position origin made_when made_unless through kept first result sure "
    "seedless silencers fix once remedy unless",
}
ROWS = [(table, row) for table, rows in catalogue.load().tables["libraries"].items() for row in rows]


@pytest.mark.parametrize(
    ("call", "severity"),
    [
        ("ensemble.RandomForestClassifier()", Severity.ERROR),
        ("tree.DecisionTreeClassifier()", Severity.WARNING),
        ("linear_model.LogisticRegression(solver='saga')", Severity.WARNING),
    ],
)
def test_what_only_ties_and_rounding_leave_open_is_a_warning(call: str, severity: Severity) -> None:
    package = call.partition(".")[0]
    found = report({"train.py": f"from sklearn import {package}\n\n{call}.fit(x, y)\n"}, ("DET107",)).findings
    assert [judged.severity for judged in found] == [severity]


@pytest.mark.parametrize(
    ("text", "safety"),
    [
        ("shuffle([1, 2])\n", Safety.SAFE),
        ("def main():\n    shuffle([1, 2])\n\n\nmain()\n", Safety.SAFE),
        ("def mixed():\n    return shuffle([1, 2])\n\n\nprint(map(mixed, [1]), mixed())\n", Safety.UNSAFE),
        ("for _ in range(2):\n    shuffle([1, 2])\n", None),
    ],
)
def test_a_seed_is_safe_only_where_the_call_runs_once(text: str, safety: Safety | None) -> None:
    found = report({"train.py": f"from sklearn.utils import shuffle\n\n{text}"}, ("DET107",)).findings
    fixes = [judged.finding.fix for judged in found]
    assert [fix and fix.safety for fix in fixes] == [safety]


@pytest.mark.parametrize(("library", "safety"), [("gymnasium", Safety.SAFE), ("gym", Safety.UNSAFE)])
def test_a_seed_that_an_older_release_does_not_take_is_unsafe(library: str, safety: Safety) -> None:
    text = f"import {library}\n\nenv = {library}.make('CartPole-v1')\nstate = env.reset()\nprint(state)\n"
    (judged,) = report({"train.py": text}, ("DET107",)).findings
    assert judged.finding.fix is not None
    assert judged.finding.fix.safety == safety


def test_the_seed_that_the_program_has_is_passed() -> None:
    text = "from sklearn.utils import shuffle\n\nSEED = 7\nprint(shuffle([1, 2]))\n"
    (judged,) = report({"train.py": text}, ("DET107",)).findings
    assert judged.finding.fix is not None
    assert [edit.text for edit in judged.finding.fix.edits] == [", random_state=SEED"]


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("wds.DataPipeline(wds.shuffle(5000, initial=1000))", ["warning"]),
        ("wds.WebDataset('a.tar').shuffle(1000).decode('pil')", ["warning"]),
        ("wds.DataPipeline(wds.shuffle(5000, seed=1))", []),
        ("wds.DataPipeline(wds.shuffle(5000, rng=random.Random(1)))", []),
        ("wds.WebDataset('a.tar').shuffle(1000, seed=1)", []),
        ("wds.DataPipeline(wds.shuffle(5000, **options))", []),
    ],
)
def test_shards_are_shuffled_by_process_and_time_whatever_is_seeded(made: str, found: list[str]) -> None:
    text = f"import random\nimport torch\nimport webdataset as wds\n\ntorch.manual_seed(0)\nrandom.seed(0)\ndata = {made}\n"
    judged = report({"train.py": text}, ("DET107",)).findings
    assert [each.severity.value for each in judged] == found
    assert all("the number of the process and the time" in each.finding.message for each in judged)


def test_what_a_library_draws_from_by_version_is_said() -> None:
    text = "import albumentations as A\n\ntrain = A.Compose([A.RandomCrop(8, 8)])\ntrain.fit(3)\n"
    (judged,) = report({"train.py": text}, ("DET107",)).findings
    assert "entropy since albumentations 1.4.21" in judged.finding.message


def test_a_row_has_known_keys_and_refers_to_what_there_is() -> None:
    elements = {row.id for row in catalogue.load().rows("libraries", "element")}
    generators = catalogue.load().rules["DET107"].data.keys()
    wrong = {}
    for table, row in ROWS:
        unknown = set(row.data) - {"id", "sources", "note", *KEYS[table].split()}
        unknown |= {*row.list("elements")} - elements | {*row.list("generators")} - generators
        if not (row.text("parameter") or row.text("remedy") or table in ("element", "use")):
            unknown.add("neither a parameter nor a remedy")
        if unknown:
            wrong[f"{table}: {row.id}"] = unknown
    assert len(ROWS) > 50 and wrong == {}
